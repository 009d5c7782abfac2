/* The counts say how bad an access is; the addresses say why. Where a reason would be a guess, only the count is given. */
#include "verdict.h"

#include <stdlib.h>
#include <string.h>

/* The addresses of the lanes that matter. */
struct pattern {
    unsigned lanes;
    unsigned distinct;         /* different addresses */
    unsigned most_at_one;      /* lanes at the most popular address */
    unsigned sectors;          /* different sectors that they touch */
    uint64_t sorted[WM_LANES]; /* distinct addresses, ascending */
    int has_stride;            /* lane i at base + i * stride for every active lane */
    int64_t stride;
};

static int is_atomic(const struct wm_opcode *opcode)
{
    return opcode->operation == WM_ATOM || opcode->operation == WM_RED;
}

static uint64_t key_value(const wm_arch *arch, const char *name, uint64_t otherwise)
{
    struct wm_arch_key key;

    for (size_t i = 0; wm_arch_key_at(arch, i, &key) == WM_OK; i++) {
        if (strcmp(key.name, name) == 0)
            return strtoull(key.value, NULL, 0);
    }
    return otherwise;
}

void geometry_of(const wm_arch *arch, struct geometry *out)
{
    out->sector_bytes = (uint32_t)key_value(arch, "l1.sector_bytes", 32);
    out->tag_banks = 1u << (key_value(arch, "l1.tag_bank_bits", 0) & 31);
    out->tag_wavefront_sectors = out->tag_banks * ((uint32_t)key_value(arch, "l1.line_bytes", 128) / out->sector_bytes);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a;
    uint64_t y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* Lanes whose addresses count: of a matrix instruction, those that supply rows. */
static uint32_t lanes_used(const struct wm_access *access)
{
    unsigned rows = 8u * access->opcode.matrices;

    return rows && rows < WM_LANES ? access->mask & ((1u << rows) - 1) : access->mask;
}

static void find_stride(const uint64_t address[WM_LANES], uint32_t mask, struct pattern *out)
{
    unsigned first = mask ? (unsigned)__builtin_ctz(mask) : 0;
    uint32_t rest = mask & (mask - 1);
    unsigned second;
    int64_t difference;

    if (!rest)
        return;
    second = (unsigned)__builtin_ctz(rest);
    difference = (int64_t)(address[second] - address[first]);
    out->stride = difference / (int64_t)(second - first);
    for (; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);

        if ((int64_t)(address[lane] - address[first]) != out->stride * (int64_t)(lane - first))
            return;
    }
    out->has_stride = 1;
}

static void find_pattern(const uint64_t address[WM_LANES], uint32_t mask, uint32_t sector_bytes, struct pattern *out)
{
    uint64_t all[WM_LANES];
    unsigned same = 0;

    memset(out, 0, sizeof *out);
    if (!mask)
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        all[out->lanes++] = address[__builtin_ctz(rest)];
    find_stride(address, mask, out);
    qsort(all, out->lanes, sizeof *all, compare);
    for (unsigned i = 0; i < out->lanes; i++) {
        if (i && all[i] == all[i - 1]) {
            same++;
        } else {
            same = 1;
            if (!i || all[i] / sector_bytes != all[i - 1] / sector_bytes)
                out->sectors++;
            out->sorted[out->distinct++] = all[i];
        }
        if (same > out->most_at_one)
            out->most_at_one = same;
    }
}

/* "4 of 32 bytes of each sector used" */
static void say_used(const struct geometry *geometry, uint64_t bytes, uint64_t sectors, struct buffer *out)
{
    uint64_t tenths = bytes * 10 / sectors;

    if (bytes % sectors == 0)
        buffer_printf(out, "%llu of %u bytes of each sector used", (unsigned long long)(bytes / sectors),
                      geometry->sector_bytes);
    else
        buffer_printf(out, "%llu.%llu of %u bytes of each sector used", (unsigned long long)(tenths / 10),
                      (unsigned long long)(tenths % 10), geometry->sector_bytes);
}

