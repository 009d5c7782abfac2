#!/bin/sh
# The experiments compile, for the GPU that they are about. What they measure stands in docs/hardware.md.
. "${top_srcdir:?}/tests/tap.sh"

for source in hopper hopper_copy hopper_shared hopper_wgmma; do
    check "$source.cu" "${NVCC:?}" -std=c++17 -O1 -gencode=arch=compute_90a,code=sm_90a -I"$top_srcdir/gpu" -c \
        -o "$scratch/$source.o" "$top_srcdir/gpu/experiments/$source.cu"
done

done_testing
