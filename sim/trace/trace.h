/*
 * What the trace readers share. Internal to the library.
 *
 *     stream.c   bytes of a file, decompressed
 *     reader.c   recognises the format, cuts the bytes into chunks between lines, runs a format over them
 *     parse.c    what the formats need: places and messages, numbers, kernels, strings
 *     text.c accelsim.c nvbit.c   one format each: struct wmi_format
 *     sass.c     NVIDIA's machine opcodes, for traces that name these
 *     list.c     kernelslist.g: the files of a trace in several
 *
 * A new format is one new file and one row in reader.c.
 */
#ifndef WM_TRACE_H
#define WM_TRACE_H

#include "model/status.h"
#include "trace/digits.h"
#include "warpmem.h"

/* Longest line, without its newline. The longest honest one is a list of 64 addresses, or a mangled kernel name. */
#define WMI_LINE_BYTES 65536

/* Bytes of trace in a chunk, give or take a line. */
#define WMI_CHUNK_BYTES (1024 * 1024)

/* Bytes before and behind a chunk's text that may be read (digits.h). */
#define WMI_MARGIN 64

#if defined(__GNUC__)
#define WMI_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#else
#define WMI_UNLIKELY(condition) (condition)
#endif

/* ---------------------------------------------------------------------------------------------------------- stream.c */

struct wmi_stream;

/* Opens a file, or standard input for "-", and finds out how it is compressed. */
enum wm_status wmi_stream_open(const char *path, struct wmi_stream **out, struct wm_diag *diag);

/* The same on data[0 .. size-1], which must outlive the stream. */
enum wm_status wmi_stream_open_memory(const void *data, size_t size, struct wmi_stream **out, struct wm_diag *diag);

/* The next bytes, as many as there are up to size; *got = 0: the end. On failure what was read before has been given.
 * diag->line and column are 0. */
enum wm_status wmi_stream_read(struct wmi_stream *stream, char *to, size_t size, size_t *got, struct wm_diag *diag);

/* Bytes of the file taken so far, as they are on disk, and in all (0: not known). */
void wmi_stream_progress(const struct wmi_stream *stream, uint64_t *consumed, uint64_t *total);

void wmi_stream_close(struct wmi_stream *stream);

/* ----------------------------------------------------------------------------------------------------------- parse.c */

/* Memory that is freed all at once. All zero: empty. */
struct wmi_arena {
    struct wmi_block *blocks;
    char *at;
    size_t left;
};

void *wmi_arena_take(struct wmi_arena *arena, size_t size);
const char *wmi_arena_text(struct wmi_arena *arena, const char *text, size_t length);
void wmi_arena_free(struct wmi_arena *arena);

/* Launches whose kernel is remembered at a time. */
#define WMI_LAUNCHES 16

/* Where an Accel-Sim trace stands. */
struct wmi_accelsim {
    int stage;            /* enum stage in accelsim.c */
    uint32_t version;     /* 0: not said yet */
    uint32_t line_info;   /* 1: each instruction starts with a source line */
    uint64_t shared_base; /* address windows; 0: not said */
    uint64_t local_base;
    uint64_t instructions; /* that the current warp still has */
};

/*
 * All that a line's meaning depends on, besides the line: with a copy of it a chunk can be parsed alone. scan() and
 * line() of a format must leave the same state behind the same lines, as long as these are valid.
 */
struct wmi_state {
    uint64_t line;                            /* lines before the next one */
    struct wm_kernel *launches[WMI_LAUNCHES]; /* in the arena; [newest] is the current one */
    unsigned newest;
    uint32_t block[3];
    uint32_t warp;
    int begun;          /* text: "wmt 1" was seen */
    int addresses;      /* text: enum addresses in text.c: what the current kernel's global addresses are */
    unsigned undecided; /* text: its accesses so far that did not tell */
    struct wmi_accelsim accelsim;
};

/* Copies *from and the kernels that it points to. */
enum wm_status wmi_state_copy(struct wmi_arena *arena, struct wmi_state *to, const struct wmi_state *from);

/* An opcode's text and what came of it: most traces have a handful of them, millions of times. */
#define WMI_OPCODE_SLOTS 64
#define WMI_OPCODE_BYTES 56

struct wmi_opcode_slot {
    char text[WMI_OPCODE_BYTES];
    uint64_t first;  /* its first eight bytes, or all and zeros behind them */
    uint64_t last;   /* its last eight */
    uint32_t length; /* 0: free */
    struct wm_opcode opcode;
    int kind; /* enum wmi_sass_kind; not used by text traces */
};

/* Numbers whose length is seldom another than before. */
enum wmi_guess { WMI_GUESS_PC, WMI_GUESS_MASK, WMI_GUESS_ADDRESS, WMI_GUESSES };

