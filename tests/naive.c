/* See naive.h. Each function states the rule that it follows; all of them were found by reading hardware counters of
 * single accesses on an H200 (traces/hardware/sm_90) unless the comment says something else. */
#include "naive.h"

#include <string.h>

const struct naive_rules naive_sm_90 = {
    .banks = 32,
    .phase_lanes = {32, 32, 32, 16, 8, 4},
    .pair_merge = 1,
    .tag_mask = {0x15B55AF6F, 0x2F5EF7AB5},
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
    unsigned bank;
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

/* The words of every active lane, in lane order. An access of 1 or 2 bytes touches one word. */
static void list_words(const struct naive_rules *rules, const uint64_t *address, uint32_t mask, unsigned width,
                       struct touches *list)
{
    unsigned words = width < 4 ? 1 : width / 4;

    list->n = 0;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        for (unsigned i = 0; i < words && is_active(mask, lane); i++) {
            struct touch *t = &list->of[list->n++];
            t->lane = lane;
            t->word = address[lane] / 4 + i;
            t->bank = (unsigned)(t->word % rules->banks);
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

/* Phases of size lanes with a touch in the given group: by so many passes the results go to the registers. */
static unsigned busy_phases(const struct touches *list, unsigned size, unsigned group)
{
    unsigned busy = 0;

    for (unsigned first = 0; first < WM_LANES; first += size) {
        int is_busy = 0;
        for (unsigned i = 0; i < list->n; i++) {
            is_busy |= list->of[i].group == group && list->of[i].lane / size == first / size;
        }
        busy += (unsigned)is_busy;
    }
    return busy;
}

/* --------------------------------------------------------------------------------------------------- shared memory */

/* The most that any bank has to do for the touches of lanes first .. first+size-1 in the given group. With merging, a
 * bank serves each distinct word once; without, it serves each lane once. */
static unsigned bank_degree(const struct touches *list, unsigned first, unsigned size, unsigned group, int merge)
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
            count[t->bank]++;
            most = larger(most, count[t->bank]);
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

static int is_cas(const struct wm_access *a)
{
    return a->opcode.atomic == WM_ATOMIC_CAS;
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

/* The most lanes of lanes first .. first+size-1 that are at one address. */
static unsigned most_at_one_address(const uint64_t *address, uint32_t mask, unsigned first, unsigned size)
{
    unsigned most = 0;

    for (unsigned i = first; i < first + size; i++) {
        unsigned same = 0;
        for (unsigned j = first; j < first + size; j++) {
            same += is_active(mask, i) && is_active(mask, j) && address[i] == address[j];
        }
        most = larger(most, same);
    }
    return most;
}

/* ld, st, atom, red: lanes in order, phase by phase; a phase takes as many wavefronts as its busiest bank needs, and
 * none if it has no active lane. Atomics to the same word do not merge; no placement helps those at one address. */
static void count_shared(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;
    unsigned size = shared_phase_lanes(rules, a);
    unsigned phases = 0;

    list_words(rules, a->address, a->mask, a->opcode.width_bytes, &list);
    for (unsigned first = 0; first < WM_LANES; first += size) {
        unsigned passes = bank_degree(&list, first, size, 0, !is_atomic(a));
        out->shared_wavefronts += passes;
        out->ways = larger(out->ways, passes);
        phases += passes > 0;
        out->shared_wavefronts_ideal +=
            is_atomic(a) ? most_at_one_address(a->address, a->mask, first, size) : passes > 0;
    }
    out->bank_conflicts = out->shared_wavefronts - phases;
    if (a->opcode.operation != WM_ST) {
        out->lsu_writeback = is_cas(a) ? out->shared_wavefronts : busy_phases(&list, size, 0);
    }
    if (is_cas(a)) { /* two operands a lane */
        out->shared_wavefronts *= 2;
        out->shared_wavefronts_ideal *= 2;
    }
}

/* ldmatrix, stmatrix: one phase per 8x8 matrix, whose rows of 16 bytes are given by lanes 8*m .. 8*m+7. */
static void count_matrices(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;

    list_words(rules, a->address, a->mask, 16, &list);
    for (unsigned m = 0; m < a->opcode.matrices; m++) {
        unsigned passes = bank_degree(&list, 8 * m, 8, 0, 1);
        for (unsigned row = 8 * m; row < 8 * m + 8; row++) { /* a row is missing: PTX leaves this undefined */
            if ((a->mask >> row & 1) == 0) {
                out->inexact |= 1u << WM_SHARED_WAVEFRONTS | 1u << WM_BANK_CONFLICTS;
                if (a->opcode.operation == WM_LDMATRIX) {
                    out->inexact |= 1u << WM_LSU_WRITEBACK;
                }
            }
        }
        out->shared_wavefronts += passes;
        out->shared_wavefronts_ideal += passes > 0;
        out->ways = larger(out->ways, passes);
    }
    out->bank_conflicts = out->shared_wavefronts - out->shared_wavefronts_ideal;
    if (a->opcode.operation == WM_LDMATRIX) {
        out->lsu_writeback = a->opcode.matrices;
    }
}

/* --------------------------------------------------------------------------------------------------- global memory */

static unsigned tag_bank(const struct naive_rules *rules, uint64_t line)
{
    unsigned bank = 0;

    for (unsigned k = 0; k < 2; k++) {
        for (uint64_t left = line & rules->tag_mask[k]; left != 0; left /= 2) {
            bank ^= (unsigned)(left % 2) << k;
        }
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
            sum += bank_degree(list, first, size, group, 1);
        }
    }
    return sum;
}

/* Passes by which the result of a load goes to the registers: what is served together, phase by phase. */
static unsigned result_passes(const struct naive_rules *rules, const struct touches *list, unsigned width)
{
    unsigned sum = 0;

    for (unsigned group = 0; group < WM_LANES; group++) {
        sum += busy_phases(list, rules->phase_lanes[width_index(width)], group);
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

/* .cg and .cv loads do not use what L1 holds. */
static int meets_a_hit(const struct wm_access *a)
{
    return a->l1 == WM_L1_HIT && a->opcode.cache != WM_CACHE_CG && a->opcode.cache != WM_CACHE_CV;
}

/* Which touches share data wavefronts. A load that misses L1: those of each tag wavefront. A load that hits: all. A
 * store: those of the first tag wavefronts; with more than these, the grouping is a race that is not followed here. */
static void group_touches(const struct naive_rules *rules, const struct wm_access *a, unsigned width,
                          struct touches *list, struct wm_counts *out)
{
    unsigned together = rules->store_merge[width_index(width)];

    for (unsigned i = 0; i < list->n; i++) {
        struct touch *t = &list->of[i];
        if (a->opcode.operation == WM_ST) {
            t->group = 0;
            if (t->tag_wavefront >= together) {
                out->inexact = 1u << WM_LSU_WAVEFRONTS;
            }
        } else {
            t->group = meets_a_hit(a) ? 0 : t->tag_wavefront;
        }
    }
}

static void count_load_or_store(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;

    list_words(rules, a->address, a->mask, a->opcode.width_bytes, &list);
    add_tag_stage(rules, &list, out);
    group_touches(rules, a, a->opcode.width_bytes, &list, out);
    out->lsu_wavefronts = data_wavefronts(rules, &list, a->opcode.width_bytes);
    if (a->opcode.operation == WM_LD) {
        out->lsu_writeback = result_passes(rules, &list, a->opcode.width_bytes);
    }
}

/* Local memory interleaves the threads of a warp word by word: word w of lane i lies 128*w + 4*i bytes from the start.
 * Each word of a wider access is a request of its own. */
static void count_local(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    unsigned width = a->opcode.width_bytes < 4 ? a->opcode.width_bytes : 4;

    out->requests = a->opcode.width_bytes / width;
    for (unsigned word = 0; word < a->opcode.width_bytes / width; word++) {
        struct touches list;
        uint64_t address[WM_LANES];
        for (unsigned i = 0; i < WM_LANES; i++) {
            address[i] = (a->address[i] / 4 + word) * 128 + 4 * i + a->address[i] % 4;
        }
        list_words(rules, address, a->mask, width, &list);
        add_tag_stage(rules, &list, out);
        group_touches(rules, a, width, &list, out);
        out->lsu_wavefronts += data_wavefronts(rules, &list, width);
        if (a->opcode.operation == WM_LD) {
            out->lsu_writeback = out->lsu_wavefronts; /* lanes are in banks of their own */
        }
    }
}

/* ----------------------------------------------------------------------------------------------- global atomics */

/* Does some word of lane i lie in the same tag bank and at the same place of a line as one of lane j? */
static int share_a_place(const struct naive_rules *rules, const struct wm_access *a, unsigned i, unsigned j)
{
    unsigned words = a->opcode.width_bytes < 4 ? 1 : a->opcode.width_bytes / 4;

    for (unsigned m = 0; m < words; m++) {
        for (unsigned n = 0; n < words; n++) {
            if ((a->address[i] / 4 + m) % 32 == (a->address[j] / 4 + n) % 32) {
                return tag_bank(rules, a->address[i] / 128) == tag_bank(rules, a->address[j] / 128);
            }
        }
    }
    return 0;
}

/* The lanes of the next pass of an atomic. Each tag bank takes one line, or, as a compare-and-swap has two operands,
 * half a line: that of its lowest waiting lane which no lower waiting lane blocks; then all other lanes of that piece
 * that are not blocked. A waiting lane, taken or not, blocks every higher one that wants one of its words' places in
 * the same tag bank, be it the same word or not. */
static uint32_t next_atomic_pass(const struct naive_rules *rules, const struct wm_access *a, uint32_t waiting)
{
    uint64_t piece_bytes = is_cas(a) ? 64 : 128;
    uint64_t piece[4];
    int has_piece[4] = {0};
    uint32_t taken = 0;

    for (unsigned i = 0; i < WM_LANES; i++) {
        unsigned bank = tag_bank(rules, a->address[i] / 128);
        int blocked = !is_active(waiting, i);
        for (unsigned j = 0; j < i && !blocked; j++) {
            blocked = is_active(waiting, j) && share_a_place(rules, a, i, j);
        }
        if (blocked || (has_piece[bank] && piece[bank] != a->address[i] / piece_bytes)) {
            continue;
        }
        has_piece[bank] = 1;
        piece[bank] = a->address[i] / piece_bytes;
        taken |= UINT32_C(1) << i;
    }
    return taken;
}

/* Does every line of a pass have just one lane? */
static int all_alone(const struct wm_access *a, uint32_t lanes)
{
    for (unsigned i = 0; i < WM_LANES; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (is_active(lanes, i) && is_active(lanes, j) && a->address[i] / 128 == a->address[j] / 128) {
                return 0;
            }
        }
    }
    return 1;
}

/* Passes of the data stage for the operands of one pass: the rule of loads, but that operands of lanes which are all
 * alone in their lines use only some of the banks: words k and k + 4, the halves of a sector, then go through the same
 * one. The two operands of a compare-and-swap fill the place of a whole line with half of one, and it has the phases of
 * lanes twice as wide; those of lanes which are all alone go through one bank a sector. */
static unsigned operand_wavefronts(const struct naive_rules *rules, const struct wm_access *a, uint32_t lanes)
{
    unsigned width = a->opcode.width_bytes;
    int alone = all_alone(a, lanes);
    struct touches list;

    /* a lane asks for its sector's bank once, be it for 4 or for 8 bytes */
    list_words(rules, a->address, lanes, is_cas(a) && alone ? 4 : width, &list);
    for (unsigned i = 0; i < list.n; i++) {
        if (alone) {
            list.of[i].bank &= is_cas(a) ? ~7u : ~4u;
        } else if (is_cas(a)) {
            list.of[i].bank %= 16;
        }
    }
    return data_wavefronts(rules, &list, is_cas(a) ? 2 * width : width);
}

/* red, atom: pass after pass through the tag stage, one tag wavefront each. The data stage sends the operands, and for
 * atom takes the results by the rule of loads. */
static void count_atomic(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    uint32_t waiting = a->mask;

    while (waiting != 0) {
        uint32_t lanes = next_atomic_pass(rules, a, waiting);
        struct touches list;
        list_words(rules, a->address, lanes, a->opcode.width_bytes, &list);
        out->lines += distinct_pieces(&list, 32);
        out->sectors += distinct_pieces(&list, 8);
        out->tag_wavefronts++;
        out->lsu_wavefronts += operand_wavefronts(rules, a, lanes);
        if (a->opcode.operation == WM_ATOM) {
            out->lsu_wavefronts += data_wavefronts(rules, &list, a->opcode.width_bytes);
            out->lsu_writeback += busy_phases(&list, rules->phase_lanes[width_index(a->opcode.width_bytes)], 0);
        }
        waiting &= ~lanes;
    }
    out->l2_requests = out->lines;
    out->l2_sectors = out->sectors;
    if (is_cas(a) && a->opcode.width_bytes > 8) {
        out->inexact = 1u << WM_LSU_WAVEFRONTS;
    }
}

/* ------------------------------------------------------------------------------------------------- cp.async.ca */

/* Do two lanes' pieces share a bank? exact: are they at one address? */
static int collide(const struct naive_rules *rules, uint64_t a, uint64_t b, unsigned width, int exact)
{
    if (exact) {
        return a == b;
    }
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
 * back on one side still holds others back on the other. The same word does not help: lanes count, not words.
 * exact: only lanes at one address collide, which is what no placement can avoid. */
static unsigned copy_passes(const struct naive_rules *rules, const struct wm_access *a, uint32_t lanes, int exact)
{
    unsigned width = a->opcode.width_bytes;
    unsigned passes = 0;

    while (lanes != 0) {
        uint32_t waiting = lanes;
        for (unsigned i = 0; i < WM_LANES; i++) {
            int served = is_active(waiting, i);
            for (unsigned j = 0; j < i && served; j++) {
                if (is_active(waiting, j) &&
                    (collide(rules, a->address[i], a->address[j], width, exact) ||
                     collide(rules, a->shared_address[i], a->shared_address[j], width, exact))) {
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

/* cp.async.ca: the global side is a load's. The shared side takes the lanes phase by phase and, where the lines miss
 * L1, each tag wavefront's on their own. */
static void count_copy_through_l1(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct touches list;
    unsigned size = rules->phase_lanes[width_index(a->opcode.width_bytes)];
    unsigned parts = 0;

    list_words(rules, a->address, a->mask, a->opcode.width_bytes, &list);
    add_tag_stage(rules, &list, out);
    group_touches(rules, a, a->opcode.width_bytes, &list, out);
    for (unsigned first = 0; first < WM_LANES; first += size) {
        uint32_t phase = (uint32_t)(((UINT64_C(1) << size) - 1) << first);
        out->shared_wavefronts_ideal += copy_passes(rules, a, a->mask & phase, 1);
        for (unsigned group = 0; group < out->tag_wavefronts; group++) {
            uint32_t lanes = 0;
            unsigned passes;
            for (unsigned i = 0; i < list.n; i++) {
                if (list.of[i].group == group) {
                    lanes |= phase & UINT32_C(1) << list.of[i].lane;
                }
            }
            passes = copy_passes(rules, a, lanes, 0);
            parts += passes > 0;
            out->shared_wavefronts += passes;
            out->ways = larger(out->ways, passes);
        }
    }
    out->bank_conflicts = out->shared_wavefronts - parts;
}

/* ------------------------------------------------------------------------------------------------- cp.async.cg */

/* A request of a copy past L1 is for a pair: a source line and a line of shared memory. */
struct pair {
    uint64_t source;
    uint32_t destination;
    unsigned tag_wavefront; /* of the source line, as for loads */
    unsigned highest_lane;
};

struct pairs {
    unsigned n;
    struct pair of[WM_LANES];
};

static void list_pairs(const struct naive_rules *rules, const struct wm_access *a, struct pairs *pairs)
{
    struct touches list;

    list_words(rules, a->address, a->mask, 16, &list);
    assign_tag_wavefronts(rules, &list);
    pairs->n = 0;
    for (unsigned i = 0; i < list.n; i += 4) { /* 4 words a lane */
        unsigned lane = list.of[i].lane;
        struct pair pair = {a->address[lane] / 128, a->shared_address[lane] / 128, list.of[i].tag_wavefront, lane};
        unsigned k = 0;
        while (k < pairs->n && (pairs->of[k].source != pair.source || pairs->of[k].destination != pair.destination)) {
            k++;
        }
        pairs->n = larger(pairs->n, k + 1);
        pairs->of[k] = pair; /* the same again but for the highest lane */
    }
}

/* Tag wavefronts: in each of the source lines' own, pairs whose destinations agree in the lowest two bits of the line
 * follow each other. */
static unsigned pair_wavefronts(const struct pairs *pairs)
{
    unsigned sum = 0;

    for (unsigned wavefront = 0; wavefront < WM_LANES; wavefront++) {
        unsigned most = 0;
        for (unsigned bank = 0; bank < 4; bank++) {
            unsigned n = 0;
            for (unsigned k = 0; k < pairs->n; k++) {
                n += pairs->of[k].tag_wavefront == wavefront && pairs->of[k].destination % 4 == bank;
            }
            most = larger(most, n);
        }
        sum += most;
    }
    return sum;
}

static int belongs(const struct wm_access *a, unsigned lane, const struct pair *pair)
{
    return is_active(a->mask, lane) && a->address[lane] / 128 == pair->source &&
           a->shared_address[lane] / 128 == pair->destination;
}

/* Of lanes that write the same 16 bytes of shared memory only one is asked for: the lowest lane of the pair that comes
 * first, by tag wavefront and then by the highest lane, downwards. */
static uint32_t winning_lanes(const struct wm_access *a, const struct pairs *pairs)
{
    uint32_t winners = 0;

    for (unsigned i = 0; i < WM_LANES; i++) {
        const struct pair *best = NULL;
        unsigned best_lane = 0;
        for (unsigned k = 0; k < pairs->n; k++) {
            const struct pair *pair = &pairs->of[k];
            for (unsigned j = WM_LANES; j-- > 0;) {
                if (!is_active(a->mask, i) || !belongs(a, j, pair) || a->shared_address[j] != a->shared_address[i]) {
                    continue;
                }
                if (best == NULL || best == pair || pair->tag_wavefront < best->tag_wavefront ||
                    (pair->tag_wavefront == best->tag_wavefront && pair->highest_lane > best->highest_lane)) {
                    best = pair;
                    best_lane = j;
                }
            }
        }
        if (best != NULL) {
            winners |= UINT32_C(1) << best_lane;
        }
    }
    return winners;
}

/* What one shared sector of a pair gets out of one source sector: its low half, its high half or the whole, straight or
 * with the halves swapped. */
enum { LOW = 1, HIGH = 2, WHOLE = 3 };

struct item {
    uint64_t source;      /* sector */
    uint32_t destination; /* sector */
    unsigned swapped;
    unsigned part; /* of the shared sector: LOW, HIGH, WHOLE */
    int sent;
};

static unsigned list_items(const struct wm_access *a, uint32_t lanes, struct item *items)
{
    unsigned n = 0;

    for (unsigned i = 0; i < WM_LANES; i++) {
        unsigned source_half = a->address[i] / 16 % 2;
        unsigned half = a->shared_address[i] / 16 % 2;
        struct item item = {a->address[i] / 32, a->shared_address[i] / 32, source_half != half, 0, 0};
        unsigned k = 0;
        if (!is_active(lanes, i)) {
            continue;
        }
        while (k < n && (items[k].source != item.source || items[k].destination != item.destination ||
                         items[k].swapped != item.swapped)) {
            k++;
        }
        if (k == n) {
            items[n++] = item;
        }
        items[k].part |= half == 0 ? LOW : HIGH;
    }
    return n;
}

/* From an even sector to an odd one, or the other way round? */
static unsigned is_moved(const struct item *item)
{
    return item->source % 2 != item->destination % 2;
}

static int are_in_one_pair(const struct item *a, const struct item *b)
{
    return a->source / 4 == b->source / 4 && a->destination / 4 == b->destination / 4;
}

/* Does the one wait for the other? The high half of a shared sector waits for the low one if both are straight or both
 * swapped. */
static int waits_for(const struct item *high, const struct item *low)
{
    return high->part == HIGH && low->part == LOW && high->destination == low->destination &&
           high->swapped == low->swapped && are_in_one_pair(high, low);
}

/* What one request asks L2 for. */
struct packet {
    const struct pair *pair;
    unsigned sectors; /* bit k: sector k of the source line */
};

struct packets {
    unsigned n;
    struct packet of[WM_LANES];
};

/* Straight items of a pair go to L2 in one pass, swapped ones in another after it. available: by shared sector, what of
 * the pass is not sent yet and waits for nothing. */
struct pass {
    unsigned swapped;
    int exchanged; /* see choose_class() */
    struct item *available[4];
};

/* Items of one class share a packet. */
struct item_class {
    unsigned part;
    unsigned moved;
};

static void find_available(struct item *items, unsigned n, const struct pair *pair, struct pass *pass)
{
    for (unsigned sector = 0; sector < 4; sector++) {
        pass->available[sector] = NULL;
    }
    for (unsigned i = 0; i < n; i++) {
        struct item **place = &pass->available[items[i].destination % 4];
        if (items[i].sent || items[i].swapped != pass->swapped || items[i].source / 4 != pair->source ||
            items[i].destination / 4 != pair->destination) {
            continue;
        }
        if (*place == NULL || waits_for(*place, &items[i])) {
            *place = &items[i];
        }
    }
}

static int is_of_class(const struct item *item, struct item_class class)
{
    return item != NULL && item->part == class.part && is_moved(item) == class.moved;
}

static int is_there(const struct pass *pass, struct item_class class)
{
    for (unsigned sector = 0; sector < 4; sector++) {
        if (is_of_class(pass->available[sector], class)) {
            return 1;
        }
    }
    return 0;
}

static int reads_only_odd_sectors(const struct pass *pass, struct item_class class)
{
    for (unsigned sector = 0; sector < 4; sector++) {
        if (is_of_class(pass->available[sector], class) && pass->available[sector]->source % 2 == 0) {
            return 0;
        }
    }
    return 1;
}

/* The half of shared sectors that even halves of the source fill (straight: the low one, swapped: the high one) lets
 * the other half go first where both read the same source sector. */
static int is_overtaken(const struct pass *pass, struct item_class class)
{
    unsigned even = pass->swapped ? HIGH : LOW;
    unsigned odd = pass->swapped ? LOW : HIGH;

    for (unsigned i = 0; i < 4 && class.part == even; i++) {
        for (unsigned j = 0; j < 4; j++) {
            const struct item *other = pass->available[j];
            if (is_of_class(pass->available[i], class) && other != NULL && other->part == odd &&
                other->source == pass->available[i]->source) {
                return 1;
            }
        }
    }
    return 0;
}

/* The class of the next packet: the first one below that is there and not overtaken. Once in a pass, moved high halves
 * of odd sectors let low ones go first if these are of odd sectors too (seen in 6 accesses, no reason known). */
static struct item_class choose_class(struct pass *pass)
{
    static const struct item_class order[] = {{WHOLE, 1}, {WHOLE, 0}, {HIGH, 1}, {LOW, 1}, {HIGH, 0}, {LOW, 0}};
    struct item_class low = {LOW, 1};
    unsigned k = 0;

    while (!is_there(pass, order[k]) || is_overtaken(pass, order[k])) {
        k++;
    }
    if (!is_there(pass, low)) {
        low.moved = 0;
    }
    if (order[k].part == HIGH && order[k].moved && is_there(pass, low) && !pass->exchanged &&
        reads_only_odd_sectors(pass, order[k]) && reads_only_odd_sectors(pass, low)) {
        pass->exchanged = 1;
        return low;
    }
    return order[k];
}

/* What is available of the class, by shared sector, but each source sector once. */
static struct packet make_packet(const struct pair *pair, struct pass *pass, struct item_class class)
{
    struct packet packet = {pair, 0};

    for (unsigned sector = 0; sector < 4; sector++) {
        struct item *item = pass->available[sector];
        if (is_of_class(item, class) && !(packet.sectors >> item->source % 4 & 1)) {
            packet.sectors |= 1u << item->source % 4;
            item->sent = 1;
        }
    }
    return packet;
}

static int is_pass_over(const struct pass *pass)
{
    for (unsigned sector = 0; sector < 4; sector++) {
        if (pass->available[sector] != NULL) {
            return 0;
        }
    }
    return 1;
}

static void add_packets_of_pair(struct item *items, unsigned n, const struct pair *pair, struct packets *packets)
{
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        struct pass pass = {swapped, 0, {NULL}};
        find_available(items, n, pair, &pass);
        while (!is_pass_over(&pass)) {
            packets->of[packets->n++] = make_packet(pair, &pass, choose_class(&pass));
            find_available(items, n, pair, &pass);
        }
    }
}

static unsigned sectors_in(const struct packet *packet)
{
    unsigned n = 0;

    for (unsigned k = 0; k < 4; k++) {
        n += packet->sectors >> k & 1;
    }
    return n;
}

static int are_of_one_pair(const struct packets *line)
{
    for (unsigned i = 1; i < line->n; i++) {
        if (line->of[i].pair != line->of[0].pair) {
            return 0;
        }
    }
    return 1;
}

static int are_alike(const struct packets *line)
{
    for (unsigned i = 1; i < line->n; i++) {
        if (line->of[i].sectors != line->of[0].sectors) {
            return 0;
        }
    }
    return 1;
}

/* Is there a sector that two packets ask for? */
static int share_a_sector(const struct packets *line)
{
    for (unsigned i = 0; i < line->n; i++) {
        for (unsigned j = 0; j < i; j++) {
            if (line->of[i].sectors & line->of[j].sectors) {
                return 1;
            }
        }
    }
    return 0;
}

/* On the way to L2, packets of a line that follow each other and are alike are merged: four to one if the line has no
 * others. Returns by how many packets a run that starts at packet first becomes shorter. Runs among others: of one pair
 * as measured, of several pairs an estimate. */
static unsigned merged_away(const struct packets *line, unsigned first, unsigned length)
{
    int at_start = first == 0;
    int at_end = first + length == line->n;

    if (length == line->n || (length >= 4 && !are_of_one_pair(line))) {
        return length - round_up_division(length, 4);
    }
    if (length == 1 || !are_of_one_pair(line)) {
        return 0;
    }
    if (length == 2) {
        return at_start && line->n == 3;
    }
    if (length == 3) {
        return at_start || at_end || line->n <= 5;
    }
    return at_end ? length - 2 : 1;
}

/* How packets of a line that share a sector are merged is certain if they are all alike; and if there are at most
 * three, no straight half waits, and they all differ or are X Y X, of one sector each and of one pair. */
static int is_merging_certain(const struct packets *line, const struct item *items, unsigned n)
{
    const struct packet *p = line->of;

    if (are_alike(line) || !share_a_sector(line)) {
        return 1;
    }
    for (unsigned i = 0; i < n; i++) {
        for (unsigned j = 0; j < n; j++) {
            if (items[i].source / 4 == p[0].pair->source && !items[i].swapped && waits_for(&items[i], &items[j])) {
                return 0;
            }
        }
    }
    if (line->n > 3) {
        return 0;
    }
    if (line->n == 3 && p[0].sectors == p[2].sectors) {
        return are_of_one_pair(line) && sectors_in(&p[0]) == 1 && sectors_in(&p[1]) == 1;
    }
    return p[0].sectors != p[1].sectors && (line->n == 2 || p[1].sectors != p[2].sectors);
}

/* Does a high half wait for a low one, while it could share a packet with an item of another shared sector? Three such
 * accesses were seen to need a request more or less than the rules say: it may come too late. */
static int is_contested(const struct packets *line, const struct item *items, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        int waits = 0;
        int could_share = 0;
        for (unsigned j = 0; j < n; j++) {
            waits |= waits_for(&items[i], &items[j]);
            could_share |= items[j].part == HIGH && is_moved(&items[j]) == is_moved(&items[i]) &&
                           items[j].swapped == items[i].swapped &&
                           items[j].destination != items[i].destination && items[j].source != items[i].source &&
                           are_in_one_pair(&items[i], &items[j]);
        }
        if (items[i].source / 4 == line->of[0].pair->source && waits && could_share) {
            return 1;
        }
    }
    return 0;
}

static void add_l2_of_line(const struct packets *line, const struct item *items, unsigned n, struct wm_counts *out)
{
    unsigned length;

    for (unsigned first = 0; first < line->n; first += length) {
        unsigned requests;
        length = 1;
        while (first + length < line->n && line->of[first + length].sectors == line->of[first].sectors) {
            length++;
        }
        requests = length - merged_away(line, first, length);
        out->l2_requests += requests;
        out->l2_sectors += requests * sectors_in(&line->of[first]);
    }
    if (!is_merging_certain(line, items, n)) {
        out->inexact |= 1u << WM_L2_REQUESTS | 1u << WM_L2_SECTORS;
    } else if (is_contested(line, items, n)) {
        out->inexact |= 1u << WM_L2_REQUESTS;
        if (are_alike(line)) { /* they would not all be, and so not be merged */
            out->inexact |= 1u << WM_L2_SECTORS;
        }
    }
}

/* What L2 is asked for, line by line. */
static void count_l2_of_copy(const struct wm_access *a, uint32_t lanes, const struct pairs *pairs,
                             struct wm_counts *out)
{
    struct item items[WM_LANES];
    unsigned n = list_items(a, lanes, items);

    for (unsigned k = 0; k < pairs->n; k++) {
        struct packets line = {0};
        int is_new = 1;
        for (unsigned j = 0; j < k; j++) {
            is_new &= pairs->of[j].source != pairs->of[k].source;
        }
        for (unsigned j = k; j < pairs->n && is_new; j++) {
            if (pairs->of[j].source == pairs->of[k].source) {
                add_packets_of_pair(items, n, &pairs->of[j], &line);
            }
        }
        if (line.n > 0) { /* all lanes of its pairs may have lost */
            add_l2_of_line(&line, items, n, out);
        }
    }
}

/* cp.async.cg bypasses L1: nothing is counted in the data stage. */
static void count_copy_past_l1(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    struct pairs pairs;
    uint32_t winners;

    list_pairs(rules, a, &pairs);
    winners = winning_lanes(a, &pairs);
    out->lines = pairs.n;
    out->tag_wavefronts = pair_wavefronts(&pairs);
    for (unsigned i = 0; i < WM_LANES; i++) { /* distinct (source line, shared sector) of the winners */
        int is_new = is_active(winners, i);
        for (unsigned j = 0; j < i && is_new; j++) {
            is_new = !is_active(winners, j) || a->address[j] / 128 != a->address[i] / 128 ||
                     a->shared_address[j] / 32 != a->shared_address[i] / 32;
        }
        out->sectors += (unsigned)is_new;
    }
    count_l2_of_copy(a, winners, &pairs, out);
}

/* ------------------------------------------------------------------------------------------------- any access */

static unsigned bytes_asked_for(const struct wm_access *a)
{
    unsigned lanes = 0;

    if (a->opcode.space != WM_LOCAL) {
        return distinct_addresses(a->address, a->mask) * a->opcode.width_bytes;
    }
    for (unsigned i = 0; i < WM_LANES; i++) {
        lanes += (unsigned)is_active(a->mask, i); /* each lane has its own memory */
    }
    return lanes * a->opcode.width_bytes;
}

void naive_counts(const struct naive_rules *rules, const struct wm_access *a, struct wm_counts *out)
{
    unsigned operation = a->opcode.operation;

    memset(out, 0, sizeof *out);
    if (a->opcode.space == WM_CONST) {
        return; /* constants come through a cache of their own */
    }
    if (a->mask == 0) { /* issued for nothing: one wavefront, of no operation */
        out->shared_wavefronts = 1;
        out->shared_wavefronts_ideal = 1;
        return;
    }
    if (operation == WM_LDMATRIX || operation == WM_STMATRIX) {
        count_matrices(rules, a, out);
        return;
    }
    if (a->opcode.space == WM_SHARED) {
        count_shared(rules, a, out);
        return;
    }
    out->requests = 1;
    if (operation == WM_CP_ASYNC && a->opcode.cache == WM_CACHE_CG) {
        count_copy_past_l1(rules, a, out);
    } else if (operation == WM_CP_ASYNC) {
        count_copy_through_l1(rules, a, out);
    } else if (is_atomic(a)) {
        count_atomic(rules, a, out);
    } else if (a->opcode.space == WM_LOCAL) {
        count_local(rules, a, out);
    } else {
        count_load_or_store(rules, a, out);
    }
    out->sectors_ideal = round_up_division(bytes_asked_for(a), 32);
}
