/* Where results go. Nothing reaches its destination before output_commit(): a run that fails leaves nothing behind. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stddef.h>

struct output;

/* path NULL: standard output. A regular file (or one that does not exist yet) is written beside its place and renamed;
 * what goes to standard output or a device is held back, in memory and then in an unlinked temporary file.
 * All functions print what went wrong, and return 0 for success, -1 for failure. */
int output_open(const char *path, struct output **out);
int output_write(struct output *output, const char *text, size_t length);
int output_commit(struct output *output);

/* From now on output_commit(output) commits the other one, too: streams first, then files get their names, so that a full
 * device leaves none of them. Each is still closed on its own. */
void output_tie(struct output *output, struct output *other);

/* Frees; drops what was not committed. NULL is allowed. */
void output_close(struct output *output);

/* A text to standard output, at once. */
int output_print(const char *text);

/* The files that a command is going to read and write. All zero to begin with; paths are kept. */
struct file_use {
    const char *path; /* NULL: standard input or output */
    int is_written;
};

struct file_uses {
    struct file_use *list;
    size_t count;
    int has_failed; /* out of memory */
};

/* "-": standard input; NULL: nothing. */
void file_is_read(struct file_uses *uses, const char *path);
/* NULL: standard output. */
void file_is_written(struct file_uses *uses, const char *path);

/* Whether no output overwrites an input or another output, under whatever name; frees the list. -1: go on; else the exit
 * status, and what is wrong has been said. */
int files_are_apart(const char *command, struct file_uses *uses);

#endif
