// wgmma: what reading its operands from shared memory costs, by layout (swizzle, major dimension, strides), N and type.

#include "hopper.h"

#include <algorithm>

#define WGMMA_SHARED_BYTES 212992
#define SHORT 16U
#define LONG 144U

extern __shared__ __align__(1024) char bytes[];

struct wgmma_parameters {
    uint64_t a, b; /* matrix descriptors, without the place of shared memory */
    uint32_t count, zero;
    long long *cycles; /* NULL, or where those of the first thread go */
};

// Registers d0 .. of a result: as a list, and all of them together in d.
#define D4 "d0, d1, d2, d3"
#define D8 D4 ", d4, d5, d6, d7"
#define D12 D8 ", d8, d9, d10, d11"
#define D16 D12 ", d12, d13, d14, d15"
#define D32 D16 ", d16, d17, d18, d19, d20, d21, d22, d23, d24, d25, d26, d27, d28, d29, d30, d31"
#define D48 D32 ", d32, d33, d34, d35, d36, d37, d38, d39, d40, d41, d42, d43, d44, d45, d46, d47"
#define D64 D48 ", d48, d49, d50, d51, d52, d53, d54, d55, d56, d57, d58, d59, d60, d61, d62, d63"
#define D96                                                                                                            \
    D64 ", d64, d65, d66, d67, d68, d69, d70, d71, d72, d73, d74, d75, d76, d77, d78, d79, d80, d81, d82, "            \
        "d83, d84, d85, d86, d87, d88, d89, d90, d91, d92, d93, d94, d95"
#define D128                                                                                                           \
    D96 ", d96, d97, d98, d99, d100, d101, d102, d103, d104, d105, d106, d107, d108, d109, d110, d111, "               \
        "d112, d113, d114, d115, d116, d117, d118, d119, d120, d121, d122, d123, d124, d125, d126, d127"
#define ALL_OF_D4 "xor.b32 d, d, d0; xor.b32 d, d, d1; xor.b32 d, d, d2; xor.b32 d, d, d3; "
#define ALL_OF_D8 ALL_OF_D4 "xor.b32 d, d, d4; xor.b32 d, d, d5; xor.b32 d, d, d6; xor.b32 d, d, d7; "
#define ALL_OF_D12 ALL_OF_D8 "xor.b32 d, d, d8; xor.b32 d, d, d9; xor.b32 d, d, d10; xor.b32 d, d, d11; "
#define ALL_OF_D16 ALL_OF_D12 "xor.b32 d, d, d12; xor.b32 d, d, d13; xor.b32 d, d, d14; xor.b32 d, d, d15; "
#define ALL_OF_D32                                                                                                     \
    ALL_OF_D16 "xor.b32 d, d, d16; xor.b32 d, d, d17; xor.b32 d, d, d18; xor.b32 d, d, d19; xor.b32 d, d, d20; "       \
               "xor.b32 d, d, d21; xor.b32 d, d, d22; xor.b32 d, d, d23; xor.b32 d, d, d24; xor.b32 d, d, d25; "       \
               "xor.b32 d, d, d26; xor.b32 d, d, d27; xor.b32 d, d, d28; xor.b32 d, d, d29; xor.b32 d, d, d30; "       \
               "xor.b32 d, d, d31; "
#define ALL_OF_D48                                                                                                     \
    ALL_OF_D32 "xor.b32 d, d, d32; xor.b32 d, d, d33; xor.b32 d, d, d34; xor.b32 d, d, d35; xor.b32 d, d, d36; "       \
               "xor.b32 d, d, d37; xor.b32 d, d, d38; xor.b32 d, d, d39; xor.b32 d, d, d40; xor.b32 d, d, d41; "       \
               "xor.b32 d, d, d42; xor.b32 d, d, d43; xor.b32 d, d, d44; xor.b32 d, d, d45; xor.b32 d, d, d46; "       \
               "xor.b32 d, d, d47; "
#define ALL_OF_D64                                                                                                     \
    ALL_OF_D48 "xor.b32 d, d, d48; xor.b32 d, d, d49; xor.b32 d, d, d50; xor.b32 d, d, d51; xor.b32 d, d, d52; "       \
               "xor.b32 d, d, d53; xor.b32 d, d, d54; xor.b32 d, d, d55; xor.b32 d, d, d56; xor.b32 d, d, d57; "       \
               "xor.b32 d, d, d58; xor.b32 d, d, d59; xor.b32 d, d, d60; xor.b32 d, d, d61; xor.b32 d, d, d62; "       \
               "xor.b32 d, d, d63; "