/* A place in a trace's text with all that belongs to it. */
struct wmi_parser {
    const struct wmi_format *format;
    const char *file;
    const char *at; /* the next line; text ends with a newline, if need be one at *end */
    const char *end;
    const char *begin; /* the line being parsed */
    struct wmi_arena arena;
    struct wmi_state state;
    struct wm_access access; /* what line() fills */
    const char *addresses;   /* in the line that access is from */
    struct wm_reader_notes notes;
    enum wm_status status; /* WM_OK, or why parsing ended */
    struct wm_diag diag;
    int kernel_used;           /* the newest launch's record has been given away */
    struct wm_kernel *unnamed; /* stands in for a launch that the trace does not introduce */
    const char *source;        /* the last source file, in the arena; NULL: none yet */
    size_t source_length;
    unsigned guesses[WMI_GUESSES]; /* digits less one, as there is at least one; 15 digits at the most */
    struct wmi_opcode_slot slots[WMI_OPCODE_SLOTS];
};

/* A format. */
struct wmi_format {
    enum wm_format id;
    const char *name;
    int skips_long_lines;              /* else a line above WMI_LINE_BYTES ends the trace */
    const struct wmi_format *elements; /* the trace is a list of files of that format */
    /* How sure it is, from 0, no, to 2, that text[0 .. length-1], the start of a trace, is of this format. */
    int (*probe)(const char *text, size_t length);
    /* Brings the state from the first line of parser->at .. end behind the last one, without the accesses in between,
     * and without an opinion on errors. */
    void (*scan)(struct wmi_parser *parser);
    /* Parses the line at parser->at (parser->begin is the same, state.line its number) and moves at behind it. WM_OK:
     * parser->access holds an access; WM_END: it was another valid line; else an error. */
    enum wm_status (*line)(struct wmi_parser *parser);
    /* Whether a trace may end here. WM_OK or an error. */
    enum wm_status (*finish)(struct wmi_parser *parser);
};

extern const struct wmi_format wmi_text_format;
extern const struct wmi_format wmi_accelsim_format;
extern const struct wmi_format wmi_list_format;
extern const struct wmi_format wmi_nvbit_format;

/* Ends parsing: fills parser->status and diag, with the column of at (NULL: the whole line). Returns status. */
enum wm_status wmi_fail(struct wmi_parser *parser, enum wm_status status, const char *at, const char *format, ...)
    WMI_PRINTF(4, 5);

/* The same for a syntax error: "expected WHAT, found ..." with what stands there. */
enum wm_status wmi_expected(struct wmi_parser *parser, const char *at, const char *what);

static inline const char *wmi_skip_blanks(const char *p)
{
    while (*p == ' ' || *p == '\t')
        p++;
    return p;
}

/* Behind the newline from p on. */
const char *wmi_next_line(const struct wmi_parser *parser, const char *p);

/* Whether the text at p starts with text, which is shorter than WMI_MARGIN. */
static inline int wmi_starts(const char *p, const char *text)
{
    return memcmp(p, text, strlen(text)) == 0;
}

/* Whether it starts with the word, and a blank or the line's end behind it. */
static inline int wmi_is_word(const char *p, const char *word)
{
    return wmi_starts(p, word) && (unsigned char)p[strlen(word)] <= ' ';
}

/* Numbers, from *at, which is moved behind them: decimal; hex digits without 0x; decimal or 0x with hex digits; decimal
 * with or without a minus sign. what names it in messages. */
enum wm_status wmi_decimal(struct wmi_parser *parser, const char **at, uint64_t max, const char *what, uint64_t *value);
enum wm_status wmi_hex(struct wmi_parser *parser, const char **at, const char *what, uint64_t *value);
enum wm_status wmi_number(struct wmi_parser *parser, const char **at, uint64_t max, const char *what, uint64_t *value);
enum wm_status wmi_signed(struct wmi_parser *parser, const char **at, const char *what, int64_t *value);

/* The same, fast for one digit, and for as many digits as the last number of that kind had: where the next field begins is
 * then foreseen by the processor, not computed. */
static inline enum wm_status wmi_small(struct wmi_parser *parser, const char **at, uint64_t max, const char *what,
                                       uint64_t *value)
{
    const unsigned digit = (unsigned char)(*at)[0] - (unsigned)'0';

    if (digit > 9 || digit > max || (unsigned char)((*at)[1] - '0') <= 9)
        return wmi_decimal(parser, at, max, what, value);
    ++*at;
    *value = digit;
    return WM_OK;
}

static inline enum wm_status wmi_signed_small(struct wmi_parser *parser, const char **at, const char *what,
                                              int64_t *value)
{
    const unsigned digit = (unsigned char)(*at)[0] - (unsigned)'0';

    if (digit > 9 || (unsigned char)((*at)[1] - '0') <= 9)
        return wmi_signed(parser, at, what, value);
    ++*at;
    *value = (int64_t)digit;
    return WM_OK;
}

