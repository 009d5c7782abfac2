/* The fast path for any processor: with vectors of the compiler's own, which become the processor's where it has some. */
#include <string.h>

#include "model/model.h"

#define WMI_TARGET
#define WMI_INLINE static inline __attribute__((always_inline))
#define WMI_FAST wmi_fast_portable
#define WMI_VEC_IN_MEMORY

/* Four lanes to a vector: what SSE2 and NEON have. */
typedef uint32_t numbers __attribute__((vector_size(16)));
typedef uint64_t addresses __attribute__((vector_size(32)));

#define VECTORS 8U

/* In front of a loop over vectors, see WMI_UNROLL. */
#define FOUR 4U

struct vec {
    union {
        numbers four[VECTORS];
        uint32_t at[WM_LANES];
    };
};

struct reading {
    uint64_t any;
    uint64_t differ;
    uint32_t stride;
    struct vec low;
    struct vec before;       /* low of the lane before, the first lane's its own */
    const uint64_t *address; /* of the access, or filled */
    uint64_t filled[WM_LANES];
};

WMI_INLINE void fill_lanes(const uint64_t address[WM_LANES], uint32_t active, uint64_t filled[WM_LANES]);

/* Lane i of vector v is bit 4 * v + i of masks of lanes. */
WMI_INLINE numbers lane_bits(unsigned v)
{
    return (numbers){1, 2, 4, 8} << FOUR * v;
}

/* All bits of the lanes of vector v that are named. */
WMI_INLINE numbers lane_mask(uint32_t lanes, unsigned v)
{
    return (numbers)((lane_bits(v) & lanes) != 0);
}

WMI_INLINE uint32_t or_of_four(numbers four)
{
    return (four[0] | four[1]) | (four[2] | four[3]);
}

/* Low halves of four addresses. */
WMI_INLINE numbers low_halves(const uint64_t *address, unsigned shift)
{
    addresses four;

    memcpy(&four, address, sizeof four);
    return __builtin_convertvector(four >> shift, numbers);
}

WMI_INLINE void read_lanes(const uint64_t address[WM_LANES], uint32_t active, struct reading *r)
{
    addresses differ = {0};
    uint64_t first;

    if (active != UINT32_MAX) {
        fill_lanes(address, active, r->filled);
        address = r->filled;
    }
    r->address = address;
    first = address[0];
    WMI_UNROLL
    for (unsigned v = 0; v < VECTORS; v++) {
        addresses four;

        memcpy(&four, address + FOUR * v, sizeof four);
        differ |= four ^ first;
        r->low.four[v] = low_halves(address + FOUR * v, 0);
        if (v)
            r->before.four[v] = low_halves(address + FOUR * v - 1, 0);
    }
    r->before.four[0] =
        (numbers){(uint32_t)address[0], (uint32_t)address[0], (uint32_t)address[1], (uint32_t)address[2]};
    r->differ = differ[0] | differ[1] | differ[2] | differ[3];
    r->any = first | r->differ;
    r->stride = (uint32_t)(address[1] - address[0]);
}

WMI_INLINE void line_ids(const struct reading *r, struct vec *line)
{
    WMI_UNROLL
    for (unsigned v = 0; v < VECTORS; v++)
        line->four[v] = low_halves(r->address + FOUR * v, WMI_LINE_SHIFT);
}

WMI_INLINE void shift_right(const struct vec *v, unsigned count, struct vec *out)
{
    WMI_UNROLL
    for (unsigned i = 0; i < VECTORS; i++)
        out->four[i] = v->four[i] >> count;
}

WMI_INLINE int ascends(const struct reading *r)
{
    numbers below = {0};

    WMI_UNROLL
    for (unsigned i = 0; i < VECTORS; i++)
        below |= (numbers)(r->low.four[i] < r->before.four[i]);
    return or_of_four(below) == 0;
}

WMI_INLINE uint32_t changes(const struct reading *r, unsigned shift)
{
    numbers bits = {1};

    WMI_UNROLL
    for (unsigned i = 0; i < VECTORS; i++)
        bits |= (numbers)((r->low.four[i] ^ r->before.four[i]) >> shift != 0) & lane_bits(i);
    return or_of_four(bits);
}

