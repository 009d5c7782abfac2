// Kernels that issue one memory instruction again and again and take the time. Their instructions are those of
// kernels.cu.
//
// Throughput: all warps issue it back to back. Latency: each waits for the one before it; its address is made of that
// one's result. Each repetition is on the same lines, which L1 then has; or, where p.move is not 0, on lines of its
// own: some address bits of all lanes are changed alike, so that lanes share lines, sectors, banks and tag banks as
// before. There are more lines than L1 holds, and fewer than L2 does: they are in L2, not in L1, when their turn
// comes again.
//
// The address of a repetition must not be known to be that of another, or the compiler makes one load of several.

#include "device.h"
#include "kernels.h"

#include <cuda_runtime.h>

#include <cstdio>
#include <cstring>

// Results of vector loads are received, not used.
#pragma nv_diag_suppress 550

// Instructions in flight before a warp waits for their results.
#define IN_FLIGHT 8
// Rounds of so many. The difference of two runs, one longer, counts: what starting and ending takes is in both.
#define ROUNDS      32
#define MORE_ROUNDS 96
// Accesses one after the other, for the latency.
#define CHAIN          128
#define CHAIN_UNROLLED 8
#define WARPS          32

static __constant__ __align__(1024) char timed_constants[KERNEL_CONST_BYTES];
extern __shared__ __align__(1024) char timed_shared[];

// Which bits to change in repetition k of round i: p.move is the lowest of them, plus 256 times the number of rounds
// after which they are those of round 0 again.
#define MOVE_BIT    (p.move & 255)
#define MOVE_ROUNDS (p.move >> 8)
#define FIXED_BITS  (p.move ? (uint32_t)(k * WARPS + warp) << MOVE_BIT : (uint32_t)p.zero)
#define ROUND_BITS  (p.move ? (i & (MOVE_ROUNDS - 1)) * (IN_FLIGHT * WARPS) << MOVE_BIT : i & (uint32_t)p.zero)
#define CHAIN_BITS  (p.move ? i << MOVE_BIT : i & (uint32_t)p.zero)

// An address with some low bits changed; and with those of r that are set in zero, which is one instruction in the
// chain.
static __device__ __forceinline__ uint32_t change(uint32_t address, uint32_t bits)
{
    return address ^ bits;
}
static __device__ __forceinline__ uint64_t change(uint64_t address, uint32_t bits)
{
    return address ^ bits;
}
static __device__ __forceinline__ uint32_t follow(uint32_t address, uint32_t r, uint32_t zero)
{
    uint32_t next;

    asm volatile("lop3.b32 %0, %1, %2, %3, 0x78;" : "=r"(next) : "r"(address), "r"(r), "r"(zero));
    return next;
}
static __device__ __forceinline__ uint64_t follow(uint64_t address, uint32_t r, uint32_t zero)
{
    return address & 0xffffffff00000000u | follow((uint32_t)address, r, zero);
}

#define BEGIN(name)                                                                                                    \
    static __global__ void __launch_bounds__(32 * WARPS, 1)                                                            \
        name(const __grid_constant__ struct gpu_parameters p)                                                          \
    {                                                                                                                  \
        const uint32_t lane = threadIdx.x & 31, warp = threadIdx.x >> 5, value = 1 + (uint32_t)p.zero;                 \
        const uint32_t mask = p.record[0].mask, active = mask >> lane & 1;                                             \
        const uint64_t wide_value = 1 + p.zero, offset = p.record[0].lane[lane];                                       \
        uint32_t x = 0;                                                                                    \
        long long from = 0, to = 0;                                                                                    \
        (void)value;                                                                                                   \
        (void)wide_value;                                                                                              \
        (void)offset;

// Lanes that are not active stay away from the loops: a predicate would make the compiler branch round some
// instructions.
#define GO ""

// Registers that an instruction's results fill: all are used, or the compiler would load less.
static __host__ __device__ constexpr unsigned results(const char *text)
{
    unsigned count = 0;

    for (; *text; text++) {
        if (text[0] == '%' && text[1] >= '0' && text[1] <= '3' && (unsigned)(text[1] - '0') >= count)
            count = (unsigned)(text[1] - '0') + 1;
    }
    return count;
}

static __device__ __forceinline__ uint32_t n_th(unsigned n, unsigned count, const uint32_t r[4])
{
    return n < count ? r[n] : 0;
}

// Operands as in kernels.cu.
#define RUN(text, r, constraint, address, destination)                                                                 \
    asm volatile("{ " text " }"                                                                                        \
                 : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])                                              \
                 : constraint(address), "r"(value), "l"(wide_value), "r"(active), "r"(destination)                     \
                 : "memory");

