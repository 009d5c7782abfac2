#include "report.h"

#include <string.h>

void csv_field(const char *text, struct buffer *out)
{
    const char *rest = text;

    if (!strpbrk(text, ",\"\r\n")) {
        buffer_puts(out, text);
        return;
    }
    buffer_putc(out, '"');
    for (const char *quote; (quote = strchr(rest, '"')) != NULL; rest = quote + 1) {
        buffer_add(out, rest, (size_t)(quote - rest));
        buffer_add(out, "\"\"", 2);
    }
    buffer_puts(out, rest);
    buffer_putc(out, '"');
}

/* Those from one to before another. */
static void counter_names(int first, int end, struct buffer *out)
{
    for (int c = first; c < end; c++) {
        buffer_putc(out, ',');
        buffer_puts(out, wm_counter_name((enum wm_counter)c));
    }
}

void csv_row_begin(struct buffer *out)
{
    buffer_puts(out, "index,kernel,pc,line,opcode,mask,lanes,width");
    counter_names(0, LATER_COUNTERS, out);
    buffer_puts(out, ",count,approximate");
    counter_names(LATER_COUNTERS, WM_COUNTERS, out);
    buffer_putc(out, '\n');
}

/* Quotes names once for all the rows that have them. */
static void cache_names(struct row_cache *cache, const struct wm_access *access)
{
    if (access->kernel != cache->kernel) {
        cache->kernel = access->kernel;
        buffer_clear(&cache->kernel_text);
        csv_field(access->kernel->name, &cache->kernel_text);
    }
    if (access->file != cache->file) {
        cache->file = access->file;
        buffer_clear(&cache->file_text);
        /* the number behind it belongs to the same field */
        if (access->file && *access->file)
            csv_field(access->file, &cache->file_text);
    }
}

static void line_field(const struct row_cache *cache, uint32_t line, struct buffer *out)
{
    const struct buffer *file = &cache->file_text;
    int is_quoted = file->length && file->data[0] == '"';

    if (!line)
        return;
    if (file->length) {
        buffer_add(out, file->data, file->length - (size_t)is_quoted);
        buffer_putc(out, ':');
    }
    buffer_number(out, line);
    if (is_quoted)
        buffer_putc(out, '"');
}

void csv_row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
                 struct buffer *out)
{
    uint32_t values[WM_COUNTERS];

    cache_names(cache, access);
    buffer_putc(out, ',');
    buffer_add(out, cache->kernel_text.data, cache->kernel_text.length);
    buffer_putc(out, ',');
    report_pc(access->pc, out);
    buffer_putc(out, ',');
    line_field(cache, access->line, out);
    buffer_putc(out, ',');
    buffer_puts(out, cache->opcode_text);
    buffer_putc(out, ',');
    buffer_hex(out, access->mask, 8);
    buffer_putc(out, ',');
    buffer_number(out, (uint64_t)__builtin_popcount(access->mask));
    buffer_putc(out, ',');
    buffer_number(out, access->opcode.width_bytes);
    memcpy(values, counts, sizeof values);
    for (int c = 0; c < LATER_COUNTERS; c++) {
        buffer_putc(out, ',');
        buffer_number(out, values[c]);
    }
    buffer_putc(out, ',');
    buffer_number(out, access->count);
    buffer_putc(out, ',');
    if (!cache->is_exact || counts->inexact)
        report_access_inexact(cache->exactness, counts, out);
    for (int c = LATER_COUNTERS; c < WM_COUNTERS; c++) {
        buffer_putc(out, ',');
        buffer_number(out, values[c]);
    }
    buffer_putc(out, '\n');
}

static void total(const struct wm_tally_row *row, struct buffer *scratch, struct buffer *out)
{
    char opcode[WM_OPCODE_TEXT_SIZE] = "";

    csv_field(row->kernel, out);
    buffer_putc(out, ',');
    buffer_clear(scratch);
    report_line(row->file, row->line, scratch);
    csv_field(buffer_text(scratch), out);
    buffer_putc(out, ',');
    report_pc(row->pc, out);
    buffer_putc(out, ',');
    if (row->has_opcode)
        wm_opcode_format(&row->opcode, opcode);
    buffer_puts(out, opcode);
    buffer_putc(out, ',');
    buffer_number(out, row->instructions);
    for (int c = 0; c < LATER_COUNTERS; c++) {
        buffer_putc(out, ',');
        buffer_number(out, row->sums[c]);
    }
    buffer_putc(out, ',');
    report_inexact(row, out);
    for (int c = LATER_COUNTERS; c < WM_COUNTERS; c++) {
        buffer_putc(out, ',');
        buffer_number(out, row->sums[c]);
    }
    buffer_putc(out, '\n');
}

void csv_totals(const wm_tally *tally, struct buffer *out)
{
    const struct wm_tally_row *row;
    struct buffer scratch = {0};

    buffer_puts(out, "kernel,line,pc,opcode,instructions");
    counter_names(0, LATER_COUNTERS, out);
    buffer_puts(out, ",approximate");
    counter_names(LATER_COUNTERS, WM_COUNTERS, out);
    buffer_putc(out, '\n');
    for (size_t i = 0; (row = wm_tally_row_at(tally, i)) != NULL; i++)
        total(row, &scratch, out);
    if (scratch.failed)
        out->failed = scratch.failed;
    buffer_free(&scratch);
}
