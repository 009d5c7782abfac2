/*
 * XORs of index bits: first those that are one Swizzle<B,M,S> of CuTe, which is what people write; where none of them
 * is perfect, all linear maps that leave each row of banks in itself; where none of these is, all linear maps there
 * are.
 */
#include "config.h"

#include "shared_search.h"

#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------------------------------------- phases */

struct phase_list {
    struct xor_phase *list;
    size_t n;
    size_t size;
};

static struct xor_phase *new_phase(struct phase_list *phases)
{
    if (!list_grow(&phases->list, phases->n, &phases->size, sizeof *phases->list))
        return NULL;
    memset(&phases->list[phases->n], 0, sizeof *phases->list);
    return &phases->list[phases->n++];
}

/* Whether lanes at one address are served at once. */
static int merges(const struct shared_search *search, const struct wm_access *access)
{
    switch (access->opcode.operation) {
    case WM_ATOM:
    case WM_RED: return search->atomic_merge;
    case WM_CP_ASYNC: return 0;
    default: return 1;
    }
}

static unsigned lanes_of_phase(const struct shared_search *search, const struct wm_access *access)
{
    if (access->opcode.operation == WM_LDMATRIX)
        return search->load_phase_lanes[0];
    if (access->opcode.operation == WM_STMATRIX)
        return search->load_phase_lanes[1];
    return search->phase_lanes[layout_log2(access->opcode.width_bytes)];
}

/* Adds what some lanes ask for, in words, in which a granule is 1 << within_bits. Words of the same lane width, so that
 * the first word of each says all. Returns whether there is anything: -1: out of memory. */
static int add_phase(const struct shared_search *search, const struct wm_access *access, uint32_t lanes,
                     struct phase_list *phases)
{
    struct xor_phase *phase;
    const int is_merging = merges(search, access);

    if (!lanes)
        return 0;
    phase = new_phase(phases);
    if (!phase)
        return -1;
    phase->weight = access->count * (access->opcode.atomic == WM_ATOMIC_CAS ? search->cas_passes : 1);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        uint64_t address;
        uint32_t unit;
        unsigned same = 0;

        shared_address_of(access, (unsigned)__builtin_ctz(rest), &address);
        unit = (uint32_t)((address - search->array->address) / search->bank_bytes);
        while (is_merging && same < phase->n && phase->unit[same] != unit)
            same++;
        if (!is_merging || same == phase->n)
            phase->unit[phase->n++] = unit;
    }
    return 1;
}

static uint32_t lane_range(unsigned first, unsigned count)
{
    return (uint32_t)(((UINT64_C(1) << count) - 1) << first);
}

/* Adds the phases of an access, of so many lanes. Returns their number, or -1. */
static int add_phases(const struct shared_search *search, const struct wm_access *access, unsigned lanes,
                      struct phase_list *phases)
{
    const uint32_t used = shared_lanes_of(access);
    int n = 0;

    for (unsigned first = 0; first < WM_LANES; first += lanes) {
        const int added = add_phase(search, access, used & lane_range(first, lanes), phases);

        if (added < 0)
            return -1;
        n += added;
    }
    return n;
}

/* Passes that the phases from `first' on have as things are. */
static uint64_t passes_now(const struct phase_list *phases, size_t first, unsigned within_bits, unsigned slot_bits,
                           unsigned bits)
{
    struct xor_problem problem = {bits, slot_bits, within_bits, phases->list + first, phases->n - first};
    struct xor_map map;

    xor_identity(&problem, &map);
    return xor_cost(&problem, &map);
}

static int is_all_inside(const struct wm_array *array, const struct wm_access *access)
{
    for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
        uint64_t address;

        if (!shared_address_of(access, (unsigned)__builtin_ctz(rest), &address) || address < array->address ||
            address - array->address >= array->size_bytes)
            return 0;
    }
    return 1;
}

enum wm_status shared_phases(const struct shared_search *search, unsigned granule_bytes, struct xor_problem *out,
                             int *is_exact)
{
    const unsigned within_bits = layout_log2(granule_bytes / search->bank_bytes);
    const unsigned slot_bits = layout_log2(search->row_bytes / granule_bytes);
    const uint64_t granules = (search->array->size_bytes + granule_bytes - 1) / granule_bytes;
    const unsigned bits = granules > 1 ? layout_log2(granules - 1) + 1 : 0;
    struct phase_list phases = {NULL, 0, 0};

    *is_exact = 1;
    for (size_t i = 0; i < search->n; i++) {
        const struct touch *touch = &search->touches[i];
        const struct wm_access *access = touch->access;
        const unsigned lanes = lanes_of_phase(search, access);
        const size_t first = phases.n;
        int busy;

        if (touch->is_past_l1)
            continue; /* no wavefronts of its own; and tag wavefronts do not change within a row of banks */
        if (!is_all_inside(search->array, access)) {
            *is_exact = 0;
            continue;
        }
        busy = add_phases(search, access, lanes, &phases);
        if (busy < 0)
            goto no_memory;
        /* A wide load whose lanes share addresses in pairs is served in phases twice as long: then fewer of them have
         * active lanes, and that is its ideal. */
        if (access->opcode.operation == WM_LD && lanes < WM_LANES && (uint32_t)busy != touch->floor) {
            phases.n = first;
            if (add_phases(search, access, lanes * 2, &phases) < 0)
                goto no_memory;
        }
        /* in a copy, lanes whose source lines are looked up apart do not meet: phases say too much */
        if (access->opcode.operation == WM_CP_ASYNC ||
            passes_now(&phases, first, within_bits, slot_bits, bits) != touch->now * access->count)
            *is_exact = 0;
    }
    *out = (struct xor_problem){bits, slot_bits, within_bits, phases.list, phases.n};
    return WM_OK;
no_memory:
    free(phases.list);
    return WM_E_MEMORY;
}

