/* Paddings: rows, and planes, that are longer; and elements left out at regular distances, of one dimension or after
 * every so many rows. */
#include "config.h"

#include "shared_search.h"

#include <stdlib.h>
#include <string.h>

/* Of arrays of one dimension: how far apart elements are left out, besides powers of two, as lanes are. */
#define MOST_GUESSES 8

/* No GPU has so much shared memory, and layout_offset() counts on it. */
#define MOST_BYTES (UINT64_C(1) << 24)

struct candidate {
    uint64_t bytes;                /* of the array */
    uint64_t order;                /* the simpler first, where bytes are equal */
    uint64_t extra[WM_DIMENSIONS]; /* or, of one dimension: */
    uint64_t every, skip;
    int is_twice;
};

struct candidates {
    struct candidate *list;
    size_t n;
    size_t size;
    int failed;
};

static void add(struct candidates *candidates, const struct candidate *candidate)
{
    if (!list_grow(&candidates->list, candidates->n, &candidates->size, sizeof *candidates->list)) {
        candidates->failed = 1;
        return;
    }
    candidates->list[candidates->n++] = *candidate;
}

static int compare(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static void make(const struct wm_array *array, const struct candidate *candidate, struct bank_layout *out)
{
    if (candidate->every)
        layout_skip(array, candidate->every, candidate->skip, candidate->is_twice, out);
    else
        layout_pad(array, candidate->extra, out);
}

/* Looks at candidates, the smallest first, until one is perfect. */
static enum wm_status consider_all(struct shared_search *search, struct candidates *candidates,
                                   struct shared_result *result)
{
    if (candidates->failed)
        return WM_E_MEMORY;
    if (candidates->n)
        qsort(candidates->list, candidates->n, sizeof *candidates->list, compare);
    for (size_t i = 0; i < candidates->n && !result->is_perfect && search->work; i++) {
        struct bank_layout layout;

        if (search->is_tag_blind && result->cost.excess == 0)
            break;
        make(search->array, &candidates->list[i], &layout);
        shared_consider(search, &layout, result);
    }
    candidates->n = 0;
    return WM_OK;
}

/* Elements in a row of all banks, or in as few of them as are whole elements: paddings repeat after that. */
static uint64_t period(const struct shared_search *search)
{
    const uint64_t bytes = search->array->element_bytes;
    uint64_t a = search->row_bytes, b = bytes;

    while (b) {
        const uint64_t rest = a % b;

        a = b;
        b = rest;
    }
    return search->row_bytes / a;
}

static void add_pad(const struct shared_search *search, const uint64_t extra[WM_DIMENSIONS],
                    struct candidates *candidates)
{
    struct candidate candidate = {.bytes = 0};
    struct bank_layout layout;

    layout_pad(search->array, extra, &layout);
    candidate.bytes = layout.size_bytes;
    memcpy(candidate.extra, extra, sizeof candidate.extra);
    add(candidates, &candidate);
}

/* Longer rows; and, of three dimensions and more, planes of more rows besides. */
static enum wm_status find_rows(struct shared_search *search, struct shared_result *result)
{
    const unsigned inner = search->array->dimensions - 1;
    struct candidates candidates = {NULL, 0, 0, 0};
    uint64_t extra[WM_DIMENSIONS] = {0};
    enum wm_status status;

    for (extra[inner] = 1; extra[inner] < period(search); extra[inner]++)
        add_pad(search, extra, &candidates);
    status = consider_all(search, &candidates, result);
    for (unsigned d = inner; !status && d-- > 1 && result->cost.excess;) {
        memset(extra, 0, sizeof extra);
        for (extra[inner] = 0; extra[inner] < period(search); extra[inner]++) {
            for (extra[d] = 1; extra[d] < period(search); extra[d]++)
                add_pad(search, extra, &candidates);
        }
        status = consider_all(search, &candidates, result);
    }
    free(candidates.list);
    return status;
}

/* ---------------------------------------------------------------------------------------------------- one dimension */

struct guesses {
    uint64_t every[MOST_GUESSES];
    uint64_t votes[MOST_GUESSES];
    unsigned n;
};

static void vote(struct guesses *guesses, uint64_t every, uint64_t votes)
{
    unsigned least = 0;

    for (unsigned i = 0; i < guesses->n; i++) {
        if (guesses->every[i] == every) {
            guesses->votes[i] += votes;
            return;
        }
        if (guesses->votes[i] < guesses->votes[least])
            least = i;
    }
    if (guesses->n < MOST_GUESSES)
        least = guesses->n++;
    guesses->every[least] = every;
    guesses->votes[least] = votes;
}

/* Distances between neighbouring lanes: rows of arrays that are indexed as row * N + column. */
static void guess_rows(const struct shared_search *search, struct guesses *guesses)
{
    const uint64_t bytes = search->array->element_bytes;

    guesses->n = 0;
    for (size_t i = 0; i < search->n; i++) {
        const struct wm_access *access = search->touches[i].access;
        uint64_t previous = 0, address;
        int has_previous = 0;

        for (uint32_t rest = shared_lanes_of(access); rest; rest &= rest - 1) {
            if (!shared_address_of(access, (unsigned)__builtin_ctz(rest), &address))
                continue;
            if (has_previous && address > previous && (address - previous) % bytes == 0 &&
                !layout_is_power((address - previous) / bytes))
                vote(guesses, (address - previous) / bytes, access->count);
            previous = address;
            has_previous = 1;
        }
    }
}

/* An element of a power of two of bytes moves by whole units of what accesses need. */
static void add_skips(const struct shared_search *search, uint64_t every, int is_twice, struct candidates *candidates)
{
    const struct wm_array *array = search->array;
    const uint64_t elements = array->size_bytes / array->element_bytes;
    struct candidate candidate = {.every = every, .is_twice = is_twice};

    /* accesses must not lie across what is left out */
    if (every * array->element_bytes % search->widest || every >= elements || (is_twice && every * every >= elements))
        return;
    for (candidate.skip = 1; candidate.skip < period(search) && candidate.skip <= every; candidate.skip++) {
        struct bank_layout layout;

        if (candidate.skip * array->element_bytes % search->widest)
            continue;
        layout_skip(array, every, candidate.skip, is_twice, &layout);
        candidate.bytes = layout.size_bytes;
        if (candidate.bytes > array->size_bytes + array->size_bytes / 2)
            continue; /* nobody would */
        candidate.order = candidate.skip;
        add(candidates, &candidate);
    }
}

/* Elements left out after every so many. */
static enum wm_status find_skips(struct shared_search *search, struct shared_result *result)
{
    const struct wm_array *array = search->array;
    const uint64_t elements = array->size_bytes / array->element_bytes;
    const uint64_t row = array->dimensions > 1 ? array->extent[array->dimensions - 1] : 1;
    struct candidates candidates = {NULL, 0, 0, 0};
    struct guesses guesses = {.n = 0};
    enum wm_status status = WM_OK;

    if (array->dimensions == 1)
        guess_rows(search, &guesses);
    for (int is_twice = 0; is_twice < 2 && !status && !result->is_perfect; is_twice++) {
        /* of several dimensions, whole rows; where one was left out after each of them, that was longer rows */
        for (uint64_t every = array->dimensions > 1 ? row * 2 : 1; every < elements; every *= 2)
            add_skips(search, every, is_twice, &candidates);
        for (unsigned i = 0; i < guesses.n && !is_twice; i++)
            add_skips(search, guesses.every[i], 0, &candidates);
        status = consider_all(search, &candidates, result);
    }
    free(candidates.list);
    return status;
}

enum wm_status shared_find_pad(struct shared_search *search, struct shared_result *result)
{
    if (search->array->size_bytes > MOST_BYTES) {
        result->why_not = "it is too large";
        return WM_OK;
    }
    if (search->array->dimensions > 1 && search->is_across) {
        result->why_not = "an access lies across two rows";
        return WM_OK;
    }
    if (search->array->dimensions > 1) {
        const enum wm_status status = find_rows(search, result);

        if (status || !result->cost.excess || search->is_misplaced)
            return status;
    } else if (search->is_misplaced) {
        result->why_not = "an access does not begin at a multiple of its width in the array";
        return WM_OK;
    }
    return find_skips(search, result);
}