// The second of two runs counts: the first loads instructions, and lines. A chain is run by one warp, behind them.
#define TIME(type, text, tail, constraint, first, destination)                                                         \
    const uint32_t zero = (uint32_t)p.zero;                                                                            \
    uint32_t changed = 0;                                                                                              \
    type at[IN_FLIGHT];                                                                                                \
    _Pragma("unroll") for (int k = 0; k < IN_FLIGHT; k++) at[k] = change((type)(first), FIXED_BITS);                   \
    _Pragma("unroll 1") for (int run = 0; run < 2; run++)                                                              \
    {                                                                                                                  \
        __syncthreads();                                                                                               \
        if (active) {                                                                                                  \
            from = clock64();                                                                                          \
            _Pragma("unroll 1") for (uint32_t i = 0; i < p.count; i++)                                                 \
            {                                                                                                          \
                const uint32_t bits = ROUND_BITS;                                                                      \
                uint32_t r[IN_FLIGHT][4];                                                                              \
                _Pragma("unroll") for (int k = 0; k < IN_FLIGHT; k++)                                                  \
                {                                                                                                      \
                    at[k] = change(at[k], bits ^ changed);                                                             \
                    RUN(text, r[k], constraint, at[k], destination)                                                    \
                }                                                                                                      \
                changed = bits;                                                                                        \
                _Pragma("unroll") for (int k = 0; k < IN_FLIGHT; k++)                                                  \
                {                                                                                                      \
                    _Pragma("unroll") for (unsigned n = 0; n < 4; n++) x ^= n_th(n, results(text), r[k]);              \
                }                                                                                                      \
            }                                                                                                          \
            if (x + zero == 0x9e3779b9u)                                                                               \
                asm volatile("trap;");                                                                                 \
            to = clock64();                                                                                            \
        }                                                                                                              \
    }                                                                                                                  \
    __syncthreads();                                                                                                   \
    if (p.chain && warp == 0 && active) {                                                                              \
        const type begin = change(at[0], changed);                                                                     \
        uint32_t r[4] = {0};                                                                                           \
        from = clock64();                                                                                              \
        _Pragma("unroll 1") for (uint32_t i = 0; i < p.chain;)                                                         \
        {                                                                                                              \
            _Pragma("unroll") for (int k = 0; k < CHAIN_UNROLLED; k++, i++)                                            \
            {                                                                                                          \
                const type next = follow(change(begin, CHAIN_BITS), r[0], zero);                                       \
                RUN(text tail, r, constraint, next, destination)                                                       \
                _Pragma("unroll") for (unsigned n = 1; n < 4; n++) x ^= n_th(n, results(text), r);                     \
            }                                                                                                          \
        }                                                                                                              \
        if ((x ^ r[0]) + zero == 0x9e3779b9u)                                                                          \
            asm volatile("trap;");                                                                                     \
        to = clock64();                                                                                                \
    }                                                                                                                  \
    if (lane + 1 == (uint32_t)__ffs((int)mask)) {                                                                      \
        p.cycles[2 * warp] = from;                                                                                     \
        p.cycles[2 * warp + 1] = to;                                                                                   \
    }                                                                                                                  \
    }

#define SHARED(offset) ((uint32_t)__cvta_generic_to_shared(timed_shared) + (uint32_t)(offset))

#define KERNEL_global(name, text)  BEGIN(name) TIME(uint64_t, text, "", "l", p.buffer + offset, 0u)
#define KERNEL_generic(name, text) KERNEL_global(name, text)
#define KERNEL_shared(name, text)  BEGIN(name) TIME(uint32_t, text, "", "r", SHARED(offset), 0u)
#define KERNEL_local(name, text)                                                                                       \
    BEGIN(name)                                                                                                        \
    __align__(512) char bytes[KERNEL_LOCAL_BYTES];                                                                     \
    uint64_t local;                                                                                                    \
    asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(local) : "l"(bytes) : "memory");                                   \
    TIME(uint64_t, text, "", "l", local + offset, 0u)
#define KERNEL_const(name, text)                                                                                       \
    BEGIN(name)                                                                                                        \
    uint64_t constants;                                                                                                \
    asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(constants) : "l"(timed_constants));                                \
    TIME(uint64_t, text, "", "l", constants + offset, 0u)
#define KERNEL_copy(name, text)                                                                                        \
    BEGIN(name)                                                                                                        \
    const uint32_t to_shared = SHARED(offset >> GPU_SHARED_SHIFT);                                                     \
    TIME(uint64_t, text, COPY_WAIT, "l", p.buffer + (offset & ((UINT64_C(1) << GPU_SHARED_SHIFT) - 1)), to_shared)

