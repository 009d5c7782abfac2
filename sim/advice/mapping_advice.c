/* Which thread takes what, and when: roles of thread indices, tiles in shared memory, vectors, whole warps. */
#include "finder.h"

#include "report.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ tiles */

/* Shared memory that a block has without asking for more (CUDA C++ Programming Guide, "Technical Specifications"). */
#define TILE_BYTES 49152u

struct tile {
    struct tile_shape shape;
    uint64_t bytes;
    struct cost after;
};

static uint64_t passes(const struct cost *cost)
{
    return cost->sums[WM_TAG_WAVEFRONTS] + cost->sums[WM_LSU_WAVEFRONTS];
}

/* Better: fewer sectors; or as few, and a tenth fewer wavefronts at least, for what a larger tile costs. */
static int is_better_tile(const struct tile *tile, const struct tile *best)
{
    if (tile->after.sums[WM_SECTORS] != best->after.sums[WM_SECTORS])
        return tile->after.sums[WM_SECTORS] < best->after.sums[WM_SECTORS];
    return 10 * passes(&tile->after) <= 9 * passes(&best->after);
}

static uint32_t most_steps(const struct site *const *sites, size_t n)
{
    uint32_t most = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sites[i]->n; k++)
            most = sites[i]->moments[k].step + 1 > most ? sites[i]->moments[k].step + 1 : most;
    }
    return most;
}

/* Simulates a tile of that shape. 0: it does not fit. */
static int try_tile(struct finder *finder, const struct site *const *sites, size_t n, const struct tile_shape *shape,
                    struct tile *best)
{
    struct access_list list = {0};
    struct tile tile = {.shape = *shape};

    if (!finder->status)
        finder->status = rewrite_tile(sites, n, shape, &list, &tile.bytes);
    simulate(finder, &list, &tile.after);
    if (finder->status || tile.bytes > TILE_BYTES)
        return 0;
    if (!best->shape.steps || is_better_tile(&tile, best))
        *best = tile;
    return 1;
}

/* Whether waste, and not repetition, is what a tile takes away. */
static int is_walk(const struct cost *before, const struct cost *after)
{
    return excess_sectors(before) &&
           2 * excess_sectors(before) >= above(before->sums[WM_SECTORS], after->sums[WM_SECTORS]);
}

/* The best tile for sites of one opcode: of more and more steps; across rows, of more and more blocks, so that the
 * pieces of rows get longer. 0: none fits. */
static int find_tile(struct finder *finder, const struct site *const *sites, size_t n, const struct cost *before,
                     struct tile *best)
{
    uint32_t steps = most_steps(sites, n);

    best->shape.steps = 0;
    for (uint32_t depth = 1; depth; depth = depth >= steps ? 0 : 2 * depth > 32 ? steps : 2 * depth) {
        if (!try_tile(finder, sites, n, &(struct tile_shape){depth, 1, 1}, best))
            break;
    }
    if (!best->shape.steps || sites[0]->opcode.operation == WM_CP_ASYNC || !is_walk(before, &best->after))
        return best->shape.steps && !finder->status;
    for (uint32_t blocks = 2; blocks <= 8; blocks *= 2) {
        uint32_t depth = best->shape.steps;

        try_tile(finder, sites, n, &(struct tile_shape){depth, blocks, 1}, best);
        try_tile(finder, sites, n, &(struct tile_shape){depth, 1, blocks}, best);
    }
    return !finder->status;
}

/* Where an element lies: how the addresses of a site are made. */
static void say_addresses(const struct finder *finder, const struct site *site, struct buffer *out)
{
    struct buffer sum = {0};

    if (say_affine(finder->sites, site, &sum))
        buffer_printf(out, " (addresses: %s)", buffer_text(&sum));
    buffer_free(&sum);
}

static void say_tile(const struct tile *tile, uint32_t steps, struct buffer *out)
{
    buffer_printf(out, "a tile of %llu B of shared memory a block", (unsigned long long)tile->bytes);
    if (tile->shape.steps < steps)
        buffer_printf(out, ", %u step%s at a time", tile->shape.steps, tile->shape.steps == 1 ? "" : "s");
    else if (steps > 1)
        buffer_puts(out, ", for all steps at once");
    if (tile->shape.blocks_x * tile->shape.blocks_y > 1)
        buffer_printf(out, ", which does the work of %u blocks that are neighbours in %c",
                      tile->shape.blocks_x * tile->shape.blocks_y, tile->shape.blocks_x > 1 ? 'x' : 'y');
}

