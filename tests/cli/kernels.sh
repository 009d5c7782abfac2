#!/bin/sh
# Each kernel of traces/kernels with the launches of its comments gives the counts of its comments; nvcc, where there is
# one, takes each.
. "${top_srcdir:?}/tests/tap.sh"

warpmem=${top_builddir:?}/warpmem

# expect TAG OPCODE COLUMN=VALUE ...: against the rows of the launch before.
expect() {
    line=$1
    if [ "$1" != '*' ]; then
        line=$(grep -n "// @$1\$" "$file" | cut -d : -f 1)
        [ -n "$line" ] || { not_ok "$name: there is no line @$1"; return; }
    fi
    opcode=$2
    label="$name: $1 $2"
    shift 2
    # the kernel's name may hold commas, in quotes
    if sed 's/^"[^"]*",/x,/' "$scratch/rows" | awk -F , -v line="$line" -v opcode="$opcode" -v wanted="$*" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["opcode"] == opcode && (line == "*" || $column["line"] ~ (":" line "$")) {
            rows++
            for (i = 5; i <= NF; i++) {
                if (i != column["ways"]) sum[i] += $i
                else if ($i + 0 > sum[i]) sum[i] = $i + 0
            }
        }
        END {
            n = split(wanted, list, " ")
            if (!rows) { print "no such row"; exit 1 }
            for (i = 1; i <= n; i++) {
                split(list[i], pair, "=")
                if (!(pair[1] in column)) { print "there is no column " pair[1]; bad = 1 }
                else if (sum[column[pair[1]]] != pair[2] + 0) {
                    print pair[1] " is " sum[column[pair[1]]] ", not " pair[2]; bad = 1
                }
            }
            exit bad
        }' >"$scratch/why"; then
        ok "$label"
    else
        not_ok "$label" "$scratch/why"
    fi
}

nvcc=$(command -v nvcc || command -v /usr/local/cuda/bin/nvcc)

for file in "$top_srcdir"/traces/kernels/*.cu; do
    name=${file##*/}
    launches=0
    while IFS= read -r text; do
        case $text in
        '// warpmem: '*)
            launches=$((launches + 1))
            set -f
            # shellcheck disable=SC2086 # options are words
            "$warpmem" sim ${text#'// warpmem: '} --format csv "$file" >"$scratch/rows" 2>"$scratch/error" </dev/null ||
                not_ok "$name: launch $launches" "$scratch/error"
            set +f
            if [ -s "$scratch/error" ]; then
                not_ok "$name: launch $launches says nothing" "$scratch/error"
            fi
            ;;
        '// expect: '*)
            set -f
            # shellcheck disable=SC2086
            set -- ${text#'// expect: '}
            set +f
            expect "$@"
            ;;
        esac
    done <"$file"
    [ "$launches" -gt 0 ] || not_ok "$name has no launch"
    if [ -z "$nvcc" ]; then
        skip "$name: nvcc" "no nvcc"
    else
        check "$name: nvcc" "$nvcc" -arch=sm_90 -cubin -o "$scratch/cubin" "$file"
    fi
done

done_testing
