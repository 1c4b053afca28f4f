# Records by which ranks know how far the others are.

cdef class Paced(Mirrored):
    """Keeps how far the other ranks are, and sends them how far this one is; `pace.h` says why."""

    cdef gl_pace pace
    cdef readonly bint urgent  # other ranks wait for records of the last step

    def __init__(self, *rest):
        Mirrored.__init__(self, *rest)
        cdef int k
        self.pace.rank, self.pace.ranks = self.rank, self.ranks
        self.pace.done = <int32_t *> self.room(self.ranks, np.int32)
        self.pace.front = <int64_t *> self.room(self.ranks, np.int64)
        for k in range(self.ranks):
            self.pace.done[k], self.pace.front[k] = GL_NOT_COUNTING, GL_NOT_SENT

    cdef const char *on_pace(self, int source, Record head, const char *data) noexcept nogil:
        if head.kind == PACE:
            self.pace.done[source] = <int32_t> head.position
            return data
        self.pace.front[source] = (<const int64_t *> data)[0]
        return data + 8

    cdef void send_pace(self, bint changed) noexcept nogil:
        """Send the other ranks the last round that this one has finished, if it is a new one."""
        cdef int p
        self.urgent |= changed
        for p in range(self.ranks):
            if changed and p != self.rank:
                self.out.put(p, <uint32_t> self.pace.done[self.rank], PACE, 0)

    cdef void send_front(self, int64_t front) noexcept nogil:
        """Send the other ranks the least priority that waits here, if it has changed."""
        cdef int p
        if not gl_set_front(&self.pace, front):
            return
        self.urgent = True
        for p in range(self.ranks):
            if p != self.rank:
                (<int64_t *> self.out.put(p, 0, FRONT, 8))[0] = front
