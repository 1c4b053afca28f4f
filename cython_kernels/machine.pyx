"""The state machine of vertices that run without supersteps, on one rank.

`Machine.step` takes in records from other ranks, runs vertices that wait in the scheduler, and leaves
records for other ranks in one buffer per peer; it never talks to MPI. A record is eight bytes (the
position in the list that both ranks share, a kind), then what the kind says:

REQUEST   master -> mirror   lock your scope (if scopes are locked), then gather
GRANT     mirror -> master   the partial total
UPDATE    master -> mirror   the fields that apply wrote: keep them, scatter, unlock
SIGNAL    mirror -> master   priority and message, as far as the program has them
INSIST    master -> mirror   as REQUEST, of a vertex that holds its scope on another rank already

**Scopes.** Where they are locked, a vertex asks for its scope rank by rank, ascending (`scopes.h` has what
happens on one). So it waits on a rank only for vertices that hold there, which wait on greater ranks only,
and for vertices that insisted there before: nobody waits in a circle, and because nobody is passed without
end, everybody's turn comes. An edge is on one rank: no two adjacent vertices ever hold both their scopes.
Records between two ranks keep their order, so that a mirror has let go before it is asked again.
"""

import numpy as np

from libc.stdint cimport INT64_MAX, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport abort, calloc, free, realloc
from libc.string cimport memcpy
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

include "queues.pxi"
include "batches.pxi"
include "single.pxi"

cdef enum:
    REQUEST = 1
    GRANT = 2
    UPDATE = 3
    SIGNAL = 4
    INSIST = 5

cdef enum:
    SAMPLE = 256  # requests between two looks at how many had to wait
    LEAST = 16  # masters in flight, however many wait

SCHEDULERS = {"fifo": 0, "priority": 1, "sweep": 2, "random": 3}

cdef void *_data(object array) except? NULL:
    return NULL if array is None else PyArray_DATA(<ndarray> array)


