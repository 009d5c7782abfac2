// warpmem: --kernel coalesced_read --grid 16 --block 256 --arg n=4096 --arg in=float[4096]:iota --arg out=float[4096]
// expect: read ld.global.b32 instructions=128 sectors=512 tag_wavefronts=128
// expect: read st.global.b32 instructions=128 sectors=512
//
// Neighbours read neighbours: 4096 threads are 128 warps, each reads 128 consecutive bytes, which are 4 sectors.

__global__ void coalesced_read(float *out, const float *in, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n)
        out[i] = in[i]; // @read
}
