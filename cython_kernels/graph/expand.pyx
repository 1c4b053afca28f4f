"""Neighbourhood expansion: a part grows from a seed by the vertex of its rim that has the fewest edges left."""

from libc.stdint cimport int32_t, int64_t

cdef enum:
    NONE = -1

# A part is a set of vertices; every edge between two of them that no part had is its edge. The vertex with the
# fewest edges left (its rest) gives these to the part next, and so brings their other ends in.
cdef struct Grower:
    const int32_t *low  # of each pair
    const int32_t *high
    const int64_t *weight
    const int64_t *begin  # of each vertex, the pairs of which it is the lower end: in a row
    const int64_t *back  # of each vertex, where `pairs` has those of which it is the higher end
    int64_t *first  # the same two, without pairs already placed at their fronts and ends
    int64_t *last
    int32_t *pairs
    int32_t *part  # of each pair, or NONE
    int32_t *rest  # edges of each vertex that no part has
    int32_t *seen  # the last part that each vertex was taken into
    int32_t *head  # of each rest, the first vertex of the rim
    int32_t *next
    int32_t *prev  # NONE if it is the first; the vertex itself if it is not in the rim
    int64_t widest  # vertices from this number on are never expanded: their rows are not in `pairs`
    int64_t least  # no vertex of the rim has a lesser rest
    int64_t top  # nor a greater one
    int64_t room  # edges that the part still takes
    int64_t places  # vertices that it still takes
    int32_t p


cdef inline void unlink(Grower *g, int32_t v) noexcept nogil:
    cdef int32_t before = g.prev[v], after = g.next[v]
    if before == v:
        return
    if before == NONE:
        g.head[g.rest[v]] = after
    else:
        g.next[before] = after
    if after != NONE:
        g.prev[after] = before
    g.prev[v] = v


cdef inline void link(Grower *g, int32_t v) noexcept nogil:
    cdef int32_t rest = g.rest[v]
    cdef int32_t after = g.head[rest]
    g.head[rest] = v
    g.next[v] = after
    g.prev[v] = NONE
    if after != NONE:
        g.prev[after] = v
    g.least = min(g.least, rest)
    g.top = max(g.top, rest)


cdef inline void spend(Grower *g, int32_t v) noexcept nogil:
    """One edge less is left of v."""
    if g.prev[v] == v:
        g.rest[v] -= 1
        return
    unlink(g, v)
    g.rest[v] -= 1
    if g.rest[v]:
        link(g, v)


cdef inline bint take(Grower *g, int64_t i) noexcept nogil:
    """Give pair i to the part, if it fits."""
    if g.weight[i] > g.room:
        return False
    g.room -= g.weight[i]
    g.part[i] = g.p
    spend(g, g.low[i])
    spend(g, g.high[i])
    return True


cdef void join(Grower *g, int32_t v) noexcept nogil:
    """Take v into the part, with its edges to the others there."""
    cdef int64_t j, i
    g.seen[v] = g.p
    g.places -= 1
    if v >= g.widest:
        return
    while g.first[v] < g.begin[v + 1] and g.part[g.first[v]] != NONE:
        g.first[v] += 1
    for i in range(g.first[v], g.begin[v + 1]):
        if g.part[i] == NONE and g.seen[g.high[i]] == g.p:
            take(g, i)
    j = g.back[v]
    while j < g.last[v]:
        i = g.pairs[j]
        if g.part[i] == NONE and (g.seen[g.low[i]] != g.p or not take(g, i)):
            j += 1
        else:
            g.last[v] -= 1
            g.pairs[j] = g.pairs[g.last[v]]
            g.pairs[g.last[v]] = <int32_t> i
    if g.rest[v] and g.prev[v] == v:
        link(g, v)


cdef inline void reach(Grower *g, int64_t i, int32_t u) noexcept nogil:
    """Take pair i and its end u."""
    if g.part[i] != NONE or g.weight[i] > g.room:
        return
    if g.seen[u] != g.p:
        join(g, u)
    if g.part[i] == NONE:
        take(g, i)


cdef void expand(Grower *g, int32_t v) noexcept nogil:
    """Give all edges of v to the part."""
    cdef int64_t j, i
    unlink(g, v)
    if g.seen[v] != g.p:
        join(g, v)
        unlink(g, v)
    for i in range(g.first[v], g.begin[v + 1]):
        if g.room < 1 or g.places < 1:
            return
        reach(g, i, g.high[i])
    for j in range(g.back[v], g.last[v]):
        if g.room < 1 or g.places < 1:
            return
        i = g.pairs[j]
        reach(g, i, g.low[i])


cdef int32_t nearest(Grower *g) noexcept nogil:
    """Return the vertex of the rim with the least rest, or NONE."""
    while g.least <= g.top:
        if g.head[g.least] != NONE:
            return g.head[g.least]
        g.least += 1
    return NONE


def list_rows(const int32_t[::1] high, const int64_t[::1] back, int64_t widest, int64_t[::1] last,
              int32_t[::1] pairs):
    """Write the pairs of each higher end below *widest*; `last` ends where `back` of the next begins."""
    cdef int64_t i, v
    with nogil:
        for v in range(widest):
            last[v] = back[v]
        for i in range(high.shape[0]):
            v = high[i]
            if v < widest:
                pairs[last[v]] = <int32_t> i
                last[v] += 1


def grow(const int32_t[::1] low, const int32_t[::1] high, const int64_t[::1] weight,
         const int64_t[::1] begin, const int64_t[::1] back, int64_t[::1] first, int64_t[::1] last,
         int32_t[::1] pairs, int32_t[::1] part, int32_t[::1] rest, int32_t[:, ::1] lists, int64_t widest,
         int32_t p, int64_t room, int64_t places, int64_t seed):
    """Grow part p by up to *room* edges and about *places* vertices; return the next seed and the room left.

    `lists` has the rows seen, head, next and prev.
    """
    cdef Grower g
    cdef int32_t v
    g.low, g.high, g.weight, g.begin, g.back = &low[0], &high[0], &weight[0], &begin[0], &back[0]
    g.first, g.last, g.pairs, g.part, g.rest = &first[0], &last[0], &pairs[0], &part[0], &rest[0]
    g.seen, g.head, g.next, g.prev = &lists[0, 0], &lists[1, 0], &lists[2, 0], &lists[3, 0]
    g.widest, g.p, g.room, g.places = widest, p, room, places
    g.least = lists.shape[1]
    g.top = 0
    with nogil:
        while g.room > 0 and g.places > 0:
            v = nearest(&g)
            if v == NONE:
                while seed < widest and rest[seed] == 0:
                    seed += 1
                if seed >= widest:
                    break
                v = <int32_t> seed
                if g.seen[v] == p:  # what is left of it does not fit
                    seed += 1
                    continue
            expand(&g, v)
        while True:  # empty the rim for the next part
            v = nearest(&g)
            if v == NONE:
                break
            unlink(&g, v)
    return seed, g.room
