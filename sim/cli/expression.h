/* Accesses as expressions of CUDA C on the command line: the options that explain and fix share, beside those of launch.h. */
#ifndef EXPRESSION_H
#define EXPRESSION_H

#include "launch.h"
#include "warpmem.h"

#include <getopt.h>

struct expression_options {
    struct wm_expression *expressions;
    size_t n_expressions;
    const char **declarations;
    size_t n_declarations;
    const char **lets;
    size_t n_lets;
    const char *first; /* of the options that were given; NULL: none */
};

enum {
    OPTION_DECL = OPTION_LAUNCH_END,
    OPTION_LET,
    OPTION_LOAD,
    OPTION_STORE,
    OPTION_EXPRESSION_END
};

/* Rows of getopt_long()'s table. --block, --smem and --arg are launch.h's. */
#define EXPRESSION_OPTIONS \
    {"decl", required_argument, NULL, OPTION_DECL}, {"let", required_argument, NULL, OPTION_LET}, \
    {"load", required_argument, NULL, OPTION_LOAD}, {"store", required_argument, NULL, OPTION_STORE}

#define EXPRESSION_HELP \
    "To look at an expression of CUDA C, such as 'tile[threadIdx.x][threadIdx.y]', in a block of --block threads:\n" \
    "  --decl DECLARATION  what it uses: '__shared__ float tile[32][33]', 'const float *a', 'struct ...', '#define ...'\n" \
    "  --let NAME=VALUE    a constant; NAME=FROM:TO[:STEP]: each value from FROM up to, but not with, TO\n" \
    "  --load EXPRESSION   what is loaded; calls are made as they stand: atomicAdd(&a[i], 1),\n" \
    "                      __pipeline_memcpy_async(&tile[i], &a[i], 16), ldmatrix_x4(&tile[row][column])\n" \
    "  --store EXPRESSION  where something is stored\n" \
    "  What is read out of global memory on the way, such as idx of a[idx[i]], is zero unless --arg gives it contents:\n" \
    "  --arg idx=int[32]:iota\n"

/* Takes an option of those above, or of a launch. -1: go on; else the exit status, and what is wrong has been said. */
int input_option(const char *command, int option, char *text, struct expression_options *expression,
                 struct launch_options *launch);

/* Takes an operand that is an expression: a load, or what it does itself. 0: out of memory, which has been said. */
int expression_operand(const char *text, struct expression_options *out);

/* Of the options of a launch that were given, one that does nothing for an expression; NULL: there is none. */
const char *expression_has_no(const struct launch_options *launch);

/* Opens a reader of the accesses, or with declarations alone of their arrays; launch (may be NULL) gives the block and what
 * --arg and --smem said. All texts must outlive the call. */
enum wm_status expression_open(const struct expression_options *options, const struct wm_launch *launch, enum wm_l1 l1,
                               wm_reader **out, struct wm_diag *diag);

void expression_free(struct expression_options *options);

#endif
