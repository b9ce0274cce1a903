#!/bin/sh
# Compares this crate's parser with Mermaid itself, and its checker with another one over Mermaid's reading, on the corpus and on
# generated diagrams.
#
#   tests/oracle/run.sh [--seed N] [--count N] [--record] [--show N]
#   tests/oracle/run.sh traces [--seed N] [--count N] [--walks N] [--show N]
#   tests/oracle/run.sh found [--seed N] [--walks N] [--show N]
#   tests/oracle/run.sh faults [FAULT…]
#
# `found` takes both comparisons on the diagrams in the packages of packages.tsv, which come from npm and crates.io, and on no others. It
# fails where fewer than 300 diagrams or 20,000 traces were compared. `faults` shows that the comparison, and the tests, catch faults.
#
# Needs node and npm. The packages go to a folder that is not part of the project: ORACLE_MODULES, or one below target/.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
ORACLE_MODULES=${ORACLE_MODULES:-$root/target/oracle}
export ORACLE_MODULES
if [ ! -d "$ORACLE_MODULES/node_modules/mermaid" ] || ! cmp -s "$here/package.json" "$ORACLE_MODULES/package.json"; then
    mkdir -p "$ORACLE_MODULES"
    cp "$here/package.json" "$ORACLE_MODULES/package.json"
    (cd "$ORACLE_MODULES" && npm install --no-audit --no-fund --no-package-lock --ignore-scripts)
fi
cd "$root"
examples="${CARGO_TARGET_DIR:-$root/target}/debug/examples"
if [ "${1:-}" = faults ]; then
    shift
    exec node "$here/faults.mjs" "$@"
fi
if [ "${1:-}" = traces ]; then
    shift
    cargo build --quiet --locked --features trace --example trace_verdicts
    exec node "$here/traces.mjs" --program "$examples/trace_verdicts" "$@"
fi
cargo build --quiet --locked --features trace --example mermaid_dump
if [ "${1:-}" = found ]; then
    shift
    node "$here/found.mjs" "$here/packages.tsv" "$ORACLE_MODULES/found"
    cargo build --quiet --locked --features trace --example trace_verdicts
    node "$here/compare.mjs" --dump "$examples/mermaid_dump" --found "$ORACLE_MODULES/found" "$@"
    exec node "$here/traces.mjs" --program "$examples/trace_verdicts" --found "$ORACLE_MODULES/found" \
        --least-diagrams 300 --least-traces 20000 "$@"
fi
exec node "$here/compare.mjs" --dump "$examples/mermaid_dump" "$@"
