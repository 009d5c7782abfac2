/*
 * Readers: what format it is, chunks of whole lines, accesses one after the other.
 *
 * A chunk is text between two lines together with a copy of the parser's state at its start, so that it can be parsed by
 * itself. When chunks are handed out, scan() finds the state behind each; when a reader parses its chunks itself, the
 * state behind one is where its parser ended.
 */
#include "trace/trace.h"

#include "kernel/kernel.h"

#include <stdlib.h>
#include <string.h>

/* The source of a kernel has no lines to parse: it is run. */
static const struct wmi_format cuda_format = {.id = WM_FORMAT_CUDA, .name = "cuda", .probe = wmi_run_probe};

/* Accesses of a kernel in a chunk: about a mebibyte. */
#define RUN_ACCESSES 2048

/* Each format; where several are as sure of a trace, the first has it. */
static const struct wmi_format *const formats[] = {&wmi_text_format, &wmi_accelsim_format, &wmi_list_format,
                                                   &wmi_nvbit_format, &cuda_format};

#define FORMATS (sizeof formats / sizeof formats[0])

struct wm_chunk {
    struct wmi_parser parser;
    int is_last;  /* of its file */
    int finished; /* the file's end has been checked */
    char *file;
    char *memory;               /* WMI_MARGIN, text, WMI_MARGIN */
    struct wm_access *accesses; /* of a kernel that is run, instead of text */
    size_t accesses_count;
    size_t accesses_given;
};

struct wm_reader {
    const struct wmi_format *format; /* of the lines */
    struct wm_reader_options options;
    size_t chunk_bytes;        /* of text in a chunk, besides what was carried over */
    size_t text_bytes;         /* of text that a chunk has room for: with a line carried over, and a newline */
    struct wmi_run *run;       /* a kernel that is run: the rest is not used */
    struct wmi_list *list;     /* where files come from; NULL: only one */
    struct wmi_stream *stream; /* NULL: the list's next file is due */
    char *file;
    char *ahead; /* text that was read to recognise the format; NULL: all of it has been taken */
    size_t ahead_at;
    size_t ahead_length;
    char *carry; /* the start of a line that belongs to the next chunk */
    size_t carry_length;
    int at_end;                   /* of the file: nothing is left but carry */
    enum wm_status stream_status; /* WM_OK, or why the file cannot be read on, as stream_diag says */
    struct wm_diag stream_diag;
    int over;                  /* all has been handed out */
    int discarding;            /* the rest of a long line is not kept */
    struct wmi_parser scanner; /* the state in front of the next chunk */
    struct wm_chunk *chunk;    /* wm_reader_next()'s */
    struct wm_reader_notes notes;
    uint64_t consumed;     /* bytes of files that are done */
    enum wm_status status; /* WM_OK, or the failure that ended reading */
    struct wm_diag diag;
};

/* ------------------------------------------------------------------------------------------------------------ formats */

const char *wm_format_name(enum wm_format format)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (formats[i]->id == format)
            return formats[i]->name;
    }
    return NULL;
}

enum wm_format wm_format_by_name(const char *name)
{
    for (size_t i = 0; name && i < FORMATS; i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i]->id;
    }
    return WM_FORMAT_AUTO;
}

