/* The fast path with AVX-512: sixteen lanes to a vector. */
#include "model/model.h"

#ifdef WMI_HAS_X86
#include <immintrin.h>

#define FEATURES target("avx512f,avx512bw,avx512cd,avx512dq,avx512vl,bmi,bmi2,lzcnt,popcnt")
#define WMI_TARGET __attribute__((FEATURES))
#define WMI_INLINE static inline __attribute__((always_inline, FEATURES))
#define WMI_FAST wmi_fast_avx512

struct vec {
    __m512i low;  /* lanes 0 to 15 */
    __m512i high; /* lanes 16 to 31 */
};

struct reading {
    uint64_t any;
    uint64_t differ;
    uint32_t stride;
    struct vec low;
    __m512i address[4];
};

/* One bit a lane from those of the two halves. */
WMI_INLINE uint32_t both_masks(__mmask16 low, __mmask16 high)
{
    return (uint32_t)low | (uint32_t)high << 16;
}

WMI_INLINE uint64_t or_of_eight(__m512i v)
{
    const __m256i four = _mm256_or_si256(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
    const __m128i two = _mm_or_si128(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));

    return (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two)));
}

/* Low halves of thirty-two 64-bit numbers. */
WMI_INLINE void low_halves(__m512i a, __m512i b, __m512i c, __m512i d, struct vec *out)
{
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    out->low = _mm512_permutex2var_epi32(a, even, b);
    out->high = _mm512_permutex2var_epi32(c, even, d);
}

/* Addresses flow from active lanes to the inactive ones behind them, by 1, 2, 4, 8, 16 lanes. */
WMI_INLINE void fill_lanes(__m512i a[4], uint64_t first, uint32_t active)
{
    uint32_t have = active;
    uint32_t take;

#define FLOW(distance)                                                                                                 \
    take = ~have & have << (distance);                                                                                 \
    a[3] = _mm512_mask_alignr_epi64(a[3], (__mmask8)(take >> 24), a[3], a[2], 8 - (distance));                         \
    a[2] = _mm512_mask_alignr_epi64(a[2], (__mmask8)(take >> 16), a[2], a[1], 8 - (distance));                         \
    a[1] = _mm512_mask_alignr_epi64(a[1], (__mmask8)(take >> 8), a[1], a[0], 8 - (distance));                          \
    a[0] = _mm512_mask_alignr_epi64(a[0], (__mmask8)take, a[0], a[0], 8 - (distance));                                 \
    have |= take
    FLOW(1);
    FLOW(2);
    FLOW(4);
#undef FLOW
    take = ~have & have << 8;
    a[3] = _mm512_mask_mov_epi64(a[3], (__mmask8)(take >> 24), a[2]);
    a[2] = _mm512_mask_mov_epi64(a[2], (__mmask8)(take >> 16), a[1]);
    a[1] = _mm512_mask_mov_epi64(a[1], (__mmask8)(take >> 8), a[0]);
    have |= take;
    take = ~have & have << 16;
    a[3] = _mm512_mask_mov_epi64(a[3], (__mmask8)(take >> 24), a[1]);
    a[2] = _mm512_mask_mov_epi64(a[2], (__mmask8)(take >> 16), a[0]);
    have |= take;
    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++)
        a[i] = _mm512_mask_set1_epi64(a[i], (__mmask8)(~have >> 8 * i), (long long)first);
}

WMI_INLINE void read_lanes(const uint64_t address[WM_LANES], uint32_t active, struct reading *r)
{
    const uint64_t first = address[wmi_log2(active)];
    const __m512i all_first = _mm512_set1_epi64((long long)first);
    __m512i differ = _mm512_setzero_si512();
    __m512i a[4];

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++)
        a[i] = _mm512_loadu_si512(address + 8 * i);
    if (active != UINT32_MAX)
        fill_lanes(a, first, active);
    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        differ = _mm512_or_si512(differ, _mm512_xor_si512(a[i], all_first));
        r->address[i] = a[i];
    }
    r->differ = or_of_eight(differ);
    r->any = first | r->differ;
    r->stride = (uint32_t)(address[1] - address[0]);
    low_halves(a[0], a[1], a[2], a[3], &r->low);
}

WMI_INLINE void line_ids(const struct reading *r, struct vec *line)
{
    const __m512i *a = r->address;

    low_halves(_mm512_srli_epi64(a[0], WMI_LINE_SHIFT), _mm512_srli_epi64(a[1], WMI_LINE_SHIFT),
               _mm512_srli_epi64(a[2], WMI_LINE_SHIFT), _mm512_srli_epi64(a[3], WMI_LINE_SHIFT), line);
}

