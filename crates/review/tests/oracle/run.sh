#!/bin/sh
# The outputs for reviewers before the programs that read them: Mermaid, a browser without a network, a checker of accessibility,
# speedscope, and insta in a project of a user. The traces are those of the scenarios, of stream sessions, of stored runs, of governed
# runs and of that project, and hostile ones. Needs node, npm and chromium. 2: one of them is missing.
#
#   sh crates/review/tests/oracle/run.sh [FOLDER]
#
#   FOLDER   keeps the outputs and the pictures of pages. Default: a temporary folder
set -eu
cd "$(dirname "$0")/../../../.."
root=$PWD
for program in node npm chromium; do
  command -v "$program" >/dev/null || { printf 'there is no %s here\n' "$program"; exit 2; }
done
CHROMIUM=$(command -v chromium)
export CHROMIUM
fail() { printf '%s\n' "$@" >&2; exit 1; }
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
outputs=${1:-$scratch/outputs}
mkdir -p "$outputs"
outputs=$(cd "$outputs" && pwd)

cargo build --quiet --locked -p runstate-cli
# A copy: another build may replace the program meanwhile.
cp "${CARGO_TARGET_DIR:-$root/target}/debug/runstate" "$scratch/runstate"
runstate="$scratch/runstate"
cp crates/review/tests/oracle/package.json "$scratch"
(cd "$scratch" && npm install --silent --no-audit --no-fund --no-package-lock --ignore-scripts)
cp crates/review/tests/oracle/*.mjs "$scratch"

# The outputs of what `show` takes, as NAME.FORMAT.
shown() {
  name=$1
  shift
  for format in html perfetto gantt markdown mermaid timeline; do
    "$runstate" show "$@" --format "$format" >"$name.$format"
  done
  mv "$name.html" "$name.page.html"
}

node "$scratch/traces.mjs" scenarios "$outputs"
for session in scenarios/streams/*.yaml; do
  "$runstate" stream "$session" --trace >"$outputs/stream-$(basename "$session" .yaml).jsonl" || true
done
for trace in "$outputs"/*.jsonl; do
  name=${trace%.jsonl}
  if [ -e "$name.mmd" ]; then shown "$name" "$trace" --diagram "$name.mmd"; else shown "$name" "$trace"; fi
done

# Stored runs: each eighth scenario, and a hostile one.
place=8
for scenario in scenarios/*.yaml "$outputs/own-hostile-run.yaml"; do
  place=$((place - 1))
  case $scenario in *own-hostile-run.yaml) place=0 ;; esac
  [ "$place" = 0 ] || continue
  place=8
  name=$outputs/stored-$(basename "$scenario" .yaml)
  case $scenario in *own-*) name=$outputs/own-hostile-run ;; esac
  # A run may wait or fail: it is shown all the same. A scenario that cannot be read has no run.
  code=0
  "$runstate" run "$scenario" --state-dir "$scratch/$(basename "$name")" >"$scratch/said" 2>&1 || code=$?
  [ "$code" != 2 ] || fail "$scenario" "$(cat "$scratch/said")"
  run=$("$runstate" runs --state-dir "$scratch/$(basename "$name")" --json | node -e '
    const said = JSON.parse(require("fs").readFileSync(0)); console.log((said.runs ?? said)[0]?.run ?? "")')
  if [ -z "$run" ]; then continue; fi
  "$runstate" show "$run" --state-dir "$scratch/$(basename "$name")" --format jsonl >"$name.jsonl"
  shown "$name" "$run" --state-dir "$scratch/$(basename "$name")"
done

# Governed runs: by their states and by their logs, before and after the decision.
mkdir "$scratch/site"
cat >"$scratch/plan.yaml" <<'PLAN'
project: SITE
folder: site
gates: {auto: [build]}
tools:
  - {name: build, run: ['true']}
  - {name: deploy, run: ['true']}
verify:
  - run: ['true']
audit:
  - {reviewer: quality, run: ['true']}
PLAN
governed() { "$runstate" governed "$@" --state-dir "$scratch/governed"; }
governed run "$scratch/plan.yaml" >"$scratch/said" || true
run=$(cd "$scratch/governed" && echo RUN-*)
for step in asked approved; do
  if [ "$step" = approved ]; then
    governed approve "$run-A1" --by '<script>alert(1)</script> ada' >"$scratch/said"
    governed recover "$run" >"$scratch/said"
  fi
  for file in STATE.json LOG.jsonl; do
    name=$outputs/own-governed-$step-${file%.*}
    "$runstate" show "$scratch/governed/$run/RUN_$file" --format jsonl >"$name.jsonl"
    shown "$name" "$scratch/governed/$run/RUN_$file"
  done
done
# A trace whose writer was interrupted.
head -c -40 "$outputs/own-orders.jsonl" >"$outputs/own-cut.jsonl"
for format in html markdown timeline; do
  "$runstate" show "$outputs/own-cut.jsonl" --diagram "$outputs/own-orders.mmd" --format "$format" \
    >"$outputs/own-cut.$format" 2>"$scratch/said" || [ $? = 2 ]
done
mv "$outputs/own-cut.html" "$outputs/own-cut.page.html"
# A project of a user: insta compares its trace.
cp -r crates/review/tests/oracle/project "$scratch/project"
cp Cargo.lock rust-toolchain.toml "$scratch/project"
sed -i "s|ROOT|$root|" "$scratch/project/Cargo.toml"
in_project() {
  (cd "$scratch/project" && INSTA_UPDATE=no CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}/review-project" cargo "$@")
}
in_project test --quiet >"$scratch/said" 2>&1 || fail 'the snapshot of the project differs' "$(cat "$scratch/said")"
in_project run --quiet -- 7f3c >"$outputs/own-parcels.jsonl"
sed -n '/^```mermaid$/,/^```$/{/^```/!p}' "$scratch/project/parcel.md" >"$outputs/own-parcels.mmd"
shown "$outputs/own-parcels" "$outputs/own-parcels.jsonl" --diagram "$outputs/own-parcels.mmd"
# A change of its behaviour: no parcel is held any more. The snapshot and the difference of the traces name the missing events.
sed -i 's/\*country != "home"/*country == "elsewhere"/' "$scratch/project/src/lib.rs"
if in_project test --quiet >"$scratch/said" 2>&1; then fail 'the snapshot of the changed project does not differ'; fi
grep -qE '^ +[0-9]+ +│-parcel#2  Sent --> PendingCustoms : hold' "$scratch/said" || fail 'insta does not name the missing event' "$(cat "$scratch/said")"
in_project run --quiet -- 91ab >"$scratch/changed.jsonl"
code=0
"$runstate" diff "$outputs/own-parcels.jsonl" "$scratch/changed.jsonl" >"$outputs/own-parcels.diff" || code=$?
[ "$code" = 1 ] || fail "expected exit code 1 of the difference, got $code"
for expected in 'the traces differ from line 6 of the old' '^-    6        parcel#2  Sent --> PendingCustoms : hold' \
  '^4 events only in the old trace, 0 events only in the new one'; do
  grep -qE "$expected" "$outputs/own-parcels.diff" || fail "the difference lacks: $expected" "$(cat "$outputs/own-parcels.diff")"
done
printf 'insta: the snapshot of a project holds, and a change of its behaviour is found\n'
node "$scratch/mermaid.mjs" "$outputs"
node "$scratch/pages.mjs" "$outputs"
node "$scratch/spans.mjs" "$outputs"
