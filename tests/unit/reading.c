/* See reading.h. */
#include "reading.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

static char *copy_text(const char *text)
{
    char *copy = text ? strdup(text) : NULL;

    assert_true(copy || !text);
    return copy;
}

static void keep(struct reading *reading, const struct wm_access *access, const struct wm_diag *place)
{
    struct read_access *kept;

    if ((reading->count & (reading->count - 1)) == 0) {
        reading->accesses = realloc(reading->accesses, (reading->count ? 2 * reading->count : 1) * sizeof *kept);
        assert_non_null(reading->accesses);
    }
    kept = &reading->accesses[reading->count++];
    kept->access = *access;
    assert_non_null(access->kernel);
    assert_non_null(access->kernel->name);
    kept->kernel = *access->kernel;
    kept->kernel.name = copy_text(access->kernel->name);
    kept->kernel.source = copy_text(access->kernel->source);
    kept->access.file = copy_text(access->file);
    kept->line = place->line;
    kept->column = place->column;
}

/* The array has moved while it grew. */
static void link_kernels(struct reading *reading)
{
    for (size_t i = 0; i < reading->count; i++)
        reading->accesses[i].access.kernel = &reading->accesses[i].kernel;
}

/* Fields that a status leaves alone are seen by this. */
static const struct wm_access untouched = {.mask = 0x5a5a5a5a, .warp = 0x12345678};

static struct reading *read_serial(wm_reader *reader)
{
    struct reading *reading = calloc(1, sizeof *reading);
    struct wm_access access;
    struct wm_access again = untouched;
    struct wm_diag diag;

    assert_non_null(reading);
    memset(&access, 0, sizeof access);
    for (;;) {
        struct wm_diag place = {0};

        reading->status = wm_reader_next(reader, &access, &reading->diag);
        if (reading->status != WM_OK)
            break;
        wm_reader_place(reader, &place);
        keep(reading, &access, &place);
    }
    /* The end is the end, and leaves the output alone. */
    assert_int_equal(wm_reader_next(reader, &again, &diag), reading->status);
    assert_memory_equal(&again, &untouched, sizeof again);
    if (reading->status != WM_END) {
        assert_memory_equal(&diag, &reading->diag, sizeof diag);
        assert_int_equal(diag.status, reading->status);
    }
    wm_reader_notes(reader, &reading->notes);
    wm_reader_close(reader);
    link_kernels(reading);
    return reading;
}

static void add_notes(struct wm_reader_notes *sum, const struct wm_reader_notes *more)
{
    if (sum->opcodes_unknown == 0)
        memcpy(sum->first_unknown, more->first_unknown, sizeof sum->first_unknown);
    sum->lines_skipped += more->lines_skipped;
    sum->instructions_skipped += more->instructions_skipped;
    sum->opcodes_unknown += more->opcodes_unknown;
    sum->copies_of_nothing += more->copies_of_nothing;
    sum->copies_without_shared += more->copies_without_shared;
    sum->lanes_guessed += more->lanes_guessed;
}

/* All chunks are taken before any is parsed, and then the last first, as threads might. */
static struct reading *read_chunks(wm_reader *reader)
{
    struct reading *reading = calloc(1, sizeof *reading);
    struct reading *parts = NULL;
    wm_chunk **chunks = NULL;
    size_t count = 0;
    struct wm_diag end_diag;
    enum wm_status end;

