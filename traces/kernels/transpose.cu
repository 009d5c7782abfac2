// warpmem: --kernel transpose_naive --grid 2,8 --block 32,8 --arg width=64 --arg height=64 --arg in=float[4096]:iota --arg out=float[4096]
// expect: naive ld.global.b32 instructions=128 sectors=512
// expect: naive st.global.b32 instructions=128 sectors=4096
// warpmem: --kernel transpose_shared --grid 2,2 --block 32,8 --arg width=64 --arg height=64 --arg in=float[4096]:iota --arg out=float[4096]
// expect: shared_in ld.global.b32 instructions=128 sectors=512
// expect: shared_in st.shared.b32 instructions=128 shared_wavefronts=128 bank_conflicts=0
// expect: shared_out ld.shared.b32 instructions=128 shared_wavefronts=4096 bank_conflicts=3968 ways=32
// expect: shared_out st.global.b32 instructions=128 sectors=512
// warpmem: --kernel transpose_padded --grid 2,2 --block 32,8 --arg width=64 --arg height=64 --arg in=float[4096]:iota --arg out=float[4096]
// expect: padded_in st.shared.b32 instructions=128 shared_wavefronts=128 bank_conflicts=0
// expect: padded_out ld.shared.b32 instructions=128 shared_wavefronts=128 bank_conflicts=0 ways=1
// expect: padded_out st.global.b32 instructions=128 sectors=512
// warpmem: --kernel transpose_swizzled --grid 2,2 --block 32,8 --arg width=64 --arg height=64 --arg in=float[4096]:iota --arg out=float[4096]
// expect: swizzled_in st.shared.b32 instructions=128 shared_wavefronts=128 bank_conflicts=0
// expect: swizzled_out ld.shared.b32 instructions=128 shared_wavefronts=128 bank_conflicts=0 ways=1
// expect: swizzled_out st.global.b32 instructions=128 sectors=512
//
// Transposes of a matrix of width columns and height rows, both multiples of the tile's 32. 64 * 64 elements are 128
// warps' worth. The naive one writes with its lanes a row apart, 256 bytes: 32 sectors. Through a tile in shared memory
// both sides are rows; but a column of a tile of 32 words a row lies in one bank. With 33 words a row, or with columns
// permuted by the row's number, it lies in 32.

#define TILE 32
#define ROWS 8

__global__ void transpose_naive(float *out, const float *in, int width, int height)
{
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * ROWS + threadIdx.y;

    if (x < width && y < height)
        out[x * height + y] = in[y * width + x]; // @naive
}

__global__ void transpose_shared(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int tx = blockIdx.y * TILE + threadIdx.x;
    const int ty = blockIdx.x * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x]; // @shared_in
    __syncthreads();
    for (int j = 0; j < TILE; j += ROWS)
        out[(ty + j) * height + tx] = tile[threadIdx.x][threadIdx.y + j]; // @shared_out
}

__global__ void transpose_padded(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int tx = blockIdx.y * TILE + threadIdx.x;
    const int ty = blockIdx.x * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x]; // @padded_in
    __syncthreads();
    for (int j = 0; j < TILE; j += ROWS)
        out[(ty + j) * height + tx] = tile[threadIdx.x][threadIdx.y + j]; // @padded_out
}

__global__ void transpose_swizzled(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    const int x = blockIdx.x * TILE + threadIdx.x;
    const int y = blockIdx.y * TILE + threadIdx.y;
    const int tx = blockIdx.y * TILE + threadIdx.x;
    const int ty = blockIdx.x * TILE + threadIdx.y;

    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x ^ (threadIdx.y + j)] = in[(y + j) * width + x]; // @swizzled_in
    __syncthreads();
    for (int j = 0; j < TILE; j += ROWS)
        out[(ty + j) * height + tx] = tile[threadIdx.x][(threadIdx.y + j) ^ threadIdx.x]; // @swizzled_out
}
