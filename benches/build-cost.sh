#!/usr/bin/env bash
# CPU seconds of a cold release build and crates in the tree: the kernel alone, the library, and all drivers and stores.
set -euo pipefail
cd "$(dirname "$0")/.."
# A dependency is built with the profile of who depends on it: what this workspace adds to it is not counted.
export CARGO_PROFILE_RELEASE_DEBUG=false
cost() {
  local target
  target=$(mktemp -d)
  local TIMEFORMAT='%U %S'
  local spent
  spent=$( { time CARGO_INCREMENTAL=0 cargo build --release --quiet --lib --target-dir "$target" "$@" >/dev/null 2>&1; } 2>&1 )
  rm -rf "$target"
  echo "$spent" | awk '{ printf "%.1f CPU seconds", $1 + $2 }'
}
crates() { cargo tree --edges normal,build --prefix none "$@" | sort -u | grep -c ' v'; }
echo "kernel alone: $(cost -p runstate --no-default-features), $(crates -p runstate --no-default-features) crates in the tree"
echo "library: $(cost -p runstate), $(crates -p runstate) crates in the tree"
everything=(-p runstate-agent -p runstate-store -p runstate-stream -p runstate-governed)
echo "all drivers and stores: $(cost "${everything[@]}"), $(crates "${everything[@]}") crates in the tree"
target=$(mktemp -d)
CARGO_INCREMENTAL=0 cargo build --release --quiet --lib -p runstate --no-default-features --target-dir "$target"
touch src/lib.rs
TIMEFORMAT='kernel without its dependency: %U + %S CPU seconds'
time CARGO_INCREMENTAL=0 cargo build --release --quiet --lib -p runstate --no-default-features --target-dir "$target"
rm -rf "$target"
