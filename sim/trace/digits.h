/*
 * Numbers out of text, many digits at a time. Internal.
 *
 * The functions look at 8 or 16 bytes from p on, and wmi_hex_value() at up to 16 bytes before p too, whatever stands
 * there: the caller's buffer has WMI_MARGIN bytes on both sides of the text.
 */
#ifndef WM_DIGITS_H
#define WM_DIGITS_H

#include <stdint.h>
#include <string.h>

#if defined(__SSE2__) && !defined(WMI_PORTABLE_DIGITS)
#include <emmintrin.h>
#define WMI_HEX_SSE2 1
#else
#define WMI_HEX_SSE2 0
#endif

/* A byte in each of the eight places. */
#define WMI_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes, the first one lowest. */
static inline uint64_t wmi_load64(const char *p)
{
    uint64_t word;

    memcpy(&word, p, sizeof word);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Bit 7 of each byte that lies in first .. last, both below 0x80. Bytes from 0x80 on never do. */
static inline uint64_t wmi_bytes_within(uint64_t word, unsigned first, unsigned last)
{
    const uint64_t low = word & WMI_EACH(0x7f);

    return (low + WMI_EACH(0x80 - first)) & ~(low + WMI_EACH(0x7f - last)) & ~word & WMI_EACH(0x80);
}

/* How many bytes from the first on have bit 7 set; other bits are 0. */
static inline unsigned wmi_run(uint64_t flags)
{
    const uint64_t others = flags ^ WMI_EACH(0x80);

    return others ? (unsigned)__builtin_ctzll(others) / 8 : 8;
}

static inline uint64_t wmi_hex_flags(uint64_t word)
{
    return wmi_bytes_within(word, '0', '9') | wmi_bytes_within(word | WMI_EACH(0x20), 'a', 'f');
}

/* Eight hex digits, the first one lowest; a zero byte counts as the digit 0. */
static inline uint64_t wmi_hex_word(uint64_t word)
{
    word = (word & WMI_EACH(0x0f)) + 9 * ((word >> 6) & WMI_EACH(0x01));
    word = ((word << 4) | (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    word = ((word << 8) | (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return ((word << 16) | (word >> 32)) & UINT64_C(0xffffffff);
}

static inline unsigned wmi_hex_run_portable(const char *p)
{
    const unsigned run = wmi_run(wmi_hex_flags(wmi_load64(p)));

    return run < 8 ? run : 8 + wmi_run(wmi_hex_flags(wmi_load64(p + 8)));
}

static inline uint64_t wmi_hex_value_portable(const char *p, unsigned length)
{
    const uint64_t first = wmi_load64(p);

    if (length <= 8)
        return wmi_hex_word(first << (8 * (8 - length)));
    return wmi_hex_word(first) << (4 * (length - 8)) | wmi_hex_word(wmi_load64(p + 8) << (8 * (16 - length)));
}

#if WMI_HEX_SSE2

/* Bit i: byte i is a hex digit. */
static inline unsigned wmi_hex_mask(const char *p)
{
    const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i digit = _mm_sub_epi8(text, _mm_set1_epi8('0'));
    const __m128i letter = _mm_sub_epi8(_mm_or_si128(text, _mm_set1_epi8(0x20)), _mm_set1_epi8('a'));
    const __m128i is_digit = _mm_cmpeq_epi8(_mm_min_epu8(digit, _mm_set1_epi8(9)), digit);
    const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);

    return (unsigned)_mm_movemask_epi8(_mm_or_si128(is_digit, is_letter));
}

#endif

/* How many hex digits stand at p; 16 at most. */
static inline unsigned wmi_hex_run(const char *p)
{
#if WMI_HEX_SSE2
    return (unsigned)__builtin_ctz(~wmi_hex_mask(p));
#else
    return wmi_hex_run_portable(p);
#endif
}

/* Whether exactly length hex digits stand at p (for 16: at least 16). */
static inline int wmi_hex_run_is(const char *p, unsigned length)
{
#if WMI_HEX_SSE2
    return (wmi_hex_mask(p) & ((2U << length) - 1)) == (1U << length) - 1;
#else
    return wmi_hex_run_portable(p) == length;
#endif
}

/* The value of the length hex digits at p; length is 1 to 16. */
static inline uint64_t wmi_hex_value(const char *p, unsigned length)
{
#if WMI_HEX_SSE2
    static const unsigned char tail[32] = {0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,
                                           0,    0,    0,    0,    0,    0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                           0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    /* The digits at the end of the register, zero bytes before them. */
    const __m128i text = _mm_and_si128(_mm_loadu_si128((const __m128i *)(const void *)(p + length - 16)),
                                       _mm_loadu_si128((const __m128i *)(const void *)(tail + length)));
    const __m128i nibbles = _mm_add_epi8(_mm_and_si128(text, _mm_set1_epi8(0x0f)),
                                         _mm_and_si128(_mm_cmpgt_epi8(text, _mm_set1_epi8('9')), _mm_set1_epi8(9)));
    const __m128i pairs =
        _mm_and_si128(_mm_or_si128(_mm_slli_epi16(nibbles, 4), _mm_srli_epi16(nibbles, 8)), _mm_set1_epi16(0x00ff));
    const __m128i packed = _mm_packus_epi16(pairs, pairs);
    uint64_t bytes;

#if defined(__x86_64__)
    bytes = (uint64_t)_mm_cvtsi128_si64(packed);
#else
    _mm_storel_epi64((__m128i *)(void *)&bytes, packed);
#endif
    return __builtin_bswap64(bytes);
#else
    return wmi_hex_value_portable(p, length);
#endif
}

/* Most numbers of a list: one for each lane. */
#define WMI_LIST_MAX 32

/* Takes up to n numbers, WMI_LIST_MAX at the most, "0x" and 1 to 16 digits, each followed by the delimiter. Stops, without an opinion, at the first
 * that is not of this form, or behind the first that is followed by something else. Returns how many were taken and
 * moves *at behind them. Numbers of one length run fastest. (digits.c) */
unsigned wmi_hex_list(const char **at, unsigned n, char delimiter, uint64_t *values);

/* The same without a choice by processor. */
unsigned wmi_hex_list_plain(const char **at, unsigned n, char delimiter, uint64_t *values);

/* Number i is base + i * stride, modulo 2^64, for i below 32. (digits.c) */
void wmi_fill_stride(uint64_t base, uint64_t stride, uint64_t values[32]);
void wmi_fill_stride_plain(uint64_t base, uint64_t stride, uint64_t values[32]);

/* The decimal digits at p, 8 at the most: their value. Returns how many there are. */
static inline unsigned wmi_decimal8(const char *p, uint32_t *value)
{
    uint64_t word = wmi_load64(p);
    const unsigned length = wmi_run(wmi_bytes_within(word, '0', '9'));

    if (length == 0)
        return 0;
    word = (word << (8 * (8 - length))) & WMI_EACH(0x0f);
    word = (word * 10 + (word >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    word = (word * 100 + (word >> 16)) & UINT64_C(0x0000ffff0000ffff);
    *value = (uint32_t)(word * 10000 + (word >> 32));
    return length;
}

/* Of the 64 bytes from p on: bit i says that byte i is a space; in *ends, that it is one or a control character. */
static inline uint64_t wmi_spaces_portable(const char *p, uint64_t *ends)
{
    uint64_t spaces = 0;

    *ends = 0;
    for (unsigned i = 0; i < 64; i += 8) {
        const uint64_t word = wmi_load64(p + i);
        /* Gathers bit 7 of the eight bytes in the highest byte. */
        const uint64_t gather = UINT64_C(0x0002040810204081);

        spaces |= (wmi_bytes_within(word, ' ', ' ') * gather >> 56) << i;
        *ends |= (wmi_bytes_within(word, 0, ' ') * gather >> 56) << i;
    }
    return spaces;
}

static inline uint64_t wmi_spaces(const char *p, uint64_t *ends)
{
#if WMI_HEX_SSE2
    uint64_t spaces = 0;

    *ends = 0;
    for (unsigned i = 0; i < 64; i += 16) {
        const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)(p + i));
        const __m128i space = _mm_set1_epi8(' ');

        spaces |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(text, space)) << i;
        *ends |= (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(text, space), text)) << i;
    }
    return spaces;
#else
    return wmi_spaces_portable(p, ends);
#endif
}

/* The first byte from p on that is a blank or a control character. One must be there. */
static inline const char *wmi_token_end(const char *p)
{
#if WMI_HEX_SSE2
    for (;; p += 16) {
        const __m128i text = _mm_loadu_si128((const __m128i *)(const void *)p);
        const unsigned mask = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(text, _mm_set1_epi8(' ')), text));

        if (mask)
            return p + __builtin_ctz(mask);
    }
#else
    while ((unsigned char)*p > ' ')
        p++;
    return p;
#endif
}

#endif
