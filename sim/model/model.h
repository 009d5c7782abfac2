/* What the units of the model share. Internal to the library. */
#ifndef WM_MODEL_H
#define WM_MODEL_H

#include "arch/profile.h"
#include "warpmem.h"

/* Most phases of one access: 32-byte lanes are served four at a time. */
#define WMI_PHASES 8

/*
 * The lanes of an access, grouped by the 128-byte line they touch (in shared memory: the row of all banks), in the order
 * of the first lane of each line. Within a line every bank holds exactly one word, so the words that lanes touch are a
 * bit mask, equal words merge by themselves, and a bank's distinct words are the lines whose mask has its bit.
 */
struct wmi_lines {
    unsigned count;
    unsigned phases;                         /* phases of the access, empty ones included */
    const uint64_t *address;                /* by lane: what they were made of; it must live as long */
    uint32_t mask;                          /* lanes that are active */
    uint64_t index[WM_LANES];               /* address / line size */
    uint32_t sectors[WM_LANES];             /* bit s: sector s of the line is touched */
    uint32_t banks[WM_LANES][WMI_PHASES];   /* bit b: bank b is touched, by lanes of that phase */
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

/* The lanes first .. first + count - 1; count is 1 to 32. */
static inline uint32_t wmi_lane_range(unsigned first, unsigned count)
{
    return (uint32_t)(((UINT64_C(1) << count) - 1) << first);
}

/* The banks that a lane's width covers: one for lanes narrower than a bank. */
static inline uint32_t wmi_lane_banks(const struct wm_profile *profile, uint64_t address, unsigned width_bytes)
{
    const unsigned shift = wmi_log2(profile->bank_bytes);
    const unsigned banks = width_bytes > profile->bank_bytes ? width_bytes >> shift : 1;

    return (uint32_t)((UINT64_C(1) << banks) - 1) << (address >> shift & (profile->banks - 1));
}

/* The tag bank of a line. */
static inline unsigned wmi_tag_bank(const struct wm_profile *profile, uint64_t line)
{
    unsigned bank = 0;

    for (unsigned k = 0; k < profile->tag_bank_bits; k++)
        bank |= (unsigned)__builtin_parityll(line & profile->tag_bank_mask[k]) << k;
    return bank;
}

/* Lanes whose addresses matter: the active ones, but of a matrix instruction only those that supply rows. */
static inline uint32_t wmi_lanes_used(const struct wm_access *access)
{
    const unsigned rows = 8U * access->opcode.matrices;

    return rows ? access->mask & wmi_lane_range(0, rows) : access->mask;
}

/* Groups the active lanes of mask; phase_lanes lanes make a phase. */
void wmi_lines_of(const struct wm_profile *profile, const uint64_t address[WM_LANES], uint32_t mask, unsigned width_bytes,
                  unsigned phase_lanes, struct wmi_lines *lines);

/* Gives each line, in order, the first tag wavefront in which its tag bank is free; returns the number of wavefronts. */
unsigned wmi_tag_wavefronts(const struct wm_profile *profile, const struct wmi_lines *lines, uint8_t wavefront[WM_LANES]);

/* The most words in one bank: of all lines in one phase; summed over the phases; and that of the lines in one tag
 * wavefront. */
unsigned wmi_phase_passes(const struct wmi_lines *lines, unsigned phase);
unsigned wmi_data_passes(const struct wmi_lines *lines);
unsigned wmi_wavefront_passes(const struct wmi_lines *lines, const uint8_t wavefront[WM_LANES], unsigned which);

/* Phases that have some of lanes; and those of the lines in one tag wavefront. */
unsigned wmi_busy_phases(uint32_t lanes, unsigned phase_lanes);
unsigned wmi_wavefront_phases(const struct wmi_lines *lines, const uint8_t wavefront[WM_LANES], unsigned which);

unsigned wmi_sectors(const struct wmi_lines *lines);

/* Splits lanes at the same address into rounds: round[r] holds the r-th lane of each address. Returns their number. */
unsigned wmi_rounds(const uint64_t address[WM_LANES], uint32_t mask, uint32_t round[WM_LANES]);

/* Addresses of shared::cluster: where the block's number stands, and how many bits it has. */
#define WMI_CLUSTER_BIT  24
#define WMI_CLUSTER_BITS 4

/* Bits of such an address that no block's shared memory reaches. */
static inline uint64_t wmi_cluster_gap(const struct wm_profile *profile)
{
    return (UINT64_C(1) << WMI_CLUSTER_BIT) - profile->cluster_tag_bytes;
}

/* An access to other blocks' shared memory as one to global memory that misses, at the addresses that the tag stage sees;
 * and back from such an address. */
void wmi_cluster_move(const struct wm_profile *profile, const struct wm_access *access, struct wm_access *out);
uint64_t wmi_cluster_address(const struct wm_profile *profile, uint64_t moved);

/* What of its counts is other than global memory's. */
void wmi_cluster_counts(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);

/* Distinct addresses of active lanes. */
unsigned wmi_distinct(const uint64_t address[WM_LANES], uint32_t mask);

/* The fewest sectors that could hold the distinct bytes of the active lanes. */
unsigned wmi_ideal_sectors(const struct wm_profile *profile, const struct wm_access *access);

/* Most attempts of a store of narrow lanes: each writes a word or is blocked by one of 32 sectors. */
#define WMI_ATTEMPTS 128

/* Which tag wavefronts of a store share data wavefronts. */
struct wmi_store_group {
    unsigned first_wave;
    unsigned waves;
    uint32_t cycle;    /* in which the group was formed, from the store's first */
    unsigned attempts; /* lanes narrower than a bank: to write its words */
};

struct wmi_store_plan {
    unsigned groups; /* 0: all share */
    struct wmi_store_group group[WM_LANES];
    uint32_t written[WMI_ATTEMPTS]; /* lanes narrower than a bank: banks that got a word, by attempt, the groups' in turn */
};

/* Data passes of a store. *exact becomes 0 where the result is no more than near. plan, unless NULL, tells how they come
 * about; it is all zero before. */
unsigned wmi_store_passes(const struct wm_profile *profile, const struct wmi_lines *lines,
                          const uint8_t wavefront[WM_LANES], unsigned wavefronts, unsigned width_bytes, int *exact,
                          struct wmi_store_plan *plan);

/* Shared memory: the lanes of a phase; by which distance of partners it has doubled, 0: by none; whether lanes at the same
 * word cost one pass. */
unsigned wmi_shared_phase_lanes(const struct wm_profile *profile, const struct wm_access *access);
unsigned wmi_shared_merge(const struct wm_profile *profile, const struct wm_access *access);
int wmi_shared_words_merge(const struct wm_profile *profile, const struct wm_access *access);

/* Local memory: requests of an access, and where the lanes' pieces number piece lie in the warp's window. */
unsigned wmi_local_pieces(const struct wm_profile *profile, const struct wm_access *access);
void wmi_local_addresses(const struct wm_profile *profile, const struct wm_access *access, unsigned piece,
                         uint64_t address[WM_LANES]);

/* Atomics on global memory: the lanes of pending that go in the next pass. */
uint32_t wmi_atomic_pass(const struct wm_profile *profile, const struct wm_access *access, uint32_t pending);

/* The widest lanes of which the values of a compare-and-swap were measured: 16 B ones are inexact. */
#define WMI_CAS_BYTES 8

/* How the request of a pass lies in the banks, where that is other than its addresses say. */
struct wmi_atomic_layout {
    unsigned phase_lanes;
    int is_doubled;  /* as lanes of twice the width at twice their address */
    unsigned folded; /* banks that differ in these bits alone are one */
};
struct wmi_atomic_layout wmi_atomic_layout(const struct wm_profile *profile, const struct wm_access *access, uint32_t going,
                                           const struct wmi_lines *lines);

/* cp.async: the tag wavefront of each active lane's source line; returns the number of tag wavefronts. */
unsigned wmi_copy_wavefronts(const struct wm_profile *profile, const struct wm_access *access,
                             const struct wmi_lines *lines, uint8_t of_lane[WM_LANES]);

/* Of a phase's lanes those that are served together with that tag wavefront; on an L1 hit, all. Their passes, with that of
 * each lane, 1-based; and the fewest passes of the phase, wherever its data may lie. */
uint32_t wmi_copy_group(const struct wm_access *access, uint32_t phase, const uint8_t wavefront[WM_LANES], unsigned which);
unsigned wmi_copy_passes(const struct wm_profile *profile, const struct wm_access *access, uint32_t group,
                         uint8_t pass[WM_LANES]);
unsigned wmi_copy_ideal_passes(const struct wm_access *access, uint32_t phase);

/* What a copy past L1 looks up: a source line together with the shared row that some of it goes to. */
struct wmi_pair {
    uint64_t line;
    uint64_t row;
    unsigned wavefront; /* of the source line */
    unsigned queued;    /* tag wavefront of the pair */
    unsigned last;      /* the highest lane */
    uint32_t from;      /* sectors asked for: of the source line, */
    uint32_t to;        /* and of the shared row */
    uint32_t items;     /* bit i: item i is its own */
};

/* Source bytes for one shared sector: a whole source sector, straight or with its halves swapped, or one half of it. */
struct wmi_item {
    unsigned pair;
    unsigned to;     /* shared sector in its row */
    unsigned from;   /* source sector in its line */
    unsigned swap;   /* 1: a 16 B half goes to the other half */
    unsigned halves; /* of the shared sector: 1 low, 2 high, 3 both; 0: asked for */
};

/* Packets of a source line on their way to L2. */
struct wmi_packets {
    uint64_t line;
    uint32_t first;      /* sectors of the first packet */
    uint32_t seen;       /* sectors of all */
    unsigned packets;
    unsigned sectors;    /* that L2 is asked for, repeats included */
    unsigned requests;   /* packets, merged */
    int equal;           /* all are the same */
    int repeats;         /* some sector is in two of them */
};

struct wmi_bypass {
    struct wmi_pair pair[WM_LANES];
    unsigned pairs;
    unsigned wavefronts;
    uint8_t pair_of[WM_LANES]; /* by lane */
    uint32_t won;              /* lanes that are asked for */
    struct wmi_item item[WM_LANES];
    unsigned items;
    unsigned sectors; /* distinct pairs of source line and shared sector */
    struct wmi_packets asked[WM_LANES];
    unsigned asked_lines;
    uint32_t inexact; /* bits of enum wm_counter */
};

/* wavefront, wavefronts: of wmi_copy_wavefronts(). */
void wmi_copy_bypass(const struct wm_profile *profile, const struct wm_access *access, const uint8_t wavefront[WM_LANES],
                     unsigned wavefronts, struct wmi_bypass *bypass);

/* How an access is served: WM_PATH_COPY stands for all copies here. */
enum wm_path wmi_path(const struct wm_profile *profile, const struct wm_access *access);

/* The units: each adds what it knows to *out, which is all zero before. lsu_writeback: phases whose results go to the registers. */
void wmi_shared(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
void wmi_global(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
void wmi_local(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
void wmi_atomic(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
void wmi_copy(const struct wm_profile *profile, const struct wm_access *access, struct wm_counts *out);
/* What a copy that reads nothing is to shared memory: a store of zeros. */
void wmi_fill_store(const struct wm_access *access, struct wm_access *store);

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
