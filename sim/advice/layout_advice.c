/* Where elements lie: structures of arrays, packed copies, beginnings of rows; and whole structures at once. */
#include "finder.h"

#include <stdlib.h>
#include <string.h>

/* --------------------------------------------------------------------------------------------- structures of arrays */

/* Offsets, in structures that are so many bytes apart, that the accesses of a site are at; more than `most': most
 * + 1. 0: the lanes of an access are at different ones. */
static size_t count_offsets(const struct site *site, uint64_t base, uint64_t bytes, size_t most)
{
    uint64_t offsets[MOST_STRUCTURE_BYTES];
    size_t n = 0;

    for (size_t k = 0; k < site->n; k++) {
        const struct wm_access *access = &site->accesses[k];
        uint64_t offset = (lowest_address(access) - base) % bytes;
        size_t at = 0;

        for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
            if ((access->address[__builtin_ctz(rest)] - base) % bytes != offset)
                return 0;
        }
        while (at < n && offsets[at] != offset)
            at++;
        if (at < n || !access->mask)
            continue;
        if (n == most)
            return most + 1;
        offsets[n++] = offset;
    }
    return n;
}

/* Whether the lanes of each access are at one member of structures: several on a source line, if the array is
 * known to be one of structures; else it might as well be one of rows. */
static int takes_members(const struct region *region, const struct site *site, uint64_t base, uint64_t bytes)
{
    size_t most = region->array && region->array->element_bytes == bytes ? MOST_STRUCTURE_BYTES : 1;
    size_t n = count_offsets(site, base, bytes, most);

    return n && n <= most;
}

static uint64_t base_of(const struct region *region)
{
    return region->array ? region->array->address : region->low;
}

/* Whether a site's lanes are structures apart, at cost. */
static int walks_structures(const struct site *site)
{
    return site->stride && site->stride <= MOST_STRUCTURE_BYTES && 2 * site->strided >= site->several &&
           excess_sectors(&site->cost);
}

/* What the sites of a region would cost, each in costs (by number of the site), with every piece in its own array. */
static void simulate_pieces(struct finder *finder, size_t region, const struct structure *structure, struct cost *costs,
                            struct cost *sum)
{
    const struct sites *sites = finder->sites;

    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        struct access_list list = {0};

        if (sites->list[i].region != region)
            continue;
        finder->status = rewrite_pieces(&sites->list[i], structure, &list);
        simulate(finder, &list, &costs[i]);
        cost_merge(sum, &costs[i]);
    }
}

static void region_cost(const struct sites *sites, size_t region, struct cost *out)
{
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < sites->n; i++) {
        if (sites->list[i].region == region)
            cost_merge(out, &sites->list[i].cost);
    }
}

/* A line for each site of a region, with the costs in costs. */
static void add_region_effects(struct finder *finder, size_t region, const struct cost *costs, struct draft *draft)
{
    for (size_t i = 0; i < finder->sites->n; i++) {
        const struct site *site = &finder->sites->list[i];

        if (site->region == region)
            draft_effect(finder, draft, &site, 1, &costs[i], NULL);
    }
}

static void say_pieces(const struct structure *structure, struct buffer *out)
{
    for (size_t i = 0; i < structure->n; i++) {
        const struct piece *piece = &structure->pieces[i];

        if (i == 8) {
            buffer_printf(out, ", ... (%zu in all)", structure->n);
            return;
        }
        buffer_printf(out, "%s%u-%u", i ? ", " : "", piece->offset, piece->offset + piece->bytes - 1);
    }
}

static int is_array_of(const struct region *region, uint64_t bytes)
{
    return region->array && region->array->element_bytes == bytes;
}

static void say_layout(const struct region *region, const struct structure *structure, struct draft *draft)
{
    const struct piece *first = &structure->pieces[0];

    say_region(region, &draft->title);
    buffer_puts(&draft->words, "Of the sectors touched, ");
    say_percent(region->touched_bytes, region->touched_sectors * 32, &draft->words);
    buffer_puts(&draft->words, " of the bytes are used in this launch. ");
    if (is_array_of(region, structure->bytes)) {
        buffer_printf(&draft->title, ": array of structures (%s, %u B)", region->array->element, structure->bytes);
    } else if (structure->n == 1 && is_array_of(region, first->bytes)) {
        buffer_printf(&draft->title, ": one element in %u is used", structure->bytes / first->bytes);
        buffer_printf(
            &draft->words,
            "Keep the elements that are used next to each other, in an array of their own, or give neighbouring "
            "lanes neighbouring elements. With a packed array, which begins at a multiple of 256 B:");
        return;
    } else {
        buffer_printf(&draft->title, ": lanes are %u B apart, as in an array of structures", structure->bytes);
    }
    if (structure->n == 1)
        buffer_printf(&draft->words,
                      "Keep bytes %u-%u of the structures in an array of their own (structure of arrays)",
                      first->offset, first->offset + first->bytes - 1);
    else {
        buffer_puts(&draft->words, "Keep each member in an array of its own (structure of arrays): bytes ");
        say_pieces(structure, &draft->words);
    }
    buffer_puts(&draft->words, ". With arrays that begin at multiples of 256 B, for all accesses to this one:");
}