WMI_INLINE int is_strided(const struct reading *r)
{
    numbers other = (r->low.four[0] - r->before.four[0]) ^ r->stride;

    other[0] = 0; /* the first lane has none before */
    WMI_UNROLL
    for (unsigned i = 1; i < VECTORS; i++)
        other |= (r->low.four[i] - r->before.four[i]) ^ r->stride;
    return or_of_four(other) == 0;
}

/* Slots of a hash table: few enough to clear quickly, many enough that two of 32 numbers rarely meet. */
#define SLOTS 512U

WMI_INLINE uint32_t firsts(const struct vec *v)
{
    uint8_t slots[SLOTS]; /* 1 + lane */
    uint16_t slot_of_lane[WM_LANES];
    uint32_t bits = 0;

    memset(slots, 0, sizeof slots);
    for (unsigned lane = 0; lane < WM_LANES; lane++)
        slot_of_lane[lane] = (uint16_t)((v->at[lane] * UINT32_C(0x9E3779B1)) >> 23);
    for (unsigned lane = 0; lane < WM_LANES; lane++) {
        unsigned slot = slot_of_lane[lane];

        while (slots[slot] && v->at[slots[slot] - 1U] != v->at[lane])
            slot = (slot + 1) % SLOTS;
        if (!slots[slot]) {
            slots[slot] = (uint8_t)(lane + 1);
            bits |= UINT32_C(1) << lane;
        }
    }
    return bits;
}

WMI_INLINE uint32_t equal_to(const struct vec *v, unsigned lane)
{
    const uint32_t one = v->at[lane];
    numbers bits = {0};

    WMI_UNROLL
    for (unsigned i = 0; i < VECTORS; i++)
        bits |= (numbers)(v->four[i] == one) & lane_bits(i);
    return or_of_four(bits);
}

WMI_INLINE unsigned pairs_share(const struct vec *v)
{
    uint32_t by_one = 0;
    uint32_t by_two = 0;

    for (unsigned lane = 0; lane < WM_LANES; lane += 4) {
        by_one |= (v->at[lane] ^ v->at[lane + 1]) | (v->at[lane + 2] ^ v->at[lane + 3]);
        by_two |= (v->at[lane] ^ v->at[lane + 2]) | (v->at[lane + 1] ^ v->at[lane + 3]);
    }
    return (unsigned)(by_one == 0) | (unsigned)(by_two == 0) << 1;
}

/* Both parities at once: each folds to a half of its lane, then both together to the half's lowest bit. */
WMI_INLINE void tag_bits(const struct vec *line, const struct wm_profile *profile, uint32_t bit[2])
{
    const uint32_t mask_0 = (uint32_t)profile->tag_bank_mask[0];
    const uint32_t mask_1 = (uint32_t)profile->tag_bank_mask[1];
    numbers bits_0 = {0};
    numbers bits_1 = {0};

    WMI_UNROLL
    for (unsigned i = 0; i < VECTORS; i++) {
        const numbers a = line->four[i] & mask_0;
        const numbers b = line->four[i] & mask_1;
        numbers both = ((a ^ a >> 16) & 0xFFFF) | ((b ^ b << 16) & UINT32_C(0xFFFF0000));

        both ^= both >> 8;
        both ^= both >> 4;
        both ^= both >> 2;
        both ^= both >> 1;
        bits_0 |= (numbers)((both & 1) != 0) & lane_bits(i);
        bits_1 |= (numbers)((both & UINT32_C(0x10000)) != 0) & lane_bits(i);
    }
    bit[0] = or_of_four(bits_0);
    bit[1] = or_of_four(bits_1);
}

/* Not as vectors: not every processor shifts each number by another count. */
WMI_INLINE void bank_masks(const struct vec *low, unsigned words, struct vec *out)
{
    const uint32_t ones = (UINT32_C(1) << words) - 1;

    for (unsigned lane = 0; lane < WM_LANES; lane++)
        out->at[lane] = ones << (low->at[lane] >> 2 & 31);
}

WMI_INLINE void add_phase(const struct vec *v, unsigned phases, struct vec *out)
{
    const unsigned shift = wmi_log2(WM_LANES / phases);

    WMI_UNROLL
    for (unsigned i = 0; i < VECTORS; i++)
        out->four[i] = v->four[i] | (uint32_t)(FOUR * i) >> shift << 30;
}

