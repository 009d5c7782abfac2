/* What the units of the model share. Internal to the library. */
#ifndef WM_MODEL_H
#define WM_MODEL_H

#include "arch/profile.h"
#include "warpmem.h"

/* Most phases of one access: 32-byte lanes are served four at a time. */
#define WMI_PHASES 8

/* Most lines that one access can touch: a 16-byte local access of 32 lanes at different offsets. */
#define WMI_LINES 128

/* Slots of the hash table over lines: a power of two, twice as many. */
#define WMI_SLOTS 256

/*
 * The lanes of an access, grouped by the 128-byte line they touch (in shared memory: the row of all banks), in the order
 * of the first lane of each line. Within a line every bank holds exactly one word, so the words that lanes touch are a
 * bit mask, equal words merge by themselves, and a bank's distinct words are the lines whose mask has its bit.
 */
struct wmi_lines {
    unsigned count;
    unsigned phases;                         /* phases of the access, empty ones included */
    uint64_t index[WMI_LINES];               /* address / line size */
    uint32_t sectors[WMI_LINES];             /* bit s: sector s of the line is touched */
    uint32_t banks[WMI_LINES][WMI_PHASES];   /* bit b: bank b is touched, by lanes of that phase */
    uint8_t slots[WMI_SLOTS];                /* hash table: 1 + position of a line; 0: free */
};

/* log2 of a power of two. */
static inline unsigned wmi_log2(uint32_t value)
{
    return (unsigned)__builtin_ctz(value);
}

static inline unsigned wmi_popcount(uint32_t value)
{
    return (unsigned)__builtin_popcount(value);
}

/* Counts, per bit, how many of the added masks have it: bit b of plane k is bit k of the count of bit b. */
struct wmi_degree {
    uint32_t plane[8];
    unsigned planes;
};

static inline void wmi_degree_add(struct wmi_degree *degree, uint32_t mask)
{
    for (unsigned k = 0; mask; k++) {
        uint32_t carry;

        if (k == degree->planes)
            degree->plane[degree->planes++] = 0;
        carry = degree->plane[k] & mask;
        degree->plane[k] ^= mask;
        mask = carry;
    }
}

/* The largest count of any bit. */
static inline unsigned wmi_degree_max(const struct wmi_degree *degree)
{
    uint32_t candidates = UINT32_MAX;
    unsigned max = 0;

    for (unsigned k = degree->planes; k-- > 0;) {
        if (candidates & degree->plane[k]) {
            candidates &= degree->plane[k];
            max |= 1U << k;
        }
    }
    return max;
}

/* Lanes whose addresses matter: the active ones, but of a matrix instruction only those that supply rows. */
static inline uint32_t wmi_lanes_used(const struct wm_access *access)
{
    const unsigned rows = 8U * access->opcode.matrices;

    return rows ? access->mask & (uint32_t)((UINT64_C(1) << rows) - 1) : access->mask;
}

/* Groups lanes: start empty with phase_lanes lanes to a phase, then add the active lanes of mask; or both at once. */
void wmi_lines_start(unsigned phase_lanes, struct wmi_lines *lines);
void wmi_lines_add(const struct wm_profile *profile, const uint64_t address[WM_LANES], uint32_t mask, unsigned width_bytes,
                   struct wmi_lines *lines);
void wmi_lines_of(const struct wm_profile *profile, const uint64_t address[WM_LANES], uint32_t mask, unsigned width_bytes,
                  unsigned phase_lanes, struct wmi_lines *lines);

/* The tag bank of a line. */
unsigned wmi_tag_bank(const struct wm_profile *profile, uint64_t line);

/* Gives each line, in order, the first tag wavefront in which its tag bank is free; returns the number of wavefronts.
 * wavefront may be NULL. */
unsigned wmi_tag_wavefronts(const struct wm_profile *profile, const struct wmi_lines *lines, uint8_t wavefront[WMI_LINES]);

/* The most words in one bank, over the lines whose wavefront lies in first .. last (all lines where wavefront is NULL);
 * summed over the phases. */
unsigned wmi_data_passes(const struct wmi_lines *lines, const uint8_t wavefront[WMI_LINES], unsigned first, unsigned last);

unsigned wmi_sectors(const struct wmi_lines *lines);

/* Splits lanes at the same address into rounds: round[r] holds the r-th lane of each address. Returns their number. */
unsigned wmi_rounds(const uint64_t address[WM_LANES], uint32_t mask, uint32_t round[WM_LANES]);

/* Distinct addresses of active lanes. */
unsigned wmi_distinct(const uint64_t address[WM_LANES], uint32_t mask);

/* The fewest sectors that could hold the distinct bytes of the active lanes. */
unsigned wmi_ideal_sectors(const struct wm_profile *profile, const struct wm_access *access);

/* Data passes of a store. *exact becomes 0 where the result is no more than near. */
unsigned wmi_store_passes(const struct wm_profile *profile, const struct wmi_lines *lines,
                          const uint8_t wavefront[WMI_LINES], unsigned wavefronts, unsigned width_bytes, int *exact);

/* The units: each adds what it knows to *out, which is all zero before. */
void wmi_shared(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
void wmi_global(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
void wmi_local(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
void wmi_atomic(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
void wmi_copy(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);

/* log2 of line and sector size in the fast paths. */
#define WMI_LINE_SHIFT 7U
#define WMI_SECTOR_SHIFT 5U

#if defined(__x86_64__) && defined(__GNUC__)
#define WMI_HAS_X86 1
#endif

/* In front of a short loop over vectors or planes: its trip count is known and it should not stay a loop. */
#ifdef __clang__
#define WMI_UNROLL _Pragma("unroll")
#else
#define WMI_UNROLL _Pragma("GCC unroll 8")
#endif

/* Whether the data of a load is taken to lie in L1. The operators .cg and .cv pass L1 by: what lies there does not help. */
static inline int wmi_hits_l1(const struct wm_access *access)
{
    return access->l1 == WM_L1_HIT && access->opcode.cache != WM_CACHE_CG && access->opcode.cache != WM_CACHE_CV;
}

/* What a fast path finds of the phases of an access: the passes of all, the most of one, the phases that have any. */
struct wmi_phase_counts {
    unsigned sum;
    unsigned most;
    unsigned busy;
};

/* A fast path for loads and stores of at most 16 bytes a lane with at least one active lane. refused: address bits that
 * must be zero. Returns 0, with *out untouched, for an access that it leaves to the reference path. */
typedef int wmi_fast_function(const struct wm_profile *profile, const struct wm_access *access, uint64_t refused,
                              struct wm_counts *out);
wmi_fast_function wmi_fast_portable;
#ifdef WMI_HAS_X86
wmi_fast_function wmi_fast_avx2;
wmi_fast_function wmi_fast_avx512;
#endif

/* The best path that this processor has, or the one named ("portable", "avx2", "avx512"); NULL: none fits the profile or
 * the processor. */
wmi_fast_function *wmi_fast_choose(const struct wm_profile *profile, const char *name);

#endif
