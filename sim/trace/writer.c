/* Writes accesses as warpmem's own text trace. */
#include "trace/trace.h"

#include <stdlib.h>
#include <string.h>

#define BUFFER_BYTES 65536

/* Most bytes that an access takes besides its names: opcode, mask, two lists, keys. */
#define ACCESS_BYTES 2048

/* Opcodes whose text is kept. */
#define TEXTS 16

struct opcode_text {
    struct wm_opcode opcode;
    size_t length; /* 0: free */
    char text[WM_OPCODE_TEXT_SIZE];
};

struct wm_writer {
    wm_write_function write;
    void *context;
    enum wm_status status;   /* a failure, for good */
    size_t length;           /* of buffer */
    int has_kernel;          /* a kernel line was written */
    int has_warp;            /* a warp line was written, or the next access needs one */
    struct wm_kernel kernel; /* the current one; its strings are ours */
    char *name;
    char *source;
    uint32_t block[3];
    uint32_t warp;
    struct opcode_text texts[TEXTS];
    char buffer[BUFFER_BYTES];
};

/* ------------------------------------------------------------------------------------------------------------- buffer */

static enum wm_status write_out(struct wm_writer *writer)
{
    if (writer->status == WM_OK && writer->length > 0 &&
        writer->write(writer->context, writer->buffer, writer->length) != 0)
        writer->status = WM_E_IO;
    writer->length = 0;
    return writer->status;
}

static void need(struct wm_writer *writer, size_t size)
{
    if (writer->length + size > BUFFER_BYTES)
        write_out(writer);
}

/* Text of any length. */
static void put_text(struct wm_writer *writer, const char *text, size_t length)
{
    while (length > 0) {
        size_t part;

        need(writer, 1);
        part = BUFFER_BYTES - writer->length < length ? BUFFER_BYTES - writer->length : length;
        memcpy(writer->buffer + writer->length, text, part);
        writer->length += part;
        text += part;
        length -= part;
    }
}

static void put_string(struct wm_writer *writer, const char *text)
{
    put_text(writer, text, strlen(text));
}

/* ------------------------------------------------------------------------------------------------------------ numbers */

static const char hex_digits[] = "0123456789abcdef";

/* These write to p and return behind it. */

