/*
 * cp.async: global to shared without passing through registers (SASS: LDGSTS).
 *
 * Measured on an H200 (traces/hardware/sm_90/cp-async): every L1 column is exact on 5,100 random copies. With .ca the data
 * goes through L1: the tag side is a load's, and the write into shared memory is arbitrated on both sides. With .cg it
 * goes from L2 to shared memory past L1: what is looked up are pairs of a source line and a shared row, and L2 is asked
 * for packets of sectors.
 */
#include "model/model.h"

unsigned wmi_copy_wavefronts(const struct wm_profile *profile, const struct wm_access *access,
                             const struct wmi_lines *lines, uint8_t of_lane[WM_LANES])
{
    const unsigned line_shift = wmi_log2(profile->line_bytes);
    uint8_t of_line[WM_LANES];
    const unsigned wavefronts = wmi_tag_wavefronts(profile, lines, of_line);

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);
        unsigned line = 0;

        while (lines->index[line] != access->address[lane] >> line_shift)
            line++;
        of_lane[lane] = of_line[line];
    }
    return wavefronts;
}

/*
 * A lane goes one pass after the last lane before it that uses its source slot or its
 * destination slot, a slot being the place of a lane's width in a row of banks. Lanes at one word do not merge, on either
 * side. Where whole addresses are compared instead of slots, what comes out is the fewest passes of any placement.
 */
static unsigned chain(const struct wm_access *access, uint32_t group, uint64_t source_slots, uint64_t shared_slots,
                      uint8_t pass[WM_LANES])
{
    const unsigned shift = wmi_log2(access->opcode.width_bytes);
    unsigned passes = 0;

    for (uint32_t rest = group; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);

        pass[lane] = 1;
        for (uint32_t before = group & ((UINT32_C(1) << lane) - 1); before; before &= before - 1) {
            const unsigned other = wmi_log2(before);
            const uint64_t source = (access->address[lane] ^ access->address[other]) >> shift;
            const uint64_t shared = (uint64_t)(access->shared_address[lane] ^ access->shared_address[other]) >> shift;

            if (((source & source_slots) == 0 || (shared & shared_slots) == 0) && pass[other] >= pass[lane])
                pass[lane] = (uint8_t)(pass[other] + 1);
        }
        if (pass[lane] > passes)
            passes = pass[lane];
    }
    return passes;
}

unsigned wmi_copy_passes(const struct wm_profile *profile, const struct wm_access *access, uint32_t group,
                         uint8_t pass[WM_LANES])
{
    const uint64_t slots = profile->line_bytes / access->opcode.width_bytes - 1;

    return chain(access, group, slots, slots, pass);
}

unsigned wmi_copy_ideal_passes(const struct wm_access *access, uint32_t phase)
{
    uint8_t pass[WM_LANES];

    return chain(access, phase, UINT64_MAX, UINT64_MAX, pass);
}

uint32_t wmi_copy_group(const struct wm_access *access, uint32_t phase, const uint8_t wavefront[WM_LANES], unsigned which)
{
    uint32_t group = phase;

    for (uint32_t rest = phase; rest && !wmi_hits_l1(access); rest &= rest - 1) {
        if (wavefront[wmi_log2(rest)] != which)
            group &= ~(UINT32_C(1) << wmi_log2(rest));
    }
    return group;
}

/* Through L1: groups of lanes with one tag wavefront and one phase; on a hit, of one phase. */
static void through_l1(const struct wm_profile *profile, const struct wm_access *access,
                       const uint8_t wavefront[WM_LANES], unsigned wavefronts, struct wm_counts *out)
{
    const unsigned phase_lanes = profile->phase_lanes[wmi_log2(access->opcode.width_bytes)];
    uint8_t pass[WM_LANES];
    unsigned groups = 0;

    if (wmi_hits_l1(access))
        wavefronts = 1;
    for (unsigned first = 0; first < WM_LANES; first += phase_lanes) {
        const uint32_t phase = access->mask & wmi_lane_range(first, phase_lanes);

        for (unsigned w = 0; w < wavefronts; w++) {
            const unsigned passes =
                wmi_copy_passes(profile, access, wmi_copy_group(access, phase, wavefront, w), pass);

            groups += passes > 0;
            out->shared_wavefronts += passes;
            if (passes > out->ways)
                out->ways = passes;
        }
        out->shared_wavefronts_ideal += wmi_copy_ideal_passes(access, phase);
    }
    out->bank_conflicts = out->shared_wavefronts - groups;
}

