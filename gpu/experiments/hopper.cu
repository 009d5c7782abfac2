// What Hopper's units beside the plain loads and stores cost: distributed shared memory, mbarriers, bulk and tensor copies,
// wgmma's operands in shared memory; and loads from constant memory whose lanes differ. docs/hardware.md has the results.
//
//     nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -I.. -o hopper hopper*.cu ../counters.cu -lcupti
//     ./hopper FOLDER [VARIANTS [PART...]]
//
// PART: distributed, mbarrier, bulk, tensor, wgmma, constant; all of them if none is named. Each writes FOLDER/PART.csv, one row
// a launch, and FOLDER/PART-cycles.csv; the rows with count 0 are what the launch counts without the instruction. One launch
// at a time is counted (CUPTI's range profiler, as in counters.cu); addresses lie in the kernels' parameters. 200 variants
// take about two minutes on an H200.

#include "hopper.h"

#include "device.h"

#include <cstdlib>
#include <cstring>

#define RANGES 200

void must(cudaError_t result, const char *what)
{
    if (result == cudaSuccess)
        return;
    std::fprintf(stderr, "hopper: %s: %s\n", what, cudaGetErrorString(result));
    std::exit(1);
}

static int launch_one(void *context, size_t n, char *message)
{
    const std::vector<probe> &batch = *static_cast<const std::vector<probe> *>(context);
    const cudaError_t result = n < batch.size() ? batch[n].launch() : cudaDeviceSynchronize();

    if (result == cudaSuccess)
        return 0;
    std::snprintf(message, GPU_MESSAGE_SIZE, "%s: %s", n < batch.size() ? batch[n].what.c_str() : "launches",
                  cudaGetErrorString(result));
    return -1;
}

static void stop(const char *message)
{
    std::fprintf(stderr, "hopper: %s\n", message);
    std::exit(1);
}

void count_probes(const char *path, const char *columns, const std::vector<const char *> &counters,
                  const std::vector<probe> &probes)
{
    std::vector<uint64_t> values(RANGES * counters.size());
    char message[GPU_MESSAGE_SIZE];
    struct counters *opened;
    std::FILE *out = std::fopen(path, "w");

    if (!out)
        stop(path);
    if (counters_open(0, counters.data(), counters.size(), RANGES, &opened, message) != 0)
        stop(message);
    std::fprintf(stderr, "%s: %zu launches, %zu passes\n", path, probes.size(), counters_passes(opened));
    std::fprintf(out, "%s", columns);
    for (const char *name : counters)
        std::fprintf(out, ",%s", name);
    std::fprintf(out, "\n");
    for (size_t begin = 0; begin < probes.size(); begin += RANGES) {
        const size_t end = begin + RANGES < probes.size() ? begin + RANGES : probes.size();
        std::vector<probe> batch(probes.begin() + (long)begin, probes.begin() + (long)end);

        if (counters_measure(opened, launch_one, &batch, batch.size(), values.data(), message) != 0)
            stop(message);
        for (size_t i = 0; i < batch.size(); i++) {
            std::fprintf(out, "%s", batch[i].what.c_str());
            for (size_t c = 0; c < counters.size(); c++)
                std::fprintf(out, ",%llu", (unsigned long long)values[i * counters.size() + c]);
            std::fprintf(out, "\n");
        }
    }
    counters_close(opened);
    if (std::fclose(out) != 0)
        stop(path);
}

uint64_t dice::number()
{
    uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint32_t dice::below(uint32_t limit)
{
    return (uint32_t)((number() >> 32) * limit >> 32);
}

static uint32_t random_mask(struct dice &dice)
{
    switch (dice.below(5)) {
    case 0: return (uint32_t)dice.number() | 1U << dice.below(32);
    case 1: return 1U << dice.below(32);
    case 2: return UINT32_MAX >> dice.below(31);
    default: return UINT32_MAX;
    }
}

struct lanes random_lanes(struct dice &dice, uint32_t width, uint32_t bytes)
{
    static const uint32_t regions[] = {128, 256, 512, 1024, 4096, 16384, 65536};
    const uint32_t slots = bytes / width;
    const uint32_t kind = dice.below(7);
    const uint32_t stride = 1U << dice.below(8);
    const uint32_t odd = 1 + dice.below(40);
    const uint32_t base = dice.below(slots);
    const uint32_t group = 1U << dice.below(5);
    uint32_t region = regions[dice.below(7)];
    struct lanes out = {};

    region = region < bytes ? region : bytes;
    region = region > width ? region / width : 1;
    out.mask = random_mask(dice);
    for (uint32_t lane = 0; lane < 32; lane++) {
        uint32_t slot = base;

        switch (kind) {
        case 0: slot += lane; break;
        case 1: slot += lane * stride; break;
        case 2: slot += lane * odd; break;
        case 3: slot += lane / group; break;
        case 4: slot = (base & ~31U) + (lane ^ odd % 32); break;
        case 5: slot = (base & ~31U) + dice.below(32) + 32 * dice.below(stride); break;
        default: slot = base / region * region + dice.below(region); break;
        }
        out.offset[lane] = slot % slots * width;
    }
    return out;
}

std::string text_of(const struct lanes &lanes)
{
    std::string text;
    char number[32];

    std::snprintf(number, sizeof number, "%08x,", lanes.mask);
    text = number;
    for (int lane = 0; lane < 32; lane++) {
        std::snprintf(number, sizeof number, "%s%x", lane ? " " : "",
                      (uint32_t)lanes.rank[lane] << 24 | lanes.offset[lane]);
        text += number;
    }
    return text;
}

cudaError_t launch_cluster(const void *kernel, unsigned blocks, unsigned cluster, unsigned threads, size_t shared_bytes,
                           void **arguments)
{
    cudaLaunchAttribute attribute = {};
    cudaLaunchConfig_t config = {};

    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster;
    attribute.val.clusterDim.y = 1;
    attribute.val.clusterDim.z = 1;
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.attrs = &attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelExC(&config, kernel, arguments);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const std::string &, unsigned);
    } parts[] = {{"distributed", probe_distributed}, {"mbarrier", probe_mbarrier}, {"bulk", probe_bulk},
                 {"tensor", probe_tensor},           {"wgmma", probe_wgmma},       {"constant", probe_constant}};

    if (argc < 2) {
        std::fprintf(stderr, "usage: hopper FOLDER [VARIANTS [PART...]]\n");
        return 2;
    }
    must(cudaSetDevice(0), "device 0");
    must(cudaFree(nullptr), "device 0");
    for (const auto &part : parts) {
        bool wanted = argc < 4;

        for (int i = 3; i < argc; i++)
            wanted |= std::strcmp(argv[i], part.name) == 0;
        if (wanted)
            part.run(argv[1], argc > 2 ? (unsigned)std::atoi(argv[2]) : 100);
    }
    return 0;
}
