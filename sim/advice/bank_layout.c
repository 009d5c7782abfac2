/* Layouts of an array in shared memory. */
#include "config.h"

#include "bank_layout.h"

#include <string.h>

int layout_is_power(uint64_t value)
{
    return value && (value & (value - 1)) == 0;
}

unsigned layout_log2(uint64_t value)
{
    return 63U - (unsigned)__builtin_clzll(value);
}

static unsigned log2_up(uint64_t value)
{
    return value <= 1 ? 0 : layout_log2(value - 1) + 1;
}

/* Elements of the array's dimensions from d on, taken together. */
static uint64_t elements_from(const uint64_t extent[WM_DIMENSIONS], unsigned dimensions, unsigned d)
{
    uint64_t n = 1;

    for (; d < dimensions; d++)
        n *= extent[d];
    return n;
}

static uint64_t elements_of(const struct wm_array *array)
{
    return array->size_bytes / array->element_bytes;
}

unsigned layout_index_bits(const struct wm_array *array)
{
    return log2_up(elements_of(array));
}

static uint64_t xor_offset(const struct bank_layout *layout, uint64_t offset)
{
    uint64_t moved = offset & ~(uint64_t)layout->changed;

    for (uint32_t rest = (uint32_t)offset & layout->changed; rest; rest &= rest - 1)
        moved ^= layout->column[__builtin_ctz(rest)];
    return moved;
}

static uint64_t row_xor_offset(const struct bank_layout *layout, uint64_t offset)
{
    const uint64_t row = offset / layout->row_bytes;
    const uint64_t column = offset % layout->row_bytes / layout->element_bytes;
    const uint64_t moved = column ^ (row >> layout->s & ((UINT64_C(1) << layout->b) - 1)) << layout->m;

    return row * layout->row_bytes + moved * layout->element_bytes + offset % layout->element_bytes;
}

uint64_t layout_offset(const struct bank_layout *layout, uint64_t offset)
{
    uint64_t moved = 0;

    if (layout->kind == LAYOUT_XOR)
        return xor_offset(layout, offset);
    if (layout->kind == LAYOUT_ROW_XOR)
        return row_xor_offset(layout, offset);
    for (unsigned i = 0; i < layout->levels; i++) {
        /* shared memory is small: numbers of 32 bits are divided sooner */
        const uint32_t rows = (uint32_t)offset / (uint32_t)layout->stride[i];

        moved += rows * layout->new_stride[i];
        offset -= rows * layout->stride[i];
    }
    return moved + offset;
}

/* ------------------------------------------------------------------------------------------------------ making them */

void layout_as_is(const struct wm_array *array, struct bank_layout *out)
{
    memset(out, 0, sizeof *out);
    out->kind = LAYOUT_AS_IS;
    out->size_bytes = array->size_bytes;
    memcpy(out->extent, array->extent, sizeof out->extent);
}

void layout_pad(const struct wm_array *array, const uint64_t extra[WM_DIMENSIONS], struct bank_layout *out)
{
    const unsigned n = array->dimensions;

    layout_as_is(array, out);
    out->kind = LAYOUT_PAD;
    for (unsigned d = 1; d < n; d++)
        out->extent[d] += extra[d];
    for (unsigned d = 1; d < n; d++) {
        out->stride[d - 1] = elements_from(array->extent, n, d) * array->element_bytes;
        out->new_stride[d - 1] = elements_from(out->extent, n, d) * array->element_bytes;
    }
    out->levels = n - 1;
    out->size_bytes = elements_from(out->extent, n, 0) * array->element_bytes;
}

void layout_skip(const struct wm_array *array, uint64_t every, uint64_t skip, int is_twice, struct bank_layout *out)
{
    const uint64_t bytes = array->element_bytes;
    const uint64_t last = elements_of(array) - 1;

    layout_as_is(array, out);
    out->kind = LAYOUT_SKIP;
    out->every = every;
    out->skip = skip;
    out->is_twice = is_twice;
    if (is_twice) {
        out->stride[0] = every * every * bytes;
        out->new_stride[0] = (every * every + (every + 1) * skip) * bytes;
        out->levels = 1;
    }
    out->stride[out->levels] = every * bytes;
    out->new_stride[out->levels] = (every + skip) * bytes;
    out->levels++;
    out->size_bytes = layout_offset(out, last * bytes) + bytes;
    out->extent[0] = out->size_bytes / bytes;
}