WMI_INLINE void shift_right(const struct vec *v, unsigned count, struct vec *out)
{
    out->low = _mm512_srli_epi32(v->low, count);
    out->high = _mm512_srli_epi32(v->high, count);
}

/* Each lane's predecessor; the first lane's is the lane itself. */
WMI_INLINE void predecessors(const struct vec *v, struct vec *out)
{
    const __m512i order = _mm512_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);

    out->low = _mm512_permutexvar_epi32(order, v->low);
    out->high = _mm512_alignr_epi32(v->high, v->low, 15);
}

WMI_INLINE int ascends(const struct reading *r)
{
    const struct vec *v = &r->low;
    struct vec before;

    predecessors(v, &before);
    return (_mm512_cmplt_epu32_mask(v->low, before.low) | _mm512_cmplt_epu32_mask(v->high, before.high)) == 0;
}

WMI_INLINE uint32_t changes(const struct reading *r, unsigned shift)
{
    const struct vec *v = &r->low;
    const __m512i kept = _mm512_set1_epi32((int)(UINT32_MAX << shift));
    struct vec before;

    predecessors(v, &before);
    return 1U | both_masks(_mm512_test_epi32_mask(_mm512_xor_si512(v->low, before.low), kept),
                           _mm512_test_epi32_mask(_mm512_xor_si512(v->high, before.high), kept));
}

WMI_INLINE int is_strided(const struct reading *r)
{
    const __m512i stride = _mm512_set1_epi32((int)r->stride);
    struct vec before;

    predecessors(&r->low, &before);
    return (_mm512_cmpneq_epi32_mask(_mm512_sub_epi32(r->low.low, before.low), stride) & ~1U) == 0 &&
           _mm512_cmpneq_epi32_mask(_mm512_sub_epi32(r->low.high, before.high), stride) == 0;
}

/* Within each half the processor looks for equal numbers; across, all turns of the low half meet the high one: quarters
 * change places, and in them the four numbers. */
WMI_INLINE uint32_t firsts(const struct vec *v)
{
    const __m512i in_low = _mm512_conflict_epi32(v->low);
    const __m512i in_high = _mm512_conflict_epi32(v->high);
    const __m512i quarters[4] = {v->low, _mm512_shuffle_i64x2(v->low, v->low, 0x39),
                                 _mm512_shuffle_i64x2(v->low, v->low, 0x4E),
                                 _mm512_shuffle_i64x2(v->low, v->low, 0x93)};
    unsigned across = 0;

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const __m512i q = quarters[i];

        across |= _mm512_cmpeq_epi32_mask(v->high, q);
        across |= _mm512_cmpeq_epi32_mask(v->high, _mm512_shuffle_epi32(q, 0x39));
        across |= _mm512_cmpeq_epi32_mask(v->high, _mm512_shuffle_epi32(q, 0x4E));
        across |= _mm512_cmpeq_epi32_mask(v->high, _mm512_shuffle_epi32(q, 0x93));
    }
    return ~both_masks(_mm512_test_epi32_mask(in_low, in_low),
                       (__mmask16)(_mm512_test_epi32_mask(in_high, in_high) | across));
}

WMI_INLINE uint32_t equal_to(const struct vec *v, unsigned lane)
{
    const __m512i index = _mm512_set1_epi32((int)lane);
    const __m512i one = _mm512_permutex2var_epi32(v->low, index, v->high);

    return both_masks(_mm512_cmpeq_epi32_mask(v->low, one), _mm512_cmpeq_epi32_mask(v->high, one));
}

WMI_INLINE unsigned pairs_share(const struct vec *v)
{
    const unsigned by_one = (unsigned)_mm512_cmpneq_epi32_mask(v->low, _mm512_shuffle_epi32(v->low, 0xB1)) |
                            (unsigned)_mm512_cmpneq_epi32_mask(v->high, _mm512_shuffle_epi32(v->high, 0xB1));
    const unsigned by_two = (unsigned)_mm512_cmpneq_epi32_mask(v->low, _mm512_shuffle_epi32(v->low, 0x4E)) |
                            (unsigned)_mm512_cmpneq_epi32_mask(v->high, _mm512_shuffle_epi32(v->high, 0x4E));

    return (unsigned)(by_one == 0) | (unsigned)(by_two == 0) << 1;
}

