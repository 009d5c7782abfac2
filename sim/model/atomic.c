/*
 * Atomics on global memory.
 *
 * Measured on an H200 (traces/hardware/sm_90/atomics): exact on 2,808 of 2,808 random atom and red, 4 and 8 B, and on the
 * sums of a recorded scatter-add. The lanes go to the atomic units in passes. A pass takes one line per tag bank, and of
 * that line the lanes whose words are not wanted by an earlier lane in the same bank, whether that lane went or waits.
 */
#include "model/model.h"

/* A compare-and-swap brings two values a lane, and a pass takes half a line of it. */
uint32_t wmi_atomic_pass(const struct wm_profile *profile, const struct wm_access *access, uint32_t pending)
{
    const int is_cas = access->opcode.atomic == WM_ATOMIC_CAS;
    const unsigned piece_shift = wmi_log2(is_cas ? profile->cas_piece_bytes : profile->line_bytes);
    const unsigned line_shift = wmi_log2(profile->line_bytes);
    uint64_t piece[1U << WM_TAG_BANK_BITS] = {0};
    uint32_t wanted[1U << WM_TAG_BANK_BITS] = {0};
    uint32_t open = 0; /* tag banks that have a line in this pass */
    uint32_t going = 0;

    for (; pending; pending &= pending - 1) {
        const unsigned lane = wmi_log2(pending);
        const unsigned bank = wmi_tag_bank(profile, access->address[lane] >> line_shift);
        const uint64_t index = access->address[lane] >> piece_shift;
        const uint32_t words = wmi_lane_banks(profile, access->address[lane], access->opcode.width_bytes);

        if (!(wanted[bank] & words) && (!(open >> bank & 1) || piece[bank] == index)) {
            open |= 1U << bank;
            piece[bank] = index;
            going |= UINT32_C(1) << lane;
        }
        wanted[bank] |= words;
    }
    return going;
}

/* Clears the given bits in the numbers of the banks: banks that differ in them alone become one. */
static void fold_banks(const struct wm_profile *profile, struct wmi_lines *lines, unsigned bits)
{
    for (unsigned i = 0; i < lines->count; i++) {
        for (unsigned phase = 0; phase < lines->phases; phase++) {
            uint32_t folded = 0;

            for (unsigned bank = 0; bank < profile->banks; bank++) {
                if (lines->banks[i][phase] >> bank & 1)
                    folded |= UINT32_C(1) << (bank & ~bits);
            }
            lines->banks[i][phase] = folded;
        }
    }
}

/*
 * Where every line has but one lane, the two 16 B halves of a sector share their banks. A compare-and-swap is laid out as if
 * its addresses were doubled: near, not exact (74 of 92 measured).
 */
struct wmi_atomic_layout wmi_atomic_layout(const struct wm_profile *profile, const struct wm_access *access, uint32_t going,
                                           const struct wmi_lines *lines)
{
    const unsigned half_sector = 16 / profile->bank_bytes;
    struct wmi_atomic_layout layout = {access->opcode.atomic == WM_ATOMIC_CAS && access->opcode.width_bytes <= 8, 0};

    if (lines->count == wmi_popcount(going))
        layout.folded = layout.is_doubled ? 3 * half_sector : half_sector;
    return layout;
}

/* Data passes of the request, where they are other than those of what returns. */
static unsigned request_passes(const struct wm_profile *profile, const struct wm_access *access, uint32_t going,
                               const struct wmi_lines *lines, unsigned returning)
{
    const struct wmi_atomic_layout layout = wmi_atomic_layout(profile, access, going, lines);
    const unsigned width = access->opcode.width_bytes;
    struct wmi_lines sent;

    if (!layout.is_doubled && !layout.folded)
        return returning;
    if (layout.is_doubled) {
        uint64_t doubled[WM_LANES];

        for (unsigned lane = 0; lane < WM_LANES; lane++)
            doubled[lane] = access->address[lane] << 1;
        wmi_lines_of(profile, doubled, going, 2 * width, profile->phase_lanes[wmi_log2(2 * width)], &sent);
    } else {
        sent = *lines;
    }
    if (layout.folded)
        fold_banks(profile, &sent, layout.folded);
    return wmi_data_passes(&sent);
}

void wmi_atomic(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    uint32_t pending = access->mask;
    struct wmi_lines lines;

    out->requests = 1;
    out->sectors_ideal = wmi_ideal_sectors(profile, access);
    while (pending) {
        const uint32_t going = wmi_atomic_pass(profile, access, pending);
        unsigned returning;

        wmi_lines_of(profile, access->address, going, width, profile->phase_lanes[wmi_log2(width)], &lines);
        out->tag_wavefronts++;
        out->lines += lines.count;
        out->sectors += wmi_sectors(&lines);
        returning = wmi_data_passes(&lines);
        out->lsu_wavefronts += request_passes(profile, access, going, &lines, returning);
        if (access->opcode.operation == WM_ATOM) {
            out->lsu_wavefronts += returning;
            out->lsu_writeback += wmi_busy_phases(going, WM_LANES / lines.phases);
        }
        pending &= ~going;
    }
    if (access->opcode.atomic == WM_ATOMIC_CAS)
        out->inexact |= 1U << WM_LSU_WAVEFRONTS;
    out->l2_requests = out->lines;
    out->l2_sectors = out->sectors;
}
