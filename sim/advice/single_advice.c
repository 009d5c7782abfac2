/* What concerns one instruction by itself: one address for all lanes, atomics that collide, and what is left. */
#include "finder.h"

#include <string.h>

/* --------------------------------------------------------------------------------------------------------- constant */

/* Constant memory of a module (CUDA C++ Programming Guide, "Technical Specifications"). */
#define CONSTANT_BYTES 65536u
/* A sector is asked for so often, at least, before another place for it is worth a thought. */
#define FEW_REQUESTS 8u

void look_at_constant(struct finder *finder, const struct site *site)
{
    const struct sites *sites = finder->sites;
    const struct region *region;
    struct draft draft = {.kind = ADVICE_CONSTANT};
    struct cost after = {0};

    if (finder->status || site->region == NO_REGION || site->opcode.operation != WM_LD ||
        !is_mostly(site->uniform, site) || !matters(site, site->cost.instructions, sites->total.instructions))
        return;
    region = &sites->regions[site->region];
    if (region->is_written || region->high - region->low > CONSTANT_BYTES ||
        site->cost.instructions < FEW_REQUESTS * region->touched_sectors)
        return;
    say_region(region, &draft.title);
    buffer_puts(&draft.title, ": all lanes load one address of what nobody writes");
    buffer_printf(
        &draft.words,
        "%llu B are asked for %llu times, by whole warps at once. As a __constant__ array (or a parameter of the "
        "kernel) they come through the constant cache, which serves one address a warp; it takes nothing of the "
        "stages counted here, and is not modelled:",
        (unsigned long long)(region->high - region->low), (unsigned long long)site->cost.instructions);
    after.instructions = site->cost.instructions;
    after.lanes = site->cost.lanes;
    draft_effect(finder, &draft, &site, 1, &after, NULL);
    if (propose(finder, &draft))
        finder->is_constant[site - sites->list] = 1;
}

/* ---------------------------------------------------------------------------------------------------------- atomics */

/* Whether lanes at one address can be put together before: the order of operations does not matter, and a result that
 * is used can be made from one lane's. */
static int can_aggregate(const struct wm_opcode *opcode)
{
    switch (opcode->atomic) {
    case WM_ATOMIC_ADD: return 1;
    case WM_ATOMIC_MIN:
    case WM_ATOMIC_MAX:
    case WM_ATOMIC_AND:
    case WM_ATOMIC_OR:
    case WM_ATOMIC_XOR: return opcode->operation == WM_RED;
    default: return 0;
    }
}

static uint64_t atomic_wavefronts(const struct cost *cost)
{
    return cost->sums[WM_TAG_WAVEFRONTS] + cost->sums[WM_SHARED_WAVEFRONTS];
}

static int is_much_better(const struct cost *after, const struct cost *before)
{
    return 4 * atomic_wavefronts(after) <= 3 * atomic_wavefronts(before);
}

static void try_aggregation(struct finder *finder, const struct site *site)
{
    struct draft draft = {.kind = ADVICE_AGGREGATE};
    struct access_list list = {0};
    struct cost after;

    finder->status = rewrite_one_lane_an_address(site, &list);
    simulate(finder, &list, &after);
    if (finder->status || !is_much_better(&after, &site->cost))
        return;
    say_site(site, &draft.title);
    buffer_puts(&draft.title, ": lanes at one address take turns");
    buffer_puts(
        &draft.words,
        "Lanes of an atomic at the same address do not merge. Let the warp put together what goes to one address "
        "(__match_any_sync and a sum over its lanes, __reduce_add_sync) and one lane of each add it:");
    draft_effect(finder, &draft, &site, 1, &after, NULL);
    propose(finder, &draft);
}

/* Atomics that shared memory has no instruction for, by what the assembler makes of them for sm_90
 * (docs/hardware.md). */
static int is_loop_in_shared(const struct wm_opcode *opcode)
{
    int is_float = opcode->type != WM_TYPE_B && opcode->type != WM_TYPE_U && opcode->type != WM_TYPE_S;

    return is_float || (opcode->type_bytes == 8 && opcode->atomic != WM_ATOMIC_EXCH && opcode->atomic != WM_ATOMIC_CAS);
}

/* The table of a block's own in shared memory, which is added to global memory at its end. */
static void try_private(struct finder *finder, const struct site *site)
{
    struct draft draft = {.kind = ADVICE_PRIVATE};
    struct access_list shared = {0};
    struct access_list end = {0};
    struct cost in_shared, at_end, both;
    uint64_t bytes;

    if (site->high - site->low > 49152) /* shared memory of a block, without asking for more */
        return;
    finder->status = rewrite_private(site, &shared, &end, &bytes);
    simulate(finder, &shared, &in_shared);
    simulate(finder, &end, &at_end);
    both = at_end;
    cost_merge(&both, &in_shared);
    if (finder->status || 2 * at_end.sums[WM_SECTORS] > site->cost.sums[WM_SECTORS] ||
        !is_much_better(&at_end, &site->cost))
        return;
    say_site(site, &draft.title);
    buffer_puts(&draft.title, ": a block comes to the same addresses again and again");
    buffer_printf(
        &draft.words,
        "Give each block %llu B of shared memory for its own sums, and add these to global memory once, when the "
        "block is done. That is %llu wavefronts of atomics in shared memory (%u-way at worst), and in global memory "
        "what is shown",
        (unsigned long long)bytes, (unsigned long long)in_shared.sums[WM_SHARED_WAVEFRONTS],
        (unsigned)in_shared.sums[WM_WAYS]);
    if (is_loop_in_shared(&site->opcode))
        buffer_puts(&draft.words,
                    "; as shared memory has no such atomic, what nvcc makes of it is a loop: reduce by shuffles "
                    "instead");
    buffer_puts(&draft.words, ":");
    draft_effect(finder, &draft, &site, 1, &at_end, NULL);
    propose(finder, &draft);
}

