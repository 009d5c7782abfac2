#!/bin/sh
# The kernels of traces/kernels, run from their source, against what an H200 counted for them as nvcc compiles them. What
# the compiler changes is listed in differences.csv; an unlisted difference fails, and so does a listed one that is none.
. "${top_srcdir:?}/tests/tap.sh"

warpmem=${top_builddir:?}/warpmem
recorded=$top_srcdir/traces/hardware/sm_90/kernels

# Prints "counter predicted measured" for the counters of $scratch/rows and the record $1.
compare() {
    sed 's/^"[^"]*",/x,/' "$scratch/rows" | awk -F , -v names="$(head -n 1 "$recorded/counters.csv")" -v record="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        {
            opcode = $column["opcode"]
            split(opcode, part, ".")
            if (part[1] == "cp") { # counted as a load
                part[1] = "ld"
                part[2] = "global"
            } else if (part[1] ~ /matrix/) {
                part[1] = substr(part[1], 1, 2)
                part[2] = "shared"
            }
            if (part[2] == "global") {
                sum[part[1] "_requests"] += $column["requests"]
                sum[part[1] "_sectors"] += $column["sectors"]
                sum[part[1] "_tag_wavefronts"] += $column["tag_wavefronts"]
            } else if (part[2] == "shared") {
                kind = part[1] == "red" ? "atom" : part[1]
                sum["shared_" kind "_wavefronts"] += $column["shared_wavefronts"]
            }
            sum["bank_conflicts"] += $column["bank_conflicts"]
        }
        END {
            n = split(names, name, ",")
            split(record, value, ",")
            # after kernel and launch; warps and what is counted beside the accesses are not predicted
            for (i = 3; i <= n; i++)
                if (name[i] != "warps" && name[i] != "shared_misc_wavefronts")
                    print name[i], sum[name[i]] + 0, value[i]
        }'
}

sed 1d "$recorded/counters.csv" >"$scratch/records"
while IFS= read -r record; do
    kernel=${record%%,*}
    launch=${record#*,}
    launch=${launch%%,*}
    options=$(grep '^// warpmem: ' "$top_srcdir/traces/kernels/$kernel" | sed -n "$((launch + 1))s/^[^:]*: //p")
    set -f
    # shellcheck disable=SC2086 # options are words
    "$warpmem" sim $options --by opcode --format csv "$top_srcdir/traces/kernels/$kernel" >"$scratch/rows" \
        2>"$scratch/error" </dev/null || not_ok "$kernel, launch $launch" "$scratch/error"
    set +f
    compare "$record" >"$scratch/counters"
    : >"$scratch/why"
    while read -r counter predicted measured; do
        if grep -q "^$kernel,$launch,$counter," "$recorded/differences.csv"; then
            [ "$predicted" != "$measured" ] || echo "$counter is $measured as measured: no difference" >>"$scratch/why"
        elif [ "$predicted" != "$measured" ]; then
            echo "$counter is $predicted, measured $measured" >>"$scratch/why"
        fi
    done <"$scratch/counters"
    if [ -s "$scratch/counters" ] && [ ! -s "$scratch/why" ]; then
        ok "$kernel, launch $launch"
    else
        not_ok "$kernel, launch $launch" "$scratch/why"
    fi
done <"$scratch/records"

done_testing