/* Which bits change, and the layout's size: up to the last byte that any element has. Elements that are no power of two
 * do not come here. */
static void find_size(const struct wm_array *array, struct bank_layout *out)
{
    out->changed = 0;
    for (unsigned i = 0; i < out->bits; i++)
        out->changed |= (uint32_t)(out->column[i] != 1U << i) << i;
    out->size_bytes = array->size_bytes;
    for (uint64_t at = 0; at < array->size_bytes; at += array->element_bytes) {
        const uint64_t end = layout_offset(out, at) + array->element_bytes;

        if (end > out->size_bytes)
            out->size_bytes = end;
    }
    if (out->size_bytes > array->size_bytes && array->dimensions == 1)
        out->extent[0] = out->size_bytes / array->element_bytes;
}

void layout_swizzle(const struct wm_array *array, unsigned b, unsigned m, unsigned s, struct bank_layout *out)
{
    const unsigned element_bits = layout_log2(array->element_bytes);
    const unsigned low = element_bits + m;

    layout_as_is(array, out);
    out->kind = LAYOUT_XOR;
    out->bits = element_bits + layout_index_bits(array);
    for (unsigned i = 0; i < out->bits; i++)
        out->column[i] = 1U << i;
    for (unsigned i = low + s; i < low + s + b && i < out->bits; i++)
        out->column[i] |= 1U << (i - s);
    out->is_swizzle = 1;
    out->b = b;
    out->m = m;
    out->s = s;
    find_size(array, out);
}

void layout_row_xor(const struct wm_array *array, unsigned b, unsigned m, unsigned s, struct bank_layout *out)
{
    layout_as_is(array, out);
    out->kind = LAYOUT_ROW_XOR;
    out->b = b;
    out->m = m;
    out->s = s;
    out->element_bytes = array->element_bytes;
    out->row_bytes = array->extent[array->dimensions - 1] * array->element_bytes;
}

/* The bit that a column moves with no other, and what is XORed besides: an identity plus something? */
static int is_identity_and_more(const struct bank_layout *layout)
{
    for (unsigned i = 0; i < layout->bits; i++) {
        if (!(layout->column[i] >> i & 1))
            return 0;
    }
    return 1;
}

/* A diagonal of the map: the targets of all bits that move by the same shift. */
static uint32_t targets_of(const struct bank_layout *layout, int shift)
{
    uint32_t targets = 0;

    for (int i = 0; i < (int)layout->bits; i++) {
        if (i - shift >= 0 && i - shift < (int)layout->bits && (layout->column[i] >> (i - shift) & 1))
            targets |= 1U << (i - shift);
    }
    return targets;
}

void layout_finish_xor(const struct wm_array *array, struct bank_layout *out)
{
    const unsigned element_bits = layout_log2(array->element_bytes);
    uint32_t found = 0;

    out->is_swizzle = 0;
    if (is_identity_and_more(out)) {
        unsigned diagonals = 0;

        for (int shift = 1 - (int)out->bits; shift < (int)out->bits; shift++) {
            const uint32_t targets = shift ? targets_of(out, shift) : 0;

            if (!targets)
                continue;
            diagonals++;
            found = targets;
            out->s = shift > 0 ? (unsigned)shift : 0;
        }
        if (diagonals == 1 && out->s && layout_is_power((found >> __builtin_ctz(found)) + 1)) {
            out->m = (unsigned)__builtin_ctz(found) - element_bits;
            out->b = (unsigned)__builtin_popcount(found);
            out->is_swizzle = out->b <= out->s;
        }
    }
    find_size(array, out);
}

/* ---------------------------------------------------------------------------------------------------------- as text */

static const char *const index_names[WM_DIMENSIONS][WM_DIMENSIONS] = {
    {"i"}, {"row", "col"}, {"k", "row", "col"}, {"l", "k", "row", "col"}};

/* Elements that are moved beyond the last one of several dimensions: the array is declared with one. */
static int is_flat(const struct wm_array *array, const struct bank_layout *layout)
{
    const int is_beyond = layout->kind == LAYOUT_XOR && layout->size_bytes != array->size_bytes;

    return array->dimensions > 1 && (is_beyond || layout->kind == LAYOUT_SKIP);
}