WMI_INLINE void keep(const struct vec *v, uint32_t lanes, struct vec *out)
{
    WMI_UNROLL
    for (unsigned i = 0; i < VECTORS; i++)
        out->four[i] = v->four[i] & lane_mask(lanes, i);
}

WMI_INLINE uint32_t or_of(const struct vec *v, uint32_t lanes)
{
    numbers bits = {0};

    WMI_UNROLL
    for (unsigned i = 0; i < VECTORS; i++)
        bits |= v->four[i] & lane_mask(lanes, i);
    return or_of_four(bits);
}

/* Adds two numbers held bit by bit, one to each 32-bit column: `count` planes each, count + 1 in the sum, a. */
WMI_INLINE void add_planes(numbers a[6], const numbers b[6], unsigned count)
{
    numbers carry = a[0] & b[0];

    a[0] ^= b[0];
    WMI_UNROLL
    for (unsigned k = 1; k < count; k++) {
        const numbers either = a[k] ^ b[k];
        const numbers both = a[k] & b[k];

        a[k] = either ^ carry;
        carry = both | (either & carry);
    }
    a[count] = carry;
}

/* The sums of two vectors of masks, and of four. */
WMI_INLINE void add_two(const numbers *v, numbers plane[6])
{
    plane[0] = v[0] ^ v[1];
    plane[1] = v[0] & v[1];
}

WMI_INLINE void add_four(const numbers *v, numbers plane[6])
{
    numbers other[6];

    add_two(v, plane);
    add_two(v + 2, other);
    add_planes(plane, other, 2);
}

/* Four numbers in each column, of at most 4 bits: the largest of their sums. */
WMI_INLINE unsigned largest_sum(const numbers plane[6], unsigned planes)
{
    uint32_t sum[6];
    uint32_t carries[2] = {0, 0}; /* into the next plane: of four numbers and a carry of two */
    uint32_t candidates = UINT32_MAX;
    unsigned most = 0;

    for (unsigned k = 0; k < planes; k++) {
        const uint32_t a = plane[k][0] ^ plane[k][1];
        const uint32_t ab = plane[k][0] & plane[k][1];
        const uint32_t c = plane[k][2] ^ plane[k][3];
        const uint32_t cd = plane[k][2] & plane[k][3];
        /* 0 to 4 */
        const uint32_t one = a ^ c;
        const uint32_t two = ab ^ cd ^ (a & c);
        const uint32_t four = ab & cd;
        /* and the carry, 0 to 3 */
        const uint32_t carry = one & carries[0];
        const uint32_t more = (two & carries[1]) | (carry & (two ^ carries[1]));

        sum[k] = one ^ carries[0];
        carries[0] = two ^ carries[1] ^ carry;
        carries[1] = four | more;
    }
    sum[planes] = carries[0];
    sum[planes + 1] = carries[1];
    for (unsigned k = planes + 2; k-- > 0;) {
        const uint32_t better = candidates & sum[k];

        candidates = better ? better : candidates;
        most |= (unsigned)(better != 0) << k;
    }
    return most;
}

WMI_INLINE void count_phases(const struct vec *v, unsigned phases, struct wmi_phase_counts *out)
{
    numbers plane[6];

    if (phases == 1) {
        numbers other[6];

        add_four(v->four, plane);
        add_four(v->four + 4, other);
        add_planes(plane, other, 3);
        out->sum = largest_sum(plane, 4);
        out->most = out->sum;
        out->busy = out->sum != 0;
        return;
    }
    *out = (struct wmi_phase_counts){0, 0, 0};
    for (unsigned phase = 0; phase < phases; phase++) {
        unsigned passes;

        if (phases == 2) {
            add_four(v->four + 4U * phase, plane);
            passes = largest_sum(plane, 3);
        } else {
            add_two(v->four + 2U * phase, plane);
            passes = largest_sum(plane, 2);
        }
        out->sum += passes;
        out->most = passes > out->most ? passes : out->most;
        out->busy += passes > 0;
    }
}

#include "model/fast.h"
