/* The fast path with AVX2: eight lanes to a vector. */
#include "model/model.h"

#ifdef WMI_HAS_X86
#include <immintrin.h>
#include <string.h>

#define FEATURES target("avx2,bmi,bmi2,lzcnt,popcnt")
#define WMI_TARGET __attribute__((FEATURES))
#define WMI_INLINE static inline __attribute__((always_inline, FEATURES))
#define WMI_FAST wmi_fast_avx2
#define WMI_VEC_IN_MEMORY

typedef uint32_t numbers __attribute__((vector_size(32)));

struct vec {
    union {
        __m256i eight[4];
        uint32_t at[WM_LANES];
    };
};

struct reading {
    uint64_t any;
    uint64_t differ;
    uint32_t stride;
    struct vec low;
    const uint64_t *address; /* of the access, or filled */
    uint64_t filled[WM_LANES];
};

WMI_INLINE void fill_lanes(const uint64_t address[WM_LANES], uint32_t active, uint64_t filled[WM_LANES]);

WMI_INLINE __m256i load_four(const uint64_t *address)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)address);
}

WMI_INLINE uint32_t sign_bits(__m256i eight)
{
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(eight));
}

/* Low halves of eight 64-bit numbers. */
WMI_INLINE __m256i low_halves(__m256i first, __m256i second)
{
    const __m256 low = _mm256_shuffle_ps(_mm256_castsi256_ps(first), _mm256_castsi256_ps(second), 0x88);

    return _mm256_permute4x64_epi64(_mm256_castps_si256(low), 0xD8);
}

WMI_INLINE void read_lanes(const uint64_t address[WM_LANES], uint32_t active, struct reading *r)
{
    __m256i differ = _mm256_setzero_si256();
    __m256i first;
    __m128i two;

    if (active != UINT32_MAX) {
        fill_lanes(address, active, r->filled);
        address = r->filled;
    }
    r->address = address;
    first = _mm256_set1_epi64x((long long)address[0]);
    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const __m256i a = load_four(address + 8 * i);
        const __m256i b = load_four(address + 8 * i + 4);

        differ = _mm256_or_si256(differ, _mm256_or_si256(_mm256_xor_si256(a, first), _mm256_xor_si256(b, first)));
        r->low.eight[i] = low_halves(a, b);
    }
    two = _mm_or_si128(_mm256_castsi256_si128(differ), _mm256_extracti128_si256(differ, 1));
    r->differ = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(two, _mm_unpackhi_epi64(two, two)));
    r->any = address[0] | r->differ;
    r->stride = (uint32_t)(address[1] - address[0]);
}

WMI_INLINE void line_ids(const struct reading *r, struct vec *line)
{
    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        line->eight[i] = low_halves(_mm256_srli_epi64(load_four(r->address + 8 * i), WMI_LINE_SHIFT),
                                    _mm256_srli_epi64(load_four(r->address + 8 * i + 4), WMI_LINE_SHIFT));
    }
}

WMI_INLINE void shift_right(const struct vec *v, unsigned count, struct vec *out)
{
    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++)
        out->eight[i] = _mm256_srl_epi32(v->eight[i], _mm_cvtsi32_si128((int)count));
}

/* The predecessors of the lanes of vector i; the first lane's is the lane itself. */
WMI_INLINE __m256i predecessors(const struct vec *v, unsigned i)
{
    const __m256i here = v->eight[i];

    if (i == 0)
        return _mm256_permutevar8x32_epi32(here, _mm256_setr_epi32(0, 0, 1, 2, 3, 4, 5, 6));
    return _mm256_alignr_epi8(here, _mm256_permute2x128_si256(v->eight[i - 1], here, 0x21), 12);
}

WMI_INLINE int ascends(const struct reading *r)
{
    const struct vec *v = &r->low;
    __m256i above = _mm256_set1_epi32(-1);

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const __m256i larger = _mm256_max_epu32(v->eight[i], predecessors(v, i));

        above = _mm256_and_si256(above, _mm256_cmpeq_epi32(larger, v->eight[i]));
    }
    return sign_bits(above) == 0xFF;
}

WMI_INLINE uint32_t changes(const struct reading *r, unsigned shift)
{
    const struct vec *v = &r->low;
    const __m128i count = _mm_cvtsi32_si128((int)shift);
    uint32_t same = 0;

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const __m256i difference = _mm256_srl_epi32(_mm256_xor_si256(v->eight[i], predecessors(v, i)), count);

        same |= sign_bits(_mm256_cmpeq_epi32(difference, _mm256_setzero_si256())) << 8 * i;
    }
    return ~same | 1;
}

