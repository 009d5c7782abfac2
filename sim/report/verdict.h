/* What an access pattern comes to, in words: "32-way bank conflict: stride 128 B". */
#ifndef VERDICT_H
#define VERDICT_H

#include "buffer.h"
#include "warpmem.h"

/* What the words need to know about the GPU. */
struct geometry {
    uint32_t sector_bytes;
    uint32_t tag_banks;             /* lines that one tag wavefront takes at best */
    uint32_t tag_wavefront_sectors; /* and sectors in them */
};

void geometry_of(const wm_arch *arch, struct geometry *out);

/* One access. */
void verdict_access(const struct geometry *geometry, const struct wm_access *access, const struct wm_counts *counts,
                    struct buffer *out);

/* Whether every access of the group that has active lanes costs what its worst one costs. */
int verdict_is_uniform(const struct wm_tally_row *row);

/* A group: its worst access, and whether all the others are like it. */
void verdict_group(const struct geometry *geometry, const struct wm_tally_row *row, struct buffer *out);

#endif
