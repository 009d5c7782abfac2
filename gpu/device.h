/* The GPU as warpmem-replay uses it: kernels that execute given accesses, and hardware counters over launches of them. */
#ifndef DEVICE_H
#define DEVICE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GPU_MESSAGE_SIZE 512

/* Where a lane's shared-memory offset begins in its place; below it is the offset into the buffer (a tebibyte). */
#define GPU_SHARED_SHIFT 40

/* One access, as a kernel takes it: which lanes are active, and for each lane an offset: into the buffer in global
 * memory, or into shared, local or constant memory; of a copy both. */
struct gpu_record {
    uint64_t lane[32];
    uint32_t mask;
    uint32_t reserved;
};

/* Records of one launch: they and the rest of a kernel's parameters fill 32,764 bytes (CUDA 12.1). */
#define GPU_RECORDS 123

struct gpu_parameters {
    uint64_t buffer; /* address of the buffer */
    int64_t *cycles; /* where a timing kernel writes */
    uint64_t zero;   /* 0, which the compiler does not know */
    uint32_t count;  /* records, or repetitions of record 0 by a timing kernel */
    uint32_t pause;  /* cycles to wait after each record */
    uint32_t warm;   /* words that a lane loads into L1 before each record, from its address on; 0: none */
    uint32_t move;   /* of a timing kernel: which address bits repetitions change, see cycles.cu; 0: none */
    uint32_t chain;  /* of a timing kernel: accesses to run one after the other, by one warp */
    uint32_t reserved;
    struct gpu_record record[GPU_RECORDS];
};

struct gpu_info {
    char name[256];
    int major, minor;      /* compute capability */
    int driver;            /* the CUDA version of the driver, 1000 * major + 10 * minor */
    int runtime;           /* likewise of the runtime that this program is linked with */
    char driver_text[64];  /* the driver's own version, "" if not known */
    int devices;           /* GPUs of this machine */
    uint64_t buffer;       /* address: a multiple of buffer_bytes where that is a power of two and memory was enough, */
    uint64_t buffer_bytes; /* else of 2 MiB */
    uint32_t shared_bytes, local_bytes, const_bytes;
};

struct gpu;

/* Numbers of instructions lie below. */
#define GPU_INSTRUCTIONS 512

/* Takes device number `device` and a buffer of buffer_bytes, a multiple of 2 MiB (0: as fits, 4 GiB at most). 0: done; else message says what
 * is wrong in one line. */
int gpu_open(int device, uint64_t buffer_bytes, struct gpu **out, char message[GPU_MESSAGE_SIZE]);
const struct gpu_info *gpu_info(const struct gpu *gpu);
void gpu_close(struct gpu *gpu);

/* Instruction number n that this GPU has a kernel for, by name (plan.h); NULL: no more. The number, or -1. */
const char *gpu_instruction(const struct gpu *gpu, size_t n);
int gpu_find(const struct gpu *gpu, const char *name);
/* The name of a number that gpu_find() gave. */
const char *gpu_instruction_name(int instruction);
/* Offsets that an instruction can be given lie below *limit; a copy's shared ones below *shared (else 0). */
void gpu_bounds(const struct gpu *gpu, int instruction, uint64_t *limit, uint64_t *shared);

/* The kernel that does no more than bring the lines of an instruction's records into L1; -1: nothing of it goes to L1. */
int gpu_warmer(const struct gpu *gpu, int instruction);

/* Starts a launch of one warp that executes the records, one after the other; is_warm: each with its lines in L1. */
int gpu_launch(struct gpu *gpu, int instruction, const struct gpu_record *records, unsigned count, int is_warm,
               char message[GPU_MESSAGE_SIZE]);
/* Waits for all launches. */
int gpu_wait(struct gpu *gpu, char message[GPU_MESSAGE_SIZE]);

/* Cycles of an access: from its issue until its result can be used, with one warp (0: it has none), and those of each
 * where 32 warps of one block issue it back to back. Repetitions are on the same lines; or, where is_miss, each on lines of
 * its own that are in L2 but not in L1: *throughput and *latency are 0 where the buffer has none. */
int gpu_cycles(struct gpu *gpu, int instruction, const struct gpu_record *record, int is_miss, double *latency,
               double *throughput, char message[GPU_MESSAGE_SIZE]);

/* The same on parameters that have the record and the rest; of cycles.cu. The buffer begins at a multiple of 2^top_bit
 * and is a multiple of that. */
int gpu_time(int instruction, struct gpu_parameters *parameters, int shared_bytes, unsigned top_bit, int is_miss,
             double *latency, double *throughput, char message[GPU_MESSAGE_SIZE]);

/* ------------------------------------------------------------------------------------------------------ counters.cu */

struct counters;

/* Prepares counters, summed over the GPU unless a name ends in another suffix (".max"), of the current device, for at most
 * `ranges` launches at a time. -1: they cannot be read, and message says why and what helps. */
int counters_open(int device, const char *const *names, size_t count, size_t ranges, struct counters **out,
                  char message[GPU_MESSAGE_SIZE]);

/* How often counters_measure() has everything launched. */
size_t counters_passes(const struct counters *counters);

/* Has `launch` start launches 0 to n-1, as often as it takes, and wait for them where `launch` is called with n; writes
 * count values for each launch. launch returns 0, or -1 having filled message. */
int counters_measure(struct counters *counters, int (*launch)(void *context, size_t n, char *message), void *context,
                     size_t n, uint64_t *values, char message[GPU_MESSAGE_SIZE]);
void counters_close(struct counters *counters);

#ifdef __cplusplus
}
#endif

#endif
