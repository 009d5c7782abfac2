// warpmem: --kernel scan_blelloch<false> --block 128 --arg in=float[256]:iota --arg out=float[256] --arg total=float[1]
// expect: * ld.shared.b32 shared_wavefronts=244
// expect: * st.shared.b32 shared_wavefronts=150
// warpmem: --kernel scan_blelloch<true> --block 128 --arg in=float[256]:iota --arg out=float[256] --arg total=float[1]
// expect: * ld.shared.b32 shared_wavefronts=69
// expect: * st.shared.b32 shared_wavefronts=45
//
// The exclusive prefix sum of 256 numbers by 128 threads (Blelloch: up a tree of sums, and down again). Steps double the
// distance of neighbours, up to 32 words, which is one bank; a word of padding behind every 32 takes that away.
//
// A step down or up is a warp's work 4, 2, 1, 1, 1, 1, 1, 1 times, 12 in all, and in passes, see reduce_interleaved.cu, 47.
// Loads: 2 up and 3 down of 47, 2 * 4 to write the result, 1 for the total: 244. Stores: 1 up and 2 down of 47, 2 * 4, 1:
// 150. Without conflicts 12 take the place of 47: 69 and 45.

#define WORDS 256

template <bool PADDED>
__device__ __forceinline__ int place(int i)
{
    return PADDED ? i + i / 32 : i;
}

template <bool PADDED>
__global__ void scan_blelloch(float *out, float *total, const float *in)
{
    __shared__ float tree[WORDS + WORDS / 32];
    const int tid = threadIdx.x;
    int distance = 1;

    tree[place<PADDED>(tid)] = in[tid];
    tree[place<PADDED>(tid + WORDS / 2)] = in[tid + WORDS / 2];
    for (int active = WORDS / 2; active > 0; active /= 2) {
        __syncthreads();
        if (tid < active) {
            const int left = place<PADDED>(distance * (2 * tid + 1) - 1);
            const int right = place<PADDED>(distance * (2 * tid + 2) - 1);

            tree[right] += tree[left]; // @up
        }
        distance *= 2;
    }
    if (tid == 0) {
        total[blockIdx.x] = tree[place<PADDED>(WORDS - 1)];
        tree[place<PADDED>(WORDS - 1)] = 0;
    }
    for (int active = 1; active < WORDS; active *= 2) {
        distance /= 2;
        __syncthreads();
        if (tid < active) {
            const int left = place<PADDED>(distance * (2 * tid + 1) - 1);
            const int right = place<PADDED>(distance * (2 * tid + 2) - 1);
            const float sum = tree[left]; // @down

            tree[left] = tree[right]; // @move
            tree[right] += sum;       // @add
        }
    }
    __syncthreads();
    out[tid] = tree[place<PADDED>(tid)];
    out[tid + WORDS / 2] = tree[place<PADDED>(tid + WORDS / 2)];
}
