// warpmem: --kernel aos_read --grid 16 --block 256 --arg particles=particle[4096] --arg out=float[4096]
// expect: read ld.global.b32 instructions=128 sectors=2048 sectors_ideal=512 lines=512
//
// An array of structures of 16 bytes: the x of 32 neighbours are 16 bytes apart, over 512 bytes, which are 16 sectors and
// 4 lines. One quarter of what is moved is used.

struct particle {
    float x, y, z, mass;
};

__global__ void aos_read(float *out, const particle *particles)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;

    out[i] = particles[i].x; // @read
}
