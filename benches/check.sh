#!/usr/bin/env bash
# Compares the processor time that two builds of the command take to check a large trace against a diagram:
#
#   benches/check.sh OLD NEW [EVENTS]
#
# OLD and NEW are binaries of `runstate`, made with --release. Five turns each, which they take in turns; the least counts.
set -eu
old=$1 new=$2 events=${3:-1000000}
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
awk -v events="$events" 'BEGIN {
    split("create pay pack ship", names); split("Cart Paid Packed Shipped", states)
    for (seq = 1; seq <= events; seq++) {
        # Eight orders go on beside each other.
        turn = int((seq - 1) / 8); step = turn % 4 + 1; order = int(turn / 4) * 8 + (seq - 1) % 8
        from = step == 1 ? "null" : "\"" states[step - 1] "\""
        printf "{\"seq\":%d,\"at_ms\":%d,\"run\":\"r\",\"lifecycle\":\"order\",\"instance\":\"order_%d\",\"event\":\"%s\",\"from\":%s,\"to\":\"%s\"}\n",
            seq, seq, order, names[step], from, states[step]
    }
}' >order.jsonl
# The processor time of a check, in milliseconds.
spent() {
    { TIMEFORMAT='%U %S'; time "$1" check order.jsonl --diagram order.mmd >said; } 2>&1 | awk 'END { print ($1 + $2) * 1000 }'
}
least() { awk -v one="$1" -v other="$2" 'BEGIN { print one == 0 || other < one ? other : one }'; }
of_old=0 of_new=0
for _ in 1 2 3 4 5; do
    of_old=$(least "$of_old" "$(spent "$old")")
    of_new=$(least "$of_new" "$(spent "$new")")
done
awk -v old="$of_old" -v new="$of_new" 'BEGIN { printf "old %d ms, new %d ms, ratio %.2f\n", old, new, new / old }'