void layout_declaration(const struct wm_array *array, const struct bank_layout *layout, unsigned align_bytes,
                        struct buffer *out)
{
    if (array->is_dynamic)
        buffer_puts(out, "extern ");
    buffer_puts(out, "__shared__ ");
    if (align_bytes > array->align_bytes)
        buffer_printf(out, "__align__(%u) ", align_bytes);
    else if (array->align_bytes > array->element_bytes)
        buffer_printf(out, "__align__(%u) ", (unsigned)array->align_bytes);
    buffer_printf(out, "%s %s", array->element, array->name);
    for (unsigned d = 0; d < array->dimensions; d++) {
        if (array->is_dynamic && d == 0)
            buffer_puts(out, "[]");
        else if (is_flat(array, layout) && d == 0)
            buffer_printf(out, "[%llu]", (unsigned long long)(layout->size_bytes / array->element_bytes));
        else if (!is_flat(array, layout))
            buffer_printf(out, "[%llu]", (unsigned long long)layout->extent[d]);
    }
    buffer_puts(out, ";");
}

/* Where the bits of a dimension lie in an element's index: from `low' on, `bits' many. Only where all dimensions but
 * the outermost are powers of two. */
static int find_bits(const struct wm_array *array, unsigned low[WM_DIMENSIONS], unsigned bits[WM_DIMENSIONS])
{
    unsigned at = 0;

    for (unsigned d = array->dimensions; d-- > 0;) {
        if (d > 0 && !layout_is_power(array->extent[d]))
            return 0;
        low[d] = at;
        bits[d] = log2_up(array->extent[d]);
        at += bits[d];
    }
    return 1;
}

/* Some bits of a variable, moved: (name >> shift) & mask, in the order that masks the least. targets: where the bits
 * go; they come from `shift' bits higher up. all: the bits that the variable can have. */
static void bits_term(const char *name, int shift, uint32_t targets, uint32_t all, struct buffer *out)
{
    const uint32_t sources = shift >= 0 ? targets << shift : targets >> -shift;

    if (shift == 0) {
        buffer_printf(out, sources == all ? "%s" : "(%s & %u)", name, sources);
    } else if (shift > 0) {
        /* bits below the sources are shifted out */
        if (all >> shift == targets)
            buffer_printf(out, "(%s >> %d)", name, shift);
        else
            buffer_printf(out, "((%s >> %d) & %u)", name, shift, targets);
    } else if (sources == all) {
        buffer_printf(out, "(%s << %d)", name, -shift);
    } else {
        buffer_printf(out, "((%s & %u) << %d)", name, sources, -shift);
    }
}

static uint32_t ones(unsigned n)
{
    return n >= 32 ? UINT32_MAX : (1U << n) - 1;
}

/* What is XORed into dimension `to' from dimension `from', diagonal by diagonal; its text begins at `begin'. */
static void add_terms(const struct bank_layout *layout, unsigned element_bits, const unsigned low[],
                      const unsigned bits[], unsigned to, unsigned from, const char *name, size_t begin,
                      struct buffer *out)
{
    const int reach = (int)layout->bits;

    for (int shift = 1 - reach; shift < reach; shift++) {
        uint32_t targets = shift ? targets_of(layout, shift) >> element_bits : 0;
        const int sources_low = (int)low[from] - shift;

        /* only targets in `to' whose sources are in `from' */
        targets &= ones(bits[to]) << low[to];
        targets &= sources_low >= 0 ? ones(bits[from]) << sources_low : ones(bits[from]) >> -sources_low;
        if (!targets)
            continue;
        if (out->length > begin)
            buffer_puts(out, " ^ ");
        bits_term(name, shift - (int)low[from] + (int)low[to], targets >> low[to], ones(bits[from]), out);
    }
}

/* Whether every bit of an index goes to bits that a dimension has: the outermost, where its extent is no power of two,
 * must stay as it is. */
static int has_dimensions(const struct wm_array *array, const struct bank_layout *layout, unsigned low[WM_DIMENSIONS],
                          unsigned bits[WM_DIMENSIONS])
{
    unsigned outer;

    if (!find_bits(array, low, bits) || layout->size_bytes != array->size_bytes)
        return 0;
    if (layout_is_power(array->extent[0]))
        return 1;
    outer = layout_log2(array->element_bytes) + low[0];
    for (unsigned i = 0; i < layout->bits; i++) {
        if (layout->column[i] >> outer != (i >= outer ? 1U << (i - outer) : 0))
            return 0;
    }
    return 1;
}

