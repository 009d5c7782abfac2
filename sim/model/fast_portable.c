/* The fast path in portable C. */
#include <string.h>

#include "model/model.h"

#define WMI_TARGET
#define WMI_FAST wmi_fast_portable

static inline uint64_t any_bits(const uint64_t address[WM_LANES])
{
    uint64_t bits = 0;

    for (unsigned lane = 0; lane < WM_LANES; lane++)
        bits |= address[lane];
    return bits;
}

static inline uint32_t changes(const uint64_t address[WM_LANES], unsigned shift)
{
    uint32_t bits = 1;

    for (unsigned lane = 1; lane < WM_LANES; lane++)
        bits |= (uint32_t)((address[lane] ^ address[lane - 1]) >> shift != 0) << lane;
    return bits;
}

static inline int descends(const uint64_t address[WM_LANES])
{
    uint64_t borrow = 0;

    for (unsigned lane = 1; lane < WM_LANES; lane++)
        borrow |= address[lane] - address[lane - 1];
    return (borrow >> 63) != 0;
}

static inline void parities(const uint64_t address[WM_LANES], const struct wm_profile *profile, uint32_t set[2])
{
    set[0] = 0;
    set[1] = 0;
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        const uint64_t line = address[lane] >> WMI_LINE_SHIFT;

        for (unsigned k = 0; k < 2; k++) {
            uint64_t bits = line & profile->tag_bank_mask[k];

            bits ^= bits >> 32;
            bits ^= bits >> 16;
            bits ^= bits >> 8;
            bits ^= bits >> 4;
            /* bit n of this constant is the parity of n */
            set[k] |= (UINT32_C(0x6996) >> (bits & 15) & 1) << lane;
        }
    }
}

static inline void bank_masks(const uint64_t address[WM_LANES], unsigned words, uint32_t out[WM_LANES])
{
    const uint32_t ones = (UINT32_C(1) << words) - 1;

    for (unsigned lane = 0; lane < WM_LANES; lane++)
        out[lane] = ones << (address[lane] >> 2 & 31);
}

/* Adds the counts of 2n masks, bit by bit, to those of n: plane k holds bit k of each count. */
static inline void fold(uint32_t plane[6][WM_LANES / 2], unsigned planes, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        uint32_t carry = 0;

        for (unsigned k = 0; k < planes; k++) {
            const uint32_t a = plane[k][i];
            const uint32_t b = plane[k][i + n];

            plane[k][i] = a ^ b ^ carry;
            carry = (a & b) | (carry & (a | b));
        }
        plane[planes][i] = carry;
    }
}

static inline unsigned busiest(const uint32_t banks[WM_LANES])
{
    uint32_t plane[6][WM_LANES / 2];
    uint32_t candidates = UINT32_MAX;
    unsigned most = 0;

    for (unsigned i = 0; i < WM_LANES / 2; i++) {
        plane[0][i] = banks[i] ^ banks[i + WM_LANES / 2];
        plane[1][i] = banks[i] & banks[i + WM_LANES / 2];
    }
    fold(plane, 2, 8);
    fold(plane, 3, 4);
    fold(plane, 4, 2);
    fold(plane, 5, 1);
    for (unsigned k = 6; k-- > 0;) {
        const uint32_t better = candidates & plane[k][0];

        candidates = better ? better : candidates;
        most |= (unsigned)(better != 0) << k;
    }
    return most;
}

#include "model/fast.h"
