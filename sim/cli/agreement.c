/* What a comparison with hardware came to: tables, and what disagrees. */
#include "config.h"

#include "agreement.h"

#include <stdlib.h>
#include <string.h>

/* Whether two entries say the same about different records. */
static int is_same_reason(const struct known *a, const struct known *b)
{
    return !*a->index == !*b->index && strcmp(a->opcode, b->opcode) == 0 && strcmp(a->counter, b->counter) == 0 &&
           strcmp(a->reason, b->reason) == 0;
}

/* One line for the entries from number first on that are like it; nothing if an earlier one was. */
static void write_known_entry(const struct known_list *known, size_t first, struct buffer *text, struct buffer *out)
{
    const struct known *entry = &known->entries[first];
    uint64_t compared = 0, disagreeing = 0;

    for (size_t i = 0; i < known->count; i++) {
        if (!is_same_reason(&known->entries[i], entry))
            continue;
        if (i < first)
            return;
        compared += known->entries[i].compared;
        disagreeing += known->entries[i].disagreeing;
    }
    if (!disagreeing)
        return;
    buffer_clear(text);
    buffer_printf(text, "%s%s%s: ", entry->opcode, *entry->opcode ? " " : "", entry->counter);
    if (*entry->opcode && *entry->index)
        buffer_printf(text, "%llu record%s: ", (unsigned long long)disagreeing, plural(disagreeing));
    else if (*entry->opcode)
        buffer_printf(text, "%llu of %llu: ", (unsigned long long)disagreeing, (unsigned long long)compared);
    else
        buffer_printf(text, "%s: ", entry->index);
    table_name(entry->reason, text);
    table_wrapped(buffer_text(text), 2, 6, out);
}

/* The entries that had something to explain. */
void agreement_known(const struct known_list *known, struct buffer *out)
{
    struct buffer lines = {0};
    struct buffer text = {0};

    for (size_t i = 0; i < known->count; i++)
        write_known_entry(known, i, &text, &lines);
    if (lines.length) {
        buffer_puts(out, "\nknown disagreements (");
        table_name(known->path, out);
        buffer_puts(out, ")\n");
        buffer_add(out, lines.data, lines.length);
    }
    if (text.failed || lines.failed)
        out->failed = BUFFER_NO_MEMORY;
    buffer_free(&text);
    buffer_free(&lines);
}

/* A cell of the table: agreeing/compared; "-" where there is nothing but zeros. */
static void cell_text(const struct cell *cell, struct buffer *out)
{
    buffer_clear(out);
    if (cell->is_zero && !cell->inexact)
        buffer_putc(out, '-');
    else
        buffer_printf(out, "%llu/%llu", (unsigned long long)cell->agreeing, (unsigned long long)cell->compared);
}

/* The counters' names in two lines of a table's heading. */
static const char *const headings[WM_COUNTERS][2] = {
    [WM_REQUESTS] = {"", "requests"},
    [WM_LINES] = {"", "lines"},
    [WM_SECTORS] = {"", "sectors"},
    [WM_SECTORS_IDEAL] = {"sectors", "ideal"},
    [WM_TAG_WAVEFRONTS] = {"tag", "wavefr."},
    [WM_LSU_WAVEFRONTS] = {"lsu", "wavefr."},
    [WM_SHARED_WAVEFRONTS] = {"shared", "wavefr."},
    [WM_SHARED_WAVEFRONTS_IDEAL] = {"shared", "ideal"},
    [WM_BANK_CONFLICTS] = {"bank", "conflicts"},
    [WM_WAYS] = {"", "ways"},
    [WM_L2_REQUESTS] = {"l2", "requests"},
    [WM_L2_SECTORS] = {"l2", "sectors"},
    [WM_LSU_WRITEBACK] = {"write-", "back"},
};

struct layout {
    size_t opcode;
    size_t widths[WM_COUNTERS]; /* 0: the counter was not measured */
};

static void lay_out(const struct comparison *comparison, struct buffer *text, struct layout *out)
{
    *out = (struct layout){sizeof "opcode" - 1, {0}};
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct opcode_row *row = &comparison->rows[i];

        if (strlen(row->text) > out->opcode)
            out->opcode = strlen(row->text);
        for (int c = 0; c < WM_COUNTERS; c++) {
            if (!row->cells[c].compared && !row->cells[c].inexact)
                continue;
            cell_text(&row->cells[c], text);
            for (int line = 0; line < 2; line++) {
                if (strlen(headings[c][line]) > out->widths[c])
                    out->widths[c] = strlen(headings[c][line]);
            }
            if (text->length > out->widths[c])
                out->widths[c] = text->length;
        }
    }
}

/* Whether a measured counter's heading needs the upper line too. */
static int has_two_lines(const struct layout *layout)
{
    for (int c = 0; c < WM_COUNTERS; c++) {
        if (layout->widths[c] && *headings[c][0])
            return 1;
    }
    return 0;
}

