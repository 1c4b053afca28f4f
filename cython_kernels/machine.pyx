"""The state machine of vertices that run without supersteps, on one rank.

`Relaxed.step` and `Serialisable.step` take in records from other ranks, run vertices that wait in the
scheduler, and leave records for other ranks in one buffer per peer; they never talk to MPI. A record is
eight bytes (the position in the list that both ranks share, a kind), then what the kind says:

REQUEST   master -> mirror   lock your scope (if scopes are locked), then gather
GRANT     mirror -> master   the partial total
UPDATE    masters -> mirrors of one class, as many as the position says: their positions, then field by field
                             what apply wrote: keep it, scatter, unlock
SIGNAL    mirror -> master   priority and message, as far as the program has them
PACE      rank -> rank       the position is the number of a round that is done (pace.h)

Records between two ranks keep their order. A signal is a flag of the view's, set by scatter or apply: of a
master it stays, or waits in the scheduler, until the vertex begins; mirrors' are sent at the end of a step.
"""

import numpy as np

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport abort, calloc, free, realloc
from libc.string cimport memcmp, memcpy
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

include "queues.pxi"
include "batches.pxi"
include "program.pxi"

cdef void *_data(object array) except? NULL:
    return NULL if array is None else PyArray_DATA(<ndarray> array)


cdef void _pick(char *to, const char *values, const int32_t *ids, int64_t n, size_t size) noexcept nogil:
    """Lay the values of *ids* side by side."""
    cdef int64_t i
    if size == 8:  # most often
        for i in range(n):
            (<int64_t *> to)[i] = (<const int64_t *> values)[ids[i]]
    else:
        for i in range(n):
            memcpy(to + i * size, values + ids[i] * size, size)


cdef void _place(char *values, const char *data, const int32_t *ids, int64_t n, size_t size) noexcept nogil:
    """Put what `_pick` has laid side by side where it belongs."""
    cdef int64_t i
    if size == 8:
        for i in range(n):
            (<int64_t *> values)[ids[i]] = (<const int64_t *> data)[i]
    else:
        for i in range(n):
            memcpy(values + ids[i] * size, data + i * size, size)


include "cached.pxi"

cdef enum:
    REQUEST = 1
    GRANT = 2
    UPDATE = 3
    SIGNAL = 4
    PACE = 5
    KIND = 255  # the rest of it is the class of mirrors
    CLASS = 8  # where that begins

SCHEDULERS = {"fifo": 0, "priority": 1, "sweep": 2, "random": 3}


