// warpmem: --kernel strided_read --grid 16 --block 256 --arg stride=1 --arg in=float[131072]:iota --arg out=float[4096]
// expect: read ld.global.b32 instructions=128 sectors=512 lines=128
// warpmem: --kernel strided_read --grid 16 --block 256 --arg stride=2 --arg in=float[131072]:iota --arg out=float[4096]
// expect: read ld.global.b32 instructions=128 sectors=1024 lines=256
// warpmem: --kernel strided_read --grid 16 --block 256 --arg stride=4 --arg in=float[131072]:iota --arg out=float[4096]
// expect: read ld.global.b32 instructions=128 sectors=2048 lines=512
// warpmem: --kernel strided_read --grid 16 --block 256 --arg stride=8 --arg in=float[131072]:iota --arg out=float[4096]
// expect: read ld.global.b32 instructions=128 sectors=4096 lines=1024
// warpmem: --kernel strided_read --grid 16 --block 256 --arg stride=32 --arg in=float[131072]:iota --arg out=float[4096]
// expect: read ld.global.b32 instructions=128 sectors=4096 lines=4096
//
// 32 lanes 4 * stride bytes apart span 128 * stride bytes: 4 * stride sectors, but never more than one a lane, and
// `stride` lines, again at most 32. 128 warps.

__global__ void strided_read(float *out, const float *in, int stride)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = in[i * stride]; // @read
}
