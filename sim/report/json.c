/* JSON through jansson. Without it, json_is_available() says so and nothing else here is called. */
#include "config.h"

#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void json_array_begin(struct buffer *out)
{
    buffer_puts(out, "[\n");
}

void json_array_end(int is_empty, struct buffer *out)
{
    buffer_puts(out, is_empty ? "]\n" : "\n]\n");
}

#ifdef HAVE_JANSSON

#include <jansson.h>

struct json_line {
    json_t *object;
    int failed;
};

/* The object of a row is made once; from row to row its members get new values. */
struct json_row {
    json_t *object;
    json_t *kernel, *pc, *line, *opcode, *mask, *lanes, *width;
    json_t *counters[WM_COUNTERS];
    json_t *count, *approximate;
    int failed;
};

int json_is_available(void)
{
    return 1;
}

static int add_to_buffer(const char *text, size_t length, void *buffer)
{
    buffer_add(buffer, text, length);
    return 0;
}

/* Whether the bytes from text on are one UTF-8 character as jansson takes it; its length. */
static size_t character_length(const char *text)
{
    for (size_t length = 1; length <= 4 && text[length - 1]; length++) {
        json_t *one = json_stringn(text, length);

        if (one) {
            json_decref(one);
            return length;
        }
    }
    return 0;
}

/* A copy of a text that is not UTF-8, with U+FFFD in place of every byte that does not belong to a character. */
static json_t *repaired(const char *text)
{
    struct buffer valid = {0};
    json_t *string;

    while (*text) {
        size_t length = character_length(text);

        if (length)
            buffer_add(&valid, text, length);
        else
            buffer_puts(&valid, "\xef\xbf\xbd");
        text += length ? length : 1;
    }
    string = valid.failed ? NULL : json_string(buffer_text(&valid));
    buffer_free(&valid);
    return string;
}

static json_t *text_value(const char *text)
{
    json_t *string = json_string(text);

    return string ? string : repaired(text);
}

struct json_line *json_line_new(void)
{
    struct json_line *line = calloc(1, sizeof *line);

    if (!line)
        return NULL;
    line->object = json_object();
    if (!line->object) {
        free(line);
        return NULL;
    }
    return line;
}

void json_line_text(struct json_line *line, const char *name, const char *value)
{
    if (json_object_set_new(line->object, name, text_value(value)) != 0)
        line->failed = 1;
}

void json_line_number(struct json_line *line, const char *name, uint64_t value)
{
    /* sums and counts of 2^63 and more are refused before they come here */
    if (json_object_set_new(line->object, name, json_integer((json_int_t)value)) != 0)
        line->failed = 1;
}

void json_line_real(struct json_line *line, const char *name, double value)
{
    if (json_object_set_new(line->object, name, json_real(round(value * 1e4) / 1e4)) != 0)
        line->failed = 1;
}

void json_line_dump(const struct json_line *line, int is_first, struct buffer *out)
{
    if (!is_first)
        buffer_add(out, ",\n", 2);
    if (line->failed || json_dump_callback(line->object, add_to_buffer, out, JSON_COMPACT | JSON_REAL_PRECISION(10)) != 0)
        out->failed = BUFFER_NO_MEMORY;
}

void json_line_free(struct json_line *line)
{
    if (!line)
        return;
    json_decref(line->object);
    free(line);
}

/* Adds a member and returns it, still owned by the object. */
static json_t *member(struct json_row *row, const char *name, json_t *value)
{
    if (json_object_set_new(row->object, name, value) != 0)
        row->failed = 1;
    return value;
}

struct json_row *json_row_new(void)
{
    struct json_row *row = calloc(1, sizeof *row);

    if (!row)
        return NULL;
    row->object = json_object();
    row->kernel = member(row, "kernel", json_string(""));
    row->pc = member(row, "pc", json_string(""));
    row->line = member(row, "line", json_string(""));
    row->opcode = member(row, "opcode", json_string(""));
    row->mask = member(row, "mask", json_string(""));
    row->lanes = member(row, "lanes", json_integer(0));
    row->width = member(row, "width", json_integer(0));
    for (int c = 0; c < LATER_COUNTERS; c++)
        row->counters[c] = member(row, wm_counter_name((enum wm_counter)c), json_integer(0));
    row->count = member(row, "count", json_integer(0));
    row->approximate = member(row, "approximate", json_string(""));
    for (int c = LATER_COUNTERS; c < WM_COUNTERS; c++)
        row->counters[c] = member(row, wm_counter_name((enum wm_counter)c), json_integer(0));
    if (row->failed) {
        json_row_free(row);
        return NULL;
    }
    return row;
}

void json_row_free(struct json_row *row)
{
    if (!row)
        return;
    json_decref(row->object);
    free(row);
}

