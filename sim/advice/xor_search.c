/* The best XOR of index bits: branch and bound over the columns of a linear map. */
#include "config.h"

#include "xor_search.h"

#include <stdlib.h>
#include <string.h>

#define MOST_SLOTS (1U << XOR_MOST_SLOT_BITS)

/* An affine phase is known by a basis of its differences within one place of a granule: at most 5 vectors, as it has at
 * most 32 units. */
#define MOST_BASIS 5

struct subspace {
    uint64_t weight;
    unsigned dimensions;
    uint32_t vector[MOST_BASIS]; /* granule indices; their highest bits differ, ascending */
};

/* A subspace's state at a depth of the search: what the map makes of the vectors that lie in the bits decided so far. */
struct image {
    uint8_t active;              /* vectors */
    uint8_t lost;                /* dimensions in the kernel */
    uint8_t reduced[MOST_BASIS]; /* images, each without the others' leading bits; 0: none */
};

struct search {
    const struct xor_problem *problem;
    int is_general;
    struct subspace *spaces;
    size_t n_spaces;
    const struct xor_phase **others; /* phases that are not affine */
    size_t n_others;
    struct image *images; /* (bits + 1) * n_spaces: a row for each depth */
    struct xor_map map;
    uint64_t base; /* of the cost: passes that every map has */
    uint64_t least;
    uint64_t *work;
    int is_stopped;
    int is_found;
    struct xor_answer *best;
    uint64_t below;
};

/* ------------------------------------------------------------------------------------------------ phases made alike */