/* The distances that are worth a try at a site: what lanes are apart, or the element of the array. */
static size_t list_distances(const struct region *region, const struct site *site, uint32_t out[2])
{
    uint64_t element = region->array ? region->array->element_bytes : 0;
    size_t n = 0;

    out[n++] = (uint32_t)site->stride;
    if (element > site->opcode.width_bytes && element < site->stride && site->stride % element == 0)
        out[n++] = (uint32_t)element;
    return n;
}

void look_at_layout(struct finder *finder, size_t region)
{
    const struct sites *sites = finder->sites;
    const struct region *where = &sites->regions[region];
    struct structure *structures = calloc(2, sizeof *structures);
    struct structure *best = structures, *next = structures ? structures + 1 : NULL;
    struct cost *costs = calloc(2 * sites->n, sizeof *costs);
    struct cost *best_costs = costs, *next_costs = costs ? costs + sites->n : NULL;
    struct cost before, after, best_after = {0};
    struct draft draft = {.kind = ADVICE_LAYOUT};

    if (!structures || !costs)
        finder->status = WM_E_MEMORY;
    region_cost(sites, region, &before);
    best_after = before;
    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        const struct site *site = &sites->list[i];
        uint32_t distances[2];
        size_t n;

        if (site->region != region || !walks_structures(site) ||
            !matters(site, excess_sectors(&site->cost), sites->global_total.sums[WM_SECTORS]))
            continue;
        n = list_distances(where, site, distances);
        for (size_t k = 0; k < n; k++) {
            if (!takes_members(where, site, base_of(where), distances[k]) ||
                !find_structure(sites, region, distances[k], next))
                continue;
            simulate_pieces(finder, region, next, next_costs, &after);
            if (after.sums[WM_SECTORS] >= best_after.sums[WM_SECTORS])
                continue;
            best_after = after;
            /* the best so far and the next one exchange their places */
            next = best;
            best = best == structures ? structures + 1 : structures;
            next_costs = best_costs;
            best_costs = best_costs == costs ? costs + sites->n : costs;
        }
    }
    if (!finder->status && 10 * best_after.sums[WM_SECTORS] <= 9 * before.sums[WM_SECTORS]) {
        say_layout(where, best, &draft);
        add_region_effects(finder, region, best_costs, &draft);
        propose(finder, &draft);
    }
    draft_free(&draft);
    free(structures);
    free(costs);
}

/* ---------------------------------------------------------------------------------------------- members as a vector */

#define MOST_CHAIN 8

/* The site that takes what lies right behind *site in each lane, at its first access; NULL: none. */
static const struct site *next_member(const struct sites *sites, const struct site *site)
{
    const struct wm_access *access = &site->accesses[site->moments[0].index];

    for (size_t i = 0; i < sites->n; i++) {
        const struct site *other = &sites->list[i];
        const struct wm_access *first = &other->accesses[other->moments[0].index];

        if (other != site && other->region == site->region && other->n == site->n && first->mask == access->mask &&
            memcmp(&other->opcode, &site->opcode, sizeof site->opcode) == 0 && access->mask &&
            lowest_address(first) == lowest_address(access) + access->opcode.width_bytes)
            return other;
    }
    return NULL;
}

/* The longest vector that the sites of a chain make, from its beginning. Returns its bytes, or 0; *used: sites in
 * it. */
static unsigned find_member_vector(struct finder *finder, const struct site *const *chain, size_t n, size_t *used,
                                   struct cost *after)
{
    unsigned width = chain[0]->opcode.width_bytes;

    for (unsigned bytes = 16; bytes > width; bytes /= 2) {
        struct access_list list = {0};
        uint64_t merged = 0;
        size_t members = bytes / width;

        /* loads may take one more member than is used, if it is in the same structure */
        if (n < members &&
            (n + 1 != members || n < 3 || chain[0]->opcode.operation != WM_LD || chain[0]->stride % bytes != 0))
            continue;
        *used = n < members ? n : members;
        if (!finder->status)
            finder->status = rewrite_member_vectors(chain, *used, bytes, &list, &merged);
        simulate(finder, &list, after);
        if (merged && !finder->status)
            return bytes;
    }
    return 0;
}

