/*
 * Atomics on global memory.
 *
 * Measured on an H200 (traces/hardware/sm_90/atomics): exact on 2,808 of 2,808 random atom and red, 4 and 8 B, on 4,158 of
 * 4,158 compare-and-swaps, and on the sums of a recorded scatter-add. The lanes go to the atomic units in passes. A pass
 * takes one line per tag bank, and of that line the lanes whose words are not wanted by an earlier lane in the same bank,
 * whether that lane went or waits.
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
 * The two values of a compare-and-swap lie side by side: its request is that of lanes of twice the width at twice their
 * address, and so are its phases. Where every line of the pass has but one lane, the request goes in smaller packets (they
 * are faster too, see cycles.c), and banks of one sector become one: all those of a compare-and-swap, and of another
 * atomic those of the two 16 B halves.
 */
struct wmi_atomic_layout wmi_atomic_layout(const struct wm_profile *profile, const struct wm_access *access, uint32_t going,
                                           const struct wmi_lines *lines)
{
    const unsigned width = access->opcode.width_bytes;
    const int is_pair = access->opcode.atomic == WM_ATOMIC_CAS && width <= WMI_CAS_BYTES;
    const int is_alone = lines->count == wmi_popcount(going);
    struct wmi_atomic_layout layout = {.is_doubled = is_pair && !is_alone};

    layout.phase_lanes = profile->phase_lanes[wmi_log2(is_pair ? 2 * width : width)];
    if (is_alone)
        layout.folded = is_pair ? profile->sector_bytes / profile->bank_bytes - 1 : 16 / profile->bank_bytes;
    return layout;
}

/* Data passes of the request, where they are other than those of what returns. */
static unsigned request_passes(const struct wm_profile *profile, const struct wm_access *access, uint32_t going,
                               const struct wmi_lines *lines, unsigned returning)
{
    const struct wmi_atomic_layout layout = wmi_atomic_layout(profile, access, going, lines);
    const unsigned scale = layout.is_doubled ? 2 : 1;
    uint64_t address[WM_LANES];
    struct wmi_lines sent;

    if (!layout.is_doubled && !layout.folded)
        return returning;
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        address[lane] = access->address[lane] * scale;
    wmi_lines_of(profile, address, going, access->opcode.width_bytes * scale, layout.phase_lanes, &sent);
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
    if (access->opcode.atomic == WM_ATOMIC_CAS && width > WMI_CAS_BYTES)
        out->inexact |= 1U << WM_LSU_WAVEFRONTS;
    out->l2_requests = out->lines;
    out->l2_sectors = out->sectors;
}