/* Whether all lanes of a cost's instructions are active. */
static int is_of_whole_warps(const struct cost *cost)
{
    return cost->lanes == WM_LANES * cost->instructions;
}

/* Bytes that shared memory gives or takes in a wavefront: 32 banks of 4. */
#define WAVEFRONT_BYTES 128u

/* Wavefronts of an instruction with all lanes. */
static unsigned wavefronts_of(const struct site *site)
{
    unsigned bytes = WM_LANES * site->opcode.width_bytes;

    return bytes > WAVEFRONT_BYTES ? bytes / WAVEFRONT_BYTES : 1;
}

/* Whether any has lanes at one address, which share its wavefront. */
static int are_collided(const struct site *const *sites, size_t n)
{
    int is_collided = 0;

    for (size_t i = 0; i < n; i++)
        is_collided |= sites[i]->collided > 0;
    return is_collided;
}

/* What the detour costs. */
static void say_detour(const struct site *const *sites, size_t n, const struct cost *before, const struct tile *tile,
                       int is_store, struct buffer *out)
{
    uint64_t whole = tile->after.instructions;
    unsigned wavefronts = wavefronts_of(sites[0]);
    int is_up_to = !is_of_whole_warps(before) || !is_of_whole_warps(&tile->after) || are_collided(sites, n);

    buffer_printf(out, " Shared memory then has %llu store%s and %llu load%s more, of ",
                  (unsigned long long)(is_store ? before->instructions : whole),
                  (is_store ? before->instructions : whole) == 1 ? "" : "s",
                  (unsigned long long)(is_store ? whole : before->instructions),
                  (is_store ? whole : before->instructions) == 1 ? "" : "s");
    if (wavefronts == 1)
        buffer_puts(out, "one wavefront");
    else
        buffer_printf(out, "%s%u wavefronts", is_up_to ? "up to " : "", wavefronts);
    buffer_puts(out, " each if free of conflicts; a barrier between them.");
}

static void say_walk(const struct finder *finder, const struct site *site, struct buffer *out)
{
    if (2 * site->strided >= site->several && site->stride)
        buffer_printf(out, "Neighbouring lanes are %llu B apart", (unsigned long long)site->stride);
    else
        buffer_printf(out, "A warp's lanes lie in %.1f sectors, where %.1f would hold them",
                      (double)site->cost.sums[WM_SECTORS] / (double)site->cost.sums[WM_REQUESTS],
                      (double)site->cost.sums[WM_SECTORS_IDEAL] / (double)site->cost.sums[WM_REQUESTS]);
    say_addresses(finder, site, out);
    buffer_puts(out, "; what lies in between is taken by other lanes, steps or warps of the block. ");
}

/* The site that wastes most. */
static const struct site *worst_of(const struct site *const *sites, size_t n)
{
    const struct site *worst = sites[0];

    for (size_t i = 1; i < n; i++) {
        if (excess_sectors(&sites[i]->cost) > excess_sectors(&worst->cost))
            worst = sites[i];
    }
    return worst;
}

static void propose_tile(struct finder *finder, const struct site *const *sites, size_t n, const struct tile *tile,
                         enum advice_kind kind)
{
    struct draft draft = {.kind = kind};
    int is_store = sites[0]->opcode.operation == WM_ST;
    struct cost before = {0};
    uint32_t steps = most_steps(sites, n);

    for (size_t i = 0; i < n; i++)
        cost_merge(&before, &sites[i]->cost);
    say_region(&finder->sites->regions[sites[0]->region], &draft.title);
    if (kind == ADVICE_REUSE) {
        buffer_puts(&draft.title, ": a block loads the same sectors again and again");
        buffer_printf(&draft.words, "What the warps of a block need is requested %.1f times. Load it once, into ",
                      (double)before.sums[WM_SECTORS] / (double)tile->after.sums[WM_SECTORS]);
        say_tile(tile, steps, &draft.words);
        buffer_puts(&draft.words,
                    " (L1 may have it already when it is asked for again: the request is made all the same).");
    } else if (kind == ADVICE_SORT) {
        buffer_puts(&draft.title, ": scattered lanes of a block meet in the same sectors");
        buffer_puts(&draft.words, "Take them in the order of addresses (sort the indices of a block), or through ");
        say_tile(tile, steps, &draft.words);
        buffer_puts(&draft.words, ".");
    } else {
        buffer_printf(&draft.title, ": lanes %s across rows", is_store ? "store" : "load");
        say_walk(finder, worst_of(sites, n), &draft.words);
        buffer_puts(&draft.words, is_store ? "Collect it in " : "Load it in the order of addresses into ");
        say_tile(tile, steps, &draft.words);
        buffer_puts(&draft.words, is_store ? ", and store that in the order of addresses." : ", and read it there.");
    }
    if (sites[0]->opcode.operation != WM_CP_ASYNC)
        say_detour(sites, n, &before, tile, is_store, &draft.words);
    draft_effect(finder, &draft, sites, n, &tile->after, NULL);
    propose(finder, &draft);
}