/* Both parities of sixteen lines: each folds to a half of its lane, then both together to the half's top bit. */
WMI_INLINE __m512i fold_tags(__m512i line, __m512i mask_0, __m512i mask_1)
{
    __m512i a = _mm512_and_si512(line, mask_0);
    __m512i b = _mm512_and_si512(line, mask_1);
    __m512i both;

    a = _mm512_xor_si512(a, _mm512_srli_epi32(a, 16));
    b = _mm512_xor_si512(b, _mm512_slli_epi32(b, 16));
    both = _mm512_mask_blend_epi16(0xAAAAAAAA, a, b);
    both = _mm512_xor_si512(both, _mm512_slli_epi16(both, 8));
    both = _mm512_xor_si512(both, _mm512_slli_epi16(both, 4));
    both = _mm512_xor_si512(both, _mm512_slli_epi16(both, 2));
    return _mm512_xor_si512(both, _mm512_slli_epi16(both, 1));
}

WMI_INLINE void tag_bits(const struct vec *line, const struct wm_profile *profile, uint32_t bit[2])
{
    const __m512i mask_0 = _mm512_set1_epi32((int)(uint32_t)profile->tag_bank_mask[0]);
    const __m512i mask_1 = _mm512_set1_epi32((int)(uint32_t)profile->tag_bank_mask[1]);
    const __m512i low = fold_tags(line->low, mask_0, mask_1);
    const __m512i high = fold_tags(line->high, mask_0, mask_1);

    bit[0] =
        both_masks(_mm512_movepi32_mask(_mm512_slli_epi32(low, 16)), _mm512_movepi32_mask(_mm512_slli_epi32(high, 16)));
    bit[1] = both_masks(_mm512_movepi32_mask(low), _mm512_movepi32_mask(high));
}

WMI_INLINE void bank_masks(const struct vec *low, unsigned words, struct vec *out)
{
    const __m512i ones = _mm512_set1_epi32((1 << words) - 1);

    /* a rotation takes its count modulo 32; aligned lanes do not wrap */
    out->low = _mm512_rolv_epi32(ones, _mm512_srli_epi32(low->low, 2));
    out->high = _mm512_rolv_epi32(ones, _mm512_srli_epi32(low->high, 2));
}

WMI_INLINE void add_phase(const struct vec *v, unsigned phases, struct vec *out)
{
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i count = _mm_cvtsi32_si128((int)wmi_log2(WM_LANES / phases));
    const __m512i low = _mm512_srl_epi32(lane, count);
    const __m512i high = _mm512_srl_epi32(_mm512_add_epi32(lane, _mm512_set1_epi32(16)), count);

    out->low = _mm512_or_si512(v->low, _mm512_slli_epi32(low, 30));
    out->high = _mm512_or_si512(v->high, _mm512_slli_epi32(high, 30));
}

WMI_INLINE void keep(const struct vec *v, uint32_t lanes, struct vec *out)
{
    out->low = _mm512_maskz_mov_epi32((__mmask16)lanes, v->low);
    out->high = _mm512_maskz_mov_epi32((__mmask16)(lanes >> 16), v->high);
}

WMI_INLINE void put(struct vec *v, unsigned lane, uint32_t value)
{
    const __m512i all = _mm512_set1_epi32((int)value);
    const uint32_t bit = UINT32_C(1) << lane;

    v->low = _mm512_mask_or_epi32(v->low, (__mmask16)bit, v->low, all);
    v->high = _mm512_mask_or_epi32(v->high, (__mmask16)(bit >> 16), v->high, all);
}

WMI_INLINE uint32_t or_of(const struct vec *v, uint32_t lanes)
{
    const __m512i low = _mm512_maskz_mov_epi32((__mmask16)lanes, v->low);
    const uint64_t two = or_of_eight(_mm512_mask_or_epi32(low, (__mmask16)(lanes >> 16), low, v->high));

    return (uint32_t)(two | two >> 32);
}

/* A run's lanes flow towards its first, by 1, 2, 4, 8, 16 lanes: bit i of joins: lanes i to i + distance are one run. */
WMI_INLINE void merge_runs(struct vec *v, uint32_t starts)
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i low = v->low;
    __m512i high = v->high;
    uint32_t joins = ~starts >> 1;

