/* Lists of hex numbers: most of what a trace consists of. */
#include "trace/digits.h"

/* One number and the delimiter behind it, by the same rules as wmi_hex_list(): 1 if more may follow, 0 if the list stops
 * behind it, -1 in front of it. *length is the length of the number before, and then of this one. */
static inline int take_one(const char **at, char delimiter, unsigned *length, uint64_t *value)
{
    const char *p = *at;

    if (p[0] != '0' || p[1] != 'x')
        return -1;
    if (!wmi_hex_run_is(p + 2, *length)) {
        *length = wmi_hex_run(p + 2);
        if (*length == 0)
            return -1;
    }
    if (*length == 16 && !wmi_hex_run_is(p + 18, 0))
        return -1;
    *value = wmi_hex_value(p + 2, *length);
    p += 2 + *length;
    *at = p;
    if (*p != delimiter)
        return 0;
    *at = p + 1;
    return 1;
}

unsigned wmi_hex_list_plain(const char **at, unsigned n, char delimiter, uint64_t *values)
{
    unsigned length = 16;
    unsigned i = 0;

    while (i < n) {
        const int more = take_one(at, delimiter, &length, &values[i]);

        i += more >= 0;
        if (more <= 0)
            break;
    }
    return i;
}

void wmi_fill_stride_plain(uint64_t base, uint64_t stride, uint64_t values[32])
{
    for (unsigned i = 0; i < 32; i++)
        values[i] = base + i * stride;
}

#if WMI_HEX_SSE2 && defined(__GNUC__) && defined(__x86_64__)

#include <immintrin.h>

#define AVX2 __attribute__((target("avx2,bmi,popcnt")))

/* 16 bytes each from a and from b. */
AVX2 static inline __m256i load_pair(const char *a, const char *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)a)),
                                   _mm_loadu_si128((const __m128i *)(const void *)b), 1);
}

/* The values of two times 16 hex digits in lower case, 8 bytes as they are written in the low bytes of 16 bits each.
 * *valid is cleared where a byte is no such digit. */
AVX2 static inline __m256i pair_bytes(__m256i text, __m256i *valid)
{
    const __m256i digits =
        _mm256_setr_epi8('0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f', '0', '1', '2',
                         '3', '4', '5', '6', '7', '8', '9', 'a', 'b', 'c', 'd', 'e', 'f');
    const __m256i nibbles =
        _mm256_add_epi8(_mm256_and_si256(text, _mm256_set1_epi8(0x0f)),
                        _mm256_and_si256(_mm256_cmpgt_epi8(text, _mm256_set1_epi8('9')), _mm256_set1_epi8(9)));

    /* A byte is valid if its value, written again, is the byte. */
    *valid = _mm256_and_si256(*valid, _mm256_cmpeq_epi8(_mm256_shuffle_epi8(digits, nibbles), text));
    return _mm256_maddubs_epi16(nibbles, _mm256_set1_epi16(0x0110));
}

static inline int has_prefix(const char *p)
{
    uint16_t start;

    memcpy(&start, p, sizeof start);
    return start == ('0' | 'x' << 8);
}

/* Four numbers of length digits. Returns 0, and may have written to values, if they are not all of this form. The
 * delimiter of the last one does not matter. */