/* Pieces of equal length, further apart than they are long: a tile's rows, say. Returns whether it is so. */
static int say_rows(const struct pattern *pattern, unsigned width, struct buffer *out)
{
    unsigned length = 1; /* lanes in the first row */
    unsigned rows;
    uint64_t pitch;

    while (length < pattern->distinct && pattern->sorted[length] == pattern->sorted[length - 1] + width)
        length++;
    if (length < 2 || length == pattern->distinct || pattern->distinct % length != 0)
        return 0;
    rows = pattern->distinct / length;
    pitch = pattern->sorted[length] - pattern->sorted[0];
    for (unsigned i = 1; i < pattern->distinct; i++) {
        uint64_t step = pattern->sorted[i] - pattern->sorted[i - 1];

        if (i % length ? step != width : step == width)
            return 0;
        if (i % length == 0 && pattern->sorted[i] - pattern->sorted[i - length] != pitch)
            pitch = 0;
    }
    buffer_printf(out, "%u rows of %u B", rows, length * width);
    if (pitch)
        buffer_printf(out, ", %llu B apart", (unsigned long long)pitch);
    buffer_puts(out, ": ");
    return 1;
}

/* Why more sectors are asked for than the bytes need. */
static void say_excess(const struct geometry *geometry, const struct pattern *pattern, unsigned width,
                       const struct wm_counts *counts, struct buffer *out)
{
    uint64_t bytes = (uint64_t)pattern->distinct * width;
    uint64_t stride = pattern->stride < 0 ? 0 - (uint64_t)pattern->stride : (uint64_t)pattern->stride;
    uint32_t extra = counts->sectors - counts->sectors_ideal;

    if (pattern->has_stride && stride == width) {
        buffer_printf(out, "misaligned by %llu B: ", (unsigned long long)(pattern->sorted[0] % geometry->sector_bytes));
        if (extra == 1)
            buffer_puts(out, "one sector too many");
        else
            buffer_printf(out, "%u sectors too many", extra);
        return;
    }
    if (pattern->has_stride)
        buffer_printf(out, "stride %lld B: ", (long long)pattern->stride);
    else if (!say_rows(pattern, width, out))
        buffer_printf(out, "scattered: %u lanes in %u sectors, ", pattern->lanes, counts->sectors);
    say_used(geometry, bytes, counts->sectors, out);
}

/* Lanes of an atomic at one address take turns. Returns whether that is what it costs. */
static int say_rounds(const struct pattern *pattern, unsigned most, struct buffer *out)
{
    if (most < 2)
        return 0;
    if (pattern->distinct == 1)
        buffer_printf(out, "same-address atomics serialised: %u rounds", most);
    else
        buffer_printf(out, "atomics of up to %u lanes at one address serialised: %u rounds", most, most);
    return 1;
}

/* The fewest tag wavefronts that look up so many lines. */
static uint32_t tag_wavefronts_of(const struct geometry *geometry, uint32_t lines)
{
    return (lines + geometry->tag_banks - 1) / geometry->tag_banks;
}

static uint32_t fewest_tag_wavefronts(const struct geometry *geometry, const struct wm_counts *counts)
{
    return tag_wavefronts_of(geometry, counts->lines);
}

/* The lines that would hold an access's bytes; 0 where no more lines are looked up than that, or where it costs no tag
 * wavefront. What cp.async looks up are pairs of a line and a place in shared memory. */
static uint32_t lines_that_would_do(const struct geometry *geometry, const struct wm_access *access,
                                    const struct wm_counts *counts)
{
    uint32_t sectors_a_line = geometry->tag_wavefront_sectors / geometry->tag_banks;
    uint32_t least = sectors_a_line ? (counts->sectors_ideal + sectors_a_line - 1) / sectors_a_line : 0;

    if (access->opcode.operation == WM_CP_ASYNC || access->opcode.space == WM_LOCAL || counts->lines <= least ||
        fewest_tag_wavefronts(geometry, counts) <= tag_wavefronts_of(geometry, least))
        return 0;
    return least;
}

