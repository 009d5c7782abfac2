// warpmem: --kernel row_walk --block 64 --arg width=64 --arg matrix=float[4096]:iota --arg out=float[64]
// expect: walk ld.global.b32 instructions=128 sectors=4096 lines=4096
// expect: sum st.global.b32 instructions=2 sectors=8
//
// Each thread walks along a row: in every step the lanes are a row apart, 256 bytes, so each has a sector and a line of
// its own. 2 warps, 64 steps.

__global__ void row_walk(float *out, const float *matrix, int width)
{
    const int row = threadIdx.x;
    float sum = 0;

    for (int column = 0; column < width; column++)
        sum += matrix[row * width + column]; // @walk
    out[row] = sum; // @sum
}
