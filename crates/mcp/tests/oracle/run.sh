#!/bin/sh
# Agents with tools of servers of others: from npm the filesystem, everything and memory servers, from PyPI the git and time servers. A
# server is killed in the midst of a call, and so is the program. The model is model.py. Needs node, npm, python3 and git. 2: one of them is
# missing.
#
#   sh crates/mcp/tests/oracle/run.sh
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../../../.."
for program in node npm python3 git; do
  command -v "$program" >/dev/null || { printf 'there is no %s here\n' "$program"; exit 2; }
done
scratch=$(mktemp -d)
children=
end() {
  for child in $children; do kill "$child" 2>/dev/null || true; done
  rm -rf "$scratch"
}
trap end EXIT
python3 -m venv "$scratch/venv" 2>/dev/null || { printf 'python3 makes no virtual environment here\n'; exit 2; }

cargo build --quiet --locked -p runstate-cli --features mcp
# A copy: another build may replace the program meanwhile.
cp "${CARGO_TARGET_DIR:-$PWD/target}/debug/runstate" "$scratch/runstate"
runstate=$scratch/runstate
cd "$scratch"
npm install --silent --no-save --no-package-lock @modelcontextprotocol/server-filesystem@2026.8.31 \
  @modelcontextprotocol/server-everything@2026.8.31 @modelcontextprotocol/server-memory@2026.8.31
"$scratch/venv/bin/pip" install --quiet --disable-pip-version-check mcp-server-git mcp-server-time
modules=$scratch/node_modules/@modelcontextprotocol

mkdir notes repository
printf 'buy milk\n' >notes/list.txt
git -C repository init --quiet --initial-branch main
printf 'x\n' >repository/new.txt
export MEMORY_FILE_PATH="$scratch/memory.jsonl" RUNSTATE_STORE="sqlite:$scratch/runs.db"

printf '[]' >calls.json
: >model.log
python3 "$here/model.py" calls.json >model.log &
children=$!
for _ in $(seq 100); do
  grep -q '^http' model.log && break
  sleep 0.1
done
model=$(cat model.log)

# Writes an agent with one server: its name, its command, and further fields.
agent() {
  printf 'name: %s\nmodel: {base_url: "%s", name: m}\ntools:\n  mcp:\n    - {name: %s, command: %s%s}\n' \
    "$1" "$model" "$1" "$2" "${3:-}" >"$1.yaml"
}
# Makes these calls, and compares a part of the results.
calls() {
  agent=$1 expected=$2
  printf '%s' "$3" >calls.json
  if ! "$runstate" run "$agent.yaml" go --state-dir state >"$agent.out" 2>"$agent.err"; then
    printf '%s: the run failed\n' "$agent"
    cat "$agent.out" "$agent.err"
    exit 1
  fi
  has "$agent" "$expected"
}
has() {
  grep -q -- "$2" calls.json.results || {
    printf '%s: expected %s, got\n' "$1" "$2"
    cat calls.json.results
    exit 1
  }
  printf '%s: %s\n' "$1" "$2"
}

agent files "[node, $modules/server-filesystem/dist/index.js, $scratch/notes]" ', trust: true'
calls files 'buy milk' "[[\"files__read_text_file\", {\"path\": \"$scratch/notes/list.txt\"}]]"
calls files 'Access denied' '[["files__read_text_file", {"path": "/etc/passwd"}]]'
calls files 'list.txt' "[[\"files__list_directory\", {\"path\": \"$scratch/notes\"}]]"

everything="[node, $modules/server-everything/dist/index.js]"
agent everything "$everything" ', trust: true'
printf 'approve: []\n' >>everything.yaml
calls everything 'Echo: hello' '[["everything__echo", {"message": "hello"}]]'
calls everything 'image/png' '[["everything__get-tiny-image", {}]]'
calls everything 'is 5' '[["everything__get-sum", {"a": 2, "b": 3}]]'
calls everything 'Long running operation completed' \
  '[["everything__trigger-long-running-operation", {"duration": 2, "steps": 4}]]'

agent memory "[node, $modules/server-memory/dist/index.js]" ', env: [MEMORY_FILE_PATH], trust: true'
printf 'approve: []\n' >>memory.yaml
entity='{"name": "Ada", "entityType": "person", "observations": ["writes programs"]}'
calls memory 'writes programs' "[[\"memory__create_entities\", {\"entities\": [$entity]}], [\"memory__read_graph\", {}]]"
grep -q 'writes programs' memory.jsonl

agent git "[$scratch/venv/bin/mcp-server-git, --repository, $scratch/repository]" ', trust: true'
printf 'approve: []\n' >>git.yaml
calls git 'new.txt' "[[\"git__git_status\", {\"repo_path\": \"$scratch/repository\"}]]"

agent time "[$scratch/venv/bin/mcp-server-time, --local-timezone, UTC]" ', trust: true'
printf 'approve: []\n' >>time.yaml
calls time 'T18:00' \
  '[["time__convert_time", {"source_timezone": "UTC", "time": "17:00", "target_timezone": "Africa/Lagos"}]]'

# Waits until a file has a text.
until_has() {
  for _ in $(seq 300); do
    grep -q -- "$2" "$1" 2>/dev/null && return
    sleep 0.1
  done
  printf 'no %s in %s\n' "$2" "$1"
  exit 1
}
# The processes below a process.
below() {
  for child in $(ps -o pid= --ppid "$1"); do
    below "$child"
    printf '%s ' "$child"
  done
}

# The server is killed in the midst of a call: the call fails, and the next one has a new server.
printf '%s' '[["everything__trigger-long-running-operation", {"duration": 60, "steps": 60}],
  ["everything__echo", {"message": "again"}]]' >calls.json
rm -f calls.json.tools
"$runstate" run everything.yaml go --state-dir state >killed.out 2>killed.err &
running=$!
until_has calls.json.tools everything__echo
sleep 2
servers=$(below "$running")
[ -n "$servers" ] || { printf 'there is no server to be killed\n'; exit 1; }
kill -9 $servers
wait "$running" || { cat killed.out killed.err; exit 1; }
has everything 'it ended during the call'
has everything 'Echo: again'

# The program is killed in the midst of a call that was approved: nothing is executed again without a decision.
agent doubt "$everything"
printf '%s' '[["doubt__trigger-long-running-operation", {"duration": 60, "steps": 60}]]' >calls.json
rm -f calls.json.tools
status=0
"$runstate" run doubt.yaml go --state-dir state >doubt.out 2>&1 || status=$?
[ "$status" = 3 ] || { printf 'expected a run that waits, got the status %s\n' "$status"; cat doubt.out; exit 1; }
"$runstate" approve c0 --run doubt-1 --state-dir state >/dev/null
"$runstate" chat doubt.yaml --thread doubt-1 --state-dir state </dev/null >doubt.out 2>&1 &
running=$!
for _ in $(seq 300); do
  servers=$(below "$running")
  [ -n "$servers" ] && break
  sleep 0.1
done
sleep 3
kill -9 "$running" $servers
wait "$running" 2>/dev/null || true
status=0
"$runstate" chat doubt.yaml --thread doubt-1 --state-dir state </dev/null >doubt.out 2>&1 || status=$?
[ "$status" = 3 ] || { printf 'expected a call in doubt, got the status %s\n' "$status"; cat doubt.out; exit 1; }
"$runstate" approvals --run doubt-1 --state-dir state >doubt.out
grep -q 'in doubt' doubt.out || { cat doubt.out; exit 1; }
printf 'doubt: asks after a kill\n'
