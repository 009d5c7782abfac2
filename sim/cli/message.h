/* What the program says on standard error. Each call is one line. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include "warpmem.h"

/* "warpmem: ..." */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "file:line:column: text" */
void complain_about(const struct wm_diag *diag);

/* "warpmem: warning: ..." or, with a file, "file: warning: ..." */
void warn(const char *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A line that says itself which place it is about, as "warning: ..." or "note: ..." */
void remark(int is_warning, const char *text);

/* From now on every warning and remark is added to lines too, as a line of its own; NULL: no longer. */
struct buffer;
void record_remarks(struct buffer *lines);

/* A wrong command line: "warpmem COMMAND: ..." and where to find help. command may be "". Returns EXIT_USAGE. */
int usage_error(const char *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
