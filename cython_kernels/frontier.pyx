"""Frontiers: from signal flags to sorted lists of vertices and back."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy

cdef extern from "abi.h":
    enum: GL_SIGNAL_BLOCK

SIGNAL_BLOCK = GL_SIGNAL_BLOCK


def take_signalled(uint8_t[::1] signalled, uint8_t[::1] signal_blocks, int64_t lo, int64_t hi):
    """Return the sorted local ids in [lo, hi) whose flag is set, as int32, and clear those flags.

    Only blocks marked in *signal_blocks* are looked at; the marks of blocks wholly inside
    [lo, hi) are cleared.
    """
    cdef int64_t block, first, last, v, n = 0, size = 1 << GL_SIGNAL_BLOCK
    cdef int64_t first_block = lo >> GL_SIGNAL_BLOCK
    cdef int64_t last_block = ((hi - 1) >> GL_SIGNAL_BLOCK) + 1 if hi > lo else first_block
    cdef int64_t marked = 0
    cdef uint64_t word
    for block in range(first_block, last_block):
        marked += signal_blocks[block] != 0
    if not marked:
        return np.empty(0, dtype=np.int32)
    ids = np.empty(min(marked << GL_SIGNAL_BLOCK, hi - lo), dtype=np.int32)
    cdef int32_t[::1] out = ids
    with nogil:
        for block in range(first_block, last_block):
            if not signal_blocks[block]:
                continue
            first = block << GL_SIGNAL_BLOCK
            last = first + size
            if first >= lo and last <= hi:
                signal_blocks[block] = 0
            first = max(first, lo)
            last = min(last, hi)
            v = first
            while v < last:
                if v + 8 <= last:
                    memcpy(&word, &signalled[v], 8)
                    if not word:
                        v += 8
                        continue
                if signalled[v]:
                    out[n] = <int32_t> v
                    n += 1
                    signalled[v] = 0
                v += 1
    return ids[:n].copy() if n * 4 < ids.shape[0] else ids[:n]


def where(const uint8_t[::1] flags, int64_t lo, int64_t hi):
    """Return the sorted ids in [lo, hi) whose flag is set, as int32."""
    cdef int64_t v, n = 0
    for v in range(lo, hi):
        n += flags[v] != 0
    ids = np.empty(n, dtype=np.int32)
    cdef int32_t[::1] out = ids
    n = 0
    with nogil:
        for v in range(lo, hi):
            if flags[v]:
                out[n] = <int32_t> v
                n += 1
    return ids


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


def count_edges(const int32_t[::1] ids, const int64_t[::1] begin):
    """Return the number of edges in the rows *ids* of a CSR with row bounds *begin*."""
    cdef Py_ssize_t i
    cdef int64_t total = 0
    with nogil:
        for i in range(ids.shape[0]):
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
