/*
 * Predicted cycles: how long the unit that is busy longest is busy with an access.
 *
 * Each unit of an SM's memory pipe takes one item at a time: the data stage a pass, the tag stage a pass, the way to
 * the registers 4 bytes of all lanes, the way to L2 a request or a sector. They work on different instructions at the
 * same time, so that a run of equal accesses goes at the rate of the busiest. The rates are keys of the profile.
 * Measured on an H200 (traces/hardware/sm_90/cycles and cycles-miss; docs/hardware.md, "Time").
 */
#include "arch/arch.h"
#include "model/model.h"

#include <string.h>

#define HUNDREDTHS 0.01

/* The busiest unit so far. */
struct busiest {
    double cycles;
    enum wm_bound bound;
    double units[WM_BOUNDS]; /* what each is busy with */
};

static void consider(struct busiest *busiest, enum wm_bound bound, double items, uint32_t rate)
{
    const double cycles = items * rate * HUNDREDTHS;

    if (cycles > busiest->units[bound])
        busiest->units[bound] = cycles;
    if (cycles > busiest->cycles) {
        busiest->cycles = cycles;
        busiest->bound = bound;
    }
}

const char *wm_bound_text(enum wm_bound bound)
{
    static const char *const texts[] = {
        [WM_BOUND_NONE] = "nothing", [WM_BOUND_ISSUE] = "issue",       [WM_BOUND_SHARED] = "shared data",
        [WM_BOUND_DATA] = "L1 data", [WM_BOUND_TAG] = "tags",          [WM_BOUND_WRITE_BACK] = "write-back",
        [WM_BOUND_L2] = "L2",        [WM_BOUND_ATOMIC] = "L2 atomics", [WM_BOUND_CLUSTER] = "SM to SM",
    };

    return (unsigned)bound < sizeof texts / sizeof *texts ? texts[bound] : NULL;
}

/* ----------------------------------------------------------------------------------------------------- instructions */

static int has_result(const struct wm_opcode *opcode)
{
    return opcode->operation == WM_LD || opcode->operation == WM_LDMATRIX || opcode->operation == WM_ATOM;
}

/* Registers of 4 bytes that a lane has for its result or its value. A lane of a matrix instruction has one of each
 * matrix. */
static unsigned registers(const struct wm_opcode *opcode)
{
    if (opcode->matrices)
        return opcode->matrices;
    return opcode->width_bytes > 4 ? opcode->width_bytes / 4U : 1;
}

/* Those of the values that it brings: a compare-and-swap has two. */
static unsigned value_registers(const struct wm_opcode *opcode)
{
    switch (opcode->operation) {
    case WM_LD:
    case WM_LDMATRIX:
    case WM_CP_ASYNC: return 0;
    default: return registers(opcode) * (opcode->atomic == WM_ATOMIC_CAS ? 2 : 1);
    }
}

/* Whether repeated loads find their lines in L1. Those of .lu give them up. */
static int finds_lines(const struct wm_access *access)
{
    return access->opcode.space == WM_LOCAL || (wmi_hits_l1(access) && access->opcode.cache != WM_CACHE_LU);
}

static void consider_issue(const struct wm_profile *profile, const struct wm_opcode *opcode, double instructions,
                           struct busiest *busiest)
{
    const unsigned values = value_registers(opcode);
    uint32_t cycles = values * profile->time_issue_word;

    if (opcode->operation == WM_CP_ASYNC)
        cycles = profile->time_issue_copy;
    else if (opcode->space != WM_SHARED && values)
        cycles += profile->time_issue_address;
    else if (opcode->space != WM_SHARED)
        cycles = opcode->space == WM_LOCAL ? profile->time_issue_local : profile->time_issue_load;
    else if (cycles < profile->time_issue_shared_load)
        cycles = has_result(opcode) ? profile->time_issue_shared_load : profile->time_issue_shared_store;
    consider(busiest, WM_BOUND_ISSUE, instructions, cycles);
}

static void consider_write_back(const struct wm_profile *profile, const struct wm_opcode *opcode, int merges,
                                double instructions, struct busiest *busiest)
{
    if (!has_result(opcode))
        return;
    if (merges)
        consider(busiest, WM_BOUND_WRITE_BACK, instructions,
                 opcode->width_bytes <= 8 ? profile->time_write_back_merged_8 : profile->time_write_back_merged_16);
    else
        consider(busiest, WM_BOUND_WRITE_BACK, instructions * registers(opcode), profile->time_write_back);
}