/* No sector is fetched in vain, and yet there are more lines than the bytes need. */
static void say_lines(const struct pattern *pattern, unsigned width, uint32_t lines, uint32_t would_do,
                      struct buffer *out)
{
    if (pattern->has_stride)
        buffer_printf(out, "stride %lld B: ", (long long)pattern->stride);
    else if (!say_rows(pattern, width, out))
        buffer_puts(out, "scattered: ");
    buffer_printf(out, "whole sectors, but %u lines where %u would do", lines, would_do);
}

static void say_tag_banks(const struct geometry *geometry, const struct wm_counts *counts, struct buffer *out)
{
    uint32_t fewest = fewest_tag_wavefronts(geometry, counts);

    if (counts->tag_wavefronts > fewest)
        buffer_printf(out, ", tag bank conflict: %u passes instead of %u", counts->tag_wavefronts, fewest);
}

static void say_uncounted(const struct wm_access *access, const struct pattern *pattern, struct buffer *out)
{
    if (access->opcode.space != WM_CONST)
        buffer_puts(out, "not counted by this profile");
    else if (pattern->distinct == 1)
        buffer_puts(out, "uniform: one address");
    else
        buffer_printf(out, "%u different addresses: the constant cache serves one after the other", pattern->distinct);
}

/* The global side: global, generic, local and constant memory. */
static void say_sectors(const struct geometry *geometry, const struct wm_access *access, const struct wm_counts *counts,
                        struct buffer *out)
{
    unsigned operation = access->opcode.operation;
    uint32_t would_do = lines_that_would_do(geometry, access, counts);
    struct pattern pattern;

    find_pattern(access->address, access->mask, geometry->sector_bytes, &pattern);
    if (counts->sectors == 0) {
        say_uncounted(access, &pattern, out);
        return;
    }
    if (is_atomic(&access->opcode) && counts->sectors > pattern.sectors &&
        say_rounds(&pattern, pattern.most_at_one, out))
        return;
    if (access->opcode.space == WM_LOCAL) {
        if (counts->sectors <= counts->sectors_ideal)
            buffer_puts(out, "coalesced: lanes at one offset");
        else
            buffer_printf(out, "lanes at different offsets: %u sectors instead of %u", counts->sectors,
                          counts->sectors_ideal);
    } else if (operation == WM_CP_ASYNC && counts->sectors > pattern.sectors) {
        buffer_printf(out, "%u sectors looked up for the %u touched: source and destination are not in step",
                      counts->sectors, pattern.sectors);
    } else if (pattern.lanes == 1) {
        buffer_puts(out, "one active lane");
    } else if (pattern.distinct == 1) {
        buffer_puts(out, operation == WM_ST ? "all lanes write one address" : "broadcast");
    } else if (counts->sectors <= counts->sectors_ideal && would_do) {
        say_lines(&pattern, access->opcode.width_bytes, counts->lines, would_do, out);
    } else if (counts->sectors <= counts->sectors_ideal) {
        buffer_puts(out, "coalesced");
    } else {
        say_excess(geometry, &pattern, access->opcode.width_bytes, counts, out);
    }
    if (!is_atomic(&access->opcode))
        say_tag_banks(geometry, counts, out);
}

/* The distance of rows or lanes that collide, where there is one. */
static void say_stride(const struct wm_access *access, const uint64_t address[WM_LANES], const struct pattern *pattern,
                       struct buffer *out)
{
    struct pattern rows = *pattern;

    /* the eight rows of a matrix collide with each other, not with those of the next one */
    if (access->opcode.matrices) {
        rows.has_stride = 0;
        find_stride(address, access->mask & 0xff, &rows);
    }
    if (rows.has_stride && rows.stride)
        buffer_printf(out, access->opcode.matrices ? ": rows %lld B apart" : ": stride %lld B", (long long)rows.stride);
}

static void say_conflict(const struct wm_counts *counts, struct buffer *out)
{
    uint32_t phases = counts->shared_wavefronts - counts->bank_conflicts;

    if ((uint64_t)counts->bank_conflicts == (uint64_t)(counts->ways - 1) * phases)
        buffer_printf(out, "%u-way bank conflict", counts->ways);
    else if (counts->ways == 2)
        /* every phase with a conflict has one wavefront too many */
        buffer_printf(out, "2-way bank conflict in %u of %u phases", counts->bank_conflicts, phases);
    else
        buffer_printf(out, "up to %u-way bank conflict", counts->ways);
}