/* Whether a third of the sectors goes at least. */
static int is_worth_a_tile(const struct finder *finder, const struct site *site, const struct cost *before,
                           const struct cost *after)
{
    return 3 * after->sums[WM_SECTORS] <= 2 * before->sums[WM_SECTORS] &&
           matters(site, above(before->sums[WM_SECTORS], after->sums[WM_SECTORS]),
                   finder->sites->global_total.sums[WM_SECTORS]);
}

static int is_scattered(const struct site *site)
{
    return !site->affine.holds_once && 2 * site->strided < site->several && 2 * site->adjacent < site->several;
}

/* Loads of one region and one opcode together: what one has loaded, the other need not. */
static void look_at_loads(struct finder *finder, const struct site *const *loads, size_t n)
{
    enum advice_kind kind = ADVICE_REUSE;
    struct cost before = {0};
    struct tile tile;

    for (size_t i = 0; i < n; i++)
        cost_merge(&before, &loads[i]->cost);
    if (!find_tile(finder, loads, n, &before, &tile) || !is_worth_a_tile(finder, loads[0], &before, &tile.after))
        return;
    if (is_walk(&before, &tile.after))
        kind = is_scattered(worst_of(loads, n)) ? ADVICE_SORT : ADVICE_TILE;
    propose_tile(finder, loads, n, &tile, kind);
}

void look_at_reuse(struct finder *finder, size_t region)
{
    const struct sites *sites = finder->sites;
    const struct site **loads = calloc(sites->n + 1, sizeof *loads);
    uint8_t *is_taken = calloc(sites->n + 1, 1);

    if (!loads || !is_taken)
        finder->status = WM_E_MEMORY;
    for (size_t i = 0; i < sites->n && !finder->status && !sites->regions[region].is_written; i++) {
        size_t n = 0;

        for (size_t k = i; k < sites->n; k++) {
            const struct site *site = &sites->list[k];

            if (site->region != region || site->opcode.operation != WM_LD || is_taken[k] || finder->is_constant[k] ||
                memcmp(&site->opcode, &sites->list[i].opcode, sizeof site->opcode) != 0)
                continue;
            is_taken[k] = 1;
            loads[n++] = site;
        }
        if (n)
            look_at_loads(finder, loads, n);
    }
    free(loads);
    free(is_taken);
}

/* Stores, copies, and loads of what is stored elsewhere in the kernel: one site at a time. */
void look_at_walk(struct finder *finder, const struct site *site)
{
    struct tile tile;

    if (finder->status || site->region == NO_REGION || is_atomic_operation(&site->opcode) ||
        (site->opcode.operation == WM_LD && !finder->sites->regions[site->region].is_written) ||
        !matters(site, excess_sectors(&site->cost), finder->sites->global_total.sums[WM_SECTORS]))
        return;
    if (find_tile(finder, &site, 1, &site->cost, &tile) && is_worth_a_tile(finder, site, &site->cost, &tile.after))
        propose_tile(finder, &site, 1, &tile, is_scattered(site) ? ADVICE_SORT : ADVICE_TILE);
}

/* The tile with which looking up lines costs least: a larger one only for a tenth fewer cycles. 0: none saves that. */
static int find_line_tile(struct finder *finder, const struct site *site, struct tile *best)
{
    uint32_t steps = most_steps(&site, 1);

    *best = (struct tile){.after = site->cost};
    for (uint32_t more = 1; more <= 32; more *= 2) {
        const struct tile_shape shapes[] = {{more, 1, 1}, {1, more, 1}, {1, 1, more}};

        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
            struct tile tile = {0};

            /* blocks: no more than find_tile() tries */
            if ((i ? more > 8 : more > 1 && more > steps) || !try_tile(finder, &site, 1, &shapes[i], &tile) ||
                10 * tile.after.cycles > 9 * best->after.cycles ||
                tile.after.sums[WM_SECTORS] > site->cost.sums[WM_SECTORS])
                continue;
            *best = tile;
        }
    }
    return best->shape.steps != 0 && !finder->status;
}