AVX2 static inline int take_four(const char *p, unsigned length, char delimiter, __m256i tail, __m256i zeros,
                                 uint64_t *values)
{
    const __m256i reverse = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1,
                                             0, 15, 14, 13, 12, 11, 10, 9, 8);
    const size_t size = length + 3;
    const char *digits = p + 2 + length - 16;
    __m256i valid = _mm256_set1_epi8(-1);
    __m256i first;
    __m256i second;

    if (!has_prefix(p) || !has_prefix(p + size) || !has_prefix(p + 2 * size) || !has_prefix(p + 3 * size) ||
        p[size - 1] != delimiter || p[2 * size - 1] != delimiter || p[3 * size - 1] != delimiter)
        return 0;
    first = load_pair(digits, digits + size);
    second = load_pair(digits + 2 * size, digits + 3 * size);
    first = pair_bytes(_mm256_or_si256(_mm256_and_si256(first, tail), zeros), &valid);
    second = pair_bytes(_mm256_or_si256(_mm256_and_si256(second, tail), zeros), &valid);
    if (_mm256_movemask_epi8(valid) != -1)
        return 0;
    /* Packing works in 128-bit halves: the order is 0, 2, 1, 3. */
    first = _mm256_shuffle_epi8(_mm256_packus_epi16(first, second), reverse);
    _mm256_storeu_si256((__m256i *)(void *)values, _mm256_permute4x64_epi64(first, 0xd8));
    return 1;
}

/* Bytes that list_by_marks() looks at, at most: 32 numbers with their delimiters, and some. */
#define MARKS_BYTES 640

/* Where the numbers at p end: offsets of the bytes that are no digits, letters or the like, n of them or more. Returns 0
 * if they stand too close for numbers, or too far apart. */
AVX2 static inline int find_marks(const char *p, unsigned n, uint32_t *marks)
{
    unsigned count = 0;

    for (unsigned offset = 0; count < n; offset += 32) {
        const __m256i text = _mm256_loadu_si256((const __m256i *)(const void *)(p + offset));
        const __m256i ends = _mm256_or_si256(_mm256_cmpgt_epi8(_mm256_set1_epi8('0'), text),
                                             _mm256_cmpeq_epi8(text, _mm256_set1_epi8(']')));
        uint32_t mask = (uint32_t)_mm256_movemask_epi8(ends);
        const unsigned found = (unsigned)_mm_popcnt_u32(mask);

        if (found > 8 || offset == MARKS_BYTES)
            return 0;
            /* Always eight, of which the next block overwrites what is too many: a loop would be mispredicted. */
#pragma GCC unroll 8
        for (unsigned i = 0; i < 8; i++) {
            marks[count + i] = offset + _tzcnt_u32(mask);
            mask &= mask - 1;
        }
        count += found;
    }
    return 1;
}

/* Not 0 if what stands at p is not the delimiter, "0x" and a number of that length. */
static inline uint32_t is_wrong(const char *p, uint32_t length, uint32_t expected)
{
    return (((uint32_t)wmi_load64(p) ^ expected) & 0xffffff) | ((length - 1) & ~UINT32_C(15));
}

/* n numbers, at least two, of any lengths, the delimiter between them. Returns 0, and may have written to values, if they
 * are not all of this form; else 1, and *at is behind the last. */
AVX2 static int list_by_marks(const char **at, unsigned n, char delimiter, uint64_t *values)
{
    /* By length of a number, what of the 16 bytes up to its end is in front of it and becomes '0'. A wrong length reads
     * something, too. */
    static const unsigned char keep[48] = {
        0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
    };
    const __m256i reverse = _mm256_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, -1, -1, -1, -1, -1, -1, -1, -1, 7, 6, 5, 4, 3, 2,
                                             1, 0, -1, -1, -1, -1, -1, -1, -1, -1);
    const char *p = *at;
    const uint32_t expected = (uint32_t)(unsigned char)delimiter | (uint32_t)'0' << 8 | (uint32_t)'x' << 16;
    const uint32_t first_expected = (uint32_t)(unsigned char)p[-1] | (uint32_t)'0' << 8 | (uint32_t)'x' << 16;
    uint32_t marks[1 + WMI_LIST_MAX + 8];
    uint32_t wrong = 0;
    __m256i valid = _mm256_set1_epi8(-1);

    /* Number i is between marks i and i + 1. */
    marks[0] = UINT32_MAX;
    if (n < 2 || n > WMI_LIST_MAX || !find_marks(p, n, marks + 1))
        return 0;
    for (unsigned i = 0; i < n; i += 2) {
        const unsigned k = i + 1 < n ? i : n - 2;
        const uint32_t first = marks[k + 1] - marks[k] - 3;
        const uint32_t second = marks[k + 2] - marks[k + 1] - 3;
        const __m256i tail = load_pair((const char *)keep + (first & 31), (const char *)keep + (second & 31));
        __m256i text = load_pair(p + marks[k + 1] - 16, p + marks[k + 2] - 16);

        text = pair_bytes(_mm256_blendv_epi8(_mm256_set1_epi8('0'), text, tail), &valid);
        text = _mm256_shuffle_epi8(_mm256_packus_epi16(text, text), reverse);
        wrong |= is_wrong(p + (int32_t)marks[k], first, k ? expected : first_expected);
        wrong |= is_wrong(p + marks[k + 1], second, expected);
        _mm_storel_epi64((__m128i *)(void *)(values + k), _mm256_castsi256_si128(text));
        _mm_storel_epi64((__m128i *)(void *)(values + k + 1), _mm256_extracti128_si256(text, 1));
    }
    if (wrong || _mm256_movemask_epi8(valid) != -1)
        return 0;
    *at = p + marks[n];
    return 1;
}

