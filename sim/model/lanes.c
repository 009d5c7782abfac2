/* Lanes, lines, tag wavefronts, rounds: what the units of the model have in common. Portable C. */
#include <string.h>

#include "model/model.h"

/* Open addressing over lines or addresses: twice as many slots as lanes. */
#define SLOTS 64U

/* Fibonacci hashing: the top bits of the product. */
static unsigned slot_of(uint64_t key)
{
    return (unsigned)((key * UINT64_C(0x9E3779B97F4A7C15)) >> 58);
}

/* The position of line index in lines, appended if it is new. slots: 1 + position of a line; 0: free. previous: where the
 * lane before it was. */
static unsigned find_line(struct wmi_lines *lines, uint8_t slots[SLOTS], uint64_t index, unsigned previous)
{
    unsigned slot;

    if (previous < lines->count && lines->index[previous] == index)
        return previous;
    for (slot = slot_of(index); slots[slot]; slot = (slot + 1) % SLOTS) {
        if (lines->index[slots[slot] - 1U] == index)
            return slots[slot] - 1U;
    }
    slots[slot] = (uint8_t)(lines->count + 1);
    lines->index[lines->count] = index;
    lines->sectors[lines->count] = 0;
    memset(lines->banks[lines->count], 0, lines->phases * sizeof lines->banks[0][0]);
    return lines->count++;
}

void wmi_lines_of(const struct wm_profile *profile, const uint64_t address[WM_LANES], uint32_t mask, unsigned width_bytes,
                  unsigned phase_lanes, struct wmi_lines *lines)
{
    const unsigned line_shift = wmi_log2(profile->line_bytes);
    const unsigned sector_shift = wmi_log2(profile->sector_bytes);
    const unsigned phase_shift = wmi_log2(phase_lanes);
    uint8_t slots[SLOTS] = {0};
    unsigned at = 0;

    lines->count = 0;
    lines->address = address;
    lines->mask = mask;
    lines->phases = WM_LANES / phase_lanes;
    for (; mask; mask &= mask - 1) {
        const unsigned lane = wmi_log2(mask);
        const uint32_t offset = (uint32_t)address[lane] & (profile->line_bytes - 1);

        at = find_line(lines, slots, address[lane] >> line_shift, at);
        lines->sectors[at] |= UINT32_C(1) << (offset >> sector_shift);
        lines->banks[at][lane >> phase_shift] |= wmi_lane_banks(profile, offset, width_bytes);
    }
}

unsigned wmi_tag_wavefronts(const struct wm_profile *profile, const struct wmi_lines *lines, uint8_t wavefront[WM_LANES])
{
    uint8_t used[1U << WM_TAG_BANK_BITS] = {0};
    unsigned wavefronts = 0;

    for (unsigned i = 0; i < lines->count; i++) {
        const unsigned bank = wmi_tag_bank(profile, lines->index[i]);

        wavefront[i] = used[bank];
        if (++used[bank] > wavefronts)
            wavefronts = used[bank];
    }
    return wavefronts;
}

unsigned wmi_phase_passes(const struct wmi_lines *lines, unsigned phase)
{
    struct wmi_degree degree = {.planes = 0};

    for (unsigned i = 0; i < lines->count; i++)
        wmi_degree_add(&degree, lines->banks[i][phase]);
    return wmi_degree_max(&degree);
}

unsigned wmi_data_passes(const struct wmi_lines *lines)
{
    unsigned passes = 0;

    for (unsigned phase = 0; phase < lines->phases; phase++)
        passes += wmi_phase_passes(lines, phase);
    return passes;
}

unsigned wmi_wavefront_passes(const struct wmi_lines *lines, const uint8_t wavefront[WM_LANES], unsigned which)
{
    unsigned passes = 0;

    for (unsigned phase = 0; phase < lines->phases; phase++) {
        struct wmi_degree degree = {.planes = 0};

        for (unsigned i = 0; i < lines->count; i++) {
            if (wavefront[i] == which)
                wmi_degree_add(&degree, lines->banks[i][phase]);
        }
        passes += wmi_degree_max(&degree);
    }
    return passes;
}

unsigned wmi_busy_phases(uint32_t lanes, unsigned phase_lanes)
{
    unsigned phases = 0;

    for (unsigned first = 0; first < WM_LANES; first += phase_lanes)
        phases += (lanes & wmi_lane_range(first, phase_lanes)) != 0;
    return phases;
}

unsigned wmi_wavefront_phases(const struct wmi_lines *lines, const uint8_t wavefront[WM_LANES], unsigned which)
{
    unsigned phases = 0;

    for (unsigned phase = 0; phase < lines->phases; phase++) {
        uint32_t banks = 0;

        for (unsigned i = 0; i < lines->count; i++)
            banks |= wavefront[i] == which ? lines->banks[i][phase] : 0;
        phases += banks != 0;
    }
    return phases;
}

unsigned wmi_sectors(const struct wmi_lines *lines)
{
    unsigned sectors = 0;

    for (unsigned i = 0; i < lines->count; i++)
        sectors += wmi_popcount(lines->sectors[i]);
    return sectors;
}

unsigned wmi_rounds(const uint64_t address[WM_LANES], uint32_t mask, uint32_t round[WM_LANES])
{
    uint8_t slots[SLOTS] = {0}; /* lane + 1 that came first with an address */
    uint8_t repeats[WM_LANES];  /* lanes so far at the address of that lane */
    unsigned rounds = 0;

    for (; mask; mask &= mask - 1) {
        const unsigned lane = wmi_log2(mask);
        unsigned slot = slot_of(address[lane]);
        unsigned r = 0;

        while (slots[slot] && address[slots[slot] - 1U] != address[lane])
            slot = (slot + 1) % SLOTS;
        if (slots[slot]) {
            r = repeats[slots[slot] - 1U]++;
        } else {
            slots[slot] = (uint8_t)(lane + 1);
            repeats[lane] = 1;
        }
        if (r == rounds)
            round[rounds++] = 0;
        round[r] |= UINT32_C(1) << lane;
    }
    return rounds;
}

unsigned wmi_distinct(const uint64_t address[WM_LANES], uint32_t mask)
{
    uint32_t round[WM_LANES];

    return wmi_rounds(address, mask, round) ? wmi_popcount(round[0]) : 0;
}

unsigned wmi_ideal_sectors(const struct wm_profile *profile, const struct wm_access *access)
{
    const unsigned bytes = wmi_distinct(access->address, access->mask) * access->opcode.width_bytes;

    return (bytes + profile->sector_bytes - 1) / profile->sector_bytes;
}