/* Whole sectors, but of many rows: what a block takes in the order of addresses, of longer rows. */
void look_at_lines(struct finder *finder, const struct site *site)
{
    struct draft draft = {.kind = ADVICE_TILE};
    int is_store = site->opcode.operation == WM_ST;
    struct cost bound;
    struct tile tile;

    if (!wastes_lines(finder, site, &bound) || !find_line_tile(finder, site, &tile))
        return;
    say_region(&finder->sites->regions[site->region], &draft.title);
    buffer_puts(&draft.title, ": whole sectors, but too many lines");
    say_lines(finder->sites, site, &draft.words);
    buffer_puts(&draft.words, " Let the lanes of a warp take more of fewer rows");
    say_addresses(finder, site, &draft.words);
    buffer_puts(&draft.words, is_store ? ": collect it in " : ": load it in the order of addresses into ");
    say_tile(&tile, most_steps(&site, 1), &draft.words);
    buffer_puts(&draft.words, is_store ? ", and store that in the order of addresses." : ".");
    say_detour(&site, 1, &site->cost, &tile, is_store, &draft.words);
    buffer_puts(&draft.words, " None more, if it goes through shared memory already.");
    draft_effect(finder, &draft, &site, 1, &tile.after, NULL);
    propose(finder, &draft);
}

/* ------------------------------------------------------------------------------------------------- roles of threads */

/* All sites in global memory with the roles exchanged. 0: not possible, or no memory. */
static int simulate_swap(struct finder *finder, struct cost *costs, struct cost *sum)
{
    const struct sites *sites = finder->sites;

    memset(sum, 0, sizeof *sum);
    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        struct access_list list = {0};
        int is_possible = 0;

        if (sites->list[i].region == NO_REGION)
            continue;
        finder->status = rewrite_swap(sites, &sites->list[i], &list, &is_possible);
        simulate(finder, &list, &costs[i]);
        if (!is_possible)
            return 0;
        cost_merge(sum, &costs[i]);
    }
    return !finder->status;
}

static int has_changed(const struct cost *before, const struct cost *after)
{
    return before->sums[WM_SECTORS] != after->sums[WM_SECTORS] ||
           before->sums[WM_TAG_WAVEFRONTS] != after->sums[WM_TAG_WAVEFRONTS] ||
           before->sums[WM_LSU_WAVEFRONTS] != after->sums[WM_LSU_WAVEFRONTS];
}

/* Merged accesses to shared memory say no more which thread made them. */
static int has_shared_sites(const struct sites *sites)
{
    for (size_t i = 0; i < sites->n; i++) {
        if (sites->list[i].opcode.space == WM_SHARED || sites->list[i].opcode.operation == WM_CP_ASYNC)
            return 1;
    }
    return 0;
}

static void propose_swap(struct finder *finder, const struct cost *costs)
{
    const struct sites *sites = finder->sites;
    struct draft draft = {.kind = ADVICE_SWAP};

    buffer_puts(&draft.title, "threadIdx.x and threadIdx.y in each other's role");
    buffer_puts(
        &draft.words,
        "The lanes of a warp differ in threadIdx.x first, but most addresses change least with threadIdx.y. Exchange "
        "the two wherever they are used");
    if (sites->block[0] != sites->block[1])
        buffer_printf(&draft.words, ", and blockDim with them (%u x %u instead of %u x %u)", sites->block[1],
                      sites->block[0], sites->block[0], sites->block[1]);
    buffer_puts(&draft.words, ". All lines in global memory that change");
    buffer_puts(&draft.words, has_shared_sites(sites) ? " (those in shared memory change too: simulate again):" : ":");
    for (size_t i = 0; i < sites->n; i++) {
        const struct site *site = &sites->list[i];

        if (site->region != NO_REGION && has_changed(&site->cost, &costs[i]))
            draft_effect(finder, &draft, &site, 1, &costs[i], NULL);
    }
    propose(finder, &draft);
}

