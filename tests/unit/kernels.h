/* Running kernels in tests. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stddef.h>
#include <stdint.h>

#include "kernel.h"

/* What came of a run: everything until it ended. */
struct ran {
    enum wm_status status; /* WM_END: it ended well */
    struct wm_diag diag;
    struct wm_access *accesses;
    size_t count;
    char remarks[4096]; /* one a line, warnings begin with '!' */
    struct wmi_run *run;
};

/* Runs the source; options as on the command line: "--kernel NAME --grid X,Y,Z --block X,Y,Z --arg A=B --smem N --blocks A-B
 * --sample N --max-steps N -D NAME=TEXT", with blanks between words. */
struct ran *run_kernel(const char *source, const char *options);

/* A buffer's bytes, *size of them; freed with the run. */
void *buffer_of(struct ran *ran, const char *name, size_t *size);

void ran_free(struct ran *ran);

/* How many accesses have that opcode ("ld.global.b32") in that line (0: any). */
size_t count_of(const struct ran *ran, const char *opcode, unsigned line);

/* The first of them, or NULL. */
const struct wm_access *access_of(const struct ran *ran, const char *opcode, unsigned line);

#endif
