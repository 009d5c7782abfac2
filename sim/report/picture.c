/* What the pictures of an access share. See picture.h. */
#include "config.h"

#include "picture_parts.h"

#include <stdlib.h>
#include <string.h>

int picture_open(const wm_arch *arch, const struct wm_access *access, const struct wm_counts *counts,
                 struct picture *out)
{
    *out = (struct picture){arch, access, counts, malloc(sizeof *out->anatomy)};
    return out->anatomy && wm_explain(arch, access, out->anatomy) == WM_OK;
}

void picture_say_failure(const struct picture *picture, struct buffer *out)
{
    if (!picture->anatomy)
        out->failed = BUFFER_NO_MEMORY;
    else
        buffer_puts(out, "This access cannot be shown: with this profile it is more requests than a picture holds.");
}

void picture_close(struct picture *picture)
{
    free(picture->anatomy);
    picture->anatomy = NULL;
}

/* ------------------------------------------------------------------------------------------------------------ lanes */

unsigned picture_lane_count(uint32_t lanes)
{
    unsigned count = 0;

    for (; lanes; lanes &= lanes - 1)
        count++;
    return count;
}

unsigned picture_first_lane(uint32_t lanes)
{
    unsigned lane = 0;

    while (!(lanes >> lane & 1))
        lane++;
    return lane;
}

/* The distance of all neighbours in a set of four lanes at least; 0: they are not evenly spaced. */
static unsigned step_of(uint32_t lanes)
{
    const unsigned first = picture_first_lane(lanes);
    const uint32_t rest = lanes & (lanes - 1);
    unsigned step, last = first;

    if (picture_lane_count(lanes) < 4)
        return 0;
    step = picture_first_lane(rest) - first;
    for (unsigned lane = first + 1; lane < WM_LANES; lane++) {
        if (!(lanes >> lane & 1))
            continue;
        if (lane - last != step)
            return 0;
        last = lane;
    }
    return step;
}

static unsigned last_lane(uint32_t lanes)
{
    unsigned lane = WM_LANES - 1;

    while (!(lanes >> lane & 1))
        lane--;
    return lane;
}

void picture_lanes(uint32_t lanes, struct buffer *out)
{
    const char *separator = "";
    unsigned step;

    if (!lanes)
        return;
    step = step_of(lanes);
    if (step > 1) {
        const unsigned first = picture_first_lane(lanes);

        buffer_printf(out, "%u,%u..%u", first, first + step, last_lane(lanes));
        return;
    }
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        unsigned last = lane;

        if (!(lanes >> lane & 1))
            continue;
        while (last + 1 < WM_LANES && (lanes >> (last + 1) & 1))
            last++;
        if (last == lane)
            buffer_printf(out, "%s%u", separator, lane);
        else
            buffer_printf(out, "%s%u%c%u", separator, lane, last == lane + 1 ? ',' : '-', last);
        separator = ",";
        lane = last;
    }
}

void picture_lanes_named(uint32_t lanes, struct buffer *out)
{
    buffer_puts(out, lanes & (lanes - 1) ? "lanes " : "lane ");
    picture_lanes(lanes, out);
}

/* ------------------------------------------------------------------------------------------------------------ lines */

unsigned picture_sector_bytes_used(const struct wm_anatomy *anatomy, const struct wm_line *line, unsigned sector)
{
    unsigned used = 0;

    for (unsigned byte = sector * anatomy->sector_bytes; byte < (sector + 1) * anatomy->sector_bytes; byte++)
        used += (unsigned)(line->bytes[byte / 64] >> byte % 64 & 1);
    return used;
}

unsigned picture_bytes_used(const struct wm_anatomy *anatomy, const struct wm_line *line)
{
    unsigned used = 0;

    for (unsigned sector = 0; sector < anatomy->line_bytes / anatomy->sector_bytes; sector++)
        used += picture_sector_bytes_used(anatomy, line, sector);
    return used;
}

uint32_t picture_sectors_touched(const struct wm_anatomy *anatomy, const struct wm_line *line)
{
    uint32_t touched = 0;

    for (unsigned sector = 0; sector < anatomy->line_bytes / anatomy->sector_bytes; sector++)
        touched |= (uint32_t)(line->sector_lanes[sector] != 0) << sector;
    return touched;
}

/* Adds to line i what later entries have of the same line; 0 where an earlier one has had that done. */
static int gather_line(const struct wm_anatomy *anatomy, uint32_t i, struct wm_line *out)
{
    *out = anatomy->line[i];
    for (uint32_t other = 0; other < anatomy->line_count; other++) {
        const struct wm_line *line = &anatomy->line[other];

        if (other == i || line->address != out->address || line->request != out->request)
            continue;
        if (other < i)
            return 0;
        for (unsigned sector = 0; sector < WM_ANATOMY_SECTORS; sector++)
            out->sector_lanes[sector] |= line->sector_lanes[sector];
        for (unsigned word = 0; word < WM_ANATOMY_BYTES / 64; word++)
            out->bytes[word] |= line->bytes[word];
    }
    return 1;
}

struct picture_footprint picture_footprint(const struct wm_anatomy *anatomy)
{
    struct picture_footprint sum = {0, 0, 0};
    struct wm_line line;

    for (uint32_t i = 0; i < anatomy->line_count; i++) {
        if (!gather_line(anatomy, i, &line))
            continue;
        sum.lines++;
        sum.sectors += picture_lane_count(picture_sectors_touched(anatomy, &line));
        sum.used += picture_bytes_used(anatomy, &line);
    }
    return sum;
}

struct picture_verbs picture_verbs(const struct picture *picture)
{
    static const struct picture_verbs reads = {"fetched", "uses", "used", "wasted"};
    static const struct picture_verbs writes = {"touched", "writes", "written", "not written"};
    static const struct picture_verbs changes = {"touched", "changes", "changed", "not changed"};

