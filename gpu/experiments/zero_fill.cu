/*
 * What the lanes of a cp.async cost whose source size is 0, for traces/hardware/sm_90/zero-fill.csv: each launch is a case of
 * its own under Nsight Compute, beside the same copy of all lanes and the same with these lanes switched off.
 *
 *     nvcc -arch=sm_90 -o zero_fill zero_fill.cu && ncu --csv --page raw --clock-control none --metrics ... ./zero_fill
 */
#include <cstdio>

/* WHAT: 0: all lanes copy; 1: those of mask copy, the others fill; 2: those of mask copy, the others are off; 4: all fill. */
template <int BYTES, bool CG, int WHAT>
__global__ void copy(const char *from, int *out, unsigned mask, int stride, int shared_stride)
{
    extern __shared__ __align__(16) char tile[];
    const unsigned lane = threadIdx.x;
    const char *source = from + stride * lane;
    const bool reads = mask >> lane & 1;
    const int size = WHAT == 4 ? (int)(mask >> 31 >> 1) : reads ? BYTES : 0; /* 0, but the compiler does not know it */
    unsigned place;

    asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }"
        : "=r"(place)
        : "l"(tile + shared_stride * lane));
    if (WHAT == 1 || WHAT == 4) {
        if (CG)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(place), "l"(source), "r"(size));
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(place), "l"(source), "n"(BYTES), "r"(size));
    } else if (WHAT == 0 || reads) {
        if (CG)
            asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(source));
        else
            asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(source), "n"(BYTES));
    }
    asm volatile("cp.async.wait_all;");
    if (out[lane] == 77) /* never: so that the copy is needed */
        out[lane] = *(int *)(tile + shared_stride * lane);
}

template <int BYTES, bool CG, int WHAT>
static void run(const char *from, int *out, unsigned mask, int stride, int shared_stride)
{
    copy<BYTES, CG, WHAT><<<1, 32, 16384>>>(from, out, mask, stride, shared_stride);
    std::printf("%d %d %d %08x %d %d\n", BYTES, CG, WHAT, mask, stride, shared_stride);
}

template <int BYTES, bool CG>
static void all(const char *from, int *out, unsigned mask, int stride, int shared_stride)
{
    run<BYTES, CG, 0>(from, out, mask, stride, shared_stride);
    run<BYTES, CG, 1>(from, out, mask, stride, shared_stride);
    run<BYTES, CG, 2>(from, out, mask, stride, shared_stride);
    run<BYTES, CG, 4>(from, out, mask, stride, shared_stride);
}

int main()
{
    char *from;
    int *out;

    cudaMalloc(&from, 1 << 20);
    cudaMalloc(&out, 4096);
    cudaMemset(from, 0, 1 << 20);
    cudaMemset(out, 0, 4096);
    all<16, true>(from, out, 0x0000ffff, 16, 16);
    all<16, true>(from, out, 0x55555555, 16, 16);
    all<16, true>(from, out, 0x00ff00ff, 128, 16);
    all<16, true>(from, out, 0x0000ffff, 16, 128);
    all<16, true>(from, out, 0x00000001, 16, 144);
    all<4, false>(from, out, 0x0000ffff, 4, 4);
    all<4, false>(from, out, 0x55555555, 4, 4);
    all<4, false>(from, out, 0x0000ffff, 128, 4);
    all<4, false>(from, out, 0x0000ffff, 4, 128);
    all<4, false>(from, out, 0x000000ff, 4, 128);
    all<8, false>(from, out, 0x0000ffff, 8, 8);
    all<16, false>(from, out, 0x0000ffff, 16, 16);
    return cudaDeviceSynchronize() != cudaSuccess;
}