cdef class Machine(Cached):
    """What both machines of a rank's vertices are made of.

    Parameters
    ----------
    view : sweep.View
        Its ``total`` and ``incoming`` are the machine's own from here on.
    functions : dict of str to int
        Addresses of the program's range functions; 0 or absent: it has none.
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
        The message of nobody.
    posts : tuple or None
        What `Cached` says.
    asks, updates, gathers, scatters : three bools each
        By class of mirror: whether it gets REQUESTs and UPDATEs, and what it does with them.
    scheduler : str
        One of SCHEDULERS.
    buckets : buckets.Buckets or None
        Of the masters' priorities, if the scheduler goes by them.
    limit : int
        Masters in flight at most.
    block : int
        Vertices that run at once at most, where the machine runs more than one.
    pace : int
        Vertices of a round, from which on ranks keep pace.
    seed : int
        Of the random scheduler.
    """

    cdef object _keep
    cdef readonly Batches out
    cdef int rank, limit
    cdef int64_t block
    cdef gl_scheduler queue
    cdef gl_pace pace
    cdef int64_t masters, flying
    cdef readonly int window  # masters in flight at most, just now
    cdef readonly bint held_up  # somebody waits in the scheduler, but the next round may not begin yet
    cdef int64_t[4] field_begin
    cdef int[3] asks, updated, gathers, scatters
    cdef const int64_t *replica_begin, *owned_begin, *mirror_begin, *field_size
    cdef const int32_t *replica_peer, *replica_position, *owned, *mirror_owner, *field_index
    cdef const uint8_t *replica_class, *mirror_class
    cdef uint8_t *flight, *again, *slot_filled
    cdef int32_t *due, *due_count, *due_position, *fresh
    cdef int32_t *slot_of, *told, *slot_vertex, *slot_stage, *slot_free, *taken
    cdef char *slot_total, *slot_message, *later

    def __init__(self, view, functions, replicas, owned, mirrors, travels, sizes, identity, posts,
                 asks, updates, gathers, scatters, scheduler, buckets, limit, block, pace, seed=0):
        cdef int k
        cdef int64_t n, m
        Cached.__init__(self, view, functions, sizes[len(sizes) - 1], identity, posts, block)
        n, m = self.w.num_local, self.w.num_masters
        self.masters, self.limit, self.window, self.block = m, limit, limit, block
        self.rank = int(np.flatnonzero(mirrors[0] < 0)[0])
        self.out = Batches(mirrors[0].size)
        self._keep = [replicas, owned, mirrors, buckets]
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

        self.flight, self.again = <uint8_t *> self.room(m, np.uint8), <uint8_t *> self.room(m, np.uint8)
        self.told = <int32_t *> self.room(n - m, np.int32)
        self.taken = <int32_t *> self.room(block, np.int32)
        self.due_count = <int32_t *> self.room(3 * mirrors[0].size, np.int32)
        self.due = <int32_t *> self.room(3 * mirrors[0].size * block, np.int32)
        self.due_position = <int32_t *> self.room(3 * mirrors[0].size * block, np.int32)
        self.fresh = <int32_t *> self.room(block, np.int32)
        self.slot_of = <int32_t *> self.room(m, np.int32)
        self.slot_vertex = <int32_t *> self.room(limit, np.int32)
        self.slot_stage = <int32_t *> self.room(limit, np.int32)
        self.slot_filled = <uint8_t *> self.room(limit, np.uint8)
        self.slot_free = <int32_t *> self.room(limit, np.int32)
        for k in range(limit):
            self.slot_free[k] = k
        self.slot_total = self.bytes(limit * self.total_size)
        self.slot_message = self.bytes(limit * self.message_size)
        self.later = self.bytes(block * self.message_size)

        s = &self.queue
        s.kind, s.size, s.random = SCHEDULERS[scheduler], m, 88172645463325252 ^ <uint64_t> seed
        s.flags, s.blocks = self.w.signalled, self.w.signal_blocks
        s.waits = <uint8_t *> self.room(m if buckets is not None else 0, np.uint8)
        s.line, s.found = <int32_t *> self.room(m + 1, np.int32), <int32_t *> self.room(m + 1, np.int32)
        s.bucket = s.least = GL_NEVER
        s.ceiling = GL_NEVER - 1
        if buckets is not None:
            s.buckets = <gl_buckets *> <size_t> buckets.address
        self.pace.rank, self.pace.ranks, self.pace.big = self.rank, mirrors[0].size, pace
        self.pace.done = <int32_t *> self.room(mirrors[0].size, np.int32)
        for k in range(self.pace.ranks):
            self.pace.done[k] = GL_ANY_PACE

    cdef void *room(self, count, dtype) except NULL:
        """Return zeros that live as long as this."""
        made = np.zeros(max(count, 1), dtype)
        self._keep.append(made)
        return _data(made)

    cdef char *bytes(self, count) except NULL:
        return <char *> self.room(_padded(count) // 8, np.int64)

    # ---- from outside ------------------------------------------------------------------------------

    def schedule(self, const int32_t[::1] ids):
        """Let these masters run."""
        cdef Py_ssize_t k
        for k in range(ids.shape[0]):
            if self.w.priority is not NULL and self.w.priority[ids[k]] == INT64_MAX:
                self.w.priority[ids[k]] = 0
            self.signal(ids[k])

    def step(self, list came, int64_t budget, bint closing=False):
        """Take in what *came* (pairs of rank and bytes), then begin up to *budget* vertices.

        With *closing* none is begun; what is under way goes on. Returns how many were begun.
        """
        cdef int64_t begun = 0, n
        cdef bint anew
        cdef const uint8_t[::1] part
        cdef int source
        for source, data in came:
            part = data
            if part.shape[0]:
                with nogil:
                    self.take_in(source, <const char *> &part[0], part.shape[0])
        self.held_up = False
        with nogil:
            self.catch_up()
            while not closing and begun < budget and self.flying < self.window and not self.failed:
                gl_collect(&self.queue)
                anew = gl_between_rounds(&self.queue)
                if anew and not self.may_begin_round():
                    self.held_up = True
                    break
                n = gl_take(&self.queue, min(self.block, budget - begun, self.window - self.flying), self.taken)
                if anew and gl_begin_round(&self.pace, self.queue.round if n else 0):
                    self.tell_pace()
                if not n:
                    if gl_between_rounds(&self.queue) and not anew:
                        continue
                    break
                begun += n
                self.run(self.taken, self.startable(self.taken, n))
                if gl_mostly_taken(&self.queue) and gl_end_round(&self.pace):
                    self.tell_pace()
            gl_collect(&self.queue)
            self.tell()
        return begun

    @property
    def waiting(self):
        """How many masters wait in the scheduler."""
        return gl_waiting(&self.queue)

    @property
    def in_flight(self):
        """How many masters are between their begin and their end."""
        return self.flying

    def lock_counts(self):
        """Return how many scopes were asked for here, and how many of those had to wait."""
        return 0, 0

    @property
    def least(self):
        """The smallest priority that waits in the scheduler."""
        return gl_front(&self.queue) if self.queue.buckets is not NULL else 0

    @property
    def ceiling(self):
        """The greatest priority that may begin."""
        return self.queue.ceiling

    @ceiling.setter
    def ceiling(self, int64_t priority):
        self.queue.ceiling = priority

    # ---- what a machine does in its own way --------------------------------------------------------

    cdef void run(self, const int32_t *ids, int64_t n) noexcept nogil:
        """Begin these masters."""

    cdef void catch_up(self) noexcept nogil:
        """Finish what the records that came have left to do."""

    cdef void take_in(self, int source, const char *data, int64_t length) noexcept nogil:
        """Take in a batch of records."""

    cdef bint may_begin_round(self) noexcept nogil:
        return gl_in_pace(&self.pace)

    # ---- pace --------------------------------------------------------------------------------------

    cdef void tell_pace(self) noexcept nogil:
        cdef int p
        for p in range(self.pace.ranks):
            if p != self.rank:
                self.out.put(p, <uint32_t> self.pace.done[self.rank], PACE, 0)

    # ---- masters -----------------------------------------------------------------------------------

    cdef int64_t startable(self, int32_t *ids, int64_t n) noexcept nogil:
        """Keep those that are not in flight, who run again at the end of it; return how many."""
        cdef int64_t i, kept = 0
        for i in range(n):
            if self.flight[ids[i]]:
                self.again[ids[i]] = 1
                continue
            if self.w.priority is not NULL:
                self.w.priority[ids[i]] = INT64_MAX
            self.w.signalled[ids[i]] = 0  # since it was put in line: it has yet to gather
            ids[kept] = ids[i]
            kept += 1
        return kept

    cdef int32_t take_off(self, int32_t v) noexcept nogil:
        """Give a master a slot, with its message; return the slot."""
        cdef int32_t k = self.slot_free[self.flying]
        self.flying += 1
        self.flight[v] = 1
        self.slot_of[v] = k
        self.slot_vertex[k] = v
        self.slot_filled[k] = 0
        if self.message_size:
            memcpy(self.slot_message + k * self.message_size, self.message(v), self.message_size)
            memcpy(self.message(v), self.identity, self.message_size)
        return k

    cdef void land(self, const int32_t *slots, const int32_t *ids, int64_t n, char *totals) noexcept nogil:
        """Apply for masters in flight, with the messages they began with; their slots are free then."""
        cdef int64_t i
        cdef size_t size = self.message_size
        if size:  # what came since is for their next turns
            for i in range(n):
                memcpy(self.later + i * size, self.message(ids[i]), size)
                memcpy(self.message(ids[i]), self.slot_message + slots[i] * size, size)
        self.apply(ids, n, totals)
        if size:
            for i in range(n):
                memcpy(self.message(ids[i]), self.later + i * size, size)
        for i in range(n):
            self.flight[ids[i]] = 0
            self.flying -= 1
            self.slot_free[self.flying] = slots[i]
            if self.again[ids[i]]:
                self.again[ids[i]] = 0
                self.signal(ids[i])
        self.follow(ids, n)

    cdef void follow(self, const int32_t *ids, int64_t n) noexcept nogil:
        """After apply: hear their own messages, tell the mirrors, scatter here."""
        self.hear_themselves(ids, n)
        self.update(ids, n)
        self.scatter(ids, n)

    cdef void update(self, const int32_t *ids, int64_t n) noexcept nogil:
        """Send their mirrors what apply wrote, all mirrors of a class on one rank at once."""
        cdef int64_t i, r, k
        cdef int c
        for i in range(n):
            for r in range(self.replica_begin[ids[i]], self.replica_begin[ids[i] + 1]):
                c = self.replica_class[r]
                if not self.updated[c]:
                    continue
                if n == 1:
                    self.pack(self.replica_peer[r], c, ids, self.replica_position + r, 1)
                    continue
                k = 3 * self.replica_peer[r] + c
                self.due[k * self.block + self.due_count[k]] = ids[i]
                self.due_position[k * self.block + self.due_count[k]] = self.replica_position[r]
                self.due_count[k] += 1
        for k in range(3 * self.pace.ranks if n > 1 else 0):
            if self.due_count[k]:
                i = k * self.block
                self.pack(<int> (k // 3), <int> (k % 3), self.due + i, self.due_position + i, self.due_count[k])
                self.due_count[k] = 0

    cdef void pack(self, int peer, int c, const int32_t *ids, const int32_t *positions, int64_t n) noexcept nogil:
        cdef int64_t k
        cdef size_t size = _padded(4 * n)
        cdef char *to
        for k in range(self.field_begin[c], self.field_begin[c + 1]):
            size += _padded(n * self.field_size[k])
        to = self.out.put(peer, <uint32_t> n, UPDATE | c << CLASS, size)
        memcpy(to, positions, 4 * n)
        to += _padded(4 * n)
        for k in range(self.field_begin[c], self.field_begin[c + 1]):
            _pick(to, <const char *> self.w.vertex[self.field_index[k]], ids, n, self.field_size[k])
            to += _padded(n * self.field_size[k])

    cdef const char *on_signal(self, int32_t v, const char *data) noexcept nogil:
        if self.w.priority is not NULL:
            if (<const int64_t *> data)[0] < self.w.priority[v]:
                self.w.priority[v] = (<const int64_t *> data)[0]
            data += 8
        if self.message_size:
            self.hear(v, data)
            data += _padded(self.message_size)
        else:
            self.signal(v)
        return data

    cdef const char *on_grant(self, int32_t v, int source, const char *data) noexcept nogil:
        """Add what a mirror has gathered to the total of its master."""
        cdef int32_t k = self.slot_of[v]
        cdef int64_t r = self.replica_begin[v]
        cdef char *total = self.slot_total + k * self.total_size
        while self.replica_peer[r] != source:
            r += 1
        if not self.gathers[self.replica_class[r]]:
            return data
        if self.slot_filled[k]:
            self.add(total, data, 1)
        else:
            memcpy(total, data, self.total_size)
            self.slot_filled[k] = 1
        return data + _padded(self.total_size)

    # ---- mirrors -----------------------------------------------------------------------------------

    cdef int32_t mirror(self, int source, uint32_t position) noexcept nogil:
        return <int32_t> (self.mirror_begin[source] + position)

    cdef void grant(self, int32_t m, const char *total) noexcept nogil:
        """Send what a mirror has gathered, NULL if it does not gather."""
        cdef int32_t owner = self.mirror_owner[m - self.masters]
        cdef char *to = self.out.put(owner, <uint32_t> (m - self.mirror_begin[owner]), GRANT,
                                     _padded(self.total_size) if total is not NULL else 0)
        if total is not NULL:
            memcpy(to, total, self.total_size)

    cdef const char *unpack(self, int source, Record head, const char *data) noexcept nogil:
        """Keep the fields that came with an UPDATE; whose they are is in *fresh*."""
        cdef int c = head.kind >> CLASS
        cdef int64_t n = head.position, i, k
        for i in range(n):
            self.fresh[i] = self.mirror(source, (<const uint32_t *> data)[i])
        data += _padded(4 * n)
        if self.caching:
            self.remember(self.fresh, n)
        for k in range(self.field_begin[c], self.field_begin[c + 1]):
            _place(<char *> self.w.vertex[self.field_index[k]], data, self.fresh, n, self.field_size[k])
            data += _padded(n * self.field_size[k])
        if self.caching:
            self.notice(self.fresh, n)
        for i in range(n):
            self.round_of[self.fresh[i]] += 1
        return data

    cdef void tell(self) noexcept nogil:
        """Send the signals of mirrors, each with all its messages in one."""
        cdef int64_t i, at = self.masters, n
        cdef int32_t m, owner
        cdef char *to
        cdef size_t priority = 8 if self.w.priority is not NULL else 0
        n = gl_take_flagged(self.w.signalled, self.w.signal_blocks, &at, self.w.num_local, self.w.num_local, self.told)
        for i in range(n):
            m = self.told[i]
            owner = self.mirror_owner[m - self.masters]
            to = self.out.put(owner, <uint32_t> (m - self.mirror_begin[owner]), SIGNAL,
                              priority + _padded(self.message_size))
            if priority:
                (<int64_t *> to)[0] = self.w.priority[m]
                self.w.priority[m] = INT64_MAX
            if self.message_size:
                memcpy(to + priority, self.message(m), self.message_size)
                memcpy(self.message(m), self.identity, self.message_size)


include "relaxed.pxi"
include "serialisable.pxi"
