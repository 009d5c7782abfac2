// warpmem: --block 33 --arg n=2
#define WORD(x) (*reinterpret_cast<unsigned *>(&(x)))
__device__ void words(half *r, const float *v, unsigned *out)
{
    for (int i = 0; i < 2; i++) {
        WORD(r[2 * i]) += 1;
        float4 f = *(const float4 *)&v[4 * i];
        out[i] = ((unsigned *)r)[i] + (unsigned)f.w;
    }
    out[2] = reinterpret_cast<const uint4 *>(v)[1].x;
}
__global__ void k(unsigned *out, int n)
{
    half h[8], x[4];
    half2 pair, two[2];
    float f = 1.5f, v[8];
    short s[2] = {-2, 3};
    float4 four = {5, 6, 7, 8};
    for (int i = 0; i < 8; i++)
        h[i] = (half)(v[i] = i);
    WORD(pair) = WORD(h[2]);
    WORD(two[1]) = WORD(s[0])++;
    WORD(f) ^= 0x80000000;
    uint4 all = *(uint4 *)h;
    WORD(x[0]) = WORD(x[2]) = all.w + ((uint4 *)v)->y + reinterpret_cast<uint4 &>(four).z;
    words(x, v, out + 3 * threadIdx.x);
    out[n] = WORD(two[n & 1]) + WORD(h[n]) + *(int *)&four.y + WORD(pair) + (unsigned)f;
}
