/* See naive.h. Each function states the rule that it follows; all of them were found by reading hardware counters of
 * single accesses on an H200 (traces/hardware/sm_90) unless the comment says something else. */
#include "naive.h"

#include <string.h>

const struct naive_rules naive_sm_90 = {
    .banks = 32,
    .phase_lanes = {32, 32, 32, 16, 8, 4},
    .pair_merge = 1,
    .tag_mask = {0x5B55AF6F, 0xF5EF7AB5},
    .store_merge = {4, 4, 8, 8, 8, 8},
};

const struct naive_rules naive_sm_120 = {
    .banks = 32,
    .phase_lanes = {32, 32, 32, 16, 8, 4},
    .pair_merge = 1,
    .tag_mask = {0x155, 0x2AA},
    .store_merge = {4, 4, 8, 8, 8, 8},
};

/* One 4-byte word that one lane touches. group: which touches share data wavefronts (see data_wavefronts). */
struct touch {
    unsigned lane;
    uint64_t word;
    unsigned tag_wavefront;
    unsigned group;
};

struct touches {
    unsigned n;
    struct touch of[WM_LANES * 8];
};

static unsigned width_index(unsigned width)
{
    unsigned index = 0;

    while (1u << index < width) {
        index++;
    }
    return index;
}

static int is_active(uint32_t mask, unsigned lane)
{
    return (int)(mask >> lane & 1);
}

static unsigned larger(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static unsigned round_up_division(unsigned a, unsigned b)
{
    return (a + b - 1) / b;
}

/* The words of every active lane, in lane order. An access of 1 or 2 bytes touches one word. Local memory interleaves
 * the threads of a warp word by word: word w of lane i lies 128*w + 4*i bytes from the start. */
static void list_words(const uint64_t *address, uint32_t mask, unsigned width, int local, struct touches *list)
{
    unsigned words = width < 4 ? 1 : width / 4;

    list->n = 0;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        if (!is_active(mask, lane)) {
            continue;
        }
        for (unsigned i = 0; i < words; i++) {
            struct touch *t = &list->of[list->n++];
            uint64_t word = address[lane] / 4 + i;
            t->lane = lane;
            t->word = local ? word * 32 + lane : word;
            t->tag_wavefront = 0;
            t->group = 0;
        }
    }
}

static unsigned distinct_addresses(const uint64_t *address, uint32_t mask)
{
    unsigned n = 0;

    for (unsigned i = 0; i < WM_LANES; i++) {
        int is_new = is_active(mask, i);
        for (unsigned j = 0; j < i; j++) {
            if (is_active(mask, j) && address[j] == address[i]) {
                is_new = 0;
            }
        }
        n += (unsigned)is_new;
    }
    return n;
}

/* Distinct pieces of words_each words: sectors are 8 words, lines are 32. */
static unsigned distinct_pieces(const struct touches *list, unsigned words_each)
{
    unsigned n = 0;

    for (unsigned i = 0; i < list->n; i++) {
        int is_new = 1;
        for (unsigned j = 0; j < i && is_new; j++) {
            if (list->of[j].word / words_each == list->of[i].word / words_each) {
                is_new = 0;
            }
        }
        n += (unsigned)is_new;
    }
    return n;
}

/* --------------------------------------------------------------------------------------------------- shared memory */

/* The most that any bank has to do for the touches of lanes first .. first+size-1 in the given group. With merging, a
 * bank serves each distinct word once; without, it serves each lane once. */
static unsigned bank_degree(const struct naive_rules *rules, const struct touches *list, unsigned first, unsigned size,
                            unsigned group, int merge)
{
    unsigned count[32] = {0};
    unsigned most = 0;

    for (unsigned i = 0; i < list->n; i++) {
        const struct touch *t = &list->of[i];
        int counts = t->lane >= first && t->lane < first + size && t->group == group;
        for (unsigned j = 0; merge && j < i && counts; j++) {
            const struct touch *u = &list->of[j];
            if (u->lane >= first && u->group == group && u->word == t->word) {
                counts = 0; /* u->lane <= t->lane, so u is in the phase too */
            }
        }
        if (counts) {
            unsigned bank = (unsigned)(t->word % rules->banks);
            count[bank]++;
            most = larger(most, count[bank]);
        }
    }
    return most;
}