#define ALL_OF_D96                                                                                                     \
    ALL_OF_D64 "xor.b32 d, d, d64; xor.b32 d, d, d65; xor.b32 d, d, d66; xor.b32 d, d, d67; xor.b32 d, d, d68; "       \
               "xor.b32 d, d, d69; xor.b32 d, d, d70; xor.b32 d, d, d71; xor.b32 d, d, d72; xor.b32 d, d, d73; "       \
               "xor.b32 d, d, d74; xor.b32 d, d, d75; xor.b32 d, d, d76; xor.b32 d, d, d77; xor.b32 d, d, d78; "       \
               "xor.b32 d, d, d79; xor.b32 d, d, d80; xor.b32 d, d, d81; xor.b32 d, d, d82; xor.b32 d, d, d83; "       \
               "xor.b32 d, d, d84; xor.b32 d, d, d85; xor.b32 d, d, d86; xor.b32 d, d, d87; xor.b32 d, d, d88; "       \
               "xor.b32 d, d, d89; xor.b32 d, d, d90; xor.b32 d, d, d91; xor.b32 d, d, d92; xor.b32 d, d, d93; "       \
               "xor.b32 d, d, d94; xor.b32 d, d, d95; "
#define ALL_OF_D128                                                                                                    \
    ALL_OF_D96 "xor.b32 d, d, d96; xor.b32 d, d, d97; xor.b32 d, d, d98; xor.b32 d, d, d99; xor.b32 d, d, d100; "      \
               "xor.b32 d, d, d101; xor.b32 d, d, d102; xor.b32 d, d, d103; xor.b32 d, d, d104; "                      \
               "xor.b32 d, d, d105; xor.b32 d, d, d106; xor.b32 d, d, d107; xor.b32 d, d, d108; "                      \
               "xor.b32 d, d, d109; xor.b32 d, d, d110; xor.b32 d, d, d111; xor.b32 d, d, d112; "                      \
               "xor.b32 d, d, d113; xor.b32 d, d, d114; xor.b32 d, d, d115; xor.b32 d, d, d116; "                      \
               "xor.b32 d, d, d117; xor.b32 d, d, d118; xor.b32 d, d, d119; xor.b32 d, d, d120; "                      \
               "xor.b32 d, d, d121; xor.b32 d, d, d122; xor.b32 d, d, d123; xor.b32 d, d, d124; "                      \
               "xor.b32 d, d, d125; xor.b32 d, d, d126; xor.b32 d, d, d127; "

// %0: result; %1: descriptor of A, %2: of B, %3: 0, %4: how many, %5 to %8: A in registers. The first does not add.
#define KERNEL(name, registers, text)                                                                                  \
    extern "C" __global__ void __launch_bounds__(128) name(const __grid_constant__ struct wgmma_parameters p)          \
    {                                                                                                                  \
        const uint64_t place = (uint32_t)__cvta_generic_to_shared(bytes) >> 4;                                         \
        uint32_t a = threadIdx.x, d = a;                                                                               \
        long long begin;                                                                                               \
                                                                                                                       \
        __syncthreads();                                                                                               \
        begin = clock64();                                                                                             \
        if (p.count)                                                                                                   \
            asm volatile(                                                                                              \
                "{ .reg .b32 d<128>, d, n; .reg .pred q, more; setp.ne.u32 q, %3, 0; mov.u32 n, %4; "                  \
                "mov.b32 d, 0; wgmma.fence.sync.aligned; more_%=: " text                                               \
                "wgmma.commit_group.sync.aligned; setp.eq.u32 q, %3, 0; sub.u32 n, n, 1; "                             \
                "setp.ne.u32 more, n, 0; @more bra.uni more_%=; wgmma.wait_group.sync.aligned 0; " ALL_OF_D##registers \
                "mov.b32 %0, d; }"                                                                                     \
                : "=r"(d)                                                                                              \
                : "l"(p.a + place), "l"(p.b + place), "r"(p.zero), "r"(p.count), "r"(a), "r"(a), "r"(a), "r"(a)        \
                : "memory");                                                                                           \
        if (p.cycles && threadIdx.x == 0)                                                                              \
            *p.cycles = clock64() - begin;                                                                             \
        if (d == 0x9e3779b9u)                                                                                          \
            asm volatile("trap;");                                                                                     \
    }

