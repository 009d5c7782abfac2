/* Layouts of an array in shared memory under which all the accesses that touch it, together, take the fewest
 * wavefronts. docs/fix.md says how they are looked for. */
#ifndef SHARED_ADVICE_H
#define SHARED_ADVICE_H

#include "accesses.h"
#include "bank_layout.h"
#include "buffer.h"

enum shared_choice {
    SHARED_PAD,     /* more bytes, the same indices */
    SHARED_XOR,     /* no more bytes, other indices */
    SHARED_THREADS, /* the array as it is; loads take other elements, each set of them as a whole the same */
    SHARED_CHOICES
};

/* Passes, weighted by executions. */
struct shared_cost {
    uint64_t excess; /* shared wavefronts above the floor */
    uint64_t tags;   /* tag wavefronts of copies past L1 above theirs: their destination decides on them too */
};

/* The accesses of one source line (where none is known: pc) and opcode that touch the array. */
struct shared_line {
    const char *file;
    uint32_t line;
    uint64_t pc;
    struct wm_opcode opcode;
    int is_past_l1; /* cp.async.cg: it has no shared wavefronts; what is counted are tag wavefronts */
    int is_held_up; /* cp.async.ca: the source needs more passes than any destination */
    uint64_t executed;
    uint64_t now;
    uint64_t floor; /* what no layout at all can be below */
    uint64_t after[SHARED_CHOICES];
};

/* What was found of one kind. */
struct shared_result {
    int is_found;        /* something better than what there is */
    int is_perfect;      /* every access at its floor */
    int is_proven;       /* nothing of the kind is better: all was looked at */
    const char *why_not; /* why nothing of the kind was looked at, or NULL */
    size_t tried;
    struct shared_cost cost;
    struct bank_layout layout; /* SHARED_THREADS: which element is taken in place of which */
};

/* A variable behind the array in shared memory, which moves when the array grows. */
struct shared_behind {
    const struct wm_array *array;
    uint64_t size_bytes;  /* up to the next one */
    unsigned align_bytes; /* that its accesses need, and that it has */
    uint64_t shift;       /* of the layout that is being looked at */
    uint64_t shift_of[SHARED_CHOICES];
    int is_aligned[SHARED_CHOICES]; /* its declaration has to ask for align_bytes then */
};

struct shared_advice {
    const struct wm_array *array;
    struct shared_line *lines;
    size_t n_lines;
    size_t n_accesses; /* distinct ones */
    uint64_t executed;
    struct shared_cost now;
    unsigned align_bytes; /* what accesses need */
    struct shared_behind *behind; /* in the order of their addresses */
    size_t n_behind;
    uint64_t base; /* see struct shared_options */
    struct shared_result results[SHARED_CHOICES];
    int is_stopped; /* the limit on work was met */
    char *reason;   /* why no placement whatever is perfect, or NULL: not known */
};

struct shared_options {
    int allow_thread_map;
    /* All variables in shared memory, or none are known but the array; and how much further than it says each of them
     * lies. */
    const struct wm_array *const *variables;
    size_t n_variables;
    uint64_t base;
};

/* Looks at the accesses of a kernel that touch an array. WM_E_MEMORY; WM_E_RANGE: more than 2^56 executions; or a
 * status of wm_model(). *out is freed by shared_advice_free(), in every case. */
enum wm_status shared_advice_find(const wm_arch *arch, const struct access_kernel *kernel, const struct wm_array *array,
                                  const struct shared_options *options, struct shared_advice *out);
void shared_advice_free(struct shared_advice *advice);

/* The same with a layout that was found, and lanes behind the array where it pushes them. */
void shared_rewrite_all(const struct shared_advice *advice, enum shared_choice choice, const struct wm_access *access,
                        struct wm_access *out);

/* What is to be declared for a layout: the array, and variables behind it that would lose their alignment. */
void shared_declarations(const struct shared_advice *advice, enum shared_choice choice, const char *separator,
                         struct buffer *out);

/* As text for people; and as JSON, an object for each line and kind. *is_first: no object stands before; becomes 0. */
void shared_advice_table(const struct shared_advice *advice, struct buffer *out);
void shared_advice_json(const struct access_kernel *kernel, const struct shared_advice *advice, int *is_first,
                        struct buffer *out);

/* Whether a is less than b: shared wavefronts first. */
int shared_is_less(const struct shared_cost *a, const struct shared_cost *b);

/* A lane's address in shared memory, which of a copy is its destination; 0: the access has none. And the lanes whose
 * addresses count. */
int shared_address_of(const struct wm_access *access, unsigned lane, uint64_t *address);
uint32_t shared_lanes_of(const struct wm_access *access);

/* The access with the lanes that touch the array where a layout puts them. */
void shared_rewrite(const struct wm_array *array, const struct bank_layout *layout, const struct wm_access *access,
                    struct wm_access *out);

#endif
