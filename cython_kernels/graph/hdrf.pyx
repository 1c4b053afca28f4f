"""Streaming greedy placement of pairs (HDRF): each to a part that has its ends, or to the least loaded."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

ctypedef fused degree_t:
    int32_t
    int64_t

cdef extern from *:
    """
    #define GL_LOWEST_BIT(x) __builtin_ctzll(x)
    #define GL_FETCH(address) __builtin_prefetch(address)
    """
    int GL_LOWEST_BIT(uint64_t) nogil
    void GL_FETCH(const void *) nogil

cdef enum:
    AHEAD = 12  # pairs whose bits are fetched before their turn
    GROUP = 32  # parts of which the least loaded is known
    GROUPS = 32  # of at most 1,024 parts

cdef struct Loads:
    double *load  # edges of each part, or more than any part has once it is full
    int64_t k
    double least[GROUPS]


cdef inline void regroup(Loads *loads, int64_t group) noexcept nogil:
    cdef int64_t p
    cdef double least = loads.load[group * GROUP]
    for p in range(group * GROUP + 1, min((group + 1) * GROUP, loads.k)):
        least = min(least, loads.load[p])
    loads.least[group] = least


cdef inline int64_t least_loaded(Loads *loads) noexcept nogil:
    cdef int64_t g, p, best = 0
    for g in range(1, (loads.k + GROUP - 1) // GROUP):
        if loads.least[g] < loads.least[best]:
            best = g
    p = best * GROUP
    while loads.load[p] > loads.least[best]:
        p += 1
    return p


cdef int64_t roomiest(const int64_t *room, int64_t k) noexcept nogil:
    cdef int64_t p, best = 0
    for p in range(1, k):
        if room[p] > room[best]:
            best = p
    return best


def assign(const int32_t[::1] low, const int32_t[::1] high, const int64_t[::1] multiplicity,
           const degree_t[::1] degree, double balance, double scale, double[::1] load, int64_t[::1] room,
           uint64_t[:, ::1] held, int32_t[::1] part, int64_t[::1] fresh):
    """Choose the part of each pair; return how many (vertex, part) are new, which `fresh` lists.

    Of the parts that hold both ends the least loaded; else a part that holds an end scores 1 + (the other
    end's share of both degrees), and every part up to *balance* for having less load than the fullest.
    `load` grows by *scale* for each edge, `room` shrinks by 1; a part without room has an infinite load.
    `held[v]` has a bit for each part that holds v. `fresh` has vertex * k + part.
    """
    cdef int64_t i, w, p, best, count = 0, k = load.shape[0], words = held.shape[1]
    cdef int64_t need
    cdef uint64_t bits, mine, theirs
    cdef double share, score, top, most, few, worth, of_low, of_high
    cdef uint64_t *a
    cdef uint64_t *b
    cdef int64_t *rooms = &room[0]
    cdef Loads loads
    loads.load = &load[0]
    loads.k = k
    with nogil:
        most = 0.0
        for p in range(k):
            most = max(most, load[p])
            if rooms[p] < 1:
                load[p] = INFINITY
        for p in range((k + GROUP - 1) // GROUP):
            regroup(&loads, p)
        for i in range(low.shape[0]):
            if i + AHEAD < low.shape[0]:
                GL_FETCH(&held[high[i + AHEAD], 0])
            need = multiplicity[i]
            a = &held[low[i], 0]
            b = &held[high[i], 0]
            best = -1
            top = INFINITY
            for w in range(words):
                bits = a[w] & b[w]
                while bits:
                    p = 64 * w + GL_LOWEST_BIT(bits)
                    bits &= bits - 1
                    if loads.load[p] < top and rooms[p] >= need:
                        top = loads.load[p]
                        best = p
            if best < 0:
                best = least_loaded(&loads)
                few = loads.load[best]
                if rooms[best] < need:
                    best = roomiest(rooms, k)
                worth = balance / (1.0 + most - few) if few < most else 0.0
                share = <double> degree[low[i]] / (<double> degree[low[i]] + degree[high[i]])
                of_low = 2.0 - share
                of_high = 1.0 + share
                top = worth * (most - few)
                for w in range(words):
                    mine = a[w]
                    theirs = b[w]
                    bits = mine | theirs
                    while bits:
                        p = GL_LOWEST_BIT(bits)
                        score = (of_low if mine >> p & 1 else of_high) + worth * (most - loads.load[64 * w + p])
                        bits &= bits - 1
                        p = 64 * w + p
                        if score > top and rooms[p] >= need:
                            top = score
                            best = p
            part[i] = <int32_t> best
            w = best >> 6
            bits = <uint64_t> 1 << (best & 63)
            if not a[w] & bits:
                a[w] |= bits
                fresh[count] = low[i] * k + best
                count += 1
            if not b[w] & bits:
                b[w] |= bits
                fresh[count] = high[i] * k + best
                count += 1
            score = loads.load[best]
            loads.load[best] = score + scale * need
            rooms[best] -= need
            most = max(most, loads.load[best] if score < INFINITY else most)
            if rooms[best] < 1:
                loads.load[best] = INFINITY
            if score == loads.least[best // GROUP]:
                regroup(&loads, best // GROUP)
    return count


def mark(const int64_t[::1] fresh, int64_t k, uint64_t[:, ::1] held):
    """Set the bit of every vertex * k + part."""
    cdef int64_t i, v, p
    with nogil:
        for i in range(fresh.shape[0]):
            v = fresh[i] // k
            p = fresh[i] - v * k
            held[v, p >> 6] |= <uint64_t> 1 << (p & 63)
