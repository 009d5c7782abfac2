/* The fast path with AVX-512: eight addresses to a vector. */
#include "model/model.h"

#ifdef WMI_HAS_X86
#include <immintrin.h>
#include <string.h>

#define WMI_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,bmi,bmi2,lzcnt,popcnt")))
#define WMI_FAST wmi_fast_avx512

WMI_TARGET static inline __m512i load_eight(const uint64_t *address)
{
    return _mm512_loadu_si512(address);
}

/* Eight addresses and, in *before, each one's predecessor; the first lane's is the lane itself. */
WMI_TARGET static inline __m512i load_pair(const uint64_t address[WM_LANES], unsigned lane, __m512i *before)
{
    const __m512i here = load_eight(address + lane);
    const __m512i order = _mm512_setr_epi64(0, 0, 1, 2, 3, 4, 5, 6);

    *before = lane ? load_eight(address + lane - 1) : _mm512_permutexvar_epi64(order, here);
    return here;
}

WMI_TARGET static inline uint64_t any_bits(const uint64_t address[WM_LANES])
{
    const __m512i half = _mm512_or_si512(load_eight(address), load_eight(address + 8));
    const __m512i other = _mm512_or_si512(load_eight(address + 16), load_eight(address + 24));

    return (uint64_t)_mm512_reduce_or_epi64(_mm512_or_si512(half, other));
}

WMI_TARGET static inline uint32_t changes(const uint64_t address[WM_LANES], unsigned shift)
{
    const __m512i ignored = _mm512_set1_epi64((long long)(UINT64_MAX << shift));
    uint32_t bits = 1;

    WMI_UNROLL
    for (unsigned lane = 0; lane < WM_LANES; lane += 8) {
        __m512i before;
        const __m512i here = load_pair(address, lane, &before);

        bits |= (uint32_t)_mm512_test_epi64_mask(_mm512_xor_si512(here, before), ignored) << lane;
    }
    return bits;
}

WMI_TARGET static inline int descends(const uint64_t address[WM_LANES])
{
    __m512i borrow = _mm512_setzero_si512();

    WMI_UNROLL
    for (unsigned lane = 0; lane < WM_LANES; lane += 8) {
        __m512i before;
        const __m512i here = load_pair(address, lane, &before);

        borrow = _mm512_or_si512(borrow, _mm512_sub_epi64(here, before));
    }
    return _mm512_movepi64_mask(borrow) != 0;
}

/* Both parities at once: a line has at most 41 bits, so each product folds to 32, and two of them share a lane. */
WMI_TARGET static inline void parities(const uint64_t address[WM_LANES], const struct wm_profile *profile, uint32_t set[2])
{
    const __m512i low = _mm512_set1_epi64((long long)profile->tag_bank_mask[0]);
    const __m512i high = _mm512_set1_epi64((long long)profile->tag_bank_mask[1]);
    uint32_t bits[2] = {0, 0};

    WMI_UNROLL
    for (unsigned lane = 0; lane < WM_LANES; lane += 8) {
        const __m512i line = _mm512_srli_epi64(load_eight(address + lane), WMI_LINE_SHIFT);
        __m512i a = _mm512_and_si512(line, low);
        __m512i b = _mm512_and_si512(line, high);
        __m512i both;

        a = _mm512_xor_si512(a, _mm512_srli_epi64(a, 32));
        b = _mm512_xor_si512(b, _mm512_slli_epi64(b, 32));
        both = _mm512_mask_blend_epi32(0xAAAA, a, b);
        both = _mm512_xor_si512(both, _mm512_slli_epi32(both, 16));
        both = _mm512_xor_si512(both, _mm512_slli_epi32(both, 8));
        both = _mm512_xor_si512(both, _mm512_slli_epi32(both, 4));
        both = _mm512_xor_si512(both, _mm512_slli_epi32(both, 2));
        both = _mm512_xor_si512(both, _mm512_slli_epi32(both, 1));
        bits[0] |= (uint32_t)_mm512_movepi64_mask(_mm512_slli_epi64(both, 32)) << lane;
        bits[1] |= (uint32_t)_mm512_movepi64_mask(both) << lane;
    }
    set[0] = bits[0];
    set[1] = bits[1];
}

/* Whole vectors are stored, since whole vectors are loaded again at once. */
WMI_TARGET static inline void bank_masks(const uint64_t address[WM_LANES], unsigned words, uint32_t out[WM_LANES])
{
    const __m512i ones = _mm512_set1_epi32((1 << words) - 1);
    const __m512i low_five = _mm512_set1_epi32(31);
    const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);

    WMI_UNROLL
    for (unsigned lane = 0; lane < WM_LANES; lane += 16) {
        const __m512i low_halves =
            _mm512_permutex2var_epi32(load_eight(address + lane), even, load_eight(address + lane + 8));
        const __m512i bank = _mm512_and_si512(_mm512_srli_epi32(low_halves, 2), low_five);

        _mm512_storeu_si512(out + lane, _mm512_sllv_epi32(ones, bank));
    }
}

/* A run's lanes flow towards its first, by 1, 2, 4, 8, 16 lanes: bit i of joins: lanes i to i + distance are one run. */
#define WMI_OWN_MERGE_RUNS
WMI_TARGET static inline void merge_runs(uint32_t starts, uint32_t banks[WM_LANES])
{
    const __m512i zero = _mm512_setzero_si512();
    __m512i low = _mm512_loadu_si512(banks);
    __m512i high = _mm512_loadu_si512(banks + 16);
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
    _mm512_storeu_si512(banks, _mm512_maskz_mov_epi32((__mmask16)starts, low));
    _mm512_storeu_si512(banks + 16, _mm512_maskz_mov_epi32((__mmask16)(starts >> 16), high));
}

/* Truth tables: a ^ b ^ c, and the majority of a, b, c. */
#define SUM3 0x96
#define CARRY3 0xE8

/* Adds two numbers held bit by bit, one to each 32-bit column: `count` planes each, count + 1 in the sum. */
WMI_TARGET static inline void add_planes(const __m128i a[5], const __m128i b[5], unsigned count, __m128i sum[6])
{
    __m128i carry = _mm_and_si128(a[0], b[0]);

    sum[0] = _mm_xor_si128(a[0], b[0]);
    WMI_UNROLL
    for (unsigned k = 1; k < count; k++) {
        sum[k] = _mm_ternarylogic_epi32(a[k], b[k], carry, SUM3);
        carry = _mm_ternarylogic_epi32(a[k], b[k], carry, CARRY3);
    }
    sum[count] = carry;
}

WMI_TARGET static inline unsigned busiest(const uint32_t banks[WM_LANES])
{
    const __m512i x0 = _mm512_loadu_si512(banks);
    const __m512i x1 = _mm512_loadu_si512(banks + 16);
    const __m512i one = _mm512_xor_si512(x0, x1);
    const __m512i two = _mm512_and_si512(x0, x1);
    const __m256i one_a = _mm512_castsi512_si256(one);
    const __m256i two_a = _mm512_castsi512_si256(two);
    const __m256i one_b = _mm512_extracti64x4_epi64(one, 1);
    const __m256i two_b = _mm512_extracti64x4_epi64(two, 1);
    const __m256i carry = _mm256_and_si256(one_a, one_b);
    const __m256i plane[3] = {_mm256_xor_si256(one_a, one_b), _mm256_ternarylogic_epi32(two_a, two_b, carry, SUM3),
                              _mm256_ternarylogic_epi32(two_a, two_b, carry, CARRY3)};
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
