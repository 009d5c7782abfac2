/*
 * The best XOR of index bits, by linear algebra over bits.
 *
 * A layout that XORs bits of an index is a linear map over GF(2), and which bank an element lies in is a linear
 * function h of its index bits. Lanes that are served together collide where h agrees, and for sets of lanes that are
 * affine (a subspace V moved somewhere) that is the case 2^dim(V and ker h) times: a layout is free of conflicts if ker
 * h meets every V in 0 only. Seen so in: Zhou et al., "Linear Layouts: Robust Code Generation of Efficient Tensor
 * Computation Using F_2", arXiv 2505.23819, which constructs h for the two sets of a write and a read. Here there may
 * be any number of sets, weighted, and sets that are not affine; the columns of h are found one after the other by
 * branch and bound, which is exact.
 */
#ifndef XOR_SEARCH_H
#define XOR_SEARCH_H

#include "warpmem.h"

/* Granules of an array: 256 KiB in words. */
#define XOR_MOST_BITS 16
/* log2 of the slots in a row of all banks: 32 banks of words. */
#define XOR_MOST_SLOT_BITS 5

/* What lanes that are served together ask for: distinct units, or one for each lane where equal ones do not merge. A
 * unit is (granule << within_bits) | its place in the granule. */
struct xor_phase {
    uint64_t weight; /* executions */
    unsigned n;
    uint32_t unit[WM_LANES];
};

struct xor_problem {
    unsigned bits;        /* of a granule's index */
    unsigned slot_bits;   /* granules in a row of all banks */
    unsigned within_bits; /* of a unit, below its granule's index */
    struct xor_phase *phases;
    size_t n;
};

/* h as its columns: the slot that bit i of a granule's index adds (XOR). */
struct xor_map {
    uint32_t column[XOR_MOST_BITS];
};

struct xor_answer {
    struct xor_map map;
    uint64_t cost; /* passes, weighted */
    int is_proven; /* nothing of the kind that was searched costs less */
};

/* Puts phases that any map treats alike together; the problem owns the list, which becomes shorter. */
void xor_merge(struct xor_problem *problem);

/* Passes of all phases, weighted, with slots as the map has them. */
uint64_t xor_cost(const struct xor_problem *problem, const struct xor_map *map);

/* Slots as they are: the lowest bits of a granule's index. */
void xor_identity(const struct xor_problem *problem, struct xor_map *map);

/* The map of least cost below `below'; *out is changed only if there is one. is_general: all maps of full rank, that is
 * all linear layouts; else those whose lowest slot_bits columns are the identity's: a row of all banks stays in itself.
 * Stops at `least', which nothing can be below. *work: units of work that it may take, which become fewer.
 * out->is_proven is set in every case. Returns whether a map was found. */
int xor_search(const struct xor_problem *problem, int is_general, uint64_t least, uint64_t below, uint64_t *work,
               struct xor_answer *out);

#endif
