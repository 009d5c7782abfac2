/* A kernel's source as a trace reader finds it. */
#include <stdlib.h>
#include <string.h>

#include "kernel.h"
#include "trace/trace.h"

/* Longest source. */
#define SOURCE_BYTES (32u << 20)

int wmi_run_probe(const char *text, size_t length)
{
    static const char word[] = "__global__";
    const size_t n = sizeof word - 1;

    for (const char *at = text; length - (size_t)(at - text) >= n; at++) {
        at = memchr(at, '_', length - (size_t)(at - text) - n + 1);
        if (!at)
            return 0;
        if (memcmp(at, word, n) == 0)
            return 1;
    }
    return 0;
}

/* All of the stream behind what was read. */
static enum wm_status read_rest(struct wmi_stream *stream, const char *path, const char *text, size_t length, char **out,
                                size_t *out_length, struct wm_diag *diag)
{
    size_t room = length + WMI_CHUNK_BYTES;
    char *all = malloc(room);
    enum wm_status status;
    size_t got;

    if (!all)
        return wmi_diag_set(diag, WM_E_MEMORY, path, 0, 0, "out of memory");
    memcpy(all, text, length);
    for (;;) {
        status = wmi_stream_read(stream, all + length, room - length, &got, diag);
        if (status != WM_OK || got == 0)
            break;
        length += got;
        if (length == room) {
            char *more = room < SOURCE_BYTES ? realloc(all, 2 * room) : NULL;

            if (!more) {
                status = wmi_diag_set(diag, WM_E_RANGE, path, 0, 0, "a kernel's source of more than %u MiB", SOURCE_BYTES >> 20);
                break;
            }
            all = more;
            room *= 2;
        }
    }
    if (status != WM_OK) {
        free(all);
        return status;
    }
    *out = all;
    *out_length = length;
    return WM_OK;
}

enum wm_status wmi_run_open(struct wmi_stream *stream, const char *path, const char *text, size_t length,
                            const struct wm_launch *launch, struct wmi_run **out, struct wm_diag *diag)
{
    enum wm_status status;
    char *all = NULL;

    if (!launch)
        return wmi_diag_set(diag, WM_E_ARGUMENT, path, 0, 0, "the source of a CUDA kernel needs a launch: --grid and --block");
    status = read_rest(stream, path, text, length, &all, &length, diag);
    if (status != WM_OK)
        return status;
    status = wmi_run_new(path, all, length, launch, out, diag);
    free(all);
    return status;
}
