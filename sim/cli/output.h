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

/* Frees; drops what was not committed. NULL is allowed. */
void output_close(struct output *output);

/* A text to standard output, at once. */
int output_print(const char *text);

#endif
