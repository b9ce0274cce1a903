#!/bin/sh
# The ports before programs of others: anvil is the chain, solc compiles tokens and a router, and viem is the wallet. viem also reads
# the transactions of `execute`. Needs node and npm. 2: one of them is missing, or anvil does not run here.
#
#   sh crates/evm/tests/oracle/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../../.."
for program in node npm; do
  command -v "$program" >/dev/null || { printf 'there is no %s here\n' "$program"; exit 2; }
done
scratch=$(mktemp -d)
children=
end() {
  for child in $children; do kill "$child" 2>/dev/null || true; done
  rm -r "$scratch"
}
trap end EXIT

cargo build --quiet --locked -p runstate-cli --features evm
# A copy: another build may replace the program meanwhile.
cp "${CARGO_TARGET_DIR:-$PWD/target}/debug/runstate" "$scratch/runstate"
runstate="$scratch/runstate"
(
  cd "$scratch"
  npm install --silent --no-save --no-package-lock @foundry-rs/anvil@1.7 viem@2.57 solc@0.8.37
)
cp "$here/Tokens.sol" "$here"/*.mjs "$scratch"
cd "$scratch"
# The program itself and not its wrapper, so that its id is the one to be ended.
anvil=$(ls node_modules/@foundry-rs/anvil-*/bin/anvil* 2>/dev/null | head -n 1)
[ -n "$anvil" ] && "$anvil" --version >/dev/null || { printf 'anvil does not run here\n'; exit 2; }
: >chain.log
# Its port is drawn, and its log has it. Blocks are mined on command.
"$anvil" --port 0 --no-mining >chain.log 2>&1 &
children=$!

# Waits until a file has a line.
wait_for() {
  for _ in $(seq 100); do
    grep -q "$1" "$2" && return
    sleep 0.1
  done
  printf 'no %s in %s:\n' "$1" "$2"
  cat "$2"
  exit 1
}
wait_for '^Listening on' chain.log
CHAIN_URL=http://$(sed -n 's/^Listening on //p' chain.log)
export CHAIN_URL
node deploy.mjs >new.yaml
# The same chain behind a node that simulates no sequences.
node old-node.mjs >old.log &
children="$children $!"
wait_for '^Listening on' old.log
sed "s,$CHAIN_URL,http://$(sed -n 's/^Listening on //p' old.log)," new.yaml >old.yaml

# Starts a server with the graph of that name, and plays the flows.
play() {
  : >"$1.server.log"
  "$runstate" serve --graph "$1.yaml" --store "sqlite:$1.db" --listen 127.0.0.1:0 2>"$1.server.log" &
  children="$children $!"
  wait_for '^http://' "$1.server.log"
  SERVER_URL=$(sed -n 's/^\(http[^ ]*\) serves.*/\1/p' "$1.server.log") GRAPH=$1.yaml OLD=$2 node flows.mjs
}
play new 0
play old 1
if grep -l 'a-key-of-the-node' ./*.server.log ./*.db*; then
  printf 'these files have the key of the node\n'
  exit 1
fi
