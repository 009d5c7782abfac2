/* Cells that every format shows alike, and the choice among formats. */
#include "report.h"

#include <string.h>

static const char *const format_names[] = {"table", "csv", "json"};

int report_format_by_name(const char *name, enum report_format *out)
{
    for (size_t i = 0; i < sizeof format_names / sizeof *format_names; i++) {
        if (strcmp(name, format_names[i]) == 0) {
            *out = (enum report_format)i;
            return 1;
        }
    }
    return 0;
}

void report_line(const char *file, uint32_t line, struct buffer *out)
{
    if (!line)
        return;
    if (file && *file) {
        buffer_puts(out, file);
        buffer_putc(out, ':');
    }
    buffer_number(out, line);
}

void report_pc(uint64_t pc, struct buffer *out)
{
    if (pc == WM_NO_PC)
        return;
    buffer_add(out, "0x", 2);
    buffer_hex(out, pc, 1);
}

const char *report_exactness(enum wm_exactness exactness)
{
    switch (exactness) {
    case WM_BY_DOCUMENT: return "documented";
    case WM_BY_ASSUMPTION: return "assumed";
    case WM_APPROXIMATE: return "approximate";
    default: return "exact";
    }
}

const char *report_provenance(enum wm_provenance provenance)
{
    switch (provenance) {
    case WM_DOCUMENTED: return "documented";
    case WM_ASSUMED: return "assumed";
    default: return "measured";
    }
}

void report_inexact(const struct wm_tally_row *row, struct buffer *out)
{
    const char *blank = "";

    for (int c = 0; c < WM_COUNTERS; c++) {
        if (!row->inexact[c])
            continue;
        buffer_printf(out, "%s%s:%s", blank, wm_counter_name((enum wm_counter)c),
                      report_exactness((enum wm_exactness)row->exactness[c]));
        blank = " ";
    }
}

/* ------------------------------------------------------------------------------------------------- rows, one an access */

int row_cache_start(enum report_format format, const struct geometry *geometry, struct row_cache *cache)
{
    cache->format = format;
    cache->geometry = geometry;
    cache->kernel = NULL;
    cache->file = NULL;
    cache->opcode_text[0] = '\0';
    buffer_clear(&cache->kernel_text);
    buffer_clear(&cache->file_text);
    memset(&cache->opcode, 0xff, sizeof cache->opcode);
    if (format == REPORT_JSON && !cache->json)
        cache->json = json_row_new();
    return format != REPORT_JSON || cache->json != NULL;
}

void row_cache_free(struct row_cache *cache)
{
    buffer_free(&cache->kernel_text);
    buffer_free(&cache->file_text);
    buffer_free(&cache->scratch);
    json_row_free(cache->json);
    cache->json = NULL;
}

void row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts, struct buffer *out)
{
    if (memcmp(&cache->opcode, &access->opcode, sizeof cache->opcode) != 0) {
        cache->opcode = access->opcode;
        if (!wm_opcode_format(&cache->opcode, cache->opcode_text))
            cache->opcode_text[0] = '\0';
    }
    switch (cache->format) {
    case REPORT_CSV: csv_row_add(cache, access, counts, out); break;
    case REPORT_JSON: json_row_add(cache, access, counts, out); break;
    default: table_row_add(cache, access, counts, out); break;
    }
}

void row_finish(enum report_format format, uint64_t index, int is_first, const char *text, size_t length,
                struct buffer *out)
{
    switch (format) {
    case REPORT_CSV: buffer_number(out, index); break;
    case REPORT_JSON:
        /* the object's other members were dumped before the index was known: it goes in front of them */
        buffer_puts(out, is_first ? "{\"index\":" : ",\n{\"index\":");
        buffer_number(out, index);
        buffer_putc(out, ',');
        text++;
        length--;
        break;
    default: table_count(index, 9, out); break;
    }
    buffer_add(out, text, length);
}

void rows_begin(enum report_format format, struct buffer *out)
{
    switch (format) {
    case REPORT_CSV: csv_row_begin(out); break;
    case REPORT_JSON: json_array_begin(out); break;
    default: table_row_begin(out); break;
    }
}

void rows_end(enum report_format format, uint64_t rows, struct buffer *out)
{
    if (format == REPORT_JSON)
        json_array_end(rows == 0, out);
}