static void consider_passes(const struct wm_profile *profile, double shared, double data, double tags,
                            struct busiest *busiest)
{
    consider(busiest, WM_BOUND_SHARED, shared, profile->time_pass);
    consider(busiest, WM_BOUND_DATA, data, profile->time_pass);
    consider(busiest, WM_BOUND_TAG, tags, profile->time_pass);
}

/* ----------------------------------------------------------------------------------------------------- what L2 gets */

/* Lanes times pieces of 4 bytes of 32: of local memory each is a line of its own at most. */
#define WRITTEN_LINES (WM_LANES * 8U)
/* Of a line of at most 512 bytes. */
#define LINE_WORDS 8U

/* A line that a store writes, and a bit for each of its bytes. */
struct written {
    uint64_t line;
    uint64_t bytes[LINE_WORDS];
};

static unsigned add_bytes(const struct wm_profile *profile, uint64_t address, unsigned count, struct written *written,
                          unsigned lines)
{
    const uint64_t line = address / profile->line_bytes;
    const unsigned first = (unsigned)(address % profile->line_bytes);
    unsigned i = 0;

    while (i < lines && written[i].line != line)
        i++;
    if (i == lines) {
        memset(&written[lines++], 0, sizeof *written);
        written[i].line = line;
    }
    for (unsigned byte = first; byte < first + count; byte++)
        written[i].bytes[byte / 64] |= UINT64_C(1) << byte % 64;
    return lines;
}

/* The lines that a store writes, with their bytes. Returns their number. */
static unsigned written_lines(const struct wm_profile *profile, const struct wm_access *access, struct written *written)
{
    const unsigned width = access->opcode.width_bytes;
    const unsigned piece = access->opcode.space == WM_LOCAL && width > profile->local_interleave_bytes
                               ? profile->local_interleave_bytes
                               : width;
    unsigned lines = 0;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);

        for (unsigned offset = 0; offset < width; offset += piece) {
            uint64_t address = access->address[lane] + offset;

            if (access->opcode.space == WM_LOCAL)
                address =
                    (address / profile->local_interleave_bytes * WM_LANES + lane) * profile->local_interleave_bytes +
                    address % profile->local_interleave_bytes;
            lines = add_bytes(profile, address, piece, written, lines);
        }
    }
    return lines;
}

/* Sends of a store to L2, in hundredths: each sector, and the bytes' mask of each line with a sector that is not
 * whole. */
static double store_sends(const struct wm_profile *profile, const struct wm_access *access)
{
    struct written written[WRITTEN_LINES];
    const unsigned lines = written_lines(profile, access, written);
    unsigned sectors = 0, masks = 0;

    for (unsigned i = 0; i < lines; i++) {
        int is_whole = 1;

        for (unsigned first = 0; first < profile->line_bytes; first += profile->sector_bytes) {
            unsigned bytes = 0;

            for (unsigned byte = first; byte < first + profile->sector_bytes; byte += 32)
                bytes += wmi_popcount((uint32_t)(written[i].bytes[byte / 64] >> byte % 64));
            sectors += bytes > 0;
            is_whole &= !bytes || bytes == profile->sector_bytes;
        }
        masks += !is_whole;
    }
    return (double)sectors * profile->time_l2_write + (double)masks * profile->time_l2_request;
}

/* Sends of an atomic, in hundredths. A pass whose lines have one lane each goes in smaller packets. */
static double atomic_sends(const struct wm_profile *profile, const struct wm_access *access)
{
    const unsigned width = access->opcode.width_bytes;
    const unsigned values = access->opcode.atomic == WM_ATOMIC_CAS ? 2 : 1;
    uint32_t pending = access->mask;
    double sends = 0;

    while (pending) {
        const uint32_t going = wmi_atomic_pass(profile, access, pending);
        struct wmi_lines lines;

        wmi_lines_of(profile, access->address, going, width, profile->phase_lanes[wmi_log2(width)], &lines);
        sends += (double)lines.count * profile->time_l2_request;
        if (lines.count != wmi_popcount(going))
            sends += (double)wmi_sectors(&lines) * values * profile->time_l2_write;
        pending &= ~going;
    }
    return sends;
}

static unsigned distinct_lines(const struct wm_profile *profile, const struct wm_access *access)
{
    const unsigned width = access->opcode.width_bytes;
    struct wmi_lines lines;

    wmi_lines_of(profile, access->address, access->mask, width, profile->phase_lanes[wmi_log2(width)], &lines);
    return lines.count;
}

