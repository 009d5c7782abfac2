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

WMI_TARGET static inline void bank_masks(const uint64_t address[WM_LANES], unsigned words, uint32_t out[WM_LANES])
{
    const __m256i ones = _mm256_set1_epi32((1 << words) - 1);
    const __m256i low_five = _mm256_set1_epi32(31);

    for (unsigned lane = 0; lane < WM_LANES; lane += 8) {
        const __m256i eight = _mm512_cvtepi64_epi32(load_eight(address + lane));
        const __m256i bank = _mm256_and_si256(_mm256_srli_epi32(eight, 2), low_five);

        _mm256_storeu_si256((__m256i *)(void *)(out + lane), _mm256_sllv_epi32(ones, bank));
    }
}

#include "model/fast.h"
#endif
