/*
 * warpmem's own text trace (.wmt). Its grammar stands in traces/README.
 *
 * A line is a comment, "wmt 1", a kernel, a warp, or an access; nothing else is let through.
 */
#include "trace/trace.h"

#include <string.h>

#define VERSION 1

/* -------------------------------------------------------------------------------------------------------------- lines */

/* Ends a line: blanks, perhaps a comment. */
static enum wm_status end_of_line(struct wmi_parser *parser, const char *p, const char *expected)
{
    p = wmi_skip_blanks(p);
    if (*p == '#') {
        while ((*p >= ' ' && *p <= '~') || *p == '\t')
            p++;
        expected = "printable ASCII in a comment";
    }
    if (WMI_UNLIKELY(*p != '\n'))
        return wmi_expected(parser, p, expected);
    parser->at = p + 1;
    return WM_OK;
}

/* Moves *at over at least one blank. Returns 0, and leaves it, where none is. */
static int skip_gap(const char **at)
{
    const char *p = wmi_skip_blanks(*at);

    if (p == *at)
        return 0;
    *at = p;
    return 1;
}

/* Whether the line ends at p. */
static int is_end(const char *p)
{
    return *p == '\n' || *p == '#';
}

static enum wm_status parse_version(struct wmi_parser *parser, const char *p)
{
    uint64_t version;
    enum wm_status status;

    if (!wmi_is_word(p, "wmt"))
        return wmi_expected(parser, p, "'wmt 1', the first line of a text trace");
    p = wmi_skip_blanks(p + 3);
    status = wmi_decimal(parser, &p, UINT64_MAX, "the format's version", &version);
    if (status != WM_OK)
        return status;
    if (version != VERSION)
        return wmi_fail(parser, WM_E_UNSUPPORTED, p, "text trace of version %llu; this program reads version %d",
                        (unsigned long long)version, VERSION);
    parser->state.begun = 1;
    return end_of_line(parser, p, "the end of the line");
}

/* -------------------------------------------------------------------------------------------------------------- names */

