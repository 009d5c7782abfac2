#!/bin/sh
# Runs a CMocka program so that each of its tests counts once. CMocka 1.1 writes a skipped test as one that failed, and
# exits with the number of failed tests, which the TAP driver would count as one failure more; a program that returns 77
# before its tests is skipped as a whole, with the last line that it printed as the reason.
{
    "$@"
    printf '\nexit status %s\n' $?
} | awk '
    { line = $0 }
    NR > 1 { emit(last) }
    { last = line }
    function emit(text) {
        sub(/\r$/, "", text)
        if (text ~ /^not ok [0-9]+ # SKIP/) sub(/^not /, "", text)
        if (text ~ /^not ok [0-9]/) failed++
        if (text ~ /^1\.\.[0-9]+$/) planned = 1
        if (text != "") reason = text
        print text
        fflush()
    }
    END {
        status = substr(last, length("exit status ") + 1) + 0
        if (status == 77 && !planned) {
            print "1..0 # SKIP " reason
            status = 0
        } else if (status > 0 && status == failed) {
            status = 0
        }
        exit status
    }'
