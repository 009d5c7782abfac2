/*
 * Which thread loads which element. The array stays as it is, and so do all stores; a thread that loaded an element
 * loads another one in its place, so that in sum each element is loaded as often as before: a permutation of the bits
 * of the column's index (of arrays of one dimension: of the whole index).
 */
#include "config.h"

#include "shared_search.h"

#include <stdlib.h>
#include <string.h>

/* How often each granule is loaded. */
static uint64_t *count_loads(const struct shared_search *search, unsigned granule_bytes, size_t *n)
{
    const struct wm_array *array = search->array;
    uint64_t *loads;

    *n = (size_t)((array->size_bytes + granule_bytes - 1) / granule_bytes);
    loads = calloc(*n, sizeof *loads);
    for (size_t i = 0; loads && i < search->n; i++) {
        const struct wm_access *access = search->touches[i].access;

        if (access->opcode.operation != WM_LD)
            continue;
        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            const uint64_t at = (access->address[__builtin_ctz(rest)] - array->address) / granule_bytes;

            if (at < *n)
                loads[at] += access->count;
        }
    }
    return loads;
}

static int keeps_loads(const struct bank_layout *layout, const uint64_t *loads, size_t n, unsigned granule_bytes)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t moved = layout_offset(layout, i * granule_bytes) / granule_bytes;

        if (moved >= n || loads[moved] != loads[i])
            return 0;
    }
    return 1;
}

/* Bits of an index from `low' to `high' turned by one: the lowest becomes the highest, or the other way round, `times'
 * times. */
static void rotate(const struct wm_array *array, unsigned low, unsigned high, unsigned times, struct bank_layout *out)
{
    const unsigned element_bits = layout_log2(array->element_bytes);
    const unsigned n = high - low + 1;

    layout_as_is(array, out);
    out->kind = LAYOUT_XOR;
    out->bits = element_bits + layout_index_bits(array);
    for (unsigned i = 0; i < out->bits; i++) {
        const unsigned bit = i - element_bits;

        out->column[i] = 1U << i;
        if (i >= element_bits && bit >= low && bit <= high)
            out->column[i] = 1U << (element_bits + low + (bit - low + times) % n);
    }
    layout_finish_xor(array, out);
}

enum wm_status shared_find_threads(struct shared_search *search, struct shared_result *result)
{
    const struct wm_array *array = search->array;
    const uint64_t columns = array->extent[array->dimensions - 1];
    const unsigned granule = search->widest > array->element_bytes ? search->widest : (unsigned)array->element_bytes;
    uint64_t *loads;
    size_t n;
    unsigned first, last;

    if (!layout_is_power(array->element_bytes) || array->size_bytes > UINT64_C(1) << LAYOUT_MOST_BITS)
        result->why_not = "its elements are no power of two of bytes, or it is too large";
    else if (!layout_is_power(columns))
        result->why_not = "its rows are no power of two of elements";
    else if (search->is_misplaced)
        result->why_not = "an access does not begin at a multiple of its width in the array";
    if (result->why_not)
        return WM_OK;
    loads = count_loads(search, granule, &n);
    if (!loads)
        return WM_E_MEMORY;
    first = layout_log2(granule / array->element_bytes);
    last = layout_log2(columns);
    /* few bits are simpler than many */
    for (unsigned length = 2; length <= last - first && last > first && !result->is_perfect; length++) {
        for (unsigned low = first; low + length <= last && !result->is_perfect; low++) {
            for (unsigned times = 1; times < length && !result->is_perfect && search->work; times++) {
                struct bank_layout layout;

                rotate(array, low, low + length - 1, times, &layout);
                if (keeps_loads(&layout, loads, n, granule))
                    shared_consider(search, &layout, result);
            }
        }
    }
    if (!result->tried)
        result->why_not = "no exchange of index bits leaves each element loaded as often as before";
    free(loads);
    return WM_OK;
}
