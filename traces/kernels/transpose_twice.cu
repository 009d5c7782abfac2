// warpmem: --kernel transpose_twice<0> --block 32,8 --arg a=float[1024]:iota --arg b=float[1024]:iota
// expect: row_in st.shared.b32 instructions=32 shared_wavefronts=32
// expect: column_out ld.shared.b32 instructions=32 shared_wavefronts=1024 shared_wavefronts_ideal=32 ways=32
// expect: column_in st.shared.b32 instructions=32 shared_wavefronts=1024 shared_wavefronts_ideal=32 ways=32
// expect: row_out ld.shared.b32 instructions=32 shared_wavefronts=32
// warpmem: --kernel transpose_twice<1> --block 32,8 --arg a=float[1024]:iota --arg b=float[1024]:iota
// expect: row_in st.shared.b32 instructions=32 shared_wavefronts=32
// expect: column_out ld.shared.b32 instructions=32 shared_wavefronts=32 ways=1
// expect: column_in st.shared.b32 instructions=32 shared_wavefronts=32 ways=1
// expect: row_out ld.shared.b32 instructions=32 shared_wavefronts=32
//
// Exchanges two tiles of 32 x 32 with their transposes, one after the other through the same tile in shared memory: the first
// goes in by rows and out by columns, the second in by columns and out by rows. 8 warps take 4 rows each, 32 instructions for each
// of the four; a column is 32 words of one bank, 32 passes, and with a row of 33 words one of each bank.

#define TILE 32
#define ROWS 8

template <int PADDING>
__global__ void transpose_twice(float *a, float *b)
{
    __shared__ float tile[TILE][TILE + PADDING];
    const int x = threadIdx.x;

    for (int y = threadIdx.y; y < TILE; y += ROWS)
        tile[y][x] = a[y * TILE + x]; // @row_in
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS)
        a[y * TILE + x] = tile[x][y]; // @column_out
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS)
        tile[x][y] = b[y * TILE + x]; // @column_in
    __syncthreads();
    for (int y = threadIdx.y; y < TILE; y += ROWS)
        b[y * TILE + x] = tile[y][x]; // @row_out
}
