# Gather caching: totals are kept, and updated by what neighbours post.

cdef class Cached(Program):
    """Keeps each replica's total of the edges here, if the program posts changes of it.

    A vertex that changes a field which gathers read must scatter before any vertex here gathers: else a gather
    would read the change, and have it posted as well.

    Parameters
    ----------
    posts : (int, list of int, list of int, list of int) or None
        After how many of its turns a replica gathers anew (0: never); the vertex fields that gathers read of
        neighbours, then those that they read of the vertex itself; their sizes in bytes, in that order.
    most : int
        Vertices of a list at most.
    """

    cdef readonly bint caching
    cdef object _kept
    cdef uint32_t rebuild
    cdef int64_t far, reads, before_size
    cdef int64_t *read_field
    cdef int64_t *read_size
    cdef int32_t *unknown
    cdef uint8_t *changed
    cdef char *before
    cdef char *anew

    def __init__(self, view, functions, size_t total_size, identity, posts, int64_t most):
        Program.__init__(self, view, functions, total_size, identity)
        self._kept = []
        self.caching = posts is not None
        if not self.caching:
            return
        self.rebuild, far, near, sizes = posts
        self.changed = <uint8_t *> self.w.changed
        self.far, self.reads, self.before_size = len(far), len(far) + len(near), sum(sizes)
        for made in (np.array([*far, *near], np.int64), np.array(sizes, np.int64), np.empty(most, np.int32),
                     np.empty(most * self.before_size + 1, np.uint8),
                     np.empty(most * total_size // 8 + 1, np.int64)):
            self._kept.append(made)
        self.read_field = <int64_t *> _data(self._kept[0])
        self.read_size = <int64_t *> _data(self._kept[1])
        self.unknown = <int32_t *> _data(self._kept[2])
        self.before, self.anew = <char *> _data(self._kept[3]), <char *> _data(self._kept[4])

    cdef void gather(self, const int32_t *ids, int64_t n, char *totals) noexcept nogil:
        cdef int64_t i, count = 0
        cdef size_t size = self.total_size
        cdef char *cache = <char *> self.w.cache
        cdef int32_t v
        if not self.caching:
            Program.gather(self, ids, n, totals)
            return
        for i in range(n):
            v = ids[i]
            if not self.w.cached[v] or (self.rebuild and self.round_of[v] % self.rebuild == 0):
                self.unknown[count] = v
                count += 1
        if count:
            Program.gather(self, self.unknown, count, self.anew)
        for i in range(count):
            memcpy(cache + self.unknown[i] * size, self.anew + i * size, size)
            self.w.cached[self.unknown[i]] = 1
        for i in range(n):
            memcpy(totals + i * size, cache + ids[i] * size, size)

    cdef void remember(self, const int32_t *ids, int64_t n) noexcept nogil:
        """Copy the fields that gathers read of these vertices, which are about to change."""
        cdef int64_t i, k
        cdef char *to = self.before
        for i in range(n):
            for k in range(self.reads):
                memcpy(to, self.field(k, ids[i]), self.read_size[k])
                to += self.read_size[k]

    cdef void notice(self, const int32_t *ids, int64_t n) noexcept nogil:
        """Note which of these vertices have changed; clear the totals of those whose own gathers read the change."""
        cdef int64_t i, k
        cdef const char *old = self.before
        for i in range(n):
            self.changed[ids[i]] = 0
            for k in range(self.reads):
                if memcmp(old, self.field(k, ids[i]), self.read_size[k]):
                    if k < self.far:
                        self.changed[ids[i]] = 1
                    else:
                        self.w.cached[ids[i]] = 0
                old += self.read_size[k]

    cdef char *field(self, int64_t k, int32_t v) noexcept nogil:
        return <char *> self.w.vertex[self.read_field[k]] + v * self.read_size[k]

    cdef void apply(self, const int32_t *ids, int64_t n, char *totals) noexcept nogil:
        if self.caching:
            self.remember(ids, n)
        Program.apply(self, ids, n, totals)
        if self.caching:
            self.notice(ids, n)

    cdef void gather_apply(self, const int32_t *ids, int64_t n, char *totals) noexcept nogil:
        """Gather and apply at these vertices; *totals* has room for their totals."""
        if self.f_gather_apply is not NULL and not self.caching:
            self.apply(ids, n, NULL)
            return
        if self.total_size:
            self.gather(ids, n, totals)
        self.apply(ids, n, totals)
