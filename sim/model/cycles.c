/*
 * Predicted cycles: how long the unit that is busy longest is busy.
 *
 * Each unit of the memory pipe of an SM takes one item at a time: the data stage a pass, the tag stage a pass, the way to
 * the registers 4 bytes of all lanes, the way to L2 a request or a sector. They work on different instructions at the same
 * time, so that a run of equal accesses goes at the rate of the busiest (docs/hardware.md, "Time"). The rates are keys of
 * the profile.
 */
#include "model/model.h"

#define HUNDREDTHS 0.01

/* The busiest unit so far. */
struct busiest {
    double cycles;
    enum wm_bound bound;
};

static void consider(struct busiest *busiest, enum wm_bound bound, double items, uint32_t rate)
{
    const double cycles = items * rate * HUNDREDTHS;

    if (cycles > busiest->cycles) {
        busiest->cycles = cycles;
        busiest->bound = bound;
    }
}

const char *wm_bound_text(enum wm_bound bound)
{
    static const char *const texts[] = {
        [WM_BOUND_NONE] = "nothing",     [WM_BOUND_ISSUE] = "issue",
        [WM_BOUND_SHARED] = "shared data", [WM_BOUND_DATA] = "L1 data",
        [WM_BOUND_TAG] = "tags",         [WM_BOUND_WRITE_BACK] = "write-back",
        [WM_BOUND_L2] = "L2",            [WM_BOUND_ATOMIC] = "L2 atomics",
    };

    return (unsigned)bound < sizeof texts / sizeof *texts ? texts[bound] : NULL;
}

/* Whether an operation has a result in registers, and whether it brings values. */
static int has_result(unsigned operation)
{
    return operation == WM_LD || operation == WM_LDMATRIX || operation == WM_ATOM;
}

static int has_value(unsigned operation)
{
    return operation == WM_ST || operation == WM_STMATRIX || operation == WM_ATOM || operation == WM_RED;
}

/* 4-byte registers of a lane's result or value. A lane of a matrix instruction has one of each matrix. */
static unsigned registers(const struct wm_opcode *opcode)
{
    if (opcode->matrices)
        return opcode->matrices;
    return opcode->width_bytes > 4 ? opcode->width_bytes / 4 : 1;
}

static void consider_issue(const struct wm_profile *profile, const struct wm_opcode *opcode, double instructions,
                           struct busiest *busiest)
{
    const unsigned words = has_value(opcode->operation) ? registers(opcode) : 0;
    uint32_t cycles;

    if (opcode->operation == WM_CP_ASYNC)
        cycles = profile->time_issue_copy;
    else if (opcode->space == WM_SHARED)
        cycles = words > 1 ? words * profile->time_issue_word : profile->time_issue_shared;
    else if (words)
        cycles = profile->time_issue_store + words * profile->time_issue_word;
    else
        cycles = profile->time_issue_load;
    consider(busiest, WM_BOUND_ISSUE, instructions, cycles);
}

/* What goes to L2, and comes from there. */
static void consider_l2(const struct wm_profile *profile, const struct wm_opcode *opcode, double requests, double sectors,
                        struct busiest *busiest)
{
    const double sending = requests * profile->time_l2_request +
                           (has_value(opcode->operation) ? sectors * profile->time_l2_write : 0);

    consider(busiest, WM_BOUND_L2, sending, 1);
    if (!has_value(opcode->operation) || opcode->operation == WM_ATOM)
        consider(busiest, WM_BOUND_L2, sectors, profile->time_l2_read);
}

static double latency_of(const struct wm_profile *profile, const struct wm_access *access, const struct wm_counts *counts)
{
    const struct wm_opcode *opcode = &access->opcode;

    if (!has_result(opcode->operation) && opcode->operation != WM_CP_ASYNC)
        return 0;
    if (opcode->space == WM_SHARED)
        return profile->latency_shared * HUNDREDTHS + (counts->shared_wavefronts ? counts->shared_wavefronts - 1 : 0);
    if (opcode->operation == WM_ATOM)
        return profile->latency_atomic * HUNDREDTHS;
    return (wmi_hits_l1(access) ? profile->latency_l1 : profile->latency_l2) * HUNDREDTHS;
}

