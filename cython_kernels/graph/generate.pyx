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


def uniform(int64_t first, int64_t count, int64_t vertices, uint64_t seed, int threads):
    """Return edges first .. first + count - 1 whose ends are uniform over the vertices, as (source, target)."""
    source_array = np.empty(count, dtype=np.int64)
    target_array = np.empty(count, dtype=np.int64)
    cdef int64_t[::1] source = source_array, target = target_array
    cdef int64_t i
    cdef uint64_t root = gl_mix(seed + 0x65726472)
    for i in prange(count, nogil=True, schedule="static", num_threads=threads):
        source[i] = gl_below(_draw(root, first + i, 0), vertices)
        target[i] = gl_below(_draw(root, first + i, 1), vertices)
    return source_array, target_array


def powerlaw_degrees(int64_t first, int64_t count, const double[::1] cumulative, uint64_t seed, int threads):
    """Return int64 degrees of vertices first .. first + count - 1: degree k with probability
    ``cumulative[k - 1] - cumulative[k - 2]``, the last of which is 1."""
    degree_array = np.empty(count, dtype=np.int64)
    cdef int64_t[::1] degree = degree_array
    cdef int64_t i
    cdef uint64_t root = gl_mix(seed + 0x706F7765)
    for i in prange(count, nogil=True, schedule="static", num_threads=threads):
        degree[i] = 1 + _position((_draw(root, first + i, 0) >> 11) * (1.0 / 9007199254740992.0), cumulative)
    return degree_array


cdef inline int64_t _position(double share, const double[::1] cumulative) noexcept nogil:
    """The first position whose cumulative share is above *share*, which is below 1."""
    cdef int64_t lo = 0, hi = cumulative.shape[0] - 1, mid
    while lo < hi:
        mid = (lo + hi) // 2
        if cumulative[mid] > share:
            hi = mid
        else:
            lo = mid + 1
    return lo


def powerlaw_edges(
    int64_t first, const int64_t[::1] begin, int64_t vertices, uint64_t seed, int threads
):
    """Return (vertex, other end) of the edges of vertices first ..; vertex first + i has positions
    begin[i] .. begin[i + 1] - 1. Other ends are uniform over the other vertices."""
    cdef int64_t count = begin.shape[0] - 1, i
    vertex_array = np.empty(begin[count], dtype=np.int64)
    other_array = np.empty(begin[count], dtype=np.int64)
    cdef int64_t[::1] vertex = vertex_array, other = other_array
    cdef uint64_t root = gl_mix(seed + 0x656E6473)
    for i in prange(count, nogil=True, schedule="static", num_threads=threads):
        _powerlaw_vertex(first + i, begin[i], begin[i + 1], vertices, root, vertex, other)
    return vertex_array, other_array


cdef inline void _powerlaw_vertex(
    int64_t v, int64_t begin, int64_t end, int64_t vertices, uint64_t root, int64_t[::1] vertex, int64_t[::1] other
) noexcept nogil:
    cdef int64_t at, u
    for at in range(begin, end):
        u = gl_below(_draw(root, v, at - begin), vertices - 1)
        vertex[at] = v
        other[at] = u + (u >= v)                       # one place on: never the vertex itself


def grid(int64_t first, int64_t count, int64_t rows, int64_t columns, int threads):
    """Return edges first .. first + count - 1 of a grid: those along its rows, then those down its columns."""
    source_array = np.empty(count, dtype=np.int64)
    target_array = np.empty(count, dtype=np.int64)
    cdef int64_t[::1] source = source_array, target = target_array
    cdef int64_t i, edge, along = rows * (columns - 1)
    for i in prange(count, nogil=True, schedule="static", num_threads=threads):
        edge = first + i
        if edge < along:
            source[i] = edge // (columns - 1) * columns + edge % (columns - 1)
            target[i] = source[i] + 1
        else:
            source[i] = edge - along
            target[i] = source[i] + columns
    return source_array, target_array


def weights(int64_t first, int64_t count, int64_t most, uint64_t seed, int threads):
    """Return int64 weights of edges first .. first + count - 1, uniform over 1 .. most."""
    weight_array = np.empty(count, dtype=np.int64)
    cdef int64_t[::1] weight = weight_array
    cdef int64_t i
    cdef uint64_t root = gl_mix(seed + 0x77656967)
    for i in prange(count, nogil=True, schedule="static", num_threads=threads):
        weight[i] = 1 + gl_below(_draw(root, first + i, 0), most)
    return weight_array
