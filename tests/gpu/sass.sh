#!/bin/sh
# The kernels that replay accesses and those that time them, as they were compiled: each executes the instruction that it is
# named after.
. "${top_srcdir:?}/tests/tap.sh"

cuobjdump=$(command -v cuobjdump || echo "$(dirname "${NVCC:-/usr/local/cuda/bin/nvcc}")/cuobjdump")

for name in kernels cycles; do
    if [ ! -x "$cuobjdump" ]; then
        skip "machine code of $name.cu" "no cuobjdump"
        continue
    fi
    "$cuobjdump" -sass "${top_builddir:?}/gpu/$name.o" >"$scratch/sass" 2>"$scratch/errors" ||
        bail_out "cuobjdump fails: $(head -n 1 "$scratch/errors")"
    check "machine code of $name.cu" awk -f "$top_srcdir/tests/gpu/sass.awk" "$scratch/sass"
done

done_testing
