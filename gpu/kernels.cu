// Kernels that execute one memory instruction each, on the lanes and addresses that their parameters give.
//
// A record's offsets come from the kernel's parameters, so that nothing but the instruction itself touches global, local
// or shared memory, or L1. Its results go into a comparison that never holds, so that the compiler keeps them. Each
// instruction stands in inline PTX under a predicate of its own.

#include "device.h"
#include "kernels.h"

static __constant__ __align__(1024) char constant_bytes[KERNEL_CONST_BYTES];
extern __shared__ __align__(1024) char shared_bytes[];

// Passes when dependency is known, and then some cycles.
static __device__ __forceinline__ void pause(uint32_t cycles, uint32_t dependency, uint64_t zero)
{
    long long end = clock64() + cycles + (dependency & (uint32_t)zero);

    while (clock64() < end) {
    }
}

// What every kernel has: x collects results; value is what is stored. x begins with the lane, so that a launch without
// records reads it too: that is one wavefront of shared memory.
#define BEGIN(name)                                                                                                    \
    extern "C" __global__ void name(const __grid_constant__ struct gpu_parameters p)                                  \
    {                                                                                                                  \
        uint32_t lane = threadIdx.x, x = lane, value = 1 + (uint32_t)p.zero;                                           \
        uint64_t wide_value = 1 + p.zero;                                                                              \
        (void)value;                                                                                                   \
        (void)wide_value;
#define END                                                                                                            \
    if (x + (uint32_t)p.zero == 0x9e3779b9u)                                                                           \
        asm volatile("trap;");                                                                                         \
    }

#define GLOBAL_ADDRESS (p.buffer + p.record[i].lane[lane])
#define SHARED_ADDRESS ((uint32_t)__cvta_generic_to_shared(shared_bytes) + (uint32_t)p.record[i].lane[lane])
#define LOCAL_ADDRESS  (local + p.record[i].lane[lane])
#define CONST_ADDRESS  (constants + p.record[i].lane[lane])

#define EACH_RECORD                                                                                                    \
    _Pragma("unroll 1") for (uint32_t i = 0; i < p.count; i++)                                                         \
    {                                                                                                                  \
        uint32_t active = p.record[i].mask >> lane & 1, r0 = 0, r1 = 0, r2 = 0, r3 = 0;                                \
        (void)active;
#define EACH_END                                                                                                       \
    x ^= r0 ^ r1 ^ r2 ^ r3;                                                                                            \
    pause(p.pause, x, p.zero);                                                                                         \
    }

// Only active lanes go.
#define GO "@go "

// One instruction on operand: %0 to %3 results, %4 address, %5 value, %6 wide value, %8 shared address of a copy.
#define RUN(text, constraint, address, destination)                                                                    \
    asm volatile("{ .reg .pred go; setp.ne.u32 go, %7, 0; " text " }"                                                  \
                 : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)                                                              \
                 : constraint(address), "r"(value), "l"(wide_value), "r"(active), "r"(destination)                     \
                 : "memory");

// Loads p.warm words from address on, 4 bytes apart, and waits for them: a byte of each, with its sign, which no instruction
// that is measured does, so that these loads can be told from them in machine code. The loop also keeps the compiler from
// turning the condition into a predicate: an instruction without active lanes would be counted.
#define WARM(load, address)                                                                                            \
    if (p.warm) {                                                                                                      \
        int32_t old = 0, sum = 0;                                                                                      \
        _Pragma("unroll 1") for (uint32_t word = 0; word < p.warm; word++)                                             \
        {                                                                                                              \
            asm volatile("{ .reg .pred go; setp.ne.u32 go, %2, 0; @go " load " %0, [%1]; }"                            \
                         : "+r"(old)                                                                                   \
                         : "l"((address) + 4 * word), "r"(active)                                                      \
                         : "memory");                                                                                  \
            sum += old;                                                                                                \
        }                                                                                                              \
        x ^= (uint32_t)sum;                                                                                            \
        pause(p.pause, x, p.zero);                                                                                     \
    }
