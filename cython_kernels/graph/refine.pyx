"""Refinement of a cut: all pairs that a vertex has in one part go to others, where this saves replicas."""

include "cut.pxi"

cdef enum:
    WORDS = 16  # of at most 1,024 parts

cdef struct Sweep:
    Cut cut
    int32_t *mine  # the pairs of a vertex, grouped by part
    int64_t *goal  # of each of a group, where it goes; ~part if that brings the part a new vertex
    uint64_t[WORDS] parts  # those that have such pairs
    int64_t *start  # of each part, where its group begins
    int64_t *end
    int64_t *score
    int64_t widest  # pairs of a group
    int64_t debt  # replicas that a group may cost if its part has too many vertices
    int64_t roof  # replicas that the cut may have after it


cdef inline int64_t other(const Cut *c, int64_t i, int64_t v) noexcept nogil:
    return c.high[i] if c.low[i] == v else c.low[i]


cdef inline bint due(Sweep *s, int64_t v, int64_t p, bint over) noexcept nogil:
    """Return whether the pairs of v in p are to be tried."""
    return (not over or s.cut.size[p] > s.cut.most) and amount(&s.cut, v, p) <= s.widest


cdef bint any_due(Sweep *s, int64_t v, bint over) noexcept nogil:
    cdef int64_t w
    cdef uint64_t bits
    for w in range(s.cut.words):
        bits = s.cut.held[v * s.cut.words + w]
        while bits:
            if due(s, v, 64 * w + GL_LOWEST_BIT(bits), over):
                return True
            bits &= bits - 1
    return False


cdef void group(Sweep *s, int64_t v, const int64_t *begin, const int64_t *back,
                const int32_t *pairs) noexcept nogil:
    """Write the pairs of v by part."""
    cdef Cut *c = &s.cut
    cdef int64_t i, j, w, p, at = 0
    cdef uint64_t bits
    for w in range(c.words):
        bits = c.held[v * c.words + w]
        s.parts[w] = bits
        while bits:
            p = 64 * w + GL_LOWEST_BIT(bits)
            bits &= bits - 1
            s.start[p] = s.end[p] = at
            at += amount(c, v, p)
    for i in range(begin[v], begin[v + 1]):
        s.mine[s.end[c.part[i]]] = <int32_t> i
        s.end[c.part[i]] += 1
    for j in range(back[v], back[v + 1]):
        i = pairs[j]
        if c.low[i] != v:  # a self-loop is there already
            s.mine[s.end[c.part[i]]] = <int32_t> i
            s.end[c.part[i]] += 1


cdef inline bint worth_it(Sweep *s, int64_t gain, int64_t p) noexcept nogil:
    return gain > 0 or (s.cut.size[p] > s.cut.most and gain + s.debt > 0 and s.cut.total - gain <= s.roof)


cdef int64_t smallest(const Cut *c, const uint64_t *a, int64_t weight) noexcept nogil:
    """Return the part below both caps, of a row of bits, that has the fewest vertices, or -1."""
    cdef int64_t w, p, best = -1
    cdef uint64_t bits
    for w in range(c.words):
        bits = a[w]
        while bits:
            p = 64 * w + GL_LOWEST_BIT(bits)
            bits &= bits - 1
            if c.load[p] + weight <= c.cap and c.size[p] < c.most and (best < 0 or c.size[p] < c.size[best]):
                best = p
    return best


cdef bint disperse(Sweep *s, int64_t v, int64_t p, int64_t lo, int64_t hi) noexcept nogil:
    """Move each pair of v in p to another part that has v, if this is worth it."""
    cdef Cut *c = &s.cut
    cdef uint64_t *a = c.held + v * c.words
    cdef int64_t i, j, u, q, gain = 1, done = lo
    cdef bint good = True
    a[p >> 6] ^= <uint64_t> 1 << (p & 63)  # p is no goal
    for j in range(lo, hi):
        i = s.mine[j]
        u = other(c, i, v)
        if u != v and amount(c, u, p) == 1:
            gain += 1
        q = shared(c, a, c.held + u * c.words, c.weight[i])
        if q >= 0:
            s.goal[j - lo] = q
        else:
            gain -= 1
            q = smallest(c, a, c.weight[i])
            if q < 0 or not worth_it(s, gain + hi - 1 - j, p):
                good = False
                break
            c.size[q] += 1
            s.goal[j - lo] = ~q
        c.load[q] += c.weight[i]
        done = j + 1
    for j in range(lo, done):
        if s.goal[j - lo] < 0:
            s.goal[j - lo] = ~s.goal[j - lo]
            c.size[s.goal[j - lo]] -= 1
        c.load[s.goal[j - lo]] -= c.weight[s.mine[j]]
    a[p >> 6] ^= <uint64_t> 1 << (p & 63)
    good = good and worth_it(s, gain, p)
    if good:
        for j in range(lo, hi):
            move(c, s.mine[j], s.goal[j - lo])
    return good


