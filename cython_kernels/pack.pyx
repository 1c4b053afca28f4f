"""Packing of values and choices for messages between replicas."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil

ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef void _take(const word *values, const int32_t *ids, int64_t n, word *out) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        out[i] = values[ids[i]]


cdef void _put(word *values, const int32_t *ids, int64_t n, const word *packed) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        values[ids[i]] = packed[i]


cdef void _take_rows(const char *values, const int32_t *ids, int64_t n, int64_t size, char *out) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        memcpy(out + i * size, values + ids[i] * size, size)


cdef void _put_rows(char *values, const int32_t *ids, int64_t n, int64_t size, const char *packed) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        memcpy(values + ids[i] * size, packed + i * size, size)


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
        if size == 8:
            _take[uint64_t](<const uint64_t *> a, i, n, <uint64_t *> b)
        elif size == 4:
            _take[uint32_t](<const uint32_t *> a, i, n, <uint32_t *> b)
        elif size == 2:
            _take[uint16_t](<const uint16_t *> a, i, n, <uint16_t *> b)
        elif size != 1:
            _take_rows(<const char *> a, i, n, size, <char *> b)
        else:
            _take[uint8_t](<const uint8_t *> a, i, n, <uint8_t *> b)


def put(values, const int32_t[::1] ids, packed):
    """values[ids] = packed, by rows, for contiguous arrays of one dtype; *packed* may be bytes of that many."""
    cdef int64_t n = ids.shape[0]
    cdef const int32_t *i = &ids[0] if n else NULL
    cdef void *a = PyArray_DATA(<ndarray> values)
    cdef void *b = PyArray_DATA(<ndarray> packed)
    cdef int64_t size = row_bytes(values)
    assert packed.nbytes == n * size
    with nogil:
        if size == 8:
            _put[uint64_t](<uint64_t *> a, i, n, <const uint64_t *> b)
        elif size == 4:
            _put[uint32_t](<uint32_t *> a, i, n, <const uint32_t *> b)
        elif size == 2:
            _put[uint16_t](<uint16_t *> a, i, n, <const uint16_t *> b)
        elif size != 1:
            _put_rows(<char *> a, i, n, size, <const char *> b)
        else:
            _put[uint8_t](<uint8_t *> a, i, n, <const uint8_t *> b)


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