/* The index of each dimension. 0: it cannot be said so. */
static int dimension_indices(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out)
{
    const unsigned n = array->dimensions;
    const unsigned element_bits = layout_log2(array->element_bytes);
    const char *const *names = index_names[n - 1];
    unsigned low[WM_DIMENSIONS], bits[WM_DIMENSIONS];

    if (!has_dimensions(array, layout, low, bits))
        return 0;
    buffer_puts(out, array->name);
    for (unsigned to = 0; to < n; to++) {
        const uint32_t kept = targets_of(layout, 0) >> element_bits >> low[to] & ones(bits[to]);
        size_t begin;

        buffer_putc(out, '[');
        begin = out->length;
        if (kept)
            bits_term(names[to], 0, kept, ones(bits[to]), out);
        for (unsigned from = 0; from < n; from++)
            add_terms(layout, element_bits, low, bits, to, from, names[from], begin, out);
        if (out->length == begin)
            buffer_puts(out, bits[to] ? "0" : names[to]);
        buffer_putc(out, ']');
    }
    return 1;
}

/* What i is, of several dimensions. */
static void say_whole(const struct wm_array *array, struct buffer *out)
{
    if (array->dimensions == 1)
        return;
    buffer_puts(out, " with i = ");
    for (unsigned d = 0; d + 1 < array->dimensions; d++)
        buffer_printf(out, "%s * %llu + ", index_names[array->dimensions - 1][d],
                      (unsigned long long)elements_from(array->extent, array->dimensions, d + 1));
    buffer_puts(out, "col");
}

/* The whole index: each diagonal as a term. */
static void whole_index(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out)
{
    const unsigned element_bits = layout_log2(array->element_bytes);
    const uint32_t all = ones(layout->bits - element_bits);
    const int reach = (int)layout->bits;
    const char *separator = "";
    const uint32_t kept = targets_of(layout, 0) >> element_bits;

    if (array->dimensions == 1 || is_flat(array, layout))
        buffer_printf(out, "%s[", array->name);
    else
        buffer_printf(out, "(&%s[0]%s)[", array->name,
                      array->dimensions == 2   ? "[0]"
                      : array->dimensions == 3 ? "[0][0]"
                                               : "[0][0][0]");
    if (kept) {
        bits_term("i", 0, kept, all, out);
        separator = " ^ ";
    }
    for (int shift = 1 - reach; shift < reach; shift++) {
        const uint32_t targets = shift ? targets_of(layout, shift) >> element_bits : 0;

        if (!targets)
            continue;
        buffer_puts(out, separator);
        bits_term("i", shift, targets, all, out);
        separator = " ^ ";
    }
    buffer_putc(out, ']');
    say_whole(array, out);
}

static void plain_index(const struct wm_array *array, struct buffer *out)
{
    buffer_puts(out, array->name);
    for (unsigned d = 0; d < array->dimensions; d++)
        buffer_printf(out, "[%s]", index_names[array->dimensions - 1][d]);
}

static void row_xor_index(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out)
{
    const unsigned n = array->dimensions;
    const char *const *names = index_names[n - 1];
    const uint32_t targets = ones(layout->b) << layout->m;

    buffer_puts(out, array->name);
    for (unsigned d = 0; d + 1 < n; d++)
        buffer_printf(out, "[%s]", names[d]);
    buffer_puts(out, "[col ^ ");
    /* rows of all planes count on: where planes are no whole number of periods, the row's number is that of the array */
    if (n == 2 || array->extent[n - 2] % (UINT64_C(1) << (layout->s + layout->b)) == 0)
        bits_term(names[n - 2], (int)layout->s - (int)layout->m, targets, UINT32_MAX, out);
    else
        bits_term("r", (int)layout->s - (int)layout->m, targets, UINT32_MAX, out);
    buffer_putc(out, ']');
    if (n > 2 && array->extent[n - 2] % (UINT64_C(1) << (layout->s + layout->b)) != 0) {
        buffer_puts(out, " with r = ");
        for (unsigned d = 0; d + 2 < n; d++)
            buffer_printf(out, "%s * %llu + ", names[d],
                          (unsigned long long)elements_from(array->extent, n - 1, d + 1));
        buffer_puts(out, "row");
    }
}