/* ---------------------------------------------------------------------------------------------------- past L1: .cg */

static void find_pairs(const struct wm_profile *profile, const struct wm_access *access,
                       const uint8_t wavefront[WM_LANES], struct wmi_bypass *bypass)
{
    const unsigned shift = wmi_log2(profile->line_bytes);

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);
        const uint64_t line = access->address[lane] >> shift;
        const uint64_t row = access->shared_address[lane] >> shift;
        unsigned i = 0;

        while (i < bypass->pairs && (bypass->pair[i].line != line || bypass->pair[i].row != row))
            i++;
        if (i == bypass->pairs)
            bypass->pair[bypass->pairs++] = (struct wmi_pair){.line = line, .row = row, .wavefront = wavefront[lane]};
        bypass->pair[i].last = lane;
        bypass->pair_of[lane] = (uint8_t)i;
    }
}

/* In each tag wavefront, pairs queue by the shared row's place among the tag banks. */
static unsigned pair_wavefronts(const struct wm_profile *profile, struct wmi_bypass *bypass, unsigned wavefronts)
{
    const unsigned banks = 1U << profile->tag_bank_bits;
    unsigned sum = 0;

    for (unsigned w = 0; w < wavefronts; w++) {
        uint8_t queue[1U << WM_TAG_BANK_BITS] = {0};
        unsigned longest = 0;

        for (unsigned i = 0; i < bypass->pairs; i++) {
            const unsigned bank = (unsigned)(bypass->pair[i].row & (banks - 1));

            if (bypass->pair[i].wavefront != w)
                continue;
            bypass->pair[i].queued = sum + queue[bank];
            if (++queue[bank] > longest)
                longest = queue[bank];
        }
        sum += longest;
    }
    return sum;
}

/* Whether lane a is asked for before lane b: the earlier pair by tag wavefront, then by highest lane, highest first; in a
 * pair the lower lane. */
static int goes_first(const struct wmi_bypass *bypass, unsigned a, unsigned b)
{
    const struct wmi_pair *pair_a = &bypass->pair[bypass->pair_of[a]];
    const struct wmi_pair *pair_b = &bypass->pair[bypass->pair_of[b]];

    if (pair_a->wavefront != pair_b->wavefront)
        return pair_a->wavefront < pair_b->wavefront;
    if (pair_a->last != pair_b->last)
        return pair_a->last > pair_b->last;
    return a < b;
}

/* Of the lanes that write one 16 B chunk of shared memory, only the first is asked for. */
static uint32_t winners(const struct wm_access *access, const struct wmi_bypass *bypass)
{
    uint32_t won = access->mask;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);

        for (uint32_t others = access->mask & ~(UINT32_C(1) << lane); others; others &= others - 1) {
            const unsigned other = wmi_log2(others);

            if (access->shared_address[other] == access->shared_address[lane] && goes_first(bypass, other, lane))
                won &= ~(UINT32_C(1) << lane);
        }
    }
    return won;
}

/* The items of the winners; returns the number of distinct pairs of source line and shared sector. */
static unsigned find_items(const struct wm_profile *profile, const struct wm_access *access, uint32_t won,
                           struct wmi_bypass *bypass)
{
    const unsigned shift = wmi_log2(profile->sector_bytes);
    const unsigned in_line = profile->line_bytes / profile->sector_bytes - 1;
    unsigned sectors = 0;

    for (; won; won &= won - 1) {
        const unsigned lane = wmi_log2(won);
        const uint32_t shared = access->shared_address[lane];
        const struct wmi_item item = {bypass->pair_of[lane], shared >> shift & in_line,
                                  (unsigned)(access->address[lane] >> shift) & in_line,
                                  (unsigned)(access->address[lane] ^ shared) >> (shift - 1) & 1,
                                  1U << (shared >> (shift - 1) & 1)};
        unsigned same_sector = 0;
        unsigned i = 0;

        for (; i < bypass->items; i++) {
            const struct wmi_item *old = &bypass->item[i];

            if (old->pair != item.pair || old->to != item.to)
                continue;
            same_sector = 1;
            if (old->from == item.from && old->swap == item.swap)
                break;
        }
        if (i == bypass->items) {
            bypass->pair[item.pair].items |= UINT32_C(1) << i;
            bypass->item[bypass->items++] = item;
        } else {
            bypass->item[i].halves |= item.halves;
        }
        sectors += !same_sector;
        bypass->pair[item.pair].from |= UINT32_C(1) << item.from;
        bypass->pair[item.pair].to |= UINT32_C(1) << item.to;
    }
    return sectors;
}