cdef bint transfer(Sweep *s, int64_t v, int64_t p, int64_t lo, int64_t hi) noexcept nogil:
    """Move all pairs of v in p to one part that does not have v, if this is worth it."""
    cdef Cut *c = &s.cut
    cdef uint64_t *a = c.held + v * c.words
    cdef uint64_t[WORDS] met
    cdef uint64_t bits
    cdef int64_t i, j, w, u, q, gain = 0, weight = 0, best = -1
    for w in range(c.words):
        met[w] = 0
    for j in range(lo, hi):
        i = s.mine[j]
        u = other(c, i, v)
        weight += c.weight[i]
        if u == v:
            gain += 1
            continue
        if amount(c, u, p) == 1:
            gain += 1
        for w in range(c.words):
            bits = c.held[u * c.words + w] & ~a[w]
            met[w] |= bits
            while bits:
                s.score[64 * w + GL_LOWEST_BIT(bits)] += 1
                bits &= bits - 1
    for w in range(c.words):
        bits = met[w]
        while bits:
            q = 64 * w + GL_LOWEST_BIT(bits)
            bits &= bits - 1
            i = hi - lo - s.score[q]  # other ends that q does not have, at most
            if (c.load[q] + weight <= c.cap and c.size[q] + i < c.most and worth_it(s, gain - i, p)
                    and (best < 0 or s.score[q] > s.score[best])):
                best = q
    for w in range(c.words):
        bits = met[w]
        if best >= 0 and best >> 6 == w:
            bits ^= <uint64_t> 1 << (best & 63)
        while bits:
            s.score[64 * w + GL_LOWEST_BIT(bits)] = 0
            bits &= bits - 1
    if best < 0:
        return False
    s.score[best] = 0
    for j in range(lo, hi):
        move(c, s.mine[j], best)
    return True


def sweep(tuple pairs, tuple state, const int64_t[::1] begin, const int64_t[::1] back,
          const int32_t[::1] rows, tuple room, int64_t cap, double balance, int64_t vertices, int64_t widest,
          int64_t debt, int64_t roof, bint over):
    """Try the groups of up to *widest* pairs of the first so many vertices; return how many moved.

    Only groups in parts with more than *balance* times the mean of vertices may cost replicas, up to *debt*
    each and *roof* together; *over* tries no others.
    """
    cdef Sweep s
    cdef int32_t[::1] mine = room[0]
    cdef int64_t[:, ::1] lists = room[1]
    cdef int64_t[::1] goal = room[2]
    cdef int64_t v, w, p, lo, hi, moved = 0
    cdef uint64_t bits
    s.cut = opened(pairs, state, cap, balance)
    s.mine, s.goal, s.start, s.end, s.score = &mine[0], &goal[0], &lists[0, 0], &lists[1, 0], &lists[2, 0]
    s.widest, s.debt, s.roof = widest, debt, roof
    with nogil:
        for v in range(vertices):
            limit(&s.cut)
            if not any_due(&s, v, over):
                continue
            group(&s, v, &begin[0], &back[0], &rows[0])
            for w in range(s.cut.words):
                bits = s.parts[w]
                while bits:
                    p = 64 * w + GL_LOWEST_BIT(bits)
                    bits &= bits - 1
                    lo, hi = s.start[p], s.end[p]
                    if hi - lo == amount(&s.cut, v, p) and due(&s, v, p, over):  # no other group came here
                        moved += disperse(&s, v, p, lo, hi) or transfer(&s, v, p, lo, hi)
    return moved