#define FLOW(distance)                                                                                                 \
    low = _mm512_mask_or_epi32(low, (__mmask16)joins, low, _mm512_alignr_epi32(high, low, distance));                  \
    high = _mm512_mask_or_epi32(high, (__mmask16)(joins >> 16), high, _mm512_alignr_epi32(zero, high, distance));      \
    joins &= joins >> (distance)
    FLOW(1);
    FLOW(2);
    FLOW(4);
    FLOW(8);
#undef FLOW
    low = _mm512_mask_or_epi32(low, (__mmask16)joins, low, high);
    v->low = _mm512_maskz_mov_epi32((__mmask16)starts, low);
    v->high = _mm512_maskz_mov_epi32((__mmask16)(starts >> 16), high);
}

/* Truth tables: a ^ b ^ c, and the majority of a, b, c. */
#define SUM3 0x96
#define CARRY3 0xE8

/* Adds two numbers held bit by bit, one to each 32-bit column: `count` planes each, count + 1 in the sum, a. For vectors
 * of `bits` bits; `prefix` begins the names of intrinsics for them. */
#define ADD_PLANES(a, b, count, vector, prefix, bits)                                                                  \
    do {                                                                                                               \
        vector carry = prefix##_and_si##bits((a)[0], (b)[0]);                                                          \
                                                                                                                       \
        (a)[0] = prefix##_xor_si##bits((a)[0], (b)[0]);                                                                \
        WMI_UNROLL                                                                                                     \
        for (unsigned k = 1; k < (count); k++) {                                                                       \
            const vector sum = prefix##_ternarylogic_epi32((a)[k], (b)[k], carry, SUM3);                               \
                                                                                                                       \
            carry = prefix##_ternarylogic_epi32((a)[k], (b)[k], carry, CARRY3);                                        \
            (a)[k] = sum;                                                                                              \
        }                                                                                                              \
        (a)[count] = carry;                                                                                            \
    } while (0)

/* The largest number in the columns of the first lane. */
WMI_INLINE unsigned largest(const __m128i plane[6])
{
    uint32_t candidates = UINT32_MAX;
    unsigned most = 0;

    WMI_UNROLL
    for (unsigned k = 6; k-- > 0;) {
        const uint32_t better = candidates & (uint32_t)_mm_cvtsi128_si32(plane[k]);

        candidates = better ? better : candidates;
        most |= (unsigned)(better != 0) << k;
    }
    return most;
}

/* The most of 32 masks that have the same bit: halves are added as long as there are halves. */
WMI_INLINE unsigned busiest(const struct vec *v)
{
    const __m512i one = _mm512_xor_si512(v->low, v->high);
    const __m512i two = _mm512_and_si512(v->low, v->high);
    __m256i a[3] = {_mm512_castsi512_si256(one), _mm512_castsi512_si256(two)};
    const __m256i b[2] = {_mm512_extracti64x4_epi64(one, 1), _mm512_extracti64x4_epi64(two, 1)};
    __m128i low[6];
    __m128i high[5];

    ADD_PLANES(a, b, 2, __m256i, _mm256, 256);
    WMI_UNROLL
    for (unsigned k = 0; k < 3; k++) {
        low[k] = _mm256_castsi256_si128(a[k]);
        high[k] = _mm256_extracti128_si256(a[k], 1);
    }
    ADD_PLANES(low, high, 3, __m128i, _mm, 128);
    WMI_UNROLL
    for (unsigned k = 0; k < 4; k++)
        high[k] = _mm_shuffle_epi32(low[k], 0x4E);
    ADD_PLANES(low, high, 4, __m128i, _mm, 128);
    WMI_UNROLL
    for (unsigned k = 0; k < 5; k++)
        high[k] = _mm_shuffle_epi32(low[k], 0xB1);
    ADD_PLANES(low, high, 5, __m128i, _mm, 128);
    return largest(low);
}

/* The largest numbers in the columns of several lanes, those that `pick` names, one for each phase. */
WMI_INLINE void largest_of_each(const __m512i plane[5], unsigned planes, __mmask16 pick, struct wmi_phase_counts *out)
{
    __m512i candidates = _mm512_set1_epi32(-1);
    unsigned phases = pick;
    unsigned busy = 0;

    out->sum = 0;
    out->most = 0;
    WMI_UNROLL
    for (unsigned k = planes; k-- > 0;) {
        const __m512i better = _mm512_and_si512(candidates, plane[k]);
        const __mmask16 some = _mm512_test_epi32_mask(better, better);
        const unsigned best = some & phases;

        candidates = _mm512_mask_mov_epi32(candidates, some, better);
        out->sum += wmi_popcount(some & (unsigned)pick) << k;
        out->most |= (unsigned)(best != 0) << k;
        phases = best ? best : phases;
        busy |= some & (unsigned)pick;
    }
    out->busy = wmi_popcount(busy);
}

