/* Random accesses of every opcode, width and pattern that the model knows: the same ones for the same seed. */
#ifndef GENERATE_H
#define GENERATE_H

#include <stdio.h>

#include "warpmem.h"

#define GENERATE_OPCODES_MAX 160

struct generator {
    uint64_t state;
    uint64_t shared_bytes, local_bytes, const_bytes; /* offsets lie below: multiples of every width */
    uint64_t local_piece_bytes; /* lanes of a local access stay in one piece of that size; 0: anywhere */
    uint64_t far, far_bytes; /* a region of global memory, in pages of 4 KiB: every second global access has its lanes
                                scattered over all of it; 0 bytes: none has */
    int whole_matrices; /* matrix instructions have all lanes or none: PTX leaves the rest undefined */
    unsigned opcodes;
    struct wm_opcode opcode[GENERATE_OPCODES_MAX];
};

/* Starts over from a seed. max_width_bytes: the widest access of a lane that the GPU has, 16 or 32.
 * WM_OK, or what wm_opcode_parse() says of a built-in opcode. */
enum wm_status generate_start(struct generator *g, uint64_t seed, unsigned max_width_bytes);

/* The same for accesses that are to be executed on that GPU: instructions that it has, at addresses and with masks whose
 * cost does not hang on what an access does not say. */
enum wm_status generate_live(struct generator *g, uint64_t seed, const wm_arch *arch);

/* The next random number; one below limit (at least 1). */
uint64_t generate_number(struct generator *g);
uint64_t generate_below(struct generator *g, uint64_t limit);

/* A random access: of any opcode, or of the given one. Always one that hardware accepts; kernel and file are NULL. */
void generate_access(struct generator *g, struct wm_access *out);
void generate_access_of(struct generator *g, const struct wm_opcode *opcode, struct wm_access *out);

/* Writes an access as a line of a text trace. */
void generate_print(FILE *out, const struct wm_access *access);

#endif
