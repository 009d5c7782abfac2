// warpmem: --kernel scalar_copy --grid 16 --block 256 --arg n=4000 --arg in=float[4000]:iota --arg out=float[4000]
// expect: copy ld.global.b32 instructions=125 sectors=500
// expect: copy st.global.b32 instructions=125 sectors=500
//
// 4000 = 125 * 32: the last 3 of 128 warps have nothing to do, and so no instruction.

__global__ void scalar_copy(float *out, const float *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i]; // @copy
}
