"""Streaming clustering of vertices, clusters packed into parts, and the pairs within a part."""

from libc.stdint cimport int32_t, int64_t, uint64_t

ctypedef fused degree_t:
    int32_t
    int64_t


def cluster(const int32_t[::1] low, const int32_t[::1] high, const degree_t[::1] degree, int64_t most,
            int32_t[::1] of, int64_t[::1] volume):
    """Of each pair bring the end with less around it into the cluster of the other, up to *most* degrees there.

    `of` has the cluster of each vertex, and `volume` the degrees of each cluster. Return the moves.
    """
    cdef int64_t i, moves = 0
    cdef int32_t u, v, a, b
    with nogil:
        for i in range(low.shape[0]):
            u, v = low[i], high[i]
            a, b = of[u], of[v]
            if a == b:
                continue
            if volume[a] - degree[u] > volume[b] - degree[v]:
                u, a, b = v, b, a
            if volume[b] + degree[u] <= most:
                of[u] = b
                volume[a] -= degree[u]
                volume[b] += degree[u]
                moves += 1
    return moves


def pack(const int64_t[::1] order, const int64_t[::1] volume, int64_t[::1] load, int32_t[::1] heap,
         int32_t[::1] part):
    """Give each cluster, in this order, to the part with the least volume; `heap` has the parts."""
    cdef int64_t i, at, child, k = heap.shape[0]
    cdef int32_t p
    with nogil:
        for i in range(order.shape[0]):
            p = heap[0]
            part[order[i]] = p
            load[p] += volume[order[i]]
            at = 0
            while True:  # sift the part down again
                child = 2 * at + 1
                if child >= k:
                    break
                if child + 1 < k and load[heap[child + 1]] < load[heap[child]]:
                    child += 1
                if load[heap[child]] >= load[p]:
                    break
                heap[at] = heap[child]
                at = child
            heap[at] = p


def place_within(const int32_t[::1] low, const int32_t[::1] high, const int64_t[::1] weight,
                 const int32_t[::1] of, const int32_t[::1] part_of, int64_t[::1] room, int32_t[::1] part,
                 uint64_t[:, ::1] held):
    """Place the pairs whose clusters are in one part, where there is room; return how many are left, with -1."""
    cdef int64_t i, left = 0
    cdef int32_t p
    with nogil:
        for i in range(low.shape[0]):
            p = part_of[of[low[i]]]
            if p != part_of[of[high[i]]] or room[p] < weight[i]:
                part[i] = -1
                left += 1
                continue
            part[i] = p
            room[p] -= weight[i]
            held[low[i], p >> 6] |= <uint64_t> 1 << (p & 63)
            held[high[i], p >> 6] |= <uint64_t> 1 << (p & 63)
    return left
