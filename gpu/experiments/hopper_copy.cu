// Bulk copies (cp.async.bulk) and tensor copies (cp.async.bulk.tensor) with each swizzle: what is counted, and cycles.

#include "hopper.h"

#include <algorithm>
#include <cstdlib>

#include <cuda.h>

#define COPY_SHARED_BYTES 196608
#define DATA_BYTES 65536 /* of each block's shared memory; behind it the other side of a copy, and an mbarrier */
#define BARRIER 131072
#define SETTLE 40000 /* cycles after which a copy is through */
#define COPIES 16

extern __shared__ __align__(1024) char bytes[];

struct copy_parameters {
    char *global;
    uint32_t shared; /* offset of the destination, or of the source */
    uint32_t size;
    uint32_t count;    /* copies */
    uint32_t expected; /* bytes that the mbarrier hears of; 0: the copy has none */
    int x, y;          /* of a tensor copy */
    long long *cycles; /* NULL: wait by time, so that no waiting is counted */
};

static __device__ __forceinline__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

static __device__ __forceinline__ void begin_copies(uint32_t barrier)
{
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(barrier)
                     : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
}

// Ends where the copies of thread 0 are through.
static __device__ __forceinline__ void end_copies(const struct copy_parameters &p, uint32_t barrier, long long begin)
{
    const long long until = clock64() + SETTLE;

    if (!p.cycles) {
        while (clock64() < until) {
        }
        return;
    }
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
        if (p.expected) {
            uint32_t done = 0;

            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier),
                         "r"(p.expected * p.count)
                         : "memory");
            while (!done)
                asm volatile(
                    "{ .reg .pred q; mbarrier.try_wait.parity.shared::cta.b64 q, [%1], 0; selp.u32 %0, 1, 0, q; }"
                    : "=r"(done)
                    : "r"(barrier)
                    : "memory");
        }
        *p.cycles = clock64() - begin;
    }
}

// %0 shared, %1 global, %2 size, %3 mbarrier, %4 the other block's shared memory, %5 its mbarrier, %6 map, %7, %8 x, y.
#define KERNEL(name, text)                                                                                             \
    extern "C" __global__ void name(const __grid_constant__ struct copy_parameters p,                                  \
                                    const __grid_constant__ CUtensorMap map)                                           \
    {                                                                                                                  \
        const uint32_t own = (uint32_t)__cvta_generic_to_shared(bytes), barrier = own + BARRIER;                       \
        uint32_t other, other_barrier, rank;                                                                           \
        long long begin;                                                                                               \
                                                                                                                       \
        asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));                                                   \
        asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(other) : "r"(own + DATA_BYTES));                     \
        asm volatile("mapa.shared::cluster.u32 %0, %1, 1;" : "=r"(other_barrier) : "r"(barrier));                      \
        begin_copies(barrier);                                                                                         \
        cluster_barrier();                                                                                             \
        begin = clock64();                                                                                             \
        if (rank == 0) {                                                                                               \
            if (threadIdx.x == 0) {                                                                                    \
                _Pragma("unroll 1") for (uint32_t i = 0; i < p.count; i++) asm volatile(                               \
                    text ::"r"(own + p.shared), "l"(p.global), "r"(p.size), "r"(barrier), "r"(other),                  \
                    "r"(other_barrier), "l"(&map), "r"(p.x), "r"(p.y) : "memory");                                     \
            }                                                                                                          \
            end_copies(p, barrier, begin);                                                                             \
        }                                                                                                              \
        cluster_barrier();                                                                                             \
    }

#define TX "mbarrier::complete_tx::bytes"

