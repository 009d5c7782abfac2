/*
 * Global and local memory: the tag stage, the data stage, and what goes to L2 when every sector misses.
 *
 * Measured on an H200 (traces/hardware/sm_90/h200-random). The tag stage looks up one line per tag bank and pass; on a
 * miss the data stage serves each tag wavefront by itself, on a hit the whole warp at once.
 */
#include "model/model.h"

/* The tag side of a set of lines, added to *out. */
static unsigned tag_side(const struct wm_profile *profile, const struct wmi_lines *lines, uint8_t wavefront[WM_LANES],
                         struct wm_counts *out)
{
    const unsigned sectors = wmi_sectors(lines);
    const unsigned wavefronts = wmi_tag_wavefronts(profile, lines, wavefront);

    out->lines += lines->count;
    out->sectors += sectors;
    out->tag_wavefronts += wavefronts;
    out->l2_requests += lines->count;
    out->l2_sectors += sectors;
    return wavefronts;
}

/* Data passes of a load. */
static unsigned load_passes(const struct wmi_lines *lines, const uint8_t wavefront[WM_LANES], unsigned wavefronts,
                            int hits)
{
    unsigned passes = 0;

    if (hits)
        return wmi_data_passes(lines);
    for (unsigned w = 0; w < wavefronts; w++)
        passes += wmi_wavefront_passes(lines, wavefront, w);
    return passes;
}

/* Phases whose results go to the registers: of the warp on a hit, on a miss of each tag wavefront by itself. */
static unsigned written_phases(const struct wmi_lines *lines, const uint8_t wavefront[WM_LANES], unsigned wavefronts,
                               const struct wm_access *access)
{
    unsigned phases = 0;

    if (wmi_hits_l1(access))
        return wmi_busy_phases(access->mask, WM_LANES / lines->phases);
    for (unsigned w = 0; w < wavefronts; w++)
        phases += wmi_wavefront_phases(lines, wavefront, w);
    return phases;
}

/* Loads and stores through the lines that they touch. */
static void load_store(const struct wm_profile *profile, const struct wm_access *access, unsigned width_bytes,
                       const struct wmi_lines *lines, struct wm_counts *out)
{
    uint8_t wavefront[WM_LANES];
    const unsigned wavefronts = tag_side(profile, lines, wavefront, out);
    int exact = 1;

    out->requests++;
    out->lsu_wavefronts += access->opcode.operation == WM_LD
                               ? load_passes(lines, wavefront, wavefronts, wmi_hits_l1(access))
                               : wmi_store_passes(profile, lines, wavefront, wavefronts, width_bytes, &exact, NULL);
    if (!exact)
        out->inexact |= 1U << WM_LSU_WAVEFRONTS;
    if (access->opcode.operation == WM_LD || access->opcode.operation == WM_ATOM)
        out->lsu_writeback += written_phases(lines, wavefront, wavefronts, access);
}

void wmi_global(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    struct wmi_lines lines;

    out->sectors_ideal = wmi_ideal_sectors(profile, access);
    wmi_lines_of(profile, access->address, access->mask, width, profile->phase_lanes[wmi_log2(width)], &lines);
    load_store(profile, access, width, &lines, out);
}

/* Whether the offsets lie in different blocks of lines. Where the window of local memory lies is not in a trace; of lines in
 * one block (64 bytes of each thread) the tag banks do not depend on it. */
static int crosses_blocks(const struct wm_profile *profile, const struct wm_access *access)
{
    const uint64_t first = access->address[wmi_log2(access->mask)];
    uint64_t differ = 0;

    for (uint32_t rest = access->mask; rest; rest &= rest - 1)
        differ |= access->address[wmi_log2(rest)] ^ first;
    return (differ & ~(uint64_t)(profile->local_block_bytes - 1)) != 0;
}

unsigned wmi_local_pieces(const struct wm_profile *profile, const struct wm_access *access)
{
    const unsigned width = access->opcode.width_bytes;

    return width < profile->local_interleave_bytes ? 1 : width / profile->local_interleave_bytes;
}

void wmi_local_addresses(const struct wm_profile *profile, const struct wm_access *access, unsigned piece,
                         uint64_t address[WM_LANES])
{
    const unsigned interleave = profile->local_interleave_bytes;
    const unsigned shift = wmi_log2(interleave);

    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint64_t offset = access->address[lane] + (uint64_t)piece * interleave;

        address[lane] = ((offset >> shift) * WM_LANES + lane) << shift | (offset & (interleave - 1));
    }
}

/*
 * Local memory: a thread's offset o lies, in the warp's window, at (o / N) * 32 * N + lane * N + o % N for an interleave of
 * N bytes. A lane of more than N bytes is as many requests, one for each piece (measured: traces/hardware/sm_90).
 */
void wmi_local(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out)
{
    const unsigned width = access->opcode.width_bytes;
    const unsigned pieces = wmi_local_pieces(profile, access);
    const unsigned piece_bytes = width / pieces;
    struct wmi_lines lines;
    uint64_t address[WM_LANES];

    for (unsigned piece = 0; piece < pieces; piece++) {
        wmi_local_addresses(profile, access, piece, address);
        wmi_lines_of(profile, address, access->mask, piece_bytes, profile->phase_lanes[wmi_log2(piece_bytes)], &lines);
        load_store(profile, access, piece_bytes, &lines, out);
    }
    if (crosses_blocks(profile, access))
        out->inexact |= 1U << WM_TAG_WAVEFRONTS | 1U << WM_LSU_WAVEFRONTS |
                        (access->opcode.operation == WM_LD ? 1U << WM_LSU_WRITEBACK : 0);
    out->sectors_ideal = (wmi_popcount(access->mask) * width + profile->sector_bytes - 1) / profile->sector_bytes;
}
