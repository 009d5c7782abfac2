/*
 * Accel-Sim's kernelslist.g: the kernels of a traced program, in the order of their launches.
 *
 *     MemcpyHtoD,0xADDR,BYTES
 *     kernel-1.traceg.xz
 *
 * A line is a memory copy, which is counted as skipped, or the name of a kernel's trace in the folder of the list. A trace
 * may have been compressed, or decompressed, since the list was written.
 */
#include "trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Longest line, with its newline. */
#define LINE_BYTES 4096

/* Longest path of a file. */
#define PATH_BYTES 8192

struct wmi_list {
    struct wmi_stream *stream;
    char *name;
    char *head; /* what was read already */
    size_t head_at;
    size_t head_end;
    int openable;
    size_t folder; /* bytes of name up to its last slash, with it */
    uint64_t line;
    char text[LINE_BYTES];
    size_t text_at;
    size_t text_end;
    char path[PATH_BYTES];
};

enum wm_status wmi_list_new(struct wmi_stream *stream, const char *path, const char *text, size_t length,
                            struct wmi_list **out, struct wm_diag *diag)
{
    struct wmi_list *list = calloc(1, sizeof *list);
    const char *slash = path ? strrchr(path, '/') : NULL;

    if (list) {
        list->name = strdup(path ? path : "memory");
        list->head = malloc(length + 1);
    }
    if (!list || !list->name || !list->head) {
        if (list) {
            free(list->name);
            free(list->head);
        }
        free(list);
        return wmi_diag_set(diag, WM_E_MEMORY, path ? path : "memory", 0, 0, "out of memory");
    }
    memcpy(list->head, text, length);
    list->head_end = length;
    list->stream = stream;
    list->openable = path != NULL;
    list->folder = slash ? (size_t)(slash - path) + 1 : 0;
    *out = list;
    return WM_OK;
}

/* More of the list's text behind text_end; *got = 0: its end. */
static enum wm_status read_on(struct wmi_list *list, size_t *got, struct wm_diag *diag)
{
    const size_t space = LINE_BYTES - list->text_end;
    const size_t waiting = list->head_end - list->head_at;

    if (waiting == 0)
        return wmi_stream_read(list->stream, list->text + list->text_end, space, got, diag);
    *got = waiting < space ? waiting : space;
    memcpy(list->text + list->text_end, list->head + list->head_at, *got);
    list->head_at += *got;
    return WM_OK;
}

/* The next line, ended by NUL in place of its newline. WM_END: there is none. */
static enum wm_status next_line(struct wmi_list *list, char **line, struct wm_diag *diag)
{
    for (;;) {
        char *begin = list->text + list->text_at;
        const size_t length = list->text_end - list->text_at;
        char *newline = memchr(begin, '\n', length);
        size_t got;
        enum wm_status status;

        if (newline) {
            *newline = '\0';
            *line = begin;
            list->text_at = (size_t)(newline - list->text) + 1;
            list->line++;
            return memchr(begin, '\0', (size_t)(newline - begin))
                       ? wmi_diag_set(diag, WM_E_SYNTAX, list->name, list->line, 0, "a NUL byte")
                       : WM_OK;
        }
        memmove(list->text, begin, length);
        list->text_at = 0;
        list->text_end = length;
        if (length == LINE_BYTES)
            return wmi_diag_set(diag, WM_E_SYNTAX, list->name, list->line + 1, 0,
                                "a line of more than %d bytes in a list of kernel files", LINE_BYTES);
        status = read_on(list, &got, diag);
        if (status != WM_OK) {
            if (diag)
                diag->line = list->line + 1;
            return status;
        }
        if (got == 0 && length == 0)
            return WM_END;
        if (got == 0)
            list->text[list->text_end++] = '\n';
        else
            list->text_end += got;
    }
}

