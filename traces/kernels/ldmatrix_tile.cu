// warpmem: --kernel ldmatrix_tile<0,false> --block 128 --arg in=uint4[512] --arg out=uint4[512]
// expect: in ld.global.nc.v4.b32 instructions=16 sectors=256
// expect: in st.shared.v4.b32 instructions=16 shared_wavefronts=64 bank_conflicts=0
// expect: fragment ldmatrix.x4.shared.b16 instructions=16 shared_wavefronts=512 shared_wavefronts_ideal=64 ways=8
// expect: out st.global.v4.b32 instructions=16 sectors=256
// warpmem: --kernel ldmatrix_tile<8,false> --block 128 --arg in=uint4[512] --arg out=uint4[512]
// expect: in st.shared.v4.b32 instructions=16 shared_wavefronts=64 bank_conflicts=0
// expect: fragment ldmatrix.x4.shared.b16 instructions=16 shared_wavefronts=64 ways=1
// warpmem: --kernel ldmatrix_tile<0,true> --block 128 --arg in=uint4[512] --arg out=uint4[512]
// expect: in st.shared.v4.b32 instructions=16 shared_wavefronts=64 bank_conflicts=0
// expect: fragment ldmatrix.x4.shared.b16 instructions=16 shared_wavefronts=64 ways=1
//
// A tile of 64 x 64 halves, as a matrix product on tensor cores has it: written 16 bytes a thread, read as fragments of
// 16 x 16 by ldmatrix.x4. Four warps write 8 rows each in 2 instructions, in all 16; each of their four phases writes one row,
// which is all banks once. Each warp reads 16 rows in 4 instructions of four matrices. The 8 rows of a matrix are 128 bytes apart,
// in the same 4 banks: 8 passes a matrix, 16 * 4 * 8 = 512. With 8 halves of padding a row is 144 bytes, 4 banks on; with the
// 16 bytes permuted by the row (CuTe's Swizzle<3,3,3>) as well: 64.
#include <cuda_fp16.h>

#define N 64

__device__ __forceinline__ unsigned shared_address(const void *pointer)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

template <bool SWIZZLED>
__device__ __forceinline__ int column_of(int row, int column)
{
    return SWIZZLED ? column ^ ((row & 7) << 3) : column;
}

template <int PADDING, bool SWIZZLED>
__global__ void ldmatrix_tile(uint4 *out, const uint4 *in)
{
    __shared__ __align__(16) half tile[N][N + PADDING];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;

    for (int i = threadIdx.x; i < N * N / 8; i += blockDim.x) {
        const int row = i / (N / 8);

        *reinterpret_cast<uint4 *>(&tile[row][column_of<SWIZZLED>(row, i % (N / 8) * 8)]) = __ldg(&in[i]); // @in
    }
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
