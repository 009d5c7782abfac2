/* Recorded counters: NAME.csv with a record for each access of NAME.wmt, and NAME.meta about how they were taken. */
#include "config.h"

#include "validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------------- meta */

struct meta_entry {
    char *key;
    char *value;
    uint64_t line;
};

struct meta {
    char *path;
    struct meta_entry *entries;
    size_t count;
};

/* Cuts blanks off both ends, in place. */
static char *trim(char *text)
{
    size_t length;

    text += strspn(text, " \t");
    length = strlen(text);
    while (length && strchr(" \t\r\n", text[length - 1]))
        length--;
    text[length] = '\0';
    return text;
}

static enum wm_status add_line(struct meta *meta, char *text, uint64_t line, struct wm_diag *diag)
{
    char *equals = strchr(text, '=');
    struct meta_entry *entries;
    char *key = trim(text);

    if (*key == '\0' || *key == '#')
        return WM_OK;
    if (!equals)
        return validate_refuse(diag, WM_E_SYNTAX, meta->path, line, 1, "expected 'key = value'");
    *equals = '\0';
    entries = realloc(meta->entries, (meta->count + 1) * sizeof *entries);
    if (!entries)
        return validate_refuse(diag, WM_E_MEMORY, meta->path, 0, 0, "%s", wm_status_text(WM_E_MEMORY));
    meta->entries = entries;
    entries += meta->count;
    entries->line = line;
    entries->key = strdup(trim(key));
    entries->value = strdup(trim(equals + 1));
    meta->count++;
    if (!entries->key || !entries->value)
        return validate_refuse(diag, WM_E_MEMORY, meta->path, 0, 0, "%s", wm_status_text(WM_E_MEMORY));
    return WM_OK;
}

/* NAME.csv becomes NAME.meta; another name gets .meta behind it. */
static char *path_of_meta(const char *csv_path)
{
    size_t length = strlen(csv_path);
    char *path = malloc(length + sizeof ".meta");

    if (!path)
        return NULL;
    if (length > 4 && strcmp(csv_path + length - 4, ".csv") == 0)
        length -= 4;
    memcpy(path, csv_path, length);
    memcpy(path + length, ".meta", sizeof ".meta");
    return path;
}

enum wm_status meta_open(const char *csv_path, struct meta **out, struct wm_diag *diag)
{
    struct meta *meta = calloc(1, sizeof *meta);
    enum wm_status status = WM_OK;
    FILE *file = NULL;
    char *text = NULL;
    size_t size = 0;

    *out = NULL;
    if (meta)
        meta->path = path_of_meta(csv_path);
    if (!meta || !meta->path) {
        free(meta);
        return validate_refuse(diag, WM_E_MEMORY, csv_path, 0, 0, "%s", wm_status_text(WM_E_MEMORY));
    }
    file = fopen(meta->path, "r");
    if (!file && errno == ENOENT)
        goto done;
    if (!file) {
        status = validate_refuse(diag, WM_E_IO, meta->path, 0, 0, "%s", strerror(errno));
        goto done;
    }
    for (uint64_t line = 1; !status && getline(&text, &size, file) >= 0; line++)
        status = add_line(meta, text, line, diag);
    if (!status && ferror(file))
        status = validate_refuse(diag, WM_E_IO, meta->path, 0, 0, "%s", strerror(errno));
    if (!status) {
        *out = meta;
        meta = NULL;
    }
done:
    if (file)
        fclose(file);
    free(text);
    meta_free(meta);
    return status;
}

const char *meta_get(const struct meta *meta, const char *key)
{
    for (size_t i = 0; meta && i < meta->count; i++) {
        if (strcmp(meta->entries[i].key, key) == 0)
            return meta->entries[i].value;
    }
    return NULL;
}

