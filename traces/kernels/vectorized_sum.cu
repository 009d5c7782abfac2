// warpmem: --kernel vectorized_sum --grid 4 --block 256 --arg n=1024 --arg in=float[4096]:iota --arg sum=float[1]
// expect: read ld.global.v4.b32 instructions=32 sectors=512
// expect: add red.global.add.f32 instructions=32 sectors=32
//
// 32 warps read 512 bytes each, sum over their lanes through shuffles, which touch no memory, and add once each.

__global__ void vectorized_sum(float *sum, const float4 *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float part = 0;

    if (i < n) {
        const float4 v = in[i]; // @read

        part = v.x + v.y + v.z + v.w;
    }
    for (int distance = 16; distance > 0; distance /= 2)
        part += __shfl_down_sync(0xffffffff, part, distance);
    if (threadIdx.x % 32 == 0)
        atomicAdd(sum, part); // @add
}