/* A character of an unquoted name. */
static int is_plain(char c)
{
    return c > ' ' && c <= '~' && c != '"' && c != '#';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One escape sequence, from behind the backslash. Returns its length, 0 if it is none. */
static unsigned unescape(const char *p, char *out)
{
    int high;
    int low;

    switch (*p) {
    case '"':
    case '\\': *out = *p; return 1;
    case 'n': *out = '\n'; return 1;
    case 'r': *out = '\r'; return 1;
    case 't': *out = '\t'; return 1;
    case 'x':
        high = hex_digit(p[1]);
        low = high < 0 ? -1 : hex_digit(p[2]);
        if (low < 0 || high + low == 0)
            return 0;
        *out = (char)(unsigned char)(high * 16 + low);
        return 3;
    default: return 0;
    }
}

/* A name in double quotes, into the arena. */
static enum wm_status parse_quoted(struct wmi_parser *parser, const char **at, const char **name, size_t *length)
{
    const char *p = *at + 1;
    size_t size = 0;
    char *text;

    while (p[size] != '"' && p[size] != '\n')
        size += p[size] == '\\' && p[size + 1] != '\n' ? 2 : 1;
    text = wmi_arena_take(&parser->arena, size + 1);
    if (!text)
        return wmi_fail(parser, WM_E_MEMORY, NULL, "out of memory");
    size = 0;
    while (*p != '"') {
        if (*p == '\\') {
            const unsigned taken = unescape(p + 1, &text[size]);

            if (!taken)
                return wmi_fail(parser, WM_E_SYNTAX, p,
                                "unknown escape: known are \\\" \\\\ \\n \\r \\t and \\x01 to \\xff");
            size++;
            p += 1 + taken;
        } else if ((*p >= ' ' && *p <= '~') || *p == '\t') {
            text[size++] = *p++;
        } else {
            return wmi_expected(parser, p, "a double quote that ends the name");
        }
    }
    text[size] = '\0';
    *name = text;
    *length = size;
    *at = p + 1;
    return WM_OK;
}

/* A name, quoted or not, into the arena. */
static enum wm_status parse_name(struct wmi_parser *parser, const char **at, const char *what, const char **name)
{
    const char *p = *at;
    size_t length;

    if (*p == '"')
        return parse_quoted(parser, at, name, &length);
    while (is_plain(*p))
        p++;
    if (p == *at)
        return wmi_expected(parser, p, what);
    *name = wmi_arena_text(&parser->arena, *at, (size_t)(p - *at));
    if (!*name)
        return wmi_fail(parser, WM_E_MEMORY, NULL, "out of memory");
    *at = p;
    return WM_OK;
}

/* --------------------------------------------------------------------------------------------------------------- keys */

/* Finds the key at *at in the NULL-ended list of names and moves behind its '='. seen holds a bit per key of this line. */
static enum wm_status parse_key(struct wmi_parser *parser, const char **at, const char *const *names,
                                const char *expected, unsigned *key, unsigned *seen)
{
    for (unsigned i = 0; names[i]; i++) {
        size_t length;

        if (**at != names[i][0])
            continue;
        length = strlen(names[i]);
        if (memcmp(*at, names[i], length) != 0 || (*at)[length] != '=')
            continue;
        if (*seen & 1U << i)
            return wmi_fail(parser, WM_E_SYNTAX, *at, "%s= stands twice", names[i]);
        *seen |= 1U << i;
        *key = i;
        *at += length + 1;
        return WM_OK;
    }
    return wmi_expected(parser, *at, expected);
}

/* X[,Y[,Z]]: what is left out is 1. */
static enum wm_status parse_dimensions(struct wmi_parser *parser, const char **at, const char *what, uint32_t values[3])
{
    const char *p = *at;

    for (int i = 0; i < 3; i++) {
        const char *begin = p;
        uint64_t value = 1;

        if (i == 0 || *p == ',') {
            enum wm_status status;

            p += i > 0;
            begin = p;
            status = wmi_decimal(parser, &p, UINT32_MAX, what, &value);
            if (status != WM_OK)
                return status;
        }
        if (value == 0)
            return wmi_fail(parser, WM_E_RANGE, begin, "%s is 0", what);
        values[i] = (uint32_t)value;
    }
    *at = p;
    return WM_OK;
}

enum kernel_key { KERNEL_GRID, KERNEL_BLOCK, KERNEL_LAUNCH, KERNEL_SMEM, KERNEL_SOURCE };
static const char *const kernel_keys[] = {"grid", "block", "launch", "smem", "source", NULL};
static const char kernel_keys_text[] = "grid=, block=, launch=, smem= or source=";

static enum wm_status parse_kernel_value(struct wmi_parser *parser, const char **at, unsigned key,
                                         struct wm_kernel *kernel)
{
    switch ((enum kernel_key)key) {
    case KERNEL_GRID: return parse_dimensions(parser, at, "a number of blocks", kernel->grid);
    case KERNEL_BLOCK: return parse_dimensions(parser, at, "a number of threads", kernel->block);
    case KERNEL_LAUNCH: return wmi_decimal(parser, at, UINT64_MAX, "the launch number", &kernel->launch);
    case KERNEL_SMEM: return wmi_decimal(parser, at, UINT64_MAX, "the shared memory size", &kernel->shared_bytes);
    default: return parse_name(parser, at, "a file name", &kernel->source);
    }
}

/* What the global addresses of a kernel are: its first global access other than to address 0 tells. Virtual addresses of
 * device memory lie far above 4 GiB; traces of probes hold offsets into a buffer instead. */
enum addresses { ADDRESSES_UNKNOWN, ADDRESSES_OFFSETS, ADDRESSES_VIRTUAL };

/* Accesses of a kernel after which it no longer matters: scan() has to parse those in front. */
#define ACCESSES_UNDECIDED 4096

static enum wm_status parse_kernel(struct wmi_parser *parser, const char *p)
{
    struct wm_kernel *kernel = wmi_kernel_new(parser);
    const char *name_end;
    enum wm_status status;
    unsigned key;
    unsigned seen = 0;

    if (!kernel)
        return parser->status;
    parser->state.addresses = ADDRESSES_UNKNOWN;
    parser->state.undecided = 0;
    p = wmi_skip_blanks(p + strlen("kernel"));
    /* A kernel whose name was forgotten, not one of that name. */
    for (unsigned i = 0; kernel_keys[i]; i++) {
        if (wmi_starts(p, kernel_keys[i]) && p[strlen(kernel_keys[i])] == '=')
            return wmi_expected(parser, p, "the kernel's name");
    }
    status = parse_name(parser, &p, "the kernel's name", &kernel->name);
    for (name_end = p; status == WM_OK && skip_gap(&p) && !is_end(p); name_end = p) {
        status = parse_key(parser, &p, kernel_keys, kernel_keys_text, &key, &seen);
        if (status == WM_OK)
            status = parse_kernel_value(parser, &p, key, kernel);
    }
    return status == WM_OK ? end_of_line(parser, name_end, "a blank or the end of the line") : status;
}

static enum wm_status parse_warp(struct wmi_parser *parser, const char *p)
{
    uint32_t block[3];
    uint64_t warp;
    enum wm_status status;

    p = wmi_skip_blanks(p + strlen("warp"));
    status = wmi_triple(parser, &p, "a block index X,Y,Z", block);
    if (status != WM_OK)
        return status;
    if (!skip_gap(&p))
        return wmi_expected(parser, p, "a blank and the warp's number");
    status = wmi_decimal(parser, &p, UINT32_MAX, "the warp's number", &warp);
    if (status != WM_OK)
        return status;
    memcpy(parser->state.block, block, sizeof block);
    parser->state.warp = (uint32_t)warp;
    return end_of_line(parser, p, "the end of the line");
}

/* ---------------------------------------------------------------------------------------------------------- addresses */

/* "[" A {"," A} "]", one address for each active lane. */
static enum wm_status parse_list(struct wmi_parser *parser, const char **at, uint32_t mask, uint64_t max,
                                 uint64_t address[WM_LANES])
{
    const unsigned lanes = wmi_lanes(mask);
    uint64_t packed[WM_LANES];
    uint64_t *values = mask == UINT32_MAX ? address : packed;
    const char *p = *at + 1;
    unsigned count;

    count = wmi_hex_list(&p, lanes, ',', values);
    if (count == 0 && lanes == 0 && *p == ']')
        p++;
    else if (count == 0 || p[-1] == ',') {
        /* Decimal, long or wrong ones, or blanks behind a comma, from here on one by one. */
        for (;;) {
            enum wm_status status;
            uint64_t value;

            if (p[-1] == ',')
                p = wmi_skip_blanks(p);
            if (count == lanes)
                return wmi_fail(parser, WM_E_SYNTAX, p, "more addresses than the %u active lanes of the mask", lanes);
            status = wmi_number(parser, &p, UINT64_MAX, "an address", &value);
            if (status != WM_OK)
                return status;
            values[count++] = value;
            if (*p != ',')
                break;
            p++;
        }
    }
    if (lanes > 0) {
        if (*p != ']')
            return wmi_expected(parser, p, "a comma or ']'");
        p++;
    }
    if (count != lanes)
        return wmi_fail(parser, WM_E_SYNTAX, p - 1, "%u addresses for the %u active lanes of the mask", count, lanes);
    for (unsigned i = 0; max != UINT64_MAX && i < count; i++) {
        if (values[i] > max)
            return wmi_fail(parser, WM_E_RANGE, *at, "address 0x%llx is above 0x%llx", (unsigned long long)values[i],
                            (unsigned long long)max);
    }
    if (values == packed)
        wmi_scatter(packed, mask, address);
    *at = p;
    return WM_OK;
}

/* Whether base + lane * stride, or minus, lies in 0 .. max for all active lanes. */
static int stride_fits(uint64_t base, uint64_t stride, int negative, uint32_t mask, uint64_t max)
{
    uint64_t last;

    if (mask == 0)
        return 1;
    last = 31U - (unsigned)__builtin_clz(mask);
    if (last > 0 && stride > UINT64_MAX / last)
        return 0;
    /* Addresses are monotonic over the lanes. */
    if (negative)
        return stride * last <= base && base - stride * (unsigned)__builtin_ctz(mask) <= max;
    return base <= max && stride * last <= max - base;
}

/* BASE, BASE+STRIDE, BASE-STRIDE. */
static enum wm_status parse_stride(struct wmi_parser *parser, const char **at, uint32_t mask, uint64_t max,
                                   uint64_t address[WM_LANES])
{
    const char *p = *at;
    uint64_t base;
    uint64_t stride = 0;
    int negative = 0;
    enum wm_status status;

    if (WMI_UNLIKELY(*p != '-' && (*p < '0' || *p > '9')))
        return wmi_expected(parser, p, "an address or '['");
    status = wmi_number(parser, &p, UINT64_MAX, "an address", &base);
    if (status != WM_OK)
        return status;
    if (*p == '+' || *p == '-') {
        negative = *p == '-';
        p++;
        status = wmi_number(parser, &p, UINT64_MAX, "a stride", &stride);
        if (status != WM_OK)
            return status;
    }
    if (WMI_UNLIKELY(!stride_fits(base, stride, negative, mask, max)))
        return wmi_fail(parser, WM_E_RANGE, *at, "an active lane's address lies outside 0 to 0x%llx",
                        (unsigned long long)max);
    wmi_fill_stride(base, negative ? 0 - stride : stride, address);
    *at = p;
    return WM_OK;
}

static enum wm_status parse_addresses(struct wmi_parser *parser, const char **at, uint32_t mask, uint64_t max,
                                      uint64_t address[WM_LANES])
{
    return **at == '[' ? parse_list(parser, at, mask, max, address) : parse_stride(parser, at, mask, max, address);
}

/* The destination of a copy, which is in shared memory. */
static enum wm_status parse_destination(struct wmi_parser *parser, const char **at)
{
    struct wm_access *access = &parser->access;
    uint64_t address[WM_LANES] = {0};
    enum wm_status status = parse_addresses(parser, at, access->mask, UINT32_MAX, address);

    if (status != WM_OK)
        return status;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        access->shared_address[lane] = (uint32_t)address[lane];
    if (!skip_gap(at))
        return wmi_expected(parser, *at, "a blank and the source addresses");
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------------------- access */

/* FILE:N. */
static enum wm_status parse_source_line(struct wmi_parser *parser, const char **at)
{
    struct wm_access *access = &parser->access;
    const char *begin = *at;
    const char *p = begin;
    const char *name = NULL;
    size_t length;
    uint64_t line;
    enum wm_status status;

    if (*p == '"') {
        status = parse_quoted(parser, &p, &name, &length);
        if (status != WM_OK)
            return status;
    } else {
        while (is_plain(*p))
            p++;
        while (p > begin && *p != ':')
            p--;
        length = (size_t)(p - begin);
    }
    if (*p != ':' || p == begin)
        return wmi_expected(parser, begin, "FILE:LINE");
    p++;
    status = wmi_decimal(parser, &p, UINT32_MAX, "a line number", &line);
    if (status != WM_OK)
        return status;
    if (line == 0)
        return wmi_fail(parser, WM_E_RANGE, p - 1, "a line number is 0");
    *at = p;
    access->line = (uint32_t)line;
    if (length == 0)
        return WM_OK;
    /* Lines of one file follow each other: one copy of its name. */
    if (parser->source && parser->source_length == length && memcmp(parser->source, name ? name : begin, length) == 0)
        name = parser->source;
    else if (!name)
        name = wmi_arena_text(&parser->arena, begin, length);
    if (!name)
        return wmi_fail(parser, WM_E_MEMORY, NULL, "out of memory");
    parser->source = name;
    parser->source_length = length;
    access->file = name;
    return WM_OK;
}

enum access_key { ACCESS_PC, ACCESS_LINE, ACCESS_COUNT };
static const char *const access_keys[] = {"pc", "line", "count", NULL};
static const char access_keys_text[] = "pc=, line=, count= or the end of the line";

static enum wm_status parse_access_value(struct wmi_parser *parser, const char **at, unsigned key)
{
    struct wm_access *access = &parser->access;
    const char *begin = *at;
    enum wm_status status;

    switch ((enum access_key)key) {
    case ACCESS_PC:
        if ((*at)[0] == '0' && (*at)[1] == 'x')
            *at += 2;
        status = wmi_hex_likely(parser, at, WMI_GUESS_PC, "a pc in hex", &access->pc);
        if (status == WM_OK && access->pc == WM_NO_PC)
            return wmi_fail(parser, WM_E_RANGE, begin, "a pc is above 0x%llx", (unsigned long long)WM_NO_PC - 1);
        return status;
    case ACCESS_LINE: return parse_source_line(parser, at);
    default:
        status = wmi_decimal(parser, at, UINT64_MAX, "a count", &access->count);
        if (status == WM_OK && access->count == 0)
            return wmi_fail(parser, WM_E_RANGE, begin, "a count is 0");
        return status;
    }
}

/* Instructions of PTX that move data and have no place in a text trace: their first words, and why. The longer of two that
 * begin alike stands first. */
static const struct {
    const char *words;
    const char *why;
} refused[] = {
    {"cp.async.bulk.tensor", "one thread starts it, and it takes neither L1 nor the lanes' part of shared memory"},
    {"cp.async.bulk", "one thread starts it, and it takes neither L1 nor the lanes' part of shared memory"},
    {"cp.reduce.async.bulk", "one thread starts it, and it takes neither L1 nor the lanes' part of shared memory"},
    {"cp.async.mbarrier", "it copies nothing; the copies that it waits for have their own lines"},
    {"mbarrier", "but for .init, which costs a shared wavefront a barrier, it takes none"},
    {"wgmma", "matrix descriptors say what it reads, not lanes' addresses"},
    {"tcgen05", "matrix descriptors say what it reads, not lanes' addresses"},
    {"st.async", "which of its words are merged on the way to another block is not known"},
    {"red.async", "only red.shared::cluster is"},
    {"st.bulk", "one thread starts it"},
    {"multimem", "it goes to several GPUs"},
    {"ldu", "write ld.global.nc, which is what is executed"},
    {"tex", "the texture path was not measured"},
    {"tld4", "the texture path was not measured"},
    {"suld", "the surface path was not measured"},
    {"sust", "the surface path was not measured"},
    {"sured", "the surface path was not measured"},
    {"prefetch", "prefetches were not measured"},
    {"prefetchu", "prefetches were not measured"},
    {"discard", "it moves no data"},
    {"applypriority", "it moves no data"},
    {"mapa", "it computes an address"},
};

static int begins_with(const char *text, size_t length, const char *words)
{
    const size_t size = strlen(words);

    return length >= size && memcmp(text, words, size) == 0 && (length == size || text[size] == '.');
}

static enum wm_status refuse_opcode(struct wmi_parser *parser, const char *p, size_t length, size_t error_at)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        if (begins_with(p, length, refused[i].words))
            return wmi_fail(parser, WM_E_UNSUPPORTED, p, "%s is not modelled: %s", refused[i].words, refused[i].why);
    }
    return wmi_fail(parser, WM_E_SYNTAX, p + error_at, "unknown opcode '%.*s'", length < 80 ? (int)length : 80, p);
}