/* The format of that id, or any for WM_FORMAT_AUTO, that is surest of the text; NULL: none. */
static const struct wmi_format *recognise(enum wm_format id, const char *text, size_t length)
{
    const struct wmi_format *best = NULL;
    int best_score = 0;

    for (size_t i = 0; i < FORMATS; i++) {
        if (id == WM_FORMAT_AUTO || formats[i]->id == id) {
            const int score = formats[i]->probe(text, length);

            /* A format that was asked for gets the trace in any case, and says what is wrong with it. */
            if (score > best_score || (id != WM_FORMAT_AUTO && !best)) {
                best = formats[i];
                best_score = score;
            }
        }
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------------------- chunks */

void wm_reader_notes_add(struct wm_reader_notes *sum, const struct wm_reader_notes *more)
{
    sum->lines_skipped += more->lines_skipped;
    sum->instructions_skipped += more->instructions_skipped;
    if (sum->opcodes_unknown == 0)
        memcpy(sum->first_unknown, more->first_unknown, sizeof sum->first_unknown);
    sum->opcodes_unknown += more->opcodes_unknown;
    sum->copies_of_nothing += more->copies_of_nothing;
    sum->copies_without_shared += more->copies_without_shared;
    sum->lanes_guessed += more->lanes_guessed;
    sum->warps_torn += more->warps_torn;
}

static struct wm_chunk *new_chunk(size_t text_bytes)
{
    struct wm_chunk *chunk = calloc(1, sizeof *chunk);

    if (chunk)
        chunk->memory = malloc(text_bytes + 2 * WMI_MARGIN);
    if (!chunk || !chunk->memory) {
        free(chunk);
        return NULL;
    }
    memset(chunk->memory, 0, WMI_MARGIN);
    return chunk;
}

void wm_chunk_free(wm_chunk *chunk)
{
    if (!chunk)
        return;
    wmi_arena_free(&chunk->parser.arena);
    free(chunk->file);
    free(chunk->memory);
    free(chunk->accesses);
    free(chunk);
}

/* A line that was too long makes other errors too, which say less. */
static void check_length(struct wmi_parser *parser)
{
    const char *next = wmi_next_line(parser, parser->begin);

    if (!parser->format->skips_long_lines && (size_t)(next - parser->begin) > WMI_LINE_BYTES + 1 &&
        parser->status != WM_E_MEMORY)
        wmi_fail(parser, WM_E_SYNTAX, NULL, "a line of more than %d bytes", WMI_LINE_BYTES);
}

static void copy_access(struct wm_access *out, const struct wm_access *access)
{
    /* Destinations are the last of the struct, and seldom meant. A size that is not constant makes it a call of memcpy(),
     * which is faster than the instruction that compilers take for a constant one. */
    static const size_t sizes[2] = {offsetof(struct wm_access, shared_address), sizeof(struct wm_access)};
    const size_t size = sizes[access->opcode.operation == WM_CP_ASYNC];

    memcpy(out, access, size);
}

static enum wm_status next_access(struct wm_chunk *chunk, struct wm_access *out)
{
    struct wmi_parser *parser = &chunk->parser;
    const struct wmi_format *format = parser->format;

    if (WMI_UNLIKELY(parser->status != WM_OK))
        return parser->status;
    if (chunk->accesses) {
        if (chunk->accesses_given == chunk->accesses_count)
            return WM_END;
        copy_access(out, &chunk->accesses[chunk->accesses_given++]);
        return WM_OK;
    }
    while (parser->at < parser->end) {
        enum wm_status status;

        parser->begin = parser->at;
        parser->state.line++;
        status = format->line(parser);
        if (WMI_UNLIKELY((status != WM_OK && status != WM_END) || parser->at - parser->begin > WMI_LINE_BYTES + 1)) {
            check_length(parser);
            if (parser->status != WM_OK)
                return parser->status;
        }
        if (status == WM_OK) {
            copy_access(out, &parser->access);
            return WM_OK;
        }
    }
    if (chunk->is_last && !chunk->finished) {
        chunk->finished = 1;
        parser->begin = parser->at;
        if (format->finish(parser) != WM_OK)
            return parser->status;
    }
    return WM_END;
}

enum wm_status wm_chunk_next(wm_chunk *chunk, struct wm_access *out, struct wm_diag *diag)
{
    enum wm_status status;

    if (!chunk || !out)
        return wmi_diag_set(diag, WM_E_ARGUMENT, "", 0, 0, "a NULL pointer");
    status = next_access(chunk, out);
    if (status != WM_OK && status != WM_END && diag)
        *diag = chunk->parser.diag;
    return status;
}

void wm_chunk_place(const wm_chunk *chunk, struct wm_diag *diag)
{
    const struct wmi_parser *parser = &chunk->parser;
    struct wm_diag place;

    if (chunk->accesses) {
        const struct wm_access *access = &chunk->accesses[chunk->accesses_given ? chunk->accesses_given - 1 : 0];

        wmi_diag_set(&place, WM_OK, access->file, access->line, 0, "%s", "");
        memcpy(diag->file, place.file, sizeof diag->file);
        diag->line = access->line;
        diag->column = 0;
        return;
    }
    wmi_diag_set(&place, WM_OK, parser->file, 0, 0, "%s", "");
    memcpy(diag->file, place.file, sizeof diag->file);
    diag->line = parser->state.line;
    diag->column = parser->addresses ? (uint64_t)(parser->addresses - parser->begin) + 1 : 0;
}

void wm_chunk_notes(const wm_chunk *chunk, struct wm_reader_notes *out)
{
    *out = chunk->parser.notes;
}

/* -------------------------------------------------------------------------------------------------------------- files */

static enum wm_status fail(struct wm_reader *reader, enum wm_status status, const char *text)
{
    reader->status = wmi_diag_set(&reader->diag, status, reader->file, 0, 0, "%s", text);
    return reader->status;
}

/* Takes a new file: its name, the parser's state at its beginning. */
static enum wm_status begin_file(struct wm_reader *reader, const char *name)
{
    char *copy = strdup(name);

    if (!copy)
        return fail(reader, WM_E_MEMORY, "out of memory");
    free(reader->file);
    reader->file = copy;
    wmi_arena_free(&reader->scanner.arena);
    memset(&reader->scanner.state, 0, sizeof reader->scanner.state);
    reader->carry_length = 0;
    reader->at_end = 0;
    reader->stream_status = WM_OK;
    reader->discarding = 0;
    return WM_OK;
}

static void end_file(struct wm_reader *reader)
{
    uint64_t consumed;
    uint64_t total;

    wmi_stream_progress(reader->stream, &consumed, &total);
    reader->consumed += consumed;
    wmi_stream_close(reader->stream);
    reader->stream = NULL;
    reader->over = reader->list == NULL;
}

/* Goes to the list's next file. WM_END: there are no more. */
static enum wm_status next_file(struct wm_reader *reader)
{
    const char *path;
    enum wm_status status = wmi_list_next(reader->list, &reader->stream, &path, &reader->notes, &reader->diag);

    if (status == WM_OK)
        return begin_file(reader, path);
    reader->over = status == WM_END;
    if (status != WM_END)
        reader->status = status;
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- filling */

/* The next bytes of the file: what was read ahead, then from the stream. */
static enum wm_status read_bytes(struct wm_reader *reader, char *to, size_t size, size_t *got)
{
    const size_t waiting = reader->ahead_length - reader->ahead_at;

    if (!reader->ahead)
        return wmi_stream_read(reader->stream, to, size, got, &reader->stream_diag);
    *got = size < waiting ? size : waiting;
    memcpy(to, reader->ahead + reader->ahead_at, *got);
    reader->ahead_at += *got;
    if (reader->ahead_at == reader->ahead_length) {
        free(reader->ahead);
        reader->ahead = NULL;
    }
    return WM_OK;
}

/* Reads behind text[0 .. *length-1], up to size bytes in all. */
static void read_text(struct wm_reader *reader, char *text, size_t size, size_t *length)
{
    while (*length < size && !reader->at_end && reader->stream_status == WM_OK) {
        size_t got;

        reader->stream_status = read_bytes(reader, text + *length, size - *length, &got);
        if (reader->stream_status != WM_OK)
            return;
        if (got == 0)
            reader->at_end = 1;
        if (got > 0 && reader->discarding) {
            const char *newline = memchr(text + *length, '\n', got);

            if (!newline)
                continue;
            got -= (size_t)(newline - (text + *length));
            memmove(text + *length, newline, got);
            reader->discarding = 0;
        }
        *length += got;
    }
}

/* Keeps text[begin .. length-1], the start of a line, for the next chunk; of a line that is too long no more than shows
 * this. If the format allows none so long, the trace ends with it. */
static void keep_rest(struct wm_reader *reader, const char *text, size_t begin, size_t length)
{
    size_t rest = length - begin;

    if (rest > WMI_LINE_BYTES + 1) {
        rest = WMI_LINE_BYTES + 2;
        reader->discarding = reader->format->skips_long_lines;
        reader->at_end = !reader->discarding;
    }
    memcpy(reader->carry, text + begin, rest);
    reader->carry_length = rest;
}

/* Fills the chunk with text: whole lines, and at the end of the file what is left. */
static enum wm_status fill(struct wm_reader *reader, struct wm_chunk *chunk)
{
    char *text = chunk->memory + WMI_MARGIN;
    size_t length = reader->carry_length;
    size_t whole;

    memcpy(text, reader->carry, length);
    reader->carry_length = 0;
    read_text(reader, text, length + reader->chunk_bytes, &length);
    whole = length;
    if (!reader->at_end) {
        while (whole > 0 && text[whole - 1] != '\n')
            whole--;
        if (reader->stream_status == WM_OK)
            keep_rest(reader, text, whole, length);
        else if (whole == 0) {
            reader->diag = reader->stream_diag;
            reader->diag.line = reader->scanner.state.line + 1;
            reader->status = reader->stream_status;
            return reader->status;
        }
    }
    chunk->is_last = reader->at_end && reader->carry_length == 0;
    chunk->finished = 0;
    /* The end of a last line without its own, and zeros to look at. */
    text[whole] = '\n';
    memset(text + whole + 1, 0, WMI_MARGIN);
    chunk->parser.at = text;
    chunk->parser.end = text + whole;
    return WM_OK;
}

/* The next chunk's text and state. WM_END: there are no more chunks. */
static enum wm_status next_text(struct wm_reader *reader, struct wm_chunk *chunk)
{
    struct wmi_parser *parser = &chunk->parser;
    enum wm_status status;

    if (reader->status != WM_OK)
        return reader->status;
    if (reader->over)
        return WM_END;
    if (!reader->stream) {
        status = next_file(reader);
        if (status != WM_OK)
            return status;
    }
    if (!chunk->file || strcmp(chunk->file, reader->file) != 0) {
        free(chunk->file);
        chunk->file = strdup(reader->file);
        if (!chunk->file)
            return fail(reader, WM_E_MEMORY, "out of memory");
    }
    wmi_arena_free(&parser->arena);
    if (wmi_state_copy(&parser->arena, &parser->state, &reader->scanner.state) != WM_OK)
        return fail(reader, WM_E_MEMORY, "out of memory");
    status = fill(reader, chunk);
    if (status != WM_OK)
        return status;
    parser->format = reader->format;
    parser->file = chunk->file;
    parser->begin = parser->at;
    parser->addresses = NULL;
    parser->kernel_used = 0;
    parser->unnamed = NULL;
    parser->source = NULL;
    parser->access.l1 = (uint32_t)reader->options.l1;
    if (chunk->is_last)
        end_file(reader);
    return WM_OK;
}

/* Makes *from, which is in an arena that is about to go or to grow, the scanner's state. */
static enum wm_status adopt_state(struct wm_reader *reader, const struct wmi_state *from)
{
    struct wmi_arena arena = {0};
    struct wmi_state state;
    const enum wm_status status = wmi_state_copy(&arena, &state, from);

    if (status != WM_OK) {
        wmi_arena_free(&arena);
        return fail(reader, status, "out of memory");
    }
    wmi_arena_free(&reader->scanner.arena);
    reader->scanner.arena = arena;
    reader->scanner.state = state;
    return WM_OK;
}

/* Brings the scanner behind a chunk's text. */
static enum wm_status scan(struct wm_reader *reader, const struct wm_chunk *chunk)
{
    struct wmi_parser *scanner = &reader->scanner;

    scanner->format = reader->format;
    scanner->file = chunk->file;
    scanner->at = chunk->parser.at;
    scanner->end = chunk->parser.end;
    scanner->status = WM_OK;
    scanner->kernel_used = 0;
    scanner->unnamed = NULL;
    scanner->source = NULL;
    reader->format->scan(scanner);
    if (scanner->status == WM_E_MEMORY)
        return fail(reader, WM_E_MEMORY, "out of memory");
    return adopt_state(reader, &scanner->state);
}

/* The next accesses of a kernel that is run. */
static enum wm_status run_chunk(struct wm_reader *reader, wm_chunk **out, struct wm_diag *diag)
{
    struct wm_chunk *chunk = calloc(1, sizeof *chunk);
    enum wm_status status;

    if (chunk)
        chunk->accesses = malloc(RUN_ACCESSES * sizeof *chunk->accesses);
    if (!chunk || !chunk->accesses) {
        free(chunk);
        return wmi_diag_set(diag, WM_E_MEMORY, reader->file, 0, 0, "out of memory");
    }
    status = wmi_run_many(reader->run, chunk->accesses, RUN_ACCESSES, &chunk->accesses_count, diag);
    if (status == WM_OK)
        *out = chunk;
    else
        wm_chunk_free(chunk);
    return status;
}

enum wm_status wm_reader_chunk(wm_reader *reader, wm_chunk **out, struct wm_diag *diag)
{
    struct wm_chunk *chunk;
    enum wm_status status;

    if (!reader || !out)
        return wmi_diag_set(diag, WM_E_ARGUMENT, "", 0, 0, "a NULL pointer");
    if (reader->run)
        return run_chunk(reader, out, diag);
    chunk = new_chunk(reader->text_bytes);
    if (!chunk) {
        status = fail(reader, WM_E_MEMORY, "out of memory");
    } else {
        status = next_text(reader, chunk);
        if (status == WM_OK)
            status = scan(reader, chunk);
    }
    if (status == WM_OK) {
        *out = chunk;
        return WM_OK;
    }
    wm_chunk_free(chunk);
    if (status != WM_END && diag)
        *diag = reader->diag;
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- reader */

/* Moves wm_reader_next()'s chunk on to the next text. */
static enum wm_status advance(struct wm_reader *reader)
{
    struct wm_chunk *chunk = reader->chunk;
    enum wm_status status;

    if (reader->status != WM_OK)
        return reader->status;
    if (!chunk) {
        reader->chunk = chunk = new_chunk(reader->text_bytes);
        if (!chunk)
            return fail(reader, WM_E_MEMORY, "out of memory");
    } else if (chunk->parser.end) {
        status = adopt_state(reader, &chunk->parser.state);
        if (status != WM_OK)
            return status;
    }
    /* Nothing is left to parse, whatever comes now. */
    chunk->parser.at = chunk->parser.end = NULL;
    return next_text(reader, chunk);
}

enum wm_status wm_reader_next(wm_reader *reader, struct wm_access *out, struct wm_diag *diag)
{
    enum wm_status status;

    if (!reader || !out)
        return wmi_diag_set(diag, WM_E_ARGUMENT, "", 0, 0, "a NULL pointer");
    if (reader->run)
        return wmi_run_next(reader->run, out, diag);
    for (;;) {
        if (reader->chunk && reader->chunk->parser.end) {
            status = next_access(reader->chunk, out);
            if (status == WM_OK)
                return WM_OK;
            if (status != WM_END) {
                if (diag)
                    *diag = reader->chunk->parser.diag;
                return status;
            }
        }
        status = advance(reader);
        if (status != WM_OK)
            break;
    }
    if (status != WM_END && diag)
        *diag = reader->diag;
    return status;
}

void wm_reader_place(const wm_reader *reader, struct wm_diag *diag)
{
    if (reader->chunk)
        wm_chunk_place(reader->chunk, diag);
}

void wm_reader_notes(const wm_reader *reader, struct wm_reader_notes *out)
{
    *out = reader->notes;
    if (reader->chunk)
        wm_reader_notes_add(out, &reader->chunk->parser.notes);
}

const char *wm_reader_remark_at(wm_reader *reader, size_t index, int *is_warning)
{
    int ignored;

    return reader && reader->run ? wmi_run_remark_at(reader->run, index, is_warning ? is_warning : &ignored) : NULL;
}

enum wm_status wm_reader_dump(wm_reader *reader, const char *name, wm_write_function write, void *context,
                              struct wm_diag *diag)
{
    if (!reader || !reader->run || !name || !write)
        return wmi_diag_set(diag, WM_E_ARGUMENT, "", 0, 0, "only a kernel that is run has buffers");
    return wmi_run_dump(reader->run, name, write, context, diag);
}

const struct wm_array *wm_reader_array_at(const wm_reader *reader, size_t index)
{
    return reader && reader->run ? wmi_run_array_at(reader->run, index) : NULL;
}

enum wm_format wm_reader_format(const wm_reader *reader)
{
    return reader->format->id;
}

void wm_reader_progress(const wm_reader *reader, uint64_t *consumed, uint64_t *total)
{
    uint64_t current = 0;

    if (reader->run) {
        uint64_t all;

        wmi_run_progress(reader->run, consumed, total, &all);
        return;
    }
    *total = 0;
    if (reader->stream)
        wmi_stream_progress(reader->stream, &current, total);
    *consumed = reader->consumed + current;
    if (reader->list)
        *total = 0; /* the sizes of the files to come are not known */
    else if (reader->over)
        *total = *consumed;
}

static int is_cuda_name(const char *path)
{
    const size_t length = path ? strlen(path) : 0;

    return length > 3 && strcmp(path + length - 3, ".cu") == 0;
}

/* Reads a kernel's source to its end. */
static enum wm_status open_run(struct wm_reader *reader)
{
    const enum wm_status status = wmi_run_open(reader->stream, reader->file, reader->ahead, reader->ahead_length,
                                               reader->options.launch, &reader->run, &reader->diag);

    if (status != WM_OK)
        return status;
    wmi_run_set_l1(reader->run, reader->options.l1);
    wmi_stream_close(reader->stream);
    reader->stream = NULL;
    free(reader->ahead);
    reader->ahead = NULL;
    return WM_OK;
}

/* Looks at what was read ahead. */
static enum wm_status choose_format(struct wm_reader *reader, const char *path)
{
    enum wm_status status;
    size_t got;
    char byte;

    if (reader->options.format == WM_FORMAT_AUTO && is_cuda_name(path))
        reader->format = &cuda_format;
    else
        reader->format = recognise(reader->options.format, reader->ahead, reader->ahead_length);
    if (!reader->format) {
        /* There may be too little to see because what follows cannot be read. */
        status = wmi_stream_read(reader->stream, &byte, 1, &got, &reader->diag);
        if (status != WM_OK)
            return status;
        if (reader->ahead_length == 0)
            return fail(reader, WM_E_SYNTAX, "the file is empty");
        return fail(reader, WM_E_SYNTAX,
                    "not a trace of a known format: text (wmt 1), accelsim (.traceg or "
                    "kernelslist.g), nvbit (mem_trace output); nor the source of a CUDA kernel");
    }
    if (reader->format == &cuda_format)
        return open_run(reader);
    if (!reader->format->elements)
        return WM_OK;
    status = wmi_list_new(reader->stream, path, reader->ahead, reader->ahead_length, &reader->list, &reader->diag);
    if (status != WM_OK)
        return status;
    free(reader->ahead);
    reader->ahead = NULL;
    reader->stream = NULL;
    reader->format = reader->format->elements;
    return WM_OK;
}

/* Reads the first text, chooses the format. Takes over the stream, also on failure. path: where it is; NULL: nowhere. */
static enum wm_status open_stream(struct wmi_stream *stream, const char *path, const struct wm_reader_options *options,
                                  size_t chunk_bytes, wm_reader **out, struct wm_diag *diag)
{
    const size_t window = chunk_bytes > WMI_LINE_BYTES ? chunk_bytes : WMI_LINE_BYTES;
    struct wm_reader *reader = calloc(1, sizeof *reader);
    enum wm_status status;

    if (!reader) {
        wmi_stream_close(stream);
        return wmi_diag_set(diag, WM_E_MEMORY, path ? path : "memory", 0, 0, "out of memory");
    }
    reader->stream = stream;
    reader->chunk_bytes = chunk_bytes;
    reader->text_bytes = chunk_bytes + WMI_LINE_BYTES + 2 + 1;
    if (options)
        reader->options = *options;
    status = begin_file(reader, path ? path : "memory");
    if (status != WM_OK)
        goto failed;
    reader->carry = malloc(WMI_LINE_BYTES + 2);
    reader->ahead = malloc(window);
    if (!reader->carry || !reader->ahead) {
        status = fail(reader, WM_E_MEMORY, "out of memory");
        goto failed;
    }
    status = wmi_stream_read(stream, reader->ahead, window, &reader->ahead_length, &reader->diag);
    if (status != WM_OK)
        goto failed;
    status = choose_format(reader, path);
    if (status != WM_OK)
        goto failed;
    *out = reader;
    return WM_OK;

failed:
    if (diag)
        *diag = reader->diag;
    wm_reader_close(reader);
    return status;
}

static int are_valid(const struct wm_reader_options *options)
{
    return !options ||
           (options->l1 <= WM_L1_HIT && (options->format == WM_FORMAT_AUTO || wm_format_name(options->format) != NULL));
}

enum wm_status wm_reader_open(const char *path, const struct wm_reader_options *options, wm_reader **out,
                              struct wm_diag *diag)
{
    struct wmi_stream *stream;
    enum wm_status status;

    if (!path || !out || !are_valid(options))
        return wmi_diag_set(diag, WM_E_ARGUMENT, path ? path : "", 0, 0, "a NULL pointer, or an unknown option");
    status = wmi_stream_open(path, &stream, diag);
    return status == WM_OK ? open_stream(stream, path, options, WMI_CHUNK_BYTES, out, diag) : status;
}

enum wm_status wmi_reader_open_memory(const void *data, size_t size, const struct wm_reader_options *options,
                                      size_t chunk_bytes, wm_reader **out, struct wm_diag *diag)
{
    struct wmi_stream *stream;
    enum wm_status status = wmi_stream_open_memory(data, size, &stream, diag);

    return status == WM_OK ? open_stream(stream, NULL, options, chunk_bytes, out, diag) : status;
}

enum wm_status wm_reader_open_memory(const void *data, size_t size, const struct wm_reader_options *options,
                                     wm_reader **out, struct wm_diag *diag)
{
    if ((size && !data) || !out || !are_valid(options))
        return wmi_diag_set(diag, WM_E_ARGUMENT, "", 0, 0, "a NULL pointer, or an unknown option");
    return wmi_reader_open_memory(data, size, options, WMI_CHUNK_BYTES, out, diag);
}

enum wm_status wm_reader_open_expressions(const struct wm_expressions *input, const struct wm_reader_options *options,
                                          wm_reader **out, struct wm_diag *diag)
{
    enum wm_status status;
    wm_reader *reader;

    if (!input || !out || !are_valid(options))
        return wmi_diag_set(diag, WM_E_ARGUMENT, "", 0, 0, "a NULL pointer, or an unknown option");
    reader = calloc(1, sizeof *reader);
    if (reader)
        reader->file = strdup("expression");
    if (!reader || !reader->file) {
        free(reader);
        return wmi_diag_set(diag, WM_E_MEMORY, "expression", 0, 0, "out of memory");
    }
    reader->format = &cuda_format;
    if (options)
        reader->options = *options;
    status = wmi_run_new_expressions(input, reader->options.launch, &reader->run, diag);
    if (status != WM_OK) {
        wm_reader_close(reader);
        return status;
    }
    wmi_run_set_l1(reader->run, reader->options.l1);
    *out = reader;
    return WM_OK;
}

void wm_reader_close(wm_reader *reader)
{
    if (!reader)
        return;
    wm_chunk_free(reader->chunk);
    wmi_arena_free(&reader->scanner.arena);
    wmi_list_free(reader->list);
    wmi_run_free(reader->run);
    wmi_stream_close(reader->stream);
    free(reader->file);
    free(reader->ahead);
    free(reader->carry);
    free(reader);
}
