# A vertex-cut while pairs move between its parts, under two caps: edges of a part, and vertices of a part.
#
# It knows how many pairs each vertex has in each part that holds it. Vertices of fewer pairs than there are
# parts have a row of (part, pairs) in no order, the others a row with a slot for every part.

from libc.math cimport INFINITY
from libc.stdint cimport int32_t, int64_t, uint64_t

cdef extern from *:
    """
    #define GL_LOWEST_BIT(x) __builtin_ctzll(x)
    """
    int GL_LOWEST_BIT(uint64_t) nogil

cdef struct Cut:
    const int32_t *low  # of each pair
    const int32_t *high
    const int64_t *weight
    int32_t *part
    const int64_t *slot  # of each vertex, where its row begins
    int32_t *used  # and how many parts a row in no order has
    int32_t *key  # of each slot, the part
    int32_t *count  # and the pairs
    uint64_t *held  # a bit for each part that holds the vertex
    int64_t words
    int64_t k
    int64_t cap
    int64_t *load  # edges of each part
    int64_t *size  # vertices of each part
    int64_t total  # replicas
    double balance  # what a part may hold of them, as a multiple of the mean
    int64_t most  # the same, as a number


cdef Cut opened(tuple pairs, tuple state, int64_t cap, double balance):
    """Return the cut of these arrays, as `gaslab.partitioning.refine.Cut` has them."""
    cdef Cut c
    cdef const int32_t[::1] low = pairs[0], high = pairs[1]
    cdef const int64_t[::1] weight = pairs[2]
    cdef int32_t[::1] part = pairs[3]
    cdef const int64_t[::1] slot = state[0]
    cdef int32_t[::1] used = state[1]
    cdef int32_t[:, ::1] rows = state[2]
    cdef uint64_t[:, ::1] held = state[3]
    cdef int64_t[::1] load = state[4], size = state[5]
    cdef int64_t p
    c.low, c.high, c.weight, c.part = &low[0], &high[0], &weight[0], &part[0]
    c.slot, c.used, c.key, c.count = &slot[0], &used[0], &rows[0, 0], &rows[1, 0]
    c.held, c.words, c.k, c.cap = &held[0, 0], held.shape[1], load.shape[0], cap
    c.load, c.size, c.total, c.balance = &load[0], &size[0], 0, balance
    for p in range(c.k):
        c.total += c.size[p]
    limit(&c)
    return c


cdef inline void limit(Cut *c) noexcept nogil:
    c.most = <int64_t> min(c.balance * c.total / c.k, 4e18)


cdef inline bint holds(Cut *c, int64_t v, int64_t p) noexcept nogil:
    return c.held[v * c.words + (p >> 6)] >> (p & 63) & 1


cdef inline int64_t find(Cut *c, int64_t v, int64_t p) noexcept nogil:
    """Return the slot of a part that holds v."""
    cdef int64_t s = c.slot[v]
    if c.slot[v + 1] - s == c.k:
        return s + p
    while c.key[s] != p:
        s += 1
    return s


cdef inline int32_t amount(Cut *c, int64_t v, int64_t p) noexcept nogil:
    return c.count[find(c, v, p)] if holds(c, v, p) else 0


cdef inline void add(Cut *c, int64_t v, int64_t p) noexcept nogil:
    cdef int64_t s = c.slot[v]
    if holds(c, v, p):
        c.count[find(c, v, p)] += 1
        return
    c.held[v * c.words + (p >> 6)] |= <uint64_t> 1 << (p & 63)
    c.size[p] += 1
    c.total += 1
    if c.slot[v + 1] - s == c.k:
        s += p
    else:
        s += c.used[v]
        c.used[v] += 1
        c.key[s] = <int32_t> p
    c.count[s] = 1


cdef inline void drop(Cut *c, int64_t v, int64_t p) noexcept nogil:
    cdef int64_t s = find(c, v, p), end
    c.count[s] -= 1
    if c.count[s]:
        return
    c.held[v * c.words + (p >> 6)] &= ~(<uint64_t> 1 << (p & 63))
    c.size[p] -= 1
    c.total -= 1
    if c.slot[v + 1] - c.slot[v] != c.k:
        c.used[v] -= 1
        end = c.slot[v] + c.used[v]
        c.key[s] = c.key[end]
        c.count[s] = c.count[end]


cdef inline void put(Cut *c, int64_t i, int64_t p) noexcept nogil:
    add(c, c.low[i], p)
    if c.high[i] != c.low[i]:
        add(c, c.high[i], p)
    c.load[p] += c.weight[i]
    c.part[i] = <int32_t> p


cdef inline void move(Cut *c, int64_t i, int64_t p) noexcept nogil:
    drop(c, c.low[i], c.part[i])
    if c.high[i] != c.low[i]:
        drop(c, c.high[i], c.part[i])
    c.load[c.part[i]] -= c.weight[i]
    put(c, i, p)


cdef inline int64_t shared(Cut *c, const uint64_t *a, const uint64_t *b, int64_t weight) noexcept nogil:
    """Return the least loaded part with room that both rows of bits have, or -1."""
    cdef int64_t w, p, best = -1
    cdef uint64_t bits
    for w in range(c.words):
        bits = a[w] & b[w]
        while bits:
            p = 64 * w + GL_LOWEST_BIT(bits)
            bits &= bits - 1
            if c.load[p] + weight <= c.cap and (best < 0 or c.load[p] < c.load[best]):
                best = p
    return best