    switch (picture->access->opcode.operation) {
    case WM_ST: return writes;
    case WM_ATOM:
    case WM_RED: return changes;
    default: return reads;
    }
}

unsigned picture_groups(const struct wm_anatomy *anatomy)
{
    unsigned groups = 0;

    for (uint32_t i = 0; i < anatomy->phase_count; i++) {
        const struct wm_phase *phase = &anatomy->phase[i];

        groups += i == 0 || phase->first_wavefront != phase[-1].first_wavefront || phase->request != phase[-1].request;
    }
    return groups;
}

int picture_has_attempts(const struct wm_anatomy *anatomy, const struct wm_phase *phase)
{
    return phase->cycle && anatomy->request_bytes < anatomy->bank_bytes;
}

int picture_is_near(const struct picture *picture, enum wm_counter counter)
{
    return (picture->counts->inexact >> counter & 1) ||
           wm_arch_exactness(picture->arch, &picture->access->opcode, counter) == WM_APPROXIMATE;
}

/* ------------------------------------------------------------------------------------------------------------ banks */

static uint64_t side_address(const struct picture *picture, const struct wm_phase *phase, enum picture_side side,
                             unsigned lane)
{
    if (side == PICTURE_SHARED_SIDE)
        return picture->access->shared_address[lane];
    return picture->anatomy->address[phase->request][lane] * phase->scale;
}

uint64_t picture_word(const struct picture *picture, const struct wm_phase *phase, enum picture_side side,
                      unsigned lane, unsigned bank)
{
    const struct wm_anatomy *a = picture->anatomy;
    const uint64_t first = side_address(picture, phase, side, lane) / a->bank_bytes;
    const uint64_t end = first + (a->request_bytes * phase->scale + a->bank_bytes - 1) / a->bank_bytes;

    for (uint64_t word = first; word < end; word++) {
        if ((word % a->banks & ~(uint64_t)phase->folded) == bank)
            return word * a->bank_bytes / phase->scale;
    }
    return first * a->bank_bytes / phase->scale;
}

void picture_fill(const struct picture *picture, const struct wm_phase *phase, enum picture_side side,
                  struct picture_cell cells[PICTURE_PASSES][PICTURE_BANK_COUNT])
{
    const struct wm_anatomy *a = picture->anatomy;

    memset(cells, 0, PICTURE_PASSES * sizeof cells[0]);
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint64_t first = side_address(picture, phase, side, lane) / a->bank_bytes;
        const uint64_t words = (a->request_bytes * phase->scale + a->bank_bytes - 1) / a->bank_bytes;

        for (uint64_t word = first; (phase->lanes >> lane & 1) && word < first + words; word++) {
            const unsigned bank = (unsigned)(word % a->banks) & ~(unsigned)phase->folded;

            cells[phase->pass[lane] % PICTURE_PASSES][bank].lanes |= UINT32_C(1) << lane;
        }
    }
}

unsigned picture_bank_ways(const struct wm_phase *phase, struct picture_cell cells[PICTURE_PASSES][PICTURE_BANK_COUNT],
                           unsigned bank)
{
    unsigned ways = 0;

    for (unsigned pass = 0; pass < phase->passes; pass++)
        ways += cells[pass][bank].lanes != 0;
    return ways;
}

/* ----------------------------------------------------------------------------------------------------------- titles */

void picture_subject(const struct picture *picture, struct buffer *out)
{
    const unsigned lanes = picture_lane_count(picture->anatomy->lanes);

    if (picture->access->opcode.matrices)
        buffer_printf(out, "%u rows of %u B", lanes, picture->access->opcode.width_bytes);
    else
        buffer_printf(out, "%u lane%s of %u B", lanes, lanes == 1 ? "" : "s", picture->access->opcode.width_bytes);
}

/* How many phases the access would have if all lanes were active. */
static unsigned phases_of(const struct picture *picture)
{
    const struct wm_opcode *opcode = &picture->access->opcode;
    const unsigned rows = opcode->matrices ? 8U * opcode->matrices : WM_LANES;
    const unsigned lanes = picture->anatomy->phase_lanes;

    return (rows + lanes - 1) / lanes;
}

void picture_phase_title(const struct picture *picture, const struct wm_phase *phase, struct buffer *out)
{
    const struct wm_anatomy *a = picture->anatomy;
    const unsigned phases = phases_of(picture);
    const char *separator = "";

    if (a->requests > 1)
        buffer_printf(out, "request %u, ", phase->request + 1U);
    if (a->path == WM_PATH_ATOMIC) {
        buffer_printf(out, "pass %u, %s", phase->first_wavefront + 1U,
                      phase->is_request ? "values out" : "results back");
        separator = ", ";
    } else if (phase->wavefronts == 1) {
        buffer_printf(out, "tag wavefront %u", phase->first_wavefront + 1U);
        separator = ", ";
    } else if (phase->wavefronts > 1) {
        buffer_printf(out, "tag wavefronts %u-%u", phase->first_wavefront + 1U,
                      phase->first_wavefront + 0U + phase->wavefronts);
        separator = ", ";
    }
    if (picture->access->opcode.matrices && phases == picture->access->opcode.matrices)
        buffer_printf(out, "%smatrix %u of %u", separator, phase->number + 1U, phases);
    else if (phase->is_request && picture->access->opcode.atomic == WM_ATOMIC_CAS) /* two values: phases of its own */
        buffer_printf(out, "%sphase %u", separator, phase->number + 1U);
    else if (phases > 1 || !*separator)
        buffer_printf(out, "%sphase %u of %u", separator, phase->number + 1U, phases);
}
