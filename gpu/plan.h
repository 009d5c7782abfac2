/* How accesses of any trace are executed on a GPU: which instruction, at which addresses of a buffer, how many in one
 * launch. Pure C: the GPU is a function that measures launches. */
#ifndef PLAN_H
#define PLAN_H

#include "warpmem.h"

/* Global addresses are moved by whole pages of this size, local offsets by pieces. */
#define PLAN_PAGE_BYTES        (UINT64_C(1) << 21)
#define PLAN_LOCAL_PIECE_BYTES 128

/* Accesses of an instruction that disagree in a counter, after which that counter is no longer looked for in sums: the
 * model does not have its rule, and to find each takes time. */
#define PLAN_MOST_GUILTY 100

/* What a GPU offers. */
struct plan_limits {
    uint64_t buffer;         /* address of the buffer: a multiple of PLAN_PAGE_BYTES */
    uint64_t buffer_bytes;   /* likewise, at least one page */
    uint32_t shared_bytes, const_bytes; /* of shared and constant memory: offsets lie below */
    uint32_t local_bytes;               /* likewise: a power of two, 128 to 8192 */
    unsigned launch_records; /* most accesses of a launch, at least 1 */
    unsigned launches;       /* most launches that are measured together, at least 1 */
};

/* ------------------------------------------------------------------------------------------------------------ plan.c */

/* The name of the instruction that an opcode is: opcodes of one name are the same machine instruction. "ld.global.ca.4",
 * "atom.shared.add.u32". 0: it is none that can be named. */
int plan_instruction(const struct wm_opcode *opcode, char name[WM_OPCODE_TEXT_SIZE]);

/* Whether offsets into the buffer have the low bits of addresses, as far as it reaches: then they cost what addresses do. */
int plan_is_aligned(const struct plan_limits *limits);

/* What a launch has used of the buffer and of local memory: no access may meet lines of another in L1. */
struct plan_use {
    uint8_t *pages; /* bit per page */
    uint64_t local; /* bit per piece */
    size_t next;    /* where to look for a free page first */
};

enum wm_status plan_use_new(const struct plan_limits *limits, struct plan_use *out);
void plan_use_clear(const struct plan_limits *limits, struct plan_use *use);
void plan_use_free(struct plan_use *use);

enum plan_moved {
    PLAN_MOVED,  /* done */
    PLAN_FULL,   /* this launch has no room left for it: an empty one may */
    PLAN_TOO_FAR /* its addresses lie too far apart */
};

/*
 * Moves an access into the buffer, by whole pages: its lines and sectors, and the order and alignment of addresses in
 * them, stay as they are, and so do tag banks: what the bits above a page add to them. Pages whose numbers differ in few
 * bits still differ in these where they can; else each is placed on its own. Local offsets are moved by pieces, and bits
 * above them change in all lanes alike; shared and constant ones are lowered by a multiple of 1 KiB where they are too high.
 * *out has the new addresses, absolute ones. use is marked.
 */
enum plan_moved plan_move(const wm_arch *arch, const struct plan_limits *limits, struct plan_use *use,
                          const struct wm_access *access, struct wm_access *out);

/* ----------------------------------------------------------------------------------------------------------- batch.c */

/* Sums over a launch, by enum wm_counter. */
typedef uint64_t plan_sums[WM_COUNTERS];

struct plan_launch {
    const char *instruction;
    const struct wm_access *accesses; /* moved */
    unsigned count;
};

/* A GPU, or what stands in for it in tests. */
struct plan_device {
    struct plan_limits limits;
    uint32_t measures; /* bit c: counter c is measured */
    void *context;
    /* 1: it can execute that instruction */
    int (*can)(void *context, const char *instruction);
    /* Executes launches and fills sums[launch][counter], constants of the method subtracted. */
    enum wm_status (*measure)(void *context, const struct plan_launch *launches, size_t n, plan_sums *sums,
                              struct wm_diag *diag);
};

/* Why an access was not measured. */
enum plan_skip {
    PLAN_NO_INSTRUCTION, /* the GPU or the replay has no such single instruction */
    PLAN_NO_ROOM,        /* its addresses do not fit */
    PLAN_NO_LANES,       /* no active lane, and the compiled kernel would branch round the instruction */
    PLAN_SKIPS
};

/* One access that has been measured. has: the counters that were; those that only a sum over a launch has told, and which
 * agreed, have the predicted value. Of accesses whose prediction is inexact, only a launch of their own tells. */
struct plan_result {
    uint64_t index;
    const struct wm_access *access; /* moved */
    const struct wm_counts *predicted;
    uint64_t values[WM_COUNTERS];
    uint32_t has;
    int is_alone; /* it was the only one of its launch */
};

struct plan_totals {
    uint64_t launches;  /* measured */
    uint64_t accesses;  /* measured */
    uint64_t repeated;  /* launches that were measured again in halves */
    uint64_t unsettled; /* launches whose sums differed, but those of neither half did */
    uint64_t skipped[PLAN_SKIPS];
    char first_skipped[PLAN_SKIPS][WM_OPCODE_TEXT_SIZE];
};

typedef enum wm_status (*plan_result_function)(void *context, const struct plan_result *result);

struct plan_batcher;

/* alone: every access gets a launch of its own. WM_E_MEMORY. */
enum wm_status plan_batcher_new(const wm_arch *arch, const struct plan_device *device, int alone,
                                plan_result_function result, void *context, struct plan_batcher **out);

/* Adds an access; measures and hands out results when enough have come together. Results come in any order. Statuses of
 * wm_model() (then wm_access_check() says more), of the device and of result. */
enum wm_status plan_batcher_add(struct plan_batcher *batcher, uint64_t index, const struct wm_access *access,
                                struct wm_diag *diag);
/* Measures what is left. */
enum wm_status plan_batcher_finish(struct plan_batcher *batcher, struct wm_diag *diag);
const struct plan_totals *plan_batcher_totals(const struct plan_batcher *batcher);
/* Number n of the instructions of which counters were given up, and which (bits); 0: there are no more. */
int plan_given_up(const struct plan_batcher *batcher, size_t n, const char **instruction, uint32_t *counters);
void plan_batcher_free(struct plan_batcher *batcher);

#endif
