#!/bin/sh
# TAP for shell tests; sourced. A test calls ok, not_ok or skip once per check, and done_testing at its end.

tap_count=0
tap_failed=0

ok() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1"
}

# not_ok NAME [FILE]: FILE's text says more.
not_ok() {
    tap_count=$((tap_count + 1))
    tap_failed=$((tap_failed + 1))
    echo "not ok $tap_count - $1"
    if [ $# -gt 1 ]; then
        sed 's/^/# /' "$2"
    fi
}

skip() {
    tap_count=$((tap_count + 1))
    echo "ok $tap_count - $1 # SKIP $2"
}

# check NAME COMMAND...: whether the command succeeds; what it prints is shown only where it fails.
check() {
    tap_name=$1
    shift
    if "$@" >"$scratch/check.log" 2>&1 </dev/null; then
        ok "$tap_name"
    else
        not_ok "$tap_name" "$scratch/check.log"
        return 1
    fi
}

done_testing() {
    echo "1..$tap_count"
    exit 0
}

bail_out() {
    echo "Bail out! $*"
    exit 1
}

# The test's own folder, removed at the end.
scratch=$(mktemp -d) || bail_out "no temporary folder"
trap 'rm -rf "$scratch"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
