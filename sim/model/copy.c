/*
 * cp.async: global to shared without passing through registers (SASS: LDGSTS).
 *
 * Measured on an H200 (traces/hardware/sm_90/cp-async): every L1 column is exact on 5,100 random copies. With .ca the data
 * goes through L1: the tag side is a load's, and the write into shared memory is arbitrated on both sides. With .cg it
 * goes from L2 to shared memory past L1: what is looked up are pairs of a source line and a shared row, and L2 is asked
 * for packets of sectors.
 */
#include "model/model.h"

/* The tag wavefront of each active lane's source line; returns the number of tag wavefronts. */
static unsigned source_wavefronts(const struct wm_profile *profile, const struct wm_access *access,
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
 * Passes of a group of lanes: a lane goes one pass after the last lane before it that uses its source slot or its
 * destination slot, a slot being the place of a lane's width in a row of banks. Lanes at one word do not merge, on either
 * side. Where whole addresses are compared instead of slots, what comes out is the fewest passes of any placement.
 */
static unsigned chain(const struct wm_access *access, uint32_t group, uint64_t source_slots, uint64_t shared_slots)
{
    const unsigned shift = wmi_log2(access->opcode.width_bytes);
    uint8_t pass[WM_LANES];
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

/* Through L1: groups of lanes with one tag wavefront and one phase; on a hit, of one phase. */
static void through_l1(const struct wm_profile *profile, const struct wm_access *access,
                       const uint8_t wavefront[WM_LANES], unsigned wavefronts, struct wm_counts *out)
{
    const unsigned phase_lanes = profile->phase_lanes[wmi_log2(access->opcode.width_bytes)];
    const uint64_t slots = profile->line_bytes / access->opcode.width_bytes - 1;
    unsigned groups = 0;

    if (wmi_hits_l1(access))
        wavefronts = 1;
    for (unsigned first = 0; first < WM_LANES; first += phase_lanes) {
        const uint32_t phase = access->mask & wmi_lane_range(first, phase_lanes);

        for (unsigned w = 0; w < wavefronts; w++) {
            uint32_t group = phase;
            unsigned passes;

            for (uint32_t rest = phase; rest && !wmi_hits_l1(access); rest &= rest - 1) {
                if (wavefront[wmi_log2(rest)] != w)
                    group &= ~(UINT32_C(1) << wmi_log2(rest));
            }
            passes = chain(access, group, slots, slots);
            groups += passes > 0;
            out->shared_wavefronts += passes;
            if (passes > out->ways)
                out->ways = passes;
        }
        out->shared_wavefronts_ideal += chain(access, phase, UINT64_MAX, UINT64_MAX);
    }
    out->bank_conflicts = out->shared_wavefronts - groups;
}

/* ---------------------------------------------------------------------------------------------------- past L1: .cg */

/* What is looked up: a source line together with the shared row that some of it goes to. */
struct pair {
    uint64_t line;
    uint64_t row;
    unsigned wavefront; /* of the source line */
    unsigned last;      /* the highest lane */
};

/* Source bytes for one shared sector: a whole source sector, straight or with its halves swapped, or one half of it. */
struct item {
    unsigned pair;
    unsigned to;    /* shared sector in its row */
    unsigned from;  /* source sector in its line */
    unsigned swap;  /* 1: a 16 B half goes to the other half */
    unsigned halves; /* of the shared sector: 1 low, 2 high, 3 both */
};

struct bypass {
    struct pair pair[WM_LANES];
    unsigned pairs;
    uint8_t pair_of[WM_LANES]; /* by lane */
    struct item item[WM_LANES];
    unsigned items;
};

static void find_pairs(const struct wm_profile *profile, const struct wm_access *access,
                       const uint8_t wavefront[WM_LANES], struct bypass *bypass)
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
            bypass->pair[bypass->pairs++] = (struct pair){line, row, wavefront[lane], lane};
        bypass->pair[i].last = lane;
        bypass->pair_of[lane] = (uint8_t)i;
    }
}

