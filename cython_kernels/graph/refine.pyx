"""Refinement of a cut: all edges that a vertex has in one part go elsewhere, where this saves replicas."""

from libc.stdint cimport int32_t, int64_t, uint64_t

cdef extern from *:
    """
    #define GL_LOWEST_BIT(x) __builtin_ctzll(x)
    """
    int GL_LOWEST_BIT(uint64_t) nogil

cdef struct Cut:
    const int32_t *low
    const int32_t *high
    const int64_t *weight
    int32_t *part
    uint64_t *held
    int64_t words
    const int64_t *slot
    int32_t *used
    int32_t *key
    int32_t *count
    int64_t *load
    int64_t *size
    int64_t k
    int64_t cap
    int64_t most  # vertices of a part
    int64_t total

cdef inline int64_t find(Cut *c, int32_t v, int32_t p) noexcept nogil:
    cdef int64_t s = c.slot[v]
    if c.slot[v + 1] - s == c.k:
        return s + p
    while c.key[s] != p:
        s += 1
    return s

cdef inline bint holds(Cut *c, int64_t v, int64_t p) noexcept nogil:
    return c.held[v * c.words + (p >> 6)] >> (p & 63) & 1

cdef inline int32_t amount(Cut *c, int32_t v, int32_t p) noexcept nogil:
    return c.count[find(c, v, p)] if holds(c, v, p) else 0

cdef inline void add(Cut *c, int32_t v, int32_t p) noexcept nogil:
    cdef int64_t s
    if holds(c, v, p):
        c.count[find(c, v, p)] += 1
        return
    c.held[v * c.words + (p >> 6)] |= <uint64_t> 1 << (p & 63)
    c.size[p] += 1
    c.total += 1
    s = c.slot[v]
    if c.slot[v + 1] - s == c.k:
        s += p
    else:
        s += c.used[v]
        c.used[v] += 1
        c.key[s] = p
    c.count[s] = 1

cdef inline void drop(Cut *c, int32_t v, int32_t p) noexcept nogil:
    cdef int64_t s = find(c, v, p), e
    c.count[s] -= 1
    if c.count[s]:
        return
    c.held[v * c.words + (p >> 6)] &= ~(<uint64_t> 1 << (p & 63))
    c.size[p] -= 1
    c.total -= 1
    if c.slot[v + 1] - c.slot[v] != c.k:
        c.used[v] -= 1
        e = c.slot[v] + c.used[v]
        c.key[s] = c.key[e]
        c.count[s] = c.count[e]

cdef inline void move(Cut *c, int32_t i, int32_t q) noexcept nogil:
    cdef int32_t p = c.part[i]
    # add before drop: a row has room for it, as its capacity is the degree or k (an edge leaves a slot only if it was alone)
    drop(c, c.low[i], p)
    drop(c, c.high[i], p)
    add(c, c.low[i], q)
    add(c, c.high[i], q)
    c.load[p] -= c.weight[i]
    c.load[q] += c.weight[i]
    c.part[i] = q


def count(const int32_t[::1] low, const int32_t[::1] high, const int64_t[::1] weight, int32_t[::1] part,
          uint64_t[:, ::1] held, const int64_t[::1] slot, int32_t[::1] used, int32_t[:, ::1] rows,
          int64_t[::1] load, int64_t[::1] size):
    cdef Cut c
    cdef int64_t i
    c.held = &held[0, 0]; c.words = held.shape[1]; c.slot = &slot[0]; c.used = &used[0]
    c.key = &rows[0, 0]; c.count = &rows[1, 0]; c.load = &load[0]; c.size = &size[0]; c.k = load.shape[0]; c.total = 0
    with nogil:
        for i in range(low.shape[0]):
            add(&c, low[i], part[i])
            add(&c, high[i], part[i])
            load[part[i]] += weight[i]
    return c.total