/* --------------------------------------------------------------------------------------------------------- swizzles */

struct space {
    unsigned granule_bytes;
    unsigned element_bits; /* log2 of an element's bytes */
    unsigned granule_bits; /* of its index, within a granule */
    unsigned row_bits;     /* of its index, within a row of banks */
    unsigned index_bits;
};

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static void find_space(const struct shared_search *search, struct space *out)
{
    out->granule_bytes = larger(larger(search->widest, search->bank_bytes), (unsigned)search->array->element_bytes);
    out->element_bits = layout_log2(search->array->element_bytes);
    out->granule_bits = layout_log2(out->granule_bytes) - out->element_bits;
    out->row_bits = layout_log2(search->row_bytes) - out->element_bits;
    out->index_bits = layout_index_bits(search->array);
}

/* Every Swizzle<B,M,S> that moves granules within a row of banks, the one that moves the fewest bits first. */
static void find_swizzle(struct shared_search *search, const struct space *space, struct shared_result *result)
{
    for (unsigned b = 1; space->granule_bits + b <= space->row_bits; b++) {
        for (unsigned m = space->granule_bits; m + b <= space->row_bits; m++) {
            for (unsigned s = b; m + s + b <= space->index_bits; s++) {
                struct bank_layout layout;

                if (result->is_perfect || !search->work)
                    return;
                layout_swizzle(search->array, b, m, s, &layout);
                shared_consider(search, &layout, result);
            }
        }
    }
}

/* The same with bits of the row's number, where rows are no power of two: columns stay in their row. */
static void find_row_xor(struct shared_search *search, const struct space *space, struct shared_result *result)
{
    const struct wm_array *array = search->array;
    const uint64_t columns = array->extent[array->dimensions - 1];
    const uint64_t rows = array->size_bytes / array->element_bytes / columns;

    for (unsigned b = 1; b <= space->row_bits; b++) {
        for (unsigned m = space->granule_bits; m + b <= space->row_bits; m++) {
            if (columns % (UINT64_C(1) << (m + b)))
                continue;
            for (unsigned s = 0; rows >> s > 1; s++) {
                struct bank_layout layout;

                if (result->is_perfect || !search->work)
                    return;
                layout_row_xor(array, b, m, s, &layout);
                shared_consider(search, &layout, result);
            }
        }
    }
}

/* ------------------------------------------------------------------------------------------------------ linear maps */

/* The layout of a map that leaves rows of banks as they are. */
static void layout_in_rows(const struct shared_search *search, const struct space *space,
                           const struct xor_problem *problem, const struct xor_map *map, struct bank_layout *out)
{
    const unsigned low = layout_log2(space->granule_bytes);

    layout_as_is(search->array, out);
    out->kind = LAYOUT_XOR;
    out->bits = low + problem->bits;
    for (unsigned i = 0; i < out->bits; i++)
        out->column[i] = 1U << i;
    for (unsigned i = problem->slot_bits; i < problem->bits; i++)
        out->column[low + i] |= map->column[i] << low;
    layout_finish_xor(search->array, out);
}

/* Makes a map's columns at `pivot' bits the unit vectors, by renaming slots (which no cost depends on). *pivots: these
 * bits, as many as there are slot bits, the lowest that are independent. order: which unit vector each gets. */