/* In each tag wavefront, pairs queue by the shared row's place among the tag banks. */
static unsigned pair_wavefronts(const struct wm_profile *profile, const struct bypass *bypass, unsigned wavefronts)
{
    const unsigned banks = 1U << profile->tag_bank_bits;
    unsigned sum = 0;

    for (unsigned w = 0; w < wavefronts; w++) {
        uint8_t queue[1U << WM_TAG_BANK_BITS] = {0};
        unsigned longest = 0;

        for (unsigned i = 0; i < bypass->pairs; i++) {
            const unsigned bank = (unsigned)(bypass->pair[i].row & (banks - 1));

            if (bypass->pair[i].wavefront == w && ++queue[bank] > longest)
                longest = queue[bank];
        }
        sum += longest;
    }
    return sum;
}

/* Whether lane a is asked for before lane b: the earlier pair by tag wavefront, then by highest lane, highest first; in a
 * pair the lower lane. */
static int goes_first(const struct bypass *bypass, unsigned a, unsigned b)
{
    const struct pair *pair_a = &bypass->pair[bypass->pair_of[a]];
    const struct pair *pair_b = &bypass->pair[bypass->pair_of[b]];

    if (pair_a->wavefront != pair_b->wavefront)
        return pair_a->wavefront < pair_b->wavefront;
    if (pair_a->last != pair_b->last)
        return pair_a->last > pair_b->last;
    return a < b;
}

/* Of the lanes that write one 16 B chunk of shared memory, only the first is asked for. */
static uint32_t winners(const struct wm_access *access, const struct bypass *bypass)
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
                           struct bypass *bypass)
{
    const unsigned shift = wmi_log2(profile->sector_bytes);
    const unsigned in_line = profile->line_bytes / profile->sector_bytes - 1;
    unsigned sectors = 0;

    for (; won; won &= won - 1) {
        const unsigned lane = wmi_log2(won);
        const uint32_t shared = access->shared_address[lane];
        const struct item item = {bypass->pair_of[lane], shared >> shift & in_line,
                                  (unsigned)(access->address[lane] >> shift) & in_line,
                                  (unsigned)(access->address[lane] ^ shared) >> (shift - 1) & 1,
                                  1U << (shared >> (shift - 1) & 1)};
        unsigned same_sector = 0;
        unsigned i = 0;

        for (; i < bypass->items; i++) {
            const struct item *old = &bypass->item[i];

            if (old->pair != item.pair || old->to != item.to)
                continue;
            same_sector = 1;
            if (old->from == item.from && old->swap == item.swap)
                break;
        }
        if (i == bypass->items)
            bypass->item[bypass->items++] = item;
        else
            bypass->item[i].halves |= item.halves;
        sectors += !same_sector;
    }
    return sectors;
}

/* Items of one class share a packet. Lower classes go first: whole sectors, odd source halves, even ones. */
static unsigned class_of(const struct item *item)
{
    const unsigned source_half = item->halves == 3 ? 3 : (item->halves - 1) ^ item->swap;

    return (3 - source_half) << 4 | item->halves << 2 | item->swap << 1 | ((item->to ^ item->from) & 1);
}

/* The item of a pair that goes to a shared sector next: of two, the one of the lower half. */
static struct item *next_item(struct bypass *bypass, unsigned pair, unsigned to)
{
    struct item *next = NULL;

    for (unsigned i = 0; i < bypass->items; i++) {
        struct item *item = &bypass->item[i];

        if (item->halves && item->pair == pair && item->to == to && (!next || item->halves < next->halves))
            next = item;
    }
    return next;
}

