/* A second, independent implementation of the model for tests: plain loops over lanes, banks and lines, slow, and with the
 * rule that it follows above each function. Nothing of sim/model is used. */
#ifndef WM_TEST_NAIVE_H
#define WM_TEST_NAIVE_H

#include "warpmem.h"

/* Access widths 1, 2, 4, 8, 16, 32 bytes, by log2. */
#define NAIVE_WIDTHS 6

struct naive_rules {
    unsigned banks;                     /* of 4 bytes each, at most 32 */
    unsigned phase_lanes[NAIVE_WIDTHS]; /* lanes that are served together, by log2 of the width in bytes */
    int pair_merge;                     /* shared loads: partners i^1 or i^2 double the phase */
    uint64_t tag_mask[2];               /* bit k of a line's tag bank: parity(line index AND tag_mask[k]) */
    unsigned store_merge[NAIVE_WIDTHS]; /* tag wavefronts of a store that share data wavefronts */
};

/* H100, H200: measured. RTX 50: the tag hash is the published one, (L ^ L>>2 ^ L>>4 ^ L>>6 ^ L>>8) & 3. */
extern const struct naive_rules naive_sm_90;
extern const struct naive_rules naive_sm_120;

/* All counts of one access, which must be one that the hardware accepts (aligned, in range). */
void naive_counts(const struct naive_rules *rules, const struct wm_access *access, struct wm_counts *out);

#endif
