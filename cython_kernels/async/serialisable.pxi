# Runs one vertex at a time, with the scope of each locked on all ranks.

cdef enum:
    SAMPLE = 256  # requests between two looks at how many had to wait
    LEAST = 128  # the least limit of masters in flight


cdef class Serialisable(InTurns):
    """The outcome of one vertex after the other, in the order in which they applied.

    A vertex locks its scope rank by rank, in ascending order (`scope_locks.h` has the locks of one rank). When it holds
    the scope on all of them, it gathers at its master, applies and scatters there without a break. On a rank it
    waits only for vertices that hold their scopes there, which themselves wait on greater ranks only or for
    answers that come at once, and for vertices that insisted there before. So there is no circle of waiting
    vertices; and as no vertex is passed without end, every vertex gets its turn. An edge is on one rank: either
    both of its ends are masters there, and run one after the other, or they never hold their scopes together.
    Records between two ranks keep their order, so a mirror is unlocked before it is asked again.

    In the turn of its rank, when few rivals are in its way, a vertex with two mirrors or more first asks all ranks
    together: one round trip instead of one per rank. Such a request never waits: if one rank refuses, the others
    get theirs back, and the vertex asks rank by rank.

    A waiting vertex may be passed *max_bypass* times on each rank, 255 at most. With *watch* the times of all
    locks are recorded, for `locks`; the other parameters are those of `Machine`.
    """

    cdef gl_scopes scopes
    cdef char *part
    cdef uint8_t *slot_refused  # whether a rank has

    def __init__(self, *, int max_bypass, watch=False, **parts):
        cdef gl_scopes *c = &self.scopes
        InTurns.__init__(self, **parts)
        cdef int64_t n = self.w.num_local
        self.window = min(self.limit, LEAST)
        self.part = self.bytes(self.total_size)
        self.slot_refused = <uint8_t *> self.room(self.limit, np.uint8)
        c.masters, c.max_bypass = self.masters, max_bypass
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
        if self.scopes.events_length:  # else there is no block to copy from
            memcpy(PyArray_DATA(<ndarray> table), self.scopes.events, self.scopes.events_length * sizeof(int64_t))
        return table

    # ---- masters -----------------------------------------------------------------------------------

    cdef void run(self, const int32_t *ids, int64_t n) noexcept nogil:
        cdef int64_t i
        cdef int32_t k
        for i in range(n):
            self.silence(ids[i])  # signals of earlier vertices of the list: it has yet to gather
            if not self.has_mirrors(ids[i]) and gl_alone(&self.scopes, ids[i]):
                gl_begin(&self.scopes)
                self.gather_apply(ids + i, 1, self.part)
                self.follow(ids + i, 1)
                if self.scopes.locked_at is not NULL:
                    gl_note(&self.scopes, ids[i], self.scopes.began)
                continue
            k = self.start(ids[i])
            self.slot_stage[k] = 0
            if not self.ask_at_once(k):
                self.advance(k)
            self.serve()

    cdef bint ask_at_once(self, int32_t k) noexcept nogil:
        """In a turn, ask for the scope on all ranks together; return False where that is not worth a try."""
        cdef int32_t v = self.slot_vertex[k]
        cdef int64_t r, first = self.replica_begin[v], end = self.replica_begin[v + 1]
        if self.pace.rivals is NULL or end - first < 2 or not gl_try(&self.scopes, v):
            return False
        self.slot_stage[k] = -(end - first)  # answers that are missing; from 0 on: ranks that have granted
        self.slot_refused[k] = 0
        for r in range(first, end):
            self.out.put(self.replica_peer[r], self.replica_position[r], REQUEST | AT_ONCE, 0)
        return True

    cdef void on_answer(self, int32_t k) noexcept nogil:
        """Count the answer of a rank to a request to all together; after the last finish, or ask rank by rank."""
        cdef int32_t v = self.slot_vertex[k]
        cdef int64_t r
        self.slot_stage[k] += 1
        if self.slot_stage[k]:
            return
        if not self.slot_refused[k]:
            self.work(k)
            return
        for r in range(self.replica_begin[v], self.replica_begin[v + 1]):
            self.out.put(self.replica_peer[r], self.replica_position[r], GIVE_BACK, 0)
        self.urgent = True
        gl_give_back(&self.scopes, v)
        self.slot_filled[k] = 0
        self.advance(k)

    cdef void advance(self, int32_t k) noexcept nogil:
        """Ask for the scope on the next rank, ascending; when all have granted it, finish."""
        cdef int32_t v = self.slot_vertex[k], s
        cdef int64_t first = self.replica_begin[v], count = self.replica_begin[v + 1] - first, here = 0, r
        while here < count and self.replica_peer[first + here] < self.rank:
            here += 1
        while not self.failed:
            s = self.slot_stage[k]
            if s > count:
                self.work(k)
                return
            if s != here:
                r = first + s - (s > here)
                self.out.put(self.replica_peer[r], self.replica_position[r], REQUEST, 0)
                return
            if not gl_request(&self.scopes, v):
                return
            self.slot_stage[k] += 1

    cdef void work(self, int32_t k) noexcept nogil:
        """Gather what is left, apply, scatter: the scope is locked on all ranks."""
        cdef int32_t v = self.slot_vertex[k]
        gl_begin(&self.scopes)
        self.gather_here(k)
        self.complete(&k, &v, 1, self.slot_total + k * self.total_size)
        gl_release(&self.scopes, v)

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
        self.urgent |= self.pace.rivals is not NULL  # a rank waits in its turn for the answer

    cdef void refuse(self, int32_t m) noexcept nogil:
        cdef int32_t owner = self.mirror_owner[m - self.masters]
        self.out.put(owner, <uint32_t> (m - self.mirror_begin[owner]), REFUSAL, 0)
        self.urgent = True

    # ---- scopes ------------------------------------------------------------------------------------

    cdef void catch_up(self) noexcept nogil:
        self.serve()
        if self.scopes.asked >= SAMPLE:
            self.open_window()

    cdef void open_window(self) noexcept nogil:
        """Raise the limit of masters in flight where few had to wait for locks, lower it where many had."""
        if 4 * self.scopes.waited > self.scopes.asked:
            self.window = min(max(self.window - self.window // 4, LEAST), self.limit)
        elif 16 * self.scopes.waited < self.scopes.asked:
            self.window = min(2 * self.window, self.limit)
        self.scopes.asked = self.scopes.waited = 0

    cdef void serve(self) noexcept nogil:
        """Go on with the vertices whose scopes were granted."""
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

    cdef void on_request(self, int32_t m, bint at_once) noexcept nogil:
        if not at_once:
            if gl_request(&self.scopes, m):
                self.grant_scope(m)
        elif gl_try(&self.scopes, m):
            self.grant_scope(m)
        else:
            self.refuse(m)

    cdef void on_give_back(self, int32_t m) noexcept nogil:
        if self.scopes.state[m] == GL_HOLDS:
            gl_give_back(&self.scopes, m)
            self.serve()

    cdef void on_refusal(self, int32_t k) noexcept nogil:
        self.slot_refused[k] = 1
        self.on_answer(k)
        self.serve()

    cdef void on_update(self, const int32_t *mirrors, int64_t n) noexcept nogil:
        cdef int64_t i
        for i in range(n):
            gl_release(&self.scopes, mirrors[i])
        self.serve()

    cdef void on_part(self, int32_t k) noexcept nogil:
        if self.slot_stage[k] < 0:
            self.on_answer(k)
        else:
            self.slot_stage[k] += 1
            self.advance(k)
        self.serve()