/* Source sectors of the items that a pair could ask for next, by the half of the shared sector that they fill (1 low, 2 high,
 * 3 both) and by whether they change places with the sector beside them. */
struct next_sectors {
    uint32_t from[4][2];
};

/* Items with the same half and change of places share a packet: a class. */
struct item_class {
    unsigned halves;
    unsigned moved;
};

static unsigned moved(const struct wmi_item *item)
{
    return (item->to ^ item->from) & 1;
}

/* The item of a pair that goes to a shared sector next, in the pass for straight or for swapped halves: of two, the one of
 * the lower half. */
static struct wmi_item *next_item(struct wmi_bypass *bypass, unsigned pair, unsigned to, unsigned swap)
{
    struct wmi_item *next = NULL;

    for (uint32_t rest = bypass->pair[pair].items; rest; rest &= rest - 1) {
        struct wmi_item *item = &bypass->item[wmi_log2(rest)];

        if (item->halves && item->to == to && item->swap == swap && (!next || item->halves < next->halves))
            next = item;
    }
    return next;
}

/* The class that goes next: whole sectors, then moved ones before the others, and of these high halves before low ones. */
static struct item_class first_class(const struct next_sectors *next, unsigned swap)
{
    static const struct item_class order[] = {{3, 1}, {3, 0}, {2, 1}, {1, 1}, {2, 0}, {1, 0}};
    /* Of a source sector that is asked for both its halves, the odd one goes first: its class overtakes. even: the shared
     * half that even source halves fill. */
    const unsigned even = swap ? 2 : 1;
    const uint32_t odd_too = next->from[3 - even][0] | next->from[3 - even][1];

    for (unsigned i = 0; i < sizeof order / sizeof order[0]; i++) {
        const uint32_t from = next->from[order[i].halves][order[i].moved];

        if (from && (order[i].halves != even || (from & odd_too) == 0))
            return order[i];
    }
    return (struct item_class){0, 0};
}

/* Moved high halves, all out of odd source sectors, let low halves pass that are too, once in a pass: seen, not understood. */
static struct item_class let_pass(const struct next_sectors *next, struct item_class class, int *passed)
{
    const uint32_t even_sectors = UINT32_C(0x55555555);
    const struct item_class low = {1, next->from[1][1] != 0};
    const uint32_t from = next->from[1][low.moved];

    if (class.halves != 2 || !class.moved || (next->from[2][1] & even_sectors) || *passed || !from || (from & even_sectors))
        return class;
    *passed = 1;
    return low;
}

/* Takes one packet out of a pair's items; returns the source sectors in it, 0 where none are left in that pass. */
static uint32_t take_packet(const struct wm_profile *profile, struct wmi_bypass *bypass, unsigned pair, unsigned swap,
                            int *passed)
{
    const unsigned sectors = profile->line_bytes / profile->sector_bytes;
    struct next_sectors next = {.from = {{0}}};
    struct wmi_item *available[WM_LANES];
    struct item_class class;
    uint32_t packet = 0;

    for (unsigned to = 0; to < sectors; to++) {
        const struct wmi_item *item = available[to] = next_item(bypass, pair, to, swap);

        if (item)
            next.from[item->halves][moved(item)] |= UINT32_C(1) << item->from;
    }
    class = let_pass(&next, first_class(&next, swap), passed);
    for (unsigned to = 0; to < sectors; to++) {
        struct wmi_item *item = available[to];

        if (item && item->halves == class.halves && moved(item) == class.moved && !(packet >> item->from & 1)) {
            packet |= UINT32_C(1) << item->from;
            item->halves = 0;
        }
    }
    return packet;
}

/* The packets of one source line, in their order. */
struct packet_stream {
    uint32_t packet[WM_LANES];
    unsigned count;
    unsigned pairs;
    int waits;     /* some half that stays in place waits for the other of its shared sector */
    int contested; /* some half waits, and could share a packet for which it may be too late */
};