// Name, whether the block's own mbarrier hears of it, PTX.
#define COPIES_OF_BYTES                                                                                                \
    C(load, 1, "cp.async.bulk.shared::cluster.global." TX " [%0], [%1], %2, [%3];")                                    \
    C(store, 0, "cp.async.bulk.global.shared::cta.bulk_group [%1], [%0], %2;")                                         \
    C(to_block, 0, "cp.async.bulk.shared::cluster.shared::cta." TX " [%4], [%0], %2, [%5];")                           \
    C(reduce, 0, "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%1], [%0], %2;")                         \
    C(reduce_block, 0, "cp.reduce.async.bulk.shared::cluster.shared::cta." TX ".add.u32 [%4], [%0], %2, [%5];")        \
    C(prefetch, 0, "cp.async.bulk.prefetch.L2.global [%1], %2;")
#define COPIES_OF_TILES                                                                                                \
    C(tile_load, 1, "cp.async.bulk.tensor.2d.shared::cluster.global." TX " [%0], [%6, {%7, %8}], [%3];")               \
    C(tile_store, 0, "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%6, {%7, %8}], [%0];")                    \
    C(tile_reduce, 0, "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%6, {%7, %8}], [%0];")        \
    C(tile_prefetch, 0, "cp.async.bulk.prefetch.tensor.2d.L2.global [%6, {%7, %8}];")

#define C(id, hears, text) KERNEL(copy_##id, text)
COPIES_OF_BYTES COPIES_OF_TILES
#undef C

    struct copy {
    const char *name;
    int hears;
    const void *kernel;
};

#define C(id, hears, text) {#id, hears, (const void *)copy_##id},
static const struct copy copies[] = {COPIES_OF_BYTES};
static const struct copy tiles[] = {COPIES_OF_TILES};
#undef C

static const std::vector<const char *> counters = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc",
    "l1tex__data_pipe_lsu_wavefronts_mem_lgds",
    "l1tex__data_pipe_lsu_wavefronts",
    "l1tex__data_bank_conflicts_pipe_lsu",
    "l1tex__data_bank_conflicts_type_arbitration",
    "l1tex__data_bank_reads",
    "l1tex__data_bank_writes",
    "l1tex__tmain_requests",
    "l1tex__t_requests",
    "l1tex__t_requests_pipe_lsu",
    "l1tex__t_sectors",
    "l1tex__t_output_wavefronts",
    "l1tex__m_xbar2l1tex_read_sectors_mem_global_op_tma_ld",
    "l1tex__m_xbar2l1tex_read_sectors_mem_dshared_op_tma_st",
    "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_st",
    "l1tex__m_l1tex2xbar_write_sectors_mem_global_op_tma_red",
    "l1tex__m_l1tex2xbar_write_sectors_mem_dshared_op_tma_st",
    "l1tex__m_l1tex2xbar_write_sectors_mem_dshared_op_tma_red",
    "lts__t_requests_srcunit_tex",
    "lts__t_sectors_srcunit_tex",
    "sm__inst_executed_pipe_tma",
    "sm__pipe_tma_cycles_active",
};

static cudaError_t launch_copy(const struct copy &one, struct copy_parameters parameters, CUtensorMap map)
{
    void *arguments[] = {&parameters, &map};

    return launch_cluster(one.kernel, 2, 2, 32, COPY_SHARED_BYTES, arguments);
}

static double cycles_of(const struct copy &one, struct copy_parameters parameters, const CUtensorMap &map)
{
    double least = 1e30;

    for (int i = 0; i < 3; i++) {
        long long cycles;

        must(launch_copy(one, parameters, map), "launch");
        must(cudaMemcpy(&cycles, parameters.cycles, sizeof cycles, cudaMemcpyDeviceToHost), "cycles");
        least = std::min(least, (double)cycles);
    }
    return least;
}

static void prepare(const struct copy &one)
{
    must(cudaFuncSetAttribute(one.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, COPY_SHARED_BYTES),
         "shared memory");
}

static char *buffer_of(size_t size)
{
    char *buffer;

    must(cudaMalloc(&buffer, size), "memory");
    must(cudaMemset(buffer, 0, size), "memory");
    return buffer;
}

static std::string numbers(std::initializer_list<long long> values)
{
    std::string text;

    for (long long value : values)
        text += "," + std::to_string(value);
    return text;
}