/* Does every active lane have its partner inactive, or at the same address? */
static int partners_agree(const struct wm_access *a, unsigned distance)
{
    for (unsigned i = 0; i < WM_LANES; i++) {
        unsigned partner = i ^ distance;
        if (is_active(a->mask, i) && is_active(a->mask, partner) && a->address[i] != a->address[partner]) {
            return 0;
        }
    }
    return 1;
}

static int is_atomic(const struct wm_access *a)
{
    return a->opcode.operation == WM_ATOM || a->opcode.operation == WM_RED;
}

static unsigned shared_phase_lanes(const struct naive_rules *rules, const struct wm_access *a)
{
    unsigned size = rules->phase_lanes[width_index(a->opcode.width_bytes)];

    if (a->opcode.operation == WM_LD && rules->pair_merge && size < WM_LANES &&
        (partners_agree(a, 1) || partners_agree(a, 2))) {
        size *= 2;
    }
    return size;
}

/* The most lanes of lanes first .. first+size-1 that are at one address: atomics there follow each other whatever the
 * placement of the others. */
static unsigned most_at_one_address(const struct wm_access *a, unsigned first, unsigned size)
{
    unsigned most = 0;

    for (unsigned i = first; i < first + size; i++) {
        unsigned same = 0;
        for (unsigned j = first; j < first + size; j++) {
            if (is_active(a->mask, i) && is_active(a->mask, j) && a->address[i] == a->address[j]) {
                same++;
            }
        }
        most = larger(most, same);
    }
    return most;
}

/* ld, st, atom, red: lanes in order, phase by phase; a phase takes as many wavefronts as its busiest bank needs, and
 * none if it has no active lane. Atomics to the same word do not merge. */
static void count_shared(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;
    unsigned size = shared_phase_lanes(rules, a);
    unsigned phases = 0;

    list_words(a->address, a->mask, a->opcode.width_bytes, 0, &list);
    for (unsigned first = 0; first < WM_LANES; first += size) {
        unsigned passes = bank_degree(rules, &list, first, size, 0, !is_atomic(a));
        out->shared_wavefronts += passes;
        out->ways = larger(out->ways, passes);
        phases += passes > 0;
        out->shared_wavefronts_ideal += is_atomic(a) ? most_at_one_address(a, first, size) : passes > 0;
    }
    out->bank_conflicts = out->shared_wavefronts - phases;
}

/* ldmatrix, stmatrix: one phase per 8x8 matrix, whose rows of 16 bytes are given by lanes 8*m .. 8*m+7. */
static void count_matrices(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;

    list_words(a->address, a->mask, 16, 0, &list);
    for (unsigned m = 0; m < a->opcode.matrices; m++) {
        unsigned passes = bank_degree(rules, &list, 8 * m, 8, 0, 1);
        out->shared_wavefronts += passes;
        out->shared_wavefronts_ideal += passes > 0;
        out->ways = larger(out->ways, passes);
    }
    out->bank_conflicts = out->shared_wavefronts - out->shared_wavefronts_ideal;
}

/* --------------------------------------------------------------------------------------------------- global memory */

static unsigned tag_bank(const struct naive_rules *rules, uint64_t line)
{
    unsigned bank = 0;

    for (unsigned k = 0; k < 2; k++) {
        unsigned parity = 0;
        for (unsigned bit = 0; bit < 64; bit++) {
            parity ^= (unsigned)(line >> bit & rules->tag_mask[k] >> bit & 1);
        }
        bank |= parity << k;
    }
    return bank;
}

/* The tag stage takes one line per tag bank in a wavefront: each line, in lane order, goes to the first wavefront that
 * has its bank free. Returns the number of wavefronts. */
static unsigned assign_tag_wavefronts(const struct naive_rules *rules, struct touches *list)
{
    unsigned used[4] = {0};
    unsigned wavefronts = 0;

    for (unsigned i = 0; i < list->n; i++) {
        struct touch *t = &list->of[i];
        const struct touch *same = NULL;
        for (unsigned j = 0; j < i && same == NULL; j++) {
            if (list->of[j].word / 32 == t->word / 32) {
                same = &list->of[j];
            }
        }
        t->tag_wavefront = same != NULL ? same->tag_wavefront : used[tag_bank(rules, t->word / 32)]++;
        wavefronts = larger(wavefronts, t->tag_wavefront + 1);
    }
    return wavefronts;
}