/* Whether item could share a packet with one that goes to another shared sector. */
static int has_partner(const struct wmi_bypass *bypass, const struct wmi_item *item)
{
    for (uint32_t rest = bypass->pair[item->pair].items; rest; rest &= rest - 1) {
        const struct wmi_item *other = &bypass->item[wmi_log2(rest)];

        if (other->to != item->to && other->swap == item->swap && other->halves == item->halves &&
            moved(other) == moved(item) && other->from != item->from)
            return 1;
    }
    return 0;
}

/* A high half waits for the low one of its shared sector. */
static void find_waits(const struct wmi_bypass *bypass, unsigned pair, struct packet_stream *stream)
{
    const uint32_t items = bypass->pair[pair].items;

    for (uint32_t highs = items; highs; highs &= highs - 1) {
        const struct wmi_item *high = &bypass->item[wmi_log2(highs)];

        for (uint32_t lows = high->halves == 2 ? items : 0; lows; lows &= lows - 1) {
            const struct wmi_item *low = &bypass->item[wmi_log2(lows)];

            if (low->halves != 1 || low->to != high->to || low->swap != high->swap)
                continue;
            stream->waits |= !low->swap;
            /* Of the copies measured of which this alone is uncertain, 3 had a request more or less. */
            stream->contested |= has_partner(bypass, high);
        }
    }
}

/* The packets of one pair: first those with halves in place, then those with halves swapped. */
static void add_pair(const struct wm_profile *profile, struct wmi_bypass *bypass, unsigned pair, struct packet_stream *stream)
{
    const unsigned before = stream->count;

    find_waits(bypass, pair, stream);
    for (unsigned swap = 0; swap < 2; swap++) {
        int passed = 0;
        uint32_t packet;

        while ((packet = take_packet(profile, bypass, pair, swap, &passed)) != 0)
            stream->packet[stream->count++] = packet;
    }
    stream->pairs += stream->count > before;
}

/* By how many requests a run of equal packets among different ones shrinks: fitted on lines that go to one shared row. With
 * more rows it depends on when their packets come: mostly short runs stay as they are. */
static unsigned merged_in_run(const struct packet_stream *stream, unsigned first, unsigned length)
{
    const int at_end = first + length == stream->count;

    if (stream->pairs > 1)
        return length > 3 ? length - (length + 3) / 4 : 0;
    if (length == 2)
        return first == 0 && stream->count == 3;
    if (length == 3)
        return first == 0 || at_end || stream->count <= 5;
    if (length > 3)
        return at_end ? length - 2 : 1;
    return 0;
}

/* Whether nothing is merged for certain, though packets share sectors: at most three, each unlike the others; or, of one
 * pair, with a single other sector between two equal ones. */
static int is_unmerged(const struct packet_stream *stream)
{
    const uint32_t *packet = stream->packet;

    if (stream->count > 3 || stream->waits || packet[0] == packet[1])
        return 0;
    if (stream->count == 2 || (packet[1] != packet[2] && packet[0] != packet[2]))
        return 1;
    return stream->pairs == 1 && packet[1] != packet[2] && wmi_popcount(packet[0]) == 1 && wmi_popcount(packet[1]) == 1;
}

/* Equal packets are merged by four. Where they differ but share sectors, it also depends on the packets of other lines: the
 * count is then an estimate. */
static void merge_packets(const struct packet_stream *stream, struct wmi_packets *line, uint32_t *inexact)
{
    const unsigned size = wmi_popcount(line->first);
    unsigned length = 0;

    line->requests = line->packets;
    if (line->equal && line->packets) {
        line->requests = (line->packets + 3) / 4;
        line->sectors = line->requests * size;
        if (stream->contested) /* late, it would keep all from being equal */
            *inexact |= 1U << WM_L2_REQUESTS | 1U << WM_L2_SECTORS;
        return;
    }
    for (unsigned i = 0; i < stream->count; i += length) {
        unsigned merged;

        for (length = 1; i + length < stream->count && stream->packet[i + length] == stream->packet[i];)
            length++;
        merged = merged_in_run(stream, i, length);
        line->requests -= merged;
        line->sectors -= merged * wmi_popcount(stream->packet[i]);
    }
    if (line->repeats && !is_unmerged(stream))
        *inexact |= 1U << WM_L2_REQUESTS | 1U << WM_L2_SECTORS;
    else if (stream->contested)
        *inexact |= 1U << WM_L2_REQUESTS;
}

