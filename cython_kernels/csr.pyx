# cython: language_level=3
"""Loops of the local graph: degrees, vertex order, CSC and CSR by counting sorts, block bounds.

Nothing here allocates; callers pass every output and scratch array. A `cursor` holds where each
row's next edge goes, starts as the row's begin and is used up.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint64_t

ctypedef fused id_t:
    int32_t
    int64_t


def count_ends(const id_t[::1] src, const id_t[::1] dst, int32_t[::1] out_count, int32_t[::1] in_count,
               int threads):
    """Count the edges that leave and enter each vertex; the two ends run side by side."""
    cdef int64_t i
    cdef int end
    for end in prange(2, nogil=True, num_threads=2 if threads > 1 else 1, schedule="static"):
        if end == 0:
            for i in range(src.shape[0]):
                out_count[src[i]] += 1
        else:
            for i in range(dst.shape[0]):
                in_count[dst[i]] += 1


def radix_pass(const uint64_t[::1] key, const int32_t[::1] order, int shift, int64_t[::1] counts,
               int32_t[::1] out):
    """One stable pass of a radix sort: `order` sorted by the 11 bits of key from `shift`.

    `counts` is scratch for 2049 numbers.
    """
    cdef int64_t i, digit
    with nogil:
        counts[:] = 0
        for i in range(order.shape[0]):
            counts[((key[i] >> shift) & 2047) + 1] += 1
        for i in range(2048):
            counts[i + 1] += counts[i]
        for i in range(order.shape[0]):
            digit = (key[order[i]] >> shift) & 2047
            out[counts[digit]] = order[i]
            counts[digit] += 1


def rows_by_source(const id_t[::1] src, const id_t[::1] dst, const int32_t[::1] local, int64_t[::1] cursor,
                   int32_t[::1] target, int32_t[::1] which):
    """Group the edges by local source: their local targets and, unless `which` is None, positions."""
    cdef int64_t i, at
    cdef int32_t s
    cdef bint keep = which is not None
    with nogil:
        for i in range(src.shape[0]):
            s = local[src[i]]
            at = cursor[s]
            cursor[s] = at + 1
            target[at] = local[dst[i]]
            if keep:
                which[at] = <int32_t>i


def transpose(const int64_t[::1] begin, const int32_t[::1] neighbor, const int32_t[::1] tag, int64_t[::1] cursor,
              int32_t[::1] out_neighbor, int32_t[::1] out_tag, bint tag_is_position):
    """Turn rows of targets into rows of sources; sources ascend, parallels keep their order.

    Each edge takes along its tag, or its position; nothing where `out_tag` is None.
    """
    cdef int64_t s, j, at
    cdef bint keep = out_tag is not None
    with nogil:
        for s in range(begin.shape[0] - 1):
            for j in range(begin[s], begin[s + 1]):
                at = cursor[neighbor[j]]
                cursor[neighbor[j]] = at + 1
                out_neighbor[at] = <int32_t>s
                if keep:
                    out_tag[at] = <int32_t>j if tag_is_position else tag[j]


def count_neighbors(const int32_t[::1] neighbor, int64_t[::1] counts):
    """counts[v] += how often v is a neighbour."""
    cdef int64_t i
    with nogil:
        for i in range(neighbor.shape[0]):
            counts[neighbor[i]] += 1


def block_bounds(const int64_t[::1] in_begin, const int64_t[::1] out_begin, int64_t lo, int64_t hi,
                 int64_t max_edges, int64_t max_vertices, int64_t[::1] bounds):
    """Cut the vertices lo..hi-1 into runs of few edges and vertices; return how many runs.

    Either begin may be None: its edges do not count. A vertex of more than `max_edges` edges is a
    run of its own. `bounds` must hold hi - lo + 1 numbers.
    """
    cdef int64_t v, start = lo, edges = 0, d, runs = 0
    cdef bint use_in = in_begin is not None, use_out = out_begin is not None
    bounds[0] = lo
    with nogil:
        for v in range(lo, hi):
            d = 0
            if use_in:
                d += in_begin[v + 1] - in_begin[v]
            if use_out:
                d += out_begin[v + 1] - out_begin[v]
            if v > start and (edges + d > max_edges or v - start >= max_vertices):
                runs += 1
                bounds[runs] = start = v
                edges = 0
            edges += d
        if hi > lo:
            runs += 1
            bounds[runs] = hi
    return runs
