"""A cut that is filled up: pairs that no part has yet, and those that are as well off in another part."""

include "cut.pxi"


def count(tuple pairs, tuple state):
    """Enter the pairs that have a part into an empty state."""
    cdef Cut c = opened(pairs, state, 0, INFINITY)
    cdef int64_t i, size = len(pairs[0])
    with nogil:
        for i in range(size):
            if c.part[i] >= 0:
                put(&c, i, c.part[i])


cdef int64_t scored(Cut *c, int64_t i, const int32_t *degree) noexcept nogil:
    """Return the part below both caps that is best for a pair whose ends no part shares, or -1."""
    cdef int64_t p, u = c.low[i], v = c.high[i], best = -1
    cdef double score, top = -INFINITY, share = <double> degree[u] / (<double> degree[u] + degree[v])
    limit(c)
    for p in range(c.k):
        if c.load[p] + c.weight[i] > c.cap or c.size[p] >= c.most:
            continue
        score = -<double> c.load[p] / c.cap - <double> c.size[p] / c.most
        score += (2.0 - share) * holds(c, u, p) + (1.0 + share) * holds(c, v, p)
        if score > top:
            top = score
            best = p
    return best


cdef int64_t emptiest(Cut *c, int64_t weight) noexcept nogil:
    """Return the part with room that has the fewest vertices, else the least loaded."""
    cdef int64_t p, best = -1, least = 0
    for p in range(c.k):
        if c.load[p] + weight <= c.cap and (best < 0 or c.size[p] < c.size[best]):
            best = p
        if c.load[p] < c.load[least]:
            least = p
    return least if best < 0 else best


def fill(tuple pairs, tuple state, const int32_t[::1] degree, int64_t cap, double balance):
    """Give each pair without a part one that has both ends, else one as HDRF would, with both caps."""
    cdef Cut c = opened(pairs, state, cap, balance)
    cdef int64_t i, p, size = degree.shape[0] and len(pairs[0])
    with nogil:
        for i in range(size):
            if c.part[i] >= 0:
                continue
            p = shared(&c, c.held + c.low[i] * c.words, c.held + c.high[i] * c.words, c.weight[i])
            if p < 0:
                p = scored(&c, i, &degree[0])
            if p < 0:
                p = emptiest(&c, c.weight[i])
            put(&c, i, p)


def gather(tuple pairs, tuple state, const double[::1] worth, double by_load, int64_t cap):
    """Move pairs between parts that have both ends, to where these have more pairs; return how many moved.

    A pair is worth `worth[c]` to an end that has c others in the part, and *by_load* times the load less.
    """
    cdef Cut c = opened(pairs, state, cap, INFINITY)
    cdef int64_t i, w, u, v, p, q, best, moved = 0, last = worth.shape[0] - 1, size = len(pairs[0])
    cdef double score, top
    cdef uint64_t bits
    with nogil:
        for i in range(size):
            u, v, p = c.low[i], c.high[i], c.part[i]
            best = p
            top = worth[min(amount(&c, u, p) - 1, last)] + worth[min(amount(&c, v, p) - 1, last)]
            top -= by_load * (c.load[p] - c.weight[i])
            for w in range(c.words):
                bits = c.held[u * c.words + w] & c.held[v * c.words + w]
                while bits:
                    q = 64 * w + GL_LOWEST_BIT(bits)
                    bits &= bits - 1
                    if q == p or c.load[q] + c.weight[i] > cap:
                        continue
                    score = worth[min(amount(&c, u, q), last)] + worth[min(amount(&c, v, q), last)]
                    score -= by_load * c.load[q]
                    if score > top:
                        top = score
                        best = q
            if best != p:
                move(&c, i, best)
                moved += 1
    return moved