static void propose_members(struct finder *finder, const struct site *const *chain, size_t n, unsigned bytes,
                            const struct cost *after)
{
    struct draft draft = {.kind = ADVICE_MEMBERS};
    const char *what = chain[0]->opcode.operation == WM_LD ? "load" : "store";

    buffer_printf(&draft.title, "%zu %ss of adjacent elements: one of %u B", n, what, bytes);
    buffer_printf(
        &draft.words,
        "Each lane %ss adjacent elements, such as the members of a structure, one by one, and each of the %zu "
        "instructions touches the same sectors again. Take them as one aligned vector of %u B (float4 and the like, "
        "or a structure with __align__(%u) copied as a whole):",
        what, n, bytes, bytes);
    draft_effect(finder, &draft, chain, n, after, NULL);
    propose(finder, &draft);
}

void look_at_members(struct finder *finder, size_t region)
{
    const struct sites *sites = finder->sites;
    uint8_t *is_taken = calloc(sites->n + 1, 1);

    if (!is_taken)
        finder->status = WM_E_MEMORY;
    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        const struct site *chain[MOST_CHAIN] = {&sites->list[i]};
        struct cost after;
        size_t n = 1, used;
        unsigned bytes;

        if (chain[0]->region != region || is_taken[i] || !walks_structures(chain[0]) || !is_load_or_store(chain[0]) ||
            !matters(chain[0], excess_sectors(&chain[0]->cost), sites->global_total.sums[WM_SECTORS]))
            continue;
        while (n < MOST_CHAIN && (chain[n] = next_member(sites, chain[n - 1])) != NULL)
            n++;
        bytes = n > 1 ? find_member_vector(finder, chain, n, &used, &after) : 0;
        if (!bytes)
            continue;
        for (size_t k = 0; k < used; k++)
            is_taken[chain[k] - sites->list] = 1;
        propose_members(finder, chain, used, bytes, &after);
    }
    free(is_taken);
}

/* ------------------------------------------------------------------------------------------------------- beginnings */

/* How far behind a line's beginning all rows of a site begin; 0: at one, or not all alike. */
static uint64_t common_remainder(const struct sites *sites, const struct site *site)
{
    uint64_t remainder = 0;
    int is_first = 1;

    for (size_t k = 0; k < site->n; k++) {
        uint64_t begin;

        if (active_lanes(&site->accesses[k]) < 2)
            continue;
        begin = lowest_address(&site->accesses[k]) % sites->line_bytes;
        if (!is_first && begin != remainder)
            return 0;
        remainder = begin;
        is_first = 0;
    }
    return remainder;
}

/* Rows that touch more sectors, or more lines, than their bytes need. */
static int is_misaligned(const struct sites *sites, const struct site *site)
{
    const uint64_t *sums = site->cost.sums;
    uint64_t fewest = (sums[WM_SECTORS_IDEAL] * sites->sector_bytes + sites->line_bytes - 1) / sites->line_bytes;

    fewest = fewest > sums[WM_REQUESTS] ? fewest : sums[WM_REQUESTS];
    return is_mostly(site->adjacent, site) && !is_atomic_operation(&site->opcode) &&
           (matters(site, excess_sectors(&site->cost), sites->global_total.sums[WM_SECTORS]) ||
            matters(site, above(sums[WM_LINES], fewest), sites->global_total.sums[WM_LINES]));
}

static void simulate_shift(struct finder *finder, size_t region, uint64_t bytes, struct cost *costs, struct cost *sum)
{
    const struct sites *sites = finder->sites;

    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        struct access_list list = {0};

        if (sites->list[i].region != region)
            continue;
        if (bytes % sites->list[i].opcode.width_bytes) {
            sum->sums[WM_SECTORS] = UINT64_MAX; /* vectors cannot follow */
            return;
        }
        finder->status = rewrite_shift(&sites->list[i], bytes, &list);
        simulate(finder, &list, &costs[i]);
        cost_merge(sum, &costs[i]);
    }
}

/* Whether *after is better than *before in sectors, or as good with fewer lines. */
static int is_better_aligned(const struct cost *after, const struct cost *before)
{
    if (after->sums[WM_SECTORS] != before->sums[WM_SECTORS])
        return after->sums[WM_SECTORS] < before->sums[WM_SECTORS];
    return after->sums[WM_LINES] < before->sums[WM_LINES];
}