static inline enum wm_status wmi_hex_likely(struct wmi_parser *parser, const char **at, enum wmi_guess guess,
                                            const char *what, uint64_t *value)
{
    const unsigned likely = parser->guesses[guess] + 1;
    const char *begin = *at;
    enum wm_status status;

    if (wmi_hex_run_is(begin, likely)) {
        *value = wmi_hex_value(begin, likely);
        *at = begin + likely;
        return WM_OK;
    }
    status = wmi_hex(parser, at, what, value);
    if (status == WM_OK)
        parser->guesses[guess] = *at - begin < 16 ? (unsigned)(*at - begin) - 1 : 0;
    return status;
}

/* A comma-separated triple of decimal numbers. */
enum wm_status wmi_triple(struct wmi_parser *parser, const char **at, const char *what, uint32_t values[3]);

/* Makes an empty record the newest launch, in place of the current one. NULL: no memory; the parser has failed. */
struct wm_kernel *wmi_kernel_new(struct wmi_parser *parser);

/* The current kernel for an access: a record that stays as it is. NULL: no memory; the parser has failed. */
const struct wm_kernel *wmi_kernel_use(struct wmi_parser *parser);

/* The slot of an opcode, or a free one (length 0) to be filled; NULL: the text is too long for one. */
struct wmi_opcode_slot *wmi_opcode_slot(struct wmi_parser *parser, const char *text, size_t length);

/* Fills the fields of parser->access that are the same for most accesses: count 1, no pc, no source line, current kernel,
 * block and warp. WM_E_MEMORY. */
enum wm_status wmi_access_start(struct wmi_parser *parser);

/* Moves values[0 .. popcount - 1] to the active lanes, ascending. */
void wmi_scatter(const uint64_t *values, uint32_t mask, uint64_t address[WM_LANES]);

static inline unsigned wmi_lanes(uint32_t mask)
{
    return mask == UINT32_MAX ? WM_LANES : (unsigned)__builtin_popcount(mask);
}

/* ------------------------------------------------------------------------------------------------------------ sass.c */

enum wmi_sass_kind {
    WMI_SASS_UNKNOWN = 0, /* not modelled */
    WMI_SASS_PLAIN = 1,
    WMI_SASS_GENERIC = 2, /* the space depends on the address; opcode.space is what to take where it is not known */
    WMI_SASS_COPY = 3     /* LDGSTS; the opcode is a load's of its global side */
};

/* What a machine opcode such as LDG.E.64.SYS does, from text[0 .. length-1]. */
enum wmi_sass_kind wmi_sass_decode(const char *text, size_t length, struct wm_opcode *out);

/* The same through the parser's slots. The result lives until the next call. */
const struct wmi_opcode_slot *wmi_sass(struct wmi_parser *parser, const char *text, size_t length,
                                       struct wmi_opcode_slot *scratch);

/* Whether an instruction that a trace lists without addresses moves data through L1 or shared memory all the same: in bulk,
 * by descriptors, by coordinates. */
int wmi_sass_moves_data(const char *text, size_t length);

/* In a cluster's block a shared address has the block's number above the offset: leaves the offset. */
#define WMI_CLUSTER_BLOCK_BYTES (UINT64_C(1) << 24)
#define WMI_CLUSTER_BYTES       (UINT64_C(16) << 24)
void wmi_sass_own_offsets(struct wm_access *access);

/* Counts an instruction that is skipped because its opcode is not modelled. */
void wmi_sass_unknown(struct wmi_parser *parser, const char *text, size_t length);

/* ------------------------------------------------------------------------------------------------------------ list.c */

struct wmi_list;

/* Takes over a list's stream and the text[0 .. length-1] that was read from it already, for looking at. path is where
 * the list is, for the folder of its files; NULL: its files are not to be opened. On failure the stream is still the
 * caller's. */
enum wm_status wmi_list_new(struct wmi_stream *stream, const char *path, const char *text, size_t length,
                            struct wmi_list **out, struct wm_diag *diag);

/* Opens the next file; *path lives until the next call. WM_END: there are no more. Counts what it skips. */
enum wm_status wmi_list_next(struct wmi_list *list, struct wmi_stream **out, const char **path,
                             struct wm_reader_notes *notes, struct wm_diag *diag);

/* Of the list itself. */
void wmi_list_progress(const struct wmi_list *list, uint64_t *consumed, uint64_t *total);
void wmi_list_free(struct wmi_list *list);

/* ---------------------------------------------------------------------------------------------------------- reader.c */

/* wm_reader_open() on data[0 .. size-1], which must outlive the reader, with chunks of 1 to WMI_CHUNK_BYTES. A kernel list's
 * files are not opened. */
enum wm_status wmi_reader_open_memory(const void *data, size_t size, const struct wm_reader_options *options,
                                      size_t chunk_bytes, wm_reader **out, struct wm_diag *diag);

#endif
