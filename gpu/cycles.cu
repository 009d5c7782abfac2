// Kernels that issue one memory instruction back to back and take the time. Their instructions are those of kernels.cu.

#include "device.h"
#include "kernels.h"

#include <cuda_runtime.h>

#include <cstdio>

// Results of vector loads are received, not used.
#pragma nv_diag_suppress 550

// Instructions in flight before a warp waits for their results.
#define IN_FLIGHT 8
#define ROUNDS    32

static __constant__ __align__(1024) char timed_constants[KERNEL_CONST_BYTES];
extern __shared__ __align__(1024) char timed_shared[];

// The second of two runs counts: the first loads instructions, and lines that L1 keeps.
#define BEGIN(name)                                                                                                    \
    static __global__ void name(const __grid_constant__ struct gpu_parameters p)                                       \
    {                                                                                                                  \
        uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, x = 0, value = 1 + (uint32_t)p.zero;                \
        uint32_t active = p.record[0].mask >> lane & 1;                                                                \
        uint64_t wide_value = 1 + p.zero, offset = p.record[0].lane[lane];                                             \
        long long from = 0, to = 0;                                                                                    \
        (void)value;                                                                                                   \
        (void)wide_value;                                                                                              \
        (void)offset;                                                                                                  \
        asm volatile(".reg .pred go; setp.ne.u32 go, %0, 0;" : : "r"(active));

#define END                                                                                                            \
    if (lane == 0) {                                                                                                   \
        p.cycles[2 * warp] = from;                                                                                     \
        p.cycles[2 * warp + 1] = to;                                                                                   \
    }                                                                                                                  \
    }

// Operands as in kernels.cu.
#define RUN(text, constraint, address, destination)                                                                    \
    _Pragma("unroll 1") for (int run = 0; run < 2; run++)                                                              \
    {                                                                                                                  \
        __syncthreads();                                                                                               \
        from = clock64();                                                                                              \
        _Pragma("unroll 1") for (uint32_t i = 0; i < p.count; i++)                                                     \
        {                                                                                                              \
            uint32_t r[IN_FLIGHT], r1, r2, r3;                                                                         \
            _Pragma("unroll") for (int k = 0; k < IN_FLIGHT; k++)                                                      \
                asm volatile("{ " text " }"                                                                            \
                             : "=r"(r[k]), "=r"(r1), "=r"(r2), "=r"(r3)                                                \
                             : constraint(address), "r"(value), "l"(wide_value), "r"(active), "r"(destination)         \
                             : "memory");                                                                              \
            _Pragma("unroll") for (int k = 0; k < IN_FLIGHT; k++) x ^= r[k];                                           \
        }                                                                                                              \
        if (x + (uint32_t)p.zero == 0x9e3779b9u)                                                                       \
            asm volatile("trap;");                                                                                     \
        to = clock64();                                                                                                \
    }

#define SHARED(offset) ((uint32_t)__cvta_generic_to_shared(timed_shared) + (uint32_t)(offset))

#define KERNEL_global(name, text)  BEGIN(name) uint64_t a = p.buffer + offset; RUN(text, "l", a, 0u) END
#define KERNEL_generic(name, text) KERNEL_global(name, text)
#define KERNEL_shared(name, text)  BEGIN(name) uint32_t a = SHARED(offset); RUN(text, "r", a, 0u) END
#define KERNEL_local(name, text)                                                                                       \
    BEGIN(name)                                                                                                        \
    __align__(512) char bytes[KERNEL_LOCAL_BYTES];                                                                     \
    uint64_t a;                                                                                                        \
    asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(a) : "l"(bytes) : "memory");                                       \
    a += offset;                                                                                                       \
    RUN(text, "l", a, 0u) END
#define KERNEL_const(name, text)                                                                                       \
    BEGIN(name)                                                                                                        \
    uint64_t a;                                                                                                        \
    asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(a) : "l"(timed_constants));                                        \
    a += offset;                                                                                                       \
    RUN(text, "l", a, 0u) END
#define KERNEL_copy(name, text)                                                                                        \
    BEGIN(name)                                                                                                        \
    uint64_t a = p.buffer + (offset & ((UINT64_C(1) << GPU_SHARED_SHIFT) - 1));                                        \
    uint32_t to_shared = SHARED(offset >> GPU_SHARED_SHIFT);                                                           \
    RUN(text, "l", a, to_shared) END

#ifdef __CUDA_ARCH__
#define HAS(since) (__CUDA_ARCH__ >= (since) * 10)
#else
#define HAS(since) 1
#endif

#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(timed_##id, text)
INSTRUCTIONS
#undef INSTRUCTION
#if HAS(80)
#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(timed_##id, text)
#else
#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(timed_##id, "")
#endif
INSTRUCTIONS_80
#undef INSTRUCTION
#if HAS(90)
#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(timed_##id, text)
#else
#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(timed_##id, "")
#endif
INSTRUCTIONS_90
#undef INSTRUCTION

// In the order of kernels[]: number n here is the instruction of number n there.
#define INSTRUCTION(space, id, name, since, text) (const void *)timed_##id,
static const void *const timed[] = {NULL, INSTRUCTIONS INSTRUCTIONS_80 INSTRUCTIONS_90};
#undef INSTRUCTION

int gpu_time(int instruction, struct gpu_parameters *parameters, int shared_bytes, unsigned warps, double *cycles,
             char message[GPU_MESSAGE_SIZE])
{
    void *arguments[] = {parameters};
    int64_t times[2 * 32], from, to;
    cudaError_t error = cudaFuncSetAttribute(timed[instruction], cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);

    parameters->count = ROUNDS;
    if (!error)
        error = cudaLaunchKernel(timed[instruction], dim3(1), dim3(32 * warps), arguments, (size_t)shared_bytes, 0);
    if (!error)
        error = cudaMemcpy(times, parameters->cycles, 2 * warps * sizeof *times, cudaMemcpyDeviceToHost);
    if (error) {
        snprintf(message, GPU_MESSAGE_SIZE, "a launch failed: %s", cudaGetErrorString(error));
        return -1;
    }
    from = times[0];
    to = times[1];
    for (unsigned warp = 1; warp < warps; warp++) {
        if (times[2 * warp] < from)
            from = times[2 * warp];
        if (times[2 * warp + 1] > to)
            to = times[2 * warp + 1];
    }
    *cycles = (double)(to - from) / (double)(warps * ROUNDS * IN_FLIGHT);
    return 0;
}