/* Keys that are compared with, or that tell a reader how the measurement was taken. */
static int is_meta_key(const char *key)
{
    static const char *const names[] = {"accesses",      "addresses", "clocks", "compute_capability", "counters", "cuda",
                                        "cycles",        "date",      "device", "cycles_1_warp",      "driver",   "l1",
                                        "cycles_l1",     "method",    "trace",  "trace_sha256"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(key, names[i]) == 0)
            return 1;
    }
    return strncmp(key, "trace.", 6) == 0 || strncmp(key, "trace_sha256.", 13) == 0 || beside_is_key(key);
}

const char *meta_unknown(const struct meta *meta, size_t n, uint64_t *line)
{
    for (size_t i = 0; meta && i < meta->count; i++) {
        if (is_meta_key(meta->entries[i].key) || n--)
            continue;
        *line = meta->entries[i].line;
        return meta->entries[i].key;
    }
    return NULL;
}

const char *meta_path(const struct meta *meta)
{
    return meta->path;
}

void meta_free(struct meta *meta)
{
    if (!meta)
        return;
    for (size_t i = 0; i < meta->count; i++) {
        free(meta->entries[i].key);
        free(meta->entries[i].value);
    }
    free(meta->entries);
    free(meta->path);
    free(meta);
}

/* ------------------------------------------------------------------------------------------------------- measurement */

enum meaning { MEANS_NOTHING, MEANS_COUNTER, MEANS_CYCLES, MEANS_PLACE };

struct measurement {
    struct csv_source *source;
    enum meaning *meanings; /* by column */
    enum wm_counter *counters;
    int index;
    int opcode;
    int mask;
};

/* Columns of a result row that say where a record belongs; those that can be checked are. */
static int is_place(const char *name)
{
    static const char *const names[] = {"index", "kernel", "pc", "line", "opcode", "mask", "lanes", "width", "count"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (strcmp(name, names[i]) == 0)
            return 1;
    }
    return 0;
}

static enum meaning meaning_of(const char *name, enum wm_counter *counter)
{
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (strcmp(name, wm_counter_name((enum wm_counter)c)) == 0) {
            *counter = (enum wm_counter)c;
            return MEANS_COUNTER;
        }
    }
    if (strncmp(name, "cycles_", 7) == 0)
        return MEANS_CYCLES;
    return is_place(name) ? MEANS_PLACE : MEANS_NOTHING;
}

enum wm_status measurement_new(struct csv_source *source, struct measurement **out, struct wm_diag *diag)
{
    size_t columns = csv_columns(source);
    struct measurement *measurement = calloc(1, sizeof *measurement);
    int has_counter = 0;

    if (measurement) {
        measurement->source = source;
        measurement->meanings = calloc(columns, sizeof *measurement->meanings);
        measurement->counters = calloc(columns, sizeof *measurement->counters);
    }
    if (!measurement || !measurement->meanings || !measurement->counters) {
        if (!measurement)
            csv_close(source);
        measurement_free(measurement);
        return validate_refuse(diag, WM_E_MEMORY, "", 0, 0, "%s", wm_status_text(WM_E_MEMORY));
    }
    for (size_t i = 0; i < columns; i++) {
        measurement->meanings[i] = meaning_of(csv_column_name(source, i), &measurement->counters[i]);
        has_counter |= measurement->meanings[i] == MEANS_COUNTER || measurement->meanings[i] == MEANS_CYCLES;
    }
    measurement->index = csv_column_find(source, "index");
    measurement->opcode = csv_column_find(source, "opcode");
    measurement->mask = csv_column_find(source, "mask");
    if (!has_counter) {
        enum wm_status status =
            csv_refuse(source, 0, WM_E_SYNTAX, diag, "no column has the name of a counter (requests, sectors, ...)");

        measurement_free(measurement);
        return status;
    }
    *out = measurement;
    return WM_OK;
}

static const char *column_meaning(const struct measurement *measurement, enum meaning meaning, size_t n)
{
    for (size_t i = 0; i < csv_columns(measurement->source); i++) {
        if (measurement->meanings[i] == meaning && n-- == 0)
            return csv_column_name(measurement->source, i);
    }
    return NULL;
}