    assert_non_null(reading);
    memset(&end_diag, 0, sizeof end_diag);
    for (;;) {
        chunks = realloc(chunks, (count + 1) * sizeof *chunks);
        assert_non_null(chunks);
        end = wm_reader_chunk(reader, &chunks[count], &end_diag);
        if (end != WM_OK)
            break;
        count++;
    }
    wm_reader_notes(reader, &reading->notes);
    wm_reader_close(reader);
    parts = calloc(count + 1, sizeof *parts);
    assert_non_null(parts);
    for (size_t i = count; i-- > 0;) {
        struct wm_access access;

        memset(&access, 0, sizeof access);
        for (;;) {
            struct wm_diag place = {0};

            parts[i].status = wm_chunk_next(chunks[i], &access, &parts[i].diag);
            if (parts[i].status != WM_OK)
                break;
            wm_chunk_place(chunks[i], &place);
            keep(&parts[i], &access, &place);
        }
        wm_chunk_notes(chunks[i], &parts[i].notes);
        wm_chunk_free(chunks[i]);
    }
    reading->status = end;
    reading->diag = end_diag;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < parts[i].count; k++) {
            struct wm_diag place = {.line = parts[i].accesses[k].line, .column = parts[i].accesses[k].column};

            parts[i].accesses[k].access.kernel = &parts[i].accesses[k].kernel;
            keep(reading, &parts[i].accesses[k].access, &place);
        }
        add_notes(&reading->notes, &parts[i].notes);
        if (parts[i].status != WM_END) {
            reading->status = parts[i].status;
            reading->diag = parts[i].diag;
            break;
        }
    }
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < parts[i].count; k++) {
            free((char *)(uintptr_t)parts[i].accesses[k].kernel.name);
            free((char *)(uintptr_t)parts[i].accesses[k].kernel.source);
            free((char *)(uintptr_t)parts[i].accesses[k].access.file);
        }
        free(parts[i].accesses);
    }
    free(parts);
    free(chunks);
    link_kernels(reading);
    return reading;
}

static void assert_same_text(const char *a, const char *b)
{
    if (a && b)
        assert_string_equal(a, b);
    else
        assert_true(a == b);
}

void assert_same_access(const struct wm_access *a, const struct wm_access *b)
{
    assert_int_equal(a->mask, b->mask);
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if (!(a->mask >> lane & 1))
            continue;
        assert_int_equal(a->address[lane], b->address[lane]);
        if (a->opcode.operation == WM_CP_ASYNC)
            assert_int_equal(a->shared_address[lane], b->shared_address[lane]);
    }
    assert_memory_equal(&a->opcode, &b->opcode, sizeof a->opcode);
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->pc, b->pc);
    assert_same_text(a->kernel->name, b->kernel->name);
    assert_same_text(a->kernel->source, b->kernel->source);
    assert_memory_equal(a->kernel->grid, b->kernel->grid, sizeof a->kernel->grid);
    assert_memory_equal(a->kernel->block, b->kernel->block, sizeof a->kernel->block);
    assert_int_equal(a->kernel->launch, b->kernel->launch);
    assert_int_equal(a->kernel->shared_bytes, b->kernel->shared_bytes);
    assert_same_text(a->file, b->file);
    assert_int_equal(a->line, b->line);
    assert_memory_equal(a->block, b->block, sizeof a->block);
    assert_int_equal(a->warp, b->warp);
    assert_int_equal(a->l1, b->l1);
}

static void assert_same_reading(const struct reading *a, const struct reading *b)
{
    assert_int_equal(a->status, b->status);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++) {
        assert_same_access(&a->accesses[i].access, &b->accesses[i].access);
        assert_int_equal(a->accesses[i].line, b->accesses[i].line);
        assert_int_equal(a->accesses[i].column, b->accesses[i].column);
    }
    if (a->status != WM_END) {
        assert_string_equal(a->diag.text, b->diag.text);
        assert_int_equal(a->diag.line, b->diag.line);
        assert_int_equal(a->diag.column, b->diag.column);
    } else {
        assert_memory_equal(&a->notes, &b->notes, sizeof a->notes);
    }
}

/* A reader of a copy of the text that ends where the text ends. NULL: it cannot be opened, as *reading says. */
static wm_reader *open_copy(char *copy, size_t size, enum wm_format format, size_t chunk_bytes,
                            struct reading **reading)
{
    const struct wm_reader_options options = {.format = format, .l1 = WM_L1_HIT};
    struct wm_diag diag;
    wm_reader *reader = NULL;
    enum wm_status status = wmi_reader_open_memory(copy, size, &options, chunk_bytes, &reader, &diag);

    *reading = NULL;
    if (status == WM_OK)
        return reader;
    *reading = calloc(1, sizeof **reading);
    assert_non_null(*reading);
    (*reading)->status = status;
    (*reading)->diag = diag;
    return NULL;
}

