/* Predicted against measured, opcode by counter. */
#include "config.h"

#include "validate.h"

#include <stdlib.h>
#include <string.h>

static enum wm_status find_row(struct comparison *comparison, const struct wm_opcode *opcode, struct opcode_row **out)
{
    struct opcode_row *row;

    for (size_t i = 0; i < comparison->row_count; i++) {
        if (memcmp(&comparison->rows[i].opcode, opcode, sizeof *opcode) == 0) {
            *out = &comparison->rows[i];
            return WM_OK;
        }
    }
    if (comparison->row_count == comparison->row_size) {
        size_t size = comparison->row_size ? comparison->row_size * 2 : 32;
        struct opcode_row *rows = realloc(comparison->rows, size * sizeof *rows);

        if (!rows)
            return WM_E_MEMORY;
        comparison->rows = rows;
        comparison->row_size = size;
    }
    row = &comparison->rows[comparison->row_count++];
    memset(row, 0, sizeof *row);
    row->opcode = *opcode;
    wm_opcode_format(opcode, row->text);
    for (int c = 0; c < WM_COUNTERS; c++)
        row->cells[c].is_zero = 1;
    *out = row;
    return WM_OK;
}

/* Keeps a mismatch that is not listed, if it is among the first. */
static enum wm_status keep(struct comparison *comparison, const struct mismatch *mismatch)
{
    struct mismatch *mismatches;

    comparison->unlisted++;
    if (comparison->mismatch_count == comparison->mismatch_limit)
        return WM_OK;
    mismatches = realloc(comparison->mismatches, (comparison->mismatch_count + 1) * sizeof *mismatches);
    if (!mismatches)
        return WM_E_MEMORY;
    comparison->mismatches = mismatches;
    mismatches += comparison->mismatch_count++;
    *mismatches = *mismatch;
    mismatches->access.kernel = NULL;
    mismatches->access.file = NULL;
    return WM_OK;
}

enum wm_status comparison_add(struct comparison *comparison, uint64_t index, const struct wm_access *access,
                              const struct wm_counts *predicted, const struct measured *measured)
{
    struct opcode_row *row;
    char number[24];
    enum wm_status status = find_row(comparison, &access->opcode, &row);

    if (status)
        return status;
    snprintf(number, sizeof number, "%llu", (unsigned long long)index);
    comparison->records++;
    for (int c = 0; c < WM_COUNTERS; c++) {
        enum wm_counter counter = (enum wm_counter)c;
        struct cell *cell = &row->cells[c];
        uint64_t value = wm_counts_get(predicted, counter);
        int agrees = value == measured->values[c];
        int is_listed;

        if (!(measured->has >> c & 1))
            continue;
        if (predicted->inexact >> c & 1) {
            cell->inexact++;
            comparison->inexact++;
            continue;
        }
        is_listed = known_note(comparison->known, row->text, wm_counter_name(counter), number, agrees);
        cell->compared++;
        comparison->compared++;
        cell->is_zero &= value == 0 && measured->values[c] == 0;
        if (agrees) {
            cell->agreeing++;
            comparison->agreeing++;
        } else if (is_listed) {
            cell->known++;
        } else {
            struct mismatch mismatch = {index, counter, value, measured->values[c], *access};

            status = keep(comparison, &mismatch);
            if (status)
                return status;
        }
    }
    return WM_OK;
}

static int by_access(const void *a, const void *b)
{
    const struct mismatch *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return (x->counter > y->counter) - (x->counter < y->counter);
}

static enum wm_status merge_mismatches(struct comparison *into, const struct comparison *from)
{
    const size_t count = into->mismatch_count + from->mismatch_count;
    struct mismatch *mismatches;

    if (!from->mismatch_count)
        return WM_OK;
    mismatches = realloc(into->mismatches, count * sizeof *mismatches);
    if (!mismatches)
        return WM_E_MEMORY;
    memcpy(mismatches + into->mismatch_count, from->mismatches, from->mismatch_count * sizeof *mismatches);
    qsort(mismatches, count, sizeof *mismatches, by_access);
    into->mismatches = mismatches;
    into->mismatch_count = count < into->mismatch_limit ? count : into->mismatch_limit;
    return WM_OK;
}

enum wm_status comparison_merge(struct comparison *into, const struct comparison *from)
{
    for (size_t i = 0; i < from->row_count; i++) {
        struct opcode_row *row;
        enum wm_status status = find_row(into, &from->rows[i].opcode, &row);

        if (status)
            return status;
        for (int c = 0; c < WM_COUNTERS; c++) {
            const struct cell *cell = &from->rows[i].cells[c];

            row->cells[c].compared += cell->compared;
            row->cells[c].agreeing += cell->agreeing;
            row->cells[c].inexact += cell->inexact;
            row->cells[c].known += cell->known;
            row->cells[c].is_zero &= cell->is_zero;
        }
    }
    into->unlisted += from->unlisted;
    into->compared += from->compared;
    into->agreeing += from->agreeing;
    into->inexact += from->inexact;
    into->records += from->records;
    return merge_mismatches(into, from);
}

void comparison_free(struct comparison *comparison)
{
    free(comparison->rows);
    free(comparison->mismatches);
    memset(comparison, 0, sizeof *comparison);
}
