"""Supersteps one after another without a return to Python between them, or with one for each message.

Where few vertices run in a superstep, the decisions of Python cost more than the vertices. A `Steps` runs
the phase of a rank that is alone: gather and apply, then pushed scatter, for the signalled vertices, superstep by
superstep, until no vertex is signalled or a frontier is large enough for Python to choose push or pull. `Rounds`
does so on a rank of several, between two messages. Both do the same as the synchronous engine, in the
same order.
"""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport qsort
from libc.string cimport memcpy
from numpy cimport PyArray_DATA, import_array, ndarray

include "abi.pxi"
include "entry.pxi"
include "rows.pxi"

import_array()

cdef extern from "buckets.h" nogil:
    enum: GL_IN
    enum: GL_OUT
    int64_t GL_NEVER
    ctypedef struct gl_buckets:
        pass
    int64_t gl_buckets_next(gl_buckets *, int32_t *, int64_t *)
    void gl_buckets_add(gl_buckets *, const int32_t *, int64_t)
    int64_t gl_take_flags(uint8_t *, uint8_t *, int64_t, int64_t, int32_t *)

cdef extern from "time.h" nogil:
    enum: CLOCK_MONOTONIC
    struct timespec:
        int64_t tv_sec, tv_nsec
    int clock_gettime(int, timespec *)

cdef enum:
    BLOCK_EDGES = 8192   # of a block that one thread takes
    BLOCK_VERTICES = 512
    ALONE = 16384        # a frontier of fewer edges and vertices is one thread's


cdef double _now() noexcept nogil:
    cdef timespec t
    clock_gettime(CLOCK_MONOTONIC, &t)
    return t.tv_sec + 1e-9 * t.tv_nsec


cdef void _forget(char *message, int width, const char *identity, const int32_t *ids, int64_t lo, int64_t hi) noexcept nogil:
    cdef int64_t i, eight
    cdef int32_t four
    if width == 8:
        memcpy(&eight, identity, 8)
        for i in range(lo, hi):
            (<int64_t *> message)[ids[i]] = eight
    elif width == 4:
        memcpy(&four, identity, 4)
        for i in range(lo, hi):
            (<int32_t *> message)[ids[i]] = four
    else:
        for i in range(lo, hi):
            memcpy(message + width * ids[i], identity, width)


