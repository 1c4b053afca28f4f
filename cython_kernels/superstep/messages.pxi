# The two messages of a small superstep to every other rank, as those of gaslab/replication/exchange.py: `collect`
# from mirrors to masters has signals, and numbers that all ranks agree by; `spread` from masters to mirrors has
# who runs, and new values. Each begins with eight-byte numbers; its parts begin at multiples of eight bytes.

cdef enum:
    # numbers of `collect`: the signals in it, which alone differ by receiver; vertices that wait, and the lowest
    # bucket; whether a block failed; signals to all ranks; supersteps to the border, and those run since the last
    SIGNALS, WAITING, LOWEST, FAILED, SENT, FREE, RAN, HEADER
    COUNT = 8  # bytes of the number of `spread`: the mirrors in it


cdef int _compare(const void *a, const void *b) noexcept nogil:
    cdef int32_t x = (<const int32_t *> a)[0], y = (<const int32_t *> b)[0]
    return (x > y) - (x < y)


cdef inline int64_t _padded(int64_t size) noexcept nogil:
    return (size + 7) & ~7


cdef class Messages(Steps):
    """Packs the messages of one phase's small supersteps on one rank of several, and stores those received.

    Messages are arrays of bytes, listed by rank.
    """

    cdef Py_ssize_t rank, ranks
    cdef gl_range_fn combine
    cdef const int64_t[:, ::1] mirrors, spread_bounds, spread_fields
    cdef const int64_t[::1] begin_of
    cdef const int32_t[::1] peer, place
    cdef list lists
    cdef int64_t[::1] number            # by rank
    cdef int64_t count                  # the vertices in `ids`, which run now

    def plan(self, Py_ssize_t rank, size_t combine, const int64_t[:, ::1] mirrors, list lists,
             const int64_t[::1] begin, const int32_t[::1] peer, const int32_t[::1] place,
             const int64_t[:, ::1] spread_bounds, const int64_t[:, ::1] spread_fields):
        """Take the plan between the ranks; before all else.

        *combine* is the address of the range function for messages of vertices (0: none). *mirrors* (int64
        [ranks, 2]) has the local ids of this rank's mirrors, by their master's rank; *lists* this rank's masters
        with a mirror on each rank, in the order of the mirrors there. *begin*, *peer* and *place* are the rows of
        every master's mirrors: their ranks and positions in those lists. *spread_bounds* (int64 [ranks, 2]) bounds
        the positions of the mirrors to which is spread, and *spread_fields* is as *copied*: the fields that are,
        None where no rank spreads.
        """
        self.rank, self.ranks, self.mirrors, self.lists = rank, mirrors.shape[0], mirrors, lists
        self.combine, self.begin_of, self.peer, self.place = <gl_range_fn> combine, begin, peer, place
        self.spread_bounds, self.spread_fields = spread_bounds, spread_fields
        self.number = np.empty(self.ranks, dtype=np.int64)

    cdef inline void _flag(self, int32_t id) noexcept nogil:
        self.view.signalled[id] = self.view.signal_blocks[id >> GL_SIGNAL_BLOCK] = 1

    # ---- collect: mirrors to masters -------------------------------------------------------------

    cdef list _pack_signals(self, int64_t *said):
        """Return the signals of mirrors, whose flags are cleared; count them, and lower the lowest bucket in *said*."""
        cdef Py_ssize_t p
        cdef int64_t i, n, size
        cdef int32_t lo
        cdef int32_t *ids = &self.ids[0]
        cdef int32_t *position
        cdef char *at
        cdef list messages = []
        said[SENT] = 0
        for p in range(self.ranks):
            if p == self.rank:
                messages.append(None)
                continue
            lo = <int32_t> self.mirrors[p, 0]
            n = gl_take_flags(self.view.signalled, self.view.signal_blocks, lo, self.mirrors[p, 1], ids)
            size = 8 * HEADER + _padded(4 * n) + _padded(self.width * n) + (8 * n if self.view.priority else 0)
            messages.append(np.empty(size, dtype=np.uint8))
            at = <char *> PyArray_DATA(<ndarray> messages[p])
            (<int64_t *> at)[SIGNALS] = n
            said[SENT] += n
            with nogil:
                position = <int32_t *> (at + 8 * HEADER)
                for i in range(n):
                    position[i] = ids[i] - lo
                at += 8 * HEADER + _padded(4 * n)
                if self.width:
                    take_rows(self.view.message, ids, n, self.width, at)
                    _forget(<char *> self.view.message, self.width, self.nothing, ids, 0, n)
                    at += _padded(self.width * n)
                if self.view.priority:
                    for i in range(n):
                        (<int64_t *> at)[i] = self.view.priority[ids[i]]
                        said[LOWEST] = min(said[LOWEST], self.view.priority[ids[i]])
                        self.view.priority[ids[i]] = GL_NEVER
        return messages

    cdef gl_fault _unpack_signals(self, const int32_t *masters, const int64_t *head) noexcept nogil:
        """Signal masters, those at the positions in a message of the list *masters*; return the fault, if any."""
        cdef int64_t i, n = head[SIGNALS]
        cdef const int32_t *position = <const int32_t *> (head + HEADER)
        cdef const char *message = <const char *> position + _padded(4 * n)
        cdef const int64_t *priority = <const int64_t *> (message + _padded(self.width * n))
        cdef int32_t *ids = &self.ids[0]
        cdef gl_view *view = <gl_view *> &self.views[0]
        cdef gl_fault[1] fault
        fault[0].code = 0
        for i in range(n):
            ids[i] = masters[position[i]]
        if view.priority:
            for i in range(n):
                view.priority[ids[i]] = min(view.priority[ids[i]], priority[i])
        if self.width:
            view.incoming, view.concurrent = message, 0
            self.combine(view, ids, 0, n, NULL, fault)
        else:
            for i in range(n):
                self._flag(ids[i])
        return fault[0]

    # ---- spread: masters to mirrors --------------------------------------------------------------

    cdef list _pack_values(self):
        """Return the new values of the masters that run."""
        cdef Py_ssize_t p, field
        cdef int64_t i, k, n, size
        cdef list messages = []
        cdef int32_t *place
        cdef const int32_t *masters
        cdef char *at
        cdef int32_t *ids
        room = np.empty(0, dtype=np.int32)
        self.number[:] = 0
        with nogil:
            for i in range(self.count):
                for k in range(self.begin_of[self.ids[i]], self.begin_of[self.ids[i] + 1]):
                    self.number[self.peer[k]] += 1
        for p in range(self.ranks):
            if p == self.rank:
                messages.append(None)
                continue
            n = self.number[p]
            size = COUNT + _padded(4 * n)
            for field in range(self.spread_fields.shape[0]):
                size += _padded(n * self.spread_fields[field, 1])
            messages.append(np.empty(size, dtype=np.uint8))
            if n > room.size:
                room = np.empty(n, dtype=np.int32)
            at, ids = <char *> PyArray_DATA(<ndarray> messages[p]), <int32_t *> PyArray_DATA(<ndarray> room)
            masters = <const int32_t *> PyArray_DATA(<ndarray> self.lists[p])
            with nogil:
                place = <int32_t *> (at + COUNT)
                n = 0
                for i in range(self.count):
                    for k in range(self.begin_of[self.ids[i]], self.begin_of[self.ids[i] + 1]):
                        if self.peer[k] == p and self.spread_bounds[p, 0] <= self.place[k] < self.spread_bounds[p, 1]:
                            place[n] = self.place[k]
                            n += 1
                qsort(place, n, 4, _compare)
                (<int64_t *> at)[0] = n
                size = COUNT + _padded(4 * n)
                for i in range(n):
                    ids[i] = masters[place[i]]
                for field in range(self.spread_fields.shape[0]):
                    take_rows(self.view.vertex[self.spread_fields[field, 0]], ids, n, self.spread_fields[field, 1],
                              at + size)
                    size += _padded(n * self.spread_fields[field, 1])
            messages[p] = messages[p][:size]
        return messages

    cdef void _unpack_values(self, Py_ssize_t p, const char *at) noexcept nogil:
        """Store the values in a message from rank p; its mirrors run, too."""
        cdef int64_t i, n = (<const int64_t *> at)[0]
        cdef const int32_t *place = <const int32_t *> (at + COUNT)
        cdef int32_t *ids = &self.ids[self.count]
        cdef Py_ssize_t field
        at += COUNT + _padded(4 * n)
        for i in range(n):
            ids[i] = <int32_t> (self.mirrors[p, 0] + place[i])
        for field in range(self.spread_fields.shape[0]):
            put_rows(self.view.vertex[self.spread_fields[field, 0]], ids, n, self.spread_fields[field, 1], at)
            at += _padded(n * self.spread_fields[field, 1])
        self.count += n
