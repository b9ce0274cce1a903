#!/usr/bin/env bash
# Compares the cost of `runstate diff` on two large traces, which differ in one event and in all ids, with that of `runstate show` on
# one of them, and counts the bytes of a page of 1,000 events:
#
#   benches/diff.sh RUNSTATE [EVENTS]
#
# RUNSTATE is the command. Five turns each, which they take in turns; the least processor time counts. Needs /usr/bin/time of GNU.
set -eu
runstate=$(realpath "$1") events=${2:-100000}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat >order.mmd <<'EOF'
stateDiagram-v2
    [*] --> Cart
    Cart --> Paid : pay
    Paid --> Packed : pack
    Packed --> Shipped : ship
    Shipped --> [*]
EOF
# The trace of orders with these ids; the change, if there is one, is at an event in the middle.
trace() {
    awk -v events="$1" -v salt="$2" -v changed="$3" 'BEGIN {
        split("create pay pack ship", names); split("Cart Paid Packed Shipped", states)
        for (seq = 1; seq <= events; seq++) {
            turn = int((seq - 1) / 8); step = turn % 4 + 1; order = int(turn / 4) * 8 + (seq - 1) % 8
            from = step == 1 ? "null" : "\"" states[step - 1] "\""; to = states[step]
            if (step == 4 && seq > events / 2 && changed) { to = "Packed"; changed = 0; wrong = seq }
            printf "{\"seq\":%d,\"at_ms\":%d,\"run\":\"%s\",\"lifecycle\":\"order\",\"instance\":\"%s_%d\",\"event\":\"%s\",\"from\":%s,\"to\":\"%s\"}\n",
                seq, 1700000000000 + seq, salt, salt, order, names[step], from, to
        }
        if (wrong) print wrong >"wrong"
    }'
}
trace "$events" a 0 >old.jsonl
trace "$events" b 1 >new.jsonl
trace 1000 7f3c9a52-90be-4d1e-8a3f 0 >page.jsonl
spent() { /usr/bin/time -q -f '%U %S %M' -o spent "$runstate" "$@" >said || true; awk '{ print ($1 + $2) * 1000, $3 }' spent; }
least() { awk -v one="$1" -v other="$2" 'BEGIN { print one == 0 || other < one ? other : one }'; }
of_diff=0 of_show=0
for _ in 1 2 3 4 5; do
    read -r ms kb_diff < <(spent diff old.jsonl new.jsonl)
    of_diff=$(least "$of_diff" "$ms")
    grep -q "line $(cat wrong) of the old and line $(cat wrong) of the new" said || { cat said; exit 1; }
    read -r ms kb_show < <(spent show new.jsonl --diagram order.mmd)
    of_show=$(least "$of_show" "$ms")
done
page=$("$runstate" show page.jsonl --diagram order.mmd --format html | wc -c)
awk -v diff="$of_diff" -v show="$of_show" -v a="$kb_diff" -v b="$kb_show" -v file="$(wc -c <old.jsonl)" -v page="$page" 'BEGIN {
    printf "diff %d ms, show %d ms, ratio %.2f; diff %.1f MB, show %.1f MB, one trace %.1f MB; page %d bytes\n",
        diff, show, diff / show, a / 1024, b / 1024, file / 1048576, page
}'