cdef class Steps:
    """The supersteps of one program's phase on a rank that is alone.

    *view* is the address of a ``gl_view``, *apply* and *push* those of range functions (0: none); *apply* gathers too
    where *gathers* says so. *buckets* is the address of a ``gl_buckets`` (0: no priorities), *identity* the bytes of
    the identity of messages. *shared* says that several threads may push at once. *copied* (int64 [fields, 2]) has
    the fields that gathers read and apply writes, and the bytes of a value of each.
    """

    cdef gl_view *view
    cdef gl_range_fn apply, push
    cdef gl_buckets *buckets
    cdef bytes identity
    cdef const char *nothing
    cdef int width, threads
    cdef bint shared
    cdef int64_t gathered, scattered    # directions
    cdef const int64_t[:, ::1] copied
    cdef int32_t[::1] ids
    cdef int64_t[::1] bounds
    cdef uint8_t[::1] failed, views
    cdef int64_t[:, ::1] faults

    def __init__(self, size_t view, size_t apply, bint gathers, size_t push, size_t buckets, bytes identity,
                 int threads, bint shared, const int64_t[:, ::1] copied):
        self.view, self.apply, self.push = <gl_view *> view, <gl_range_fn> apply, <gl_range_fn> push
        self.buckets, self.identity, self.threads, self.shared = <gl_buckets *> buckets, identity, threads, shared
        self.nothing, self.width, self.copied = self.identity, len(self.identity), copied
        self.gathered = self.view.gather_edges if gathers else 0
        self.scattered = self.view.scatter_edges if push else 0
        cdef int64_t n = self.view.num_local, blocks = n // BLOCK_VERTICES + 2, every
        if n and self.view.in_begin:
            blocks += 2 * self.view.in_begin[n] // BLOCK_EDGES
        self.ids = np.empty(n + 1, dtype=np.int32)
        self.bounds = np.empty(blocks + 1, dtype=np.int64)
        self.failed = np.zeros(blocks, dtype=np.uint8)
        self.faults = np.zeros((blocks, 3), dtype=np.int64)
        self.views = np.empty(threads * sizeof(gl_view), dtype=np.uint8)

    def run(self, const int32_t[::1] signalled, int64_t most_steps, int64_t most_edges, double most_seconds):
        """Run supersteps, the masters *signalled* (ascending) in the first one.

        Return the masters signalled at their end, how many ran in each superstep (int64), its seconds
        (float64), and the fault as (code, local vertex, site). A frontier of more than *most_edges* edges, or of
        every vertex, is left to the caller, as are all once *most_seconds* or *most_steps* are over. A fault of
        site -1 is the view's ``stop``, seen before a block that begins with that vertex.
        """
        cdef int64_t count = signalled.shape[0], done = 0, edges
        cdef int32_t *ids = &self.ids[0]
        cdef double began = _now(), start = began, end
        cdef Py_ssize_t failed = -1
        sizes, seconds = np.empty(most_steps, dtype=np.int64), np.empty(most_steps)
        cdef int64_t[::1] size = sizes
        cdef double[::1] second = seconds
        self.ids[:count] = signalled
        enter(self.view.stop)
        with nogil:
            self._look()
            while done < most_steps and start - began < most_seconds:
                if self.buckets:
                    gl_buckets_next(self.buckets, ids, &count)
                if not count:
                    break
                edges = self._edges(ids, count, self.scattered)
                if edges > most_edges or count == self.view.num_masters:
                    if self.buckets:
                        gl_buckets_add(self.buckets, ids, count)
                        count = 0
                    break
                failed = self._apply(ids, count, self.view.superstep + done)
                if failed < 0:
                    failed = self._push(ids, count, edges)
                size[done] = count
                done += 1
                if failed >= 0:
                    break
                count = gl_take_flags(self.view.signalled, self.view.signal_blocks, 0, self.view.num_masters, ids)
                end = _now()
                second[done - 1] = end - start
                start = end
            self.view.stop[1] = 0
        fault = None if failed < 0 else tuple(np.asarray(self.faults[failed]).tolist())
        return np.array(self.ids[:count]), sizes[:done], seconds[:done], fault

    cdef void _look(self) noexcept nogil:
        """Let every thread's view be the caller's as it is now."""
        cdef int k
        cdef gl_view *view
        for k in range(self.threads):
            view = <gl_view *> &self.views[k * sizeof(gl_view)]
            memcpy(view, self.view, sizeof(gl_view))
            view.all_active = 0
            if self.view.scratch is not NULL:
                view.scratch = self.view.scratch + k

    cdef int64_t _edges(self, const int32_t *ids, int64_t count, int64_t directions) noexcept nogil:
        cdef int64_t i, edges = 0
        if directions & GL_IN:
            for i in range(count):
                edges += self.view.in_begin[ids[i] + 1] - self.view.in_begin[ids[i]]
        if directions & GL_OUT:
            for i in range(count):
                edges += self.view.out_begin[ids[i] + 1] - self.view.out_begin[ids[i]]
        return edges

    cdef Py_ssize_t _apply(self, const int32_t *ids, int64_t count, int64_t superstep) noexcept nogil:
        """Gather and apply; return the position of the block that failed, -1 if none did."""
        cdef int64_t k, work = count + self._edges(ids, count, self.gathered)
        cdef int threads = self.threads if work > ALONE else 1
        cdef Py_ssize_t field, failed = -1
        cdef gl_view *view
        for k in range(self.threads):
            view = <gl_view *> &self.views[k * sizeof(gl_view)]
            view.superstep, view.concurrent = superstep, threads > 1
        failed = self._sweep(self.apply, ids, self._cut(ids, count, threads, self.gathered), threads, True)
        for k in range(self.copied.shape[0]):
            field = self.copied[k, 0]
            move_rows(self.view.vertex_next[field], ids, self.view.vertex[field], ids, count, self.copied[k, 1])
        return failed

    cdef Py_ssize_t _push(self, const int32_t *ids, int64_t count, int64_t edges) noexcept nogil:
        """Push scatter; return as `_apply`."""
        cdef int threads = self.threads if self.shared and edges + count > ALONE else 1, k
        if not self.push:
            return -1
        for k in range(threads):
            (<gl_view *> &self.views[k * sizeof(gl_view)]).concurrent = threads > 1
        return self._sweep(self.push, ids, self._cut(ids, count, threads, self.scattered), threads, False)

    cdef Py_ssize_t _cut(self, const int32_t *ids, int64_t count, int threads, int64_t directions) noexcept nogil:
        """Cut the frontier into blocks of similar work; return how many."""
        cdef int64_t i, load = 0, since = 0
        cdef Py_ssize_t k = 0
        self.bounds[0] = 0
        if threads > 1:
            for i in range(count):
                load += self._edges(ids + i, 1, directions)
                since += 1
                if load >= BLOCK_EDGES or since >= BLOCK_VERTICES:
                    k += 1
                    self.bounds[k] = i + 1
                    load = since = 0
        if self.bounds[k] < count:
            k += 1
            self.bounds[k] = count
        return k

    cdef Py_ssize_t _sweep(self, gl_range_fn call, const int32_t *ids, Py_ssize_t blocks, int threads,
                           bint applies) noexcept nogil:
        cdef Py_ssize_t b
        cdef gl_view *view
        if threads == 1:
            view = <gl_view *> &self.views[0]
            for b in range(blocks):
                self.failed[b] = self._block(view, call, ids, b, applies)
                if self.failed[b]:
                    return b
            return -1
        for b in prange(blocks, schedule="dynamic", chunksize=1, num_threads=threads):
            self.failed[b] = self._block(<gl_view *> &self.views[threadid() * sizeof(gl_view)], call, ids, b, applies)
        for b in range(blocks):
            if self.failed[b]:
                return b
        return -1

    cdef bint _block(self, gl_view *view, gl_range_fn call, const int32_t *ids, Py_ssize_t b,
                     bint applies) noexcept nogil:
        """Run one block; its vertices are no longer pending, and the messages that apply has read are reset."""
        cdef int64_t i, lo = self.bounds[b], hi = self.bounds[b + 1]
        cdef bint failed
        cdef gl_fault *fault = <gl_fault *> &self.faults[b, 0]
        if view.stop[0]:
            fault.code, fault.vertex, fault.site = view.stop[0], ids[lo], -1
            return True
        if applies and view.priority:
            for i in range(lo, hi):
                view.priority[ids[i]] = GL_NEVER
        failed = call(view, ids, lo, hi, NULL, fault)
        if applies and self.width:
            _forget(<char *> view.message, self.width, self.nothing, ids, lo, hi)
        return failed


include "messages.pxi"
include "rounds.pxi"
