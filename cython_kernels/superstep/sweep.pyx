"""Drives a program's range functions over blocks of vertices, on threads.

A `View` is the `gl_view` of abi.h together with the arrays it points at; an interpreted
program reads its members from Python.
"""

import numpy as np

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from numpy cimport PyArray_DATA, import_array, ndarray

include "entry.pxi"

import_array()

cdef extern from "abi.h" nogil:
    enum: GL_ABI_VERSION
    enum: GL_FAULT_TIMEOUT
    enum: GL_FAULT_INTERRUPT
    ctypedef union gl_scalar:
        double f
        int64_t i
    ctypedef struct gl_scratch:
        void *work
    ctypedef struct gl_outbox:
        int64_t count
    ctypedef struct gl_view:
        int64_t num_vertices, num_edges, superstep, num_masters, num_local
        int64_t gather_edges, scatter_edges, concurrent, all_active, num_left
        uint64_t initial_fields, seed
        void *cache
        uint8_t *cached
        const uint8_t *changed
        const int64_t *gid
        const int64_t *degree
        const int64_t *in_degree
        const int64_t *out_degree
        const int64_t *in_begin
        const int32_t *in_neighbor
        const int64_t *out_begin
        const int32_t *out_neighbor
        const int32_t *out_slot
        void *const *vertex
        void *const *vertex_next
        void *const *edge
        void *const *edge_by_source
        const gl_scalar *param
        const gl_scalar *aggregate
        void *total
        const void *incoming
        const uint8_t *skip
        uint8_t *active
        const uint64_t *active_bits
        uint8_t *signalled
        uint8_t *signal_blocks
        void *message
        void *message_next
        int64_t *priority
        uint8_t *gather_way
        uint8_t *scatter_way
        void *delta
        uint8_t *touched
        uint8_t *touched_blocks
        const gl_scratch *scratch
        void *delta_forth
        void *delta_back
        int32_t *stop
        const int32_t *locate
        gl_outbox *outbox
    ctypedef struct gl_fault:
        int64_t code, vertex, site
    ctypedef int32_t (*gl_range_fn)(const gl_view *, const int32_t *, int64_t, int64_t,
                                    gl_scalar *, gl_fault *) noexcept

ABI_VERSION = GL_ABI_VERSION
TIMEOUT, INTERRUPT = GL_FAULT_TIMEOUT, GL_FAULT_INTERRUPT

cdef int32_t[2] _never  # the `stop` of a view that is never stopped


cdef void *_address(object array) except? NULL:
    return NULL if array is None else PyArray_DATA(<ndarray> array)


cdef class View:
    """The arrays and numbers that a program's phases read and write. Set a member as an attribute.

    ``vertex``, ``vertex_next``, ``edge`` and ``edge_by_source`` are lists of arrays, one per field; ``param`` and
    ``aggregate`` are arrays of eight-byte scalars.
    """

    cdef gl_view c
    cdef dict _members, _pointers

    def __cinit__(self):
        self._members = {}
        self._pointers = {}
        self.c.stop = _never

    @property
    def address(self):
        """The address of the ``gl_view``."""
        return <size_t> &self.c

    def __getattr__(self, str name):
        try:
            return self._members[name]
        except KeyError:
            raise AttributeError(name) from None

    def __setattr__(self, str name, value):
        self._members[name] = value
        if name in ("vertex", "vertex_next", "edge", "edge_by_source"):
            table = np.zeros(max(len(value), 1), dtype=np.uintp)
            for k, a in enumerate(value):
                if isinstance(a, np.ndarray):
                    table[k] = <size_t> PyArray_DATA(<ndarray> a)
                elif a is not None:  # rows of lists
                    table[k] = a.ctypes.data
            self._pointers[name] = table
            self._set_table(name, _address(table))
        elif value is None or isinstance(value, np.ndarray):
            self._set_array(name, _address(value))
        elif hasattr(value, "table"):  # Rows of lists, Outboxes
            self._set_array(name, _address(value.table))
        else:
            self._set_number(name, value)

    cdef _set_table(self, str name, void *address):
        if name == "vertex":
            self.c.vertex = <void *const *> address
        elif name == "vertex_next":
            self.c.vertex_next = <void *const *> address
        elif name == "edge":
            self.c.edge = <void *const *> address
        else:
            self.c.edge_by_source = <void *const *> address

    cdef _set_array(self, str name, void *p):
        if name == "gid":
            self.c.gid = <const int64_t *> p
        elif name == "degree":
            self.c.degree = <const int64_t *> p
        elif name == "in_degree":
            self.c.in_degree = <const int64_t *> p
        elif name == "out_degree":
            self.c.out_degree = <const int64_t *> p
        elif name == "in_begin":
            self.c.in_begin = <const int64_t *> p
        elif name == "in_neighbor":
            self.c.in_neighbor = <const int32_t *> p
        elif name == "out_begin":
            self.c.out_begin = <const int64_t *> p
        elif name == "out_neighbor":
            self.c.out_neighbor = <const int32_t *> p
        elif name == "out_slot":
            self.c.out_slot = <const int32_t *> p
        elif name == "param":
            self.c.param = <const gl_scalar *> p
        elif name == "aggregate":
            self.c.aggregate = <const gl_scalar *> p
        elif name == "total":
            self.c.total = p
        elif name == "cache":
            self.c.cache = p
        elif name == "cached":
            self.c.cached = <uint8_t *> p
        elif name == "changed":
            self.c.changed = <const uint8_t *> p
        elif name == "incoming":
            self.c.incoming = p
        elif name == "skip":
            self.c.skip = <const uint8_t *> p
        elif name == "active":
            self.c.active = <uint8_t *> p
        elif name == "active_bits":
            self.c.active_bits = <const uint64_t *> p
        elif name == "signalled":
            self.c.signalled = <uint8_t *> p
        elif name == "signal_blocks":
            self.c.signal_blocks = <uint8_t *> p
        elif name == "message":
            self.c.message = p
        elif name == "message_next":
            self.c.message_next = p
        elif name == "priority":
            self.c.priority = <int64_t *> p
        elif name == "gather_way":
            self.c.gather_way = <uint8_t *> p
        elif name == "scatter_way":
            self.c.scatter_way = <uint8_t *> p
        elif name == "delta":
            self.c.delta = p
        elif name == "touched":
            self.c.touched = <uint8_t *> p
        elif name == "touched_blocks":
            self.c.touched_blocks = <uint8_t *> p
        elif name == "scratch":
            self.c.scratch = <const gl_scratch *> p
        elif name == "delta_forth":
            self.c.delta_forth = p
        elif name == "delta_back":
            self.c.delta_back = p
        elif name == "locate":
            self.c.locate = <const int32_t *> p
        elif name == "stop":
            self.c.stop = <int32_t *> p
        elif name == "outbox":
            self.c.outbox = <gl_outbox *> p
        else:
            raise AttributeError(name)

    cdef _set_number(self, str name, value):
        if name == "num_vertices":
            self.c.num_vertices = value
        elif name == "num_edges":
            self.c.num_edges = value
        elif name == "superstep":
            self.c.superstep = value
        elif name == "num_masters":
            self.c.num_masters = value
        elif name == "num_local":
            self.c.num_local = value
        elif name == "gather_edges":
            self.c.gather_edges = value
        elif name == "scatter_edges":
            self.c.scatter_edges = value
        elif name == "initial_fields":
            self.c.initial_fields = value
        elif name == "concurrent":
            self.c.concurrent = value
        elif name == "seed":
            self.c.seed = value
        elif name == "all_active":
            self.c.all_active = value
        elif name == "num_left":
            self.c.num_left = value
        else:
            raise AttributeError(name)


