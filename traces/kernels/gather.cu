// warpmem: --kernel gather --grid 16 --block 256 --arg n=4096 --arg index=int[4096]:iota --arg x=float[4096]:iota --arg out=float[4096]
// expect: index ld.global.b32 instructions=128 sectors=512
// expect: gather ld.global.b32 instructions=128 sectors=512
// warpmem: --kernel gather --grid 16 --block 256 --arg n=4096 --arg index=int[4096]:zero --arg x=float[4096]:iota --arg out=float[4096]
// expect: index ld.global.b32 instructions=128 sectors=512
// expect: gather ld.global.b32 instructions=128 sectors=128
// warpmem: --kernel gather --grid 16 --block 256 --arg n=4096 --arg index=int[4096]:random:1:1048576 --arg x=float[1048576]:iota --arg out=float[4096]
// expect: index ld.global.b32 instructions=128 sectors=512
//
// Where a gather goes is in its index array: in order it is a copy, to one place it is one sector. 128 warps.

__global__ void gather(float *out, const float *x, const int *index, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < n) {
        const int k = index[i]; // @index

        out[i] = x[k]; // @gather
    }
}