WMI_INLINE int is_strided(const struct reading *r)
{
    const __m256i stride = _mm256_set1_epi32((int)r->stride);
    uint32_t same = 1;

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const __m256i distance = _mm256_sub_epi32(r->low.eight[i], predecessors(&r->low, i));

        same |= sign_bits(_mm256_cmpeq_epi32(distance, stride)) << 8 * i;
    }
    return same == UINT32_MAX;
}

/* Every lane against all behind it. Within a lane's own vector, those up to itself are masked. */
WMI_INLINE uint32_t firsts(const struct vec *v)
{
    const __m256i lane_number = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i repeats[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(),
                          _mm256_setzero_si256()};
    uint32_t bits = 0;

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned lane = 0; lane < 8; lane++) {
            const __m256i one = _mm256_set1_epi32((int)v->at[8 * i + lane]);
            const __m256i behind = _mm256_cmpgt_epi32(lane_number, _mm256_set1_epi32((int)lane));

            repeats[i] = _mm256_or_si256(repeats[i], _mm256_and_si256(behind, _mm256_cmpeq_epi32(one, v->eight[i])));
            for (unsigned k = i + 1; k < 4; k++)
                repeats[k] = _mm256_or_si256(repeats[k], _mm256_cmpeq_epi32(one, v->eight[k]));
        }
        bits |= sign_bits(repeats[i]) << 8 * i;
    }
    return ~bits;
}

WMI_INLINE uint32_t equal_to(const struct vec *v, unsigned lane)
{
    const __m256i one = _mm256_set1_epi32((int)v->at[lane]);
    uint32_t bits = 0;

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++)
        bits |= sign_bits(_mm256_cmpeq_epi32(one, v->eight[i])) << 8 * i;
    return bits;
}

WMI_INLINE unsigned pairs_share(const struct vec *v)
{
    __m256i by_one = _mm256_set1_epi32(-1);
    __m256i by_two = _mm256_set1_epi32(-1);

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const __m256i here = v->eight[i];

        by_one = _mm256_and_si256(by_one, _mm256_cmpeq_epi32(here, _mm256_shuffle_epi32(here, 0xB1)));
        by_two = _mm256_and_si256(by_two, _mm256_cmpeq_epi32(here, _mm256_shuffle_epi32(here, 0x4E)));
    }
    return (unsigned)(sign_bits(by_one) == 0xFF) | (unsigned)(sign_bits(by_two) == 0xFF) << 1;
}

/* Both parities at once: each folds to a half of its lane, then both together to the half's top bit. */
WMI_INLINE void tag_bits(const struct vec *line, const struct wm_profile *profile, uint32_t bit[2])
{
    const __m256i mask_0 = _mm256_set1_epi32((int)(uint32_t)profile->tag_bank_mask[0]);
    const __m256i mask_1 = _mm256_set1_epi32((int)(uint32_t)profile->tag_bank_mask[1]);

    bit[0] = 0;
    bit[1] = 0;
    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        __m256i a = _mm256_and_si256(line->eight[i], mask_0);
        __m256i b = _mm256_and_si256(line->eight[i], mask_1);
        __m256i both;

        a = _mm256_xor_si256(a, _mm256_srli_epi32(a, 16));
        b = _mm256_xor_si256(b, _mm256_slli_epi32(b, 16));
        both = _mm256_blend_epi16(a, b, 0xAA);
        both = _mm256_xor_si256(both, _mm256_slli_epi16(both, 8));
        both = _mm256_xor_si256(both, _mm256_slli_epi16(both, 4));
        both = _mm256_xor_si256(both, _mm256_slli_epi16(both, 2));
        both = _mm256_xor_si256(both, _mm256_slli_epi16(both, 1));
        bit[0] |= sign_bits(_mm256_slli_epi32(both, 16)) << 8 * i;
        bit[1] |= sign_bits(both) << 8 * i;
    }
}

WMI_INLINE void bank_masks(const struct vec *low, unsigned words, struct vec *out)
{
    const __m256i ones = _mm256_set1_epi32((1 << words) - 1);
    const __m256i low_five = _mm256_set1_epi32(31);

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++) {
        const __m256i bank = _mm256_and_si256(_mm256_srli_epi32(low->eight[i], 2), low_five);

        out->eight[i] = _mm256_sllv_epi32(ones, bank);
    }
}