struct reading *read_trace(const char *text, size_t size, enum wm_format format)
{
    static const size_t chunk_bytes[] = {WMI_CHUNK_BYTES, 65536, 300, 20, 1};
    char *copy = malloc(size ? size : 1);
    struct reading *first;
    wm_reader *reader;

    assert_non_null(copy);
    memcpy(copy, text, size);
    reader = open_copy(copy, size, format, WMI_CHUNK_BYTES, &first);
    if (reader)
        first = read_serial(reader);
    for (size_t i = 0; i < sizeof chunk_bytes / sizeof chunk_bytes[0]; i++) {
        for (int serial = 0; serial < 2; serial++) {
            struct reading *other;

            if ((size > 4096 && chunk_bytes[i] < 20) || (size > 65536 && chunk_bytes[i] < 65536))
                continue;
            reader = open_copy(copy, size, format, chunk_bytes[i], &other);
            if (reader)
                other = serial ? read_serial(reader) : read_chunks(reader);
            assert_same_reading(first, other);
            free_reading(other);
        }
    }
    free(copy);
    return first;
}

struct reading *read_path(const char *path, enum wm_format format)
{
    const struct wm_reader_options options = {.format = format};
    struct reading *reading;
    struct reading *other;
    struct wm_diag diag;
    wm_reader *reader;
    enum wm_status status = wm_reader_open(path, &options, &reader, &diag);

    if (status != WM_OK) {
        reading = calloc(1, sizeof *reading);
        assert_non_null(reading);
        reading->status = status;
        reading->diag = diag;
        return reading;
    }
    reading = read_serial(reader);
    if (strcmp(path, "-") != 0) {
        assert_int_equal(wm_reader_open(path, &options, &reader, NULL), WM_OK);
        other = read_chunks(reader);
        assert_same_reading(reading, other);
        free_reading(other);
    }
    return reading;
}

void free_reading(struct reading *reading)
{
    if (!reading)
        return;
    for (size_t i = 0; i < reading->count; i++) {
        free((char *)(uintptr_t)reading->accesses[i].kernel.name);
        free((char *)(uintptr_t)reading->accesses[i].kernel.source);
        free((char *)(uintptr_t)reading->accesses[i].access.file);
    }
    free(reading->accesses);
    free(reading);
}

void assert_fails(const char *text, size_t size, enum wm_format format, enum wm_status status, uint64_t line,
                  uint64_t column, const char *part)
{
    struct reading *reading = read_trace(text, size, format);

    if (reading->status != status || reading->diag.line != line || reading->diag.column != column ||
        !strstr(reading->diag.text, part))
        fail_msg("for this text\n%.*s\nexpected status %d at %llu:%llu with '%s', got status %d at %llu:%llu: %s",
                 size < 2000 ? (int)size : 2000, text, (int)status, (unsigned long long)line,
                 (unsigned long long)column, part, (int)reading->status, (unsigned long long)reading->diag.line,
                 (unsigned long long)reading->diag.column, reading->diag.text);
    free_reading(reading);
}

void assert_truncations(const char *text, size_t size, enum wm_format format)
{
    struct reading *whole = read_trace(text, size, format);

    assert_int_equal(whole->status, WM_END);
    for (size_t length = 0; length < size; length++) {
        struct reading *part = read_trace(text, length, format);

        assert_true(part->count <= whole->count);
        for (size_t i = 0; i + 1 < part->count; i++)
            assert_same_access(&part->accesses[i].access, &whole->accesses[i].access);
        if (part->status != WM_END)
            assert_true(part->diag.text[0] != '\0');
        free_reading(part);
    }
    free_reading(whole);
}

const char *opcode_text(const struct wm_opcode *opcode)
{
    static char text[WM_OPCODE_TEXT_SIZE];

    assert_true(wm_opcode_format(opcode, text) > 0);
    return text;
}

const char *source_path(const char *name)
{
    static char path[4096];
    const char *top = getenv("top_srcdir");

    snprintf(path, sizeof path, "%s/%s", top ? top : ".", name);
    return path;
}