static enum wm_status parse_opcode(struct wmi_parser *parser, const char **at)
{
    const char *p = *at;
    const size_t length = (size_t)(wmi_token_end(p) - p);
    struct wmi_opcode_slot *slot = wmi_opcode_slot(parser, p, length);
    struct wm_opcode opcode;
    size_t error_at = 0;
    enum wm_status status;

    if (slot && slot->length) {
        parser->access.opcode = slot->opcode;
        *at = p + length;
        return WM_OK;
    }
    status = wm_opcode_parse(p, length, &opcode, &error_at);
    if (status == WM_E_SYNTAX) {
        if (p[length] != ' ' && p[length] != '\t' && p[length] != '\n')
            return wmi_expected(parser, p + length, "an opcode");
        return refuse_opcode(parser, p, length, error_at);
    }
    if (status != WM_OK)
        return wmi_fail(parser, status, p, "no such width or combination: '%.*s'", length < 80 ? (int)length : 80, p);
    if (slot) {
        slot->opcode = opcode;
        slot->length = (uint32_t)length;
    }
    parser->access.opcode = opcode;
    *at = p + length;
    return WM_OK;
}

static enum wm_status parse_mask(struct wmi_parser *parser, const char **at)
{
    const char *p = *at;

    if (!skip_gap(&p))
        return wmi_expected(parser, p, "a blank and a mask of 8 hex digits");
    if (!wmi_hex_run_is(p, 8))
        return wmi_expected(parser, p, "a mask of 8 hex digits");
    parser->access.mask = (uint32_t)wmi_hex_value(p, 8);
    p += 8;
    if (!skip_gap(&p))
        return wmi_expected(parser, p, "a blank and addresses");
    *at = p;
    return WM_OK;
}

