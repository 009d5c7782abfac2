// warpmem: --kernel cp_async_tile<0,false> --block 128 --arg in=uint4[512] --arg out=uint4[512]
// expect: in cp.async.cg.16 instructions=16 sectors=256 lines=64
// expect: fragment ldmatrix.x4.shared.b16 instructions=16 shared_wavefronts=512 shared_wavefronts_ideal=64 ways=8
// warpmem: --kernel cp_async_tile<8,false> --block 128 --arg in=uint4[512] --arg out=uint4[512]
// expect: in cp.async.cg.16 instructions=16 lines=120
// expect: fragment ldmatrix.x4.shared.b16 instructions=16 shared_wavefronts=64 ways=1
// warpmem: --kernel cp_async_tile<0,true> --block 128 --arg in=uint4[512] --arg out=uint4[512]
// expect: in cp.async.cg.16 instructions=16 sectors=256 lines=64
// expect: fragment ldmatrix.x4.shared.b16 instructions=16 shared_wavefronts=64 ways=1
//
// The tile of ldmatrix_tile.cu, filled by cp.async, which takes 16 bytes past L1 and the registers. What is looked up is each
// pair of a line in global memory and 128 bytes of shared memory that get something of it: without padding a row is one of each,
// 64 in all. With rows of 144 bytes one in 8 still is, and the others lie across two: 8 + 2 * 56 = 120.
#include <cuda_fp16.h>

#define N 64

__device__ __forceinline__ unsigned shared_address(const void *pointer)
{
    unsigned address;

    asm("{ .reg .u64 wide; cvta.to.shared.u64 wide, %1; cvt.u32.u64 %0, wide; }" : "=r"(address) : "l"(pointer));
    return address;
}

template <bool SWIZZLED>
__device__ __forceinline__ int column_of(int row, int column)
{
    return SWIZZLED ? column ^ ((row & 7) << 3) : column;
}

template <int PADDING, bool SWIZZLED>
__global__ void cp_async_tile(uint4 *out, const uint4 *in)
{
    __shared__ __align__(16) half tile[N][N + PADDING];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    for (int i = threadIdx.x; i < N * N / 8; i += blockDim.x) {
        const int row = i / (N / 8);
        const unsigned address = shared_address(&tile[row][column_of<SWIZZLED>(row, i % (N / 8) * 8)]);

        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address), "l"(in + i) : "memory"); // @in
    }
    asm volatile("cp.async.commit_group;\n"
                 "cp.async.wait_group 0;\n" ::: "memory");
    __syncthreads();
    for (int k = 0; k < N / 16; k++) {
        const int row = 16 * warp + lane % 16;
        const unsigned address = shared_address(&tile[row][column_of<SWIZZLED>(row, 16 * k + lane / 16 * 8)]);
        uint4 fragment;

        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" // @fragment
                     : "=r"(fragment.x), "=r"(fragment.y), "=r"(fragment.z), "=r"(fragment.w)
                     : "r"(address));
        out[(4 * warp + k) * 32 + lane] = fragment; // @out
    }
}
