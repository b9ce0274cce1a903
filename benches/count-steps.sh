#!/usr/bin/env bash
# Instructions per step of an agent, by valgrind's callgrind: the loop by hand, ours without and with a committer in memory, and
# a step whose call waits for a decision. What a run costs beside its steps falls out of the difference of two lengths.
set -euo pipefail
cd "$(dirname "$0")"
cargo build --release --quiet --bin agent
count() { valgrind --tool=callgrind --callgrind-out-file=/dev/null target/release/agent counted "$1" "$2" 2>&1 | sed -n 's/.*Collected : //p'; }
for what in by-hand none memory asking; do
  for pair in "100 200" "2000 2100"; do
    read -r from to <<<"$pair"
    less=$(count "$what" "$from"); more=$(count "$what" "$to")
    echo "$what, steps $from to $to: $(( (more - less) / (to - from) )) instructions per step"
  done
done