/* Passes of the data stage: the touches of one group are served together, phase by phase, by the rule of shared loads
 * without the pair merge. */
static unsigned data_wavefronts(const struct naive_rules *rules, const struct touches *list, unsigned width)
{
    unsigned size = rules->phase_lanes[width_index(width)];
    unsigned groups = 0;
    unsigned sum = 0;

    for (unsigned i = 0; i < list->n; i++) {
        groups = larger(groups, list->of[i].group + 1);
    }
    for (unsigned group = 0; group < groups; group++) {
        for (unsigned first = 0; first < WM_LANES; first += size) {
            sum += bank_degree(rules, list, first, size, group, 1);
        }
    }
    return sum;
}

/* Lines, sectors and tag wavefronts add up; on a miss every line is one L2 request and every sector goes to L2. */
static void add_tag_stage(const struct naive_rules *rules, struct touches *list, struct wm_counts *out)
{
    unsigned lines = distinct_pieces(list, 32);
    unsigned sectors = distinct_pieces(list, 8);

    out->lines += lines;
    out->sectors += sectors;
    out->l2_requests += lines;
    out->l2_sectors += sectors;
    out->tag_wavefronts += assign_tag_wavefronts(rules, list);
}

/* A load that misses L1: each tag wavefront has its own data wavefronts. A hit: the whole warp is served together. */
static void count_load(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;

    list_words(a->address, a->mask, a->opcode.width_bytes, a->opcode.space == WM_LOCAL, &list);
    add_tag_stage(rules, &list, out);
    for (unsigned i = 0; i < list.n; i++) {
        list.of[i].group = a->l1 == WM_L1_HIT ? 0 : list.of[i].tag_wavefront;
    }
    out->lsu_wavefronts = data_wavefronts(rules, &list, a->opcode.width_bytes);
}

/* A store: the first tag wavefronts share data wavefronts, later ones have their own. */
static unsigned store_data_wavefronts(const struct naive_rules *rules, struct touches *list, unsigned width)
{
    unsigned together = rules->store_merge[width_index(width)];

    for (unsigned i = 0; i < list->n; i++) {
        struct touch *t = &list->of[i];
        t->group = t->tag_wavefront < together ? 0 : t->tag_wavefront - together + 1;
    }
    return data_wavefronts(rules, list, width);
}

static void count_store(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;

    list_words(a->address, a->mask, a->opcode.width_bytes, a->opcode.space == WM_LOCAL, &list);
    add_tag_stage(rules, &list, out);
    out->lsu_wavefronts = store_data_wavefronts(rules, &list, a->opcode.width_bytes);
}

/* The active lanes with exactly round earlier lanes at their address. */
static uint32_t lanes_of_round(const struct wm_access *a, unsigned round)
{
    uint32_t lanes = 0;

    for (unsigned i = 0; i < WM_LANES; i++) {
        unsigned earlier = 0;
        for (unsigned j = 0; j < i; j++) {
            if (is_active(a->mask, j) && a->address[j] == a->address[i]) {
                earlier++;
            }
        }
        if (is_active(a->mask, i) && earlier == round) {
            lanes |= UINT32_C(1) << i;
        }
    }
    return lanes;
}

/* red, atom: lanes at the same address take rounds, and each round goes through the tag stage on its own. */
static void count_atomic(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;
    uint32_t lanes;
    unsigned data = 0;

    for (unsigned round = 0; (lanes = lanes_of_round(a, round)) != 0; round++) {
        list_words(a->address, lanes, a->opcode.width_bytes, 0, &list);
        add_tag_stage(rules, &list, out);
        data += store_data_wavefronts(rules, &list, a->opcode.width_bytes);
    }
    out->lsu_wavefronts = a->opcode.operation == WM_ATOM ? 2 * data : data;
}

/* ------------------------------------------------------------------------------------------------------- cp.async */

static int share_a_bank(const struct naive_rules *rules, uint64_t a, uint64_t b, unsigned width)
{
    for (unsigned i = 0; i < width / 4; i++) {
        for (unsigned j = 0; j < width / 4; j++) {
            if ((a / 4 + i) % rules->banks == (b / 4 + j) % rules->banks) {
                return 1;
            }
        }
    }
    return 0;
}