static uint64_t highest_bits(const struct wm_access *access)
{
    uint64_t bits = 0;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        bits |= access->address[__builtin_ctz(rest)];
    return bits;
}

/* Nothing lies at virtual address 0: a copy from there has a source size of 0, which the format cannot say. */
static void note_addresses(struct wmi_parser *parser)
{
    struct wm_access *access = &parser->access;
    const int is_global = access->opcode.space == WM_GLOBAL || access->opcode.space == WM_GENERIC;

    if (parser->state.addresses == ADDRESSES_UNKNOWN) {
        const uint64_t bits = is_global ? highest_bits(access) : 0;

        if (bits)
            parser->state.addresses = bits >> 32 ? ADDRESSES_VIRTUAL : ADDRESSES_OFFSETS;
        else if (++parser->state.undecided == ACCESSES_UNDECIDED)
            parser->state.addresses = ADDRESSES_OFFSETS;
    }
    if (access->opcode.operation != WM_CP_ASYNC || parser->state.addresses != ADDRESSES_VIRTUAL || !access->mask ||
        highest_bits(access))
        return;
    access->zero_fill = 1;
    parser->notes.copies_of_nothing++;
}

static enum wm_status parse_access(struct wmi_parser *parser, const char *p)
{
    struct wm_access *access = &parser->access;
    enum wm_status status = wmi_access_start(parser);
    unsigned key;
    unsigned seen = 0;
    const char *end;

