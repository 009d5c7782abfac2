// warpmem: --kernel offset_copy --grid 16 --block 256 --arg offset=0 --arg in=float[4128] --arg out=float[4096]
// expect: copy ld.global.b32 instructions=128 sectors=512 lines=128
// warpmem: --kernel offset_copy --grid 16 --block 256 --arg offset=1 --arg in=float[4128] --arg out=float[4096]
// expect: copy ld.global.b32 instructions=128 sectors=640 lines=256
// expect: copy st.global.b32 instructions=128 sectors=512 lines=128
// warpmem: --kernel offset_copy --grid 16 --block 256 --arg offset=8 --arg in=float[4128] --arg out=float[4096]
// expect: copy ld.global.b32 instructions=128 sectors=512 lines=256
//
// 128 bytes that begin 4 bytes into a sector touch 5 sectors and 2 lines; 32 bytes into a line, 4 sectors of 2 lines.

__global__ void offset_copy(float *out, const float *in, int offset)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = in[i + offset]; // @copy
}