/* Gives a member another text, valid UTF-8 or not. */
static int set_text(json_t *string, const char *text)
{
    json_t *valid;
    int status;

    if (json_string_set(string, text) == 0)
        return 0;
    valid = repaired(text);
    if (!valid)
        return -1;
    status = json_string_set(string, json_string_value(valid));
    json_decref(valid);
    return status;
}

static int set_buffer(json_t *string, struct buffer *text)
{
    return set_text(string, buffer_text(text));
}

void json_row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
                  struct buffer *out)
{
    struct json_row *row = cache->json;
    struct buffer *scratch = &cache->scratch;
    int failed = 0;

    if (access->kernel != cache->kernel) {
        cache->kernel = access->kernel;
        failed |= set_text(row->kernel, access->kernel->name);
    }
    buffer_clear(scratch);
    report_pc(access->pc, scratch);
    failed |= set_buffer(row->pc, scratch);
    buffer_clear(scratch);
    report_line(access->file, access->line, scratch);
    failed |= set_buffer(row->line, scratch);
    buffer_clear(scratch);
    buffer_hex(scratch, access->mask, 8);
    failed |= set_buffer(row->mask, scratch);
    failed |= set_text(row->opcode, cache->opcode_text);
    failed |= json_integer_set(row->lanes, __builtin_popcount(access->mask));
    failed |= json_integer_set(row->width, access->opcode.width_bytes);
    for (int c = 0; c < WM_COUNTERS; c++)
        failed |= json_integer_set(row->counters[c], wm_counts_get(counts, (enum wm_counter)c));
    failed |= json_integer_set(row->count, (json_int_t)access->count);
    buffer_clear(scratch);
    report_access_inexact(cache->exactness, counts, scratch);
    failed |= set_buffer(row->approximate, scratch);
    failed |= json_dump_callback(row->object, add_to_buffer, out, JSON_COMPACT);
    if (failed || scratch->failed)
        out->failed = BUFFER_NO_MEMORY;
}

static void total(const struct wm_tally_row *row, int is_first, struct buffer *scratch, struct buffer *out)
{
    char opcode[WM_OPCODE_TEXT_SIZE] = "";
    struct json_line *line = json_line_new();

    if (!line) {
        out->failed = BUFFER_NO_MEMORY;
        return;
    }
    json_line_text(line, "kernel", row->kernel);
    buffer_clear(scratch);
    report_line(row->file, row->line, scratch);
    json_line_text(line, "line", buffer_text(scratch));
    buffer_clear(scratch);
    report_pc(row->pc, scratch);
    json_line_text(line, "pc", buffer_text(scratch));
    if (row->has_opcode)
        wm_opcode_format(&row->opcode, opcode);
    json_line_text(line, "opcode", opcode);
    json_line_number(line, "instructions", row->instructions);
    for (int c = 0; c < LATER_COUNTERS; c++)
        json_line_number(line, wm_counter_name((enum wm_counter)c), row->sums[c]);
    buffer_clear(scratch);
    report_inexact(row, scratch);
    json_line_text(line, "approximate", buffer_text(scratch));
    for (int c = LATER_COUNTERS; c < WM_COUNTERS; c++)
        json_line_number(line, wm_counter_name((enum wm_counter)c), row->sums[c]);
    json_line_dump(line, is_first, out);
    json_line_free(line);
}

void json_totals(const wm_tally *tally, struct buffer *out)
{
    const struct wm_tally_row *row;
    struct buffer scratch = {0};
    size_t i = 0;

    json_array_begin(out);
    for (; (row = wm_tally_row_at(tally, i)) != NULL; i++)
        total(row, i == 0, &scratch, out);
    json_array_end(i == 0, out);
    if (scratch.failed)
        out->failed = scratch.failed;
    buffer_free(&scratch);
}

#else

int json_is_available(void)
{
    return 0;
}

struct json_line *json_line_new(void)
{
    return NULL;
}

void json_line_text(struct json_line *line, const char *name, const char *value)
{
    (void)line, (void)name, (void)value;
}

void json_line_number(struct json_line *line, const char *name, uint64_t value)
{
    (void)line, (void)name, (void)value;
}

void json_line_real(struct json_line *line, const char *name, double value)
{
    (void)line, (void)name, (void)value;
}

void json_line_dump(const struct json_line *line, int is_first, struct buffer *out)
{
    (void)line, (void)is_first;
    out->failed = BUFFER_NO_MEMORY;
}

void json_line_free(struct json_line *line)
{
    (void)line;
}

struct json_row *json_row_new(void)
{
    return NULL;
}

void json_row_add(struct row_cache *cache, const struct wm_access *access, const struct wm_counts *counts,
                  struct buffer *out)
{
    (void)cache, (void)access, (void)counts;
    out->failed = BUFFER_NO_MEMORY;
}

void json_row_free(struct json_row *row)
{
    (void)row;
}

void json_totals(const wm_tally *tally, struct buffer *out)
{
    (void)tally;
    out->failed = BUFFER_NO_MEMORY;
}

#endif
