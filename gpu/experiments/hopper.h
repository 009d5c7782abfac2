/* What the parts of the experiment `hopper` share: launches that are counted one by one, and random lanes. */
#ifndef HOPPER_H
#define HOPPER_H

#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime.h>

/* One launch. */
struct probe {
    std::string what; /* a row's first columns: what was launched */
    std::function<cudaError_t()> launch;
};

/* Ends the program where something of CUDA fails. */
void must(cudaError_t result, const char *what);

/* Counts every probe and writes PATH: a header, then a row each. Counters without a suffix are summed over the GPU. */
void count_probes(const char *path, const char *columns, const std::vector<const char *> &counters,
                  const std::vector<probe> &probes);

/* splitmix64. */
struct dice {
    uint64_t state;
    uint64_t number();
    uint32_t below(uint32_t limit);
};

/* Offsets of 32 lanes, multiples of width below bytes, and which of them are active. */
struct lanes {
    uint32_t offset[32];
    uint8_t rank[32]; /* of the block in its cluster whose memory a lane accesses */
    uint32_t mask;
};
struct lanes random_lanes(struct dice &dice, uint32_t width, uint32_t bytes);
std::string text_of(const struct lanes &lanes);

/* Starts a kernel on clusters of so many blocks. */
cudaError_t launch_cluster(const void *kernel, unsigned blocks, unsigned cluster, unsigned threads, size_t shared_bytes,
                           void **arguments);

/* The parts. Each writes FOLDER/NAME.csv, and FOLDER/NAME-cycles.csv. */
void probe_distributed(const std::string &folder, unsigned variants);
void probe_mbarrier(const std::string &folder, unsigned variants);
void probe_bulk(const std::string &folder, unsigned variants);
void probe_tensor(const std::string &folder, unsigned variants);
void probe_wgmma(const std::string &folder, unsigned variants);
void probe_constant(const std::string &folder, unsigned variants);

#endif