static void add_packet(struct wmi_packets *line, uint32_t packet)
{
    line->equal = line->packets == 0 || (line->equal && packet == line->first);
    if (line->packets == 0)
        line->first = packet;
    line->repeats |= (line->seen & packet) != 0;
    line->seen |= packet;
    line->packets++;
    line->sectors += wmi_popcount(packet);
}

/* Asks for all of the line of a pair: that pair and those after it with the same line. */
static void ask_line(const struct wm_profile *profile, struct wmi_bypass *bypass, unsigned pair, struct wmi_packets *line)
{
    struct packet_stream stream = {.count = 0};

    *line = (struct wmi_packets){.line = bypass->pair[pair].line};
    for (unsigned i = pair; i < bypass->pairs; i++) {
        if (bypass->pair[i].line == line->line)
            add_pair(profile, bypass, i, &stream);
    }
    for (unsigned i = 0; i < stream.count; i++)
        add_packet(line, stream.packet[i]);
    merge_packets(&stream, line, &bypass->inexact);
}

static void ask_l2(const struct wm_profile *profile, struct wmi_bypass *bypass)
{
    bypass->asked_lines = 0;
    for (unsigned pair = 0; pair < bypass->pairs; pair++) {
        unsigned before = 0;

        while (before < pair && bypass->pair[before].line != bypass->pair[pair].line)
            before++;
        if (before == pair)
            ask_line(profile, bypass, pair, &bypass->asked[bypass->asked_lines++]);
    }
}

void wmi_copy_bypass(const struct wm_profile *profile, const struct wm_access *access, const uint8_t wavefront[WM_LANES],
                     unsigned wavefronts, struct wmi_bypass *bypass)
{
    bypass->pairs = 0;
    bypass->items = 0;
    bypass->inexact = 0;
    find_pairs(profile, access, wavefront, bypass);
    bypass->wavefronts = pair_wavefronts(profile, bypass, wavefronts);
    bypass->won = winners(access, bypass);
    bypass->sectors = find_items(profile, access, bypass->won, bypass);
    ask_l2(profile, bypass);
}

static void past_l1(const struct wm_profile *profile, const struct wm_access *access,
                    const uint8_t wavefront[WM_LANES], unsigned wavefronts, struct wm_counts *out)
{
    struct wmi_bypass bypass;

    wmi_copy_bypass(profile, access, wavefront, wavefronts, &bypass);
    out->lines = bypass.pairs;
    out->tag_wavefronts = bypass.wavefronts;
    out->sectors = bypass.sectors;
    for (unsigned i = 0; i < bypass.asked_lines; i++) {
        out->l2_requests += bypass.asked[i].requests;
        out->l2_sectors += bypass.asked[i].sectors;
    }
    out->inexact |= bypass.inexact;
}

void wmi_fill_store(const struct wm_access *access, struct wm_access *store)
{
    *store = *access;
    store->opcode.operation = WM_ST;
    store->opcode.space = WM_SHARED;
    store->opcode.cache = WM_CACHE_NONE;
    store->zero_fill = 0;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        store->address[lane] = access->shared_address[lane];
}

void wmi_copy(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    uint8_t wavefront[WM_LANES] = {0};
    struct wmi_lines lines;
    unsigned wavefronts;

    if (access->zero_fill) {
        struct wm_access store;

        wmi_fill_store(access, &store);
        wmi_shared(profile, &store, out);
        return;
    }
    wmi_lines_of(profile, access->address, access->mask, width, profile->phase_lanes[wmi_log2(width)], &lines);
    wavefronts = wmi_copy_wavefronts(profile, access, &lines, wavefront);
    out->requests = 1;
    out->sectors_ideal = wmi_ideal_sectors(profile, access);
    if (access->opcode.cache == WM_CACHE_CG) {
        past_l1(profile, access, wavefront, wavefronts, out);
        return;
    }
    out->lines = lines.count;
    out->sectors = wmi_sectors(&lines);
    out->tag_wavefronts = wavefronts;
    out->l2_requests = out->lines;
    out->l2_sectors = out->sectors;
    through_l1(profile, access, wavefront, wavefronts, out);
}
