# Supersteps on a rank of several: what lies between two messages to the other ranks.
#
# A superstep has two messages to each of them. The first goes from mirrors to masters: signals, and what all ranks
# agree on. The second goes from masters to mirrors: who runs, and new values. Both begin with eight-byte numbers;
# each part after them begins at a multiple of eight bytes.
#
# Far from mirrors ranks do not need each other. Signals move an edge a superstep, so while no vertex that runs, on any
# rank, is within so many edges of a border (borders.pyx), ranks run that many supersteps alone: the same ones, with
# the same values.

cdef enum:
    # numbers of the first message: the signals in it, which alone differ by receiver; vertices that wait, and the
    # lowest bucket; whether a block failed; signals to all; supersteps to the border, and those run since the last
    SIGNALS, WAITING, LOWEST, FAILED, SENT, FREE, RAN, HEADER
    COUNT = 8  # bytes of the second message's number
    FAR = 0x7FFFFFFF


cdef int _compare(const void *a, const void *b) noexcept nogil:
    cdef int32_t x = (<const int32_t *> a)[0], y = (<const int32_t *> b)[0]
    return (x > y) - (x < y)


cdef inline int64_t _padded(int64_t size) noexcept nogil:
    return (size + 7) & ~7


cdef class Rounds(Steps):
    """The supersteps of one phase on one rank of several.

    Call `plan` once; then `begin`, and in each superstep `receive`, `apply_waiting`, `hear`, `scatter` and `signals`;
    or, where `alone` says so, `receive`, `run_alone` and `signals`. The messages that these return and take are arrays
    of bytes by rank.
    """

    cdef Py_ssize_t rank, ranks
    cdef gl_range_fn combine
    cdef const int64_t[:, ::1] mirrors, told, sent
    cdef const int64_t[::1] begin_of
    cdef const int32_t[::1] peer, place
    cdef list lists
    cdef int32_t[::1] waiting           # the masters that run next
    cdef int64_t waits, lowest          # how many, and their bucket
    cdef int64_t[HEADER] said           # in the last messages to all
    cdef int64_t count, superstep       # the vertices in `ids`, which run now
    cdef int64_t until, ran             # the lowest bucket of other ranks; supersteps since the last message
    cdef public const int32_t[::1] free_of  # `supersteps_before` the border, by vertex; None until it is known
    cdef readonly bint large
    cdef readonly int64_t took, alone   # supersteps since the last message on any rank; that all may run alone now
    cdef int64_t[::1] number            # by rank
    cdef bint failed_before
    cdef readonly object fault          # the first since `begin`: (code, local vertex, site), superstep

    def plan(self, Py_ssize_t rank, size_t combine, const int64_t[:, ::1] mirrors, list lists,
             const int64_t[::1] begin, const int32_t[::1] peer, const int32_t[::1] place,
             const int64_t[:, ::1] told, const int64_t[:, ::1] sent):
        """Take the plan between the ranks.

        *combine* is the address of the range function for messages (0: none). *mirrors* (int64 [ranks, 2]) has the
        local ids of this rank's mirrors, by their master's rank; *lists* this rank's masters with a mirror on each
        rank, in the order of the mirrors there. *begin*, *peer* and *place* are the rows of every master's mirrors:
        their ranks and positions in those lists. *told* (int64 [ranks, 2]) bounds the positions of mirrors that hear
        of a superstep, and *sent* is as *copied*: the fields of which they hear.
        """
        self.rank, self.ranks, self.mirrors, self.lists = rank, mirrors.shape[0], mirrors, lists
        self.combine, self.free_of = <gl_range_fn> combine, None
        self.begin_of, self.peer, self.place, self.told, self.sent = begin, peer, place, told, sent
        self.waiting = np.empty(self.view.num_masters + 1, dtype=np.int32)
        self.number = np.empty(self.ranks, dtype=np.int64)

    def begin(self, const int32_t[::1] signalled, bint failed):
        """Begin with the masters *signalled* (ascending); return messages to masters.

        Where an earlier block of this rank has *failed*, no rank runs a superstep.
        """
        self.waits, self.lowest, self.superstep, self.ran = 0, GL_NEVER, self.view.superstep, 0
        self.failed_before, self.fault = failed, None
        self.ids[: signalled.shape[0]] = signalled
        with nogil:
            self._look()
            self._wait(signalled.shape[0])
        return self._signals()

    def receive(self, list messages, int64_t most, int64_t left):
        """Take messages to masters; return how many masters here run in a superstep.

        All ranks return -1 together where none follows: more than *most* vertices wait, or no supersteps are *left*.
        """
        cdef Py_ssize_t p
        cdef int64_t waiting = self.said[WAITING], lowest = self.said[LOWEST], failed = self.said[FAILED], found = 0, i
        cdef int64_t sent = self.said[SENT], others = 0
        cdef const int64_t *head
        cdef const int32_t *masters
        cdef gl_fault failure, first
        first.code = 0
        self.took, self.alone, self.until = self.said[RAN], self.said[FREE], GL_NEVER
        for p in range(self.ranks):
            if p == self.rank:
                continue
            head = <const int64_t *> PyArray_DATA(<ndarray> messages[p])
            waiting, failed, sent = waiting + head[WAITING], failed | head[FAILED], sent + head[SENT]
            self.took, self.alone = max(self.took, head[RAN]), min(self.alone, head[FREE])
            self.until, lowest = min(self.until, head[LOWEST]), min(lowest, head[LOWEST])
            if not head[SIGNALS]:
                continue
            if not found and not self.buckets:  # so that the two lists of masters become one
                for i in range(self.waits):
                    self._flag(self.waiting[i])
                self.waits = 0
            found += head[SIGNALS]
            masters = <const int32_t *> PyArray_DATA(<ndarray> self.lists[p])
            with nogil:
                failure = self._signalled(masters, head)
            if failure.code and not first.code:
                first = failure
        if found:
            self._wait(self._taken())
        if first.code and self.fault is None:  # the next message says so
            self.fault = (first.code, first.vertex, first.site), self.superstep + self.took - 1
        self.superstep += self.took
        self.ran = self.count = 0
        if not 0 < waiting <= most or failed or self.took >= left:
            return -1
        if self.buckets:
            for p in range(self.ranks):
                head = <const int64_t *> PyArray_DATA(<ndarray> messages[p]) if p != self.rank else self.said
                if head[LOWEST] == lowest:
                    others += 1
                    self.alone = head[FREE]
            if others > 1:  # which would have to agree on each bucket
                self.alone = 0
        self.alone = min(self.alone, left - self.took) if not sent else 0
        if self.lowest == lowest and self.fault is None:
            self._take_waiting()
        return self.count

    def run_alone(self, int64_t most_pushed):
        """Run supersteps until a border is near; return how many vertices ran in each, and its seconds.

        It stops, with `large` set, before a scatter over more than *most_pushed* edges. Once that has been done
        call `go_on`, and this again.
        """
        cdef double start = _now(), end
        cdef Py_ssize_t failed = -1
        cdef int64_t edges, before = self.ran
        sizes, seconds = np.empty(self.alone, dtype=np.int64), np.empty(self.alone)
        cdef int64_t[::1] size = sizes
        cdef double[::1] second = seconds
        cdef int32_t *ids = &self.ids[0]
        self.large = False
        enter(self.view.stop)
        with nogil:
            while self.count and failed < 0:
                failed = self._apply(ids, self.count, self.superstep + self.ran)
                if failed < 0:
                    edges = self._edges(ids, self.count, self.scattered)
                    self.large = edges > most_pushed
                    if self.large:
                        break
                    failed = self._push(ids, self.count, edges)
                size[self.ran] = self.count
                self._end_alone()
                end = _now()
                second[self.ran - 1] = end - start
                start = end
            self.view.stop[1] = 0
        self._note(failed)
        return sizes[before : self.ran].tolist(), seconds[before : self.ran].tolist()

    def go_on(self):
        """End the superstep in which `run_alone` has stopped."""
        with nogil:
            self._end_alone()

    cdef void _end_alone(self) noexcept nogil:
        """Let those run next that the superstep has signalled, if this rank may run one more alone."""
        self.count = 0
        self.ran += 1
        self._wait(self._taken())
        if self.ran < self.alone and (not self.buckets or (self.lowest < self.until and self._free())):
            self._take_waiting()

    def apply_waiting(self):
        """Gather and apply at the masters that wait; return messages to mirrors, None where there are none."""
        cdef Py_ssize_t failed
        enter(self.view.stop)
        with nogil:
            failed = self._apply(&self.ids[0], self.count, self.superstep)
            self.view.stop[1] = 0
        self.ran = 1
        self._note(failed)
        return self._values() if self.sent is not None else None

    def hear(self, list messages):
        """Take messages to mirrors (None: there are none); return the edges of the replicas that scatter."""
        cdef Py_ssize_t p
        cdef int64_t edges
        for p in range(self.ranks if messages is not None else 0):
            if p != self.rank:
                self._heard(p, <const char *> PyArray_DATA(<ndarray> messages[p]))
        with nogil:
            edges = self._edges(&self.ids[0], self.count, self.scattered)
        return edges

    def scatter(self, int64_t edges):
        """Push scatter of the replicas that run, over so many edges."""
        cdef Py_ssize_t failed = -1
        enter(self.view.stop)
        with nogil:
            if not self.said[FAILED]:
                failed = self._push(&self.ids[0], self.count, edges)
            self.view.stop[1] = 0
        self._note(failed)

    def replicas(self):
        """Return the local ids of the replicas that run: masters, then mirrors by rank, each ascending."""
        return np.array(self.ids[: self.count])

    def signals(self, bint failed):
        """Return messages to masters, once scatter has run; no superstep follows one that has *failed*."""
        self.failed_before = self.failed_before or failed
        with nogil:
            self._wait(self._taken())
        return self._signals()

    def end(self):
        """Return the masters signalled for the next superstep, ascending, but those that buckets have."""
        if self.buckets:
            gl_buckets_add(self.buckets, &self.waiting[0], self.waits)
            self.waits = 0
        return np.array(self.waiting[: self.waits])

    # ---- masters ---------------------------------------------------------------------------------

    cdef void _note(self, Py_ssize_t failed):
        if failed >= 0 and self.fault is None:
            self.fault = tuple(np.asarray(self.faults[failed]).tolist()), self.superstep + self.ran - 1
            self.said[FAILED] = 1

    cdef inline void _flag(self, int32_t id) noexcept nogil:
        self.view.signalled[id] = self.view.signal_blocks[id >> GL_SIGNAL_BLOCK] = 1

    cdef int64_t _free(self) noexcept nogil:
        """Return for how many supersteps those that wait do not need other ranks."""
        cdef int64_t i
        cdef int32_t least = FAR
        if self.free_of is None:
            return 0
        for i in range(self.waits):
            least = min(least, self.free_of[self.waiting[i]])
        return least

    cdef int64_t _taken(self) noexcept nogil:
        """List in `ids` the masters whose flags are set; clear these."""
        return gl_take_flags(
            self.view.signalled, self.view.signal_blocks, 0, self.view.num_masters, &self.ids[0])

    cdef void _wait(self, int64_t count) noexcept nogil:
        """Let the masters in `ids` wait; with buckets, let those of the lowest wait, and the others be listed."""
        cdef int64_t i, lowest = GL_NEVER
        cdef int32_t *ids = &self.ids[0]
        if self.buckets:
            for i in range(count):
                lowest = min(lowest, self.view.priority[ids[i]])
            if self.waits and lowest > self.lowest:
                gl_buckets_add(self.buckets, ids, count)
                return
            gl_buckets_add(self.buckets, &self.waiting[0], self.waits)
            self.lowest = gl_buckets_next(self.buckets, ids, &count)
        elif not count:  # those that wait already go on to
            return
        memcpy(&self.waiting[0], ids, 4 * count)
        self.waits = count

    cdef void _take_waiting(self) noexcept nogil:
        """Let those that wait run now."""
        memcpy(&self.ids[0], &self.waiting[0], 4 * self.waits)
        self.count, self.waits, self.lowest = self.waits, 0, GL_NEVER

    cdef gl_fault _signalled(self, const int32_t *masters, const int64_t *head) noexcept nogil:
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

    cdef list _values(self):
        """Return the new values of the masters that run, by rank."""
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
            for field in range(self.sent.shape[0]):
                size += _padded(n * self.sent[field, 1])
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
                        if self.peer[k] == p and self.told[p, 0] <= self.place[k] < self.told[p, 1]:
                            place[n] = self.place[k]
                            n += 1
                qsort(place, n, 4, _compare)
                (<int64_t *> at)[0] = n
                size = COUNT + _padded(4 * n)
                for i in range(n):
                    ids[i] = masters[place[i]]
                for field in range(self.sent.shape[0]):
                    take_rows(self.view.vertex[self.sent[field, 0]], ids, n, self.sent[field, 1], at + size)
                    size += _padded(n * self.sent[field, 1])
            messages[p] = messages[p][:size]
        return messages

    # ---- mirrors ---------------------------------------------------------------------------------

    cdef void _heard(self, Py_ssize_t p, const char *at) noexcept nogil:
        """Store the values in a message from rank p; its mirrors run, too."""
        cdef int64_t i, n = (<const int64_t *> at)[0]
        cdef const int32_t *place = <const int32_t *> (at + COUNT)
        cdef int32_t *ids = &self.ids[self.count]
        cdef Py_ssize_t field
        at += COUNT + _padded(4 * n)
        for i in range(n):
            ids[i] = <int32_t> (self.mirrors[p, 0] + place[i])
        for field in range(self.sent.shape[0]):
            put_rows(self.view.vertex[self.sent[field, 0]], ids, n, self.sent[field, 1], at)
            at += _padded(n * self.sent[field, 1])
        self.count += n

    cdef list _signals(self):
        """Return the signals of mirrors, by the master's rank; their flags are cleared."""
        cdef Py_ssize_t p
        cdef int64_t i, n, sent = 0, lowest = self.lowest
        cdef int32_t lo
        cdef int32_t *ids = &self.ids[0]
        cdef int32_t *position
        cdef char *at
        cdef list messages = []
        for p in range(self.ranks):
            if p == self.rank:
                messages.append(None)
                continue
            lo = <int32_t> self.mirrors[p, 0]
            n = gl_take_flags(self.view.signalled, self.view.signal_blocks, lo, self.mirrors[p, 1], ids)
            message = np.empty(8 * HEADER + _padded(4 * n) + _padded(self.width * n) + (8 * n if self.view.priority else 0), dtype=np.uint8)
            messages.append(message)
            at = <char *> PyArray_DATA(<ndarray> message)
            (<int64_t *> at)[SIGNALS] = n
            sent += n
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
                        lowest = min(lowest, self.view.priority[ids[i]])
                        self.view.priority[ids[i]] = GL_NEVER
        self.said[WAITING], self.said[LOWEST] = self.waits + sent, lowest
        self.said[FAILED] = self.failed_before or self.fault is not None
        self.said[SENT], self.said[FREE], self.said[RAN] = sent, self._free(), self.ran
        for p in range(self.ranks):
            if p != self.rank:
                memcpy(<char *> PyArray_DATA(<ndarray> messages[p]) + 8 * WAITING, &self.said[WAITING],
                       8 * (HEADER - WAITING))
        return messages
