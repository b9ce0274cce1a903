#!/usr/bin/env bash
# The system calls of a governed run, and of doing the same to files by `std::fs` alone: counts per run. Needs strace.
set -euo pipefail
cd "$(dirname "$0")"
runs=10
binary=$(cargo bench --bench governed --no-run 2>&1 | sed -n 's/.*Executable.*(\(.*\))/\1/p')
counts() {
    strace -f -c -o "$2" "$binary" "$1" "$3" > /dev/null
    awk '$NF ~ /^[a-z_0-9]+$/ && $1 ~ /^[0-9.]+$/ && $NF != "total" { print $NF, $4 }' "$2" | sort
}
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
counts bare "$scratch/log" 0 > "$scratch/none"
counts ours "$scratch/log" $runs > "$scratch/ours"
counts bare "$scratch/log" $runs > "$scratch/bare"
echo "| system call | a governed run | the files alone |"
echo "|---|---|---|"
# What starting up and noting down the operations takes is taken off both.
join -a 1 -e 0 -o 0,1.2,2.2 "$scratch/ours" "$scratch/bare" | join -a 1 -e 0 -o 0,1.2,1.3,2.2 - "$scratch/none" |
    awk -v runs=$runs '$2 > $4 || $3 > $4 { printf "| `%s` | %.2f | %.2f |\n", $1, ($2 - $4) / runs, ($3 - $4) / runs }'
