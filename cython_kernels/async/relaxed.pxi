# Runs blocks of vertices at once; a gather may see some neighbours before and some after their latest apply.

cdef class Relaxed(Machine):
    """Runs vertices in blocks, phase by phase; the parameters are alone_ids of `Machine`.

    A master whose edges are all here, or whose mirrors do not gather, runs within its block. The mirrors of
    another master are asked; when the last has answered, the master runs in the next block of such masters.
    Mirrors gather in blocks, too: at the end of a batch, or when a block is full.
    """

    cdef int32_t *ready, *ready_ids, *asking
    cdef int64_t ready_count, asking_count
    cdef char *totals, *parts

    def __init__(self, **parts):
        Machine.__init__(self, **parts)
        self.ready = <int32_t *> self.room(self.block, np.int32)
        self.ready_ids = <int32_t *> self.room(self.block, np.int32)
        self.asking = <int32_t *> self.room(self.block, np.int32)
        self.totals = self.bytes(self.block * self.total_size)
        self.parts = self.bytes(self.block * self.total_size)

    cdef void run(self, const int32_t *ids, int64_t n) noexcept nogil:
        cdef int64_t i, r, alone = 0
        cdef int32_t k, asked
        cdef int32_t *alone_ids = self.ready_ids  # which only `catch_up` uses
        for i in range(n):
            asked = 0
            for r in range(self.replica_begin[ids[i]], self.replica_begin[ids[i] + 1]):
                asked += self.asks[self.replica_class[r]]
            if not asked:
                alone_ids[alone] = ids[i]
                alone += 1
                continue
            k = self.start(ids[i])
            self.slot_stage[k] = asked
            for r in range(self.replica_begin[ids[i]], self.replica_begin[ids[i] + 1]):
                if self.asks[self.replica_class[r]]:
                    self.out.put(self.replica_peer[r], self.replica_position[r], REQUEST, 0)
        if alone:
            self.gather_apply(alone_ids, alone, self.totals)
            self.follow(alone_ids, alone)

    cdef void catch_up(self) noexcept nogil:
        self.finish()
        self.answer()

    cdef void finish(self) noexcept nogil:
        """Apply at the masters that have all their partial totals."""
        cdef int64_t i, n = self.ready_count
        if not n:
            return
        self.ready_count = 0
        for i in range(n):
            self.ready_ids[i] = self.slot_vertex[self.ready[i]]
        take_rows(self.slot_total, self.ready, n, self.total_size, self.parts)
        self.gather(self.ready_ids, n, self.totals)
        self.add(self.totals, self.parts, <int32_t> n)
        self.complete(self.ready, self.ready_ids, n, self.totals)

    cdef void answer(self) noexcept nogil:
        """Gather at the mirrors that were asked."""
        cdef int64_t i, n = self.asking_count
        self.asking_count = 0
        if n:
            self.gather(self.asking, n, self.totals)
        for i in range(n):
            self.grant(self.asking[i], self.totals + i * self.total_size)

    cdef void on_request(self, int32_t m, bint at_once) noexcept nogil:
        if self.asking_count == self.block:
            self.answer()
        self.asking[self.asking_count] = m
        self.asking_count += 1

    cdef void on_part(self, int32_t k) noexcept nogil:
        self.slot_stage[k] -= 1
        if self.slot_stage[k]:
            return
        if self.ready_count == self.block:
            self.finish()
        self.ready[self.ready_count] = k
        self.ready_count += 1
