// warpmem: --kernel soa_read --grid 16 --block 256 --arg x=float[4096] --arg out=float[4096]
// expect: read ld.global.b32 instructions=128 sectors=512 sectors_ideal=512 lines=128
//
// A structure of arrays: the x of 32 neighbours are one line.

__global__ void soa_read(float *out, const float *x)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = x[i]; // @read
}