#define MMA(n, k, types, registers, a, tail)                                                                           \
    "wgmma.mma_async.sync.aligned.m64n" #n "k" #k "." types " {" D##registers "}, " a ", %2, q" tail "; "
#define A_REGISTERS "{%5, %6, %7, %8}"

// Name, N, registers of a result, K, A in registers, A and B transposed, PTX.
#define KINDS(n, r)                                                                                                    \
    W(f16_kk, n, r, 16, 0, 0, 0, MMA(n, 16, "f32.f16.f16", r, "%1", ", 1, 1, 0, 0"))                                   \
    W(f16_km, n, r, 16, 0, 0, 1, MMA(n, 16, "f32.f16.f16", r, "%1", ", 1, 1, 0, 1"))                                   \
    W(f16_mk, n, r, 16, 0, 1, 0, MMA(n, 16, "f32.f16.f16", r, "%1", ", 1, 1, 1, 0"))                                   \
    W(f16_mm, n, r, 16, 0, 1, 1, MMA(n, 16, "f32.f16.f16", r, "%1", ", 1, 1, 1, 1"))                                   \
    W(f16_rk, n, r, 16, 1, 0, 0, MMA(n, 16, "f32.f16.f16", r, A_REGISTERS, ", 1, 1, 0"))                               \
    W(f16_rm, n, r, 16, 1, 0, 1, MMA(n, 16, "f32.f16.f16", r, A_REGISTERS, ", 1, 1, 1"))                               \
    W(tf32_kk, n, r, 8, 0, 0, 0, MMA(n, 8, "f32.tf32.tf32", r, "%1", ", 1, 1"))                                        \
    W(tf32_rk, n, r, 8, 1, 0, 0, MMA(n, 8, "f32.tf32.tf32", r, A_REGISTERS, ", 1, 1"))                                 \
    W(e4m3_kk, n, r, 32, 0, 0, 0, MMA(n, 32, "f32.e4m3.e4m3", r, "%1", ", 1, 1"))                                      \
    W(e4m3_rk, n, r, 32, 1, 0, 0, MMA(n, 32, "f32.e4m3.e4m3", r, A_REGISTERS, ", 1, 1"))                               \
    W(s8_kk, n, r, 32, 0, 0, 0, MMA(n, 32, "s32.s8.s8", r, "%1", ""))                                                  \
    W(s8_rk, n, r, 32, 1, 0, 0, MMA(n, 32, "s32.s8.s8", r, A_REGISTERS, ""))
#define ALL                                                                                                            \
    KINDS(8, 4)                                                                                                        \
    KINDS(16, 8) KINDS(24, 12) KINDS(32, 16) KINDS(64, 32) KINDS(96, 48) KINDS(128, 64) KINDS(192, 96) KINDS(256, 128)

#define W(id, n, r, k, in_registers, ta, tb, text) KERNEL(wgmma_##id##_##n, r, text)
ALL
#undef W

    struct wgmma {
    const char *name;
    uint32_t n, k;
    int registers, a_transposed, b_transposed;
    const void *kernel;
};

static const struct wgmma wgmmas[] = {
#define W(id, n, r, k, in_registers, ta, tb, text) {#id, n, k, in_registers, ta, tb, (const void *)wgmma_##id##_##n},
    ALL
#undef W
};

static const std::vector<const char *> counters = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_gmma",
    "l1tex__data_bank_reads",
    "l1tex__lsuin_requests_op_gmma",
    "l1tex__lsu_writeback_active_mem_shared_op_gmma",
    "l1tex__t_requests_pipe_lsu",
    "sm__inst_executed_pipe_tensor_op_gmma",
    "sm__pipe_tensor_op_hmma_cycles_active",
    "sm__pipe_tensor_op_imma_cycles_active",
};

/* PTX ISA, "Matrix Descriptor Format". swizzle: 0 none, 1 32 bytes, 2 64 bytes, 3 128 bytes. */
struct layout {
    uint32_t start, leading, stride; /* bytes, multiples of 16 */
    uint32_t swizzle;
};