static void time_bulk(const std::string &folder, char *buffer, long long *where)
{
    std::FILE *out = std::fopen((folder + "/bulk-cycles.csv").c_str(), "w");

    std::fprintf(out, "copy,bytes,cycles_of_1,cycles_of_%d\n", COPIES);
    for (const struct copy &one : copies) {
        if (one.kernel == (const void *)copy_to_block || one.kernel == (const void *)copy_reduce_block)
            continue; /* another block's mbarrier hears of these */
        for (uint32_t size = 16; size <= 32768; size *= 2) {
            struct copy_parameters p = {buffer, 0, size, 1, one.hears ? size : 0, 0, 0, where};
            const double single = cycles_of(one, p, CUtensorMap());

            p.count = COPIES;
            std::fprintf(out, "%s,%u,%.0f,%.0f\n", one.name, size, single, cycles_of(one, p, CUtensorMap()));
        }
    }
    std::fclose(out);
}

void probe_bulk(const std::string &folder, unsigned variants)
{
    struct dice dice = {20261203};
    std::vector<probe> probes;
    char *buffer = buffer_of(1 << 20);
    long long *where;

    must(cudaMalloc(&where, sizeof *where), "memory");
    for (const struct copy &one : copies) {
        prepare(one);
        for (unsigned i = 0; i < variants; i++) {
            const uint32_t size = 16 * (1 + dice.below(i % 2 ? 32 : 2048)),
                           shared = 16 * dice.below(i % 4 < 2 ? 8 : 2048);
            const uint32_t from = i % 8 < 4 ? 16 * dice.below(8) : 16 * dice.below(16384);
            const struct copy_parameters p = {buffer + from, shared, size, i ? 1U : 0U, 0, 0, 0, nullptr};

            probes.push_back({one.name + numbers({size, shared, from, p.count}),
                              [=] { return launch_copy(one, p, CUtensorMap()); }});
        }
    }
    time_bulk(folder, buffer, where);
    count_probes((folder + "/bulk.csv").c_str(), "copy,bytes,shared,global,count", counters, probes);
    must(cudaFree(buffer), "memory");
    must(cudaFree(where), "memory");
}

// ------------------------------------------------------------------------------------------------------------- tensors

typedef CUresult (*encode_function)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                    const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                    CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);

struct tile {
    uint32_t element;       /* bytes */
    uint32_t columns, rows; /* of the tensor, in elements */
    uint32_t pitch;         /* bytes from row to row */
    uint32_t box_columns, box_rows;
    uint32_t swizzle; /* 0: none; 1, 2, 3: 32, 64, 128 bytes */
    int x, y;
};

static const char *const swizzles[] = {"none", "32B", "64B", "128B"};

static CUtensorMap encode(char *buffer, const struct tile &tile)
{
    static encode_function function;
    const CUtensorMapDataType type = tile.element == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                     : tile.element == 2 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT16
                                                         : CU_TENSOR_MAP_DATA_TYPE_UINT32;
    const cuuint64_t dimensions[] = {tile.columns, tile.rows}, pitches[] = {tile.pitch};
    const cuuint32_t box[] = {tile.box_columns, tile.box_rows}, steps[] = {1, 1};
    CUtensorMap map;
    CUresult result;

    if (!function) {
        cudaDriverEntryPointQueryResult found;

        must(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&function, 12000, cudaEnableDefault,
                                              &found),
             "cuTensorMapEncodeTiled");
    }
    result =
        function(&map, type, 2, buffer, dimensions, pitches, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
                 (CUtensorMapSwizzle)tile.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (result != CUDA_SUCCESS) {
        std::fprintf(stderr,
                     "hopper: no tensor map for element %u, tensor %u x %u, pitch %u, box %u x %u, swizzle %s: %d\n",
                     tile.element, tile.columns, tile.rows, tile.pitch, tile.box_columns, tile.box_rows,
                     swizzles[tile.swizzle], (int)result);
        std::exit(1);
    }
    return map;
}