    if (status == WM_OK)
        status = parse_opcode(parser, &p);
    if (status == WM_OK)
        status = parse_mask(parser, &p);
    parser->addresses = p;
    if (status == WM_OK && access->opcode.operation == WM_CP_ASYNC)
        status = parse_destination(parser, &p);
    if (status == WM_OK)
        status = parse_addresses(parser, &p, access->mask, UINT64_MAX, access->address);
    for (end = p; status == WM_OK && skip_gap(&p) && !is_end(p); end = p) {
        status = parse_key(parser, &p, access_keys, access_keys_text, &key, &seen);
        if (status == WM_OK)
            status = parse_access_value(parser, &p, key);
    }
    if (status == WM_OK)
        status = end_of_line(parser, end, "a blank or the end of the line");
    if (status == WM_OK)
        note_addresses(parser);
    return status;
}

/* ------------------------------------------------------------------------------------------------------------- format */

static enum wm_status text_line(struct wmi_parser *parser)
{
    const char *p = wmi_skip_blanks(parser->at);
    enum wm_status status;

    if (is_end(p))
        status = end_of_line(parser, p, "the end of the line");
    else if (WMI_UNLIKELY(!parser->state.begun))
        status = parse_version(parser, p);
    else if (wmi_is_word(p, "warp"))
        status = parse_warp(parser, p);
    else if (wmi_is_word(p, "kernel"))
        status = parse_kernel(parser, p);
    else
        return parse_access(parser, p);
    return status == WM_OK ? WM_END : status;
}

