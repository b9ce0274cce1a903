#!/usr/bin/env bash
# The table of docs/comparison.md: lines, CPU seconds of a build and of a check, and wrong programs that compile.
# "Cold" is a debug build with all dependencies, "check" a type check of the package alone after a change. Both are medians of three, without
# incremental data, and have their ratio to the enum by hand.
set -euo pipefail
cd "$(dirname "$0")"
ways=(by_enum by_typestate by_rust_fsm by_statig by_statum by_runstate)
wrong=(ships_unpaid paid_from_nothing no_way_out)
target=$(mktemp -d)
trap 'rm -rf "$target"' EXIT
export CARGO_TARGET_DIR="$target" CARGO_INCREMENTAL=0 CARGO_PROFILE_DEV_DEBUG=false

cargo fetch --locked --quiet
cargo test --locked --quiet --workspace --tests >"$target/tests" 2>&1 || { cat "$target/tests"; exit 1; }

lines() { grep -cv '^ *\(//.*\)\?$' "$1/src/lib.rs"; }
crates() { cargo tree --locked -p "$1" --edges normal,build --prefix none | sort -u | grep -c ' v'; }
seconds() { # of one command, user and system
  local TIMEFORMAT='%U %S' spent
  spent=$( { time "$@" >/dev/null 2>&1; } 2>&1 )
  echo "$spent" | awk '{ printf "%.3f\n", $1 + $2 }'
}
median() { sort -n | sed -n 2p; }
cold() { for _ in 1 2 3; do rm -rf "$target/debug"; seconds cargo build --locked --offline --quiet -p "$1"; done | median; }
warm() { cargo check --locked --offline --quiet -p "$1"; for _ in 1 2 3; do touch "$1/src/lib.rs"; seconds cargo check --locked --offline --quiet -p "$1"; done | median; }

printf '%-14s %6s %7s %8s %8s %8s %8s' way lines crates 'cold s' ratio 'check s' ratio
printf ' %18s' "${wrong[@]}"
printf '\n'
for way in "${ways[@]}"; do
  cold=$(cold "$way")
  own=$(warm "$way")
  : "${first_cold:=$cold}" "${first_own:=$own}"
  printf '%-14s %6s %7s %8s %8s %8s %8s' "$way" "$(lines "$way")" "$(crates "$way")" \
    "$cold" "$(awk "BEGIN { printf \"%.1f\", $cold / $first_cold }")" \
    "$own" "$(awk "BEGIN { printf \"%.1f\", $own / $first_own }")"
  for program in "${wrong[@]}"; do
    verdict=compiles
    if ! cargo check --locked --offline --quiet -p "$way" --example "$program" >"$target/said" 2>&1; then
      # With its error, so that a program which fails for another reason is seen.
      verdict=$(sed -n 's/^error\[\(E[0-9]*\)\].*/\1/p' "$target/said" | sort -u | paste -sd,)
    fi
    printf ' %18s' "$verdict"
  done
  printf '\n'
done
