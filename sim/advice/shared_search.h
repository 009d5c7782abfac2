/* What the parts of the search for layouts in shared memory have in common. */
#ifndef SHARED_SEARCH_H
#define SHARED_SEARCH_H

#include "shared_advice.h"
#include "xor_search.h"

/* Limits on work, so that an answer comes in a second or so: accesses simulated, and units of xor_search(). */
#define SHARED_WORK 4000000
#define SHARED_XOR_WORK 20000000

/* A distinct access that touches the array. */
struct touch {
    const struct wm_access *access;
    size_t line;    /* number of its struct shared_line */
    uint32_t floor; /* shared wavefronts, or of a copy past L1 tag wavefronts */
    uint32_t now;
    int is_past_l1;
};

/* A distinct access that touches variables behind the array alone. */
struct other {
    const struct wm_access *access;
    uint32_t now;
    int is_past_l1;
};

struct shared_search {
    const wm_arch *arch;
    const struct wm_array *array;
    struct touch *touches;
    size_t n;
    struct other *others;
    size_t n_others;
    uint64_t shifted_for; /* size of the layout that the variables behind have their shift for */
    int is_outside;       /* a lane that touches no variable that is known, behind the array, beside one that touches it */
    uint64_t work; /* left */
    int is_tag_blind; /* of layouts with the same shared wavefronts the first is taken, whatever their tag wavefronts */
    int is_loads_only; /* a layout says which elements loads take; other accesses stay as they are */
    struct shared_advice *advice;
    /* of the GPU */
    unsigned row_bytes; /* of all banks */
    unsigned bank_bytes;
    unsigned phase_lanes[6];      /* by log2 of the width */
    unsigned load_phase_lanes[2]; /* ldmatrix, stmatrix */
    unsigned cas_passes;
    int atomic_merge;
    /* of the accesses */
    unsigned widest; /* bytes of a lane */
    unsigned narrowest;
    int is_misplaced; /* a lane's place in the array is no multiple of its width */
    int is_across;    /* a lane's bytes lie in two rows */
};

/* What a layout costs, as the model has it. 0: no more than `limit' in excess, or the hardware refuses an access. In
 * *out what was found so far. */
int shared_evaluate(struct shared_search *search, const struct bank_layout *layout, const struct shared_cost *limit,
                    struct shared_cost *out);
/* Takes a layout if it is better than what the result holds. */
void shared_consider(struct shared_search *search, const struct bank_layout *layout, struct shared_result *result);

/* An access under a layout, as the search has it just now; lanes behind the array go where it pushes them. */
void shared_place(struct shared_search *search, const struct bank_layout *layout, const struct wm_access *access,
                  struct wm_access *out);

int shared_is_perfect(const struct shared_cost *cost);

/* The kinds. */
enum wm_status shared_find_pad(struct shared_search *search, struct shared_result *result);
enum wm_status shared_find_xor(struct shared_search *search, struct shared_result *result);
enum wm_status shared_find_threads(struct shared_search *search, struct shared_result *result);

/* Sets the advice's reason, where there is one. */
enum wm_status shared_find_reason(struct shared_search *search);

/* Phases of all accesses, for xor_search(). *is_exact: what they cost is what the model says. */
enum wm_status shared_phases(const struct shared_search *search, unsigned granule_bytes, struct xor_problem *out,
                             int *is_exact);

#endif
