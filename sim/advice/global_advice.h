/* What to do about accesses to global memory, and to atomics: changes that are simulated before they are proposed. */
#ifndef GLOBAL_ADVICE_H
#define GLOBAL_ADVICE_H

#include "accesses.h"
#include "buffer.h"
#include "sites.h"

enum advice_kind {
    ADVICE_LAYOUT,        /* structure of arrays; every k-th element packed */
    ADVICE_MEMBERS,       /* a structure's members by one vector access instead of one access each */
    ADVICE_SWAP,          /* threadIdx.x and threadIdx.y exchange roles */
    ADVICE_TILE,          /* lanes along the addresses, through shared memory */
    ADVICE_REUSE,         /* what is loaded repeatedly kept in shared memory */
    ADVICE_ALIGN,         /* the beginning moved to a sector's or line's */
    ADVICE_PITCH,         /* rows padded, so that each begins at a line */
    ADVICE_THREAD_VECTOR, /* what a thread takes in successive steps as one vector */
    ADVICE_WARP_VECTOR,   /* what several warps take as vectors by one */
    ADVICE_CONSTANT,      /* one address for all lanes: constant memory */
    ADVICE_AGGREGATE,     /* atomics of a warp at one address by one lane */
    ADVICE_PRIVATE,       /* atomics of a block in shared memory first */
    ADVICE_WHOLE_WARPS,   /* active lanes together */
    ADVICE_SORT,          /* scattered: in the order of addresses within a block */
    ADVICE_NONE,          /* waste for which no change is known: only the bound */
    ADVICE_KINDS
};

/* A word for results: "layout", "members", ... */
const char *advice_kind_name(enum advice_kind kind);

/* A line of an advice: what sites cost, and what that becomes. */
struct effect {
    const struct site *const *sites; /* owned by the advice's list */
    size_t n_sites;
    struct cost before;
    struct cost after;
    const char *note; /* "in shared memory", or NULL */
};

struct advice {
    enum advice_kind kind;
    char *title; /* a line */
    char *words; /* a paragraph */
    struct effect *effects;
    size_t n_effects;
    int is_bound;      /* what `after' holds was not simulated: nothing can be below it */
    size_t instead_of; /* number, from 1 on, of a better advice about the same sites; 0: none */
    double cycles;     /* predicted ones saved */
    uint64_t passes;   /* sectors and wavefronts saved */
};

struct advice_list {
    struct advice *list; /* the one that saves most comes first */
    size_t n;
};

/* All that is found about one kernel. */
struct global_advice {
    struct sites sites;
    struct advice_list list;
    uint64_t left_out;          /* executions that were not kept: nothing here counts them */
    struct access_list *copies; /* the accesses of one instruction to several arrays, apart */
    size_t n_copies;
};

/* Looks at all accesses of a kernel; arrays: what wm_reader_array_at() gives for it, or none. All of them must outlive
 * *out, which global_advice_free() frees, in every case. WM_E_MEMORY, or a status of wm_model(). */
enum wm_status global_advice_find(const wm_arch *arch, const struct access_kernel *kernel,
                                  const struct wm_array *const *arrays, size_t n_arrays, struct global_advice *out);
void global_advice_free(struct global_advice *advice);

/* As a table for people; nothing where nothing is to be changed. */
void global_advice_table(const struct global_advice *advice, struct buffer *out);

/* As JSON: an object for each effect. *is_first: no object stands before; becomes 0. */
void global_advice_json(const struct global_advice *advice, int *is_first, struct buffer *out);

#endif
