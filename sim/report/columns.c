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

static void say_inexact(enum wm_counter counter, enum wm_exactness exactness, int is_first, struct buffer *out)
{
    buffer_printf(out, "%s%s:%s", is_first ? "" : " ", wm_counter_name(counter), report_exactness(exactness));
}

void report_inexact(const struct wm_tally_row *row, struct buffer *out)
{
    int is_first = 1;

    for (int c = 0; c < WM_COUNTERS; c++) {
        if (!row->inexact[c])
            continue;
        say_inexact((enum wm_counter)c, (enum wm_exactness)row->exactness[c], is_first, out);
        is_first = 0;
    }
}

void report_access_inexact(const uint8_t exactness[WM_COUNTERS], const struct wm_counts *counts, struct buffer *out)
{
    int is_first = 1;

    for (int c = 0; c < WM_COUNTERS; c++) {
        enum wm_exactness worst = counts->inexact >> c & 1 ? WM_APPROXIMATE : (enum wm_exactness)exactness[c];

        if (worst == WM_EXACT)
            continue;
        say_inexact((enum wm_counter)c, worst, is_first, out);
        is_first = 0;
    }
}

/* ------------------------------------------------------------------------------------------------- rows, one an access */

int row_cache_start(enum report_format format, const wm_arch *arch, const struct geometry *geometry,
                    struct row_cache *cache)
{
    cache->format = format;
    cache->arch = arch;
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

/* What rows of the same opcode have in common. */
static void cache_opcode(struct row_cache *cache, const struct wm_opcode *opcode)
{
    cache->opcode = *opcode;
    if (!wm_opcode_format(opcode, cache->opcode_text))
        cache->opcode_text[0] = '\0';
    cache->is_exact = 1;
    for (int c = 0; c < WM_COUNTERS; c++) {
        cache->exactness[c] = (uint8_t)wm_arch_exactness(cache->arch, opcode, (enum wm_counter)c);
        if (cache->exactness[c] != WM_EXACT)
            cache->is_exact = 0;
    }
}

void row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
             struct buffer *out)
{
    if (memcmp(&cache->opcode, &access->opcode, sizeof cache->opcode) != 0)
        cache_opcode(cache, &access->opcode);
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
