// warpmem: --kernel cache_hints --grid 4 --block 256 --arg in=float[1024]:iota --arg out=float[4096]
// expect: ldg ld.global.nc.b32 instructions=32 sectors=128
// expect: ldca ld.global.ca.b32 instructions=32 sectors=128
// expect: ldcg ld.global.cg.b32 instructions=32 sectors=128
// expect: ldcs ld.global.cs.b32 instructions=32 sectors=128
// expect: ldcv ld.global.cv.b32 instructions=32 sectors=128
// expect: stwb st.global.wb.b32 instructions=32 sectors=128
// expect: stcg st.global.cg.b32 instructions=32 sectors=128
// expect: stcs st.global.cs.b32 instructions=32 sectors=128
// expect: stwt st.global.wt.b32 instructions=32 sectors=128
//
// Each cache operator that CUDA has a function for: 32 warps, 4 sectors each.

__global__ void cache_hints(float *out, const float *in)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const int n = gridDim.x * blockDim.x;
    float sum = 0;

    sum += __ldg(&in[i]);  // @ldg
    sum += __ldca(&in[i]); // @ldca
    sum += __ldcg(&in[i]); // @ldcg
    sum += __ldcs(&in[i]); // @ldcs
    sum += __ldcv(&in[i]); // @ldcv
    __stwb(&out[i], sum);         // @stwb
    __stcg(&out[i + n], sum);     // @stcg
    __stcs(&out[i + 2 * n], sum); // @stcs
    __stwt(&out[i + 3 * n], sum); // @stwt
}
