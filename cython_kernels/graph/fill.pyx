"""Placement of the pairs that an expansion left."""

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

cdef extern from *:
    """
    #define GL_LOWEST_BIT(x) __builtin_ctzll(x)
    """
    int GL_LOWEST_BIT(uint64_t) nogil


def hold(const int32_t[::1] low, const int32_t[::1] high, const int64_t[::1] weight, const int32_t[::1] part,
         uint64_t[:, ::1] held, int64_t[::1] load, int64_t[::1] size):
    cdef int64_t i, p, total = 0
    cdef uint64_t bit
    with nogil:
        for i in range(low.shape[0]):
            p = part[i]
            if p < 0:
                continue
            bit = <uint64_t> 1 << (p & 63)
            load[p] += weight[i]
            if not held[low[i], p >> 6] & bit:
                held[low[i], p >> 6] |= bit
                size[p] += 1
                total += 1
            if not held[high[i], p >> 6] & bit:
                held[high[i], p >> 6] |= bit
                size[p] += 1
                total += 1
    return total


def fill(const int32_t[::1] low, const int32_t[::1] high, const int64_t[::1] weight, const int32_t[::1] degree,
         int32_t[::1] part, uint64_t[:, ::1] held, int64_t[::1] load, int64_t[::1] size, int64_t total,
         int64_t cap, double balance):
    cdef int64_t i, w, p, best, k = load.shape[0], words = held.shape[1], widest
    cdef uint64_t bits, mine, theirs
    cdef uint64_t *a
    cdef uint64_t *b
    cdef double score, top, share, of_low, of_high
    cdef int64_t most_load = 1
    with nogil:
        for i in range(low.shape[0]):
            if part[i] >= 0:
                continue
            a = &held[low[i], 0]
            b = &held[high[i], 0]
            best = -1
            for w in range(words):
                bits = a[w] & b[w]
                while bits:
                    p = 64 * w + GL_LOWEST_BIT(bits)
                    bits &= bits - 1
                    if load[p] + weight[i] <= cap and (best < 0 or load[p] < load[best]):
                        best = p
            if best < 0:
                widest = <int64_t> (balance * total / k)
                share = <double> degree[low[i]] / (degree[low[i]] + degree[high[i]])
                of_low = 2.0 - share
                of_high = 1.0 + share
                top = INFINITY
                for p in range(k):
                    if load[p] + weight[i] > cap or size[p] >= widest:
                        continue
                    w = p >> 6
                    score = <double> load[p] / cap + <double> size[p] / widest
                    if a[w] >> (p & 63) & 1:
                        score -= of_low
                    if b[w] >> (p & 63) & 1:
                        score -= of_high
                    if score < top:
                        top = score
                        best = p
            if best < 0:
                for p in range(k):
                    if load[p] + weight[i] <= cap and (best < 0 or size[p] < size[best]):
                        best = p
            if best < 0:
                best = 0
                for p in range(k):
                    if load[p] < load[best]:
                        best = p
            part[i] = <int32_t> best
            load[best] += weight[i]
            w = best >> 6
            bits = <uint64_t> 1 << (best & 63)
            if not a[w] & bits:
                a[w] |= bits
                size[best] += 1
                total += 1
            if not b[w] & bits:
                b[w] |= bits
                size[best] += 1
                total += 1
    return total