static uint32_t normalise(const struct xor_problem *problem, struct xor_map *map)
{
    uint32_t pivots = 0;
    unsigned wanted[XOR_MOST_SLOT_BITS];
    uint32_t free_slots;
    unsigned n = 0;

    /* Gauss-Jordan: rows are slot bits */
    for (unsigned i = 0; i < problem->bits && n < problem->slot_bits; i++) {
        unsigned row = n;

        while (row < problem->slot_bits && !(map->column[i] >> row & 1))
            row++;
        if (row == problem->slot_bits)
            continue;
        for (unsigned k = 0; k < problem->bits; k++) {
            const uint32_t a = map->column[k] >> row & 1, b = map->column[k] >> n & 1;

            map->column[k] = (map->column[k] & ~(1U << row | 1U << n)) | a << n | b << row;
        }
        for (unsigned other = 0; other < problem->slot_bits; other++) {
            if (other == n || !(map->column[i] >> other & 1))
                continue;
            for (unsigned k = 0; k < problem->bits; k++)
                map->column[k] ^= (map->column[k] >> n & 1) << other;
        }
        pivots |= 1U << i;
        wanted[n++] = i;
    }
    /* bits that are within a row of banks keep their places; the other pivots get what is left */
    free_slots = (1U << problem->slot_bits) - 1;
    for (unsigned i = 0; i < n; i++)
        free_slots &= wanted[i] < problem->slot_bits ? ~(1U << wanted[i]) : UINT32_MAX;
    for (unsigned i = 0; i < n; i++) {
        if (wanted[i] >= problem->slot_bits) {
            wanted[i] = (unsigned)__builtin_ctz(free_slots);
            free_slots &= free_slots - 1;
        }
    }
    for (unsigned k = 0; k < problem->bits; k++) {
        const uint32_t column = map->column[k];

        map->column[k] = 0;
        for (unsigned i = 0; i < n; i++)
            map->column[k] |= (column >> i & 1) << wanted[i];
    }
    return pivots;
}

/* The layout of any map: the slot is what the map says; of the other bits, those that are above a row of banks stay
 * where they are, and those below go where a pivot was. */
static void layout_of_all(const struct shared_search *search, const struct space *space,
                          const struct xor_problem *problem, const struct xor_map *map, struct bank_layout *out)
{
    const unsigned low = layout_log2(space->granule_bytes);
    struct xor_map slots = *map;
    const uint32_t pivots = normalise(problem, &slots);
    const uint32_t in_row = (1U << problem->slot_bits) - 1;
    uint32_t vacant = pivots & ~in_row;

    layout_as_is(search->array, out);
    out->kind = LAYOUT_XOR;
    out->bits = low + problem->bits;
    for (unsigned i = 0; i < low; i++)
        out->column[i] = 1U << i;
    for (unsigned i = 0; i < problem->bits; i++) {
        uint32_t column = slots.column[i];

        if (!(pivots >> i & 1) && i >= problem->slot_bits) {
            column |= 1U << i;
        } else if (!(pivots >> i & 1)) {
            column |= vacant & -vacant;
            vacant &= vacant - 1;
        }
        out->column[low + i] = column << low;
    }
    layout_finish_xor(search->array, out);
}

/* Passes above the floor, from those that phases have: what the accesses that are no phases' (copies past L1) cost is
 * nothing here. */
static uint64_t floor_of(const struct shared_search *search)
{
    uint64_t floor = 0;

    for (size_t i = 0; i < search->n; i++)
        floor += search->touches[i].is_past_l1 ? 0 : search->touches[i].floor * search->touches[i].access->count;
    return floor;
}

static void find_linear(struct shared_search *search, const struct space *space, struct xor_problem *problem,
                        int is_exact, struct shared_result *result)
{
    const uint64_t floor = floor_of(search);
    uint64_t work = SHARED_XOR_WORK;
    struct bank_layout layout;
    struct xor_answer answer;

    for (int is_general = 0; is_general < 2 && !result->is_perfect; is_general++) {
        const uint64_t below = is_exact ? floor + result->cost.excess : UINT64_MAX;

        if (xor_search(problem, is_general, floor, below, &work, &answer)) {
            if (is_general)
                layout_of_all(search, space, problem, &answer.map, &layout);
            else
                layout_in_rows(search, space, problem, &answer.map, &layout);
            shared_consider(search, &layout, result);
        }
        result->is_proven = answer.is_proven && is_exact && is_general;
    }
    if (!work)
        search->advice->is_stopped = 1;
}

enum wm_status shared_find_xor(struct shared_search *search, struct shared_result *result)
{
    const struct wm_array *array = search->array;
    struct xor_problem problem;
    struct space space;
    enum wm_status status;
    int is_exact;

    if (!layout_is_power(array->element_bytes))
        result->why_not = "its elements are no power of two of bytes";
    else if (array->size_bytes > UINT64_C(1) << LAYOUT_MOST_BITS || array->element_bytes >= search->row_bytes)
        result->why_not = "it is too large";
    else if (search->is_misplaced)
        result->why_not = "an access does not begin at a multiple of its width in the array";
    if (result->why_not)
        return WM_OK;
    find_space(search, &space);
    if (array->dimensions > 1 && !layout_is_power(array->extent[array->dimensions - 1]) && !search->is_across)
        find_row_xor(search, &space, result);
    find_swizzle(search, &space, result);
    if (result->is_perfect)
        return WM_OK;
    status = shared_phases(search, space.granule_bytes, &problem, &is_exact);
    if (status)
        return status;
    xor_merge(&problem);
    find_linear(search, &space, &problem, is_exact, result);
    free(problem.phases);
    return WM_OK;
}
