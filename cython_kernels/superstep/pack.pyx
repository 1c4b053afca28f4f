"""Packing of values and positions for messages between replicas."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil

include "rows.pxi"


def row_bytes(values):
    """Return the bytes of one row of an array (an element of one-dimensional ones, of any dtype)."""
    cdef int64_t size = values.itemsize
    for length in values.shape[1:]:
        size *= length
    return size


def take(values, const int32_t[::1] ids, out):
    """out = values[ids], by rows, for contiguous arrays of one dtype; *out* may be bytes of that many."""
    cdef int64_t n = ids.shape[0]
    cdef const int32_t *i = &ids[0] if n else NULL
    cdef void *a = PyArray_DATA(<ndarray> values)
    cdef void *b = PyArray_DATA(<ndarray> out)
    cdef int64_t size = row_bytes(values)
    assert out.nbytes == n * size
    with nogil:
        take_rows(a, i, n, size, b)


def put(values, const int32_t[::1] ids, packed):
    """values[ids] = packed, by rows, for contiguous arrays of one dtype; *packed* may be bytes of that many."""
    cdef int64_t n = ids.shape[0]
    cdef const int32_t *i = &ids[0] if n else NULL
    cdef void *a = PyArray_DATA(<ndarray> values)
    cdef void *b = PyArray_DATA(<ndarray> packed)
    cdef int64_t size = row_bytes(values)
    assert packed.nbytes == n * size
    with nogil:
        put_rows(a, i, n, size, b)


def move(values, const int32_t[::1] ids, into, const int32_t[::1] places):
    """into[places] = values[ids], by rows, for contiguous arrays of one dtype and as many places as ids."""
    cdef int64_t n = ids.shape[0]
    assert places.shape[0] == n
    cdef const int32_t *i = &ids[0] if n else NULL
    cdef const int32_t *p = &places[0] if n else NULL
    cdef void *a = PyArray_DATA(<ndarray> values)
    cdef void *b = PyArray_DATA(<ndarray> into)
    cdef int64_t size = row_bytes(values)
    assert row_bytes(into) == size
    with nogil:
        move_rows(a, i, b, p, n, size)


def chosen_positions(const int32_t[::1] ids, const uint8_t[::1] flags):
    """Return the positions i, as int32, for which flags[ids[i]] is set."""
    cdef int64_t i, k = 0, n = ids.shape[0]
    positions = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] out = positions
    with nogil:
        for i in range(n):  # without a branch, which about half set would mislead at every other turn
            out[k] = <int32_t> i
            k += flags[ids[i]] != 0
    return positions[:k]


def positions_to_bits(const int32_t[::1] positions, uint8_t[::1] bits):
    """Set bit p of *bits* (little-endian within bytes) for each position; all others are cleared."""
    cdef int64_t i, n = positions.shape[0]
    if not bits.shape[0]:
        return
    with nogil:
        memset(&bits[0], 0, bits.shape[0])
        for i in range(n):
            bits[positions[i] >> 3] |= <uint8_t> (1 << (positions[i] & 7))


def bits_to_positions(const uint8_t[::1] bits, int64_t count):
    """Return the *count* positions of the bits that are set, ascending, as int32."""
    cdef int64_t i, k = 0, n = bits.shape[0]
    cdef uint64_t word
    positions = np.empty(count, dtype=np.int32)
    cdef int32_t[::1] out = positions
    with nogil:
        for i in range(0, n, 8):
            word = 0
            memcpy(&word, &bits[i], min(n - i, 8))
            while word and k < count:
                out[k] = <int32_t> (8 * i + __builtin_ctzll(word))
                k += 1
                word &= word - 1
    return positions