static void consider_store(const struct wm_profile *profile, const struct wm_access *access,
                           const struct wm_counts *counts, struct busiest *busiest)
{
    /* stores to lines that are still on their way are merged, unless there is no room for more */
    if (access->opcode.space != WM_LOCAL && access->l1 == WM_L1_HIT &&
        counts->tag_wavefronts < profile->store_merge[wmi_log2(access->opcode.width_bytes)])
        return;
    consider(busiest, WM_BOUND_L2, store_sends(profile, access), 1);
}

static void consider_atomic(const struct wm_profile *profile, const struct wm_access *access, struct busiest *busiest)
{
    const double sends = atomic_sends(profile, access);

    consider(busiest, WM_BOUND_L2, sends, 1);
    /* repetitions on one or two lines meet in one or two slices of L2 */
    if (access->l1 == WM_L1_HIT && distinct_lines(profile, access) <= 2)
        consider(busiest, WM_BOUND_ATOMIC, sends * HUNDREDTHS, profile->time_l2_atomic);
}

static void consider_copy(const struct wm_profile *profile, const struct wm_access *access,
                          const struct wm_counts *counts, struct busiest *busiest)
{
    if (access->opcode.cache == WM_CACHE_CG) {
        consider(busiest, WM_BOUND_L2, counts->tag_wavefronts, profile->time_bypass);
        return;
    }
    /* it has one tag wavefront beside those of its lines, which is not counted among an access's */
    consider(busiest, WM_BOUND_TAG, counts->tag_wavefronts + 1.0, profile->time_pass);
    consider(busiest, WM_BOUND_SHARED, (double)counts->shared_wavefronts * profile->time_pass + profile->time_copy_pass,
             1);
    if (finds_lines(access))
        return;
    consider(busiest, WM_BOUND_L2, 1, profile->time_copy_miss);
    consider(busiest, WM_BOUND_L2, counts->lines, profile->time_copy_line);
}

/* What is beyond the stages of L1. */
static void consider_l2(const struct wm_profile *profile, const struct wm_access *access,
                        const struct wm_counts *counts, struct busiest *busiest)
{
    switch (access->opcode.operation) {
    case WM_CP_ASYNC: consider_copy(profile, access, counts, busiest); break;
    case WM_ST: consider_store(profile, access, counts, busiest); break;
    case WM_LD:
        if (finds_lines(access))
            break;
        consider(busiest, WM_BOUND_L2, 1, profile->time_miss);
        consider(busiest, WM_BOUND_L2, counts->l2_requests, profile->time_l2_request);
        break;
    default: consider_atomic(profile, access, busiest); break;
    }
}

/* What goes to another block's shared memory and comes from there. A store that leaves gaps in its sectors takes
 * longer. */
static void consider_cluster(const struct wm_profile *profile, const struct wm_opcode *opcode, double instructions,
                             double sectors, struct busiest *busiest)
{
    const int is_atomic = opcode->operation == WM_ATOM || opcode->operation == WM_RED;

    consider(busiest, WM_BOUND_CLUSTER, sectors, is_atomic ? profile->time_cluster_atomic : profile->time_cluster);
    if (opcode->operation == WM_LD)
        consider(busiest, WM_BOUND_CLUSTER, instructions, profile->time_cluster_load);
}

/* ---------------------------------------------------------------------------------------------------------- latency */

/* Two cycles a sector, beside the way there and back. */
static double cluster_latency(const struct wm_profile *profile, const struct wm_opcode *opcode,
                              const struct wm_counts *counts)
{
    return (opcode->operation == WM_ATOM ? profile->latency_cluster_atomic : profile->latency_cluster) +
           (double)counts->sectors * profile->latency_tag_pass * 2;
}

static double wide_result(const struct wm_profile *profile, const struct wm_opcode *opcode)
{
    return registers(opcode) == 1 ? 0 : registers(opcode) == 2 ? profile->latency_pair : profile->latency_quad;
}

static double shared_latency(const struct wm_profile *profile, const struct wm_opcode *opcode,
                             const struct wm_counts *counts)
{
    const double passes = (double)counts->shared_wavefronts * profile->latency_data_pass;

    if (opcode->operation == WM_ATOM)
        return profile->latency_shared_atomic + (value_registers(opcode) - 1.0) * profile->latency_operand + passes;
    return profile->latency_shared + wide_result(profile, opcode) + passes;
}

static double copy_latency(const struct wm_profile *profile, const struct wm_access *access,
                           const struct wm_counts *counts)
{
    const double lines = counts->lines - 1.0;

    if (access->opcode.cache == WM_CACHE_CG)
        return profile->latency_bypass + lines * profile->latency_l2_line;
    if (finds_lines(access))
        return profile->latency_copy + (double)counts->shared_wavefronts * profile->latency_data_pass;
    return profile->latency_l2 + lines * profile->latency_l2_line +
           (double)counts->shared_wavefronts * profile->latency_copy_pass;
}