def sweep(const int32_t[::1] low, const int32_t[::1] high, const int64_t[::1] weight,
          const int64_t[::1] begin, const int64_t[::1] back, const int32_t[::1] pairs, int32_t[::1] part,
          uint64_t[:, ::1] held, const int64_t[::1] slot, int32_t[::1] used, int32_t[:, ::1] rows,
          int64_t[::1] load, int64_t[::1] size, int64_t cap, double balance, int64_t total,
          int64_t widest, int64_t foreign, int64_t debt, int32_t[:, ::1] room, int64_t[::1] where):
    """room: rows mine(sorted pairs), goal ; where: k+1"""
    cdef Cut c
    cdef int64_t v, n = begin.shape[0] - 1, i, j, w, lo, hi, gain, x, moves = 0, fit, best_score
    cdef int32_t p, q, u, best, o
    cdef uint64_t bits
    cdef int64_t k = load.shape[0]
    cdef uint64_t *a
    cdef uint64_t *b
    cdef int32_t *mine = &room[0, 0]
    cdef int32_t *goal = &room[1, 0]
    cdef int32_t *score = &room[2, 0]
    cdef int64_t deg
    cdef bint ok
    c.low = &low[0]; c.high = &high[0]; c.weight = &weight[0]; c.part = &part[0]
    c.held = &held[0, 0]; c.words = held.shape[1]; c.slot = &slot[0]; c.used = &used[0]
    c.key = &rows[0, 0]; c.count = &rows[1, 0]; c.load = &load[0]; c.size = &size[0]; c.k = k; c.total = total
    c.cap = cap
    with nogil:
        for v in range(n):
            deg = begin[v + 1] - begin[v] + back[v + 1] - back[v]
            if deg == 0:
                continue
            c.most = <int64_t> (balance * c.total / k)
            # the pairs of v by part
            for p in range(k + 1):
                where[p] = 0
            for i in range(begin[v], begin[v + 1]):
                where[part[i] + 1] += 1
            for j in range(back[v], back[v + 1]):
                if low[pairs[j]] != v:
                    where[part[pairs[j]] + 1] += 1
            for p in range(k):
                where[p + 1] += where[p]
            for i in range(begin[v], begin[v + 1]):
                mine[where[part[i]]] = <int32_t> i
                where[part[i]] += 1
            for j in range(back[v], back[v + 1]):
                i = pairs[j]
                if low[i] != v:
                    mine[where[part[i]]] = <int32_t> i
                    where[part[i]] += 1
            a = c.held + v * c.words
            hi = 0
            for p in range(k):
                lo = hi
                hi = where[p]
                if hi == lo or hi - lo > widest:
                    continue
                # to parts that v is in
                gain = 1 + (debt if c.size[p] > c.most else 0)
                ok = True
                fit = lo
                a[p >> 6] &= ~(<uint64_t> 1 << (p & 63))  # hide p
                for j in range(lo, hi):
                    i = mine[j]
                    u = high[i] if low[i] == v else low[i]
                    if u != v and amount(&c, u, p) == 1:
                        gain += 1
                    b = c.held + u * c.words
                    best = -1
                    for w in range(c.words):
                        bits = a[w] & b[w]
                        while bits:
                            q = <int32_t> (64 * w + GL_LOWEST_BIT(bits))
                            bits &= bits - 1
                            if c.load[q] + weight[i] <= cap and (best < 0 or c.load[q] < c.load[best]):
                                best = q
                    if best < 0:
                        gain -= 1
                        if gain + hi - j < 0:
                            ok = False
                            break
                        for w in range(c.words):
                            bits = a[w]
                            while bits:
                                q = <int32_t> (64 * w + GL_LOWEST_BIT(bits))
                                bits &= bits - 1
                                if c.load[q] + weight[i] <= cap and c.size[q] < c.most and (best < 0 or c.size[q] < c.size[best]):
                                    best = q
                        if best < 0:
                            ok = False
                            break
                    goal[j] = best
                    c.load[best] += weight[i]
                    fit = j + 1
                for j in range(lo, fit):
                    c.load[goal[j]] -= weight[mine[j]]
                a[p >> 6] |= <uint64_t> 1 << (p & 63)
                if ok and gain > 0:
                    for j in range(lo, hi):
                        move(&c, mine[j], goal[j])
                    moves += 1
                    continue
                if hi - lo > foreign:
                    continue
                # to one part that v is not in
                for q in range(k):
                    score[q] = 0
                gain = debt if c.size[p] > c.most else 0
                for j in range(lo, hi):
                    i = mine[j]
                    u = high[i] if low[i] == v else low[i]
                    if u == v:
                        gain += 1
                        continue
                    if amount(&c, u, p) == 1:
                        gain += 1
                    b = c.held + u * c.words
                    for w in range(c.words):
                        bits = b[w] & ~a[w]
                        while bits:
                            score[64 * w + GL_LOWEST_BIT(bits)] += 1
                            bits &= bits - 1
                best = -1
                best_score = hi - lo - gain  # must be more
                for q in range(k):
                    if score[q] > best_score and c.load[q] + hi - lo <= cap and c.size[q] < c.most:
                        best = q
                        best_score = score[q]
                if best >= 0:
                    for j in range(lo, hi):
                        move(&c, mine[j], best)
                    moves += 1
    return c.total, moves


