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

# message TEXT: the one line on standard error has it
message() {
    check "one message: $1" awk -v text="$1" 'index($0, text) { found = 1 } END { exit !(found && NR == 1) }' "$scratch/err"
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
check "which is the time until a result can be used, on lines in L1" sh -c \
    "grep -qx 'cycles_1_warp = latency' '$scratch/timed.meta' && grep -qx 'cycles_l1 = hit' '$scratch/timed.meta'"
check "and is compared" sh -c "'$warpmem' validate '$scratch/timed.csv' '$scratch/timed.wmt' | grep -q '^predicted cycles'"
live "cycles without a record" 0 --random 300 --seed 3 --cycles
check "are compared" grep -q '^predicted cycles' "$scratch/out"
# One pass takes a cycle and a little, as on an H200, where the stand-in says 64.25: wrong by 98 %, which is no reason to fail.
printf 'wmt 1\nld.shared.b32 ffffffff 0+4\nld.shared.b32 ffffffff 128+4\n' >"$scratch/one.wmt"
live "cycles far off do not fail" 0 --cycles --format csv "$scratch/one.wmt"
check "and are told by opcode" grep -qx 'ld.shared.b32,cycles_32_warps,2,,,,,\(0.98[0-9]*\),\1,\1' "$scratch/out"
check "under a longer heading" grep -qx 'opcode,counter,compared,agreeing,known,unlisted,inexact,median_error,p95_error,worst_error' "$scratch/out"
live "cycles on misses" 0 --random 300 --seed 3 --cycles-l1 miss
check "are what the report assumes" sh -c "tr '\n' ' ' <'$scratch/out' | tr -s ' ' | grep -q 'cycles of loads that miss L1'"

# Pictures.
if grep -q '^#define HAVE_CAIRO 1' "$top_builddir/config.h"; then
    live "a picture" 0 --random 2000 --seed 3 --plot "$scratch/plot.svg"
    check "is SVG from beginning to end" sh -c "head -n 2 '$scratch/plot.svg' | grep -q '<svg' && tail -n 1 '$scratch/plot.svg' | grep -q '</svg>'"
    # blue and orange: loads and stores of shared memory, a mark for each place and one in the legend
    check "with marks of several colours" awk '
        /fill:rgb\(0%,44.7%,69.8%\)/ { loads++ } /fill:rgb\(90.2%,62.4%,0%\)/ { stores++ }
        END { exit !(loads > 2 && stores > 2) }' "$scratch/plot.svg"
    live "a picture as PNG" 0 --random 300 --seed 3 --plot "$scratch/plot.png"
    check "has its signature" sh -c "head -c 8 '$scratch/plot.png' | od -An -c | grep -q '211   P   N   G'"
    live "a picture as PDF" 0 --random 300 --seed 3 --plot "$scratch/plot.pdf"
    check "has its signature too" sh -c "head -c 5 '$scratch/plot.pdf' | grep -q '%PDF-'"
    check "a record can be drawn" "$warpmem" validate --plot "$scratch/rec.svg" "$scratch/timed.csv" "$scratch/timed.wmt"
    check "as what it is" grep -q '</svg>' "$scratch/rec.svg"
    "$warpmem" validate --plot "$scratch/none.svg" "$scratch/rec.csv" "$scratch/rec.wmt" >"$scratch/out" 2>"$scratch/err"
    message "there are no cycles to draw"
    check "and nothing is" test ! -e "$scratch/none.svg"
    live "a picture where there is no folder" 1 --random 300 --seed 3 --plot "$scratch/no/plot.svg"
else
    live "a picture without cairo" 1 --random 300 --seed 3 --plot "$scratch/plot.svg"
    message "install cairo"
fi
live "a picture of no known kind" 2 --random 300 --plot "$scratch/plot.gif"

# Lines that are in L1 before the access comes.
live "L1 hits" 0 --random 2000 --seed 9 --l1 hit
check "are what the report assumes" sh -c "tr '\n' ' ' <'$scratch/out' | grep -q 'loads *hit L1'"
check "of which L2 sees nothing" sh -c "! grep -q 'requests sectors$' '$scratch/out'"
live "L1 hits are recorded" 0 --random 500 --seed 9 --l1 hit --record "$scratch/hits"
check "as such" grep -qx 'l1 = hit' "$scratch/hits.meta"
check "without L2" sh -c "head -n 1 '$scratch/hits.csv' | grep -q 'bank_conflicts$'"
check "and validate knows" "$warpmem" validate "$scratch/hits.csv" "$scratch/hits.wmt"
check "that misses are another matter" sh -c "! '$warpmem' validate --l1 miss '$scratch/hits.csv' '$scratch/hits.wmt'"

# A buffer of any size, over all of which accesses are scattered.
live "a large buffer" 0 --random 8000 --seed 4 --buffer 102400
check "is used from end to end" grep -q '^\([0-9][0-9][0-9]*\) of them have lanes scattered over 100 GiB: tag wavefronts of \1 agree$' "$scratch/out"
live "a buffer that is no power of two" 0 --random 400 --seed 4 --buffer 1022 --record "$scratch/virtual"
check "is recorded with virtual addresses" grep -q '0x7f00[0-9a-f]*' "$scratch/virtual.wmt"
check "as its description says" grep -q '^addresses = .* virtual addresses, in a buffer of 1071644672 bytes at 0x7f0014600000' "$scratch/virtual.meta"
check "and agrees" "$warpmem" validate "$scratch/virtual.csv" "$scratch/virtual.wmt"
live "an odd buffer" 2 --random 5 --buffer 1023

# Several GPUs: each access goes to one of them, and the report is that of one.
STAND_IN_LOG=$scratch/given-one live "one GPU for comparison" 0 --random 6000 --seed 11
mv "$scratch/out" "$scratch/one"
rm -f "$scratch/given"
STAND_IN_DEVICES=3 STAND_IN_LOG=$scratch/given live "several GPUs" 0 --random 6000 --seed 11 --all-devices
check "are all named" sh -c "tr '\n' ' ' <'$scratch/out' | tr -s ' ' |
    grep -q 'on GPU 0, Stand-in 0; GPU 1, Stand-in 1; GPU 2, Stand-in 2, driver 0.0; loads miss L1'"
check "share the work" awk '{ n[$1]++; all++ } END { exit !(all > 300 && n[0] > all / 4 && n[1] > all / 4 && n[2] > all / 4) }' \
    "$scratch/given"
# rows come in the order of the GPUs
table() {
    sed -n '/^opcode/,/^$/p' "$1" | sort
}
table "$scratch/one" >"$scratch/one-table"
table "$scratch/out" >"$scratch/all-table"
check "agree as one does" diff "$scratch/one-table" "$scratch/all-table"
grep ' accesses replayed, ' "$scratch/one" >"$scratch/one-line"
check "in as many values" grep -qxF -f "$scratch/one-line" "$scratch/out"
STAND_IN=wrong STAND_IN_DEVICES=3 live "wrong counts on several" 1 --random 20000 --seed 7 --all-devices
grep '^  access' "$scratch/out" >"$scratch/found-all"
check "are found as on one" sh -c "sort '$scratch/found-all' | diff - '$scratch/found'"
check "and come in order" sort -c -n -k 2 "$scratch/found-all"
live "cycles on one" 0 --random 2000 --seed 12 --cycles
sed -n '/^predicted cycles/,/^$/p' "$scratch/out" | sort >"$scratch/cycles-one"
STAND_IN_DEVICES=4 live "cycles on several" 0 --random 2000 --seed 12 --cycles --all-devices
sed -n '/^predicted cycles/,/^$/p' "$scratch/out" | sort >"$scratch/cycles-all"
check "come to the same" diff "$scratch/cycles-one" "$scratch/cycles-all"
STAND_IN=mixed STAND_IN_DEVICES=2 live "GPUs of two generations" 1 --random 5 --all-devices
message "GPU 0 (Stand-in 0) has compute capability 9.0, GPU 1 (Stand-in 1) 8.0"
STAND_IN=lonely STAND_IN_DEVICES=3 live "one of several that dies" 1 --random 6000 --all-devices
message "GPU 1: warpmem-replay ended before it had answered"
live "all GPUs of one" 0 --random 300 --all-devices
live "one and all" 2 --random 300 --all-devices --device 0
live "a record of several GPUs" 2 --random 300 --all-devices --record "$scratch/several"
live "standard input for several" 2 --all-devices -

live "CSV" 0 --random 500 --format csv
check "has its heading" sh -c "head -n 1 '$scratch/out' | grep -q '^opcode,counter,compared,agreeing'"

STAND_IN=refuse live "no GPU" 1 --random 5
message "this machine has no GPU"
STAND_IN=forbidden live "counters not permitted: cycles alone" 0 --random 300 --seed 3
message "warning: only cycles are compared: counters are not for everybody"
check "says that nothing was counted" grep -q '^[0-9]* accesses replayed, no hardware counter read$' "$scratch/out"
check "and has no table of counters" sh -c "! grep -q 'agreeing/compared' '$scratch/out'"
STAND_IN=forbidden live "a record of cycles alone" 0 --random 300 --seed 3 --record "$scratch/times"
check "has no other column" grep -q '^index,cycles_1_warp,cycles_32_warps$' "$scratch/times.csv"
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
