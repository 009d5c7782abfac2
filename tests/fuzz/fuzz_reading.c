/* See fuzz_reading.h. */
#include "fuzz_reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* What a way of reading came to. */
struct outcome {
    uint64_t count;
    uint64_t hash;
    enum wm_status status;
    struct wm_diag diag;
    struct wm_reader_notes notes;
};

/* Text that grows. */
struct text {
    char *bytes;
    size_t size;
};

static int put(void *context, const char *bytes, size_t size)
{
    struct text *text = context;

    text->bytes = realloc(text->bytes, text->size + size);
    REQUIRE(text->bytes);
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    return 0;
}

static void add_bytes(uint64_t *hash, const void *bytes, size_t size)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < size; i++)
        *hash = (*hash ^ p[i]) * UINT64_C(0x100000001b3);
}

static void add_text(uint64_t *hash, const char *text)
{
    if (text)
        add_bytes(hash, text, strlen(text) + 1);
    else
        add_bytes(hash, "none", 5);
}

/* All that an access says. */
static void add_access(struct outcome *outcome, const struct wm_access *access)
{
    uint64_t *hash = &outcome->hash;

    outcome->count++;
    REQUIRE(wm_opcode_check(&access->opcode) == WM_OK);
    REQUIRE(access->count > 0);
    REQUIRE(access->l1 == WM_L1_MISS);
    add_bytes(hash, &access->opcode, sizeof access->opcode);
    add_bytes(hash, &access->mask, sizeof access->mask);
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if (!(access->mask >> lane & 1))
            continue;
        add_bytes(hash, &access->address[lane], sizeof access->address[lane]);
        if (access->opcode.operation == WM_CP_ASYNC)
            add_bytes(hash, &access->shared_address[lane], sizeof access->shared_address[lane]);
    }
    add_bytes(hash, &access->count, sizeof access->count);
    add_bytes(hash, &access->pc, sizeof access->pc);
    add_text(hash, access->kernel->name);
    add_text(hash, access->kernel->source);
    add_bytes(hash, access->kernel->grid, sizeof access->kernel->grid);
    add_bytes(hash, access->kernel->block, sizeof access->kernel->block);
    add_bytes(hash, &access->kernel->launch, sizeof access->kernel->launch);
    add_bytes(hash, &access->kernel->shared_bytes, sizeof access->kernel->shared_bytes);
    add_text(hash, access->line ? access->file : NULL);
    add_bytes(hash, &access->line, sizeof access->line);
    add_bytes(hash, access->block, sizeof access->block);
    add_bytes(hash, &access->warp, sizeof access->warp);
}

static void require_message(const struct wm_diag *diag, enum wm_status status)
{
    REQUIRE(diag->status == status);
    REQUIRE(diag->text[0] != '\0');
    for (const char *p = diag->text; *p; p++)
        REQUIRE(*p >= ' ' && *p <= '~');
}

static wm_reader *open_reader(const uint8_t *data, size_t size, enum wm_format format, size_t chunk_bytes,
                              struct outcome *outcome)
{
    const struct wm_reader_options options = {.format = format};
    wm_reader *reader = NULL;

    memset(outcome, 0, sizeof *outcome);
    outcome->status = wmi_reader_open_memory(data, size, &options, chunk_bytes, &reader, &outcome->diag);
    REQUIRE((outcome->status == WM_OK) == (reader != NULL));
    if (!reader)
        require_message(&outcome->diag, outcome->status);
    return reader;
}

/* One access after the other; each one that can be written goes to the writer. */
static struct outcome read_serial(const uint8_t *data, size_t size, enum wm_format format, size_t chunk_bytes,
                                  wm_writer *writer, int *is_written)
{
    struct outcome outcome;
    struct wm_access access;
    wm_reader *reader = open_reader(data, size, format, chunk_bytes, &outcome);

    if (!reader)
        return outcome;
    memset(&access, 0, sizeof access);
    while ((outcome.status = wm_reader_next(reader, &access, &outcome.diag)) == WM_OK) {
        add_access(&outcome, &access);
        if (writer && wm_writer_add(writer, &access) != WM_OK)
            *is_written = 0;
    }
    if (outcome.status != WM_END)
        require_message(&outcome.diag, outcome.status);
    wm_reader_notes(reader, &outcome.notes);
    wm_reader_close(reader);
    return outcome;
}

static struct outcome read_chunks(const uint8_t *data, size_t size, enum wm_format format, size_t chunk_bytes)
{
    struct outcome outcome;
    struct wm_access access;
    wm_chunk *chunk;
    wm_reader *reader = open_reader(data, size, format, chunk_bytes, &outcome);

    if (!reader)
        return outcome;
    memset(&access, 0, sizeof access);
    while ((outcome.status = wm_reader_chunk(reader, &chunk, &outcome.diag)) == WM_OK) {
        while ((outcome.status = wm_chunk_next(chunk, &access, &outcome.diag)) == WM_OK)
            add_access(&outcome, &access);
        wm_chunk_free(chunk);
        if (outcome.status != WM_END)
            break;
    }
    wm_reader_close(reader);
    return outcome;
}

static void require_same(const struct outcome *a, const struct outcome *b)
{
    REQUIRE(a->status == b->status);
    REQUIRE(a->count == b->count);
    REQUIRE(a->hash == b->hash);
    if (a->status == WM_END)
        return;
    REQUIRE(a->diag.line == b->diag.line);
    REQUIRE(a->diag.column == b->diag.column);
    REQUIRE(strcmp(a->diag.text, b->diag.text) == 0);
}

int fuzz_reading(const uint8_t *data, size_t size, enum wm_format format)
{
    struct text text = {0};
    int is_written = 1;
    wm_writer *writer = NULL;
    /* All in one; no more than that, as room costs time. */
    const size_t whole = size < WMI_CHUNK_BYTES ? size + 1 : WMI_CHUNK_BYTES;
    struct outcome first;
    struct outcome other;

    REQUIRE(wm_writer_new(put, &text, &writer) == WM_OK);
    first = read_serial(data, size, format, whole, writer, &is_written);
    REQUIRE(wm_writer_flush(writer) == WM_OK);
    wm_writer_free(writer);
    other = read_chunks(data, size, format, whole);
    require_same(&first, &other);
    if (size < 4096) {
        other = read_chunks(data, size, format, 1 + size / 3);
        require_same(&first, &other);
        other = read_serial(data, size, format, 16, NULL, NULL);
        require_same(&first, &other);
    }
    /* What was read can be written and read again. */
    other = read_serial((const uint8_t *)text.bytes, text.size, WM_FORMAT_TEXT, whole, NULL, NULL);
    REQUIRE(other.status == WM_END);
    if (is_written)
        REQUIRE(other.count == first.count && other.hash == first.hash);
    free(text.bytes);
    return 0;
}
