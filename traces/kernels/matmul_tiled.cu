// warpmem: --kernel matmul_tiled --grid 4,4 --block 16,16 --arg n=64 --arg a=float[4096]:iota --arg b=float[4096]:iota --arg c=float[4096]
// expect: load_a ld.global.b32 instructions=512 sectors=2048
// expect: load_b ld.global.b32 instructions=512 sectors=2048
// expect: load_a st.shared.b32 instructions=512 shared_wavefronts=512
// expect: product ld.shared.b32 instructions=16384 shared_wavefronts=16384 bank_conflicts=0
// expect: store st.global.b32 instructions=128 sectors=512
//
// c = a * b, n * n each, by tiles of 16 * 16. A warp is two rows of 16 threads: 2 * 64 bytes, 4 sectors. 16 blocks of 8
// warps walk over 4 tiles: 512 warps' worth; in each, 16 products with two loads. Of a tile of a, the warp's two words lie
// 16 banks apart; of b, it reads 16 neighbouring words: nothing conflicts.

#define TILE 16

__global__ void matmul_tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float as[TILE][TILE];
    __shared__ float bs[TILE][TILE];
    const int row = blockIdx.y * TILE + threadIdx.y;
    const int column = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;

    for (int t = 0; t < n; t += TILE) {
        as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x]; // @load_a
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + column]; // @load_b
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x]; // @product
        __syncthreads();
    }
    c[row * n + column] = sum; // @store
}
