/* Doubles and floats to the shortest decimals that read back as the same value, written as Python's
 * repr does; the closest of them where several are shortest.
 *
 * Giulietti, "The Schubfach way to render doubles", 2020. Its powers of ten come from the caller:
 * power[k - GL_POWER_MIN] = {high, low} half of ceil(10^k * 2^(127 - floor(log2(10^k)))).
 */
#ifndef GASLAB_DECIMAL_H
#define GASLAB_DECIMAL_H
#include <stdint.h>
#include <string.h>

enum { GL_POWER_MIN = -292, GL_POWER_MAX = 324, GL_LONGEST_REAL = 25, GL_LONGEST_INTEGER = 20 };

static const char gl_pairs[201] =
    "00010203040506070809101112131415161718192021222324252627282930313233343536373839404142434445464748495051"
    "525354555657585960616263646566676869707172737475767778798081828384858687888990919293949596979899";

static inline int gl_count_digits(uint64_t value)
{
    int count = 1;
    for (; value >= 10000; value /= 10000) count += 4;
    return count + (value >= 10) + (value >= 100) + (value >= 1000);
}

/* Writes exactly *count* digits at p. */
static inline void gl_write_digits(uint8_t *p, uint64_t value, int count)
{
    for (; count >= 2; value /= 100) {
        count -= 2;
        memcpy(p + count, gl_pairs + 2 * (value % 100), 2);
    }
    if (count) p[0] = (uint8_t)('0' + value % 10);
}

static inline uint8_t *gl_write_integer(uint8_t *p, int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    if (value < 0) *p++ = '-';
    int count = gl_count_digits(size);
    gl_write_digits(p, size, count);
    return p + count;
}

/* floor(g * c / 2^128), with the lowest bit set if anything was cut off. */
static inline uint64_t gl_round_to_odd(const uint64_t g[2], uint64_t c)
{
    unsigned __int128 low = (unsigned __int128)g[1] * c;
    unsigned __int128 high = (unsigned __int128)g[0] * c + (uint64_t)(low >> 64);
    return (uint64_t)(high >> 64) | ((uint64_t)high > 1);
}

/* The shortest decimal digits * 10^*exponent of c * 2^q; *closer*: the next smaller value is half as far. */
static inline uint64_t gl_shortest(uint64_t c, int32_t q, int closer, const uint64_t *power, int32_t *exponent)
{
    int odd = (int)(c & 1);                            /* the borders round to even: they are ours if c is */
    int32_t k = (q * 1262611 - (closer ? 524031 : 0)) >> 22;
    int32_t h = q + ((-k * 1741647) >> 19) + 1;
    const uint64_t *g = power + 2 * (-k - GL_POWER_MIN);
    uint64_t lower = gl_round_to_odd(g, (4 * c - 2 + closer) << h) + odd;
    uint64_t middle = gl_round_to_odd(g, (4 * c) << h);
    uint64_t upper = gl_round_to_odd(g, (4 * c + 2) << h) - odd;
    uint64_t s = middle / 4, tens = s / 10;
    *exponent = k;
    if (s >= 10) {
        int below = lower <= 40 * tens, above = 40 * tens + 40 <= upper;
        if (below != above) {
            *exponent = k + 1;
            return tens + above;
        }
    }
    int below = lower <= 4 * s, above = 4 * s + 4 <= upper;
    if (below != above) return s + above;
    return s + (middle > 4 * s + 2 || (middle == 4 * s + 2 && (s & 1)));
}

/* Writes digits * 10^exponent as repr does: with an exponent below 1e-4 and from 1e16 on. */
static inline uint8_t *gl_write_decimal(uint8_t *p, uint64_t digits, int32_t exponent)
{
    while (digits % 10 == 0) {
        digits /= 10;
        exponent++;
    }
    int count = gl_count_digits(digits);
    int32_t point = count + exponent;                  /* the value is 0.digits * 10^point */
    if (point > 16 || point <= -4) {
        gl_write_digits(p + 1, digits, count);
        p[0] = p[1];
        p[1] = '.';
        p += count == 1 ? 1 : count + 1;
        *p++ = 'e';
        *p++ = point - 1 < 0 ? '-' : '+';
        uint64_t size = (uint64_t)(point - 1 < 0 ? 1 - point : point - 1);
        int width = size < 100 ? 2 : 3;
        gl_write_digits(p, size, width);
        return p + width;
    }
    if (point <= 0) {
        memcpy(p, "0.0000", 6);
        gl_write_digits(p + 2 - point, digits, count);
        return p + 2 - point + count;
    }
    if (exponent >= 0) {
        gl_write_digits(p, digits, count);
        memset(p + count, '0', (size_t)exponent);
        memcpy(p + point, ".0", 2);
        return p + point + 2;
    }
    gl_write_digits(p, digits, count);
    memmove(p + point + 1, p + point, (size_t)(count - point));
    p[point] = '.';
    return p + count + 1;
}

static inline uint8_t *gl_write_finite(
    uint8_t *p, int negative, uint64_t fraction, int32_t biased, int32_t bits, int32_t bias, const uint64_t *power)
{
    if (negative) *p++ = '-';
    if (biased == 0 && fraction == 0) {
        memcpy(p, "0.0", 3);
        return p + 3;
    }
    uint64_t c = biased ? fraction | (uint64_t)1 << bits : fraction;
    int32_t q = (biased ? biased : 1) - bias - bits, exponent = 0;
    if (q <= 0 && -q <= bits && (c & (((uint64_t)1 << -q) - 1)) == 0)
        return gl_write_decimal(p, c >> -q, 0);        /* a small integer */
    uint64_t digits = gl_shortest(c, q, fraction == 0 && biased > 1, power, &exponent);
    return gl_write_decimal(p, digits, exponent);
}

static inline uint8_t *gl_write_word(uint8_t *p, int negative, int nan)
{
    if (negative && !nan) *p++ = '-';
    memcpy(p, nan ? "nan" : "inf", 3);
    return p + 3;
}

static inline uint8_t *gl_write_double(uint8_t *p, double value, const uint64_t *power)
{
    uint64_t bits, fraction;
    memcpy(&bits, &value, 8);
    fraction = bits & (((uint64_t)1 << 52) - 1);
    int32_t biased = (int32_t)(bits >> 52 & 0x7ff);
    if (biased == 0x7ff) return gl_write_word(p, (int)(bits >> 63), fraction != 0);
    return gl_write_finite(p, (int)(bits >> 63), fraction, biased, 52, 1023, power);
}

static inline uint8_t *gl_write_float(uint8_t *p, float value, const uint64_t *power)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    uint32_t fraction = bits & (((uint32_t)1 << 23) - 1);
    int32_t biased = (int32_t)(bits >> 23 & 0xff);
    if (biased == 0xff) return gl_write_word(p, (int)(bits >> 31), fraction != 0);
    return gl_write_finite(p, (int)(bits >> 31), fraction, biased, 23, 127, power);
}
#endif