static uint64_t descriptor(const struct layout &layout)
{
    static const uint64_t modes[] = {0, 3, 2, 1};

    return (uint64_t)(layout.start >> 4) | (uint64_t)(layout.leading >> 4) << 16 |
           (uint64_t)(layout.stride >> 4) << 32 | modes[layout.swizzle] << 62;
}

/* The usual layout: atoms of 8 rows of the swizzle's width, one behind the other. */
static struct layout usual(uint32_t swizzle, uint32_t start)
{
    const uint32_t width = 16U << swizzle;

    return {start, swizzle ? 16U : 128U, swizzle ? 8 * width : 256U, swizzle};
}

static struct layout random_layout(struct dice &dice, uint32_t swizzle, uint32_t start)
{
    struct layout layout = usual(swizzle, start);

    layout.start += dice.below(2) ? 16 * dice.below(64) : 0;
    layout.leading = 16 * (1 + dice.below(128));
    layout.stride = 16 * (1 + dice.below(dice.below(2) ? 16 : 192));
    return layout;
}

static std::string text_of(const struct layout &layout)
{
    return "," + std::to_string(layout.swizzle ? 16 << layout.swizzle : 0) + "," + std::to_string(layout.start) + "," +
           std::to_string(layout.leading) + "," + std::to_string(layout.stride);
}

static cudaError_t launch(const void *kernel, struct wgmma_parameters parameters)
{
    void *arguments[] = {&parameters};

    return cudaLaunchKernel(kernel, dim3(1), dim3(128), arguments, WGMMA_SHARED_BYTES, nullptr);
}

/* Cycles of one of many in a row: those of a long run less those of a short one. */
static double cycles_of(const struct wgmma &one, const struct layout &a, const struct layout &b, long long *where)
{
    double least[2] = {1e30, 1e30};

    for (int i = 0; i < 6; i++) {
        const struct wgmma_parameters parameters = {descriptor(a), descriptor(b), i % 2 ? LONG : SHORT, 0, where};
        long long cycles;

        must(launch(one.kernel, parameters), one.name);
        must(cudaMemcpy(&cycles, where, sizeof cycles, cudaMemcpyDeviceToHost), one.name);
        least[i % 2] = std::min(least[i % 2], (double)cycles);
    }
    return (least[1] - least[0]) / (LONG - SHORT);
}

void probe_wgmma(const std::string &folder, unsigned variants)
{
    struct dice dice = {20261205};
    std::vector<probe> probes;
    std::FILE *out = std::fopen((folder + "/wgmma-cycles.csv").c_str(), "w");
    static const char head[] = "kind,n,k,a_in_registers,a_transposed,b_transposed,a_swizzle,a_start,a_leading,a_stride,"
                               "b_swizzle,b_start,b_leading,b_stride";
    const unsigned each = std::max(5U, variants / 8);
    long long *where;

    must(cudaMalloc(&where, sizeof *where), "memory");
    std::fprintf(out, "%s,cycles\n", head);
    for (const struct wgmma &one : wgmmas) {
        const std::string name = std::string(one.name) + "," + std::to_string(one.n) + "," + std::to_string(one.k) +
                                 "," + std::to_string(one.registers) + "," + std::to_string(one.a_transposed) + "," +
                                 std::to_string(one.b_transposed);

        must(cudaFuncSetAttribute(one.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, WGMMA_SHARED_BYTES),
             one.name);
        for (unsigned i = 0; i < each; i++) {
            /* The four usual layouts, nothing at all, then random ones. */
            const uint32_t swizzle = i < 4 ? i : dice.below(4);
            const struct layout a = i < 5 ? usual(swizzle, 0) : random_layout(dice, dice.below(4), 0);
            const struct layout b = i < 5 ? usual(swizzle, 65536) : random_layout(dice, swizzle, 65536);
            const uint32_t count = i == 4 ? 0 : 1;

            probes.push_back({name + text_of(a) + text_of(b) + "," + std::to_string(count), [=] {
                                  return launch(one.kernel, {descriptor(a), descriptor(b), count, 0, nullptr});
                              }});
            if (count && i < 8)
                std::fprintf(out, "%s%s%s,%.2f\n", name.c_str(), text_of(a).c_str(), text_of(b).c_str(),
                             cycles_of(one, a, b, where));
        }
    }
    std::fclose(out);
    must(cudaFree(where), "memory");
    count_probes((folder + "/wgmma.csv").c_str(), (std::string(head) + ",count").c_str(), counters, probes);
}