#define WARM_global "ld.global.ca.s8"
#define WARM_local  "ld.local.s8"

#define KERNEL_global(name, text)                                                                                      \
    BEGIN(name) EACH_RECORD WARM(WARM_global, GLOBAL_ADDRESS) RUN(text, "l", GLOBAL_ADDRESS, 0u) EACH_END END
#define KERNEL_generic(name, text) KERNEL_global(name, text)
#define KERNEL_shared(name, text)                                                                                      \
    BEGIN(name) EACH_RECORD RUN(text, "r", SHARED_ADDRESS, 0u) EACH_END END
#define KERNEL_local(name, text)                                                                                       \
    BEGIN(name)                                                                                                        \
    __align__(16) char bytes[2 * KERNEL_LOCAL_BYTES];                                                                  \
    uint64_t local;                                                                                                    \
    asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(local) : "l"(bytes) : "memory");                                   \
    local = (local + KERNEL_LOCAL_BYTES - 1) & ~(uint64_t)(KERNEL_LOCAL_BYTES - 1);                                    \
    EACH_RECORD WARM(WARM_local, LOCAL_ADDRESS & ~(uint64_t)15) RUN(text, "l", LOCAL_ADDRESS, 0u) EACH_END END
#define KERNEL_const(name, text)                                                                                       \
    BEGIN(name)                                                                                                        \
    uint64_t constants;                                                                                                \
    asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(constants) : "l"(constant_bytes));                                 \
    EACH_RECORD RUN(text, "l", CONST_ADDRESS, 0u) EACH_END END
#define KERNEL_copy(name, text)                                                                                        \
    BEGIN(name)                                                                                                        \
    EACH_RECORD uint64_t both = p.record[i].lane[lane];                                                                \
    uint64_t source = p.buffer + (both & ((UINT64_C(1) << GPU_SHARED_SHIFT) - 1));                                     \
    WARM(WARM_global, source)                                                                                          \
    RUN(text, "l", source,                                                                                             \
        (uint32_t)__cvta_generic_to_shared(shared_bytes) + (uint32_t)(both >> GPU_SHARED_SHIFT))                       \
    EACH_END END

// An instruction that the GPU that is compiled for lacks gets an empty kernel; gpu_open() leaves it out.
#ifdef __CUDA_ARCH__
#define HAS(since) (__CUDA_ARCH__ >= (since) * 10)
#else
#define HAS(since) 1
#endif

extern "C" __global__ void kernel_nothing(const __grid_constant__ struct gpu_parameters p)
{
    uint32_t lane = threadIdx.x, x = lane;

    _Pragma("unroll 1") for (uint32_t i = 0; i < p.count; i++)
    {
        x ^= (uint32_t)p.record[i].lane[lane];
        pause(p.pause, x, p.zero);
    }
    END

#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(kernel_##id, text)
INSTRUCTIONS WARMERS
#undef INSTRUCTION
#if HAS(80)
#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(kernel_##id, text)
#else
#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(kernel_##id, "")
#endif
INSTRUCTIONS_80
#undef INSTRUCTION
#if HAS(90)
#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(kernel_##id, text)
#else
#define INSTRUCTION(space, id, name, since, text) KERNEL_##space(kernel_##id, "")
#endif
INSTRUCTIONS_90
#undef INSTRUCTION

#define INSTRUCTION(space, id, name, since, text) {name, since, KERNEL_IN_##space, (const void *)kernel_##id},
extern "C" const struct kernel kernels[] = {{"", 0, KERNEL_IN_nothing, (const void *)kernel_nothing},
                                            INSTRUCTIONS INSTRUCTIONS_80 INSTRUCTIONS_90 WARMERS{NULL, 0, KERNEL_IN_nothing, NULL}};
#undef INSTRUCTION
