#!/bin/sh
# The outputs for reviewers before the programs that read them: Mermaid, a browser without a network, a checker of accessibility, and
# speedscope. The traces are those of the scenarios, and hostile ones.
# Needs node, npm and chromium. 2: one of them is missing.
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

node "$scratch/traces.mjs" scenarios "$outputs"
for trace in "$outputs"/*.jsonl; do
  name=${trace%.jsonl}
  set -- show "$trace"
  if [ -e "$name.mmd" ]; then set -- show "$trace" --diagram "$name.mmd"; fi
  for format in html perfetto gantt markdown mermaid; do
    "$runstate" "$@" --format "$format" >"$name.$format"
  done
  mv "$name.html" "$name.page.html"
done
node "$scratch/mermaid.mjs" "$outputs"
node "$scratch/pages.mjs" "$outputs"
node "$scratch/spans.mjs" "$outputs"
