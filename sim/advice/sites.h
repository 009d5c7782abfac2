/* The accesses of one kernel by the instruction that makes them, and what their addresses have in common. */
#ifndef SITES_H
#define SITES_H

#include "warpmem.h"

/* Sums over executions, as in a tally's row. */
struct cost {
    uint64_t instructions;
    uint64_t lanes; /* active ones */
    uint64_t sums[WM_COUNTERS];
    uint32_t inexact; /* bit C: counter C is known to be no more than near, for at least one access */
    double cycles;    /* of one SM, as wm_cycles() predicts them, one execution after the other */
    double by_bound[WM_BOUND_CLUSTER + 1]; /* of these, by what bounds them: enum wm_bound */
};

/* Accesses that are made up: an instruction as it would be after a change. All zero is an empty list. */
struct access_list {
    struct wm_access *list;
    size_t n;
    size_t size;
};

/* A copy of *access behind the others. WM_E_MEMORY. */
enum wm_status access_list_add(struct access_list *list, const struct wm_access *access);
void access_list_free(struct access_list *list);

/* When an access was made: the step-th time that this warp came to this instruction. */
struct moment {
    uint64_t block; /* linear number */
    uint32_t warp;
    uint32_t step;
    size_t index; /* of the access in its site */
};

/* Address = a constant + the sum of stride[d] * variable d, for every lane of every access. */
enum variable { THREAD_X, THREAD_Y, THREAD_Z, BLOCK_X, BLOCK_Y, BLOCK_Z, STEP, VARIABLES };

struct affine {
    int holds;      /* for all steps */
    int holds_once; /* for the first step of each of several warps, if not for all */
    int varies[VARIABLES];
    int64_t stride[VARIABLES]; /* bytes; 0 where the variable does not vary */
};

#define NO_REGION SIZE_MAX

/* One instruction of a kernel, known by source line, pc and opcode. */
struct site {
    const char *kernel; /* never NULL */
    const char *file;   /* or NULL */
    uint32_t line;
    uint64_t pc;
    struct wm_opcode opcode;
    const struct wm_access *accesses; /* not owned, in the order of execution */
    size_t n;

    struct moment *moments; /* n, sorted by block, warp, step */
    struct cost cost;       /* of the accesses that are here */
    double scale;           /* executions, to those that are here: 1, unless there were too many to be kept */
    struct affine affine;
    size_t region; /* or NO_REGION: not in global memory */
    /* Executions whose active lanes, two at least, ... */
    uint64_t several;   /* ... are there at all */
    uint64_t uniform;   /* ... are at one address */
    uint64_t strided;   /* ... are `stride' apart, or that backwards; which is larger than their width */
    uint64_t stride;    /* the most frequent such distance; 0: none */
    uint64_t adjacent;  /* ... are adjacent elements, one after the other */
    uint64_t collided;  /* ... share an address with another */
    uint64_t low, high; /* bytes touched: [low, high) */
};

/* A piece of global memory that the layout of which can be changed as one: an array, or what overlapping sites
 * touch. */
struct region {
    const struct wm_array *array; /* NULL: not known */
    uint64_t low, high;           /* bytes touched */
    uint64_t touched_sectors;     /* distinct ones */
    uint64_t touched_bytes;       /* distinct ones */
    int is_written;
    int is_read;
};

struct sites {
    const wm_arch *arch;
    uint32_t sector_bytes;
    uint32_t line_bytes;
    uint32_t block[3]; /* threads; 1 where not known */
    int has_block;     /* they are known */
    struct site *list;
    size_t n;
    struct region *regions;
    size_t n_regions;
    struct cost total;        /* of all sites, each by its scale */
    struct cost global_total; /* of those with a region */
};

/* What sites_make() starts from. */
struct site_source {
    const char *kernel;
    const char *file;
    uint32_t line;
    uint64_t pc;
    struct wm_opcode opcode;
    const struct wm_access *accesses;
    size_t n;     /* at least 1 */
    double scale; /* as in struct site */
};

/* Sites of one kernel. arrays: those of the kernel, or none. Sources, their accesses and the arrays must outlive
 * *out, which sites_free() frees, in every case. Any status of wm_model(). */
enum wm_status sites_make(const wm_arch *arch, const struct site_source *sources, size_t n,
                          const struct wm_array *const *arrays, size_t n_arrays, struct sites *out);
void sites_free(struct sites *sites);

/* Adds what a list of accesses costs. Any status of wm_model(). */
enum wm_status cost_add(const wm_arch *arch, const struct wm_access *accesses, size_t n, struct cost *sum);
void cost_merge(struct cost *sum, const struct cost *more);
/* The same of *more, scale times; rounded down. */
void cost_merge_scaled(struct cost *sum, const struct cost *more, double scale);

/* a - b, 0 where b is larger */
uint64_t above(uint64_t a, uint64_t b);
/* Sectors above the fewest that could hold what is asked for. */
uint64_t excess_sectors(const struct cost *cost);

/* The distance of the active lanes' addresses, if it is one: lane i at base + i * stride. Needs two active lanes. */
int find_lane_stride(const struct wm_access *access, int64_t *stride);
/* Whether active lanes are adjacent elements in the order of lanes, without a gap. */
int is_adjacent(const struct wm_access *access);
/* The lowest and highest address of active lanes (there must be one). */
uint64_t lowest_address(const struct wm_access *access);
uint64_t highest_address(const struct wm_access *access);
unsigned active_lanes(const struct wm_access *access);
/* Whether an address lies in an array; in one of unknown size, in the 4 GiB behind its beginning. */
int is_in_array(const struct wm_array *array, uint64_t address);
int is_atomic_operation(const struct wm_opcode *opcode);

#endif