/* Takes one packet out of a pair's items; returns the source sectors in it, 0 where none are left. */
static uint32_t take_packet(const struct wm_profile *profile, struct bypass *bypass, unsigned pair)
{
    const unsigned sectors = profile->line_bytes / profile->sector_bytes;
    unsigned lowest = UINT32_MAX;
    uint32_t packet = 0;

    for (unsigned to = 0; to < sectors; to++) {
        const struct item *item = next_item(bypass, pair, to);

        if (item && class_of(item) < lowest)
            lowest = class_of(item);
    }
    for (unsigned to = 0; to < sectors; to++) {
        struct item *item = next_item(bypass, pair, to);

        if (item && class_of(item) == lowest && !(packet >> item->from & 1)) {
            packet |= UINT32_C(1) << item->from;
            item->halves = 0;
        }
    }
    return packet;
}

/* Packets of a source line on their way to L2. Equal ones are merged by four. Where packets differ but share sectors, L2
 * merges what comes together in time: the count is then an upper bound. */
struct line_packets {
    uint64_t line;
    uint32_t first;      /* sectors of the first packet */
    uint32_t seen;       /* sectors of all */
    unsigned packets;
    unsigned sectors;    /* of all packets, repeats included */
    int equal;           /* all are the same */
    int repeats;         /* some sector is in two of them */
};

static void add_packet(struct line_packets *line, uint32_t packet)
{
    line->equal = line->packets == 0 || (line->equal && packet == line->first);
    if (line->packets == 0)
        line->first = packet;
    line->repeats |= (line->seen & packet) != 0;
    line->seen |= packet;
    line->packets++;
    line->sectors += wmi_popcount(packet);
}

static void ask_l2(const struct wm_profile *profile, struct bypass *bypass, struct wm_counts *out)
{
    struct line_packets lines[WM_LANES];
    unsigned count = 0;

    for (unsigned pair = 0; pair < bypass->pairs; pair++) {
        unsigned packets = 0;
        unsigned i = 0;
        uint32_t packet;

        while (i < count && lines[i].line != bypass->pair[pair].line)
            i++;
        if (i == count)
            lines[count++] = (struct line_packets){.line = bypass->pair[pair].line};
        for (; (packet = take_packet(profile, bypass, pair)) != 0; packets++)
            add_packet(&lines[i], packet);
        /* Which items share a packet is a fitted order: 11 of 1,323 such copies need one packet more or less. */
        if (packets > 1)
            out->inexact |= 1U << WM_L2_REQUESTS;
    }
    for (unsigned i = 0; i < count; i++) {
        if (lines[i].equal && lines[i].packets) {
            const unsigned requests = (lines[i].packets + 3) / 4;

            out->l2_requests += requests;
            out->l2_sectors += requests * wmi_popcount(lines[i].first);
            continue;
        }
        out->l2_requests += lines[i].packets;
        out->l2_sectors += lines[i].sectors;
        if (lines[i].repeats)
            out->inexact |= 1U << WM_L2_REQUESTS | 1U << WM_L2_SECTORS;
    }
}

static void past_l1(const struct wm_profile *profile, const struct wm_access *access,
                    const uint8_t wavefront[WM_LANES], unsigned wavefronts, struct wm_counts *out)
{
    struct bypass bypass = {.pairs = 0};

    find_pairs(profile, access, wavefront, &bypass);
    out->lines = bypass.pairs;
    out->tag_wavefronts = pair_wavefronts(profile, &bypass, wavefronts);
    out->sectors = find_items(profile, access, winners(access, &bypass), &bypass);
    ask_l2(profile, &bypass, out);
}

void wmi_copy(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    uint8_t wavefront[WM_LANES] = {0};
    struct wmi_lines lines;
    unsigned wavefronts;

    if (access->zero_fill) { /* no request; what filling shared memory costs was not measured */
        out->inexact |= 1U << WM_SHARED_WAVEFRONTS | 1U << WM_BANK_CONFLICTS | 1U << WM_WAYS;
        return;
    }
    wmi_lines_of(profile, access->address, access->mask, width, profile->phase_lanes[wmi_log2(width)], &lines);
    wavefronts = source_wavefronts(profile, access, &lines, wavefront);
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
