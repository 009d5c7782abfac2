// warpmem: --kernel histogram --block 256 --arg n=1024 --arg in=uint[1024]:iota --arg counts=uint[256]
// expect: clear st.shared.b32 instructions=8 shared_wavefronts=8
// expect: read ld.global.b32 instructions=32 sectors=128
// expect: count red.shared.add.u32 instructions=32 shared_wavefronts=32 bank_conflicts=0
// expect: merge red.global.add.u32 instructions=8 sectors=32
// warpmem: --kernel histogram --block 256 --arg n=1024 --arg in=uint[1024]:zero --arg counts=uint[256]
// expect: count red.shared.add.u32 instructions=32 shared_wavefronts=1024 bank_conflicts=992 ways=32
// expect: merge red.global.add.u32 instructions=8 sectors=32
//
// Counts of 256 values, first in shared memory. 1024 values are 32 warps' worth: if they are different, 32 lanes go to 32
// banks; if all are the same, each lane takes a pass of its own.

__global__ void histogram(unsigned *counts, const unsigned *in, int n)
{
    __shared__ unsigned bins[256];

    bins[threadIdx.x] = 0; // @clear
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned value = in[i]; // @read

        atomicAdd(&bins[value & 255], 1u); // @count
    }
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], bins[threadIdx.x]); // @merge
}
