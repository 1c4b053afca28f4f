"""Frontiers: from signal flags to sorted lists of vertices and back."""

import numpy as np

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memset
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

cdef extern from "abi.h":
    enum: GL_SIGNAL_BLOCK

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil

cdef enum:
    MAX_PARTS = 256
    PARALLEL_BLOCKS = 64
    PARALLEL_IDS = 1 << 14

SIGNAL_BLOCK = GL_SIGNAL_BLOCK


cdef int64_t _first(int64_t lo, int64_t hi, Py_ssize_t part, Py_ssize_t parts) noexcept nogil:
    """Where part `part` of [lo, hi) cut into `parts` begins."""
    return lo + (hi - lo) * part // parts


cdef int64_t _count(const uint8_t *flags, int64_t n) noexcept nogil:
    cdef int64_t i, total = 0
    for i in range(n):
        total += flags[i]
    return total


cdef int64_t _list(const uint8_t *flags, int64_t first, int64_t n, int32_t *out) noexcept nogil:
    """Write the ids of the flags (each 0 or 1) that are set, counted from `first`; return how many."""
    cdef int64_t i = 0, k = 0
    cdef uint64_t word
    while i + 8 <= n:
        memcpy(&word, flags + i, 8)
        while word:
            out[k] = <int32_t> (first + i + (__builtin_ctzll(word) >> 3))
            k += 1
            word &= word - 1
        i += 8
    while i < n:
        if flags[i]:
            out[k] = <int32_t> (first + i)
            k += 1
        i += 1
    return k


cdef int64_t _count_part(const uint8_t *flags, const uint8_t *blocks, int64_t lo, int64_t hi,
                         Py_ssize_t part, Py_ssize_t parts) noexcept nogil:
    cdef int64_t first = lo >> GL_SIGNAL_BLOCK, last = ((hi - 1) >> GL_SIGNAL_BLOCK) + 1
    cdef int64_t block, begin, end, total = 0
    for block in range(_first(first, last, part, parts), _first(first, last, part + 1, parts)):
        if not blocks or blocks[block]:
            begin = max(block << GL_SIGNAL_BLOCK, lo)
            end = min((block + 1) << GL_SIGNAL_BLOCK, hi)
            total += _count(flags + begin, end - begin)
    return total


cdef void _take_part(uint8_t *flags, uint8_t *blocks, int64_t lo, int64_t hi, Py_ssize_t part,
                     Py_ssize_t parts, int32_t *out) noexcept nogil:
    """List the ids of a part; with `blocks`, clear the flags, and the marks of blocks inside [lo, hi)."""
    cdef int64_t first = lo >> GL_SIGNAL_BLOCK, last = ((hi - 1) >> GL_SIGNAL_BLOCK) + 1
    cdef int64_t block, begin, end, found
    for block in range(_first(first, last, part, parts), _first(first, last, part + 1, parts)):
        if not blocks or blocks[block]:
            begin = max(block << GL_SIGNAL_BLOCK, lo)
            end = min((block + 1) << GL_SIGNAL_BLOCK, hi)
            found = _list(flags + begin, begin, end - begin, out)
            out += found
            if blocks:
                if found:
                    memset(flags + begin, 0, end - begin)
                if end - begin == 1 << GL_SIGNAL_BLOCK:
                    blocks[block] = 0


cdef _ids(uint8_t *flags, uint8_t *blocks, int64_t lo, int64_t hi, Py_ssize_t parts):
    cdef int64_t[MAX_PARTS + 1] at
    cdef Py_ssize_t part
    cdef int32_t *out
    at[0] = 0
    if parts == 1:
        at[1] = _count_part(flags, blocks, lo, hi, 0, 1)
    else:
        for part in prange(parts, nogil=True, num_threads=parts, schedule="static"):
            at[part + 1] = _count_part(flags, blocks, lo, hi, part, parts)
        for part in range(parts):
            at[part + 1] += at[part]
    ids = np.empty(at[parts], dtype=np.int32)
    out = <int32_t *> PyArray_DATA(<ndarray> ids)
    if parts == 1:
        _take_part(flags, blocks, lo, hi, 0, 1, out)
    else:
        for part in prange(parts, nogil=True, num_threads=parts, schedule="static"):
            _take_part(flags, blocks, lo, hi, part, parts, out + at[part])
    return ids


def take_signalled(uint8_t[::1] signalled, uint8_t[::1] signal_blocks, int64_t lo, int64_t hi, int threads=1):
    """Return the sorted local ids in [lo, hi) whose flag is set, as int32, and clear those flags.

    Only blocks marked in *signal_blocks* are looked at; the marks of blocks wholly inside
    [lo, hi) are cleared.
    """
    cdef int64_t marked = 0, block
    if hi <= lo:
        return np.empty(0, dtype=np.int32)
    for block in range(lo >> GL_SIGNAL_BLOCK, ((hi - 1) >> GL_SIGNAL_BLOCK) + 1):
        marked += signal_blocks[block]
    if not marked:
        return np.empty(0, dtype=np.int32)
    return _ids(&signalled[0], &signal_blocks[0], lo, hi, _parts(marked, threads))


def where(const uint8_t[::1] flags, int64_t lo, int64_t hi, int threads=1):
    """Return the sorted ids in [lo, hi) whose flag (0 or 1) is set, as int32."""
    if hi <= lo:
        return np.empty(0, dtype=np.int32)
    return _ids(<uint8_t *> &flags[0], NULL, lo, hi, _parts((hi - lo) >> GL_SIGNAL_BLOCK, threads))


cdef Py_ssize_t _parts(int64_t blocks, int threads) noexcept nogil:
    return min(threads, MAX_PARTS) if blocks >= PARALLEL_BLOCKS else 1


def set_flags(uint8_t[::1] flags, const int32_t[::1] ids, uint8_t value):
    """flags[ids] = value."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            flags[ids[i]] = value


def signal(uint8_t[::1] signalled, uint8_t[::1] signal_blocks, const int32_t[::1] ids):
    """Set the signal flags of *ids* and mark their blocks."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            signalled[ids[i]] = 1
            signal_blocks[ids[i] >> GL_SIGNAL_BLOCK] = 1


def count_edges(const int32_t[::1] ids, const int64_t[::1] begin, int threads=1):
    """Return the number of edges in the rows *ids* of a CSR with row bounds *begin*."""
    cdef Py_ssize_t i
    cdef int64_t total = 0
    if threads == 1 or ids.shape[0] < PARALLEL_IDS:
        with nogil:
            for i in range(ids.shape[0]):
                total += begin[ids[i] + 1] - begin[ids[i]]
        return total
    for i in prange(ids.shape[0], nogil=True, num_threads=threads, schedule="static"):
        total += begin[ids[i] + 1] - begin[ids[i]]
    return total


def list_blocks(const int32_t[::1] ids, const int64_t[::1] begin, int64_t edges, int64_t vertices):
    """Return bounds that cut *ids* into blocks of at most about *edges* edges and *vertices* vertices.

    *begin* holds the row bounds of one direction; a row is never cut.
    """
    cdef Py_ssize_t i, n = ids.shape[0]
    cdef int64_t load = 0, since = 0, k = 1
    bounds = np.empty(n + 2, dtype=np.int64)
    cdef int64_t[::1] out = bounds
    out[0] = 0
    with nogil:
        for i in range(n):
            load += begin[ids[i] + 1] - begin[ids[i]]
            since += 1
            if load >= edges or since >= vertices:
                out[k] = i + 1
                k += 1
                load = 0
                since = 0
        if since:
            out[k] = n
            k += 1
    return bounds[:k].copy()
