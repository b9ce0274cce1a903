#!/bin/sh
# Makes and keeps one PostgreSQL server, as long as whoever started this holds its standard input open: keep.sh BIN FOLDER PORT [OPTION...]
# Reads `start` and `stop SIGNAL`, and answers `ready`, `failed` or `stopped`. At the end of the input, however it came, the
# server is stopped by its process id and the folder is removed.
# Whoever is answered may be gone: that is no reason to leave the server behind.
trap '' PIPE INT HUP
bin=$1 folder=$2 port=$3
shift 3
pid=

start() {
    "$bin/postgres" -D "$folder/data" -k "$folder" -p "$port" -c listen_addresses=127.0.0.1 "$@" \
        >>"$folder/log" 2>&1 </dev/null &
    pid=$!
    tries=0
    until "$bin/pg_isready" -q -h "$folder" -p "$port"; do
        tries=$((tries + 1))
        if [ "$tries" -gt 300 ] || ! [ -e "/proc/$pid/exe" ]; then
            stop QUIT
            echo failed
            return
        fi
        sleep 0.1
    done
    echo ready
}

stop() {
    [ -n "$pid" ] || return 0
    kill -s "$1" "$pid" 2>/dev/null
    (
        trap 'kill $!; exit' TERM
        sleep 20 &
        wait $!
        kill -s KILL "$pid" 2>/dev/null
    ) &
    late=$!
    wait "$pid"
    kill "$late" 2>/dev/null
    wait "$late" 2>/dev/null
    pid=
}

"$bin/initdb" --pgdata="$folder/data" --username=postgres --auth=trust --encoding=UTF8 --no-sync --data-checksums \
    --no-instructions >>"$folder/log" 2>&1 </dev/null
while read -r said with; do
    case $said in
    start) start "$@" ;;
    stop)
        stop "$with"
        echo stopped
        ;;
    esac
done
stop QUIT
rm -rf "$folder"