WMI_INLINE void add_phase(const struct vec *v, unsigned phases, struct vec *out)
{
    const unsigned shift = wmi_log2(phases);

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++)
        out->eight[i] = _mm256_or_si256(v->eight[i], _mm256_set1_epi32((int)((uint32_t)i << shift >> 2 << 30)));
}

/* All bits of the lanes of vector i that `lanes` names. */
WMI_INLINE __m256i lane_mask(uint32_t lanes, unsigned i)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);

    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(lanes >> 8 * i)), bit), bit);
}

WMI_INLINE void keep(const struct vec *v, uint32_t lanes, struct vec *out)
{
    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++)
        out->eight[i] = _mm256_and_si256(v->eight[i], lane_mask(lanes, i));
}

WMI_INLINE uint32_t or_of(const struct vec *v, uint32_t lanes)
{
    __m256i bits = _mm256_setzero_si256();
    __m128i half;
    uint64_t two;

    WMI_UNROLL
    for (unsigned i = 0; i < 4; i++)
        bits = _mm256_or_si256(bits, _mm256_and_si256(v->eight[i], lane_mask(lanes, i)));
    half = _mm_or_si128(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
    two = (uint64_t)_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half)));
    return (uint32_t)(two | two >> 32);
}

/* Adds two numbers held bit by bit, one to each 32-bit column: `count` planes each, count + 1 in the sum, a. */
WMI_INLINE void add_planes(__m256i a[6], const __m256i b[6], unsigned count)
{
    __m256i carry = _mm256_and_si256(a[0], b[0]);

    a[0] = _mm256_xor_si256(a[0], b[0]);
    WMI_UNROLL
    for (unsigned k = 1; k < count; k++) {
        const __m256i either = _mm256_xor_si256(a[k], b[k]);
        const __m256i both = _mm256_and_si256(a[k], b[k]);

        a[k] = _mm256_xor_si256(either, carry);
        carry = _mm256_or_si256(both, _mm256_and_si256(either, carry));
    }
    a[count] = carry;
}

/* Counts of eight lanes, `planes` bits each: the largest of their sums. */
WMI_INLINE unsigned largest_sum(__m256i plane[6], unsigned planes)
{
    __m256i partner[6];
    uint32_t candidates = UINT32_MAX;
    unsigned most = 0;

    WMI_UNROLL
    for (unsigned k = 0; k < planes; k++)
        partner[k] = _mm256_permute2x128_si256(plane[k], plane[k], 0x01);
    add_planes(plane, partner, planes);
    WMI_UNROLL
    for (unsigned k = 0; k < planes + 1; k++)
        partner[k] = _mm256_shuffle_epi32(plane[k], 0x4E);
    add_planes(plane, partner, planes + 1);
    WMI_UNROLL
    for (unsigned k = 0; k < planes + 2; k++)
        partner[k] = _mm256_shuffle_epi32(plane[k], 0xB1);
    add_planes(plane, partner, planes + 2);
    WMI_UNROLL
    for (unsigned k = planes + 3; k-- > 0;) {
        const uint32_t better = candidates & (uint32_t)_mm_cvtsi128_si32(_mm256_castsi256_si128(plane[k]));

        candidates = better ? better : candidates;
        most |= (unsigned)(better != 0) << k;
    }
    return most;
}

WMI_INLINE void count_phases(const struct vec *v, unsigned phases, struct wmi_phase_counts *out)
{
    const __m256i *x = v->eight;

    if (phases == 1) {
        __m256i plane[6] = {_mm256_xor_si256(x[0], x[1]), _mm256_and_si256(x[0], x[1])};
        const __m256i other[6] = {_mm256_xor_si256(x[2], x[3]), _mm256_and_si256(x[2], x[3])};

        add_planes(plane, other, 2);
        out->sum = largest_sum(plane, 3);
        out->most = out->sum;
        out->busy = out->sum != 0;
        return;
    }
    *out = (struct wmi_phase_counts){0, 0, 0};
    for (unsigned phase = 0; phase < phases; phase++) {
        __m256i two[6] = {_mm256_xor_si256(x[2 * phase % 4], x[2 * phase % 4 + 1]),
                          _mm256_and_si256(x[2 * phase % 4], x[2 * phase % 4 + 1])};
        __m256i one[6] = {x[phase]};
        const unsigned passes = phases == 2 ? largest_sum(two, 2) : largest_sum(one, 1);

        out->sum += passes;
        out->most = passes > out->most ? passes : out->most;
        out->busy += passes > 0;
    }
}

#include "model/fast.h"
#endif
