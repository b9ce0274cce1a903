#!/bin/sh
# The document and the server before programs of others: a linter, the types of a client, and a fuzzer of schemas.
# Needs node, npm and python3 with venv. 2: one of them is missing.
#
#   sh crates/http/tests/oracle/run.sh [SEED]
set -eu
cd "$(dirname "$0")/../../../.."
seed=${1:-1}
for program in node npm python3; do
  command -v "$program" >/dev/null || { printf 'there is no %s here\n' "$program"; exit 2; }
done
scratch=$(mktemp -d)
server=
end() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -r "$scratch"
}
trap end EXIT

cargo build --quiet --locked -p runstate-cli --features serve
# A copy: another build may replace the program meanwhile.
cp "${CARGO_TARGET_DIR:-$PWD/target}/debug/runstate" "$scratch/runstate"
runstate="$scratch/runstate"
(
  cd "$scratch"
  npm install --silent --no-save --no-package-lock @redocly/cli@2.77 openapi-typescript@7 typescript@5
)
printf 'rules: { operation-4xx-response: off, info-license-strict: off }\nextends: [recommended]\n' >"$scratch/redocly.yaml"
"$scratch/node_modules/.bin/redocly" lint --config "$scratch/redocly.yaml" docs/openapi.json
"$scratch/node_modules/.bin/openapi-typescript" docs/openapi.json -o "$scratch/api.ts"
cp crates/http/tests/oracle/client.ts "$scratch"
"$scratch/node_modules/.bin/tsc" --noEmit --strict --target es2022 --module esnext --moduleResolution bundler \
  --lib es2022,dom "$scratch/client.ts"

python3 -m venv "$scratch/python"
"$scratch/python/bin/pip" --quiet install 'schemathesis==4.32.*'
cd "$scratch"
# A token of both roles reaches each operation. A token of each role reaches the refusals of the others.
both=$("$runstate" token new fuzzer --role operator --role approver --tokens tokens.json)
viewer=$("$runstate" token new viewer --role viewer --tokens tokens.json)
approver=$("$runstate" token new approver --role approver --tokens tokens.json)
operator=$("$runstate" token new operator --role operator --tokens tokens.json)
"$runstate" serve --tokens tokens.json --store sqlite:runs.db --listen 127.0.0.1:0 2>said &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10; do
  grep -q http:// said && break
  sleep 1
done
url=$(sed -n 's/^\(http[^ ]*\) serves.*/\1/p' said)
fuzz() {
  cat >schemathesis.toml <<F
headers = { Authorization = "Bearer $1", Prefer = "wait=1" }
[checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "401", "403", "404", "409", "412", "422", "429"]
# An empty If-Match, which the pattern excludes, is sent as a valid one. The server does not ignore a condition.
[[operations]]
include-tag = "operations"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "304", "400", "401", "403", "404", "409", "412", "422", "429"]
[[operations]]
include-operation-id = "list_runs"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "400", "429"]
# A number of an event that the run lacks.
[[operations]]
include-operation-id = "watch_run"
[operations.checks.positive_data_acceptance]
expected-statuses = ["2xx", "204", "400", "404", "429"]
F
  # Below the rate of a principal.
  python/bin/schemathesis --no-color --config-file schemathesis.toml run "$url/openapi.json" --url "$url" \
    --seed "$seed" --max-examples "$2" --checks all --rate-limit 18/s --request-timeout 10
}
fuzz "$both" 30
for token in "$viewer" "$approver" "$operator"; do
  fuzz "$token" 8
done