static void say_banks(const struct geometry *geometry, const struct wm_access *access, const uint64_t address[WM_LANES],
                      const struct wm_counts *counts, struct buffer *out)
{
    unsigned operation = access->opcode.operation;
    int is_ideal = counts->shared_wavefronts == counts->shared_wavefronts_ideal;
    struct pattern pattern;

    find_pattern(address, lanes_used(access), geometry->sector_bytes, &pattern);
    if (pattern.lanes == 0) {
        buffer_puts(out, "no lane supplies a row");
    } else if (counts->ways <= 1) {
        if (pattern.distinct > 1 || pattern.lanes == 1 || operation == WM_CP_ASYNC)
            buffer_puts(out, "conflict-free");
        else
            buffer_puts(out, operation == WM_ST ? "all lanes write one address" : "broadcast");
    } else if (is_ideal && operation == WM_CP_ASYNC) {
        buffer_printf(out, "%u passes, which no placement of the destination avoids", counts->shared_wavefronts);
    } else if (!is_ideal || !is_atomic(&access->opcode) || !say_rounds(&pattern, pattern.most_at_one, out)) {
        say_conflict(counts, out);
        say_stride(access, address, &pattern, out);
    }
}

void verdict_access(const struct geometry *geometry, const struct wm_access *access, const struct wm_counts *counts,
                    struct buffer *out)
{
    uint64_t shared[WM_LANES];

    if (!access->mask) {
        buffer_puts(out, "no active lanes");
    } else if (access->opcode.operation == WM_CP_ASYNC) {
        say_sectors(geometry, access, counts, out);
        if (!counts->shared_wavefronts)
            return;
        for (unsigned lane = 0; lane < WM_LANES; lane++)
            shared[lane] = access->shared_address[lane];
        buffer_puts(out, "; shared side: ");
        say_banks(geometry, access, shared, counts, out);
    } else if (access->opcode.space == WM_SHARED) {
        say_banks(geometry, access, access->address, counts, out);
    } else {
        say_sectors(geometry, access, counts, out);
    }
}

int verdict_is_uniform(const struct wm_tally_row *row)
{
    static const enum wm_counter decisive[] = {WM_SECTORS, WM_SECTORS_IDEAL, WM_TAG_WAVEFRONTS, WM_SHARED_WAVEFRONTS,
                                               WM_SHARED_WAVEFRONTS_IDEAL};

    for (size_t i = 0; i < sizeof decisive / sizeof *decisive; i++) {
        uint64_t one = wm_counts_get(&row->worst_counts, decisive[i]);
        uint64_t all = row->sums[decisive[i]];

        /* instructions without active lanes take as many wavefronts as they have to */
        if (decisive[i] == WM_SHARED_WAVEFRONTS || decisive[i] == WM_SHARED_WAVEFRONTS_IDEAL)
            all -= row->inactive_wavefronts;
        if (one ? all % one != 0 || all / one != row->instructions - row->inactive : all != 0)
            return 0;
    }
    return 1;
}

void verdict_group(const struct geometry *geometry, const struct wm_tally_row *row, struct buffer *out)
{
    const struct wm_counts *worst = &row->worst_counts;
    int is_ideal = worst->sectors <= worst->sectors_ideal && worst->bank_conflicts == 0 &&
                   worst->tag_wavefronts <= fewest_tag_wavefronts(geometry, worst) &&
                   !lines_that_would_do(geometry, &row->worst, worst);

    if (!is_ideal && !verdict_is_uniform(row))
        buffer_puts(out, "at worst ");
    verdict_access(geometry, &row->worst, worst, out);
    if (row->sums[WM_WAYS] > worst->ways)
        buffer_printf(out, "; up to %llu ways in accesses that waste less", (unsigned long long)row->sums[WM_WAYS]);
}