def shift(const int32_t[::1] low, const int32_t[::1] high, const int64_t[::1] weight, int32_t[::1] part,
          uint64_t[:, ::1] held, const int64_t[::1] slot, int32_t[::1] used, int32_t[:, ::1] rows,
          int64_t[::1] load, int64_t[::1] size, int64_t cap, double balance, int64_t total,
          const double[::1] worth, double by_load, double by_size, bint everywhere):
    """worth[c]: what an edge more is worth where the end has c."""
    cdef Cut c
    cdef int64_t i, w, moves = 0, last = worth.shape[0] - 1, x
    cdef int64_t k = load.shape[0]
    cdef int32_t p, q, u, v, best
    cdef double score, top
    cdef uint64_t bits
    cdef uint64_t *a
    cdef uint64_t *b
    c.low = &low[0]; c.high = &high[0]; c.weight = &weight[0]; c.part = &part[0]
    c.held = &held[0, 0]; c.words = held.shape[1]; c.slot = &slot[0]; c.used = &used[0]
    c.key = &rows[0, 0]; c.count = &rows[1, 0]; c.load = &load[0]; c.size = &size[0]; c.k = k; c.total = total
    with nogil:
        for i in range(low.shape[0]):
            u = low[i]
            v = high[i]
            if u == v:
                continue
            p = part[i]
            c.most = <int64_t> (balance * c.total / k)
            a = c.held + u * c.words
            b = c.held + v * c.words
            x = amount(&c, u, p) - 1
            top = worth[min(x, last)]
            x = amount(&c, v, p) - 1
            top += worth[min(x, last)]
            top -= by_load * (c.load[p] - weight[i]) + by_size * c.size[p]
            best = -1
            for w in range(c.words):
                bits = a[w] & b[w]
                if everywhere:
                    bits = a[w] | b[w]
                while bits:
                    q = <int32_t> (64 * w + GL_LOWEST_BIT(bits))
                    bits &= bits - 1
                    if q == p or c.load[q] + weight[i] > cap:
                        continue
                    x = amount(&c, u, q)
                    score = worth[min(x, last)]
                    if x == 0 and c.size[q] >= c.most:
                        continue
                    x = amount(&c, v, q)
                    if x == 0 and c.size[q] >= c.most:
                        continue
                    score += worth[min(x, last)]
                    score -= by_load * c.load[q] + by_size * c.size[q]
                    if score > top:
                        top = score
                        best = q
            if best >= 0:
                move(&c, <int32_t> i, best)
                moves += 1
    return c.total, moves
