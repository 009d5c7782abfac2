// warpmem: --kernel reduce_interleaved --block 256 --arg in=float[256]:iota --arg out=float[1]
// expect: load ld.global.b32 instructions=8 sectors=32
// expect: add ld.shared.b32 instructions=24 shared_wavefronts=94 bank_conflicts=70 ways=8
// expect: add st.shared.b32 instructions=12 shared_wavefronts=47 bank_conflicts=35 ways=8
//
// The first threads add, 2s words apart. Warps with work: 4, 2, then 1 each: 12. Passes of a warp for s = 1, 2, 4 ...:
// 2, 4, 8 with 32 lanes, then 16 lanes on 2 banks: 8, 8 lanes on 1: 8, 4, 2, 1. 4*2 + 2*4 + 8 + 8 + 8 + 4 + 2 + 1 = 47.

__global__ void reduce_interleaved(float *out, const float *in)
{
    __shared__ float data[256];
    const unsigned tid = threadIdx.x;

    data[tid] = in[blockIdx.x * blockDim.x + tid]; // @load
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        const unsigned index = 2 * s * tid;

        if (index < blockDim.x)
            data[index] += data[index + s]; // @add
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = data[0];
}