static void text_scan(struct wmi_parser *parser)
{
    while (parser->at < parser->end) {
        const char *p = wmi_skip_blanks(parser->at);
        const char *next;

        parser->begin = parser->at;
        parser->state.line++;
        next = wmi_next_line(parser, p);
        /* Errors are for the parser of this text to find. */
        if (*p == 'w' || *p == 'k' || parser->state.addresses == ADDRESSES_UNKNOWN)
            text_line(parser);
        parser->at = next;
    }
}

static enum wm_status text_finish(struct wmi_parser *parser)
{
    if (parser->state.begun)
        return WM_OK;
    return wmi_fail(parser, WM_E_SYNTAX, NULL, "the file ends without a line 'wmt 1'");
}

/* Also recognises a text trace that lacks its first line, so that the message is about this. */
static int text_probe(const char *text, size_t length)
{
    static const char *const openings[] = {"kernel ", "warp ",     "ld.",       "st.",      "atom.",
                                           "red.",    "ldmatrix.", "stmatrix.", "cp.async."};
    size_t i = 0;

    while (i < length) {
        while (i < length && (text[i] == ' ' || text[i] == '\t' || text[i] == '\n' || text[i] == '\r'))
            i++;
        if (i < length && text[i] != '#')
            break;
        while (i < length && text[i] != '\n')
            i++;
    }
    if (i == length)
        return length > 0;
    if (length - i >= 3 && memcmp(text + i, "wmt", 3) == 0)
        return 2;
    for (size_t k = 0; k < sizeof openings / sizeof openings[0]; k++) {
        const size_t size = strlen(openings[k]);

        if (length - i >= size && memcmp(text + i, openings[k], size) == 0)
            return 1;
    }
    return 0;
}

const struct wmi_format wmi_text_format = {
    .id = WM_FORMAT_TEXT,
    .name = "text",
    .probe = text_probe,
    .scan = text_scan,
    .line = text_line,
    .finish = text_finish,
};