def run(View view, size_t function, const int64_t[::1] blocks, list_, out, int threads):
    """Call a range function for each block [blocks[b], blocks[b+1]).

    *list_* is an int32 array of local ids, or None for the identity; *out* an int64 array
    [blocks, aggregators] of scalars holding identities, or None. Returns None, or the first
    block's fault as (code, local vertex, site); where the view's ``stop`` was seen between two blocks, site is -1
    and *local vertex* the position at which the next block begins.
    """
    cdef gl_range_fn call = <gl_range_fn> function
    cdef const gl_view *c = &view.c
    cdef Py_ssize_t count = blocks.shape[0] - 1, b, width = 0
    cdef const int32_t *ids = <const int32_t *> _address(list_)
    cdef gl_scalar *partial = <gl_scalar *> _address(out)
    cdef gl_fault[1] fault
    cdef const int64_t *bound
    cdef uint8_t[::1] failed
    cdef gl_fault *faults
    cdef gl_view *view_of
    cdef int32_t *stop = view.c.stop
    cdef int t
    if count <= 0:
        return None
    bound = &blocks[0]
    if out is not None:
        width = out.shape[1]
    if threads == 1 or count == 1:
        b = fault[0].code = 0
        enter(stop)
        with nogil:
            while b < count and not stop[0]:
                if call(c, ids, bound[b], bound[b + 1], partial + b * width if partial else NULL, fault):
                    break
                b += 1
            stop[1] = 0
        if not fault[0].code and (stop[0] == GL_FAULT_INTERRUPT or (b < count and stop[0])):
            return stop[0], bound[min(b, count - 1)], -1
        return (fault[0].code, fault[0].vertex, fault[0].site) if fault[0].code else None
    fault_table = np.zeros((count, 3), dtype=np.int64)
    failed = np.zeros(count, dtype=np.uint8)
    faults = <gl_fault *> _address(fault_table)
    views = np.empty(threads * sizeof(gl_view), dtype=np.uint8)
    view_of = <gl_view *> _address(views)
    for t in range(threads):  # each thread has its own scratch and outbox
        view_of[t] = view.c
        if view.c.scratch is not NULL:
            view_of[t].scratch = view.c.scratch + t
        if view.c.outbox is not NULL:
            view_of[t].outbox = view.c.outbox + t
    enter(stop)
    for b in prange(count, nogil=True, schedule="dynamic", chunksize=1, num_threads=threads):
        failed[b] = 0 if stop[0] else call(view_of + threadid(), ids, bound[b], bound[b + 1], partial + b * width if partial else NULL, faults + b)
    stop[1] = 0
    which = np.flatnonzero(failed)
    if which.size:
        return tuple(fault_table[which[0]].tolist())
    return (stop[0], bound[0], -1) if stop[0] else None
