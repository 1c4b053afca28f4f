# Turns of ranks whose vertices are neighbours.

cdef class InTurns(Machine):
    """A machine whose rank, after `take_turns`, begins masters with mirrors in its own turn only.

    In a round of the scheduler, masters without mirrors begin as they come, and the others are put aside. When the
    whole round is taken and no master is in flight, the rank waits for its turn (pace.h). In its turn it begins all
    masters put aside; the turn ends when they have run.
    """

    cdef bint has_turn
    cdef int32_t *aside  # masters put aside; those from *aside_at* to *aside_end* have yet to begin
    cdef int64_t aside_at, aside_end

    @property
    def waiting(self):
        """How many masters wait in the scheduler, or for this rank's turn."""
        return gl_waiting(&self.queue) + self.aside_end - self.aside_at

    def waiting_masters(self):
        """Return uint8[masters]: which wait in the scheduler, or for this rank's turn."""
        found = Machine.waiting_masters(self)
        cdef uint8_t[::1] waits = found
        cdef int64_t at
        for at in range(self.aside_at, self.aside_end):
            waits[self.aside[at]] = 1
        return found

    def rivals(self):
        """Return uint8[ranks, ranks]: whether a vertex of one is on this rank a rival of one of the other."""
        found = np.eye(self.ranks, dtype=np.uint8)
        cdef uint8_t[:, ::1] pairs = found
        cdef int64_t left = self.ranks * (self.ranks - 1) // 2, v, e
        cdef int a, b
        with nogil:
            for v in range(self.w.num_local):
                if not left:
                    break
                a = self.owner(v)
                for e in range(self.w.in_begin[v], self.w.in_begin[v + 1]):
                    b = self.owner(self.w.in_neighbor[e])
                    if not pairs[a, b]:
                        pairs[a, b] = pairs[b, a] = 1
                        left -= 1
        np.fill_diagonal(found, 0)
        return found

    cdef int owner(self, int64_t v) noexcept nogil:
        return self.rank if v < self.masters else self.mirror_owner[v - self.masters]

    def take_turns(self, const uint8_t[::1] rivals):
        """Begin masters with mirrors in turns with these ranks (one flag a rank), from the begin of the run on."""
        self._keep.append(rivals)
        self.pace.rivals = &rivals[0]
        self.aside = <int32_t *> self.room(self.masters, np.int32)
        self.window = self.limit
        for k in range(self.ranks):
            self.pace.done[k] = 0

    cdef int64_t begin(self, int64_t budget) noexcept nogil:
        cdef int64_t begun = 0, n, kept
        cdef bint anew
        if self.pace.rivals is NULL:
            return Machine.begin(self, budget)
        while begun < budget and self.in_flight < self.window and not self.failed and not self.w.stop[0]:
            anew = gl_between_rounds(&self.queue)
            if anew and self.aside_end:
                if not self.in_turn():
                    self.held_up = True
                    break
                n = min(self.block, budget - begun, self.window - self.in_flight, self.aside_end - self.aside_at)
                self.run(self.aside + self.aside_at, self.startable(self.aside + self.aside_at, n))
                self.aside_at += n
                begun += n
                if self.aside_at == self.aside_end:
                    if self.in_flight:
                        break
                    self.end_turn()
                continue
            n = self.take(budget - begun)
            if n:
                kept = self.put_aside(self.taken, n)
                self.run(self.taken, self.startable(self.taken, kept))
                begun += kept
            if gl_between_rounds(&self.queue) and not self.aside_end:
                self.send_pace(gl_stop_counting(&self.pace))
            if anew and not n:
                break
        return begun

    cdef int64_t put_aside(self, int32_t *ids, int64_t n) noexcept nogil:
        """Keep the masters without mirrors and put the others aside; return how many are kept."""
        cdef int64_t i, kept = 0
        for i in range(n):
            if self.has_mirrors(ids[i]):
                self.aside[self.aside_end] = ids[i]
                self.aside_end += 1
            else:
                ids[kept] = ids[i]
                kept += 1
        return kept

    cdef bint has_mirrors(self, int32_t v) noexcept nogil:
        return self.replica_begin[v] < self.replica_begin[v + 1]

    cdef bint in_turn(self) noexcept nogil:
        """Whether it is this rank's turn, which begins when no master is in flight."""
        if self.has_turn:
            return True
        self.send_pace(gl_stand_in_line(&self.pace))
        if self.in_flight or not gl_in_turn(&self.pace):
            return False
        self.pace.round += 1
        self.has_turn = True
        return True

    cdef void end_turn(self) noexcept nogil:
        self.aside_at = self.aside_end = 0
        self.has_turn = False
        self.send_pace(gl_end_round(&self.pace))
