// warpmem: --kernel reduce_sequential --block 256 --arg in=float[256]:iota --arg out=float[1]
// expect: load ld.global.b32 instructions=8 sectors=32
// expect: add ld.shared.b32 instructions=24 shared_wavefronts=24 bank_conflicts=0
// expect: add st.shared.b32 instructions=12 shared_wavefronts=12 bank_conflicts=0
//
// The first s threads add what lies s words behind them: warps with work are 4, 2, then 1 each, 12 in all; neighbours
// are in neighbouring banks.

__global__ void reduce_sequential(float *out, const float *in)
{
    __shared__ float data[256];
    const unsigned tid = threadIdx.x;

    data[tid] = in[blockIdx.x * blockDim.x + tid]; // @load
    __syncthreads();
    for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s)
            data[tid] += data[tid + s]; // @add
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = data[0];
}