/* Of two or four phases: all are added at once, each in a 128-bit lane of its own, or two. */
WMI_INLINE void count_phases(const struct vec *v, unsigned phases, struct wmi_phase_counts *out)
{
    const __m512i a = _mm512_shuffle_i64x2(v->low, v->high, 0x88);
    const __m512i b = _mm512_shuffle_i64x2(v->low, v->high, 0xDD);
    __m512i plane[5] = {_mm512_xor_si512(a, b), _mm512_and_si512(a, b)};
    __m512i partner[4];

    if (phases == 1) {
        out->sum = busiest(v);
        out->most = out->sum;
        out->busy = out->sum != 0;
        return;
    }
    WMI_UNROLL
    for (unsigned k = 0; k < 2; k++)
        partner[k] = _mm512_shuffle_epi32(plane[k], 0x4E);
    ADD_PLANES(plane, partner, 2, __m512i, _mm512, 512);
    WMI_UNROLL
    for (unsigned k = 0; k < 3; k++)
        partner[k] = _mm512_shuffle_epi32(plane[k], 0xB1);
    ADD_PLANES(plane, partner, 3, __m512i, _mm512, 512);
    if (phases == 4) {
        largest_of_each(plane, 4, 0x1111, out);
        return;
    }
    WMI_UNROLL
    for (unsigned k = 0; k < 4; k++)
        partner[k] = _mm512_shuffle_i64x2(plane[k], plane[k], 0xB1);
    ADD_PLANES(plane, partner, 4, __m512i, _mm512, 512);
    largest_of_each(plane, 5, 0x0101, out);
}

/* The lines of a set, in order: sixteen of them, and the others. */
WMI_INLINE __m512i take_lines(const struct vec *banks, uint32_t set, __m512i *others)
{
    const __m512i low = _mm512_maskz_compress_epi32((__mmask16)set, banks->low);
    const __m512i high = _mm512_maskz_compress_epi32((__mmask16)(set >> 16), banks->high);
    const unsigned in_low = wmi_popcount(set & 0xFFFF);

    *others = _mm512_maskz_compress_epi32((__mmask16)(0xFFFFU << (16 - in_low)), high);
    return _mm512_mask_expand_epi32(low, (__mmask16)(0xFFFFU << in_low), high);
}

/* Sixteen times four masks of lines: the most of each four that share a bank, summed. Adds the fours that have any bank to
 * *busy. */
WMI_INLINE unsigned degrees_of_four(const __m512i line[4], unsigned *busy)
{
    const __m512i ab = _mm512_and_si512(line[0], line[1]);
    const __m512i cd = _mm512_and_si512(line[2], line[3]);
    const __m512i a_or_b = _mm512_or_si512(line[0], line[1]);
    const __m512i c_or_d = _mm512_or_si512(line[2], line[3]);
    const __m512i two = _mm512_or_si512(_mm512_or_si512(ab, cd), _mm512_and_si512(a_or_b, c_or_d));
    const __m512i three = _mm512_or_si512(_mm512_and_si512(ab, c_or_d), _mm512_and_si512(cd, a_or_b));
    const __m512i one = _mm512_or_si512(a_or_b, c_or_d);
    const __mmask16 any = _mm512_test_epi32_mask(one, one);

    *busy += wmi_popcount(any);
    return wmi_popcount(both_masks(any, _mm512_test_epi32_mask(two, two))) +
           wmi_popcount(both_masks(_mm512_test_epi32_mask(three, three), _mm512_test_epi32_mask(ab, cd)));
}

WMI_INLINE unsigned passes_by_wavefront(const struct vec *banks, unsigned phases, const uint32_t set[4],
                                        unsigned wavefronts, unsigned *busy)
{
    unsigned passes = 0;

    *busy = 0;
    for (unsigned phase = 0; phase < phases; phase++) {
        __m512i line[4];
        __m512i others[4];

        WMI_UNROLL
        for (unsigned bank = 0; bank < 4; bank++)
            line[bank] = take_lines(&banks[phase], set[bank], &others[bank]);
        passes += degrees_of_four(line, busy);
        if (wavefronts > 16)
            passes += degrees_of_four(others, busy);
    }
    return passes;
}

#include "model/fast.h"
#endif