const char *measurement_unknown(const struct measurement *measurement, size_t n)
{
    return column_meaning(measurement, MEANS_NOTHING, n);
}

const char *measurement_cycles(const struct measurement *measurement, size_t n)
{
    return column_meaning(measurement, MEANS_CYCLES, n);
}

/* Whether the record is about the access, as far as it says so. */
static enum wm_status check_place(const struct measurement *measurement, uint64_t index, const struct wm_access *access,
                                  struct wm_diag *diag)
{
    const struct csv_source *source = measurement->source;
    char text[WM_OPCODE_TEXT_SIZE] = "";
    uint64_t value;
    enum wm_status status;

    if (measurement->index >= 0) {
        status = csv_number(source, (size_t)measurement->index, &value, diag);
        if (status && status != WM_END)
            return status;
        if (status == WM_END || value != index)
            return csv_refuse(source, (size_t)measurement->index, WM_E_SYNTAX, diag,
                              "expected index %llu: record k belongs to access k of the trace",
                              (unsigned long long)index);
    }
    if (measurement->opcode >= 0) {
        wm_opcode_format(&access->opcode, text);
        if (strcmp(csv_field_at(source, (size_t)measurement->opcode), text) != 0)
            return csv_refuse(source, (size_t)measurement->opcode, WM_E_SYNTAX, diag,
                              "access %llu of the trace is a %s: these files do not belong together",
                              (unsigned long long)index, text);
    }
    if (measurement->mask >= 0) {
        snprintf(text, sizeof text, "%08x", access->mask);
        if (strcmp(csv_field_at(source, (size_t)measurement->mask), text) != 0)
            return csv_refuse(source, (size_t)measurement->mask, WM_E_SYNTAX, diag,
                              "access %llu of the trace has mask %s: these files do not belong together",
                              (unsigned long long)index, text);
    }
    return WM_OK;
}

static enum wm_status next_cycles(const struct measurement *measurement, size_t column, struct measured *out,
                                  struct wm_diag *diag)
{
    const char *name = csv_column_name(measurement->source, column);
    double value = 0;
    enum wm_status status = csv_real(measurement->source, column, &value, diag);

    if (status && status != WM_END)
        return status;
    if (strcmp(name, "cycles_1_warp") == 0)
        out->one_warp = value;
    else if (strcmp(name, "cycles_32_warps") == 0)
        out->full_block = value;
    return WM_OK;
}

enum wm_status measurement_next(struct measurement *measurement, uint64_t index, const struct wm_access *access,
                                struct measured *out, struct wm_diag *diag)
{
    enum wm_status status = csv_next(measurement->source, diag);

    if (status)
        return status;
    status = check_place(measurement, index, access, diag);
    memset(out, 0, sizeof *out);
    for (size_t i = 0; !status && i < csv_columns(measurement->source); i++) {
        enum wm_counter counter = measurement->counters[i];

        if (measurement->meanings[i] == MEANS_CYCLES)
            status = next_cycles(measurement, i, out, diag);
        if (measurement->meanings[i] != MEANS_COUNTER)
            continue;
        status = csv_number(measurement->source, i, &out->values[counter], diag);
        if (!status)
            out->has |= 1u << counter;
        else if (status == WM_END) /* an empty cell was not measured */
            status = WM_OK;
    }
    return status;
}

enum wm_status measurement_end(struct measurement *measurement, uint64_t accesses, struct wm_diag *diag)
{
    enum wm_status status = csv_next(measurement->source, diag);

    if (status == WM_END)
        return WM_OK;
    return status ? status
                  : csv_refuse(measurement->source, 0, WM_E_SYNTAX, diag,
                               "a record too many: the trace has %llu accesses", (unsigned long long)accesses);
}

void measurement_free(struct measurement *measurement)
{
    if (!measurement)
        return;
    csv_close(measurement->source);
    free(measurement->meanings);
    free(measurement->counters);
    free(measurement);
}
