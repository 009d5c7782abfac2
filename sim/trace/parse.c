/* What the formats share: places and messages, numbers, kernels, strings. */
#include "trace/trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- diagnostics */

enum wm_status wmi_fail(struct wmi_parser *parser, enum wm_status status, const char *at, const char *format, ...)
{
    const uint64_t column = at ? (uint64_t)(at - parser->begin) + 1 : 0;
    char text[WM_DIAG_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    if (vsnprintf(text, sizeof text, format, arguments) < 0)
        text[0] = '\0';
    va_end(arguments);
    parser->status = wmi_diag_set(&parser->diag, status, parser->file, parser->state.line, column, "%s", text);
    return status;
}

/* Characters of what was found that a message shows. */
#define SHOWN 40

enum wm_status wmi_expected(struct wmi_parser *parser, const char *at, const char *what)
{
    const unsigned char c = (unsigned char)*at;
    int length = 0;

    if (at >= parser->end)
        return wmi_fail(parser, WM_E_SYNTAX, at, "expected %s, found the end of the file", what);
    if (c == '\n')
        return wmi_fail(parser, WM_E_SYNTAX, at, "expected %s, found the end of the line", what);
    if (c == '\r')
        return wmi_fail(parser, WM_E_SYNTAX, at, "expected %s, found a carriage return (lines end in a newline alone)",
                        what);
    if (c == '\0')
        return wmi_fail(parser, WM_E_SYNTAX, at, "expected %s, found a NUL byte", what);
    if (c > '~' || (c < ' ' && c != '\t'))
        return wmi_fail(parser, WM_E_SYNTAX, at, "expected %s, found a byte that is not printable ASCII (0x%02x)", what,
                        c);
    if (c == ' ' || c == '\t')
        return wmi_fail(parser, WM_E_SYNTAX, at, "expected %s, found a blank", what);
    while (length < SHOWN && at[length] > ' ' && at[length] <= '~')
        length++;
    return wmi_fail(parser, WM_E_SYNTAX, at, "expected %s, found '%.*s'%s", what, length, at,
                    at[length] > ' ' && at[length] <= '~' ? "..." : "");
}

/* -------------------------------------------------------------------------------------------------------------- arena */

struct wmi_block {
    struct wmi_block *next;
};

/* Fits a few kernels with their names, and malloc's own head. */
#define BLOCK_BYTES (4096 - 32)
#define ALIGNMENT 16

static void *take_block(struct wmi_arena *arena, size_t size)
{
    const size_t head = (sizeof(struct wmi_block) + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    const size_t space = size > BLOCK_BYTES - head ? size : BLOCK_BYTES - head;
    struct wmi_block *block = malloc(head + space);

    if (!block)
        return NULL;
    block->next = arena->blocks;
    arena->blocks = block;
    arena->at = (char *)block + head + size;
    arena->left = space - size;
    return (char *)block + head;
}

void *wmi_arena_take(struct wmi_arena *arena, size_t size)
{
    void *memory;

    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (size > arena->left)
        return take_block(arena, size);
    memory = arena->at;
    arena->at += size;
    arena->left -= size;
    return memory;
}

const char *wmi_arena_text(struct wmi_arena *arena, const char *text, size_t length)
{
    char *copy = wmi_arena_take(arena, length + 1);

    if (!copy)
        return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

void wmi_arena_free(struct wmi_arena *arena)
{
    while (arena->blocks) {
        struct wmi_block *next = arena->blocks->next;

        free(arena->blocks);
        arena->blocks = next;
    }
    arena->at = NULL;
    arena->left = 0;
}

/* ------------------------------------------------------------------------------------------------------------ kernels */

static struct wm_kernel *copy_kernel(struct wmi_arena *arena, const struct wm_kernel *from)
{
    struct wm_kernel *copy = wmi_arena_take(arena, sizeof *copy);

    if (!copy)
        return NULL;
    *copy = *from;
    copy->name = wmi_arena_text(arena, from->name, strlen(from->name));
    if (from->source)
        copy->source = wmi_arena_text(arena, from->source, strlen(from->source));
    return copy->name && (copy->source || !from->source) ? copy : NULL;
}

enum wm_status wmi_state_copy(struct wmi_arena *arena, struct wmi_state *to, const struct wmi_state *from)
{
    *to = *from;
    for (unsigned i = 0; i < WMI_LAUNCHES; i++) {
        if (from->launches[i]) {
            to->launches[i] = copy_kernel(arena, from->launches[i]);
            if (!to->launches[i])
                return WM_E_MEMORY;
        }
    }
    return WM_OK;
}

static enum wm_status no_memory(struct wmi_parser *parser)
{
    return wmi_fail(parser, WM_E_MEMORY, NULL, "out of memory");
}

struct wm_kernel *wmi_kernel_new(struct wmi_parser *parser)
{
    struct wm_kernel **slot = &parser->state.launches[parser->state.newest];

    /* A record that no access points to is used again, so that memory stays in proportion to the accesses. */
    if (!*slot || parser->kernel_used) {
        struct wm_kernel *kernel = wmi_arena_take(&parser->arena, sizeof *kernel);

        if (!kernel) {
            no_memory(parser);
            return NULL;
        }
        *slot = kernel;
    }
    **slot = (struct wm_kernel){.name = ""};
    parser->kernel_used = 0;
    return *slot;
}

const struct wm_kernel *wmi_kernel_use(struct wmi_parser *parser)
{
    const struct wm_kernel *kernel = parser->state.launches[parser->state.newest];

    if (WMI_UNLIKELY(!kernel))
        kernel = wmi_kernel_new(parser);
    parser->kernel_used = 1;
    return kernel;
}

enum wm_status wmi_access_start(struct wmi_parser *parser)
{
    struct wm_access *access = &parser->access;

    access->kernel = wmi_kernel_use(parser);
    if (WMI_UNLIKELY(!access->kernel))
        return WM_E_MEMORY;
    access->count = 1;
    access->pc = WM_NO_PC;
    access->file = NULL;
    access->line = 0;
    access->zero_fill = 0;
    memcpy(access->block, parser->state.block, sizeof access->block);
    access->warp = parser->state.warp;
    return WM_OK;
}

/* -------------------------------------------------------------------------------------------------------------- words */

const char *wmi_next_line(const struct wmi_parser *parser, const char *p)
{
    const char *newline = p < parser->end ? memchr(p, '\n', (size_t)(parser->end - p)) : NULL;

    return newline ? newline + 1 : parser->end;
}

/* ------------------------------------------------------------------------------------------------------------ numbers */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum wm_status too_large(struct wmi_parser *parser, const char *at, uint64_t max, const char *what)
{
    return wmi_fail(parser, WM_E_RANGE, at, "%s is above %llu", what, (unsigned long long)max);
}

enum wm_status wmi_decimal(struct wmi_parser *parser, const char **at, uint64_t max, const char *what, uint64_t *value)
{
    const char *p = *at;
    uint64_t sum = 0;

    if (WMI_UNLIKELY(!is_digit(*p))) {
        if (*p == '-' && is_digit(p[1]))
            return wmi_fail(parser, WM_E_RANGE, p, "%s is negative", what);
        return wmi_expected(parser, p, what);
    }
    do {
        const uint64_t digit = (uint64_t)(*p - '0');

        if (WMI_UNLIKELY(sum > (UINT64_MAX - digit) / 10))
            return too_large(parser, *at, max, what);
        sum = sum * 10 + digit;
        p++;
    } while (is_digit(*p));
    if (WMI_UNLIKELY(sum > max))
        return too_large(parser, *at, max, what);
    *at = p;
    *value = sum;
    return WM_OK;
}

enum wm_status wmi_hex(struct wmi_parser *parser, const char **at, const char *what, uint64_t *value)
{
    const char *p = *at;
    unsigned length = wmi_hex_run(p);

    if (WMI_UNLIKELY(length == 0)) {
        if (*p == '-')
            return wmi_fail(parser, WM_E_RANGE, p, "%s is negative", what);
        return wmi_expected(parser, p, what);
    }
    while (WMI_UNLIKELY(length == 16 && wmi_hex_run(p + 16) > 0)) {
        if (*p != '0')
            return too_large(parser, *at, UINT64_MAX, what);
        p++;
    }
    *value = wmi_hex_value(p, length);
    *at = p + length;
    return WM_OK;
}

enum wm_status wmi_number(struct wmi_parser *parser, const char **at, uint64_t max, const char *what, uint64_t *value)
{
    const char *p = *at;
    uint64_t number;
    enum wm_status status;

    if (p[0] != '0' || p[1] != 'x')
        return wmi_small(parser, at, max, what, value);
    p += 2;
    status = wmi_hex_likely(parser, &p, WMI_GUESS_ADDRESS, what, &number);
    if (status != WM_OK)
        return status;
    if (WMI_UNLIKELY(number > max))
        return too_large(parser, *at, max, what);
    *at = p;
    *value = number;
    return WM_OK;
}

enum wm_status wmi_signed(struct wmi_parser *parser, const char **at, const char *what, int64_t *value)
{
    const char *p = *at;
    const int negative = *p == '-';
    uint64_t magnitude;
    enum wm_status status;
    uint32_t few;
    unsigned length;

    p += negative;
    length = wmi_decimal8(p, &few);
    if (length > 0 && length < 8) {
        *value = negative ? -(int64_t)few : (int64_t)few;
        *at = p + length;
        return WM_OK;
    }
    if (negative && !is_digit(*p))
        return wmi_expected(parser, p, what);
    status = wmi_decimal(parser, &p, (uint64_t)INT64_MAX, what, &magnitude);
    if (status != WM_OK)
        return status;
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    *at = p;
    return WM_OK;
}

enum wm_status wmi_triple(struct wmi_parser *parser, const char **at, const char *what, uint32_t values[3])
{
    const char *p = *at;
    uint32_t triple[3];

    for (int i = 0; i < 3; i++) {
        uint64_t value;
        enum wm_status status;

        if (i > 0 && *p++ != ',')
            return wmi_expected(parser, p - 1, "a comma");
        status = wmi_small(parser, &p, UINT32_MAX, what, &value);
        if (status != WM_OK)
            return status;
        triple[i] = (uint32_t)value;
    }
    memcpy(values, triple, sizeof triple);
    *at = p;
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------- opcodes, addresses */

struct wmi_opcode_slot *wmi_opcode_slot(struct wmi_parser *parser, const char *text, size_t length)
{
    struct wmi_opcode_slot *slot;
    uint64_t first;
    uint64_t last;

    if (length == 0 || length >= WMI_OPCODE_BYTES)
        return NULL;
    first = wmi_load64(text);
    if (length < 8) {
        first &= (UINT64_C(1) << (8 * length)) - 1;
        last = first;
    } else {
        last = wmi_load64(text + length - 8);
    }
    slot = &parser->slots[((first ^ (last << 7 | last >> 57)) * UINT64_C(0x9e3779b97f4a7c15) + length) >> 58];
    if (slot->length == length && slot->first == first && slot->last == last &&
        (length <= 16 || memcmp(slot->text, text, length) == 0))
        return slot;
    memset(slot, 0, sizeof *slot);
    memcpy(slot->text, text, length);
    slot->first = first;
    slot->last = last;
    return slot;
}

void wmi_scatter(const uint64_t *values, uint32_t mask, uint64_t address[WM_LANES])
{
    for (; mask; mask &= mask - 1)
        address[__builtin_ctz(mask)] = *values++;
}
