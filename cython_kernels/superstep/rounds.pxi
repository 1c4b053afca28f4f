# Supersteps on a rank of several: what lies between two messages to the other ranks.
#
# Far from mirrors ranks do not need each other. Signals move an edge a superstep, so while no vertex that runs, on any
# rank, is within so many edges of a border (borders.pyx), ranks run that many supersteps alone: the same ones, with
# the same values.

cdef enum:
    FAR = 0x7FFFFFFF


cdef class Rounds(Messages):
    """The supersteps of one phase on one rank of several.

    Call `plan` once; then `begin`, and in each superstep `unpack_collect`, `gather_apply`, `unpack_spread`, `scatter` and
    `pack_collect`; or, where `alone` says so, `unpack_collect`, `run_alone` and `pack_collect`.
    """

    cdef int32_t[::1] waiting           # the masters that run next
    cdef int64_t waits, lowest          # how many, and their bucket
    cdef int64_t[HEADER] said           # in the last messages to all
    cdef int64_t superstep, ran         # the superstep of the last messages; those run since
    cdef int64_t until                  # the lowest bucket of other ranks
    cdef public const int32_t[::1] free_of  # `supersteps_before` the border, by vertex; None until it is known
    cdef readonly int64_t took, alone   # supersteps since the last messages on any rank; that all may run alone now
    cdef readonly bint large            # whether `run_alone` has stopped before a scatter
    cdef bint failed_before
    cdef readonly object fault          # the first since `begin`: (code, local vertex, site), superstep

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.waiting, self.free_of = np.empty(self.view.num_masters + 1, dtype=np.int32), None

    def begin(self, const int32_t[::1] signalled, bint failed):
        """Begin with the masters *signalled* (ascending); return what to collect.

        Where an earlier block of this rank has *failed*, no rank runs a superstep.
        """
        self.waits, self.lowest, self.superstep, self.ran = 0, GL_NEVER, self.view.superstep, 0
        self.failed_before, self.fault = failed, None
        self.ids[: signalled.shape[0]] = signalled
        with nogil:
            self._look()
            self._wait(signalled.shape[0])
        return self._pack_collect()

    def unpack_collect(self, list messages, int64_t most, int64_t left):
        """Take what was collected; return how many masters here run in a superstep.

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
                failure = self._unpack_signals(masters, head)
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

    def gather_apply(self):
        """Gather and apply at the masters that run; return what to spread, None where no rank spreads."""
        cdef Py_ssize_t failed
        enter(self.view.stop)
        with nogil:
            failed = self._apply(&self.ids[0], self.count, self.superstep)
            self.view.stop[1] = 0
        self.ran = 1
        self._note(failed)
        return self._pack_values() if self.spread_fields is not None else None

    def unpack_spread(self, list messages):
        """Take what was spread (None: nothing is); return the edges of the replicas that scatter."""
        cdef Py_ssize_t p
        cdef int64_t edges
        for p in range(self.ranks if messages is not None else 0):
            if p != self.rank:
                self._unpack_values(p, <const char *> PyArray_DATA(<ndarray> messages[p]))
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

    def pack_collect(self, bint failed):
        """Return what to collect, once scatter has run; no superstep follows one that has *failed*."""
        self.failed_before = self.failed_before or failed
        with nogil:
            self._wait(self._taken())
        return self._pack_collect()

    def end(self):
        """Return the masters signalled for the next superstep, ascending, but those that buckets have."""
        if self.buckets:
            gl_buckets_add(self.buckets, &self.waiting[0], self.waits)
            self.waits = 0
        return np.array(self.waiting[: self.waits])

    # ---- the vertices that wait --------------------------------------------------------------------

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

    cdef int64_t _taken(self) noexcept nogil:
        """List in `ids` the masters whose flags are set; clear these."""
        return gl_take_flags(
            self.view.signalled, self.view.signal_blocks, 0, self.view.num_masters, &self.ids[0])

    cdef int64_t _free(self) noexcept nogil:
        """Return for how many supersteps those that wait do not need other ranks."""
        cdef int64_t i
        cdef int32_t least = FAR
        if self.free_of is None:
            return 0
        for i in range(self.waits):
            least = min(least, self.free_of[self.waiting[i]])
        return least

    cdef void _end_alone(self) noexcept nogil:
        """Let those run next that the superstep has signalled, if this rank may run one more alone."""
        self.count = 0
        self.ran += 1
        self._wait(self._taken())
        if self.ran < self.alone and (not self.buckets or (self.lowest < self.until and self._free())):
            self._take_waiting()

    cdef list _pack_collect(self):
        cdef Py_ssize_t p
        cdef list messages
        self.said[LOWEST] = self.lowest
        messages = self._pack_signals(self.said)
        self.said[WAITING], self.said[FREE], self.said[RAN] = self.waits + self.said[SENT], self._free(), self.ran
        self.said[FAILED] = self.failed_before or self.fault is not None
        for p in range(self.ranks):
            if p != self.rank:
                memcpy(<char *> PyArray_DATA(<ndarray> messages[p]) + 8 * WAITING, &self.said[WAITING],
                       8 * (HEADER - WAITING))
        return messages

    cdef void _note(self, Py_ssize_t failed):
        if failed >= 0 and self.fault is None:
            self.fault = tuple(np.asarray(self.faults[failed]).tolist()), self.superstep + self.ran - 1
            self.said[FAILED] = 1