static char *format_decimal(char *p, uint64_t value)
{
    char digits[20];
    unsigned n = 0;

    do {
        digits[n++] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    while (n > 0)
        *p++ = digits[--n];
    return p;
}

static char *format_hex(char *p, uint64_t value)
{
    const unsigned digits = (67U - (unsigned)__builtin_clzll(value | 1)) / 4;

    for (unsigned i = digits; i-- > 0;)
        *p++ = hex_digits[value >> (4 * i) & 15];
    return p;
}

static char *format_address(char *p, uint64_t value)
{
    *p++ = '0';
    *p++ = 'x';
    return format_hex(p, value);
}

static char *format_mask(char *p, uint32_t mask)
{
    for (unsigned i = 8; i-- > 0;)
        *p++ = hex_digits[mask >> (4 * i) & 15];
    return p;
}

static void put_decimal(struct wm_writer *writer, uint64_t value)
{
    char text[20];

    put_text(writer, text, (size_t)(format_decimal(text, value) - text));
}

/* -------------------------------------------------------------------------------------------------------------- names */

/* Whether the name can stand as it is. A name with an equals sign or a colon could be read as a key or a place. */
static int is_plain(const char *name)
{
    if (*name == '\0')
        return 0;
    for (; *name; name++) {
        if (*name <= ' ' || *name > '~' || strchr("\"#=\\", *name))
            return 0;
    }
    return 1;
}

static void put_name(struct wm_writer *writer, const char *name)
{
    if (is_plain(name)) {
        put_string(writer, name);
        return;
    }
    put_string(writer, "\"");
    for (; *name; name++) {
        const unsigned char c = (unsigned char)*name;
        const char escaped[4] = {'\\', 'x', hex_digits[c >> 4], hex_digits[c & 15]};

        if (c == '"' || c == '\\') {
            put_string(writer, "\\");
            put_text(writer, name, 1);
        } else if (c == '\n') {
            put_string(writer, "\\n");
        } else if (c == '\t') {
            put_string(writer, "\\t");
        } else if (c == '\r') {
            put_string(writer, "\\r");
        } else if (c < ' ' || c > '~') {
            put_text(writer, escaped, 4);
        } else {
            put_text(writer, name, 1);
        }
    }
    put_string(writer, "\"");
}

/* What put_name() writes, at the most. */
static size_t written_length(const char *name)
{
    size_t length = 2;

    for (; *name; name++)
        length += *name < ' ' || *name > '~' ? 4 : *name == '"' || *name == '\\' ? 2 : 1;
    return length;
}

/* Whether a line has room for both names, the second of which may be NULL, and for everything else. */
static int fits_line(const char *name, const char *other)
{
    /* Whatever characters a short one has. */
    if (strlen(name) < WMI_LINE_BYTES / 16 && (!other || strlen(other) < WMI_LINE_BYTES / 16))
        return 1;
    return written_length(name) + (other ? written_length(other) : 0) + ACCESS_BYTES <= WMI_LINE_BYTES;
}

/* ------------------------------------------------------------------------------------------------------- kernel, warp */

static int same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

static int same_kernel(const struct wm_kernel *a, const struct wm_kernel *b)
{
    return a->launch == b->launch && a->shared_bytes == b->shared_bytes &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0 && memcmp(a->block, b->block, sizeof a->block) == 0 &&
           same_text(a->name, b->name) && same_text(a->source, b->source);
}

static int is_known(const uint32_t dimensions[3])
{
    return (dimensions[0] | dimensions[1] | dimensions[2]) != 0;
}

/* Dimensions are known in all three directions, or not at all. */
static int are_valid(const uint32_t dimensions[3])
{
    return !is_known(dimensions) || (dimensions[0] && dimensions[1] && dimensions[2]);
}

static void put_dimensions(struct wm_writer *writer, const char *key, const uint32_t dimensions[3])
{
    if (!is_known(dimensions))
        return;
    for (int i = 0; i < 3; i++) {
        put_string(writer, i == 0 ? key : ",");
        put_decimal(writer, dimensions[i]);
    }
}

/* Keeps a copy of the kernel, strings too. */
static enum wm_status keep_kernel(struct wm_writer *writer, const struct wm_kernel *kernel)
{
    char *name = strdup(kernel->name);
    char *source = kernel->source ? strdup(kernel->source) : NULL;

    if (!name || (kernel->source && !source)) {
        free(name);
        free(source);
        return WM_E_MEMORY;
    }
    free(writer->name);
    free(writer->source);
    writer->name = name;
    writer->source = source;
    writer->kernel = *kernel;
    writer->kernel.name = name;
    writer->kernel.source = source;
    return WM_OK;
}

static void put_kernel(struct wm_writer *writer)
{
    const struct wm_kernel *kernel = &writer->kernel;

    put_string(writer, "kernel ");
    put_name(writer, kernel->name);
    put_dimensions(writer, " grid=", kernel->grid);
    put_dimensions(writer, " block=", kernel->block);
    if (kernel->launch) {
        put_string(writer, " launch=");
        put_decimal(writer, kernel->launch);
    }
    if (kernel->shared_bytes) {
        put_string(writer, " smem=");
        put_decimal(writer, kernel->shared_bytes);
    }
    if (kernel->source) {
        put_string(writer, " source=");
        put_name(writer, kernel->source);
    }
    put_string(writer, "\n");
}

static void put_warp(struct wm_writer *writer, const struct wm_access *access)
{
    char line[64];
    char *p = line;

    memcpy(writer->block, access->block, sizeof writer->block);
    writer->warp = access->warp;
    memcpy(p, "warp ", 5);
    p = format_decimal(p + 5, access->block[0]);
    *p++ = ',';
    p = format_decimal(p, access->block[1]);
    *p++ = ',';
    p = format_decimal(p, access->block[2]);
    *p++ = ' ';
    p = format_decimal(p, access->warp);
    *p++ = '\n';
    put_text(writer, line, (size_t)(p - line));
}

/* Writes what changed. Behind a kernel line a warp is named anew if one ever was, so that it does not matter whether a
 * reader keeps the one before. */
static enum wm_status put_place(struct wm_writer *writer, const struct wm_access *access)
{
    static const struct wm_kernel unknown = {.name = ""};
    const struct wm_kernel *kernel = access->kernel ? access->kernel : &unknown;

    if (!same_kernel(kernel, &writer->kernel)) {
        enum wm_status status;

        if (!are_valid(kernel->grid) || !are_valid(kernel->block) || !fits_line(kernel->name, kernel->source))
            return WM_E_ARGUMENT;
        status = keep_kernel(writer, kernel);
        if (status != WM_OK)
            return status;
        put_kernel(writer);
        if (writer->has_warp) {
            put_warp(writer, access);
            return WM_OK;
        }
    }
    if (writer->warp != access->warp || memcmp(writer->block, access->block, sizeof writer->block) != 0) {
        put_warp(writer, access);
        writer->has_warp = 1;
    }
    return WM_OK;
}

/* ---------------------------------------------------------------------------------------------------------- addresses */

/* Whether all active lanes lie at *base + lane * *stride, lanes by number, with *base in 0 .. max. */
static int find_stride(const uint64_t address[WM_LANES], uint32_t mask, uint64_t *base, uint64_t *stride)
{
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const uint32_t rest = mask & (mask - 1);
    uint64_t difference;
    uint64_t distance;
    int negative;

    *base = address[first];
    *stride = 0;
    if (!rest)
        return 1;
    distance = (unsigned)__builtin_ctz(rest) - first;
    negative = address[first + distance] < address[first];
    difference = negative ? address[first] - address[first + distance] : address[first + distance] - address[first];
    if (difference % distance)
        return 0;
    difference /= distance;
    if (difference > UINT64_MAX / WM_LANES)
        return 0;
    /* The base is where lane 0 would be. */
    if (negative ? difference * first > UINT64_MAX - address[first] : difference * first > address[first])
        return 0;
    *stride = negative ? 0 - difference : difference;
    *base = address[first] - *stride * first;
    for (uint32_t lanes = rest; lanes; lanes &= lanes - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(lanes);

        if (address[lane] != *base + *stride * lane)
            return 0;
    }
    /* The same without wrapping around. */
    return negative ? difference * (31U - (unsigned)__builtin_clz(mask)) <= *base
                    : difference * (31U - (unsigned)__builtin_clz(mask)) <= UINT64_MAX - *base;
}

static char *format_addresses(char *p, const uint64_t address[WM_LANES], uint32_t mask)
{
    uint64_t base;
    uint64_t stride;

    if (mask == 0)
        return format_address(p, 0);
    if (find_stride(address, mask, &base, &stride)) {
        p = format_address(p, base);
        if (stride) {
            const int negative = stride >> 63 != 0;

            *p++ = negative ? '-' : '+';
            p = format_decimal(p, negative ? 0 - stride : stride);
        }
        return p;
    }
    *p++ = '[';
    for (; mask; mask &= mask - 1) {
        p = format_address(p, address[__builtin_ctz(mask)]);
        *p++ = ',';
    }
    p[-1] = ']';
    return p;
}

/* ------------------------------------------------------------------------------------------------------------- access */

/* The opcode's text. NULL: it is not valid. */
static const struct opcode_text *opcode_text(struct wm_writer *writer, const struct wm_opcode *opcode)
{
    unsigned char bytes[sizeof *opcode];
    struct opcode_text *entry;
    unsigned hash = 0;

    memcpy(bytes, opcode, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        hash = hash * 31 + bytes[i];
    entry = &writer->texts[hash % TEXTS];
    if (entry->length == 0 || memcmp(&entry->opcode, opcode, sizeof *opcode) != 0) {
        entry->length = wm_opcode_format(opcode, entry->text);
        entry->opcode = *opcode;
    }
    return entry->length ? entry : NULL;
}

/* Addresses of both sides. */
static char *format_sides(char *p, const struct wm_access *access)
{
    if (access->opcode.operation == WM_CP_ASYNC) {
        uint64_t destination[WM_LANES];

        for (unsigned lane = 0; lane < WM_LANES; lane++)
            destination[lane] = access->shared_address[lane];
        p = format_addresses(p, destination, access->mask);
        *p++ = ' ';
    }
    return format_addresses(p, access->address, access->mask);
}

static void put_access(struct wm_writer *writer, const struct wm_access *access, const struct opcode_text *opcode)
{
    char *p;

    need(writer, ACCESS_BYTES);
    p = writer->buffer + writer->length;
    memcpy(p, opcode->text, opcode->length);
    p += opcode->length;
    *p++ = ' ';
    p = format_mask(p, access->mask);
    *p++ = ' ';
    p = format_sides(p, access);
    if (access->pc != WM_NO_PC) {
        memcpy(p, " pc=0x", 6);
        p = format_hex(p + 6, access->pc);
    }
    writer->length = (size_t)(p - writer->buffer);
    if (access->line) {
        put_string(writer, " line=");
        put_name(writer, access->file ? access->file : "");
        put_string(writer, ":");
        put_decimal(writer, access->line);
    }
    if (access->count != 1) {
        put_string(writer, " count=");
        put_decimal(writer, access->count);
    }
    put_string(writer, "\n");
}

enum wm_status wm_writer_add(wm_writer *writer, const struct wm_access *access)
{
    const struct opcode_text *opcode;
    enum wm_status status;

    if (!writer || !access || access->count == 0 || (access->file && access->line && !fits_line(access->file, NULL)))
        return WM_E_ARGUMENT;
    if (writer->status != WM_OK)
        return writer->status;
    opcode = opcode_text(writer, &access->opcode);
    if (!opcode)
        return WM_E_ARGUMENT;
    status = put_place(writer, access);
    if (status != WM_OK)
        return status;
    put_access(writer, access, opcode);
    return writer->status;
}

/* ------------------------------------------------------------------------------------------------------------- writer */

enum wm_status wm_writer_new(wm_write_function write, void *context, wm_writer **out)
{
    struct wm_writer *writer;

    if (!write || !out)
        return WM_E_ARGUMENT;
    writer = calloc(1, sizeof *writer);
    if (!writer)
        return WM_E_MEMORY;
    writer->write = write;
    writer->context = context;
    writer->kernel.name = "";
    put_string(writer, "wmt 1\n");
    *out = writer;
    return WM_OK;
}

enum wm_status wm_writer_flush(wm_writer *writer)
{
    return writer ? write_out(writer) : WM_E_ARGUMENT;
}

void wm_writer_free(wm_writer *writer)
{
    if (!writer)
        return;
    free(writer->name);
    free(writer->source);
    free(writer);
}