/* In hundredths; 0: it has no result. */
static double latency_of(const struct wm_profile *profile, const struct wm_access *access,
                         const struct wm_counts *counts)
{
    const struct wm_opcode *opcode = &access->opcode;
    const double tags = (double)counts->tag_wavefronts * profile->latency_tag_pass;
    const double data = (double)counts->lsu_wavefronts * profile->latency_data_pass;

    if (opcode->operation == WM_CP_ASYNC)
        return copy_latency(profile, access, counts);
    if (!has_result(opcode))
        return 0;
    if (opcode->space == WM_SHARED)
        return shared_latency(profile, opcode, counts);
    if (opcode->space == WM_SHARED_CLUSTER)
        return cluster_latency(profile, opcode, counts);
    if (opcode->operation == WM_ATOM)
        return profile->latency_atomic + (distinct_lines(profile, access) - 1.0) * profile->latency_atomic_line +
               data / 2;
    if (opcode->space == WM_LOCAL)
        return profile->latency_local + tags;
    if (finds_lines(access))
        return profile->latency_l1 + wide_result(profile, opcode) + tags + data;
    return profile->latency_l2 + (counts->lines - 1.0) * profile->latency_l2_line;
}

/* ------------------------------------------------------------------------------------------------------- one access */

/* Kinds of which more than one recorded access in twenty is more than 15 % off: what their time depends on besides
 * is not in the model. That is which slices of L2 are asked, where repetitions are on the same lines; how L2 keeps
 * lines that are to be given up early; what an atomic's results wait for. Or little was measured: memory of other
 * SMs. */
static int is_far_off(const struct wm_access *access)
{
    const struct wm_opcode *opcode = &access->opcode;

    if (opcode->space == WM_SHARED)
        return 0;
    if (opcode->space == WM_SHARED_CLUSTER)
        return 1;
    switch (opcode->operation) {
    case WM_LD:
        return !finds_lines(access) &&
               (access->l1 == WM_L1_HIT || opcode->cache == WM_CACHE_CS || opcode->cache == WM_CACHE_LU);
    case WM_ST: return opcode->space == WM_LOCAL;
    case WM_CP_ASYNC: return 1;
    default: return opcode->operation == WM_ATOM || access->l1 == WM_L1_HIT;
    }
}

static int is_timed(const struct wm_opcode *opcode)
{
    return opcode->space != WM_CONST;
}

enum wm_status wm_cycles(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                         struct wm_cycles *out)
{
    struct busiest busiest = {0, WM_BOUND_NONE, {0}};
    const struct wm_profile *profile;
    const struct wm_opcode *opcode;

    if (!arch || !access || !counts || !out || wm_opcode_check(&access->opcode) != WM_OK)
        return WM_E_ARGUMENT;
    profile = wm_arch_profile(arch);
    opcode = &access->opcode;
    *out = (struct wm_cycles){0, 0, WM_BOUND_NONE, arch->time_exactness};
    if (!is_timed(opcode))
        return WM_OK;
    consider_passes(profile, counts->shared_wavefronts, counts->lsu_wavefronts, counts->tag_wavefronts, &busiest);
    if (access->mask) {
        consider_issue(profile, opcode, 1, &busiest);
        consider_write_back(profile, opcode, opcode->space == WM_SHARED && wmi_shared_merge(profile, access), 1,
                            &busiest);
        if (opcode->space == WM_SHARED_CLUSTER)
            consider_cluster(profile, opcode, 1, counts->sectors, &busiest);
        else if (opcode->space != WM_SHARED)
            consider_l2(profile, access, counts, &busiest);
        out->latency = latency_of(profile, access, counts) * HUNDREDTHS;
    }
    out->throughput = busiest.cycles;
    out->bound = busiest.bound;
    if (is_far_off(access))
        out->exactness = WM_APPROXIMATE;
    return WM_OK;
}

/* ------------------------------------------------------------------------------------------------------------- rows */

/* The counts of a row that its time depends on. */
struct sums {
    double shared, data, tags, lines, l2_requests, l2_sectors, sectors;
};

static void consider_row_copy(const struct wm_profile *profile, const struct wm_tally_row *row, double instructions,
                              const struct sums *sums, struct busiest *busiest)
{
    if (row->opcode.cache == WM_CACHE_CG) {
        consider(busiest, WM_BOUND_L2, sums->tags, profile->time_bypass);
        return;
    }
    consider(busiest, WM_BOUND_SHARED, sums->shared * profile->time_pass + instructions * profile->time_copy_pass, 1);
    if (finds_lines(&row->worst))
        return;
    consider(busiest, WM_BOUND_L2, instructions, profile->time_copy_miss);
    consider(busiest, WM_BOUND_L2, sums->lines, profile->time_copy_line);
}

