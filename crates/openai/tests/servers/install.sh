#!/bin/sh
# Installs the mock servers that this crate's tests start on loopback. Needs npm. The packages go to a folder that is not part of
# the project: RUNSTATE_SERVERS, or one below target/.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
servers=${RUNSTATE_SERVERS:-$here/../../../../target/servers}
# What was installed whole is written down last: an installation that was cut off is made again.
if ! cmp -s "$here/package.json" "$servers/installed.json"; then
    mkdir -p "$servers"
    cp "$here/package.json" "$servers/package.json"
    (cd "$servers" && npm install --no-audit --no-fund --no-package-lock --ignore-scripts)
    cp "$here/package.json" "$servers/installed.json"
fi
