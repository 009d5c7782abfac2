/* A measurement as files. */
#include "config.h"

#include "record.h"
#include "validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct row {
    uint64_t index;
    struct wm_access access;
    uint64_t values[WM_COUNTERS];
    double one_warp, full_block;
};

struct record {
    uint32_t columns;
    uint64_t buffer;
    int has_cycles;
    struct row *rows;
    size_t count, size;
};

enum { TRACE, TABLE, META, FILES };

static const char *const endings[FILES] = {".wmt", ".csv", ".meta"};

enum wm_status record_new(uint32_t columns, uint64_t buffer, struct record **out)
{
    struct record *record = calloc(1, sizeof *record);

    if (!record)
        return WM_E_MEMORY;
    record->columns = columns;
    record->buffer = buffer;
    *out = record;
    return WM_OK;
}

size_t record_count(const struct record *record)
{
    return record->count;
}

void record_free(struct record *record)
{
    if (!record)
        return;
    free(record->rows);
    free(record);
}

enum wm_status record_add(struct record *record, uint64_t index, const struct wm_access *access,
                          const uint64_t values[WM_COUNTERS])
{
    const unsigned space = access->opcode.space;
    struct row *row;

    if (record->count == RECORD_MOST)
        return WM_E_RANGE;
    if (record->count == record->size) {
        const size_t size = record->size ? record->size * 2 : 1024;
        struct row *rows = realloc(record->rows, size * sizeof *rows);

        if (!rows)
            return WM_E_MEMORY;
        record->rows = rows;
        record->size = size;
    }
    row = &record->rows[record->count++];
    memset(row, 0, sizeof *row);
    row->index = index;
    row->access = *access;
    row->access.kernel = NULL;
    row->access.file = NULL;
    row->access.count = 1;
    row->access.pc = WM_NO_PC;
    row->access.line = 0;
    memset(row->access.block, 0, sizeof row->access.block);
    row->access.warp = 0;
    memcpy(row->values, values, sizeof row->values);
    if (space == WM_GLOBAL || space == WM_GENERIC) {
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            row->access.address[lane] -= record->buffer;
    }
    return WM_OK;
}

void record_cycles(struct record *record, double one_warp, double full_block)
{
    record->has_cycles = 1;
    record->rows[record->count - 1].one_warp = one_warp;
    record->rows[record->count - 1].full_block = full_block;
}

static int by_index(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

static int write_text(void *context, const char *text, size_t length)
{
    return fwrite(text, 1, length, context) == length ? 0 : errno ? errno : EIO;
}

static enum wm_status write_trace(const struct record *record, FILE *file)
{
    static const struct wm_kernel none = {.name = ""};
    wm_writer *writer = NULL;
    enum wm_status status = wm_writer_new(write_text, file, &writer);

    for (size_t i = 0; !status && i < record->count; i++) {
        struct wm_access access = record->rows[i].access;

        access.kernel = &none;
        status = wm_writer_add(writer, &access);
    }
    if (!status)
        status = wm_writer_flush(writer);
    wm_writer_free(writer);
    return status;
}

static enum wm_status write_table(const struct record *record, FILE *file)
{
    fputs("index", file);
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (record->columns >> c & 1)
            fprintf(file, ",%s", wm_counter_name((enum wm_counter)c));
    }
    fputs(record->has_cycles ? ",cycles_1_warp,cycles_32_warps\n" : "\n", file);
    for (size_t i = 0; i < record->count; i++) {
        const struct row *row = &record->rows[i];

        fprintf(file, "%zu", i);
        for (int c = 0; c < WM_COUNTERS; c++) {
            if (record->columns >> c & 1)
                fprintf(file, ",%llu", (unsigned long long)row->values[c]);
        }
        if (record->has_cycles)
            fprintf(file, ",%.3f,%.3f", row->one_warp, row->full_block);
        putc('\n', file);
    }
    return ferror(file) ? WM_E_IO : WM_OK;
}

static enum wm_status write_meta(const char *name, const char *trace, const struct record_meta *meta, FILE *file)
{
    const char *slash = strrchr(name, '/');
    char text[SHA256_TEXT_SIZE];
    struct wm_diag diag;

    for (; meta->key; meta++) {
        if (meta->value)
            fprintf(file, "%s = %s\n", meta->key, meta->value);
    }
    fprintf(file, "trace = %s%s\n", slash ? slash + 1 : name, endings[TRACE]);
    if (sha256_file(trace, text, &diag) == WM_OK)
        fprintf(file, "trace_sha256 = %s\n", text);
    return ferror(file) ? WM_E_IO : WM_OK;
}

static enum wm_status write_one(const struct record *record, const char *name, int which, char *const paths[FILES],
                                const struct record_meta *meta, struct wm_diag *diag)
{
    FILE *file = fopen(paths[which], "w");
    enum wm_status status = WM_OK;

    if (!file)
        return validate_refuse(diag, WM_E_IO, paths[which], 0, 0, "%s", strerror(errno));
    switch (which) {
    case TRACE: status = write_trace(record, file); break;
    case TABLE: status = write_table(record, file); break;
    default: status = write_meta(name, paths[TRACE], meta, file); break;
    }
    if (fclose(file) != 0 && !status)
        status = WM_E_IO;
    if (status)
        validate_refuse(diag, status, paths[which], 0, 0, "%s", errno ? strerror(errno) : wm_status_text(status));
    return status;
}

enum wm_status record_write(struct record *record, const char *name, const struct record_meta *meta,
                            struct wm_diag *diag)
{
    char *paths[FILES] = {NULL}, *places[FILES] = {NULL};
    enum wm_status status = WM_OK;
    int written = 0;

    qsort(record->rows, record->count, sizeof *record->rows, by_index);
    for (int i = 0; i < FILES; i++) {
        const size_t size = strlen(name) + 16;

        paths[i] = malloc(size);
        places[i] = malloc(size);
        if (!paths[i] || !places[i]) {
            status = validate_refuse(diag, WM_E_MEMORY, name, 0, 0, "%s", wm_status_text(WM_E_MEMORY));
            goto done;
        }
        snprintf(places[i], size, "%s%s", name, endings[i]);
        snprintf(paths[i], size, "%s%s.new", name, endings[i]);
    }
    for (; !status && written < FILES; written++)
        status = write_one(record, name, written, paths, meta, diag);
    for (int i = 0; !status && i < FILES; i++) {
        if (rename(paths[i], places[i]) != 0)
            status = validate_refuse(diag, WM_E_IO, places[i], 0, 0, "%s", strerror(errno));
    }
done:
    for (int i = 0; i < FILES; i++) {
        if (status && i < written)
            unlink(paths[i]);
        free(paths[i]);
        free(places[i]);
    }
    return status;
}