/* Passes for a set of lanes. In a pass, a waiting lane is served if no lower waiting lane wants one of its source banks
 * and no lower waiting lane wants one of its destination banks. The two sides decide independently: a lane that is held
 * back on one side still holds others back on the other. The same word does not help: lanes count, not words. */
static unsigned copy_passes(const struct naive_rules *rules, const struct wm_access *a, uint32_t lanes)
{
    unsigned width = a->opcode.width_bytes;
    unsigned passes = 0;

    while (lanes != 0) {
        uint32_t waiting = lanes;
        for (unsigned i = 0; i < WM_LANES; i++) {
            int served = is_active(waiting, i);
            for (unsigned j = 0; j < i && served; j++) {
                if (is_active(waiting, j) && (share_a_bank(rules, a->address[i], a->address[j], width) ||
                                              share_a_bank(rules, a->shared_address[i], a->shared_address[j], width))) {
                    served = 0;
                }
            }
            if (served) {
                lanes &= ~(UINT32_C(1) << i);
            }
        }
        passes++;
    }
    return passes;
}

/* cp.async.ca: the global side is a load's. The shared side takes the lanes of each tag wavefront phase by phase. */
static void count_copy_through_l1(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;
    unsigned size = rules->phase_lanes[width_index(a->opcode.width_bytes)];
    unsigned parts = 0;

    list_words(a->address, a->mask, a->opcode.width_bytes, 0, &list);
    add_tag_stage(rules, &list, out);
    for (unsigned first = 0; first < WM_LANES; first += size) {
        uint32_t phase = (uint32_t)(((UINT64_C(1) << size) - 1) << first);
        out->shared_wavefronts_ideal += (a->mask & phase) != 0;
        for (unsigned wavefront = 0; wavefront < out->tag_wavefronts; wavefront++) {
            uint32_t lanes = 0;
            unsigned passes;
            for (unsigned i = 0; i < list.n; i++) {
                if (list.of[i].tag_wavefront == wavefront) {
                    lanes |= phase & UINT32_C(1) << list.of[i].lane;
                }
            }
            passes = copy_passes(rules, a, lanes);
            parts += passes > 0;
            out->shared_wavefronts += passes;
            out->ways = larger(out->ways, passes);
        }
    }
    out->bank_conflicts = out->shared_wavefronts - parts;
}

/* cp.async.cg bypasses L1: nothing is counted in the data stage. The lines and sectors of copies with destinations that
 * are not contiguous are not known; those of a load are right where both sides are. */
static void count_copy_past_l1(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;

    list_words(a->address, a->mask, a->opcode.width_bytes, 0, &list);
    add_tag_stage(rules, &list, out);
}

void naive_counts(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    unsigned bytes = 0;

    memset(out, 0, sizeof *out);
    if (a->mask == 0 || a->opcode.space == WM_CONST) {
        return; /* constants come through a cache of their own */
    }
    if (a->opcode.operation == WM_LDMATRIX || a->opcode.operation == WM_STMATRIX) {
        count_matrices(rules, a, out);
        return;
    }
    if (a->opcode.space == WM_SHARED) {
        count_shared(rules, a, out);
        return;
    }
    if (a->opcode.operation == WM_CP_ASYNC && a->opcode.cache == WM_CACHE_CG) {
        count_copy_past_l1(rules, a, out);
    } else if (a->opcode.operation == WM_CP_ASYNC) {
        count_copy_through_l1(rules, a, out);
    } else if (is_atomic(a)) {
        count_atomic(rules, a, out);
    } else if (a->opcode.operation == WM_ST) {
        count_store(rules, a, out);
    } else {
        count_load(rules, a, out);
    }
    out->requests = 1;
    for (unsigned i = 0; a->opcode.space == WM_LOCAL && i < WM_LANES; i++) {
        bytes += is_active(a->mask, i) ? a->opcode.width_bytes : 0u;
    }
    if (a->opcode.space != WM_LOCAL) {
        bytes = distinct_addresses(a->address, a->mask) * a->opcode.width_bytes;
    }
    out->sectors_ideal = round_up_division(bytes, 32);
}
