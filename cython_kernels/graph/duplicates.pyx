"""Parallel edges: the first of each, found by hashing edges into groups that fit a cache."""

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint8_t, uint64_t

import numpy as np

cdef extern from "mix.h" nogil:
    uint64_t gl_mix(uint64_t z)

GROUP = 1 << 15               # edges of a group, about: their table stays in the second-level cache


def keys(const int64_t[::1] source, const int64_t[::1] target, bint directed, int threads):
    """Return uint64 source << 32 | target; the lower end first where edges have no direction."""
    cdef int64_t i, n = source.shape[0]
    key_array = np.empty(n, dtype=np.uint64)
    cdef uint64_t[::1] key = key_array
    for i in prange(n, nogil=True, schedule="static", num_threads=threads):
        if directed or source[i] < target[i]:
            key[i] = <uint64_t> source[i] << 32 | <uint64_t> target[i]
        else:
            key[i] = <uint64_t> target[i] << 32 | <uint64_t> source[i]
    return key_array


cdef inline int64_t _group(uint64_t key, int64_t groups, bint coarse) noexcept nogil:
    """One of *groups* < 2**32; coarse groups (ranks) and fine ones use different bits of the hash."""
    cdef uint64_t hash = gl_mix(key)
    return <int64_t> (((hash >> 32 if coarse else hash << 32 >> 32) * <uint64_t> groups) >> 32)


def group(const uint64_t[::1] key, int64_t groups, bint coarse, int threads):
    """Put keys of a group side by side, in their order.

    Returns (keys; where each was, int64; bounds of the groups, int64[groups + 1]).
    """
    cdef int64_t n = key.shape[0], i, g, at
    cdef int t
    key_array = np.empty(n, dtype=np.uint64)
    origin_array = np.empty(n, dtype=np.int64)
    bounds_array = np.empty(groups + 1, dtype=np.int64)
    cdef uint64_t[::1] grouped = key_array
    cdef int64_t[::1] origin = origin_array, bounds = bounds_array
    cdef int64_t[:, ::1] place = np.zeros((threads, groups), dtype=np.int64)
    for t in prange(threads, nogil=True, schedule="static", num_threads=threads):
        for i in range(n * t // threads, n * (t + 1) // threads):
            g = _group(key[i], groups, coarse)
            place[t, g] += 1
    at = 0
    for g in range(groups):
        bounds[g] = at
        for t in range(threads):
            i = place[t, g]
            place[t, g] = at
            at += i
    bounds[groups] = at
    for t in prange(threads, nogil=True, schedule="static", num_threads=threads):
        for i in range(n * t // threads, n * (t + 1) // threads):
            g = _group(key[i], groups, coarse)
            at = place[t, g]
            place[t, g] = at + 1
            grouped[at] = key[i]
            origin[at] = i
    return key_array, origin_array, bounds_array


def first_of_each(
    const uint64_t[::1] key, const int64_t[::1] origin, const int64_t[::1] bounds, const int64_t[::1] position,
    int threads,
):
    """Return uint8 marks, by *origin*: 1 for the key of each value with the least position (or origin, if
    *position* is empty)."""
    cdef int64_t groups = bounds.shape[0] - 1, g, most = 2
    cdef int t
    for g in range(groups):
        while most < 2 * (bounds[g + 1] - bounds[g]):
            most *= 2
    keep_array = np.zeros(key.shape[0], dtype=np.uint8)
    cdef uint8_t[::1] keep = keep_array
    cdef int64_t[:, ::1] table = np.empty((threads, most), dtype=np.int64)
    for t in prange(threads, nogil=True, schedule="static", num_threads=threads):
        for g in range(groups * t // threads, groups * (t + 1) // threads):
            _first_in_group(key, origin, bounds[g], bounds[g + 1], position, &table[t, 0], keep)
    return keep_array


cdef void _first_in_group(
    const uint64_t[::1] key, const int64_t[::1] origin, int64_t lo, int64_t hi, const int64_t[::1] position,
    int64_t *table, uint8_t[::1] keep,
) noexcept nogil:
    cdef int64_t i, at, mask, size = 2
    while size < 2 * (hi - lo):
        size *= 2
    mask = size - 1
    for at in range(size):
        table[at] = -1
    for i in range(lo, hi):
        # The bits that chose the group say nothing more; multiply to reach others.
        at = <int64_t> ((gl_mix(key[i]) * <uint64_t> 0x9E3779B97F4A7C15) >> 20) & mask
        while table[at] >= 0 and key[table[at]] != key[i]:
            at = (at + 1) & mask
        if table[at] < 0:
            table[at] = i
            keep[origin[i]] = 1
        elif position.shape[0] and position[origin[i]] < position[origin[table[at]]]:
            keep[origin[table[at]]] = 0
            keep[origin[i]] = 1
            table[at] = i
