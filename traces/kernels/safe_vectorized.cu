// warpmem: --kernel safe_vectorized --grid 4 --block 256 --arg n=4101 --arg shift=1 --arg in=float[4102]:iota --arg out=float[4102]
// expect: head ld.global.b32 instructions=1 sectors=1
// expect: body ld.global.v4.b32 instructions=32 sectors=544
// expect: tail ld.global.b32 instructions=1 sectors=1
//
// Copies n floats from any float on: one by one up to a multiple of 16 bytes, in vectors of 4, and the rest one by one.
// With shift 1 the first vector begins behind 3 floats, at byte 16. 4101 - 3 = 4 * 1024 + 2: 1024 vectors in 32 warps, of
// 512 bytes that begin in the middle of a sector: 17 sectors. Head and tail are one warp's, in one sector each.

__global__ void safe_vectorized(float *out, const float *in, int n, int shift)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int threads = gridDim.x * blockDim.x;
    const float *from = in + shift;
    float *to = out + shift;
    const int head = min(n, (int)((16 - (reinterpret_cast<size_t>(from) & 15)) / sizeof(float)) & 3);
    const int vectors = (n - head) / 4;
    const float4 *from4 = reinterpret_cast<const float4 *>(from + head);
    float4 *to4 = reinterpret_cast<float4 *>(to + head);
    const int tail = head + 4 * vectors;

    if (i < head)
        to[i] = from[i]; // @head
    for (int k = i; k < vectors; k += threads)
        to4[k] = from4[k]; // @body
    if (tail + i < n)
        to[tail + i] = from[tail + i]; // @tail
}
