/* Half precision, and the conversions from floating point to integers as a GPU does them. Internal to the library. */
#ifndef WM_HALF_H
#define WM_HALF_H

#include <math.h>
#include <stdint.h>
#include <string.h>

static inline float wmi_half_to_float(uint16_t bits)
{
    const int exponent = bits >> 10 & 31;
    const int mantissa = bits & 1023;
    const float magnitude = exponent == 31 ? (mantissa ? (float)NAN : (float)INFINITY)
                            : exponent     ? ldexpf((float)(mantissa | 1024), exponent - 25)
                                           : ldexpf((float)mantissa, -24);

    return bits & 0x8000 ? -magnitude : magnitude;
}

/* To the nearest, ties to even. */
static inline uint16_t wmi_float_to_half(float value)
{
    uint32_t bits;
    uint32_t sign;
    uint32_t magnitude;

    memcpy(&bits, &value, sizeof bits);
    sign = bits >> 16 & 0x8000;
    magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return 0x7fff;
    if (magnitude >= 0x477ff000) /* 65520 and up round to infinity */
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000) { /* below 2^-14: a multiple of 2^-24 */
        float units = fabsf(value) * 16777216.0f;

        return (uint16_t)(sign | (uint32_t)nearbyintf(units));
    }
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | ((magnitude >> 13) - (112u << 10)));
}

/* Towards zero, to the nearest value that the type has. PTX ISA, cvt: NaN becomes 0 unless one of the types has 64 bits,
 * then the highest bit alone. from_double: the value was one before. */
static inline uint64_t wmi_double_to_integer(double value, int from_double, int is_64, int is_signed)
{
    if (isnan(value))
        return is_64 ? UINT64_C(1) << 63 : from_double ? UINT64_C(1) << 31 : 0;
    if (is_64 && is_signed)
        return value >= 0x1p63 ? (uint64_t)INT64_MAX : value <= -0x1p63 ? (uint64_t)INT64_MIN : (uint64_t)(int64_t)value;
    if (is_64)
        return value >= 0x1p64 ? UINT64_MAX : value <= 0 ? 0 : (uint64_t)value;
    if (is_signed)
        return (uint64_t)(value >= 0x1p31 ? INT32_MAX : value <= -0x1p31 ? INT32_MIN : (int32_t)value);
    return value >= 0x1p32 ? UINT32_MAX : value <= 0 ? 0 : (uint32_t)value;
}

#endif
