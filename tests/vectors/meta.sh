#!/bin/sh
# Each recorded measurement names the trace that it belongs to, unchanged since: every trace below traces/hardware has its
# SHA-256 in the .meta beside it, and every .meta has the keys that traces/README names.
. "${top_srcdir:?}/tests/tap.sh"

hardware=$top_srcdir/traces/hardware
if ! command -v sha256sum >/dev/null; then
    skip "traces are as they were measured" "no sha256sum"
    done_testing
fi

# value FILE KEY
value() {
    sed -n "s/^$2 = //p" "$1"
}

find "$hardware" -name '*.meta' >"$scratch/metas"
while read -r meta; do
    missing=
    for key in device compute_capability driver cuda method counters clocks l1 date; do
        test -n "$(value "$meta" "$key")" || missing="$missing $key"
    done
    if test -z "$missing" && test -f "${meta%.meta}.csv"; then
        ok "${meta#"$hardware"/} is complete"
    else
        not_ok "${meta#"$hardware"/} lacks$missing or its .csv"
    fi
done <"$scratch/metas"

find "$hardware" -name '*.wmt' >"$scratch/traces"
while read -r trace; do
    name=${trace##*/}
    sum=$(sha256sum "$trace" | cut -d ' ' -f 1)
    if cat "${trace%/*}"/*.meta | grep -q "^trace_sha256[.a-z0-9-]* = $sum\$" &&
        cat "${trace%/*}"/*.meta | grep -q "^trace[.a-z0-9-]* = $name\$"; then
        ok "${trace#"$hardware"/} is as it was measured"
    else
        not_ok "${trace#"$hardware"/} is not in a .meta beside it, or has changed"
    fi
done <"$scratch/traces"

done_testing