void layout_index(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out)
{
    size_t begin = out->length;

    switch (layout->kind) {
    case LAYOUT_SKIP:
        buffer_printf(out, "%s[i + i / %llu", array->name, (unsigned long long)layout->every);
        if (layout->skip > 1)
            buffer_printf(out, " * %llu", (unsigned long long)layout->skip);
        if (layout->is_twice)
            buffer_printf(out, " + i / %llu", (unsigned long long)(layout->every * layout->every));
        if (layout->is_twice && layout->skip > 1)
            buffer_printf(out, " * %llu", (unsigned long long)layout->skip);
        buffer_putc(out, ']');
        say_whole(array, out);
        break;
    case LAYOUT_XOR:
        if (!dimension_indices(array, layout, out)) {
            out->length = begin;
            whole_index(array, layout, out);
        }
        break;
    case LAYOUT_ROW_XOR: row_xor_index(array, layout, out); break;
    default: plain_index(array, out); break;
    }
}

static void cute_layout(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out)
{
    const unsigned n = array->dimensions;

    if (n == 1) {
        buffer_printf(out, "Layout<_%llu>{}", (unsigned long long)layout->extent[0]);
        return;
    }
    buffer_puts(out, "Layout<Shape<");
    for (unsigned d = 0; d < n; d++)
        buffer_printf(out, "%s_%llu", d ? "," : "", (unsigned long long)array->extent[d]);
    buffer_puts(out, ">, Stride<");
    for (unsigned d = 0; d < n; d++)
        buffer_printf(out, "%s_%llu", d ? "," : "", (unsigned long long)elements_from(layout->extent, n, d + 1));
    buffer_puts(out, ">>{}");
}

#define MOST_SWIZZLES 8

struct swizzle {
    unsigned b, m, s;
};

/* Diagonals as runs of adjacent bits, each a Swizzle<B,M,S>, which can be applied one after the other where no bit that
 * is changed is looked at. Returns how many; 0: it cannot be said so. */
static unsigned find_swizzles(const struct bank_layout *layout, unsigned element_bits,
                              struct swizzle out[MOST_SWIZZLES])
{
    uint32_t targets = 0, sources = 0;
    unsigned n = 0;

    for (int shift = 1; shift < (int)layout->bits; shift++) {
        uint32_t rest = targets_of(layout, shift);

        targets |= rest;
        sources |= rest << shift;
        if (targets_of(layout, -shift))
            return 0;
        while (rest) {
            const unsigned low = (unsigned)__builtin_ctz(rest);
            const unsigned run = (unsigned)__builtin_ctz(~(rest >> low));

            if ((int)run > shift || n == MOST_SWIZZLES)
                return 0;
            out[n++] = (struct swizzle){run, low - element_bits, (unsigned)shift};
            rest &= ~(ones(run) << low);
        }
    }
    return targets & sources ? 0 : n;
}

static void cute_swizzle(const struct swizzle *swizzle, struct buffer *out)
{
    buffer_printf(out, "Swizzle<%u,%u,%u>{}", swizzle->b, swizzle->m, swizzle->s);
}

void layout_cute(const struct wm_array *array, const struct bank_layout *layout, struct buffer *out)
{
    const unsigned element_bits = layout_is_power(array->element_bytes) ? layout_log2(array->element_bytes) : 0;
    struct swizzle swizzles[MOST_SWIZZLES];
    unsigned n;

    if (layout->kind == LAYOUT_PAD || layout->kind == LAYOUT_AS_IS) {
        cute_layout(array, layout, out);
        return;
    }
    n = layout->kind == LAYOUT_XOR && is_identity_and_more(layout) ? find_swizzles(layout, element_bits, swizzles) : 0;
    if (n == 1) {
        buffer_puts(out, "composition(");
        cute_swizzle(&swizzles[0], out);
        buffer_puts(out, ", ");
        cute_layout(array, layout, out);
        buffer_putc(out, ')');
    } else if (n > 1) {
        for (unsigned i = 0; i < n; i++) {
            cute_swizzle(&swizzles[i], out);
            buffer_putc(out, '(');
        }
        cute_layout(array, layout, out);
        buffer_puts(out, array->dimensions == 1   ? "(i"
                         : array->dimensions == 2 ? "(row, col"
                         : array->dimensions == 3 ? "(k, row, col"
                                                  : "(l, k, row, col");
        for (unsigned i = 0; i <= n; i++)
            buffer_putc(out, ')');
    }
}

void layout_element(const struct wm_array *array, uint64_t offset, struct buffer *out)
{
    uint64_t element = offset / array->element_bytes;

    buffer_puts(out, array->name);
    for (unsigned d = 0; d < array->dimensions; d++) {
        const uint64_t below = elements_from(array->extent, array->dimensions, d + 1);

        buffer_printf(out, "[%llu]", (unsigned long long)(element / below));
        element %= below;
    }
}
