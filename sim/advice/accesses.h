/* The accesses that a command looks for changes in, held in memory by kernel, and by instruction. */
#ifndef ACCESSES_H
#define ACCESSES_H

#include "warpmem.h"

/* What is kept at most: accesses of one instruction, and of all; but of each instruction one. One takes about half a
 * kilobyte. */
#define ACCESSES_OF_SITE 16384
#define ACCESSES_OF_ALL 131072

/* One instruction, known by source line, pc and opcode. */
struct access_site {
    const char *file; /* or NULL */
    uint32_t line;
    uint64_t pc;
    struct wm_opcode opcode;
    /* Of shared memory: distinct ones (mask, addresses); count is the sum over those that are equal, block and warp are
     * the first's. Of other memory and of copies: each, in the order of execution. kernel and file live as long as the
     * collection. */
    struct wm_access *accesses;
    size_t n;      /* at least 1 */
    size_t size;
    uint64_t executed; /* sum of counts, of what was left out too */
    uint64_t left_out; /* executions that are not among `accesses', for the limits above */
};

/* Launches of the same name and block size are one. */
struct access_kernel {
    struct wm_kernel kernel;    /* of the first launch */
    struct access_site **sites; /* in the order of first execution */
    size_t n_sites;
    size_t size;
};

struct accesses {
    struct access_kernel **kernels; /* in the order of first execution */
    size_t n_kernels;
    uint64_t kept;     /* accesses */
    uint64_t left_out; /* executions */
    struct accesses_index *index;
};

/* is_one_kernel: names and block sizes of kernels make no difference; of a name, what stands before '(' is kept.
 * WM_E_MEMORY */
enum wm_status accesses_new(int is_one_kernel, struct accesses **out);

/* A copy of *access. WM_E_MEMORY; WM_E_RANGE: an instruction's sum of counts above 2^63 - 1, or
 * more than 131,072 instructions. */
enum wm_status accesses_add(struct accesses *accesses, const struct wm_access *access);

void accesses_free(struct accesses *accesses);

/* Whether two accesses ask for the same: opcode, mask and addresses of active lanes. */
int access_equals(const struct wm_access *a, const struct wm_access *b);

/* Makes room for one more in a list: list points to the pointer to its n elements, *size is what it has room for. 0: out of
 * memory. */
int list_grow(void *list, size_t n, size_t *size, size_t element_bytes);

#endif
