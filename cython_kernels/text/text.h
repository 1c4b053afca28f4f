/* Lines and decimal numbers in text. Reads may touch 8 bytes past the token: buffers carry that much padding.
 *
 * Eight digits at once by multiplication: Lemire, "Quickly parsing eight digits", 2018.
 * Doubles: one exact operation when the digits fit 53 bits and the power of ten is at most 22
 * (Clinger, "How to read floating point numbers accurately", 1990); a product with 128 bits of the
 * power of five for up to 19 digits (Lemire, "Number parsing at a gigabyte per second", 2021, after
 * Eisel); the caller rounds the rest, which is more digits and subnormals.
 */
#ifndef GASLAB_TEXT_H
#define GASLAB_TEXT_H
#include <stdint.h>
#include <string.h>

static inline uint64_t gl_load8(const uint8_t *p)
{
    uint64_t word;
    memcpy(&word, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* The value of eight decimal digits, first digit in the lowest byte. */
static inline uint64_t gl_join8(uint64_t digits)
{
    digits = digits * 10 + (digits >> 8);
    return (((digits & 0x000000FF000000FFull) * 0x000F424000000064ull) +
            (((digits >> 16) & 0x000000FF000000FFull) * 0x0000271000000001ull)) >> 32;
}

/* Reads the run of digits at p: returns its length; *value is right up to 19 digits. */
static inline int64_t gl_read_digits(const uint8_t *p, uint64_t *value)
{
    uint64_t digits = gl_load8(p) ^ 0x3030303030303030ull;
    uint64_t others = ((digits + 0x7676767676767676ull) | digits) & 0x8080808080808080ull;
    if (others) {
        int64_t count = __builtin_ctzll(others) >> 3;
        *value = count ? gl_join8(digits << (64 - 8 * count)) : 0;
        return count;
    }
    uint64_t total = gl_join8(digits);
    int64_t count = 8;
    for (; (uint8_t)(p[count] - '0') <= 9; count++)
        total = total * 10 + (uint8_t)(p[count] - '0');
    *value = total;
    return count;
}

/* Newlines in [p, p + length): byte-wide partial counts, so that the compiler uses vectors. */
static inline int64_t gl_count_lines(const uint8_t *p, int64_t length)
{
    int64_t total = 0;
    for (; length >= 128; p += 128, length -= 128) {
        uint8_t some = 0;
        for (int i = 0; i < 128; i++) some += p[i] == '\n';
        total += some;
    }
    for (int64_t i = 0; i < length; i++) total += p[i] == '\n';
    return total;
}

enum { GL_NOT_NUMBER = 0, GL_INTEGER = 1, GL_DOUBLE = 2, GL_HARD_DOUBLE = 3 };

typedef struct {
    int64_t length;      /* of the token read */
    int64_t integer;
    double real;
} gl_number;

static const double gl_ten[23] = {
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

enum { GL_FIVE_MIN = -342, GL_FIVE_MAX = 308 };

/* digits * 10^exponent, rounded to the nearest double, into *value: 1, or 0 when this is not enough to decide.
 * five[exponent - GL_FIVE_MIN] is {high, low} half of 5^exponent with its first bit in front: cut off
 * for exponents from 0, rounded up below. */
static inline int gl_nearest_double(uint64_t digits, int64_t exponent, const uint64_t *five, double *value)
{
    if (digits == 0 || exponent < GL_FIVE_MIN || exponent > GL_FIVE_MAX) return 0;
    const uint64_t *power = five + 2 * (exponent - GL_FIVE_MIN);
    int shift = __builtin_clzll(digits);
    digits <<= shift;
    unsigned __int128 product = (unsigned __int128)digits * power[0];
    uint64_t high = (uint64_t)(product >> 64), low = (uint64_t)product;
    if ((high & 0x1FF) == 0x1FF) {                     /* the next bits may carry into those that count */
        uint64_t more = (uint64_t)(((unsigned __int128)digits * power[1]) >> 64);
        low += more;
        high += low < more;
        if (low == ~0ull && (exponent < -27 || exponent > 55)) return 0;
    }
    int first = (int)(high >> 63);
    uint64_t mantissa = high >> (first + 9);
    int64_t biased = ((217706 * exponent) >> 16) + 63 + first - shift + 1023;
    if (biased <= 0) return 0;
    if (low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << (first + 9) == high)
        mantissa &= ~1ull;                             /* exactly between two: to even */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >> 53) {
        mantissa >>= 1;
        biased++;
    }
    if (biased >= 0x7ff) return 0;
    uint64_t bits = (mantissa & (((uint64_t)1 << 52) - 1)) | (uint64_t)biased << 52;
    memcpy(value, &bits, 8);
    return 1;
}

/* Reads [+-]digits[.digits][e[+-]digits] at p, not nan or inf. GL_HARD_DOUBLE: well formed, but the
 * value needs a slower method. An integer beyond int64 is a double. */
static inline int gl_read_number(const uint8_t *p, gl_number *out, const uint64_t *five)
{
    const uint8_t *at = p;
    int negative = *at == '-';
    at += negative | (*at == '+');
    while (at[0] == '0' && (uint8_t)(at[1] - '0') <= 9) at++;   /* zeros in front would count as digits */
    uint64_t mantissa, part;
    int64_t whole = gl_read_digits(at, &mantissa);
    int64_t exponent = 0, fraction = 0;
    int hard = 0;
    at += whole;
    if (*at != '.' && *at != 'e' && *at != 'E') {
        if (whole == 0) return GL_NOT_NUMBER;
        out->length = at - p;
        if (whole <= 19 && mantissa <= (uint64_t)INT64_MAX + negative) {
            out->integer = negative ? (int64_t)(0 - mantissa) : (int64_t)mantissa;
            return GL_INTEGER;
        }
        return GL_HARD_DOUBLE;
    }
    if (*at == '.') {
        at++;
        for (;; fraction += 8, at += 8) {              /* eight at a time while they fit 19 digits */
            uint64_t digits = gl_load8(at) ^ 0x3030303030303030ull;
            uint64_t others = ((digits + 0x7676767676767676ull) | digits) & 0x8080808080808080ull;
            if (others || whole + fraction > 11) break;
            mantissa = mantissa * 100000000u + gl_join8(digits);
        }
        for (; (uint8_t)(*at - '0') <= 9; at++, fraction++) {
            part = (uint8_t)(*at - '0');
            mantissa = mantissa * 10 + part;
        }
        exponent = -fraction;
    }
    if (whole + fraction == 0) return GL_NOT_NUMBER;   /* an exponent alone has no value */
    if (*at == 'e' || *at == 'E') {
        at++;
        int minus = *at == '-';
        at += minus | (*at == '+');
        int64_t digits = gl_read_digits(at, &part);
        if (digits == 0) return GL_NOT_NUMBER;
        at += digits;
        hard = digits > 9;
        exponent += minus ? -(int64_t)part : (int64_t)part;
    }
    out->length = at - p;
    if (hard || whole + fraction > 19) return GL_HARD_DOUBLE;
    double value = 0.0;
    if (mantissa >> 53 == 0 && exponent >= -22 && exponent <= 22)
        value = exponent < 0 ? (double)mantissa / gl_ten[-exponent] : (double)mantissa * gl_ten[exponent];
    else if (mantissa != 0 && !gl_nearest_double(mantissa, exponent, five, &value))
        return GL_HARD_DOUBLE;
    out->real = negative ? -value : value;
    return GL_DOUBLE;
}
#endif
