"""The state machine of vertices that run without supersteps, on one rank.

`Relaxed.step` and `Serialisable.step` take in records from other ranks, run vertices that wait in the
scheduler, and leave records for other ranks in one buffer per peer; they never talk to MPI. A record is
eight bytes (the position in the list that both ranks share, a kind), then what the kind says:

REQUEST   master -> mirror   lock your scope (if scopes are locked), then gather
GRANT     mirror -> master   the partial total
REFUSAL   mirror -> master   a rival holds the scope, which was asked for AT_ONCE
GIVE_BACK master -> mirror   unlock your scope, if it is locked: another rank refused
UPDATE    masters -> mirrors of one class, as many as the position says: their positions, then field by field
                             the values that apply wrote: keep them, scatter, unlock
SIGNAL    mirror -> master   priority and message, as far as the program has them
PACE      rank -> rank       the position is the number of a round that this rank has finished (pace.h)
FRONT     rank -> rank       the least priority that waits there, GL_NEVER if no vertex waits (pace.h)

Records between two ranks keep their order. A signal is a flag of the view, set by scatter or apply. The flag of
a master stays set, or the vertex waits in the scheduler, until it begins; signals of mirrors are sent to their
masters at the end of a step.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport abort, calloc, free, realloc
from libc.string cimport memcmp, memcpy
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

include "entry.pxi"
include "declarations.pxi"
include "batches.pxi"
include "rows.pxi"
include "program.pxi"

cdef void *_data(object array) except? NULL:
    return NULL if array is None else PyArray_DATA(<ndarray> array)


cdef enum:
    REQUEST = 1
    GRANT = 2
    UPDATE = 3
    SIGNAL = 4
    PACE = 5
    FRONT = 6
    REFUSAL = 7
    GIVE_BACK = 8
    KIND = 255  # the rest of it is the class of mirrors, or AT_ONCE
    CLASS = 8  # where that begins
    AT_ONCE = 1 << CLASS  # of a REQUEST: refuse it rather than let it wait


include "cached.pxi"
include "mirrors.pxi"
include "paced.pxi"

SCHEDULERS = {"fifo": 0, "priority": 1, "sweep": 2, "random": 3}


cdef class Machine(Paced):
    """The common part of the two machines that run a rank's vertices.

    Parameters
    ----------
    view, functions, replicas, owned, mirrors, travels, sizes, identity, posts, asks, updates, gathers, scatters, block
        As of `Mirrored`.
    scheduler : str
        One of SCHEDULERS.
    buckets : buckets.Buckets or None
        Of the masters' priorities, for a scheduler by priority.
    limit : int
        Masters in flight at most.
    big : int
        From this many vertices in a round on, ranks keep pace.
    seed : int
        Of the random scheduler.
    """

    cdef int limit
    cdef gl_scheduler queue
    cdef int64_t big
    cdef readonly int64_t in_flight  # masters between their begin and their end
    cdef readonly int window  # the present limit of masters in flight
    cdef readonly bint held_up  # waiting masters may not begin yet: not their round, turn or priority
    cdef uint8_t *flight, *again, *slot_filled
    cdef int32_t *slot_of, *slot_vertex, *slot_stage, *slot_free, *taken
    cdef int64_t *slot_priority  # of masters whose signals were put off
    cdef char *slot_total, *slot_message, *later

    def __init__(self, view, functions, replicas, owned, mirrors, travels, sizes, identity, posts,
                 asks, updates, gathers, scatters, scheduler, buckets, limit, block, big, seed=0):
        cdef int k
        cdef int64_t m
        Paced.__init__(self, view, functions, replicas, owned, mirrors, travels, sizes, identity, posts,
                       asks, updates, gathers, scatters, block)
        m = self.masters
        self.limit = self.window = limit
        self.flight, self.again = <uint8_t *> self.room(m, np.uint8), <uint8_t *> self.room(m, np.uint8)
        self.taken = <int32_t *> self.room(block, np.int32)
        self.slot_of = <int32_t *> self.room(m, np.int32)
        self.slot_vertex = <int32_t *> self.room(limit, np.int32)
        self.slot_stage = <int32_t *> self.room(limit, np.int32)
        self.slot_filled = <uint8_t *> self.room(limit, np.uint8)
        self.slot_free = <int32_t *> self.room(limit, np.int32)
        self.slot_priority = <int64_t *> self.room(limit, np.int64)
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
        if buckets is not None:
            self._keep.append(buckets)
            s.buckets = <gl_buckets *> <size_t> buckets.address
        self.big = big

    # ---- from outside ------------------------------------------------------------------------------

    def schedule(self, const int32_t[::1] ids):
        """Put these masters into the scheduler."""
        cdef Py_ssize_t k
        for k in range(ids.shape[0]):
            if self.w.priority is not NULL and self.w.priority[ids[k]] == GL_NEVER:
                self.w.priority[ids[k]] = 0
            self.signal(ids[k])

    def step(self, list received, int64_t budget, bint closing=False):
        """Take in the *received* messages (pairs of rank and bytes), then begin up to *budget* vertices.

        No vertex begins with *closing*, nor when the view's ``stop`` is set; those in flight go on. Returns how
        many vertices began.
        """
        cdef int64_t begun = 0
        cdef const uint8_t[::1] part
        cdef int source
        self.urgent = False
        enter(self.w.stop)
        for source, data in received:
            part = data
            if part.shape[0]:
                with nogil:
                    self.take_in(source, <const char *> &part[0], part.shape[0])
        self.held_up = False
        with nogil:
            self.catch_up()
            if not closing:
                begun = self.begin(budget)
            self.send_signals()
            if self.queue.buckets is not NULL:
                self.send_front(gl_front(&self.queue))
        self.w.stop[1] = 0
        if self.w.stop[0] == GL_FAULT_INTERRUPT and not self.failed:
            self.failed, self.fault.vertex, self.fault.site = 1, self.taken[0], -1  # about where it was
            self.fault.code = GL_FAULT_INTERRUPT
        return begun

    @property
    def waiting(self):
        """How many masters wait in the scheduler."""
        return gl_waiting(&self.queue)

    def waiting_masters(self):
        """Return uint8[masters]: which wait. No master may be in flight."""
        found = np.zeros(self.masters, np.uint8)
        gl_mark_waiting(&self.queue, <uint8_t *> PyArray_DATA(found))
        return found

    def lock_counts(self):
        """Return how many scopes were asked for on this rank, and how many of these requests had to wait."""
        return 0, 0

    # ---- differs between the two machines ----------------------------------------------------------

    cdef void run(self, const int32_t *ids, int64_t n) noexcept nogil:
        """Begin these masters."""

    cdef void on_request(self, int32_t m, bint at_once) noexcept nogil:
        """Take in the REQUEST to a mirror."""

    cdef void on_give_back(self, int32_t m) noexcept nogil:
        """Give back the scope of a mirror that was asked for AT_ONCE."""

    cdef void on_refusal(self, int32_t k) noexcept nogil:
        """Take in the REFUSAL of a mirror of the master in slot *k*."""

    cdef void on_update(self, const int32_t *mirrors, int64_t n) noexcept nogil:
        """Release mirrors that were updated and have scattered."""

    cdef void on_part(self, int32_t k) noexcept nogil:
        """Note that one more mirror of the master in slot *k* has sent its partial total."""

    cdef void catch_up(self) noexcept nogil:
        """Do the work that the received records have left."""

    # ---- records -----------------------------------------------------------------------------------

    cdef void take_in(self, int source, const char *data, int64_t length) noexcept nogil:
        """Take in a batch of records."""
        cdef const char *end = data + length
        cdef Record head
        cdef int32_t v
        while data < end and not self.failed:
            head = (<const Record *> data)[0]
            data += sizeof(Record)
            if head.kind & KIND == UPDATE:
                data = self.unpack(source, head, data)
                if self.scatters[head.kind >> CLASS]:
                    self.scatter(self.fresh, head.position)
                self.on_update(self.fresh, head.position)
            elif head.kind & KIND == REQUEST:
                self.on_request(self.mirror(source, head.position), head.kind & AT_ONCE)
            elif head.kind == GIVE_BACK:
                self.on_give_back(self.mirror(source, head.position))
            elif head.kind == PACE or head.kind == FRONT:
                data = self.on_pace(source, head, data)
            else:
                v = self.owned[self.owned_begin[source] + head.position]
                if head.kind == SIGNAL:
                    data = self.on_signal(v, data)
                elif head.kind == REFUSAL:
                    self.on_refusal(self.slot_of[v])
                else:
                    data = self.on_grant(v, source, data)
                    self.on_part(self.slot_of[v])

    # ---- masters -----------------------------------------------------------------------------------

    cdef int64_t begin(self, int64_t budget) noexcept nogil:
        """Begin up to *budget* of the masters that wait in the scheduler, as the pace allows; return how many."""
        cdef int64_t begun = 0, n
        cdef bint anew, big
        self.queue.ceiling = gl_ceiling(&self.pace)
        while begun < budget and self.in_flight < self.window and not self.failed and not self.w.stop[0]:
            anew = gl_between_rounds(&self.queue)
            if anew and not gl_in_pace(&self.pace):
                self.held_up = True
                break
            n = self.take(budget - begun)
            if anew:
                big = n and self.queue.round >= self.big
                self.send_pace(gl_begin_round(&self.pace) if big else gl_stop_counting(&self.pace))
            if not n:
                if gl_between_rounds(&self.queue) and not anew:
                    continue
                self.held_up = self.queue.waiting
                break
            begun += n
            self.run(self.taken, self.startable(self.taken, n))
            if self.pace.round and gl_mostly_taken(&self.queue):
                self.send_pace(gl_end_round(&self.pace))
        return begun

    cdef int64_t take(self, int64_t most) noexcept nogil:
        """Take the next masters from the scheduler into *taken*; return how many."""
        return gl_take(&self.queue, min(self.block, most, self.window - self.in_flight), self.taken)

    cdef int64_t startable(self, int32_t *ids, int64_t n) noexcept nogil:
        """Keep the masters that are not in flight; the others wait again after their turn. Return how many."""
        cdef int64_t i, kept = 0
        for i in range(n):
            if self.flight[ids[i]]:
                self.put_off(ids[i])
                continue
            self.silence(ids[i])  # its later signals are dropped: it has yet to gather
            ids[kept] = ids[i]
            kept += 1
        return kept

    cdef void put_off(self, int32_t v) noexcept nogil:
        """Let a master in flight wait again after its turn, at its priority; until then it is in no bucket."""
        cdef int32_t k = self.slot_of[v]
        self.again[v] = 1
        if self.w.priority is not NULL:
            self.slot_priority[k] = min(self.slot_priority[k], self.w.priority[v])
            self.w.priority[v] = GL_NEVER

    cdef void silence(self, int32_t v) noexcept nogil:
        """Clear the signal of a master that begins."""
        self.w.signalled[v] = 0
        if self.w.priority is not NULL:
            self.w.priority[v] = GL_NEVER

    cdef int32_t start(self, int32_t v) noexcept nogil:
        """Give a master a slot, with its message; return the slot."""
        cdef int32_t k = self.slot_free[self.in_flight]
        self.in_flight += 1
        self.flight[v] = 1
        self.slot_of[v] = k
        self.slot_vertex[k] = v
        self.slot_filled[k] = 0
        self.slot_priority[k] = GL_NEVER
        if self.message_size:
            memcpy(self.slot_message + k * self.message_size, self.message(v), self.message_size)
            memcpy(self.message(v), self.identity, self.message_size)
        return k

    cdef void complete(self, const int32_t *slots, const int32_t *ids, int64_t n, char *totals) noexcept nogil:
        """Apply at masters in flight, with the messages that they began with; free their slots."""
        cdef int64_t i
        cdef size_t size = self.message_size
        if size:  # messages that arrived since are for their next turns
            for i in range(n):
                memcpy(self.later + i * size, self.message(ids[i]), size)
                memcpy(self.message(ids[i]), self.slot_message + slots[i] * size, size)
        self.apply(ids, n, totals)
        if size:
            for i in range(n):
                memcpy(self.message(ids[i]), self.later + i * size, size)
        for i in range(n):
            self.flight[ids[i]] = 0
            self.in_flight -= 1
            self.slot_free[self.in_flight] = slots[i]
            if self.again[ids[i]]:
                self.again[ids[i]] = 0
                if self.w.priority is not NULL:
                    self.prioritise(ids[i], self.slot_priority[slots[i]])
                self.signal(ids[i])
        self.follow(ids, n)

    cdef void follow(self, const int32_t *ids, int64_t n) noexcept nogil:
        """After apply: take in messages to themselves, send the values to the mirrors, scatter here."""
        self.hear_themselves(ids, n)
        self.update(ids, n)
        self.scatter(ids, n)

    cdef void prioritise(self, int32_t v, int64_t priority) noexcept nogil:
        """Keep the least of the priorities that a master is signalled with."""
        self.w.priority[v] = min(self.w.priority[v], priority)

    cdef const char *on_signal(self, int32_t v, const char *data) noexcept nogil:
        if self.w.priority is not NULL:
            self.prioritise(v, (<const int64_t *> data)[0])
            data += 8
        if self.message_size:
            self.hear(v, data)
            data += _padded(self.message_size)
        else:
            self.signal(v)
        return data

    cdef const char *on_grant(self, int32_t v, int source, const char *data) noexcept nogil:
        """Combine the partial total of a mirror into the total of its master."""
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

include "relaxed.pxi"
include "turns.pxi"
include "serialisable.pxi"
