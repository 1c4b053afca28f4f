"""Pairs of vertices that have an edge: edges oriented from the end of lower degree, sorted, each pair once."""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

cdef extern from "mix.h" nogil:
    uint64_t gl_mix(uint64_t z)

ctypedef fused id_t:
    int32_t
    int64_t


def orient(const id_t[::1] src, const id_t[::1] dst, const int32_t[::1] number, bint directed,
           int32_t[::1] low, int32_t[::1] high, int threads):
    """low = the lesser of both ends' numbers; high = twice the other's, plus 1 if the edge leads to *low*."""
    cdef int64_t i
    cdef int32_t s, d
    for i in prange(src.shape[0], nogil=True, num_threads=threads, schedule="static"):
        s = number[src[i]]
        d = number[dst[i]]
        if s <= d:
            low[i] = s
            high[i] = 2 * d
        else:
            low[i] = d
            high[i] = 2 * s + directed


def homes(const int32_t[::1] low, int64_t ranks, int32_t[::1] home, int threads):
    """home = a hash of the low end, 0..ranks-1."""
    cdef int64_t i
    for i in prange(low.shape[0], nogil=True, num_threads=threads, schedule="static"):
        home[i] = <int32_t> (((gl_mix(low[i]) >> 32) * <uint64_t> ranks) >> 32)


def runs(const int64_t[::1] begin, const int32_t[::1] high, int32_t[::1] pair):
    """pair = the number of the distinct (row, high) that a slot has; rows are sorted by *high*."""
    cdef int64_t row, j
    cdef int32_t count = -1
    with nogil:
        for row in range(begin.shape[0] - 1):
            for j in range(begin[row], begin[row + 1]):
                if j == begin[row] or high[j] != high[j - 1]:
                    count += 1
                pair[j] = count
    return count + 1


def list_pairs(const int64_t[::1] begin, const int32_t[::1] high, const int32_t[::1] pair,
               int32_t[::1] low_of, int32_t[::1] high_of, int64_t[::1] multiplicity):
    """Write the ends of every pair and count its slots."""
    cdef int64_t row, j
    with nogil:
        for row in range(begin.shape[0] - 1):
            for j in range(begin[row], begin[row + 1]):
                low_of[pair[j]] = <int32_t> row
                high_of[pair[j]] = high[j]
                multiplicity[pair[j]] += 1


def spread(const int32_t[::1] part_of_pair, const int32_t[::1] pair, const int32_t[::1] position,
           int32_t[::1] part, int threads):
    """part[position[j]] = the part of slot j's pair."""
    cdef int64_t j
    for j in prange(pair.shape[0], nogil=True, num_threads=threads, schedule="static"):
        part[position[j]] = part_of_pair[pair[j]]


def least(const int32_t[::1] part, const int32_t[::1] pair, const int32_t[::1] position,
          int32_t[::1] part_of_pair):
    """The inverse of `spread`: each pair's part is the least of its slots'."""
    cdef int64_t j
    with nogil:
        for j in range(pair.shape[0]):
            part_of_pair[pair[j]] = min(part_of_pair[pair[j]], part[position[j]])


def unpack(const int32_t[::1] packed, const int32_t[::1] home, int64_t[::1] cursor,
           int32_t[::1] out):
    """The inverse of packing by home: out[i] = the next value from home[i]."""
    cdef int64_t i
    with nogil:
        for i in range(home.shape[0]):
            out[i] = packed[cursor[home[i]]]
            cursor[home[i]] += 1
