# Runs one vertex at a time, with the scope of each locked on all ranks.

cdef enum:
    SAMPLE = 256  # requests between two looks at how many had to wait
    LEAST = 128  # masters in flight, however many wait


cdef class Serialisable(InTurns):
    """The outcome of one vertex after the other, in the order in which they applied.

    A vertex asks for its scope rank by rank, ascending (`scopes.h` has what happens on one), and when it has
    all of them gathers what is left, applies and scatters on its own rank in one go. On a rank it waits
    only for vertices that hold there, which wait on greater ranks only, and for vertices that insisted
    there before: nobody waits in a circle, and because nobody is passed without end, everybody's turn
    comes. An edge is on one rank: of its two ends either both are masters there, and work one after the
    other, or they never hold both their scopes. Records between two ranks keep their order, so that a
    mirror has let go before it is asked again.

    One that waits may be passed *patience* times on each rank, 255 at most. With *watch* the times of all
    locks are kept, for `locks`; the rest is as `Machine` says.
    """

    cdef gl_scopes scopes
    cdef char *part

    def __init__(self, *rest, int patience, watch=False):
        cdef gl_scopes *c = &self.scopes
        InTurns.__init__(self, *rest)
        cdef int64_t n = self.w.num_local
        self.window = min(self.limit, LEAST)
        self.part = self.bytes(self.total_size)
        c.masters, c.patience = self.masters, patience
        c.in_begin, c.in_neighbor = self.w.in_begin, self.w.in_neighbor
        c.out_begin, c.out_neighbor = self.w.out_begin, self.w.out_neighbor
        c.state, c.passed = <uint8_t *> self.room(n, np.uint8), <uint8_t *> self.room(n, np.uint8)
        c.counted = <uint8_t *> self.room(n, np.uint8)
        c.blocked, c.granted = <int32_t *> self.room(n, np.int32), <int32_t *> self.room(n, np.int32)
        c.locked_at = <int64_t *> self.room(n, np.int64) if watch else NULL

    def __dealloc__(self):
        free(self.scopes.events)

    def lock_counts(self):
        return self.scopes.requests, self.scopes.waits

    def locks(self):
        """Return every lock so far as int64[n, 4]: local id, the times of lock and release, and of its begin.

        Between its begin and its release a master gathers, applies and scatters here; a mirror begins at its lock.
        """
        table = np.empty((self.scopes.events_length // 4, 4), np.int64)
        memcpy(PyArray_DATA(<ndarray> table), self.scopes.events, self.scopes.events_length * sizeof(int64_t))
        return table

    # ---- a master's way ----------------------------------------------------------------------------

    cdef void run(self, const int32_t *ids, int64_t n) noexcept nogil:
        cdef int64_t i
        cdef int32_t k
        for i in range(n):
            self.w.signalled[ids[i]] = 0  # by those before it in the list: it has yet to gather
            if not self.has_mirrors(ids[i]) and gl_alone(&self.scopes, ids[i]):
                gl_begin(&self.scopes)
                self.gather_apply(ids + i, 1, self.part)
                self.follow(ids + i, 1)
                if self.scopes.locked_at is not NULL:
                    gl_note(&self.scopes, ids[i], self.scopes.began)
                continue
            k = self.take_off(ids[i])
            self.slot_stage[k] = 0
            self.advance(k)
            self.serve()

    cdef void advance(self, int32_t k) noexcept nogil:
        """Ask for the scope on the next rank, ascending; when all have granted it, finish."""
        cdef int32_t v = self.slot_vertex[k], s
        cdef int64_t first = self.replica_begin[v], count = self.replica_begin[v + 1] - first, here = 0, r
        while here < count and self.replica_peer[first + here] < self.rank:
            here += 1
        while not self.failed:
            s = self.slot_stage[k]
            if s > count:
                gl_begin(&self.scopes)
                self.gather_here(k)
                self.land(&k, &v, 1, self.slot_total + k * self.total_size)
                gl_release(&self.scopes, v)
                return
            if s != here:
                r = first + s - (s > here)
                self.out.put(self.replica_peer[r], self.replica_position[r], REQUEST, 0)
                return
            if not gl_request(&self.scopes, v):
                return
            self.slot_stage[k] += 1

    cdef void gather_here(self, int32_t k) noexcept nogil:
        cdef char *total = self.slot_total + k * self.total_size
        if not self.total_size:
            return
        if self.slot_filled[k]:
            self.gather(&self.slot_vertex[k], 1, self.part)
            self.add(total, self.part, 1)
        else:
            self.gather(&self.slot_vertex[k], 1, total)
            self.slot_filled[k] = 1

    cdef void grant_scope(self, int32_t m) noexcept nogil:
        cdef bint gathers = self.gathers[self.mirror_class[m - self.masters]]
        if gathers:
            self.gather(&m, 1, self.part)
        self.grant(m, self.part if gathers else NULL)
        self.urgent |= self.pace.rivals is not NULL  # a rank waits for it in its turn

    # ---- scopes ------------------------------------------------------------------------------------

    cdef void catch_up(self) noexcept nogil:
        self.serve()
        if self.scopes.asked >= SAMPLE:
            self.open_window()

    cdef void open_window(self) noexcept nogil:
        """Let more masters fly where few had to wait, fewer where many had: waiting in a crowd helps nobody."""
        if 4 * self.scopes.waited > self.scopes.asked:
            self.window = min(max(self.window - self.window // 4, LEAST), self.limit)
        elif 16 * self.scopes.waited < self.scopes.asked:
            self.window = min(2 * self.window, self.limit)
        self.scopes.asked = self.scopes.waited = 0

    cdef void serve(self) noexcept nogil:
        """Go on with all whose scope has come free."""
        cdef int32_t v, k
        while self.scopes.granted_count and not self.failed:
            self.scopes.granted_count -= 1
            v = self.scopes.granted[self.scopes.granted_count]
            if v < self.masters:
                k = self.slot_of[v]
                self.slot_stage[k] += 1
                self.advance(k)
            else:
                self.grant_scope(v)

    # ---- records -----------------------------------------------------------------------------------

    cdef void on_request(self, int32_t m) noexcept nogil:
        if gl_request(&self.scopes, m):
            self.grant_scope(m)

    cdef void on_update(self, const int32_t *mirrors, int64_t n) noexcept nogil:
        cdef int64_t i
        for i in range(n):
            gl_release(&self.scopes, mirrors[i])
        self.serve()

    cdef void on_part(self, int32_t k) noexcept nogil:
        self.slot_stage[k] += 1
        self.advance(k)
        self.serve()
