/* What the tests of the trace readers share: everything that can be read from a text, and errors with their place. */
#ifndef READING_H
#define READING_H

#include <stddef.h>
#include <stdint.h>

#include "warpmem.h"

/* An access that outlives its reader. */
struct read_access {
    struct wm_access access; /* kernel and file point into this struct's own copies */
    struct wm_kernel kernel;
    uint64_t line;   /* of the trace */
    uint64_t column; /* where the addresses begin */
};

/* A whole trace. */
struct reading {
    struct read_access *accesses;
    size_t count;
    enum wm_status status; /* WM_END, or what ended it */
    struct wm_diag diag;   /* where status is an error */
    struct wm_reader_notes notes;
};

/* Reads text[0 .. size-1] in every way there is: at once, with wm_reader_next(), and by chunks of several sizes, and asserts
 * that all give the same. The text is given to the reader in a block of exactly its size. To be freed. */
struct reading *read_trace(const char *text, size_t size, enum wm_format format);

/* The same for a file, the usual way only. */
struct reading *read_path(const char *path, enum wm_format format);

void free_reading(struct reading *reading);

/* Asserts that the text ends in that error at that place; part must be in the message. */
void assert_fails(const char *text, size_t size, enum wm_format format, enum wm_status status, uint64_t line,
                  uint64_t column, const char *part);

/* Asserts that two accesses are the same: all fields, addresses of active lanes. */
void assert_same_access(const struct wm_access *a, const struct wm_access *b);

/* Asserts that every text that is cut short after any byte ends in an error, or has the accesses of the whole text but for
 * some at the end; the last one, which may have been cut within a number, is not compared. */
void assert_truncations(const char *text, size_t size, enum wm_format format);

/* The opcode as text, in a static buffer. */
const char *opcode_text(const struct wm_opcode *opcode);

/* Path of a file of the source tree, in a static buffer. */
const char *source_path(const char *name);

#endif
