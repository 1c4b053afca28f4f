# What a field means as a number, or what is wrong with it; and how numbers are kept in columns.

include "problems.pxi"

cdef extern from "fields.h" nogil:
    ctypedef struct gl_field:
        const uint8_t *at
        int64_t length
        int quoted
    bint gl_blank(uint8_t c)

cdef extern from "text.h" nogil:
    ctypedef struct gl_number:
        int64_t length
        int64_t integer
        double real
    int64_t gl_read_digits(const uint8_t *p, uint64_t *value)
    int gl_read_number(const uint8_t *p, gl_number *out, const uint64_t *five)
    enum:
        GL_NOT_NUMBER, GL_INTEGER, GL_DOUBLE, GL_HARD_DOUBLE
        GL_FIVE_MIN, GL_FIVE_MAX


def _fives():
    """Return the powers of five that text.h wants."""
    powers = np.empty((GL_FIVE_MAX - GL_FIVE_MIN + 1, 2), dtype=np.uint64)
    for k in range(GL_FIVE_MIN, GL_FIVE_MAX + 1):
        five = 5 ** abs(k)
        if k >= 0:
            five = five << 128 >> five.bit_length()
        else:
            five = (1 << (five.bit_length() + 127)) // five + 1
        powers[k - GL_FIVE_MIN] = five >> 64, five & (2**64 - 1)
    return powers


cdef uint64_t[:, ::1] FIVES = _fives()


cdef double _hard_double(const uint8_t *p, int64_t length, int *ok) noexcept with gil:
    """Python's own float() for what the short road leaves: many digits or far powers of ten."""
    try:
        value = float((<const char *> p)[:length])
    except ValueError:
        ok[0] = 0
        return 0.0
    ok[0] = 1
    return value


cdef inline uint8_t _lower(uint8_t c) noexcept nogil:
    return c | 32 if 65 <= c <= 90 else c


cdef bint _is_word(const uint8_t *p, int64_t length, const char *word) noexcept nogil:
    cdef int64_t i
    for i in range(length):
        if word[i] == 0 or _lower(p[i]) != <uint8_t> word[i]:
            return False
    return word[length] == 0


cdef bint _has_decimal_comma(const uint8_t *p, int64_t length) noexcept nogil:
    """Whether the text is digits with one comma among them, as in ``0,5``: a number as much of Europe writes it."""
    cdef int64_t i, commas = 0
    for i in range(1 if p[0] == 45 or p[0] == 43 else 0, length):
        if p[i] == 44:
            commas += 1
        elif p[i] < 48 or p[i] > 57:
            return False
    return commas == 1 and p[length - 1] != 44


cdef int _number(gl_field *token, int *kind, gl_number *number) noexcept nogil:
    cdef const uint8_t *p = token.at
    cdef int64_t length = token.length, sign
    cdef int ok
    if length == 0:
        return NOT_NUMBER
    kind[0] = gl_read_number(p, number, &FIVES[0, 0])
    if kind[0] != GL_NOT_NUMBER and number.length == length:
        if kind[0] == GL_HARD_DOUBLE:
            number.real = _hard_double(p, length, &ok)
            kind[0] = GL_DOUBLE
            if not ok:
                return NOT_NUMBER
            if isinf(number.real):
                return OUT_OF_RANGE
        return FINE
    sign = 1 if p[0] == 45 or p[0] == 43 else 0
    if _is_word(p + sign, length - sign, b"nan"):
        return IS_NAN
    if _is_word(p + sign, length - sign, b"inf") or _is_word(p + sign, length - sign, b"infinity"):
        number.real = 1.0 / 0.0 * (-1.0 if p[0] == 45 else 1.0)
        kind[0] = GL_DOUBLE
        return FINE
    return DECIMAL_COMMA if _has_decimal_comma(p, length) else NOT_NUMBER


cdef inline void _as_reals(int64_t *column, int64_t count) noexcept nogil:
    """Turn a column's integers so far into doubles: its type is decided by all of its values."""
    cdef int64_t i
    cdef double value
    for i in range(count):
        value = <double> column[i]
        memcpy(&column[i], &value, 8)


cdef inline void _store(int64_t *column, int64_t at, uint8_t *real, int kind, gl_number *number) noexcept nogil:
    """Put a number into a column at *at*, behind those there are: bits of int64, or of float64 once *real*."""
    cdef double value
    if kind == GL_INTEGER and not real[0]:
        column[at] = number.integer
        return
    if not real[0]:
        _as_reals(column, at)
        real[0] = 1
    value = <double> number.integer if kind == GL_INTEGER else number.real
    memcpy(&column[at], &value, 8)
