"""How far a rank's vertices are from its border: its mirrors, and its masters that have mirrors on other ranks."""

import numpy as np

from libc.stdint cimport int32_t, int64_t

cdef extern from "abi.h":
    enum: GL_IN
    enum: GL_OUT

cdef enum:
    FAR = 0x7FFFFFFF


cdef int64_t _list(const int32_t *row, int64_t n, int32_t distance, int32_t *found, int32_t *queue,
                   int64_t last) noexcept nogil:
    """Append to the queue the vertices of a row that have no distance yet; return its end."""
    cdef int64_t k
    for k in range(n):
        if found[row[k]] == FAR:
            found[row[k]] = distance
            queue[last] = row[k]
            last += 1
    return last


def supersteps_before(const int64_t[::1] in_begin, const int32_t[::1] in_neighbor, const int64_t[::1] out_begin,
                      const int32_t[::1] out_neighbor, int directions, int64_t num_masters,
                      const int32_t[::1] replicated):
    """Return, by vertex (int32), how many supersteps that it runs in, and its signals, do not need other ranks.

    *directions* are those of scatter. The masters *replicated* need their mirrors at once: 0. A signal to a mirror
    has to be sent: -1 for mirrors, so that a vertex that may signal one has 0. Other vertices have one more than the
    least of those that they may signal.
    """
    cdef int64_t n = in_begin.shape[0] - 1, first = 0, last = 0, mirrors = n - num_masters, i
    cdef int32_t v
    cdef int stage
    distances, room = np.full(n + 1, FAR, dtype=np.int32), np.empty(n + 1, dtype=np.int32)
    cdef int32_t[::1] of_vertices = distances, listed = room
    cdef int32_t *found = &of_vertices[0]
    cdef int32_t *queue = &listed[0]
    with nogil:
        for i in range(num_masters, n):
            found[i] = -1
            queue[last] = <int32_t> i
            last += 1
        for stage in range(2):  # what may signal a mirror, then all others
            if stage and replicated.shape[0]:
                last = _list(&replicated[0], replicated.shape[0], 0, found, queue, last)
            while first < (last if stage else mirrors):
                v = queue[first]
                first += 1
                if directions & GL_OUT and in_begin[v] < in_begin[v + 1]:
                    last = _list(&in_neighbor[in_begin[v]], in_begin[v + 1] - in_begin[v], found[v] + 1, found,
                                 queue, last)
                if directions & GL_IN and out_begin[v] < out_begin[v + 1]:
                    last = _list(&out_neighbor[out_begin[v]], out_begin[v + 1] - out_begin[v], found[v] + 1, found,
                                 queue, last)
    return distances