/* What is beyond the stages of L1, as consider_l2() has it of one access, as far as the sums tell. */
static void consider_row_l2(const struct wm_profile *profile, const struct wm_tally_row *row, double instructions,
                            const struct sums *sums, struct busiest *busiest)
{
    const unsigned operation = row->opcode.operation;

    if (operation == WM_CP_ASYNC) {
        consider_row_copy(profile, row, instructions, sums, busiest);
    } else if (finds_lines(&row->worst)) {
        return;
    } else if (operation == WM_ST) {
        consider(busiest, WM_BOUND_L2, sums->l2_sectors, profile->time_l2_write);
    } else {
        consider(busiest, WM_BOUND_L2, sums->l2_requests, profile->time_l2_request);
        if (operation == WM_LD)
            consider(busiest, WM_BOUND_L2, instructions, profile->time_miss);
    }
}

static struct busiest row_cycles(const struct wm_profile *profile, const struct wm_tally_row *row,
                                 const struct sums *sums)
{
    const double instructions = (double)(row->instructions - row->inactive);
    const struct wm_opcode *opcode = &row->opcode;
    struct busiest busiest = {0, WM_BOUND_NONE, {0}};

    consider_passes(profile, sums->shared, sums->data, sums->tags, &busiest);
    if (!row->has_opcode || !is_timed(opcode))
        return busiest;
    consider_issue(profile, opcode, instructions, &busiest);
    /* which loads merge is not in the sums: at least, all */
    consider_write_back(profile, opcode,
                        opcode->space == WM_SHARED && profile->load_merge && opcode->operation == WM_LD &&
                            profile->phase_lanes[wmi_log2(opcode->width_bytes)] < WM_LANES,
                        instructions, &busiest);
    if (opcode->space == WM_SHARED_CLUSTER)
        consider_cluster(profile, opcode, instructions, sums->sectors, &busiest);
    else if (opcode->space != WM_SHARED)
        consider_row_l2(profile, row, instructions, sums, &busiest);
    return busiest;
}

/* Lines of a row's ideal: no fewer than its requests, as no instruction shares a line with another, and no more
 * than there are. */
static double ideal_lines(double lines, double requests, double real)
{
    if (lines < requests)
        lines = requests;
    return lines < real ? lines : real;
}

enum wm_status wm_cycles_row(const wm_arch *arch, const struct wm_tally_row *row, struct wm_row_cycles *out)
{
    const struct wm_profile *profile;
    struct busiest real, ideal;
    struct sums sums, best;
    double lines, requests;

    if (!arch || !row || !out)
        return WM_E_ARGUMENT;
    profile = wm_arch_profile(arch);
    sums = (struct sums){(double)row->sums[WM_SHARED_WAVEFRONTS],
                         (double)row->sums[WM_LSU_WAVEFRONTS],
                         (double)row->sums[WM_TAG_WAVEFRONTS],
                         (double)row->sums[WM_LINES],
                         (double)row->sums[WM_L2_REQUESTS],
                         (double)row->sums[WM_L2_SECTORS],
                         (double)row->sums[WM_SECTORS]};
    /* the same bytes in full lines, one after the other: no bank, of tags or data, is wanted twice */
    lines = (double)row->sums[WM_SECTORS_IDEAL] * profile->sector_bytes / profile->line_bytes;
    requests = (double)row->sums[WM_REQUESTS];
    best.shared = (double)row->sums[WM_SHARED_WAVEFRONTS_IDEAL];
    best.l2_sectors = (double)row->sums[WM_SECTORS_IDEAL];
    best.sectors = best.l2_sectors;
    best.lines = ideal_lines(lines, requests, sums.lines);
    best.l2_requests = ideal_lines(lines, requests, sums.l2_requests);
    best.data = ideal_lines(lines, requests, sums.data);
    best.tags = ideal_lines(lines / (1U << profile->tag_bank_bits), requests, sums.tags);
    real = row_cycles(profile, row, &sums);
    ideal = row_cycles(profile, row, &best);
    out->cycles = real.cycles;
    out->bound = real.bound;
    out->ideal = ideal.cycles < real.cycles ? ideal.cycles : real.cycles;
    out->ideal_bound = ideal.bound;
    memcpy(out->units, real.units, sizeof out->units);
    memcpy(out->ideal_units, ideal.units, sizeof out->ideal_units);
    return WM_OK;
}