void agreement_cells(const struct comparison *comparison, struct buffer *out)
{
    struct buffer text = {0};
    struct layout layout;

    lay_out(comparison, &text, &layout);
    buffer_puts(out, "\nagreeing/compared (-: nothing but zeros)\n");
    for (int line = 0; line < 2; line++) {
        if (line == 0 && !has_two_lines(&layout))
            continue;
        table_text(line ? "opcode" : "", layout.opcode, out);
        for (int c = 0; c < WM_COUNTERS; c++) {
            if (layout.widths[c])
                buffer_printf(out, " %*s", (int)layout.widths[c], headings[c][line]);
        }
        buffer_putc(out, '\n');
    }
    for (size_t i = 0; i < comparison->row_count; i++) {
        table_text(comparison->rows[i].text, layout.opcode, out);
        for (int c = 0; c < WM_COUNTERS; c++) {
            if (!layout.widths[c])
                continue;
            cell_text(&comparison->rows[i].cells[c], &text);
            buffer_printf(out, " %*s", (int)layout.widths[c], buffer_text(&text));
        }
        buffer_putc(out, '\n');
    }
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

static void write_addresses(const char *name, const struct wm_access *access, int is_shared, struct buffer *text,
                            struct buffer *out)
{
    buffer_clear(text);
    buffer_puts(text, name);
    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);

        buffer_puts(text, " 0x");
        buffer_hex(text, is_shared ? access->shared_address[lane] : access->address[lane], 1);
    }
    table_wrapped(buffer_text(text), 4, 6, out);
}

void agreement_mismatches(const struct comparison *comparison, struct buffer *out)
{
    struct buffer text = {0};

    if (!comparison->unlisted)
        return;
    buffer_printf(out, "\n%llu disagreement%s not listed", (unsigned long long)comparison->unlisted,
                  plural(comparison->unlisted));
    if (comparison->mismatch_count && comparison->mismatch_count < comparison->unlisted)
        buffer_printf(out, ", the first %zu of them", comparison->mismatch_count);
    buffer_putc(out, '\n');
    for (size_t i = 0; i < comparison->mismatch_count; i++) {
        const struct mismatch *mismatch = &comparison->mismatches[i];
        const struct wm_access *access = &mismatch->access;
        char opcode[WM_OPCODE_TEXT_SIZE] = "";

        wm_opcode_format(&access->opcode, opcode);
        buffer_printf(out, "  access %llu: %s %08x: %s: model %llu, measured %llu\n",
                      (unsigned long long)mismatch->index, opcode, access->mask, wm_counter_name(mismatch->counter),
                      (unsigned long long)mismatch->predicted, (unsigned long long)mismatch->measured);
        /* addresses stand below an access's last counter */
        if (i + 1 < comparison->mismatch_count && mismatch[1].index == mismatch->index)
            continue;
        if (access->opcode.operation == WM_CP_ASYNC)
            write_addresses("shared", access, 1, &text, out);
        if (access->mask)
            write_addresses(access->opcode.operation == WM_CP_ASYNC ? "global" : "lanes", access, 0, &text, out);
    }
    if (text.failed)
        out->failed = text.failed;
    buffer_free(&text);
}

void agreement_rows_begin(enum report_format format, const char *more, struct buffer *out)
{
    if (format == REPORT_CSV)
        buffer_printf(out, "opcode,counter,compared,agreeing,known,unlisted,inexact%s\n", more);
    else
        json_array_begin(out);
}

void agreement_rows_end(enum report_format format, int is_empty, struct buffer *out)
{
    if (format == REPORT_JSON)
        json_array_end(is_empty, out);
}

void agreement_lines(const struct comparison *comparison, enum report_format format, const char *more, int *is_first,
                     struct buffer *out)
{
    static const char *const names[] = {"compared", "agreeing", "known", "unlisted", "inexact"};

    for (size_t i = 0; i < comparison->row_count * WM_COUNTERS; i++) {
        const struct opcode_row *row = &comparison->rows[i / WM_COUNTERS];
        const struct cell *cell = &row->cells[i % WM_COUNTERS];
        const char *counter = wm_counter_name((enum wm_counter)(i % WM_COUNTERS));
        const uint64_t values[] = {cell->compared, cell->agreeing, cell->known,
                                   cell->compared - cell->agreeing - cell->known, cell->inexact};
        struct json_line *line;

        if (!cell->compared && !cell->inexact)
            continue;
        if (format == REPORT_CSV) {
            buffer_printf(out, "%s,%s", row->text, counter);
            for (size_t v = 0; v < sizeof values / sizeof *values; v++)
                buffer_printf(out, ",%llu", (unsigned long long)values[v]);
            buffer_printf(out, "%s\n", more);
            continue;
        }
        line = json_line_new();
        if (!line) {
            out->failed = BUFFER_NO_MEMORY;
            return;
        }
        json_line_text(line, "opcode", row->text);
        json_line_text(line, "counter", counter);
        for (size_t v = 0; v < sizeof values / sizeof *values; v++)
            json_line_number(line, names[v], values[v]);
        json_line_dump(line, *is_first, out);
        json_line_free(line);
        *is_first = 0;
    }
}

void agreement_rows(const struct comparison *comparison, enum report_format format, struct buffer *out)
{
    int is_first = 1;

    agreement_rows_begin(format, "", out);
    agreement_lines(comparison, format, "", &is_first, out);
    agreement_rows_end(format, is_first, out);
}
