"""Random graphs whose edge i is a function of (seed, i) alone: the same on any ranks and threads.

Draws are splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) of
a counter, started from a mixed seed.
"""

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint64_t

import numpy as np

cdef extern from "mix.h" nogil:
    uint64_t gl_mix(uint64_t z)


cdef inline uint64_t _draw(uint64_t seed, uint64_t item, uint64_t number) noexcept nogil:
    """The *number*-th of an item's 64-bit draws."""
    return gl_mix(gl_mix(seed + item * <uint64_t> 0x9E3779B97F4A7C15) + number * <uint64_t> 0xD1B54A32D192ED03)


cdef extern from *:
    """
    static inline int64_t gl_below(uint64_t draw, int64_t n)
    {
        return (int64_t)(((unsigned __int128)draw * (uint64_t)n) >> 64);
    }
    """
    # A draw as an integer in [0, n), by its high bits (Lemire 2019); the bias is below n / 2**64.
    int64_t gl_below(uint64_t draw, int64_t n) nogil


cdef inline int64_t _permuted(int64_t v, int scale, uint64_t seed) noexcept nogil:
    """A bijection of [0, 2**scale): rounds of odd multiplication and xor-shift, which both can be undone."""
    cdef uint64_t mask = (<uint64_t> 1 << scale) - 1
    cdef uint64_t x = <uint64_t> v
    cdef int half = (scale + 1) // 2, i
    for i in range(4):
        x = (x * (_draw(seed, 1, i) | 1) + _draw(seed, 2, i)) & mask
        x ^= x >> half
    return <int64_t> x


def rmat(int64_t first, int64_t count, int scale, double a, double b, double c, bint permute, uint64_t seed, int threads):
    """Return edges first .. first + count - 1 of an R-MAT graph as (source, target)."""
    source_array = np.empty(count, dtype=np.int64)
    target_array = np.empty(count, dtype=np.int64)
    cdef int64_t[::1] source = source_array, target = target_array
    cdef int64_t i
    cdef uint64_t root = gl_mix(seed + 0x726D6174)
    cdef uint64_t to_a = <uint64_t> (a * 4294967296.0), to_b = <uint64_t> ((a + b) * 4294967296.0)
    cdef uint64_t to_c = <uint64_t> ((a + b + c) * 4294967296.0)
    for i in prange(count, nogil=True, schedule="static", num_threads=threads):
        _rmat_edge(first + i, scale, to_a, to_b, to_c, permute, root, &source[i], &target[i])
    return source_array, target_array


cdef inline void _rmat_edge(
    int64_t edge, int scale, uint64_t to_a, uint64_t to_b, uint64_t to_c, bint permute, uint64_t root,
    int64_t *source, int64_t *target,
) noexcept nogil:
    """One quadrant a level, by 32 random bits each."""
    cdef uint64_t bits = 0, draw
    cdef int64_t u = 0, v = 0
    cdef int level, low
    for level in range(scale):
        if level & 1 == 0:
            bits = _draw(root, edge, level)
        draw = bits & <uint64_t> 0xFFFFFFFF
        bits >>= 32
        low = (draw >= to_a) + (draw >= to_b) + (draw >= to_c)
        u = 2 * u + (low >> 1)
        v = 2 * v + (low & 1)
    source[0] = _permuted(u, scale, root) if permute else u
    target[0] = _permuted(v, scale, root) if permute else v
