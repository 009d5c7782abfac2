#!/bin/sh
# The kernels that replay accesses, as they were compiled: each executes the instruction that it is named after.
. "${top_srcdir:?}/tests/tap.sh"

object=${top_builddir:?}/gpu/kernels.o
cuobjdump=$(command -v cuobjdump || echo "$(dirname "${NVCC:-/usr/local/cuda/bin/nvcc}")/cuobjdump")

if [ ! -x "$cuobjdump" ]; then
    skip "machine code of the kernels" "no cuobjdump"
    done_testing
fi
"$cuobjdump" -sass "$object" >"$scratch/sass" 2>"$scratch/errors" || bail_out "cuobjdump fails: $(head -n 1 "$scratch/errors")"
check "machine code of the kernels" awk -f "$top_srcdir/tests/gpu/sass.awk" "$scratch/sass"

done_testing
