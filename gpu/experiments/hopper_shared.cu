// Distributed shared memory (loads, stores, atomics at another block of the cluster), mbarriers, and constant memory.

#include "hopper.h"

#include <algorithm>

#define SHARED_BYTES 65536
#define DATA_BYTES 32768 /* what lanes access; behind it an mbarrier */
#define MOST_BLOCKS 16   /* of the cluster, where the GPU can */
#define ROUNDS 32

struct shared_parameters {
    struct lanes lanes;
    uint32_t count;    /* how often; 0: all but the instruction itself */
    uint32_t zero;     /* 0, which the compiler does not know */
    long long *cycles; /* NULL, or where those of block 0 go */
    uint32_t *where;   /* NULL, or where the addresses of things go */
};

extern __shared__ __align__(1024) char bytes[];

static __device__ __forceinline__ uint32_t rank_in_cluster()
{
    uint32_t rank;

    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

static __device__ __forceinline__ void cluster_barrier()
{
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

static __device__ __forceinline__ uint32_t mapped(uint32_t address, uint32_t rank)
{
    uint32_t to;

    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(address), "r"(rank));
    return to;
}

// %0 to %3: results; %4: a lane's address; %5, %6: value; %8: mbarrier in the same block's memory.
#define BODY(text)                                                                                                     \
    asm volatile("{ .reg .pred go; setp.ne.u32 go, %7, 0; " text " }"                                                  \
                 : "+r"(r0), "+r"(r1), "+r"(r2), "+r"(r3)                                                              \
                 : "r"(at + (x & p.zero)), "r"(value), "l"(wide), "r"(active), "r"(barrier)                            \
                 : "memory");

#define KERNEL(name, text)                                                                                             \
    extern "C" __global__ void name(const __grid_constant__ struct shared_parameters p)                                \
    {                                                                                                                  \
        const uint32_t lane = threadIdx.x & 31, active = p.lanes.mask >> lane & 1;                                     \
        const uint32_t own = (uint32_t)__cvta_generic_to_shared(bytes), rank = p.lanes.rank[lane];                     \
        const uint32_t at = mapped(own + p.lanes.offset[lane], rank), barrier = mapped(own + DATA_BYTES, rank);        \
        uint32_t x = lane, value = 1 + p.zero;                                                                         \
        uint64_t wide = 1 + p.zero;                                                                                    \
        long long begin;                                                                                               \
                                                                                                                       \
        if (threadIdx.x == 0)                                                                                          \
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1000000; "                                               \
                         "mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 1000000;" ::"r"(own + DATA_BYTES)       \
                         : "memory");                                                                                  \
        cluster_barrier();                                                                                             \
        begin = clock64();                                                                                             \
        if (rank_in_cluster() == 0) {                                                                                  \
            _Pragma("unroll 1") for (uint32_t i = 0; i < p.count; i++)                                                 \
            {                                                                                                          \
                uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0;                                                               \
                BODY(text)                                                                                             \
                x ^= r0 ^ r1 ^ r2 ^ r3;                                                                                \
            }                                                                                                          \
        }                                                                                                              \
        if (x == 0x9e3779b9u)                                                                                          \
            asm volatile("trap;");                                                                                     \
        if (p.cycles) {                                                                                                \
            __syncthreads();                                                                                           \
            if (rank_in_cluster() == 0 && threadIdx.x == 0)                                                            \
                *p.cycles = clock64() - begin;                                                                         \
        }                                                                                                              \
        cluster_barrier();                                                                                             \
    }

#define WIDE(text) ".reg .b64 t; mov.b64 t, {%0, %1}; @go " text " mov.b64 {%0, %1}, t;"
#define TX "mbarrier::complete_tx::bytes"

// Name, bytes of a lane, PTX.
#define DISTRIBUTED                                                                                                    \
    D(ld_8, 1, "@go ld.shared::cluster.u8 %0, [%4];")                                                                  \
    D(ld_16, 2, "@go ld.shared::cluster.u16 %0, [%4];")                                                                \
    D(ld_32, 4, "@go ld.shared::cluster.u32 %0, [%4];")                                                                \
    D(ld_64, 8, "@go ld.shared::cluster.v2.u32 {%0, %1}, [%4];")                                                       \
    D(ld_128, 16, "@go ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];")                                             \
    D(st_8, 1, "@go st.shared::cluster.u8 [%4], %5;")                                                                  \
    D(st_16, 2, "@go st.shared::cluster.u16 [%4], %5;")                                                                \
    D(st_32, 4, "@go st.shared::cluster.u32 [%4], %5;")                                                                \
    D(st_64, 8, "@go st.shared::cluster.v2.u32 [%4], {%5, %5};")                                                       \
    D(st_128, 16, "@go st.shared::cluster.v4.u32 [%4], {%5, %5, %5, %5};")                                             \
    D(atom_add_32, 4, "@go atom.shared::cluster.add.u32 %0, [%4], %5;")                                                \
    D(atom_min_32, 4, "@go atom.shared::cluster.min.u32 %0, [%4], %5;")                                                \
    D(atom_inc_32, 4, "@go atom.shared::cluster.inc.u32 %0, [%4], %5;")                                                \
    D(atom_xor_32, 4, "@go atom.shared::cluster.xor.b32 %0, [%4], %5;")                                                \
    D(red_add_32, 4, "@go red.shared::cluster.add.u32 [%4], %5;")                                                      \
    D(atom_exch_32, 4, "@go atom.shared::cluster.exch.b32 %0, [%4], %5;")                                              \
    D(atom_cas_32, 4, "@go atom.shared::cluster.cas.b32 %0, [%4], %5, %5;")                                            \
    D(atom_cas_64, 8, WIDE("atom.shared::cluster.cas.b64 t, [%4], %6, %6;"))                                           \
    D(red_async_add, 4, "@go red.async.relaxed.cluster.shared::cluster." TX ".add.u32 [%4], %5, [%8];")                \
    D(st_async_32, 4, "@go st.async.shared::cluster." TX ".b32 [%4], %5, [%8];")                                       \
    D(st_async_64, 8, "@go st.async.shared::cluster." TX ".v2.b32 [%4], {%5, %5}, [%8];")                              \
    D(st_async_128, 16, "@go st.async.shared::cluster." TX ".v4.b32 [%4], {%5, %5, %5, %5}, [%8];")                    \
    D(remote_arrive, 8, "@go mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%8];")                            \
    D(own_ld_32, 4, "@go ld.shared::cta.u32 %0, [%4];")                                                                \
    D(own_ld_128, 16, "@go ld.shared::cta.v4.u32 {%0, %1, %2, %3}, [%4];")                                             \
    D(own_st_32, 4, "@go st.shared::cta.u32 [%4], %5;")

#define D(id, width, text) KERNEL(distributed_##id, text)
DISTRIBUTED
#undef D

struct instruction {
    const char *name;
    uint32_t width;
    const void *kernel;
};

static const struct instruction distributed[] = {
#define D(id, width, text) {#id, width, (const void *)distributed_##id},
    DISTRIBUTED
#undef D
};

static const std::vector<const char *> shared_counters = {
    "l1tex__data_pipe_lsu_wavefronts_mem_shared",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_misc",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_gds",
    "l1tex__data_pipe_lsu_wavefronts_mem_lgds",
    "l1tex__data_pipe_lsu_wavefronts_mem_lgds.max",
    "l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_read",
    "l1tex__data_pipe_lsu_wavefronts_mem_lgds_cmd_write",
    "l1tex__data_bank_reads",
    "l1tex__data_bank_writes",
    "l1tex__data_bank_reads.max",
    "l1tex__data_bank_writes.max",
    "l1tex__t_requests_pipe_lsu",
    "l1tex__t_requests_pipe_lsu_mem_dshared",
    "l1tex__t_set_accesses_pipe_lsu_mem_dshared",
    "l1tex__t_sectors_pipe_lsu_mem_dshared",
    "l1tex__t_output_wavefronts_pipe_lsu",
    "l1tex__t_output_wavefronts_pipe_lsu_mem_dshared",
    "l1tex__m_l1tex2xbar_write_sectors_mem_dshared",
    "l1tex__m_l1tex2xbar_write_bytes_mem_dshared",
    "l1tex__m_xbar2l1tex_read_sectors_mem_dshared",
    "l1tex__m_xbar2l1tex_read_bytes_mem_dshared",
    "l1tex__m_l1tex2xbar_req_cycles_active_mem_dshared",
    "l1tex__lsu_writeback_active_mem_lgds",
    "l1tex__lsu_writeback_active_mem_shared",
    "l1tex__lsuin_requests",
    "lts__t_requests_srcunit_tex",
    "lts__t_sectors_srcunit_tex",
};

static cudaError_t launch_shared(const void *kernel, struct shared_parameters parameters, unsigned blocks,
                                 unsigned threads, size_t shared_bytes = SHARED_BYTES)
{
    void *arguments[] = {&parameters};

    return launch_cluster(kernel, blocks, blocks, threads, shared_bytes, arguments);
}

static double cycles_of(const void *kernel, const struct lanes &lanes, unsigned blocks, unsigned warps,
                        long long *where, size_t shared_bytes = SHARED_BYTES)
{
    double least = 1e30;

    for (int i = 0; i < 3; i++) {
        struct shared_parameters parameters = {lanes, ROUNDS, 0, where, nullptr};
        long long cycles;

        must(launch_shared(kernel, parameters, blocks, 32 * warps, shared_bytes), "launch");
        must(cudaMemcpy(&cycles, where, sizeof cycles, cudaMemcpyDeviceToHost), "cycles");
        least = std::min(least, (double)cycles / ROUNDS / (warps > 1 ? warps : 1));
    }
    return least;
}

// Where things lie in generic and shared addresses, as a block of a cluster sees them.
static __global__ void addresses(unsigned long long *out, uint32_t last)
{
    volatile char local[64];
    unsigned long long own = (unsigned long long)bytes, of_local = (unsigned long long)(const char *)local, of_last;
    const uint32_t rank = rank_in_cluster();

    local[threadIdx.x & 63] = 1;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(of_last) : "l"(own), "r"(last));
    if (threadIdx.x == 0) {
        out[5 * rank + 0] = own;
        out[5 * rank + 1] = (uint32_t)__cvta_generic_to_shared(bytes);
        out[5 * rank + 2] = of_last;
        out[5 * rank + 3] = of_local;
        out[5 * rank + 4] = mapped((uint32_t)__cvta_generic_to_shared(bytes), last);
    }
}

static void write_addresses(const std::string &folder, unsigned blocks)
{
    unsigned long long host[5 * MOST_BLOCKS], *device;
    uint32_t last = blocks - 1;
    void *arguments[] = {&device, &last};
    std::FILE *out = std::fopen((folder + "/addresses.csv").c_str(), "w");

    must(cudaMalloc(&device, sizeof host), "memory");
    must(launch_cluster((const void *)addresses, blocks, blocks, 32, 1024, arguments), "addresses");
    must(cudaMemcpy(host, device, 5 * blocks * sizeof host[0], cudaMemcpyDeviceToHost), "addresses");
    std::fprintf(out, "rank,generic,shared,generic_of_last_block,local,shared_of_last_block\n");
    for (unsigned i = 0; i < blocks; i++)
        std::fprintf(out, "%u,%#llx,%#llx,%#llx,%#llx,%#llx\n", i, host[5 * i], host[5 * i + 1], host[5 * i + 2],
                     host[5 * i + 3], host[5 * i + 4]);
    std::fclose(out);
    must(cudaFree(device), "memory");
}

/* The largest cluster that fits. */
static unsigned blocks_of_cluster(const void *kernel)
{
    for (unsigned blocks = MOST_BLOCKS; blocks > 2; blocks /= 2) {
        cudaLaunchAttribute attribute = {};
        cudaLaunchConfig_t config = {};
        int clusters = 0;

        attribute.id = cudaLaunchAttributeClusterDimension;
        attribute.val.clusterDim.x = blocks;
        attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(32);
        config.dynamicSmemBytes = SHARED_BYTES;
        config.attrs = &attribute;
        config.numAttrs = 1;
        if (cudaOccupancyMaxActiveClusters(&clusters, kernel, &config) == cudaSuccess && clusters > 0)
            return blocks;
        cudaGetLastError();
    }
    return 2;
}

/* Whose memory the lanes access: all of one block's, of others' than the own one, or of any block's. */
static const char *set_ranks(struct dice &dice, unsigned i, unsigned blocks, struct lanes &lanes)
{
    const uint32_t one = 1 + dice.below(blocks - 1);

    for (int lane = 0; lane < 32; lane++)
        lanes.rank[lane] = (uint8_t)(i % 8 < 4   ? one
                                     : i % 8 < 6 ? 1 + dice.below(blocks - 1)
                                     : i % 8 < 7 ? dice.below(blocks)
                                                 : 0);
    return i % 8 < 4 ? "one" : i % 8 < 6 ? "others" : i % 8 < 7 ? "any" : "own";
}

static void time_distributed(const std::string &folder)
{
    std::FILE *out = std::fopen((folder + "/distributed-cycles.csv").c_str(), "w");
    long long *where;

    must(cudaMalloc(&where, sizeof *where), "memory");
    std::fprintf(out, "instruction,target,stride,cycles_1_warp,cycles_32_warps\n");
    for (const struct instruction &one : distributed) {
        for (uint32_t stride = 1; stride <= 32; stride *= 2) {
            for (int target = 0; target < 2; target++) {
                struct lanes lanes = {};

                if (target && one.name[0] == 'o')
                    continue;
                lanes.mask = UINT32_MAX;
                for (uint32_t lane = 0; lane < 32; lane++) {
                    lanes.offset[lane] = lane * stride * one.width % DATA_BYTES;
                    lanes.rank[lane] = (uint8_t)target;
                }
                std::fprintf(out, "%s,%d,%u,%.2f,%.2f\n", one.name, target, stride,
                             cycles_of(one.kernel, lanes, 2, 1, where), cycles_of(one.kernel, lanes, 2, 32, where));
            }
        }
    }
    std::fclose(out);
    must(cudaFree(where), "memory");
}

void probe_distributed(const std::string &folder, unsigned variants)
{
    struct dice dice = {20261130};
    std::vector<probe> probes;
    unsigned blocks;

    for (const struct instruction &one : distributed) {
        must(cudaFuncSetAttribute(one.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES),
             "shared memory");
        must(cudaFuncSetAttribute(one.kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cluster");
    }
    must(cudaFuncSetAttribute((const void *)addresses, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), "cluster");
    blocks = blocks_of_cluster(distributed[0].kernel);
    for (const struct instruction &one : distributed) {
        for (unsigned i = 0; i < variants; i++) {
            struct lanes lanes = random_lanes(dice, one.width, DATA_BYTES);
            const char *whose = set_ranks(dice, one.name[0] == 'o' ? 7 : i, blocks, lanes);
            uint32_t count = 1;

            if (i < 3)
                lanes.mask = i < 2 ? UINT32_MAX : 0;
            if (i == 0)
                count = 0;
            probes.push_back({std::string(one.name) + "," + std::to_string(one.width) + "," + whose + "," +
                                  std::to_string(count) + "," + text_of(lanes),
                              [=] {
                                  struct shared_parameters parameters = {lanes, count, 0, nullptr, nullptr};

                                  return launch_shared(one.kernel, parameters, blocks, 32);
                              }});
        }
    }
    write_addresses(folder, blocks);
    time_distributed(folder);
    count_probes((folder + "/distributed.csv").c_str(), "instruction,width,whose,count,mask,addresses", shared_counters,
                 probes);
}

// ----------------------------------------------------------------------------------------------------------- mbarriers

#define BARRIERS 512

#define MBARRIER                                                                                                       \
    M(init, "@go mbarrier.init.shared::cta.b64 [%4], 1000;")                                                           \
    M(inval, "@go mbarrier.inval.shared::cta.b64 [%4];")                                                               \
    M(arrive, ".reg .b64 t; mov.b64 t, 0; @go mbarrier.arrive.shared::cta.b64 t, [%4]; cvt.u32.u64 %0, t;")            \
    M(arrive_sink, "@go mbarrier.arrive.shared::cta.b64 _, [%4];")                                                     \
    M(arrive_count, ".reg .b64 t; mov.b64 t, 0; @go mbarrier.arrive.shared::cta.b64 t, [%4], %5; cvt.u32.u64 %0, t;")  \
    M(arrive_expect_tx,                                                                                                \
      ".reg .b64 t; mov.b64 t, 0; @go mbarrier.arrive.expect_tx.shared::cta.b64 t, [%4], %5; cvt.u32.u64 %0, t;")      \
    M(arrive_drop, ".reg .b64 t; mov.b64 t, 0; @go mbarrier.arrive_drop.shared::cta.b64 t, [%4]; cvt.u32.u64 %0, t;")  \
    M(expect_tx, "@go mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%4], %5;")                                       \
    M(complete_tx, "@go mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%4], %5;")                                   \
    M(test_wait, ".reg .pred q; setp.ne.u32 q, %7, %7; @go mbarrier.test_wait.parity.shared::cta.b64 q, [%4], 0; "     \
                 "selp.u32 %0, 1, 0, q;")                                                                              \
    M(test_wait_done, ".reg .pred q; setp.ne.u32 q, %7, %7; @go mbarrier.test_wait.parity.shared::cta.b64 q, [%4], "   \
                      "1; selp.u32 %0, 1, 0, q;")                                                                      \
    M(try_wait_done, ".reg .pred q; setp.ne.u32 q, %7, %7; @go mbarrier.try_wait.parity.shared::cta.b64 q, [%4], 1; "  \
                     "selp.u32 %0, 1, 0, q;")                                                                          \
    M(cp_async_arrive, "@go cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%4];")                                     \
    M(plain_atom, ".reg .b64 t; mov.b64 t, 0; @go atom.shared::cta.exch.b64 t, [%4], %6; cvt.u32.u64 %0, t;")          \
    M(plain_load, "@go ld.shared::cta.v2.u32 {%0, %1}, [%4];")

#undef KERNEL
#define KERNEL(name, text)                                                                                             \
    extern "C" __global__ void name(const __grid_constant__ struct shared_parameters p)                                \
    {                                                                                                                  \
        const uint32_t lane = threadIdx.x & 31, active = p.lanes.mask >> lane & 1;                                     \
        const uint32_t own = (uint32_t)__cvta_generic_to_shared(bytes), barrier = 0;                                   \
        const uint32_t at = own + p.lanes.offset[lane];                                                                \
        uint32_t x = lane, value = 1 + p.zero;                                                                         \
        uint64_t wide = 1 + p.zero;                                                                                    \
        long long begin;                                                                                               \
                                                                                                                       \
        for (uint32_t i = threadIdx.x; i < BARRIERS; i += blockDim.x)                                                  \
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 900000;" ::"r"(own + 8 * i) : "memory");                 \
        __syncthreads();                                                                                               \
        begin = clock64();                                                                                             \
        _Pragma("unroll 1") for (uint32_t i = 0; i < p.count; i++)                                                     \
        {                                                                                                              \
            uint32_t r0 = 0, r1 = 0, r2 = 0, r3 = 0;                                                                   \
            BODY(text)                                                                                                 \
            x ^= r0 ^ r1 ^ r2 ^ r3;                                                                                    \
        }                                                                                                              \
        if (x == 0x9e3779b9u)                                                                                          \
            asm volatile("trap;");                                                                                     \
        if (p.cycles) {                                                                                                \
            __syncthreads();                                                                                           \
            if (threadIdx.x == 0)                                                                                      \
                *p.cycles = clock64() - begin;                                                                         \
        }                                                                                                              \
    }

#define M(id, text) KERNEL(mbarrier_##id, text)
MBARRIER
#undef M

static const struct instruction mbarriers[] = {
#define M(id, text) {#id, 8, (const void *)mbarrier_##id},
    MBARRIER
#undef M
};

static void time_mbarrier(const std::string &folder)
{
    std::FILE *out = std::fopen((folder + "/mbarrier-cycles.csv").c_str(), "w");
    long long *where;

    must(cudaMalloc(&where, sizeof *where), "memory");
    std::fprintf(out, "instruction,lanes,stride,cycles_1_warp,cycles_32_warps\n");
    for (const struct instruction &one : mbarriers) {
        for (uint32_t active = 1; active <= 32; active *= 32) {
            for (uint32_t stride = 0; stride <= 16; stride += stride ? stride * 3 : 1) {
                struct lanes lanes = {};

                lanes.mask = active == 1 ? 1 : UINT32_MAX;
                for (uint32_t lane = 0; lane < 32; lane++)
                    lanes.offset[lane] = 8 * (lane * stride % BARRIERS);
                std::fprintf(out, "%s,%u,%u,%.2f,%.2f\n", one.name, active, stride,
                             cycles_of(one.kernel, lanes, 1, 1, where), cycles_of(one.kernel, lanes, 1, 32, where));
            }
        }
    }
    std::fclose(out);
    must(cudaFree(where), "memory");
}

void probe_mbarrier(const std::string &folder, unsigned variants)
{
    struct dice dice = {20261201};
    std::vector<probe> probes;

    for (const struct instruction &one : mbarriers) {
        must(cudaFuncSetAttribute(one.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED_BYTES),
             "shared memory");
        for (unsigned i = 0; i < variants; i++) {
            struct lanes lanes = random_lanes(dice, 8, 8 * BARRIERS);
            const uint32_t count = i ? 1 : 0;

            if (i == 1)
                lanes.mask = 0;
            if (i >= 2 && i < 8) {
                /* One lane, two, all; one barrier or several. */
                lanes.mask = i % 3 == 2 ? 1 : i % 3 == 0 ? 3 : UINT32_MAX;
                for (uint32_t lane = 0; lane < 32; lane++)
                    lanes.offset[lane] = i < 5 ? 0 : 8 * lane;
            }
            probes.push_back({std::string(one.name) + ",8,0," + std::to_string(count) + "," + text_of(lanes), [=] {
                                  struct shared_parameters parameters = {lanes, count, 0, nullptr, nullptr};

                                  return launch_shared(one.kernel, parameters, 1, 32);
                              }});
        }
    }
    time_mbarrier(folder);
    count_probes((folder + "/mbarrier.csv").c_str(), "instruction,width,target,count,mask,addresses", shared_counters,
                 probes);
}

// ----------------------------------------------------------------------------------------------------- constant memory

#define CONSTANT_BYTES 32768

static __constant__ __align__(1024) char constants[CONSTANT_BYTES];

#undef KERNEL
#define KERNEL(name, text)                                                                                             \
    extern "C" __global__ void name(const __grid_constant__ struct shared_parameters p)                                \
    {                                                                                                                  \
        const uint32_t lane = threadIdx.x & 31, active = p.lanes.mask >> lane & 1;                                     \
        uint64_t at;                                                                                                   \
        uint32_t x = lane;                                                                                             \
        long long begin;                                                                                               \
                                                                                                                       \
        asm volatile("cvta.to.const.u64 %0, %1;" : "=l"(at) : "l"(constants));                                         \
        at += p.lanes.offset[lane];                                                                                    \
        begin = clock64();                                                                                             \
        _Pragma("unroll 1") for (uint32_t i = 0; i < p.count; i++)                                                     \
        {                                                                                                              \
            uint32_t r0 = 0, r1 = 0;                                                                                   \
            asm volatile("{ .reg .pred go; setp.ne.u32 go, %3, 0; " text " }"                                          \
                         : "+r"(r0), "+r"(r1)                                                                          \
                         : "l"(at + (x & p.zero)), "r"(active)                                                         \
                         : "memory");                                                                                  \
            x ^= r0 ^ r1;                                                                                              \
        }                                                                                                              \
        if (x == 0x9e3779b9u)                                                                                          \
            asm volatile("trap;");                                                                                     \
        if (p.cycles) {                                                                                                \
            __syncthreads();                                                                                           \
            if (threadIdx.x == 0)                                                                                      \
                *p.cycles = clock64() - begin;                                                                         \
        }                                                                                                              \
    }

KERNEL(constant_8, "@go ld.const.u8 %0, [%2];")
KERNEL(constant_32, "@go ld.const.u32 %0, [%2];")
KERNEL(constant_64, ".reg .b64 t; mov.b64 t, {%0, %1}; @go ld.const.b64 t, [%2]; mov.b64 {%0, %1}, t;")

static const struct instruction constant_loads[] = {{"ld_const_8", 1, (const void *)constant_8},
                                                    {"ld_const_32", 4, (const void *)constant_32},
                                                    {"ld_const_64", 8, (const void *)constant_64}};

static const std::vector<const char *> constant_counters = {
    "idc__requests",
    "idc__requests_lookup_hit",
    "idc__requests_lookup_miss",
    "idc__request_cycles_active",
    "smsp__inst_executed_op_ldc",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared",
    "l1tex__t_requests_pipe_lsu",
};

void probe_constant(const std::string &folder, unsigned variants)
{
    struct dice dice = {20261202};
    std::vector<probe> probes;
    std::FILE *out = std::fopen((folder + "/constant-cycles.csv").c_str(), "w");
    long long *where;

    must(cudaMalloc(&where, sizeof *where), "memory");
    std::fprintf(out, "instruction,distinct,stride_bytes,cycles_1_warp,cycles_32_warps\n");
    for (const struct instruction &one : constant_loads) {
        for (uint32_t distinct = 1; distinct <= 32; distinct *= 2) {
            for (uint32_t stride = one.width; stride <= 256; stride *= 4) {
                struct lanes lanes = {};

                lanes.mask = UINT32_MAX;
                for (uint32_t lane = 0; lane < 32; lane++)
                    lanes.offset[lane] = lane % distinct * stride;
                std::fprintf(out, "%s,%u,%u,%.2f,%.2f\n", one.name, distinct, stride,
                             cycles_of(one.kernel, lanes, 1, 1, where, 0),
                             cycles_of(one.kernel, lanes, 1, 32, where, 0));
            }
        }
        for (unsigned i = 0; i < variants; i++) {
            struct lanes lanes = random_lanes(dice, one.width, CONSTANT_BYTES);
            /* Twice: the second execution finds the lines in the cache. */
            const uint32_t count = i ? 2 : 0;

            probes.push_back({std::string(one.name) + "," + std::to_string(one.width) + ",0," + std::to_string(count) +
                                  "," + text_of(lanes),
                              [=] {
                                  struct shared_parameters parameters = {lanes, count, 0, nullptr, nullptr};

                                  return launch_shared(one.kernel, parameters, 1, 32, 0);
                              }});
        }
    }
    std::fclose(out);
    must(cudaFree(where), "memory");
    count_probes((folder + "/constant.csv").c_str(), "instruction,width,target,count,mask,addresses", constant_counters,
                 probes);
}
