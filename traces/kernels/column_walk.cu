// warpmem: --kernel column_walk --block 64 --arg width=64 --arg matrix=float[4096]:iota --arg out=float[64]
// expect: walk ld.global.b32 instructions=128 sectors=512 lines=128
// expect: sum st.global.b32 instructions=2 sectors=8
//
// Each thread walks down a column: in every step the lanes are neighbours. 2 warps, 64 steps, 4 sectors each.

__global__ void column_walk(float *out, const float *matrix, int width)
{
    const int column = threadIdx.x;
    float sum = 0;

    for (int row = 0; row < width; row++)
        sum += matrix[row * width + column]; // @walk
    out[column] = sum; // @sum
}
