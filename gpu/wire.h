/* The line protocol between warpmem and warpmem-replay, a process of its own that has the GPU.
 *
 * warpmem-replay --serve first says what it has, `key = value` lines and then `ready`. A request is, for each launch,
 * `launch INSTRUCTION COUNT` and COUNT lines `MASK VALUE...`, in hex, a value for each active lane (plan_lane); then
 * `go`. The answer is a line of numbers for each launch, in the order of the key `counters`, constants of the method
 * subtracted, then `done`; or `error TEXT`, after which warpmem-replay ends. `cycles INSTRUCTION` and one line of a
 * record are answered by two numbers: cycles until the result can be used (0: it has none), and cycles per instruction with 32
 * warps (0: not measured). */
#ifndef WIRE_H
#define WIRE_H

#include "plan.h"

#define WIRE_VERSION 2

/* Where a copy's shared offset begins in a lane's value; below it, and alone elsewhere, the offset: into the buffer in
 * global memory, else into its space. */
#define WIRE_SHARED_SHIFT 40

/* The value of a lane. */
uint64_t wire_lane(const struct plan_limits *limits, const struct wm_access *access, unsigned lane);

/* ------------------------------------------------------------------------------------------------ warpmem's side */

struct wire;

struct wire_options {
    unsigned device;
    uint64_t buffer_bytes; /* 0: as warpmem-replay likes */
    enum wm_l1 l1;         /* WM_L1_HIT: each access has its lines brought into L1 first, which is not counted */
    int misses_timed;      /* where cycles are taken, repetitions are on lines of their own; else on the same lines */
};

/* Where warpmem-replay is: the environment's WARPMEM_REPLAY, or beside this program, or where it was installed. To be
 * freed; NULL: nowhere. */
char *wire_find(void);

/* Starts it. What it refuses is in diag->text, in one line. */
enum wm_status wire_open(const char *program, const struct wire_options *options, struct wire **out,
                         struct wm_diag *diag);

/* What it said of itself: device, compute_capability, driver, cuda, method, ... NULL: nothing. */
const char *wire_get(const struct wire *wire, const char *key);

/* For a batcher; lives as long as wire. device->measures is 0 where counters cannot be read: "counters_missing" says
 * why. */
const struct plan_device *wire_device(const struct wire *wire);

/* Cycles of a moved access: until its result can be used, with one warp, and of each with 32 warps; 0: no such. */
enum wm_status wire_cycles(struct wire *wire, const char *instruction, const struct wm_access *access,
                           double *one_warp, double *full_block, struct wm_diag *diag);
void wire_close(struct wire *wire);

#endif
