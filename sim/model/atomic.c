/*
 * Atomics on global memory.
 *
 * Measured on an H200 (traces/hardware/sm_90/atomics): exact on 2,808 of 2,808 random atom and red, 4 and 8 B, and on the
 * sums of a recorded scatter-add. The lanes go to the atomic units in passes. A pass takes one line per tag bank, and of
 * that line the lanes whose words are not wanted by an earlier lane in the same bank, whether that lane went or waits.
 */
#include "model/model.h"

/* The words of a lane in its line, as bits. */
static uint32_t words_of(const struct wm_profile *profile, uint64_t address, unsigned width_bytes)
{
    const unsigned shift = wmi_log2(profile->bank_bytes);
    const unsigned words = width_bytes > profile->bank_bytes ? width_bytes >> shift : 1;
    const unsigned first = (unsigned)(address & (profile->line_bytes - 1)) >> shift;

    return (uint32_t)(((UINT64_C(1) << words) - 1) << first);
}

/* The lanes that go in the next pass. */
static uint32_t next_pass(const struct wm_profile *profile, const struct wm_access *access, uint32_t pending)
{
    const unsigned line_shift = wmi_log2(profile->line_bytes);
    uint64_t line[1U << WM_TAG_BANK_BITS] = {0};
    uint32_t wanted[1U << WM_TAG_BANK_BITS] = {0};
    uint32_t open = 0; /* tag banks that have a line in this pass */
    uint32_t going = 0;

    for (; pending; pending &= pending - 1) {
        const unsigned lane = wmi_log2(pending);
        const uint64_t index = access->address[lane] >> line_shift;
        const unsigned bank = wmi_tag_bank(profile, index);
        const uint32_t words = words_of(profile, access->address[lane], access->opcode.width_bytes);

        if (!(wanted[bank] & words) && (!(open >> bank & 1) || line[bank] == index)) {
            open |= 1U << bank;
            line[bank] = index;
            going |= UINT32_C(1) << lane;
        }
        wanted[bank] |= words;
    }
    return going;
}

/* Data passes of the request. Where every line has but one lane, the two 16 B halves of a sector share their banks. */
static unsigned request_passes(const struct wm_profile *profile, const struct wmi_lines *lines, uint32_t going)
{
    const uint32_t half_words = 16 / profile->bank_bytes; /* 4: words k and k + 4 collide */
    struct wmi_lines folded;

    if (lines->count < wmi_popcount(going))
        return wmi_data_passes(lines, NULL, 0, 0);
    folded = *lines;
    for (unsigned i = 0; i < folded.count; i++) {
        for (unsigned phase = 0; phase < folded.phases; phase++) {
            uint32_t low = 0;

            for (unsigned bank = 0; bank < profile->banks; bank++) {
                if (lines->banks[i][phase] >> bank & 1)
                    low |= UINT32_C(1) << (bank & ~half_words);
            }
            folded.banks[i][phase] = low;
        }
    }
    return wmi_data_passes(&folded, NULL, 0, 0);
}

void wmi_atomic(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    uint32_t pending = access->mask;
    struct wmi_lines lines;

    out->requests = 1;
    out->sectors_ideal = wmi_ideal_sectors(profile, access);
    while (pending) {
        const uint32_t going = next_pass(profile, access, pending);

        wmi_lines_of(profile, access->address, going, width, profile->phase_lanes[wmi_log2(width)], &lines);
        out->tag_wavefronts++;
        out->lines += lines.count;
        out->sectors += wmi_sectors(&lines);
        out->lsu_wavefronts += request_passes(profile, &lines, going);
        if (access->opcode.operation == WM_ATOM)
            out->lsu_wavefronts += wmi_data_passes(&lines, NULL, 0, 0);
        pending &= ~going;
    }
    out->l2_requests = out->lines;
    out->l2_sectors = out->sectors;
}
