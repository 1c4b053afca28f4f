"""Columns of numbers and names to rows of text."""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

import numpy as np

cdef extern from "decimal.h" nogil:
    enum:
        GL_POWER_MIN, GL_POWER_MAX, GL_LONGEST_REAL, GL_LONGEST_INTEGER
    uint8_t *gl_write_integer(uint8_t *p, int64_t value)
    uint8_t *gl_write_double(uint8_t *p, double value, const uint64_t *power)
    uint8_t *gl_write_float(uint8_t *p, float value, const uint64_t *power)

cdef enum:
    INTEGER, BOOL, DOUBLE, FLOAT, NAME

cdef struct Column:
    int kind
    const void *data          # the values; of names, the starts
    const uint8_t *arena      # of names


def _powers():
    """Return the powers of ten that decimal.h wants."""
    powers = np.empty((GL_POWER_MAX - GL_POWER_MIN + 1, 2), dtype=np.uint64)
    for k in range(GL_POWER_MIN, GL_POWER_MAX + 1):
        over, under = (10**k, 1) if k >= 0 else (1, 10**-k)
        shift = 127 - ((k * 1741647) >> 19)
        over, under = (over << shift, under) if shift >= 0 else (over, under << -shift)
        rounded = -(-over // under)
        powers[k - GL_POWER_MIN] = rounded >> 64, rounded & (2**64 - 1)
    return powers


cdef uint64_t[:, ::1] POWERS = _powers()


cdef uint8_t *_write_name(uint8_t *p, const uint8_t *name, int64_t length, uint8_t delimiter) noexcept nogil:
    """Write a name, in quotes where a reader of CSV would otherwise split it."""
    cdef int64_t i
    for i in range(length):
        if name[i] == delimiter or name[i] == 34 or name[i] == 10 or name[i] == 13:
            break
    else:
        memcpy(p, name, length)
        return p + length
    p[0] = 34
    p += 1
    for i in range(length):
        p[0] = name[i]
        p += 1
        if name[i] == 34:
            p[0] = 34
            p += 1
    p[0] = 34
    return p + 1


cdef uint8_t *_write_row(uint8_t *p, int64_t i, const Column *column, int columns, uint8_t delimiter) noexcept nogil:
    cdef int k
    cdef const int64_t *start
    for k in range(columns):
        if k:
            p[0] = delimiter
            p += 1
        if column[k].kind == INTEGER:
            p = gl_write_integer(p, (<const int64_t *> column[k].data)[i])
        elif column[k].kind == DOUBLE:
            p = gl_write_double(p, (<const double *> column[k].data)[i], &POWERS[0, 0])
        elif column[k].kind == FLOAT:
            p = gl_write_float(p, (<const float *> column[k].data)[i], &POWERS[0, 0])
        elif column[k].kind == BOOL:
            p[0] = 48 + ((<const uint8_t *> column[k].data)[i] != 0)
            p += 1
        else:
            start = <const int64_t *> column[k].data
            p = _write_name(p, column[k].arena + start[i], start[i + 1] - start[i], delimiter)
    p[0] = 10
    return p + 1


cdef enum:
    MOST_COLUMNS = 1024


def write_rows(list columns, int64_t lo, int64_t hi, int delimiter, uint8_t[::1] room):
    """Write rows [lo, hi) into *room*; return the bytes written.

    A column is an array of int64, bool, float64 or float32 of at least *hi* values, or the pair
    (arena, start) of as many names. *room* is at least what `room_for` says.
    """
    cdef Column column[MOST_COLUMNS]
    cdef int n = len(columns), k
    cdef int64_t i
    cdef const int64_t[::1] integers
    cdef const double[::1] doubles
    cdef const float[::1] floats
    cdef const uint8_t[::1] octets
    cdef uint8_t *p = &room[0]
    if n > MOST_COLUMNS:
        raise ValueError(f"at most {MOST_COLUMNS} columns, not {n}")
    if room.shape[0] < room_for(columns, lo, hi):
        raise ValueError("too little room")
    if lo >= hi:
        return 0
    for k in range(n):
        values = columns[k]
        if isinstance(values, tuple):
            octets, integers = values
            column[k].kind, column[k].arena, column[k].data = NAME, &octets[0], &integers[0]
        elif values.dtype == np.int64:
            integers = values
            column[k].kind, column[k].data = INTEGER, &integers[0]
        elif values.dtype == np.float64:
            doubles = values
            column[k].kind, column[k].data = DOUBLE, &doubles[0]
        elif values.dtype == np.float32:
            floats = values
            column[k].kind, column[k].data = FLOAT, &floats[0]
        else:
            octets = values.view(np.uint8)
            column[k].kind, column[k].data = BOOL, &octets[0]
    with nogil:
        for i in range(lo, hi):
            p = _write_row(p, i, column, n, <uint8_t> delimiter)
    return p - &room[0]


def room_for(list columns, int64_t lo, int64_t hi):
    """Return how many bytes rows [lo, hi) take at most."""
    total = 0
    for values in columns:
        if isinstance(values, tuple):
            total += 2 * int(values[1][hi] - values[1][lo]) + 3 * (hi - lo)
        else:
            total += (1 + max(GL_LONGEST_REAL, GL_LONGEST_INTEGER)) * (hi - lo)
    return total + 32                                  # a real is put together a few bytes beyond its end