AVX2 static unsigned hex_list_avx2(const char **at, unsigned n, char delimiter, uint64_t *values)
{
    const __m256i positions = _mm256_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5,
                                               6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const unsigned length = wmi_hex_run(*at + 2);
    const __m256i tail = _mm256_cmpgt_epi8(positions, _mm256_set1_epi8((char)(15 - (int)length)));
    const __m256i zeros = _mm256_andnot_si256(tail, _mm256_set1_epi8('0'));
    const char *p = *at;
    unsigned i = 0;

    /* As long as they are as long as the first. */
    while (n - i >= 4 && length > 0 && take_four(p, length, delimiter, tail, zeros, values + i)) {
        const char *last = p + 4 * (length + 3) - 1;

        /* The fourth number may be longer. */
        if (*last != delimiter && !wmi_hex_run_is(last, 0))
            break;
        i += 4;
        p = last;
        if (*last != delimiter) {
            *at = p;
            return i;
        }
        p++;
    }
    *at = p;
    if (n - i >= 4 && list_by_marks(at, n - i, delimiter, values + i)) {
        *at += **at == delimiter;
        return n;
    }
    return i < n ? i + wmi_hex_list_plain(at, n - i, delimiter, values + i) : n;
}

AVX2 static void fill_stride_avx2(uint64_t base, uint64_t stride, uint64_t values[32])
{
    const __m256i step = _mm256_set1_epi64x((long long)(4 * stride));
    __m256i four = _mm256_setr_epi64x((long long)base, (long long)(base + stride), (long long)(base + 2 * stride),
                                      (long long)(base + 3 * stride));

    for (unsigned i = 0; i < 32; i += 4) {
        _mm256_storeu_si256((__m256i *)(void *)(values + i), four);
        four = _mm256_add_epi64(four, step);
    }
}

static inline int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("popcnt");
}

unsigned wmi_hex_list(const char **at, unsigned n, char delimiter, uint64_t *values)
{
    return has_avx2() ? hex_list_avx2(at, n, delimiter, values) : wmi_hex_list_plain(at, n, delimiter, values);
}

void wmi_fill_stride(uint64_t base, uint64_t stride, uint64_t values[32])
{
    if (has_avx2())
        fill_stride_avx2(base, stride, values);
    else
        wmi_fill_stride_plain(base, stride, values);
}

#else

unsigned wmi_hex_list(const char **at, unsigned n, char delimiter, uint64_t *values)
{
    return wmi_hex_list_plain(at, n, delimiter, values);
}

void wmi_fill_stride(uint64_t base, uint64_t stride, uint64_t values[32])
{
    wmi_fill_stride_plain(base, stride, values);
}

#endif
