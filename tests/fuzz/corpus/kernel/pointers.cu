// warpmem: --block 33 --arg n=2
struct pair { float a; double b; };
__device__ void set(float *r, float v) { for (int i = 0; i < 4; i++) r[i] = v + i; }
__device__ void inner(const float *r, float *sum, int i) { *sum += r[1] - *(r + i) + r[-i]; }
__device__ void outer(float r[8], float *sum) { inner(r, sum, 0); inner(r + 2, sum, 0); inner(&r[4], sum, 1); }
__device__ void fields(pair *p) { p->a = 3; (*p).b += p[0].a; }
__device__ void twice(float (&r)[8], float *sum) { outer(r, sum); set(r + 4, *sum); }
__device__ float *same(float *r) { return r; }
__device__ void step(float *r) { *r++ = 5; }
__device__ void rows(float (*r)[4]) { r[1][2] = 1; }
__global__ void k(float *out, int n)
{
    float a[8], sum = 0, c[4] = {1, 2, 3, 4}, m[2][4];
    pair p, q[2];
    set(a, 10);
    set(out, 30);
    set(m[1], 1);
    twice(a, &sum);
    fields(&p);
    fields(q + 1);
    fields(n ? &p : q);
    step(c);
    rows(m);
    out[threadIdx.x] = sum + *same(c) + p.b + q[n % 2].a;
}
