/* The fast path with AVX2: four addresses to a vector. */
#include "model/model.h"

#ifdef WMI_HAS_X86
#include <immintrin.h>
#include <string.h>

#define WMI_TARGET __attribute__((target("avx2,bmi,bmi2,lzcnt,popcnt")))
#define WMI_FAST wmi_fast_avx2

WMI_TARGET static inline __m256i load_four(const uint64_t *address)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)address);
}

/* Four addresses and, in *before, each one's predecessor; the first lane's is the lane itself. */
WMI_TARGET static inline __m256i load_pair(const uint64_t address[WM_LANES], unsigned lane, __m256i *before)
{
    const __m256i here = load_four(address + lane);

    *before = lane ? load_four(address + lane - 1) : _mm256_permute4x64_epi64(here, 0x90);
    return here;
}

WMI_TARGET static inline uint32_t sign_bits(__m256i four)
{
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(four));
}

WMI_TARGET static inline uint64_t any_bits(const uint64_t address[WM_LANES])
{
    __m256i bits = load_four(address);
    __m128i half;

    WMI_UNROLL
    for (unsigned lane = 4; lane < WM_LANES; lane += 4)
        bits = _mm256_or_si256(bits, load_four(address + lane));
    half = _mm_or_si128(_mm256_castsi256_si128(bits), _mm256_extracti128_si256(bits, 1));
    return (uint64_t)_mm_cvtsi128_si64(half) | (uint64_t)_mm_extract_epi64(half, 1);
}

WMI_TARGET static inline uint32_t changes(const uint64_t address[WM_LANES], unsigned shift)
{
    const __m128i count = _mm_cvtsi32_si128((int)shift);
    uint32_t bits = 0;

    WMI_UNROLL
    for (unsigned lane = 0; lane < WM_LANES; lane += 4) {
        __m256i before;
        const __m256i here = load_pair(address, lane, &before);
        const __m256i difference = _mm256_srl_epi64(_mm256_xor_si256(here, before), count);

        bits |= (~sign_bits(_mm256_cmpeq_epi64(difference, _mm256_setzero_si256())) & 15U) << lane;
    }
    return bits | 1;
}

WMI_TARGET static inline int descends(const uint64_t address[WM_LANES])
{
    __m256i borrow = _mm256_setzero_si256();

    WMI_UNROLL
    for (unsigned lane = 0; lane < WM_LANES; lane += 4) {
        __m256i before;
        const __m256i here = load_pair(address, lane, &before);

        borrow = _mm256_or_si256(borrow, _mm256_sub_epi64(here, before));
    }
    return sign_bits(borrow) != 0;
}

/* Both parities at once: a line has at most 41 bits, so each product folds to 32, and two of them share a lane. */
WMI_TARGET static inline void parities(const uint64_t address[WM_LANES], const struct wm_profile *profile, uint32_t set[2])
{
    const __m256i low = _mm256_set1_epi64x((long long)profile->tag_bank_mask[0]);
    const __m256i high = _mm256_set1_epi64x((long long)profile->tag_bank_mask[1]);
    uint32_t bits[2] = {0, 0};

    WMI_UNROLL
    for (unsigned lane = 0; lane < WM_LANES; lane += 4) {
        const __m256i line = _mm256_srli_epi64(load_four(address + lane), WMI_LINE_SHIFT);
        __m256i a = _mm256_and_si256(line, low);
        __m256i b = _mm256_and_si256(line, high);
        __m256i both;

        a = _mm256_xor_si256(a, _mm256_srli_epi64(a, 32));
        b = _mm256_xor_si256(b, _mm256_slli_epi64(b, 32));
        both = _mm256_blend_epi32(a, b, 0xAA);
        both = _mm256_xor_si256(both, _mm256_slli_epi32(both, 16));
        both = _mm256_xor_si256(both, _mm256_slli_epi32(both, 8));
        both = _mm256_xor_si256(both, _mm256_slli_epi32(both, 4));
        both = _mm256_xor_si256(both, _mm256_slli_epi32(both, 2));
        both = _mm256_xor_si256(both, _mm256_slli_epi32(both, 1));
        bits[0] |= sign_bits(_mm256_slli_epi64(both, 32)) << lane;
        bits[1] |= sign_bits(both) << lane;
    }
    set[0] = bits[0];
    set[1] = bits[1];
}