cdef class Machine(Single):
    """All vertices of one rank, between records.

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
    asks, updates, gathers, scatters : three bools each
        By class of mirror: whether it gets REQUESTs and UPDATEs, and what it does with them.
    locking : bool
        Whether scopes are locked.
    scheduler : str
        One of SCHEDULERS.
    limit : int
        Masters in flight at most.
    watch : bool
        Keep the times of all locks, for `locks`.
    """

    cdef object _keep
    cdef readonly Batches out
    cdef int rank, size, locking, limit
    cdef size_t stride
    cdef gl_scheduler queue
    cdef int64_t masters, flying, told_count
    cdef gl_scopes scopes
    cdef readonly int window  # masters in flight at most, just now
    cdef int64_t[4] field_begin
    cdef int64_t[3] update_size
    cdef int[3] asks, updated, gathers, scatters
    cdef const int64_t *replica_begin, *owned_begin, *mirror_begin, *field_size
    cdef const int32_t *replica_peer, *replica_position, *owned, *mirror_owner, *field_index
    cdef const uint8_t *replica_class, *mirror_class
    cdef uint8_t *flight, *again, *telling, *slot_filled
    cdef int32_t *slot_of, *told, *slot_vertex, *slot_stage, *slot_free
    cdef char *slot_total, *slot_message, *scratch

    def __init__(self, view, functions, replicas, owned, mirrors, travels, sizes, identity,
                 asks, updates, gathers, scatters, locking, scheduler, limit, watch=False, seed=0):
        cdef int k, p
        cdef int64_t n, m
        cdef gl_scopes *c
        Single.__init__(self, view, functions, sizes[len(sizes) - 1], identity)
        n, m = self.w.num_local, self.w.num_masters
        self.masters = m
        self.size, self.rank = mirrors[0].size, int(np.flatnonzero(mirrors[0] < 0)[0])
        self.locking, self.limit = locking, limit
        self.window = min(limit, 4 * LEAST) if locking else limit
        self.out = Batches(self.size)
        self.stride = _padded(max(self.total_size, self.message_size, 8))
        keep = self._keep = [replicas, owned, mirrors]
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
        self.field_index, self.field_size = <const int32_t *> _data(fields), <const int64_t *> _data(bytes_of)
        self.field_begin[0] = 0
        for k in range(3):
            self.field_begin[k + 1] = self.field_begin[k] + len(travels[k])
            self.update_size[k] = sum(_padded(sizes[field]) for field in travels[k])
            self.asks[k], self.updated[k] = asks[k], updates[k]
            self.gathers[k], self.scatters[k] = gathers[k], scatters[k]

        def room(count, dtype, value=0):
            made = np.full(max(count, 1), value, dtype)
            keep.append(made)
            return made

        keep += [fields, bytes_of]
        self.flight, self.again = <uint8_t *> _data(room(m, np.uint8)), <uint8_t *> _data(room(m, np.uint8))
        self.telling = <uint8_t *> _data(room(n, np.uint8))
        self.slot_of = <int32_t *> _data(room(m, np.int32, -1))
        self.told = <int32_t *> _data(room(n - m, np.int32))
        self.slot_vertex = <int32_t *> _data(room(limit, np.int32))
        self.slot_stage = <int32_t *> _data(room(limit, np.int32))
        self.slot_filled = <uint8_t *> _data(room(limit, np.uint8))
        spare = np.arange(limit, dtype=np.int32)
        keep.append(spare)
        self.slot_free = <int32_t *> _data(spare)
        self.slot_total = <char *> _data(room(limit * self.stride // 8, np.int64))
        self.slot_message = <char *> _data(room(limit * self.stride // 8, np.int64))
        self.scratch = <char *> _data(room(3 * self.stride // 8, np.int64))

        s = &self.queue
        s.kind, s.size, s.random = SCHEDULERS[scheduler], m, 88172645463325252 ^ <uint64_t> seed
        s.priority = self.w.priority
        s.place = <int32_t *> _data(room(m, np.int32, -1))
        s.next = <int32_t *> _data(room(m, np.int32, -1))
        s.previous = <int32_t *> _data(room(m, np.int32, -1))
        s.head = <int32_t *> _data(room(GL_BUCKETS + 1, np.int32, -1))
        s.tail = <int32_t *> _data(room(GL_BUCKETS + 1, np.int32, -1))
        s.bits = <uint64_t *> _data(room((m >> 6) + 1, np.uint64))
        if locking:
            c = &self.scopes
            c.in_begin, c.in_neighbor = self.w.in_begin, self.w.in_neighbor
            c.out_begin, c.out_neighbor = self.w.out_begin, self.w.out_neighbor
            c.state, c.passed = <uint8_t *> _data(room(n, np.uint8)), <uint8_t *> _data(room(n, np.uint8))
            c.blocked, c.granted = <int32_t *> _data(room(n, np.int32)), <int32_t *> _data(room(n, np.int32))
            c.locked_at = <int64_t *> _data(room(n, np.int64)) if watch else NULL

    def __dealloc__(self):
        free(self.scopes.events)

    # ---- from outside ------------------------------------------------------------------------------

    def schedule(self, const int32_t[::1] ids):
        """Let these masters run."""
        cdef Py_ssize_t k
        for k in range(ids.shape[0]):
            if self.w.priority is not NULL and self.w.priority[ids[k]] == INT64_MAX:
                self.w.priority[ids[k]] = 0
            self.wake(ids[k])

    def step(self, list came, int64_t budget, bint closing=False):
        """Take in what *came* (pairs of rank and bytes), then begin up to *budget* vertices.

        With *closing* none is begun; what is under way goes on. Returns how many were begun.
        """
        cdef int64_t begun = 0
        cdef int32_t v
        cdef const uint8_t[::1] part
        cdef int source
        for source, data in came:
            part = data
            if part.shape[0]:
                with nogil:
                    self.take_in(source, <const char *> &part[0], part.shape[0])
        with nogil:
            self.serve()
            if self.scopes.asked >= SAMPLE:
                self.open_window()
            while not closing and begun < budget and self.flying < self.window and not self.failed:
                v = gl_take(&self.queue)
                if v < 0:
                    break
                begun += 1
                self.begin(v)
                self.serve()
            self.tell()
        return begun

    @property
    def waiting(self):
        """How many masters wait in the scheduler."""
        return self.queue.waiting

    @property
    def in_flight(self):
        """How many masters are between their begin and their end."""
        return self.flying

    def lock_counts(self):
        """Return how many scopes were asked for here, and how many of those had to wait."""
        return self.scopes.requests, self.scopes.waits

    def locks(self):
        """Return every lock so far as int64[n, 3]: local id, time of the lock, time of the release."""
        table = np.empty((self.scopes.events_length // 3, 3), np.int64)
        memcpy(PyArray_DATA(<ndarray> table), self.scopes.events, self.scopes.events_length * sizeof(int64_t))
        return table

    # ---- a vertex's way ----------------------------------------------------------------------------

    cdef void wake(self, int32_t v) noexcept nogil:
        if self.flight[v]:
            self.again[v] = 1
        else:
            gl_schedule(&self.queue, v)

    cdef void begin(self, int32_t v) noexcept nogil:
        cdef int64_t r
        cdef int32_t k, asked = 0
        if self.w.priority is not NULL:
            self.w.priority[v] = INT64_MAX
        if not self.locking:
            for r in range(self.replica_begin[v], self.replica_begin[v + 1]):
                asked += self.asks[self.replica_class[r]]
            if not asked:
                self.gather(v, self.scratch)
                self.apply(v, self.scratch)
                self.follow(v)
                return
        k = self.slot_free[self.flying]
        self.flying += 1
        self.flight[v] = 1
        self.slot_of[v] = k
        self.slot_vertex[k] = v
        self.slot_filled[k] = 0
        if self.message_size:
            memcpy(self.slot_message + k * self.stride, self.message(v), self.message_size)
            memcpy(self.message(v), self.identity, self.message_size)
        if self.locking:
            self.slot_stage[k] = 0
            self.advance(k)
            return
        self.slot_stage[k] = asked
        for r in range(self.replica_begin[v], self.replica_begin[v + 1]):
            if self.asks[self.replica_class[r]]:
                self.out.put(self.replica_peer[r], self.replica_position[r], REQUEST, 0)

    cdef void advance(self, int32_t k) noexcept nogil:
        """Ask for the scope on the next rank, ascending; when all have granted it, finish."""
        cdef int32_t v = self.slot_vertex[k], s
        cdef int64_t first = self.replica_begin[v], count = self.replica_begin[v + 1] - first, here = 0, r
        while here < count and self.replica_peer[first + here] < self.rank:
            here += 1
        while not self.failed:
            s = self.slot_stage[k]
            if s > count:
                self.finish(k)
                return
            if s != here:
                r = first + s - (s > here)
                self.out.put(self.replica_peer[r], self.replica_position[r], INSIST if s else REQUEST, 0)
                return
            if not gl_request(&self.scopes, v, here > 0):
                return
            self.gather_here(k)
            self.slot_stage[k] += 1

    cdef void finish(self, int32_t k) noexcept nogil:
        cdef int32_t v = self.slot_vertex[k]
        cdef char *later = self.scratch + 2 * self.stride
        if self.message_size:  # what came since it began is for its next turn
            memcpy(later, self.message(v), self.message_size)
            memcpy(self.message(v), self.slot_message + k * self.stride, self.message_size)
        self.apply(v, self.slot_total + k * self.stride)
        if self.message_size:
            memcpy(self.message(v), later, self.message_size)
        self.follow(v)
        self.slot_of[v] = -1
        self.flight[v] = 0
        self.flying -= 1
        self.slot_free[self.flying] = k
        if self.again[v]:
            self.again[v] = 0
            gl_schedule(&self.queue, v)

    cdef void follow(self, int32_t v) noexcept nogil:
        """After apply: hear v's own signal, tell the mirrors, scatter here, let go."""
        cdef int64_t r, size
        cdef int c
        cdef char *to
        if self.w.signalled[v]:
            self.w.signalled[v] = 0
            if self.message_size and self.w.message_next != self.w.message:
                self.w.incoming = self.message_next(v)
                self.call(self.f_messages, v)
                self.w.signalled[v] = 0
                memcpy(self.message_next(v), self.identity, self.message_size)
            self.wake(v)
        for r in range(self.replica_begin[v], self.replica_begin[v + 1]):
            c = self.replica_class[r]
            if self.updated[c]:
                to = self.out.put(self.replica_peer[r], self.replica_position[r], UPDATE, self.update_size[c])
                self.pack(v, c, to)
        self.scatter(v)
        if self.locking:
            gl_release(&self.scopes, v)

    # ---- phases ------------------------------------------------------------------------------------

    cdef void gather_here(self, int32_t k) noexcept nogil:
        cdef char *total = self.slot_total + k * self.stride
        if not self.total_size:
            return
        if self.slot_filled[k]:
            self.gather(self.slot_vertex[k], self.scratch)
            self.add(total, self.scratch)
        else:
            self.gather(self.slot_vertex[k], total)
            self.slot_filled[k] = 1

    cdef void scatter(self, int32_t v) noexcept nogil:
        cdef int64_t e
        if self.f_scatter is NULL:
            return
        self.w.superstep = self.round_of[v] - 1
        self.call(self.f_scatter, v)
        if self.w.scatter_edges & 1:
            for e in range(self.w.in_begin[v], self.w.in_begin[v + 1]):
                self.hear(self.w.in_neighbor[e])
        if self.w.scatter_edges & 2:
            for e in range(self.w.out_begin[v], self.w.out_begin[v + 1]):
                self.hear(self.w.out_neighbor[e])
        self.hear(v)

    cdef void hear(self, int32_t u) noexcept nogil:
        if self.w.signalled[u]:
            self.w.signalled[u] = 0
            if u < self.masters:
                self.wake(u)
            elif not self.telling[u]:
                self.telling[u] = 1
                self.told[self.told_count] = u
                self.told_count += 1

    # ---- scopes ------------------------------------------------------------------------------------

    cdef void open_window(self) noexcept nogil:
        """Let more masters fly where few had to wait, fewer where many had: waiting in a crowd helps nobody."""
        if 4 * self.scopes.waited > self.scopes.asked:
            self.window = max(self.window - self.window // 4, LEAST)
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
                self.gather_here(k)
                self.slot_stage[k] += 1
                self.advance(k)
            else:
                self.grant(v)

    # ---- records -----------------------------------------------------------------------------------

    cdef void pack(self, int32_t v, int c, char *to) noexcept nogil:
        cdef int64_t k
        for k in range(self.field_begin[c], self.field_begin[c + 1]):
            memcpy(to, <const char *> self.w.vertex[self.field_index[k]] + v * self.field_size[k], self.field_size[k])
            to += _padded(self.field_size[k])

    cdef void grant(self, int32_t m) noexcept nogil:
        """Gather at a mirror and send what it comes to."""
        cdef int32_t owner = self.mirror_owner[m - self.masters]
        cdef int gathers = self.gathers[self.mirror_class[m - self.masters]]
        cdef char *to
        if gathers:
            self.gather(m, self.scratch)
        to = self.out.put(owner, <uint32_t> (m - self.mirror_begin[owner]), GRANT,
                      _padded(self.total_size) if gathers else 0)
        if gathers:
            memcpy(to, self.scratch, self.total_size)

    cdef void tell(self) noexcept nogil:
        """Send the signals of mirrors, each with all its messages in one."""
        cdef int64_t i
        cdef int32_t m, owner
        cdef char *to
        cdef size_t priority = 8 if self.w.priority is not NULL else 0
        for i in range(self.told_count):
            m = self.told[i]
            self.telling[m] = 0
            owner = self.mirror_owner[m - self.masters]
            to = self.out.put(owner, <uint32_t> (m - self.mirror_begin[owner]), SIGNAL,
                          priority + _padded(self.message_size))
            if priority:
                (<int64_t *> to)[0] = self.w.priority[m]
                self.w.priority[m] = INT64_MAX
            if self.message_size:
                memcpy(to + priority, self.message(m), self.message_size)
                memcpy(self.message(m), self.identity, self.message_size)
        self.told_count = 0

    cdef void take_in(self, int source, const char *data, int64_t length) noexcept nogil:
        cdef const char *end = data + length
        cdef Record head
        while data < end and not self.failed:
            head = (<const Record *> data)[0]
            data += sizeof(Record)
            if head.kind == REQUEST or head.kind == INSIST:
                self.on_request(<int32_t> (self.mirror_begin[source] + head.position), head.kind == INSIST)
            elif head.kind == UPDATE:
                data = self.on_update(<int32_t> (self.mirror_begin[source] + head.position), data)
            else:
                data = self.on_master(self.owned[self.owned_begin[source] + head.position],
                                      head.kind, source, data)
            self.serve()

    cdef void on_request(self, int32_t m, bint insists) noexcept nogil:
        if not self.locking or gl_request(&self.scopes, m, insists):
            self.grant(m)

    cdef const char *on_update(self, int32_t m, const char *data) noexcept nogil:
        cdef int c = self.mirror_class[m - self.masters]
        cdef int64_t k
        for k in range(self.field_begin[c], self.field_begin[c + 1]):
            memcpy(<char *> self.w.vertex[self.field_index[k]] + m * self.field_size[k], data, self.field_size[k])
            data += _padded(self.field_size[k])
        self.round_of[m] += 1
        if self.scatters[c]:
            self.scatter(m)
        if self.locking:
            gl_release(&self.scopes, m)
        return data

    cdef const char *on_master(self, int32_t v, uint32_t kind, int source, const char *data) noexcept nogil:
        cdef int32_t k = self.slot_of[v]
        cdef int64_t r
        cdef char *total
        if kind == SIGNAL:
            if self.w.priority is not NULL:
                if (<const int64_t *> data)[0] < self.w.priority[v]:
                    self.w.priority[v] = (<const int64_t *> data)[0]
                data += 8
            if self.message_size:
                self.w.incoming = data
                self.add_message(v)
                data += _padded(self.message_size)
            self.wake(v)
            return data
        r = self.replica_begin[v]
        while self.replica_peer[r] != source:
            r += 1
        if self.gathers[self.replica_class[r]]:
            total = self.slot_total + k * self.stride
            if self.slot_filled[k]:
                self.add(total, data)
            else:
                memcpy(total, data, self.total_size)
                self.slot_filled[k] = 1
            data += _padded(self.total_size)
        if self.locking:
            self.slot_stage[k] += 1
            self.advance(k)
        else:
            self.slot_stage[k] -= 1
            if not self.slot_stage[k]:
                self.gather_here(k)
                self.finish(k)
        return data

