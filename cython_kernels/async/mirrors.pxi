# Masters and their mirrors, and the records that they send each other.

cdef class Mirrored(Cached):
    """Knows the replicas of a rank's vertices; writes and reads records of partial totals, values and signals.

    Parameters
    ----------
    view : sweep.View
        Its ``total`` and ``incoming`` are the machine's own from here on.
    functions : dict of str to int
        Addresses of the program's range functions; 0 or absent for a function that it lacks.
    replicas : (int64[masters + 1], int32[], int32[], uint8[])
        Of every master: row bounds; each mirror's rank, place in the list shared with it, class.
    owned : (int64[ranks + 1], int32[])
        The lists shared with each peer, of this rank's masters.
    mirrors : (int64[ranks], int32[mirrors], uint8[mirrors])
        Where each peer's mirrors begin; of each mirror its owner and class.
    travels : list of three lists of int
        By class of mirror, the indices of the vertex fields that an UPDATE carries.
    sizes : list of int
        Bytes of an element of each vertex field; then of a total.
    identity : bytes
        The identity of messages.
    posts : tuple or None
        As of `Cached`.
    asks, updates, gathers, scatters : three bools each
        By class of mirror: whether it gets REQUESTs and UPDATEs, and whether it gathers and scatters then.
    block : int
        The most vertices of a block.
    """

    cdef object _keep
    cdef readonly Batches out
    cdef int rank, ranks
    cdef int64_t block, masters
    cdef int64_t[4] field_begin
    cdef int[3] asks, updated, gathers, scatters
    cdef const int64_t *replica_begin, *owned_begin, *mirror_begin, *field_size
    cdef const int32_t *replica_peer, *replica_position, *owned, *mirror_owner, *field_index
    cdef const uint8_t *replica_class, *mirror_class
    cdef int32_t *due, *due_position, *due_count, *due_to  # by rank and class of mirrors
    cdef int32_t *fresh, *signalled

    def __init__(self, view, functions, replicas, owned, mirrors, travels, sizes, identity, posts,
                 asks, updates, gathers, scatters, block):
        cdef int k
        Cached.__init__(self, view, functions, sizes[len(sizes) - 1], identity, posts, block)
        self.masters, self.block = self.w.num_masters, block
        self.rank, self.ranks = int(np.flatnonzero(mirrors[0] < 0)[0]), mirrors[0].size
        self.out = Batches(self.ranks)
        self._keep = [replicas, owned, mirrors]
        self.replica_begin = <const int64_t *> _data(replicas[0])
        self.replica_peer = <const int32_t *> _data(replicas[1])
        self.replica_position = <const int32_t *> _data(replicas[2])
        self.replica_class = <const uint8_t *> _data(replicas[3])
        self.owned_begin = <const int64_t *> _data(owned[0])
        self.owned = <const int32_t *> _data(owned[1])
        self.mirror_begin = <const int64_t *> _data(mirrors[0])
        self.mirror_owner = <const int32_t *> _data(mirrors[1])
        self.mirror_class = <const uint8_t *> _data(mirrors[2])
        fields = np.array([k for row in travels for k in row] or [0], np.int32)
        bytes_of = np.array([sizes[k] for row in travels for k in row] or [0], np.int64)
        self._keep += [fields, bytes_of]
        self.field_index, self.field_size = <const int32_t *> _data(fields), <const int64_t *> _data(bytes_of)
        self.field_begin[0] = 0
        for k in range(3):
            self.field_begin[k + 1] = self.field_begin[k] + len(travels[k])
            self.asks[k], self.updated[k] = asks[k], updates[k]
            self.gathers[k], self.scatters[k] = gathers[k], scatters[k]
        self.due = <int32_t *> self.room(3 * self.ranks * block, np.int32)
        self.due_position = <int32_t *> self.room(3 * self.ranks * block, np.int32)
        self.due_count = <int32_t *> self.room(3 * self.ranks, np.int32)
        self.due_to = <int32_t *> self.room(3 * self.ranks, np.int32)
        self.fresh = <int32_t *> self.room(block, np.int32)
        self.signalled = <int32_t *> self.room(self.w.num_local - self.masters, np.int32)

    cdef void *room(self, count, dtype) except NULL:
        """Return zeros that live as long as this object."""
        made = np.zeros(max(count, 1), dtype)
        self._keep.append(made)
        return _data(made)

    cdef char *bytes(self, count) except NULL:
        return <char *> self.room(_padded(count) // 8, np.int64)

    # ---- masters -----------------------------------------------------------------------------------

    cdef void update(self, const int32_t *ids, int64_t n) noexcept nogil:
        """Send masters' new values to their mirrors, to all mirrors of one class on one rank together."""
        cdef int64_t i, r, at
        cdef int c, k, to, count = 0
        for i in range(n):
            for r in range(self.replica_begin[ids[i]], self.replica_begin[ids[i] + 1]):
                c = self.replica_class[r]
                if not self.updated[c]:
                    continue
                to = 3 * self.replica_peer[r] + c
                if not self.due_count[to]:
                    self.due_to[count] = to
                    count += 1
                at = to * self.block + self.due_count[to]
                self.due[at], self.due_position[at] = ids[i], self.replica_position[r]
                self.due_count[to] += 1
        for k in range(count):
            to = self.due_to[k]
            self.pack(to // 3, to % 3, self.due + to * self.block, self.due_position + to * self.block, self.due_count[to])
            self.due_count[to] = 0

    cdef void pack(self, int peer, int c, const int32_t *ids, const int32_t *positions, int64_t n) noexcept nogil:
        """Send mirrors of one class on one rank the fields of their masters *ids*."""
        cdef int64_t k
        cdef size_t size = _padded(4 * n)
        cdef char *to
        for k in range(self.field_begin[c], self.field_begin[c + 1]):
            size += _padded(n * self.field_size[k])
        to = self.out.put(peer, <uint32_t> n, UPDATE | c << CLASS, size)
        memcpy(to, positions, 4 * n)
        to += _padded(4 * n)
        for k in range(self.field_begin[c], self.field_begin[c + 1]):
            take_rows(self.w.vertex[self.field_index[k]], ids, n, self.field_size[k], to)
            to += _padded(n * self.field_size[k])

    # ---- mirrors -----------------------------------------------------------------------------------

    cdef int32_t mirror(self, int source, uint32_t position) noexcept nogil:
        return <int32_t> (self.mirror_begin[source] + position)

    cdef void grant(self, int32_t m, const char *total) noexcept nogil:
        """Send the partial total of a mirror; NULL if it does not gather."""
        cdef int32_t owner = self.mirror_owner[m - self.masters]
        cdef char *to = self.out.put(owner, <uint32_t> (m - self.mirror_begin[owner]), GRANT,
                                     _padded(self.total_size) if total is not NULL else 0)
        if total is not NULL:
            memcpy(to, total, self.total_size)

    cdef const char *unpack(self, int source, Record head, const char *data) noexcept nogil:
        """Store the fields of an UPDATE; the mirrors are listed in *fresh*."""
        cdef int c = head.kind >> CLASS
        cdef int64_t n = head.position, i, k
        for i in range(n):
            self.fresh[i] = self.mirror(source, (<const uint32_t *> data)[i])
        data += _padded(4 * n)
        if self.caching:
            self.remember(self.fresh, n)
        for k in range(self.field_begin[c], self.field_begin[c + 1]):
            put_rows(self.w.vertex[self.field_index[k]], self.fresh, n, self.field_size[k], data)
            data += _padded(n * self.field_size[k])
        if self.caching:
            self.notice(self.fresh, n)
        for i in range(n):
            self.round_of[self.fresh[i]] += 1
        return data

    cdef void send_signals(self) noexcept nogil:
        """Send the signals of mirrors, each with all its messages in one."""
        cdef int64_t i, at = self.masters, n
        cdef int32_t m, owner
        cdef char *to
        cdef size_t priority = 8 if self.w.priority is not NULL else 0
        n = gl_take_flagged(self.w.signalled, self.w.signal_blocks, &at, self.w.num_local, self.w.num_local, self.signalled)
        for i in range(n):
            m = self.signalled[i]
            owner = self.mirror_owner[m - self.masters]
            to = self.out.put(owner, <uint32_t> (m - self.mirror_begin[owner]), SIGNAL,
                              priority + _padded(self.message_size))
            if priority:
                (<int64_t *> to)[0] = self.w.priority[m]
                self.w.priority[m] = GL_NEVER
            if self.message_size:
                memcpy(to + priority, self.message(m), self.message_size)
                memcpy(self.message(m), self.identity, self.message_size)
