// warpmem: --kernel reduce_modulo --block 256 --arg in=float[256]:iota --arg out=float[1]
// expect: load ld.global.b32 instructions=8 sectors=32
// expect: add ld.shared.b32 instructions=94 shared_wavefronts=94 bank_conflicts=0
// expect: add st.shared.b32 instructions=47 shared_wavefronts=47 bank_conflicts=0
//
// Every 2s-th thread adds. The lanes that do are in banks of their own, so nothing conflicts; but all 8 warps go on, each
// with fewer lanes, up to s = 16: 5 * 8 + 4 + 2 + 1 = 47 times a warp adds, with two loads and a store.

__global__ void reduce_modulo(float *out, const float *in)
{
    __shared__ float data[256];
    const unsigned tid = threadIdx.x;

    data[tid] = in[blockIdx.x * blockDim.x + tid]; // @load
    __syncthreads();
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
        if (tid % (2 * s) == 0)
            data[tid] += data[tid + s]; // @add
        __syncthreads();
    }
    if (tid == 0)
        out[blockIdx.x] = data[0];
}
