#!/bin/sh
# Installs the PostgreSQL server whose binaries this crate's tests start on loopback, unless there is one. Needs root and apt-get;
# elsewhere it says what to install, and ends with 2. It makes no cluster and leaves no server running.
set -eu
for folder in $(printf '%s' "$PATH" | tr ':' ' ') /usr/lib/postgresql/*/bin; do
    if [ -x "$folder/initdb" ] && [ -x "$folder/postgres" ] && [ -x "$folder/pg_isready" ]; then
        printf 'PostgreSQL is in %s\n' "$folder"
        exit 0
    fi
done
if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    printf 'there is no PostgreSQL server here; install one (on Debian: sudo apt-get install postgresql), with initdb and postgres in PATH\n' >&2
    exit 2
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -y -q --no-install-recommends postgresql-common
mkdir -p /etc/postgresql-common/createcluster.d
printf 'create_main_cluster = false\n' >/etc/postgresql-common/createcluster.d/no-main-cluster.conf
apt-get install -y -q --no-install-recommends postgresql
