/* Accesses as they would be after a change. Each function makes the instructions that take the place of those of a
 * site, or of several; what they cost is then simulated. */
#ifndef REWRITE_H
#define REWRITE_H

#include "sites.h"

/* ------------------------------------------------------------------------------------------- the layout of an array */

/* The pieces of a structure: the smallest parts of it that accesses tell apart. */
#define MOST_STRUCTURE_BYTES 1024
struct structure {
    uint64_t base;  /* of the first one */
    uint32_t bytes; /* distance of two */
    uint64_t count; /* of them, as far as they are touched */
    size_t n;       /* pieces */
    struct piece {
        uint32_t offset;
        uint32_t bytes;   /* a power of two */
        uint64_t address; /* of its own array, once it has one */
    } pieces[MOST_STRUCTURE_BYTES];
};

/* Finds the pieces of a region whose structures are so many bytes apart. 0: they are not: an access lies across a
 * border between two, or there is only one piece, which is the whole. */
int find_structure(const struct sites *sites, size_t region, uint32_t bytes, struct structure *out);

/* Each piece in an array of its own; what covers several becomes several instructions. */
enum wm_status rewrite_pieces(const struct site *site, const struct structure *structure, struct access_list *out);

/* All addresses lower by so much; of cp.async, the source. */
enum wm_status rewrite_shift(const struct site *site, uint64_t bytes, struct access_list *out);

/* Rows of another pitch. */
enum wm_status rewrite_pitch(const struct site *site, uint64_t base, uint64_t pitch, uint64_t new_pitch,
                             struct access_list *out);

/* -------------------------------------------------------------------------------------------- which lane takes what */

/* What a tile in shared memory holds: so many successive steps, of one block or of adjacent ones whose work it does. */
struct tile_shape {
    uint32_t steps;
    uint32_t blocks_x;
    uint32_t blocks_y;
};

/* What the warps of a block access while a tile lasts, in the order of addresses, 32 lanes at a time: as a tile is
 * filled and emptied. What was taken already is not taken again, but by cp.async. Several sites, of one opcode,
 * are taken together. *most_bytes: the largest tile. */
enum wm_status rewrite_tile(const struct site *const *sites, size_t n, const struct tile_shape *shape,
                            struct access_list *out, uint64_t *most_bytes);

/* threadIdx.x and threadIdx.y, and blockDim with them, exchange roles. *is_possible: every warp of a block comes to the
 * site equally often. */
enum wm_status rewrite_swap(const struct sites *sites, const struct site *site, struct access_list *out,
                            int *is_possible);

/* What each thread accesses in successive steps, as vectors of so many bytes where these are adjacent and aligned.
 * *merged: instructions that went into vectors. */
enum wm_status rewrite_thread_vectors(const struct site *site, unsigned bytes, struct access_list *out,
                                      uint64_t *merged);

/* The same over several sites, by address: each thread's elements at them as one vector. 0 in *merged: not at
 * every step of every warp. With a gap behind the last one, loads take what is in it too. */
enum wm_status rewrite_member_vectors(const struct site *const *sites, size_t n, unsigned bytes,
                                      struct access_list *out, uint64_t *merged);

/* What adjacent warps access, as vectors of so many bytes by fewer threads. */
enum wm_status rewrite_warp_vectors(const struct site *site, unsigned bytes, struct access_list *out, uint64_t *merged);

/* Active lanes of a block's warps move together, into whole warps, step by step. */
enum wm_status rewrite_whole_warps(const struct site *site, struct access_list *out);

/* The elements of each access next to each other, from a line's beginning on: nothing can be better. */
enum wm_status rewrite_adjacent(const struct site *site, uint32_t line_bytes, struct access_list *out);

/* ---------------------------------------------------------------------------------------------------------- atomics */

/* One lane for each address of a warp. */
enum wm_status rewrite_one_lane_an_address(const struct site *site, struct access_list *out);

/* Counted in shared memory first (*in_shared), then one atomic for each address of a block (*at_end). */
enum wm_status rewrite_private(const struct site *site, struct access_list *in_shared, struct access_list *at_end,
                               uint64_t *most_bytes);

#endif