void look_at_roles(struct finder *finder)
{
    const struct sites *sites = finder->sites;
    struct cost *costs = calloc(sites->n + 1, sizeof *costs);
    struct cost before = {0};
    struct cost after;

    if (!costs)
        finder->status = WM_E_MEMORY;
    for (size_t i = 0; i < sites->n; i++) {
        if (sites->list[i].region != NO_REGION)
            cost_merge(&before, &sites->list[i].cost);
    }
    if (!finder->status && 20 * excess_sectors(&before) >= before.sums[WM_SECTORS] && excess_sectors(&before) &&
        simulate_swap(finder, costs, &after) && 5 * after.sums[WM_SECTORS] <= 4 * before.sums[WM_SECTORS])
        propose_swap(finder, costs);
    free(costs);
}

/* ---------------------------------------------------------------------------------------------------------- vectors */

static void say_thread_vectors(const struct site *site, unsigned bytes, uint64_t merged, struct buffer *out)
{
    const char *what = site->opcode.operation == WM_LD ? "load" : "store";
    unsigned parts = bytes / site->opcode.width_bytes;

    if (merged == site->cost.instructions) {
        buffer_printf(
            out,
            "A thread's successive %ss are adjacent and begin at multiples of %u B. Take %u elements at once, "
            "as float4 and the like do (unroll the loop by %u):",
            what, bytes, parts, parts);
        return;
    }
    buffer_printf(out, "A thread's successive %ss are adjacent. Of ", what);
    table_count(site->cost.instructions, 0, out);
    buffer_printf(out, " %ss, ", what);
    table_count(merged, 0, out);
    buffer_printf(out,
                  " make groups of %u that begin at multiples of %u B: take those at once, as float4 and the like do, "
                  "and the others one at a time:",
                  parts, bytes);
}

void look_at_thread_vectors(struct finder *finder, const struct site *site)
{
    struct draft draft = {.kind = ADVICE_THREAD_VECTOR};

    if (finder->status || site->region == NO_REGION || !is_load_or_store(site) ||
        !matters(site, site->cost.instructions, finder->sites->total.instructions))
        return;
    for (unsigned bytes = 16; bytes > site->opcode.width_bytes && !finder->status; bytes /= 2) {
        struct access_list list = {0};
        struct cost after;
        uint64_t merged = 0;

        finder->status = rewrite_thread_vectors(site, bytes, &list, &merged);
        simulate(finder, &list, &after);
        if (2 * merged < site->cost.instructions || after.sums[WM_SECTORS] > site->cost.sums[WM_SECTORS])
            continue;
        say_region(&finder->sites->regions[site->region], &draft.title);
        buffer_printf(&draft.title, ": each thread takes adjacent elements, one at a time");
        say_thread_vectors(site, bytes, merged, &draft.words);
        draft_effect(finder, &draft, &site, 1, &after, NULL);
        propose(finder, &draft);
        break;
    }
    draft_free(&draft);
}

/* One site whose warps' rows could be vectors: those that three quarters of the instructions fit, and wider ones only
 * where that leaves fewer instructions. */
static unsigned find_warp_vector(struct finder *finder, const struct site *site, struct cost *after)
{
    unsigned best = 0;

    *after = site->cost;
    for (unsigned bytes = 2u * site->opcode.width_bytes; bytes <= 16 && !finder->status; bytes *= 2) {
        struct access_list list = {0};
        struct cost cost;
        uint64_t merged = 0;

        finder->status = rewrite_warp_vectors(site, bytes, &list, &merged);
        simulate(finder, &list, &cost);
        if (!merged || merged < site->cost.instructions - site->cost.instructions / 4 ||
            cost.instructions >= after->instructions)
            continue;
        best = bytes;
        *after = cost;
    }
    return best;
}

/* Narrow instructions waste little: what is less than 5 % of the kernel's is not worth a word. */
#define NARROW_PARTS 5

void look_at_warp_vectors(struct finder *finder)
{
    const struct sites *sites = finder->sites;
    struct draft draft = {.kind = ADVICE_WARP_VECTOR};
    unsigned most = 0;

    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        const struct site *site = &sites->list[i];
        struct cost after;
        unsigned bytes;

        if (site->region == NO_REGION || !is_load_or_store(site) || !is_mostly(site->adjacent, site) ||
            finder->is_covered[i] || !matters(site, site->cost.instructions / NARROW_PARTS, sites->total.instructions))
            continue;
        bytes = find_warp_vector(finder, site, &after);
        if (!bytes)
            continue;
        most = bytes > most ? bytes : most;
        draft_effect(finder, &draft, &site, 1, &after, NULL);
    }
    if (draft.n_effects && !finder->status) {
        buffer_printf(&draft.title, "coalesced, but narrow: up to %u B a lane are possible", most);
        buffer_puts(&draft.words,
                    "No sector is wasted here. But what one warp takes lies right behind what another takes: if each "
                    "thread takes a vector (float4 and the like), fewer threads need fewer instructions and tag "
                    "wavefronts for the same sectors:");
        propose(finder, &draft);
    }
    draft_free(&draft);
}

