/*
 * Shared memory: banks, phases, merging of lane pairs.
 *
 * The rules were read from hardware counters of an H200 (traces/hardware/sm_90/h200-random): a load or store is served in
 * phases of phase_lanes lanes; a phase takes as many passes as the most distinct words in one bank; lanes of a wide load
 * that share addresses in pairs let phases double in size; atomics count lanes, not words; a matrix instruction has one
 * phase per 8x8 matrix, its eight rows. PTX leaves undefined what a matrix instruction does that not all lanes execute; an H200
 * then counted 2 wavefronts, whatever the rows. The counts here are those of the rows that there are.
 */
#include "model/model.h"

/* Whether every active lane's partner (lane XOR distance) is inactive or at the same address. */
static int pairs_share(const uint64_t address[WM_LANES], uint32_t mask, unsigned distance)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = wmi_log2(rest);
        const unsigned partner = lane ^ distance;

        if ((mask >> partner & 1) && address[lane] != address[partner])
            return 0;
    }
    return 1;
}

unsigned wmi_shared_merge(const struct wm_profile *profile, const struct wm_access *access)
{
    if (access->opcode.operation != WM_LD || profile->phase_lanes[wmi_log2(access->opcode.width_bytes)] >= WM_LANES)
        return 0;
    for (unsigned distance = 1; distance <= 2; distance++) {
        if ((profile->load_merge & distance) && pairs_share(access->address, access->mask, distance))
            return distance;
    }
    return 0;
}

unsigned wmi_shared_phase_lanes(const struct wm_profile *profile, const struct wm_access *access)
{
    const unsigned lanes = profile->phase_lanes[wmi_log2(access->opcode.width_bytes)];

    switch (access->opcode.operation) {
    case WM_LDMATRIX:
        return profile->ldmatrix_phase_lanes;
    case WM_STMATRIX:
        return profile->stmatrix_phase_lanes;
    default:
        return wmi_shared_merge(profile, access) ? lanes * 2 : lanes;
    }
}

int wmi_shared_words_merge(const struct wm_profile *profile, const struct wm_access *access)
{
    return (access->opcode.operation != WM_ATOM && access->opcode.operation != WM_RED) || profile->atomic_merge;
}

/* Loads, stores and matrix rows: a bank's passes are its distinct words. */
static void words(const struct wm_profile *profile, const struct wm_access *access, uint32_t mask, unsigned phase_lanes,
                  struct wm_counts *out)
{
    struct wmi_lines lines;

    wmi_lines_of(profile, access->address, mask, access->opcode.width_bytes, phase_lanes, &lines);
    for (unsigned phase = 0; phase < lines.phases; phase++) {
        const unsigned passes = wmi_phase_passes(&lines, phase);

        out->shared_wavefronts += passes;
        out->shared_wavefronts_ideal += passes > 0;
        if (passes > out->ways)
            out->ways = passes;
    }
    out->bank_conflicts = out->shared_wavefronts - out->shared_wavefronts_ideal;
}

/* Atomics: a bank's passes are the lanes that come to it, equal words or not. No placement helps lanes at one address. */
static void lanes(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    const unsigned phase_lanes = profile->phase_lanes[wmi_log2(width)];
    unsigned phases = 0;

    for (unsigned first = 0; first < WM_LANES; first += phase_lanes) {
        const uint32_t phase = access->mask & wmi_lane_range(first, phase_lanes);
        struct wmi_degree degree = {.planes = 0};
        uint32_t round[WM_LANES];
        unsigned passes;

        for (uint32_t rest = phase; rest; rest &= rest - 1)
            wmi_degree_add(&degree, wmi_lane_banks(profile, access->address[wmi_log2(rest)], width));
        passes = wmi_degree_max(&degree);
        phases += passes > 0;
        out->shared_wavefronts += passes;
        out->shared_wavefronts_ideal += wmi_rounds(access->address, phase, round);
        if (passes > out->ways)
            out->ways = passes;
    }
    out->bank_conflicts = out->shared_wavefronts - phases;
}

/* Phases whose results go to the registers, before a compare-and-swap's passes are doubled: it has one for each pass of a
 * plain atomic. One without a result has them too. */
static unsigned written_phases(const struct wm_access *access, const struct wm_counts *counts)
{
    switch (access->opcode.operation) {
    case WM_LDMATRIX:
        return access->opcode.matrices;
    case WM_LD:
    case WM_ATOM:
    case WM_RED:
        return counts->shared_wavefronts - (access->opcode.atomic == WM_ATOMIC_CAS ? 0 : counts->bank_conflicts);
    default:
        return 0;
    }
}

void wmi_shared(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    if (wmi_shared_words_merge(profile, access))
        words(profile, access, wmi_lanes_used(access), wmi_shared_phase_lanes(profile, access), out);
    else
        lanes(profile, access, out);
    out->lsu_writeback = written_phases(access, out);
    if (access->opcode.matrices && wmi_lanes_used(access) != wmi_lane_range(0, 8U * access->opcode.matrices))
        out->inexact |= 1U << WM_SHARED_WAVEFRONTS | 1U << WM_BANK_CONFLICTS |
                        (access->opcode.operation == WM_LDMATRIX ? 1U << WM_LSU_WRITEBACK : 0);
    if (access->opcode.atomic == WM_ATOMIC_CAS) {
        out->shared_wavefronts *= profile->cas_passes;
        out->shared_wavefronts_ideal *= profile->cas_passes;
    }
}