enum wm_status wm_cycles(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                         struct wm_cycles *out)
{
    const struct wm_profile *profile;
    const struct wm_opcode *opcode;
    struct busiest busiest = {0, WM_BOUND_NONE};

    if (!arch || !access || !counts || !out || wm_opcode_check(&access->opcode) != WM_OK)
        return WM_E_ARGUMENT;
    profile = wm_arch_profile(arch);
    opcode = &access->opcode;
    if (opcode->space != WM_CONST) {
        consider_issue(profile, opcode, 1, &busiest);
        consider(&busiest, WM_BOUND_SHARED, counts->shared_wavefronts, profile->time_pass);
        consider(&busiest, WM_BOUND_DATA, counts->lsu_wavefronts, profile->time_pass);
        consider(&busiest, WM_BOUND_TAG, counts->tag_wavefronts, profile->time_pass);
        if (has_result(opcode->operation))
            consider(&busiest, WM_BOUND_WRITE_BACK, registers(opcode), profile->time_write_back);
        if (opcode->space != WM_SHARED && !wmi_hits_l1(access))
            consider_l2(profile, opcode, counts->l2_requests, counts->l2_sectors, &busiest);
    }
    out->throughput = busiest.cycles;
    out->bound = busiest.bound;
    out->latency = opcode->space == WM_CONST ? 0 : latency_of(profile, access, counts);
    out->exactness = WM_BY_ASSUMPTION;
    return WM_OK;
}

/* The counts of a row that its time depends on. */
struct sums {
    double shared, data, tags, l2_requests, l2_sectors;
};

static struct busiest row_cycles(const struct wm_profile *profile, const struct wm_tally_row *row, const struct sums *sums)
{
    const double instructions = (double)row->instructions;
    struct busiest busiest = {0, WM_BOUND_NONE};

    consider(&busiest, WM_BOUND_SHARED, sums->shared, profile->time_pass);
    consider(&busiest, WM_BOUND_DATA, sums->data, profile->time_pass);
    consider(&busiest, WM_BOUND_TAG, sums->tags, profile->time_pass);
    if (!row->has_opcode || row->opcode.space == WM_CONST)
        return busiest;
    consider_issue(profile, &row->opcode, instructions, &busiest);
    if (has_result(row->opcode.operation))
        consider(&busiest, WM_BOUND_WRITE_BACK, instructions * registers(&row->opcode), profile->time_write_back);
    if (row->opcode.space != WM_SHARED && !wmi_hits_l1(&row->worst))
        consider_l2(profile, &row->opcode, sums->l2_requests, sums->l2_sectors, &busiest);
    return busiest;
}

/* Lines of a row's ideal: no fewer than its requests, as no instruction shares a line with another, and no more than there are. */
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
    sums = (struct sums){(double)row->sums[WM_SHARED_WAVEFRONTS], (double)row->sums[WM_LSU_WAVEFRONTS],
                         (double)row->sums[WM_TAG_WAVEFRONTS], (double)row->sums[WM_L2_REQUESTS],
                         (double)row->sums[WM_L2_SECTORS]};
    /* the same bytes in full lines, one after the other: no bank, of tags or data, is wanted twice */
    lines = (double)row->sums[WM_SECTORS_IDEAL] * profile->sector_bytes / profile->line_bytes;
    requests = (double)row->sums[WM_REQUESTS];
    best.shared = (double)row->sums[WM_SHARED_WAVEFRONTS_IDEAL];
    best.l2_sectors = (double)row->sums[WM_SECTORS_IDEAL];
    best.l2_requests = ideal_lines(lines, requests, sums.l2_requests);
    best.data = ideal_lines(lines, requests, sums.data);
    best.tags = ideal_lines(lines / (1U << profile->tag_bank_bits), requests, sums.tags);
    real = row_cycles(profile, row, &sums);
    ideal = row_cycles(profile, row, &best);
    out->cycles = real.cycles;
    out->bound = real.bound;
    out->ideal = ideal.cycles < real.cycles ? ideal.cycles : real.cycles;
    out->ideal_bound = ideal.bound;
    return WM_OK;
}