void look_at_atomics(struct finder *finder, const struct site *site)
{
    const struct cost *total = &finder->sites->total;

    if (finder->status || !is_atomic_operation(&site->opcode) || !can_aggregate(&site->opcode) ||
        !matters(site, atomic_wavefronts(&site->cost), atomic_wavefronts(total)))
        return;
    if (site->collided)
        try_aggregation(finder, site);
    if (!finder->status && site->region != NO_REGION && site->opcode.operation == WM_RED)
        try_private(finder, site);
}

/* --------------------------------------------------------------------------------------------------------- the rest */

/* The longest run of adjacent elements in the first access of a site: bytes of a row. */
static uint64_t row_bytes(const struct wm_access *access)
{
    uint64_t longest = 0;
    uint64_t run = 0;
    uint64_t expected = 0;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        uint64_t address = access->address[__builtin_ctz(rest)];

        run = run && address == expected ? run + access->opcode.width_bytes : access->opcode.width_bytes;
        longest = run > longest ? run : longest;
        expected = address + access->opcode.width_bytes;
    }
    return longest;
}

/* Why nothing was found: what sites have in common that are shown together. */
enum rest { REST_EDGES, REST_STRIDE, REST_ROWS, REST_LINES, REST_SCATTERED, RESTS };

static enum rest rest_of(const struct finder *finder, const struct site *site)
{
    uint64_t row = row_bytes(&site->accesses[site->moments[0].index]);

    if (!excess_sectors(&site->cost))
        return REST_LINES;
    if (is_mostly(site->adjacent, site))
        return REST_EDGES;
    if (2 * site->strided >= site->several && site->stride)
        return REST_STRIDE;
    if (row > site->opcode.width_bytes && row < finder->sites->line_bytes)
        return REST_ROWS;
    return REST_SCATTERED;
}

static void say_rest(const struct finder *finder, const struct site *site, enum rest rest, struct draft *draft)
{
    say_region(&finder->sites->regions[site->region], &draft->title);
    switch (rest) {
    case REST_EDGES:
        buffer_puts(&draft->title, ": short or misaligned rows");
        buffer_puts(&draft->words,
                    "Lanes are adjacent, but rows begin or end inside sectors; no shift or padding was found that "
                    "serves all of them. At best:");
        break;
    case REST_STRIDE:
        buffer_printf(&draft->title, ": lanes are %llu B apart", (unsigned long long)site->stride);
        buffer_puts(&draft->words,
                    "What lies between is not taken by the same block, so that no tile of it helps. If the data can "
                    "be stored in the order in which lanes take it, at best:");
        break;
    case REST_ROWS:
        buffer_puts(&draft->title, ": short rows");
        buffer_printf(
            &draft->words,
            "A warp takes several rows, of %llu B say. Give it at least %u B, and better %u B, of a row: a larger "
            "blockDim.x. At best:",
            (unsigned long long)row_bytes(&site->accesses[site->moments[0].index]), finder->sites->sector_bytes,
            finder->sites->line_bytes);
        break;
    case REST_LINES:
        buffer_puts(&draft->title, ": whole sectors, but too many lines");
        say_lines(finder->sites, site, &draft->words);
        buffer_puts(&draft->words,
                    " No tile was found that has longer rows. If what a warp takes lay next to each other, at best:");
        break;
    default:
        buffer_puts(&draft->title, ": scattered lanes");
        buffer_puts(&draft->words,
                    "Where lanes go is in the data. Only another order of that helps: sort the indices, or store what "
                    "is taken together next to each other. At best:");
        break;
    }
}

static int is_left(struct finder *finder, const struct site *site)
{
    struct cost bound;

    if (wastes_lines(finder, site, &bound))
        return 1;
    return !finder->is_covered[site - finder->sites->list] && site->several &&
           matters(site, excess_sectors(&site->cost), finder->sites->global_total.sums[WM_SECTORS]);
}

void look_at_rest(struct finder *finder, size_t region)
{
    const struct sites *sites = finder->sites;

    for (enum rest rest = REST_EDGES; rest < RESTS; rest++) {
        struct draft draft = {.kind = ADVICE_NONE, .is_bound = 1};

        for (size_t i = 0; i < sites->n && !finder->status; i++) {
            const struct site *site = &sites->list[i];
            struct access_list list = {0};
            struct cost after;

            if (site->region != region || !is_left(finder, site) || rest_of(finder, site) != rest)
                continue;
            finder->status = rewrite_adjacent(site, sites->line_bytes, &list);
            simulate(finder, &list, &after);
            if (!draft.n_effects)
                say_rest(finder, site, rest, &draft);
            draft_effect(finder, &draft, &site, 1, &after, NULL);
        }
        if (draft.n_effects && !finder->status)
            propose(finder, &draft);
        draft_free(&draft);
    }
}
