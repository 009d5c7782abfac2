/*
 * A CUDA C kernel, run on the CPU, as a source of accesses. Internal to the library.
 *
 * The kernel's source and a launch go in; one struct wm_access for each executed warp instruction that touches memory
 * comes out, in the order in which the warps of a block run: block after block, each warp from one barrier to the next.
 */
#ifndef WM_KERNEL_H
#define WM_KERNEL_H

#include "warpmem.h"

#define WMI_MAX_STEPS UINT64_C(100000000)
#define WMI_MEMORY_BYTES (UINT64_C(4) << 30)

struct wmi_run;

/* Compiles text[0 .. length-1] and prepares the launch. path is the name for messages and where #include "" looks.
 * WM_E_SYNTAX, WM_E_UNSUPPORTED, WM_E_RANGE, WM_E_NAME (no such kernel, parameter), WM_E_ARGUMENT (an argument's value),
 * WM_E_IO, WM_E_MEMORY. The launch's strings are not used any more afterwards. */
enum wm_status wmi_run_new(const char *path, const char *text, size_t length, const struct wm_launch *launch,
                           struct wmi_run **out, struct wm_diag *diag);

/* The same from expressions, as wm_reader_open_expressions(). */
enum wm_status wmi_run_new_expressions(const struct wm_expressions *input, const struct wm_launch *launch,
                                       struct wmi_run **out, struct wm_diag *diag);

/* The next access; its strings live as long as the run. WM_END: the launch is done. WM_E_ADDRESS, WM_E_MISALIGNED: the
 * kernel accesses what it must not; WM_E_RANGE: more than max_steps, a division by zero; WM_E_SYNTAX: a barrier that only
 * part of a block reaches. */
enum wm_status wmi_run_next(struct wmi_run *run, struct wm_access *out, struct wm_diag *diag);

/* The same, up to room at once. *n is 0 only with a status other than WM_OK. */
enum wm_status wmi_run_many(struct wmi_run *run, struct wm_access *out, size_t room, size_t *n, struct wm_diag *diag);

/* A remark or warning about the run so far, without a newline; NULL: no more. Lives until the run goes on or ends. */
const char *wmi_run_remark_at(struct wmi_run *run, size_t index, int *is_warning);

/* Blocks done, to be run, and in the grid. */
void wmi_run_progress(const struct wmi_run *run, uint64_t *done, uint64_t *selected, uint64_t *all);

/* As wm_reader_array_at(). */
const struct wm_array *wmi_run_array_at(const struct wmi_run *run, size_t index);

/* What loads are taken to meet in L1, for the accesses to come. */
void wmi_run_set_l1(struct wmi_run *run, enum wm_l1 l1);

const struct wm_kernel *wmi_run_kernel(const struct wmi_run *run);

/* The contents of the buffer of a pointer parameter or __device__ variable. write returns 0, or a system error number.
 * WM_E_NAME: there is none of that name; WM_E_IO. */
enum wm_status wmi_run_dump(struct wmi_run *run, const char *name, wm_write_function write, void *context,
                            struct wm_diag *diag);

void wmi_run_free(struct wmi_run *run);

/* source.c: wmi_run_new() on what is left of a stream behind text[0 .. length-1], which was read from it already. */
struct wmi_stream;
enum wm_status wmi_run_open(struct wmi_stream *stream, const char *path, const char *text, size_t length,
                            const struct wm_launch *launch, struct wmi_run **out, struct wm_diag *diag);

/* How sure it is that a text is a kernel's source, as struct wmi_format's probe(). */
int wmi_run_probe(const char *text, size_t length);

#endif