/* Returns whether a shift was proposed. */
static int try_shifts(struct finder *finder, size_t region, struct cost *costs)
{
    const struct sites *sites = finder->sites;
    struct draft draft = {.kind = ADVICE_ALIGN};
    struct cost before, after, best_after;
    const struct site *of = NULL;
    uint64_t best = 0;

    region_cost(sites, region, &before);
    best_after = before;
    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        const struct site *site = &sites->list[i];
        uint64_t remainder;

        if (site->region != region || !is_misaligned(sites, site))
            continue;
        remainder = common_remainder(sites, site);
        if (!remainder || remainder == best)
            continue;
        simulate_shift(finder, region, remainder, costs, &after);
        if (is_better_aligned(&after, &best_after)) {
            best_after = after;
            best = remainder;
            of = site;
        }
    }
    if (!best || finder->status)
        return 0;
    simulate_shift(finder, region, best, costs, &after);
    say_region(&sites->regions[region], &draft.title);
    buffer_printf(&draft.title, ": rows begin %llu B behind a line of %u B", (unsigned long long)best,
                  sites->line_bytes);
    buffer_printf(&draft.words, "What a warp takes at ");
    say_site(of, &draft.words);
    buffer_printf(&draft.words, " is adjacent, but begins %llu B behind a multiple of %u. ", (unsigned long long)best,
                  sites->line_bytes);
    if (best % sites->sector_bytes == 0)
        buffer_puts(&draft.words,
                    "No sector is wasted, as it is a multiple of a sector; but it lies in one line more. ");
    buffer_printf(
        &draft.words,
        "Shift what is stored, or pad it in front with %llu B, so that the first one begins at a line; or let each "
        "warp begin at a line and mask the edges:",
        (unsigned long long)(sites->line_bytes - best));
    add_region_effects(finder, region, costs, &draft);
    return propose(finder, &draft);
}

/* Whether rows of such a pitch are what a site walks: no access lies across the end of one. */
static int stays_in_rows(const struct site *site, uint64_t base, uint64_t pitch)
{
    for (size_t k = 0; k < site->n; k++) {
        const struct wm_access *access = &site->accesses[k];

        if (access->mask && (lowest_address(access) - base) / pitch !=
                                (highest_address(access) + access->opcode.width_bytes - 1 - base) / pitch)
            return 0;
    }
    return 1;
}

static int try_pitch(struct finder *finder, size_t region, uint64_t pitch, struct cost *costs)
{
    const struct sites *sites = finder->sites;
    const struct region *where = &sites->regions[region];
    uint64_t base = base_of(where);
    uint64_t padded = (pitch + sites->line_bytes - 1) / sites->line_bytes * sites->line_bytes;
    struct draft draft = {.kind = ADVICE_PITCH};
    struct cost before, after = {0};

    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        struct access_list list = {0};

        if (sites->list[i].region != region)
            continue;
        if (!stays_in_rows(&sites->list[i], base, pitch))
            return 0;
        finder->status = rewrite_pitch(&sites->list[i], base, pitch, padded, &list);
        simulate(finder, &list, &costs[i]);
        cost_merge(&after, &costs[i]);
    }
    region_cost(sites, region, &before);
    if (finder->status || !is_better_aligned(&after, &before))
        return 0;
    say_region(where, &draft.title);
    buffer_printf(&draft.title, ": rows are %llu B apart, no multiple of %u", (unsigned long long)pitch,
                  sites->line_bytes);
    buffer_printf(
        &draft.words,
        "Each row begins elsewhere in its line. Pad rows to %llu B (cudaMallocPitch does so): %llu B more a row, "
        "%llu rows touched:",
        (unsigned long long)padded, (unsigned long long)(padded - pitch),
        (unsigned long long)((where->high - base + pitch - 1) / pitch));
    add_region_effects(finder, region, costs, &draft);
    return propose(finder, &draft);
}

/* The pitches that a site's addresses may have: how far apart rows of different y, blocks or steps are. */
static void try_pitches(struct finder *finder, const struct site *site, struct cost *costs)
{
    static const enum variable variables[] = {THREAD_Y, THREAD_Z, BLOCK_Y, STEP, BLOCK_Z, BLOCK_X};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        int64_t stride = site->affine.stride[variables[i]];
        uint64_t pitch = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;

        if (pitch <= finder->sites->line_bytes / 2 || pitch % finder->sites->line_bytes == 0 ||
            pitch % site->opcode.width_bytes)
            continue;
        /* a block's or warp's rows: the pitch of one of them, where several were taken together */
        if (try_pitch(finder, site->region, pitch, costs))
            return;
    }
}

void look_at_beginnings(struct finder *finder, size_t region)
{
    const struct sites *sites = finder->sites;
    struct cost *costs = calloc(sites->n + 1, sizeof *costs);
    int is_done = 0;

    if (!costs)
        finder->status = WM_E_MEMORY;
    if (!finder->status)
        is_done = try_shifts(finder, region, costs);
    for (size_t i = 0; i < sites->n && !finder->status && !is_done; i++) {
        const struct site *site = &sites->list[i];

        if (site->region != region || !is_misaligned(sites, site) || !site->affine.holds_once)
            continue;
        try_pitches(finder, site, costs);
        is_done = 1;
    }
    free(costs);
}
