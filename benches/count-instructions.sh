#!/usr/bin/env bash
# Instructions per move, typed, by hand, dynamic and recorded, and per snapshot, by valgrind's callgrind. Needs valgrind.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --release --quiet --bin counted
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/counted "$1" 2>&1 | sed -n 's/.*Collected : //p'; }
base=$(count nothing)
for what in by-hand typed apply observer-off recorder snapshot; do
  total=$(count "$what")
  echo "$what: $(( (total - base) * 100 / 200001 )) instructions per 100 moves"
done