static int compare_units(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int compare_phases(const void *a, const void *b)
{
    const struct xor_phase *x = a, *y = b;

    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    return memcmp(x->unit, y->unit, x->n * sizeof *x->unit);
}

/* A map moves all units of a phase by the same XOR if their indices are moved by one: the phase may begin at 0. */
static void move_to_origin(struct xor_phase *phase)
{
    uint32_t origin;

    qsort(phase->unit, phase->n, sizeof *phase->unit, compare_units);
    origin = phase->n ? phase->unit[0] : 0;
    for (unsigned i = 0; i < phase->n; i++)
        phase->unit[i] ^= origin;
    qsort(phase->unit, phase->n, sizeof *phase->unit, compare_units);
}

void xor_merge(struct xor_problem *problem)
{
    size_t kept = 0;

    for (size_t i = 0; i < problem->n; i++)
        move_to_origin(&problem->phases[i]);
    if (problem->n)
        qsort(problem->phases, problem->n, sizeof *problem->phases, compare_phases);
    for (size_t i = 0; i < problem->n; i++) {
        if (kept && compare_phases(&problem->phases[kept - 1], &problem->phases[i]) == 0)
            problem->phases[kept - 1].weight += problem->phases[i].weight;
        else
            problem->phases[kept++] = problem->phases[i];
    }
    problem->n = kept;
}

/* ------------------------------------------------------------------------------------------------------------- cost */

void xor_identity(const struct xor_problem *problem, struct xor_map *map)
{
    memset(map, 0, sizeof *map);
    for (unsigned i = 0; i < problem->slot_bits && i < problem->bits; i++)
        map->column[i] = 1U << i;
}

/* The slot that a map gives to the lowest `depth' bits of a granule's index. */
static uint32_t slot_of(const struct xor_map *map, uint32_t granule, unsigned depth)
{
    uint32_t slot = 0;

    for (uint32_t rest = granule & ((1U << depth) - 1); rest; rest &= rest - 1)
        slot ^= map->column[__builtin_ctz(rest)];
    return slot;
}

/* The most units at one place, as far as the lowest `depth' columns tell: units that differ in higher bits are taken to
 * lie in different slots. */
static unsigned passes_of(const struct xor_problem *problem, const struct xor_map *map, const struct xor_phase *phase,
                          unsigned depth)
{
    const uint32_t within = (1U << problem->within_bits) - 1;
    uint32_t place[WM_LANES];
    unsigned most = 0;

    for (unsigned i = 0; i < phase->n; i++) {
        const uint32_t granule = phase->unit[i] >> problem->within_bits;
        const uint32_t undecided = granule >> depth;
        unsigned same = 1;

        place[i] = (undecided << XOR_MOST_SLOT_BITS | slot_of(map, granule, depth)) << problem->within_bits |
                   (phase->unit[i] & within);
        for (unsigned j = 0; j < i; j++)
            same += place[j] == place[i];
        if (same > most)
            most = same;
    }
    return most;
}

uint64_t xor_cost(const struct xor_problem *problem, const struct xor_map *map)
{
    uint64_t cost = 0;

    for (size_t i = 0; i < problem->n; i++)
        cost += problem->phases[i].weight * passes_of(problem, map, &problem->phases[i], problem->bits);
    return cost;
}

/* -------------------------------------------------------------------------------------------------------- subspaces */

static unsigned highest_bit(uint32_t value)
{
    return 31U - (unsigned)__builtin_clz(value);
}

/* Adds a vector to a basis in which each vector has a highest bit of its own, by that bit. 0: it was in there. */
static int add_vector(uint32_t by_bit[32], uint32_t vector)
{
    while (vector) {
        const unsigned bit = highest_bit(vector);

        if (!by_bit[bit]) {
            by_bit[bit] = vector;
            return 1;
        }
        vector ^= by_bit[bit];
    }
    return 0;
}

/* Whether a phase, moved to the origin, is a subspace; then *out is its part in one place of a granule. */
static int find_subspace(const struct xor_problem *problem, const struct xor_phase *phase, struct subspace *out)
{
    const uint32_t within = (1U << problem->within_bits) - 1;
    uint32_t all[32] = {0};
    uint32_t by_within[32] = {0};
    unsigned dimensions = 0;

    if ((phase->n & (phase->n - 1)) != 0)
        return 0;
    for (unsigned i = 0; i < phase->n; i++) {
        if (i && phase->unit[i] == phase->unit[i - 1])
            return 0; /* lanes that do not merge */
        dimensions += (unsigned)add_vector(all, phase->unit[i]);
    }
    if (1U << dimensions != phase->n)
        return 0;
    memset(out, 0, sizeof *out);
    out->weight = phase->weight;
    /* eliminate by the place in the granule first: what is left lies in one place */
    for (unsigned bit = 0; bit < 32; bit++) {
        uint32_t vector = all[bit];

        while (vector & within) {
            const unsigned low = highest_bit(vector & within);

            if (!by_within[low]) {
                by_within[low] = vector;
                vector = 0;
                break;
            }
            vector ^= by_within[low];
        }
        if (vector)
            out->vector[out->dimensions++] = vector >> problem->within_bits;
    }
    return 1;
}

/* Gives a basis its one form: highest bits that differ, ascending, and no vector has another's highest bit. */
static void reduce_basis(struct subspace *space)
{
    uint32_t by_bit[32] = {0};
    unsigned n = 0;

    for (unsigned i = 0; i < space->dimensions; i++)
        add_vector(by_bit, space->vector[i]);
    for (unsigned high = 0; high < 32; high++) {
        for (unsigned low = 0; low < high; low++) {
            if (by_bit[low] && (by_bit[high] >> low & 1))
                by_bit[high] ^= by_bit[low];
        }
    }
    /* from the top again, as a lower vector may bring back a bit between */
    for (unsigned high = 32; high-- > 0;) {
        for (unsigned low = high; by_bit[high] && low-- > 0;) {
            if (by_bit[low] && (by_bit[high] >> low & 1))
                by_bit[high] ^= by_bit[low];
        }
    }
    memset(space->vector, 0, sizeof space->vector);
    for (unsigned bit = 0; bit < 32; bit++) {
        if (by_bit[bit])
            space->vector[n++] = by_bit[bit];
    }
    space->dimensions = n;
}

static int is_same_space(const struct subspace *a, const struct subspace *b)
{
    return a->dimensions == b->dimensions && memcmp(a->vector, b->vector, sizeof a->vector) == 0;
}

static void add_space(struct search *search, const struct subspace *space)
{
    for (size_t i = 0; i < search->n_spaces; i++) {
        if (is_same_space(&search->spaces[i], space)) {
            search->spaces[i].weight += space->weight;
            return;
        }
    }
    search->spaces[search->n_spaces++] = *space;
}

/* Those that weigh most first: they cut branches soonest. */
static int compare_spaces(const void *a, const void *b)
{
    const struct subspace *x = a, *y = b;

    return (x->weight < y->weight) - (x->weight > y->weight);
}

static void sort_phases(struct search *search)
{
    const struct xor_problem *problem = search->problem;

    for (size_t i = 0; i < problem->n; i++) {
        struct subspace space;

        if (!find_subspace(problem, &problem->phases[i], &space)) {
            search->others[search->n_others++] = &problem->phases[i];
            continue;
        }
        search->base += space.weight;
        reduce_basis(&space);
        if (space.dimensions)
            add_space(search, &space);
    }
    if (search->n_spaces)
        qsort(search->spaces, search->n_spaces, sizeof *search->spaces, compare_spaces);
}

/* ----------------------------------------------------------------------------------------------------------- search */

static struct image *images_at(const struct search *search, unsigned depth)
{
    return search->images + depth * search->n_spaces;
}

/* Adds the image of a vector. Images are kept without each other's leading bits; one that is nothing but a sum of
 * others means that the kernel has got a vector of this subspace. */
static void add_image(struct image *image, uint32_t slot)
{
    for (unsigned i = 0; i < image->active; i++) {
        if (image->reduced[i] && (slot >> highest_bit(image->reduced[i]) & 1))
            slot ^= image->reduced[i];
    }
    image->reduced[image->active++] = (uint8_t)slot;
    image->lost = (uint8_t)(image->lost + (slot == 0));
}

/* Brings the subspaces from depth - 1 to depth, whose column was just decided; returns what all phases cost at least,
 * or UINT64_MAX as soon as that is too much. */
static uint64_t cost_at(struct search *search, unsigned depth)
{
    const struct image *from = images_at(search, depth - 1);
    struct image *to = images_at(search, depth);
    uint64_t cost = search->base;

    for (size_t i = 0; i < search->n_spaces; i++) {
        const struct subspace *space = &search->spaces[i];

        to[i] = from[i];
        if (to[i].active < space->dimensions && highest_bit(space->vector[to[i].active]) == depth - 1)
            add_image(&to[i], slot_of(&search->map, space->vector[to[i].active], depth));
        cost += space->weight * ((UINT64_C(1) << to[i].lost) - 1);
        if (cost >= search->below)
            return UINT64_MAX;
    }
    for (size_t i = 0; i < search->n_others; i++) {
        const struct xor_phase *phase = search->others[i];

        cost += phase->weight * passes_of(search->problem, &search->map, phase, depth);
        if (cost >= search->below)
            return UINT64_MAX;
    }
    return cost < search->below ? cost : UINT64_MAX; /* where there is no set of either kind */
}

static void step(struct search *search, unsigned depth, uint32_t span);

static void try_column(struct search *search, unsigned bit, uint32_t column, uint32_t span)
{
    const uint64_t price = 1 + search->n_spaces / 4 + search->n_others * 16;

    if (*search->work < price) {
        *search->work = 0;
        search->is_stopped = 1;
        return;
    }
    *search->work -= price;
    search->map.column[bit] = column;
    if (cost_at(search, bit + 1) != UINT64_MAX)
        step(search, bit + 1, span);
}

/* A column's values from the simplest on: none, the one that goes on from the last bit's (a shift), one bit, several. */
static unsigned list_columns(uint32_t previous, uint32_t limit, uint32_t out[2 * MOST_SLOTS])
{
    uint8_t is_listed[MOST_SLOTS] = {0};
    const uint32_t shifted = previous << 1 & (limit - 1);
    unsigned n = 0;

    out[n++] = 0;
    if (shifted)
        out[n++] = shifted;
    for (uint32_t value = 1; value < limit; value <<= 1)
        out[n++] = value;
    for (uint32_t value = 1; value < limit; value++)
        out[n++] = value;
    /* each once */
    limit = n;
    n = 0;
    for (unsigned i = 0; i < limit; i++) {
        if (!is_listed[out[i]]) {
            is_listed[out[i]] = 1;
            out[n++] = out[i];
        }
    }
    return n;
}

/* Decides the column of bit number depth. span: columns so far span the slots below it (a power of two), which is how
 * maps that differ by no more than a renaming of slots are looked at once. */
static void step(struct search *search, unsigned depth, uint32_t span)
{
    const struct xor_problem *problem = search->problem;
    const uint32_t slots = 1U << problem->slot_bits;
    uint32_t columns[2 * MOST_SLOTS];
    unsigned n;

    if (search->is_stopped)
        return;
    if (depth == problem->bits) {
        search->best->map = search->map;
        search->best->cost = search->below = xor_cost(problem, &search->map);
        search->is_found = 1;
        search->is_stopped = search->below <= search->least;
        return;
    }
    if (!search->is_general && depth < problem->slot_bits) {
        try_column(search, depth, 1U << depth, span << 1);
        return;
    }
    /* full rank needs a new slot bit from each of the last columns */
    if (search->is_general && span < slots && highest_bit(slots / span) == problem->bits - depth) {
        try_column(search, depth, span, span << 1);
        return;
    }
    if (search->is_general && span < slots)
        try_column(search, depth, span, span << 1);
    n = list_columns(depth ? search->map.column[depth - 1] : 0, search->is_general ? span : slots, columns);
    for (unsigned i = 0; i < n && !search->is_stopped; i++)
        try_column(search, depth, columns[i], span);
}

/* Takes bits out of columns as long as that costs nothing. */
static void simplify(const struct xor_problem *problem, struct xor_answer *answer)
{
    for (unsigned i = problem->slot_bits; i < problem->bits; i++) {
        for (unsigned bit = 0; bit < problem->slot_bits; bit++) {
            struct xor_map simpler = answer->map;

            simpler.column[i] &= ~(1U << bit);
            if (simpler.column[i] != answer->map.column[i] && xor_cost(problem, &simpler) <= answer->cost)
                answer->map = simpler;
        }
    }
}

int xor_search(const struct xor_problem *problem, int is_general, uint64_t least, uint64_t below, uint64_t *work,
               struct xor_answer *out)
{
    struct search search = {
        .problem = problem, .is_general = is_general, .least = least, .work = work, .best = out, .below = below};

    out->is_proven = 0;
    if (problem->bits < problem->slot_bits || problem->bits > XOR_MOST_BITS || problem->n == 0)
        return 0;
    search.spaces = calloc(problem->n, sizeof *search.spaces);
    search.others = calloc(problem->n, sizeof *search.others);
    if (!search.spaces || !search.others)
        goto done;
    sort_phases(&search);
    search.images = calloc((problem->bits + 1) * (search.n_spaces + 1), sizeof *search.images);
    if (!search.images)
        goto done;
    step(&search, 0, 1);
    out->is_proven = !search.is_stopped || (search.is_found && out->cost <= least);
    if (search.is_found && !is_general)
        simplify(problem, out);
done:
    free(search.spaces);
    free(search.others);
    free(search.images);
    return search.is_found;
}
