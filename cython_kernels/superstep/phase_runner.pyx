"""Drives a program's range functions over blocks of vertices, on threads.

A `View` is the `gl_view` of abi.h together with the arrays it points at; an interpreted
program reads its members from Python.
"""

import operator

import numpy as np

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from numpy cimport PyArray_DATA, import_array, ndarray

include "abi.pxi"
include "entry.pxi"

import_array()

cdef extern from *:
    """
    #include <stddef.h>
    #include "abi.h"
    #define NUMBER(member) {#member, offsetof(gl_view, member), 1}
    #define ARRAY(member) {#member, offsetof(gl_view, member), 0}
    static const struct gl_member { const char *name; size_t offset; int number; } gl_members[] = {
        NUMBER(num_vertices), NUMBER(num_edges), NUMBER(num_masters), NUMBER(num_local), NUMBER(num_left),
        NUMBER(gather_edges), NUMBER(scatter_edges), NUMBER(superstep), NUMBER(seed), NUMBER(initial_fields),
        NUMBER(concurrent), NUMBER(all_active),
        ARRAY(gid), ARRAY(degree), ARRAY(in_degree), ARRAY(out_degree), ARRAY(in_begin), ARRAY(in_neighbor),
        ARRAY(out_begin), ARRAY(out_neighbor), ARRAY(out_slot), ARRAY(vertex), ARRAY(vertex_next), ARRAY(edge),
        ARRAY(edge_by_source), ARRAY(param), ARRAY(aggregate), ARRAY(total), ARRAY(incoming), ARRAY(skip),
        ARRAY(active), ARRAY(active_bits), ARRAY(signalled), ARRAY(signal_blocks), ARRAY(message),
        ARRAY(message_next), ARRAY(priority), ARRAY(gather_way), ARRAY(scatter_way), ARRAY(delta),
        ARRAY(touched), ARRAY(touched_blocks), ARRAY(cache), ARRAY(cached), ARRAY(changed), ARRAY(stop),
        ARRAY(scratch), ARRAY(delta_forth), ARRAY(delta_back), ARRAY(locate), ARRAY(outbox),
        ARRAY(shared)};
    enum { GL_MEMBERS = sizeof gl_members / sizeof *gl_members };
    _Static_assert(sizeof(gl_view) == 8 * GL_MEMBERS, "a member of gl_view is missing, or is not of 8 bytes");
    """
    struct gl_member:
        const char *name
        size_t offset
        int number
    enum: GL_MEMBERS
    const gl_member[1] gl_members

ABI_VERSION = GL_ABI_VERSION
TIMEOUT, INTERRUPT = GL_FAULT_TIMEOUT, GL_FAULT_INTERRUPT
cdef dict _PLACES = {  # of a view's members by name: offset, and whether it is a number
    gl_members[k].name.decode(): (gl_members[k].offset, bool(gl_members[k].number)) for k in range(GL_MEMBERS)}

cdef int32_t[2] _never  # the `stop` of a view that is never stopped


cdef void *_address(object array) except? NULL:
    return NULL if array is None else PyArray_DATA(<ndarray> array)


cdef class View:
    """The arrays and numbers that a program's phases read and write. Set a member as an attribute.

    ``vertex``, ``vertex_next``, ``edge`` and ``edge_by_source`` are lists of arrays, one per field, ``shared`` is
    one of the arrays from outside; ``param`` and ``aggregate`` are arrays of eight-byte scalars.
    """

    cdef gl_view c
    cdef dict _members, _tables

    def __cinit__(self):
        self._members = {}
        self._tables = {}
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
        cdef size_t offset
        if name not in _PLACES:
            raise AttributeError(name)
        offset, number = _PLACES[name]
        self._members[name] = value
        if number:
            self._set(offset, operator.index(value) & 0xFFFFFFFFFFFFFFFF)
        elif name in ("vertex", "vertex_next", "edge", "edge_by_source", "shared"):
            table = np.zeros(max(len(value), 1), dtype=np.uintp)
            for k, a in enumerate(value):
                if isinstance(a, np.ndarray):
                    table[k] = <size_t> PyArray_DATA(<ndarray> a)
                elif a is not None:  # rows of lists
                    table[k] = a.ctypes.data
            self._tables[name] = table
            self._set(offset, <size_t> _address(table))
        elif value is None or isinstance(value, np.ndarray):
            self._set(offset, <size_t> _address(value))
        else:  # Rows of lists, Outboxes
            self._set(offset, <size_t> _address(value.table))

    cdef _set(self, size_t offset, uint64_t value):
        (<uint64_t *> (<char *> &self.c + offset))[0] = value


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
