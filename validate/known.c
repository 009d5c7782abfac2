/* The list of known disagreements with hardware: one that is not listed fails, and so does one that is listed and gone. */
#include "config.h"

#include "validate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_NAME "known-mismatches.csv"

/* Folders above the measurement's own in which the list is looked for. */
#define FOLDERS_ABOVE 3

/* Whether a measurement's path without .csv ends in name, by whole components. */
static int is_about(const char *name, const char *path)
{
    size_t length = strlen(path);
    size_t name_length = strlen(name);

    if (length > 4 && strcmp(path + length - 4, ".csv") == 0)
        length -= 4;
    if (name_length == 0)
        return 1;
    if (name_length > length || strncmp(path + length - name_length, name, name_length) != 0)
        return 0;
    return name_length == length || path[length - name_length - 1] == '/';
}

/* The nearest list above a measurement; NULL: there is none, or no memory for it. */
static char *find_list(const char *measurement)
{
    const char *slash = strrchr(measurement, '/');
    size_t folder = slash ? (size_t)(slash - measurement) + 1 : 0;
    size_t size = folder + FOLDERS_ABOVE * 3 + sizeof LIST_NAME;
    char *path = malloc(size);

    if (!path)
        return NULL;
    for (int above = 0; above <= FOLDERS_ABOVE; above++) {
        size_t length = folder;

        memcpy(path, measurement, folder);
        for (int i = 0; i < above; i++, length += 3)
            memcpy(path + length, "../", 3);
        memcpy(path + length, LIST_NAME, sizeof LIST_NAME);
        if (access(path, F_OK) == 0)
            return path;
    }
    free(path);
    return NULL;
}

struct columns {
    int arch, opcode, counter, reason, measurement, index;
};

static enum wm_status find_columns(const struct csv_source *source, struct columns *out, struct wm_diag *diag)
{
    *out = (struct columns){
        .arch = csv_column_find(source, "arch"),
        .opcode = csv_column_find(source, "opcode"),
        .counter = csv_column_find(source, "counter"),
        .reason = csv_column_find(source, "reason"),
        .measurement = csv_column_find(source, "measurement"),
        .index = csv_column_find(source, "index"),
    };
    if (out->arch < 0 || out->opcode < 0 || out->counter < 0 || out->reason < 0)
        return csv_refuse(source, 0, WM_E_SYNTAX, diag,
                          "expected the columns arch, opcode, counter, reason (and measurement, index)");
    return WM_OK;
}

static const char *field(const struct csv_source *source, int column)
{
    return column < 0 ? "" : csv_field_at(source, (size_t)column);
}

static enum wm_status add_entry(struct known_list *list, const struct csv_source *source, const struct columns *columns,
                                struct wm_diag *diag)
{
    struct known *entries = realloc(list->entries, (list->count + 1) * sizeof *entries);
    struct known *entry;

    if (!entries)
        goto no_memory;
    list->entries = entries;
    entry = &entries[list->count++];
    memset(entry, 0, sizeof *entry);
    entry->opcode = strdup(field(source, columns->opcode));
    entry->counter = strdup(field(source, columns->counter));
    entry->index = strdup(field(source, columns->index));
    entry->reason = strdup(field(source, columns->reason));
    entry->line = csv_line(source);
    if (!entry->opcode || !entry->counter || !entry->index || !entry->reason)
        goto no_memory;
    if (!*entry->reason)
        return csv_refuse(source, (size_t)columns->reason, WM_E_SYNTAX, diag, "expected a reason");
    return WM_OK;
no_memory:
    return validate_refuse(diag, WM_E_MEMORY, list->path, 0, 0, "%s", wm_status_text(WM_E_MEMORY));
}

static enum wm_status read_list(struct known_list *list, const char *arch, const char *measurement,
                                struct wm_diag *diag)
{
    struct csv_source *source = NULL;
    struct columns columns;
    char *whole = realpath(measurement, NULL); /* entries name folders that the command line may have left out */
    enum wm_status status;

    if (!whole)
        return validate_refuse(diag, WM_E_IO, measurement, 0, 0, "%s", strerror(errno));
    status = csv_open(list->path, &source, diag);
    if (status) {
        free(whole);
        return status;
    }
    status = find_columns(source, &columns, diag);
    while (!status && (status = csv_next(source, diag)) == WM_OK) {
        if (strcmp(field(source, columns.arch), arch) == 0 && is_about(field(source, columns.measurement), whole))
            status = add_entry(list, source, &columns, diag);
    }
    csv_close(source);
    free(whole);
    return status == WM_END ? WM_OK : status;
}

enum wm_status known_open(const char *path, const char *arch, const char *measurement, struct known_list *out,
                          struct wm_diag *diag)
{
    enum wm_status status;

    memset(out, 0, sizeof *out);
    out->path = path ? strdup(path) : find_list(measurement);
    if (!out->path)
        return path ? validate_refuse(diag, WM_E_MEMORY, path, 0, 0, "%s", wm_status_text(WM_E_MEMORY)) : WM_OK;
    status = read_list(out, arch, measurement, diag);
    if (status)
        known_free(out);
    return status;
}

void known_free(struct known_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->entries[i].opcode);
        free(list->entries[i].counter);
        free(list->entries[i].index);
        free(list->entries[i].reason);
    }
    free(list->entries);
    free(list->path);
    memset(list, 0, sizeof *list);
}

static int concerns(const struct known *entry, const char *opcode, const char *counter, const char *index)
{
    return strcmp(entry->counter, counter) == 0 && strcmp(entry->opcode, opcode) == 0 &&
           (!*entry->index || strcmp(entry->index, index) == 0);
}

struct known *known_find(struct known_list *list, const char *opcode, const char *counter, const char *index)
{
    struct known *found = NULL;

    for (size_t i = 0; list && i < list->count; i++) {
        struct known *entry = &list->entries[i];

        if (concerns(entry, opcode, counter, index) && (!found || !*found->index))
            found = entry;
    }
    return found;
}

int known_note(struct known_list *list, const char *opcode, const char *counter, const char *index, int agrees)
{
    int is_listed = 0;

    for (size_t i = 0; list && i < list->count; i++) {
        struct known *entry = &list->entries[i];

        if (!concerns(entry, opcode, counter, index))
            continue;
        entry->compared++;
        entry->disagreeing += !agrees;
        is_listed = 1;
    }
    return is_listed;
}

const char *known_failure(const struct known *entry)
{
    if (!entry->compared)
        return "the measurement has no such value: a typing mistake?";
    if (!entry->disagreeing)
        return "listed as a disagreement, but model and hardware agree: take it off the list";
    return NULL;
}