#ifdef __CUDA_ARCH__
#define HAS(since) (__CUDA_ARCH__ >= (since) * 10)
#else
#define HAS(since) 1
#endif
#if HAS(80)
#define COPY_WAIT " cp.async.wait_all;"
#else
#define COPY_WAIT ""
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
#define INSTRUCTION(space, id, name, since, text) {(const void *)timed_##id, #id, KERNEL_IN_##space},
static const struct {
    const void *function;
    const char *id;
    enum kernel_space space;
} timed[] = {{NULL, "", KERNEL_IN_nothing}, INSTRUCTIONS INSTRUCTIONS_80 INSTRUCTIONS_90};
#undef INSTRUCTION

// Lines that have to have come before one is no longer in L1, and that L2 holds with room to spare: 1 and 16 MiB of
// 128 bytes.
#define LINE_BITS  7
#define MOST_LINES 131072

// Bits to change for lines of its own: no two lanes may come to lie where another was. 0: there are none.
static uint32_t choose_move(const struct gpu_parameters *parameters, unsigned top_bit)
{
    const struct gpu_record *record = &parameters->record[0];
    const uint64_t in_buffer = (UINT64_C(1) << GPU_SHARED_SHIFT) - 1;
    uint64_t line[32];
    unsigned lines = 0, bits;

    for (unsigned lane = 0; lane < 32; lane++) {
        const uint64_t own = (record->lane[lane] & in_buffer) >> LINE_BITS;
        unsigned n = 0;

        if (!(record->mask >> lane & 1))
            continue;
        while (n < lines && line[n] != own)
            n++;
        if (n == lines)
            line[lines++] = own;
    }
    bits = lines * 8192 <= MOST_LINES ? 13 : 12; // 8,192 or 4,096 places
    for (unsigned low = LINE_BITS; low + bits <= top_bit && low + bits <= 32; low++) {
        const uint64_t changed = ((UINT64_C(1) << bits) - 1) << (low - LINE_BITS);
        int is_free = 1;

        for (unsigned a = 0; a < lines && is_free; a++) {
            for (unsigned b = a + 1; b < lines && is_free; b++)
                is_free = ((line[a] ^ line[b]) & ~changed) != 0;
        }
        if (is_free)
            return low | (1u << (bits - 8)) << 8;
    }
    return 0;
}

static const char *launch(int instruction, struct gpu_parameters *parameters, int shared_bytes, uint32_t rounds,
                          uint32_t chain, int64_t *cycles)
{
    void *arguments[] = {parameters};
    int64_t times[2 * WARPS], from, to;
    cudaError_t error;

    parameters->count = rounds;
    parameters->chain = chain;
    error = cudaLaunchKernel(timed[instruction].function, dim3(1), dim3(32 * WARPS), arguments, (size_t)shared_bytes,
                             0);
    if (!error)
        error = cudaMemcpy(times, parameters->cycles, sizeof times, cudaMemcpyDeviceToHost);
    if (error)
        return cudaGetErrorString(error);
    from = times[0];
    to = times[1];
    for (unsigned warp = 1; warp < WARPS && !chain; warp++) {
        if (times[2 * warp] < from)
            from = times[2 * warp];
        if (times[2 * warp + 1] > to)
            to = times[2 * warp + 1];
    }
    *cycles = to - from;
    return NULL;
}

int gpu_time(int instruction, struct gpu_parameters *parameters, int shared_bytes, unsigned top_bit, int is_miss,
             double *latency, double *throughput, char message[GPU_MESSAGE_SIZE])
{
    const enum kernel_space space = timed[instruction].space;
    const char *id = timed[instruction].id;
    const int has_latency = strncmp(id, "ld", 2) == 0 || strncmp(id, "atom", 4) == 0 || strncmp(id, "cp", 2) == 0;
    const int moves = is_miss && (space == KERNEL_IN_global || space == KERNEL_IN_generic || space == KERNEL_IN_copy);
    int64_t less = 0, more = 0, chain = 0;
    const char *problem = NULL;
    cudaError_t error =
        cudaFuncSetAttribute(timed[instruction].function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);

    *latency = *throughput = 0;
    parameters->move = moves ? choose_move(parameters, top_bit) : 0;
    if ((moves && !parameters->move) || !parameters->record[0].mask)
        return 0;
    if (error)
        problem = cudaGetErrorString(error);
    if (!problem)
        problem = launch(instruction, parameters, shared_bytes, ROUNDS, 0, &less);
    if (!problem)
        problem = launch(instruction, parameters, shared_bytes, MORE_ROUNDS, 0, &more);
    if (!problem && has_latency)
        problem = launch(instruction, parameters, shared_bytes, ROUNDS, CHAIN, &chain);
    if (problem) {
        snprintf(message, GPU_MESSAGE_SIZE, "a launch failed: %s", problem);
        return -1;
    }
    *throughput = (double)(more - less) / (WARPS * (MORE_ROUNDS - ROUNDS) * IN_FLIGHT);
    *latency = (double)chain / CHAIN;
    return 0;
}
