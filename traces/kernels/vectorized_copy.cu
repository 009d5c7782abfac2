// warpmem: --kernel vectorized_copy --grid 4 --block 256 --arg n=1024 --arg in=float[4096]:iota --arg out=float[4096]
// expect: copy ld.global.v4.b32 instructions=32 sectors=512 lines=128 tag_wavefronts=32
// expect: copy st.global.v4.b32 instructions=32 sectors=512
//
// A quarter of the instructions of scalar_copy for the same 512 sectors: 32 warps of 512 bytes, 16 sectors each.

__global__ void vectorized_copy(float4 *out, const float4 *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i]; // @copy
}
