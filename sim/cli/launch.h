/* How a kernel's source is launched: the options that sim, convert, explain and fix share. */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "warpmem.h"

#include <getopt.h>

struct output;
struct file_uses;

struct dump {
    const char *name;
    const char *path;
    struct output *output; /* written, but not committed; NULL: not yet */
};

struct launch_options {
    struct wm_launch launch;
    struct wm_launch_argument *arguments;
    const char **macros;
    struct dump *dumps;
    size_t dump_count;
    int is_given;      /* grid or block */
    int needs_kernel;  /* any but --smem and -D, which declarations understand */
    const char *first; /* of the options that were given; NULL: none */
};

enum {
    OPTION_GRID = 1024,
    OPTION_BLOCK,
    OPTION_ARG,
    OPTION_SMEM,
    OPTION_BLOCKS,
    OPTION_SAMPLE,
    OPTION_MAX_STEPS,
    OPTION_DUMP,
    OPTION_DEFINE,
    OPTION_LAUNCH_END
};

/* Rows of getopt_long()'s table. */
#define LAUNCH_OPTIONS \
    {"grid", required_argument, NULL, OPTION_GRID}, {"block", required_argument, NULL, OPTION_BLOCK}, \
    {"arg", required_argument, NULL, OPTION_ARG}, {"smem", required_argument, NULL, OPTION_SMEM}, \
    {"blocks", required_argument, NULL, OPTION_BLOCKS}, {"sample", required_argument, NULL, OPTION_SAMPLE}, \
    {"max-steps", required_argument, NULL, OPTION_MAX_STEPS}, {"dump", required_argument, NULL, OPTION_DUMP}, \
    {"define", required_argument, NULL, OPTION_DEFINE}

/* The same of its letters. */
#define LAUNCH_LETTERS "D:"

#define LAUNCH_HELP \
    "To run a kernel from its source (FILE.cu):\n" \
    "  --grid X[,Y[,Z]]   blocks\n" \
    "  --block X[,Y[,Z]]  threads per block\n" \
    "  --arg NAME=VALUE   a parameter's value; a pointer's TYPE[COUNT], zero, iota, random:SEED[:LIMIT] or @FILE;\n" \
    "                     or size and contents, TYPE[COUNT]:iota. Without a size a buffer grows as it is touched;\n" \
    "                     a vector or struct: 'c={1,2,3,4}', in quotes\n" \
    "  -D, --define NAME[=TEXT]  define a macro before the source is read, as nvcc's -D does: TILE=32, DEBUG (which is 1),\n" \
    "                     'MAX(a,b)=((a)>(b)?(a):(b))'; a #define in the source that differs takes its place\n" \
    "  --smem BYTES       dynamic shared memory, for extern __shared__ arrays\n" \
    "  --blocks A-B       run these blocks of the grid only, by linear number\n" \
    "  --sample N         run N blocks only, evenly spaced\n" \
    "  --max-steps N      give up when a warp of a block has run N steps (default: 100000000)\n" \
    "  --dump NAME=FILE   write what is in a pointer's buffer behind the run, as raw bytes\n"

/* The kernel sees that GPU, as __CUDA_ARCH__. */
void launch_on(struct launch_options *options, const wm_arch *arch);

/* Whether what getopt_long() returned is an option of those above. */
int is_launch_option(int option);

/* Takes it. 0: its value is wrong, and usage_error() has been called. */
int launch_option(const char *command, int option, char *text, struct launch_options *out);

/* Where an option was given, and an input is no kernel's source: says in *diag what is wrong. Returns 0 if nothing is. */
int launch_refuses(const struct launch_options *options, const wm_reader *reader, const char *path, struct wm_diag *diag);

/* The files that options name. */
void launch_files(const struct launch_options *options, struct file_uses *uses);

/* The same with the files that are read and the output of a command that has no others (NULL: not given), all checked at
 * once. -1: go on; else the exit status. */
int launch_check_files(const char *command, const struct launch_options *options, const char *const *files, size_t count,
                       const char *arch_file, const char *output);

/* Room for one more in a list of count; NULL: out of memory, which has been said. */
void *one_more(void *list, size_t count, size_t size);

/* Where the input is a kernel that has run: says its remarks, writes the dumps. Returns 0 for success. */
int launch_finish(const struct launch_options *options, wm_reader *reader);

/* The dumps are committed with an output. */
void launch_tie(const struct launch_options *options, struct output *output);

void launch_free(struct launch_options *options);

#endif