WMI_TARGET static inline void bank_masks(const uint64_t address[WM_LANES], unsigned words, uint32_t out[WM_LANES])
{
    const __m256i ones = _mm256_set1_epi32((1 << words) - 1);
    const __m256i low_five = _mm256_set1_epi32(31);

    WMI_UNROLL
    for (unsigned lane = 0; lane < WM_LANES; lane += 8) {
        const __m256 first = _mm256_castsi256_ps(load_four(address + lane));
        const __m256 second = _mm256_castsi256_ps(load_four(address + lane + 4));
        const __m256i eight =
            _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(first, second, 0x88)), 0xD8);
        const __m256i bank = _mm256_and_si256(_mm256_srli_epi32(eight, 2), low_five);

        _mm256_storeu_si256((__m256i *)(void *)(out + lane), _mm256_sllv_epi32(ones, bank));
    }
}

/* Adds two numbers held bit by bit, one to each 32-bit column: `count` planes each, count + 1 in the sum. */
WMI_TARGET static inline void add_planes(const __m128i a[5], const __m128i b[5], unsigned count, __m128i sum[6])
{
    __m128i carry = _mm_and_si128(a[0], b[0]);

    sum[0] = _mm_xor_si128(a[0], b[0]);
    WMI_UNROLL
    for (unsigned k = 1; k < count; k++) {
        const __m128i either = _mm_xor_si128(a[k], b[k]);

        sum[k] = _mm_xor_si128(either, carry);
        carry = _mm_or_si128(_mm_and_si128(a[k], b[k]), _mm_and_si128(either, carry));
    }
    sum[count] = carry;
}

WMI_TARGET static inline unsigned busiest(const uint32_t banks[WM_LANES])
{
    const __m256i *eight = (const __m256i *)(const void *)banks;
    const __m256i x0 = _mm256_loadu_si256(eight);
    const __m256i x1 = _mm256_loadu_si256(eight + 1);
    const __m256i x2 = _mm256_loadu_si256(eight + 2);
    const __m256i x3 = _mm256_loadu_si256(eight + 3);
    const __m256i one_a = _mm256_xor_si256(x0, x1);
    const __m256i two_a = _mm256_and_si256(x0, x1);
    const __m256i one_b = _mm256_xor_si256(x2, x3);
    const __m256i two_b = _mm256_and_si256(x2, x3);
    const __m256i carry = _mm256_and_si256(one_a, one_b);
    const __m256i either = _mm256_xor_si256(two_a, two_b);
    const __m256i plane[3] = {_mm256_xor_si256(one_a, one_b), _mm256_xor_si256(either, carry),
                              _mm256_or_si256(_mm256_and_si256(two_a, two_b), _mm256_and_si256(either, carry))};
    __m128i low[5];
    __m128i high[5];
    __m128i sum[6];
    uint32_t candidates = UINT32_MAX;
    unsigned most = 0;

    WMI_UNROLL
    for (unsigned k = 0; k < 3; k++) {
        low[k] = _mm256_castsi256_si128(plane[k]);
        high[k] = _mm256_extracti128_si256(plane[k], 1);
    }
    add_planes(low, high, 3, sum);
    WMI_UNROLL
    for (unsigned k = 0; k < 4; k++) {
        low[k] = sum[k];
        high[k] = _mm_shuffle_epi32(sum[k], 0xEE);
    }
    add_planes(low, high, 4, sum);
    WMI_UNROLL
    for (unsigned k = 0; k < 5; k++) {
        low[k] = sum[k];
        high[k] = _mm_shuffle_epi32(sum[k], 0x55);
    }
    add_planes(low, high, 5, sum);
    WMI_UNROLL
    for (unsigned k = 6; k-- > 0;) {
        const uint32_t better = candidates & (uint32_t)_mm_cvtsi128_si32(sum[k]);

        candidates = better ? better : candidates;
        most |= (unsigned)(better != 0) << k;
    }
    return most;
}

#include "model/fast.h"
#endif
