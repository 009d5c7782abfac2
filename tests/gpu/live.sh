#!/bin/sh
# warpmem validate --live, with a stand-in for warpmem-replay that counts as the model does or as it is told to.
. "${top_srcdir:?}/tests/tap.sh"

warpmem=${top_builddir:?}/warpmem
WARPMEM_REPLAY=$top_builddir/tests/gpu/stand_in
export WARPMEM_REPLAY

# live NAME STATUS ARGUMENT...: exit status, with output in $scratch/out and messages in $scratch/err
live() {
    name=$1 expected=$2
    shift 2
    "$warpmem" validate --live "$@" >"$scratch/out" 2>"$scratch/err"
    status=$?
    if [ "$status" = "$expected" ]; then
        ok "$name"
    else
        echo "exit status $status" | cat - "$scratch/err" "$scratch/out" >"$scratch/all"
        not_ok "$name" "$scratch/all"
    fi
}

live "random accesses agree" 0 --random 4000 --seed 7
check "a table of opcodes" grep -q '^ld.shared.b32 ' "$scratch/out"
check "launches hold many accesses" \
    awk '/ accesses replayed/ { n = $1 } / launches in / { k = $1 } END { exit !(k > 0 && n > 4 * k) }' "$scratch/out"
check "what the GPU lacks is counted" grep -q '^not replayed: .* no single instruction' "$scratch/out"
check "no word on standard error" test ! -s "$scratch/err"

STAND_IN=wrong live "a wrong count fails" 1 --random 20000 --seed 7
check "and is shown with its access" grep -q '^  access [0-9]*: st.shared[.a-z0-9]* 00000001: bank_conflicts: model 0, measured 1$' "$scratch/out"
STAND_IN=wrong "$warpmem" validate --live --alone --random 20000 --seed 7 >"$scratch/alone" 2>&1
grep '^  access' "$scratch/out" | sort >"$scratch/found"
grep '^  access' "$scratch/alone" | sort >"$scratch/found-alone"
check "launches of many find what launches of one find" diff "$scratch/found" "$scratch/found-alone"
check "that is not nothing" test -s "$scratch/found"

live "a measurement is written" 0 --random 500 --seed 3 --record "$scratch/rec"
check "in three files" test -s "$scratch/rec.wmt" -a -s "$scratch/rec.csv" -a -s "$scratch/rec.meta"
check "that validate agrees with" "$warpmem" validate "$scratch/rec.csv" "$scratch/rec.wmt"
live "and that can be replayed" 0 "$scratch/rec.wmt"
replayed=$(sed -n 's/^\([0-9]*\) accesses replayed.*/\1/p' "$scratch/out")
check "all of it" test "$replayed" = "$(grep -c '^[0-9]' "$scratch/rec.csv")"

live "cycles are recorded" 0 --random 300 --seed 3 --record "$scratch/timed" --cycles
check "each with its access" awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    { if ($at["cycles_1_warp"] != $at["shared_wavefronts"] ".500" || $at["cycles_32_warps"] != "64.250") exit 1; n++ }
    END { exit !n }' "$scratch/timed.csv"
live "cycles without a record" 2 --random 5 --cycles

live "CSV" 0 --random 500 --format csv
check "has its heading" sh -c "head -n 1 '$scratch/out' | grep -q '^opcode,counter,compared,agreeing'"

# message TEXT: the one line on standard error has it
message() {
    check "one message: $1" awk -v text="$1" 'index($0, text) { found = 1 } END { exit !(found && NR == 1) }' "$scratch/err"
}
STAND_IN=refuse live "no GPU" 1 --random 5
message "this machine has no GPU"
STAND_IN=forbidden live "counters not permitted" 1 --random 5
message "counters are not for everybody"
STAND_IN=die live "a replay that dies" 1 --random 4000
message "ended before it had answered"
WARPMEM_REPLAY=/nonexistent live "no such program" 1 --random 5
message "/nonexistent"
live "neither trace nor --random" 2
live "a trace that is not there" 1 "$scratch/nothing.wmt"
printf 'wmt 1\nld.global.b32 00000001 [2]\n' >"$scratch/bad.wmt"
live "an access that the hardware refuses" 1 "$scratch/bad.wmt"
message "bad.wmt:2:"
live "a measurement that cannot be written" 1 --random 50 --record "$scratch/no/folder/x"
message "No such file"

done_testing
