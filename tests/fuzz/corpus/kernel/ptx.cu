// warpmem: --block 32 --arg p=float4[64] --arg n=3
#include <cuda_pipeline.h>
__device__ unsigned address(const void *p)
{
    unsigned out;
    asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(out) : "l"(p));
    return out;
}
__global__ void k(float4 *p, int n)
{
    __shared__ __align__(16) float s[512];
    unsigned t = threadIdx.x, a = address(s), r[4], x;
    float f;
    unsigned long l;
    unsigned short h;
    asm volatile("cp.async.cg.shared.global.L2::128B [%0 + 16], [%1+-16], %2, %3;\n" ::"r"(a + 16 * t), "l"(p + t + 1), "n"(16), "r"(t < n ? 16 : 4));
    asm volatile("cp.async.commit_group;" "cp.async.wait_group 0; cp.async.wait_all;" ::: "memory");
    asm volatile("{ .reg .pred q; .reg .b32 u; mov.b32 u, -1; setp.ne.b32 q, u, %1;\n@q cp.async.ca.shared.global [%0], [%2], 4; @!q st.shared.u32 [%0], u; }"
                 ::"r"(a), "r"(n), "l"(p));
    __syncthreads();
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"(a + 16 * t));
    asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(a + 16 * t), "r"(r[0]), "r"(r[1]));
    asm("mov.u32 %0, %%laneid; ld.global.nc.L1::no_allocate.v2.f32 {%1, %2}, [%3]; // comment\n ld.global.u8 %4, [%3]; /* comment */ ld.b64 %5, [%3];"
        : "=r"(x), "=f"(f), "+f"(f), "+l"(p), "=h"(h), "=l"(l));
    asm volatile("st.global.cs.v4.b32 [%0], {%1, 5, 0x10, %2};" ::"l"(p), "r"(x + r[2] + r[3] + h + (unsigned)l), "f"(f));
    __pipeline_memcpy_async(s, p, 8, 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
}