/* ------------------------------------------------------------------------------------------------------ whole warps */

/* What a site would cost in whole warps. 0: not worth it. */
static int simulate_whole_warps(struct finder *finder, const struct site *site, struct cost *after)
{
    struct access_list list = {0};

    if (finder->status || is_atomic_operation(&site->opcode) || site->region == NO_REGION ||
        !matters(site, site->cost.instructions, finder->sites->total.instructions / 2) ||
        site->cost.lanes > site->cost.instructions * (WM_LANES * 3 / 4))
        return 0;
    finder->status = rewrite_whole_warps(site, &list);
    simulate(finder, &list, after);
    return !finder->status && 4 * after->instructions <= 3 * site->cost.instructions &&
           after->sums[WM_SECTORS] <= site->cost.sums[WM_SECTORS] &&
           after->sums[WM_SHARED_WAVEFRONTS] <= site->cost.sums[WM_SHARED_WAVEFRONTS];
}

static int compare_moments(const struct moment *a, const struct moment *b)
{
    if (a->block != b->block)
        return a->block < b->block ? -1 : 1;
    if (a->warp != b->warp)
        return a->warp < b->warp ? -1 : 1;
    return (a->step > b->step) - (a->step < b->step);
}

/* Whether the same threads make the accesses of two sites: where both do, all of them; and both do mostly, as a
 * condition at a border may keep some from one. */
static int have_same_threads(const struct site *a, const struct site *b)
{
    size_t i = 0, k = 0, common = 0;

    while (i < a->n && k < b->n) {
        int order = compare_moments(&a->moments[i], &b->moments[k]);

        if (!order) {
            if (a->accesses[a->moments[i].index].mask != b->accesses[b->moments[k].index].mask)
                return 0;
            common++;
        }
        i += order <= 0;
        k += order >= 0;
    }
    return 4 * common >= 3 * (a->n > b->n ? a->n : b->n);
}

static void propose_whole_warps(struct finder *finder, const struct site *const *sites, const struct cost *costs,
                                size_t n)
{
    struct draft draft = {.kind = ADVICE_WHOLE_WARPS};
    struct cost before = {0};

    for (size_t i = 0; i < n; i++)
        cost_merge(&before, &sites[i]->cost);
    say_site(sites[0], &draft.title);
    if (n > 1)
        buffer_printf(&draft.title, " and %zu more of the same threads", n - 1);
    buffer_printf(&draft.title, ": %.1f of 32 lanes take part", (double)before.lanes / (double)before.instructions);
    buffer_puts(
        &draft.words,
        "The active threads of a block are spread over its warps. Number the work so that it falls to the first "
        "threads of the block, whole warps at a time, and the other warps have none:");
    for (size_t i = 0; i < n; i++)
        draft_effect(finder, &draft, &sites[i], 1, &costs[i], NULL);
    propose(finder, &draft);
}

/* One advice for all sites that the same threads come to: it is one change. */
void look_at_whole_warps(struct finder *finder)
{
    const struct sites *sites = finder->sites;
    const struct site **group = calloc(sites->n + 1, sizeof *group);
    struct cost *costs = calloc(sites->n + 1, sizeof *costs);
    uint8_t *is_taken = calloc(sites->n + 1, 1);

    if (!group || !costs || !is_taken)
        finder->status = WM_E_MEMORY;
    for (size_t i = 0; i < sites->n && !finder->status; i++) {
        size_t n = 0;

        for (size_t k = i; k < sites->n && (n || k == i); k++) {
            if (is_taken[k] || (n && !have_same_threads(group[0], &sites->list[k])) ||
                !simulate_whole_warps(finder, &sites->list[k], &costs[n]))
                continue;
            is_taken[k] = 1;
            group[n++] = &sites->list[k];
        }
        if (n && !finder->status)
            propose_whole_warps(finder, group, costs, n);
    }
    free(group);
    free(costs);
    free(is_taken);
}
