#!/bin/sh
# The public header compiles alone: as C11, as C++17, and as CUDA where there is nvcc.
. "${top_srcdir:?}/tests/tap.sh"

printf '#include "warpmem.h"\n#include "warpmem.h"\nint used(void);\nint used(void) { return WM_OK; }\n' >"$scratch/alone.c"
cp "$scratch/alone.c" "$scratch/alone.cpp"
printf '#include "warpmem.h"\n__global__ void kernel(struct wm_counts *out) { out->sectors = WM_LANES; }\n' >"$scratch/alone.cu"

# The first of the named commands that is there.
first_of() {
    for candidate; do
        if [ -n "$candidate" ] && command -v "$candidate" >/dev/null 2>&1; then
            echo "$candidate"
            return
        fi
    done
}

# shellcheck disable=SC2086 # CC may hold options
check "C11" ${CC:-cc} -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wstrict-prototypes -Werror \
    -I "$top_srcdir/sim" -c "$scratch/alone.c" -o "$scratch/alone.o"

cxx=$(first_of "${CXX-}" g++ clang++ c++)
if [ -z "$cxx" ]; then
    skip "C++17" "no C++ compiler"
else
    check "C++17" "$cxx" -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wold-style-cast -Werror \
        -I "$top_srcdir/sim" -c "$scratch/alone.cpp" -o "$scratch/alone.o"
fi

nvcc=$(first_of "${NVCC-}" nvcc /usr/local/cuda/bin/nvcc)
echo '__global__ void kernel(void) {}' >"$scratch/empty.cu"
if [ -z "$nvcc" ]; then
    skip "CUDA" "no nvcc"
elif ! "$nvcc" -c "$scratch/empty.cu" -o "$scratch/empty.o" >/dev/null 2>&1; then
    skip "CUDA" "$nvcc does not compile an empty kernel"
else
    check "CUDA" "$nvcc" -Werror all-warnings -I "$top_srcdir/sim" -c "$scratch/alone.cu" -o "$scratch/alone.o"
fi

done_testing