/* Cuts off the blanks around a line. */
static char *trim(char *line)
{
    char *end = line + strlen(line);

    while (*line == ' ' || *line == '\t')
        line++;
    while (end > line && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        *--end = '\0';
    return line;
}

/* Opens the path in list->path, of length bytes, or one that differs in how it is compressed. */
static enum wm_status open_element(struct wmi_list *list, size_t length, struct wmi_stream **out, struct wm_diag *diag)
{
    static const char *const endings[] = {".xz", ".gz", ".zst"};
    const enum wm_status status = wmi_stream_open(list->path, out, diag);
    struct wm_diag ignored;

    if (status != WM_E_IO || access(list->path, F_OK) == 0)
        return status;
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        strcpy(list->path + length, endings[i]);
        if (wmi_stream_open(list->path, out, &ignored) == WM_OK)
            return WM_OK;
    }
    list->path[length] = '\0';
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        const size_t size = strlen(endings[i]);

        if (length <= size || strcmp(list->path + length - size, endings[i]) != 0)
            continue;
        list->path[length - size] = '\0';
        if (wmi_stream_open(list->path, out, &ignored) == WM_OK)
            return WM_OK;
        list->path[length - size] = '.';
    }
    return status;
}

enum wm_status wmi_list_next(struct wmi_list *list, struct wmi_stream **out, const char **path,
                             struct wm_reader_notes *notes, struct wm_diag *diag)
{
    struct wm_diag reason;
    enum wm_status status;
    size_t folder;
    size_t length;
    char *line = NULL;

    do {
        status = next_line(list, &line, diag);
        if (status != WM_OK)
            return status;
        line = trim(line);
        notes->lines_skipped += strncmp(line, "Memcpy", 6) == 0;
    } while (*line == '\0' || strncmp(line, "Memcpy", 6) == 0);
    folder = *line == '/' ? 0 : list->folder;
    length = folder + strlen(line);
    if (strchr(line, ' ') || length + sizeof ".zst" > PATH_BYTES)
        return wmi_diag_set(diag, WM_E_SYNTAX, list->name, list->line, 0,
                            "expected the name of a kernel's trace or a memory copy, found '%.80s'", line);
    if (!list->openable)
        return wmi_diag_set(diag, WM_E_UNSUPPORTED, list->name, list->line, 0,
                            "a list of files that is no file itself");
    memcpy(list->path, list->name, folder);
    strcpy(list->path + folder, line);
    /* A file of that name, not standard input. */
    if (strcmp(list->path, "-") == 0) {
        strcpy(list->path, "./-");
        length = strlen(list->path);
    }
    status = open_element(list, length, out, &reason);
    if (status != WM_OK)
        return wmi_diag_set(diag, status, list->name, list->line, 0, "%.*s: %.*s", 200, line, 300, reason.text);
    *path = list->path;
    return WM_OK;
}

void wmi_list_progress(const struct wmi_list *list, uint64_t *consumed, uint64_t *total)
{
    wmi_stream_progress(list->stream, consumed, total);
}

void wmi_list_free(struct wmi_list *list)
{
    if (!list)
        return;
    wmi_stream_close(list->stream);
    free(list->name);
    free(list->head);
    free(list);
}

static int ends_in(const char *text, size_t length, const char *ending)
{
    const size_t size = strlen(ending);

    return length >= size && memcmp(text + length - size, ending, size) == 0;
}

/* The first line that is not blank is a memory copy, or one word that ends as the name of a kernel's trace. */
static int list_probe(const char *text, size_t length)
{
    static const char *const endings[] = {".traceg", ".traceg.xz", ".traceg.gz", ".traceg.zst",
                                          ".trace",  ".trace.xz",  ".trace.gz",  ".trace.zst"};
    size_t i = 0;
    size_t end;

    while (i < length && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t'))
        i++;
    for (end = i; end < length && (unsigned char)text[end] > ' '; end++)
        ;
    if (end - i > 10 && memcmp(text + i, "Memcpy", 6) == 0 && memchr(text + i, ',', end - i))
        return 2;
    while (end < length && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r'))
        end++;
    if (end < length && text[end] != '\n')
        return 0;
    while (end > i && (unsigned char)text[end - 1] <= ' ')
        end--;
    for (size_t k = 0; k < sizeof endings / sizeof endings[0]; k++) {
        if (ends_in(text + i, end - i, endings[k]))
            return 2;
    }
    return end - i > 7 && memcmp(text + i, "kernel-", 7) == 0;
}

const struct wmi_format wmi_list_format = {
    .id = WM_FORMAT_ACCELSIM,
    .name = "accelsim",
    .elements = &wmi_accelsim_format,
    .probe = list_probe,
};
