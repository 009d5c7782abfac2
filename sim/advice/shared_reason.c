/*
 * Why no placement whatever of an array's elements can be free of conflicts, where that can be shown: sets of lanes
 * that are served together and fill all banks must have one element in each. Two such sets that differ by one element
 * each put these two into the same bank, whatever the placement; and so on with elements that share a bank already. If
 * some access asks for two elements at once that share a bank, there is no such placement.
 */
#include "config.h"

#include "shared_search.h"

#include <stdlib.h>
#include <string.h>

/* Sets that fill all banks which are compared with each other. */
#define MOST_FULL 1024

struct proof {
    const struct shared_search *search;
    const struct xor_problem *problem;
    unsigned shift;   /* log2 of the words that lie together: a lane's */
    unsigned slots;   /* places for them in a row of banks */
    uint32_t *parent; /* of each: one that shares its bank */
    size_t n;
    const struct xor_phase **full;
    size_t n_full;
    uint32_t *roots; /* WM_LANES for each of these */
};

static uint32_t root(const struct proof *proof, uint32_t element)
{
    while (proof->parent[element] != element)
        element = proof->parent[element] = proof->parent[proof->parent[element]];
    return element;
}

static int compare(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* The banks of a set, as far as they are told apart, sorted. */
static void list_roots(const struct proof *proof, const struct xor_phase *phase, uint32_t out[WM_LANES])
{
    for (unsigned i = 0; i < phase->n; i++)
        out[i] = root(proof, phase->unit[i] >> proof->shift);
    qsort(out, phase->n, sizeof *out, compare);
}

/* Whether two sorted sets of equal size differ by one element each; then these. */
static int find_difference(const uint32_t *a, const uint32_t *b, unsigned n, uint32_t *only_a, uint32_t *only_b)
{
    unsigned i = 0, k = 0, differences = 0;

    while (i < n || k < n) {
        if (i < n && k < n && a[i] == b[k]) {
            i++;
            k++;
        } else if (k == n || (i < n && a[i] < b[k])) {
            *only_a = a[i++];
            differences++;
        } else {
            *only_b = b[k++];
            differences++;
        }
        if (differences > 2)
            return 0;
    }
    return differences == 2;
}

/* One round over all pairs, with banks as they are told apart before it. Returns whether anything was learnt. */
static int join_pairs(struct proof *proof)
{
    int is_new = 0;

    for (size_t i = 0; i < proof->n_full; i++)
        list_roots(proof, proof->full[i], proof->roots + i * WM_LANES);
    for (size_t i = 0; i < proof->n_full; i++) {
        for (size_t k = 0; k < i; k++) {
            uint32_t a = 0, b = 0;

            if (!find_difference(proof->roots + i * WM_LANES, proof->roots + k * WM_LANES, proof->slots, &a, &b))
                continue;
            a = root(proof, a);
            b = root(proof, b);
            is_new |= a != b;
            proof->parent[a] = b;
        }
    }
    return is_new;
}

/* Whether some set asks for two elements that share a bank. */
static int find_contradiction(const struct proof *proof, uint32_t *a, uint32_t *b)
{
    for (size_t i = 0; i < proof->problem->n; i++) {
        const struct xor_phase *phase = &proof->problem->phases[i];

        for (unsigned x = 0; x < phase->n; x++) {
            for (unsigned y = 0; y < x; y++) {
                *a = phase->unit[y] >> proof->shift;
                *b = phase->unit[x] >> proof->shift;
                if (*a != *b && root(proof, *a) == root(proof, *b))
                    return 1;
            }
        }
    }
    return 0;
}

static void say_reason(const struct proof *proof, uint32_t a, uint32_t b)
{
    const struct shared_search *search = proof->search;
    const uint64_t bytes = (uint64_t)search->bank_bytes << proof->shift;
    struct buffer text = {0};

    buffer_puts(&text,
                "No placement of the elements whatever is free of conflicts: the accesses that fill all banks leave "
                "only one bank for both ");
    layout_element(search->array, a * bytes, &text);
    buffer_puts(&text, " and ");
    layout_element(search->array, b * bytes, &text);
    buffer_puts(&text, ", and another asks for the two at once.");
    if (!text.failed)
        search->advice->reason = strdup(buffer_text(&text));
    buffer_free(&text);
}

enum wm_status shared_find_reason(struct shared_search *search)
{
    struct proof proof = {.search = search};
    const unsigned unit = search->widest > search->bank_bytes ? search->widest : search->bank_bytes;
    struct xor_problem problem;
    enum wm_status status;
    uint32_t a, b;
    int is_exact;

    /* lanes of one width: else what shares a bank is no whole unit */
    if (search->is_misplaced || (search->widest != search->narrowest && search->widest > search->bank_bytes))
        return WM_OK;
    status = shared_phases(search, unit, &problem, &is_exact);
    if (status)
        return status;
    proof.problem = &problem;
    proof.shift = layout_log2(unit / search->bank_bytes);
    proof.slots = search->row_bytes / unit;
    proof.n = (size_t)(search->array->size_bytes / unit + 1);
    proof.parent = malloc(proof.n * sizeof *proof.parent);
    proof.full = calloc(MOST_FULL, sizeof *proof.full);
    proof.roots = calloc(MOST_FULL, WM_LANES * sizeof *proof.roots);
    if (!proof.parent || !proof.full || !proof.roots) {
        status = WM_E_MEMORY;
        goto done;
    }
    for (uint32_t i = 0; i < proof.n; i++)
        proof.parent[i] = i;
    for (size_t i = 0; i < problem.n && proof.n_full < MOST_FULL; i++) {
        if (problem.phases[i].n == proof.slots)
            proof.full[proof.n_full++] = &problem.phases[i];
    }
    /* each round may let sets differ by one that differed by more before */
    for (int round = 0; is_exact && round < 3 && !find_contradiction(&proof, &a, &b); round++) {
        if (!join_pairs(&proof))
            break;
    }
    if (is_exact && find_contradiction(&proof, &a, &b))
        say_reason(&proof, a, b);
done:
    free(proof.parent);
    free(proof.full);
    free(proof.roots);
    free(problem.phases);
    return status;
}