/* Half of them on whole sectors inside the tensor. */
static struct tile random_tile(struct dice &dice, unsigned i, const struct copy &one)
{
    struct tile tile;
    const uint32_t swizzle = i % 4, span = swizzle ? 16U << swizzle : 256;
    const int aligned = i / 4 % 2;
    uint32_t inner = aligned ? 32 * (1 + dice.below(span / 32)) : 16 * (1 + dice.below(span / 16));

    tile.swizzle = swizzle;
    tile.element = one.kernel == (const void *)copy_tile_reduce ? 4 : 1U << dice.below(3); /* bytes are not added up */
    inner = std::min(inner, 256 * tile.element);
    tile.box_columns = inner / tile.element;
    tile.box_rows = 1 + dice.below(std::min(256U, 32768 / inner));
    tile.columns = 4096 / tile.element;
    tile.rows = 64 + dice.below(1000);
    tile.pitch = 4096 + (aligned ? 128 * dice.below(8) : 16 * dice.below(64));
    if (i / 8 % 3 == 0)
        tile.pitch = tile.columns * tile.element;
    /* Tiles begin at multiples of 16 bytes: others are an illegal instruction. */
    tile.x = (int)(dice.below(tile.columns - tile.box_columns + 1) * tile.element / 16 * 16 / tile.element);
    tile.y = (int)dice.below(tile.rows);
    if (aligned)
        tile.x = (int)(tile.x * tile.element / 32 * 32 / tile.element);
    else if (i / 8 % 4 == 3 && one.hears)
        tile.x -= (int)(16 / tile.element * dice.below(128)); /* some loads begin before the tensor */
    return tile;
}

static void time_tensor(const std::string &folder, char *buffer, long long *where)
{
    std::FILE *out = std::fopen((folder + "/tensor-cycles.csv").c_str(), "w");

    std::fprintf(out, "copy,swizzle,inner_bytes,rows,cycles_of_1,cycles_of_%d\n", COPIES);
    for (const struct copy &one : tiles) {
        for (uint32_t swizzle = 0; swizzle < 4; swizzle++) {
            for (uint32_t inner = 16; inner <= (swizzle ? 16U << swizzle : 256); inner *= 2) {
                const struct tile tile = {2, 2048, 1024, 4096, inner / 2, 128, swizzle, 0, 0};
                const CUtensorMap map = encode(buffer, tile);
                struct copy_parameters p = {buffer, 0, 0, 1, one.hears ? inner * 128 : 0, 0, 0, where};
                const double single = cycles_of(one, p, map);

                p.count = COPIES;
                std::fprintf(out, "%s,%s,%u,%u,%.0f,%.0f\n", one.name, swizzles[swizzle], inner, 128, single,
                             cycles_of(one, p, map));
            }
        }
    }
    std::fclose(out);
}

void probe_tensor(const std::string &folder, unsigned variants)
{
    struct dice dice = {20261204};
    std::vector<probe> probes;
    char *buffer = buffer_of(16 << 20);
    long long *where;

    must(cudaMalloc(&where, sizeof *where), "memory");
    for (const struct copy &one : tiles) {
        prepare(one);
        for (unsigned i = 0; i < 4 * variants; i++) {
            const struct tile tile = random_tile(dice, i, one);
            const CUtensorMap map = encode(buffer, tile);
            const struct copy_parameters p = {buffer, 1024 * dice.below(16), 0, i ? 1U : 0U, 0, tile.x, tile.y,
                                              nullptr};

            probes.push_back({one.name + std::string(",") + swizzles[tile.swizzle] +
                                  numbers({tile.element, tile.columns, tile.rows, tile.pitch, tile.box_columns,
                                           tile.box_rows, tile.x, tile.y, p.shared, p.count}),
                              [=] { return launch_copy(one, p, map); }});
        }
    }
    time_tensor(folder, buffer, where);
    count_probes((folder + "/tensor.csv").c_str(),
                 "copy,swizzle,element,columns,rows,pitch,box_columns,box_rows,x,y,shared,count", counters, probes);
    must(cudaFree(buffer), "memory");
    must(cudaFree(where), "memory");
}
