"""Remote signals, to vertices without a replica on this rank: each thread keeps its own until they are sent.

A program's range functions write them (`gl_outbox` in abi.h), and call `grow` when the room is used up.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

include "abi.pxi"

cdef enum:
    FIRST = 1 << 10


cdef int32_t _grow(gl_outbox *box) noexcept nogil:
    """Double the room of an outbox; return 1 where there is no memory for it."""
    cdef int64_t room = 2 * box.room if box.room else FIRST
    cdef void *records = realloc(box.records, room * box.size)
    if not records:
        return 1
    box.records = <char *> records
    box.room = room
    return 0


cdef class Outboxes:
    """One outbox for each of *threads* threads, for records of *size* bytes."""

    cdef gl_outbox *boxes
    cdef int threads
    cdef readonly object table

    def __cinit__(self, int threads, int64_t size):
        cdef int t
        self.table = np.zeros(threads * sizeof(gl_outbox), dtype=np.uint8)
        self.boxes = <gl_outbox *> PyArray_DATA(<ndarray> self.table)
        self.threads = threads
        for t in range(threads):
            self.boxes[t].size = size
            self.boxes[t].grow = _grow

    def __dealloc__(self):
        cdef int t
        for t in range(self.threads):
            free(self.boxes[t].records)

    def add(self, record):
        """Append a record, an array of one element."""
        cdef gl_outbox *box = &self.boxes[0]
        if box.count == box.room and _grow(box):
            raise MemoryError
        memcpy(box.records + box.count * box.size, PyArray_DATA(<ndarray> record), box.size)
        box.count += 1

    def take_bytes(self, int first, int step):
        """Return the bytes of boxes *first*, *first* + *step*, …, one array each, and empty these."""
        cdef int t
        found = []
        for t in range(first, self.threads, step):
            records = np.empty(self.boxes[t].count * self.boxes[t].size, dtype=np.uint8)
            if self.boxes[t].count:
                memcpy(PyArray_DATA(<ndarray> records), self.boxes[t].records, records.size)
                found.append(records)
            self.boxes[t].count = 0
        return found

    def take(self):
        """Return the bytes of all records, those of the first thread first, and empty the outboxes."""
        cdef int64_t total = 0
        cdef char *out
        cdef int t
        for t in range(self.threads):
            total += self.boxes[t].count * self.boxes[t].size
        records = np.empty(total, dtype=np.uint8)
        out = <char *> PyArray_DATA(<ndarray> records)
        for t in range(self.threads):
            if self.boxes[t].count:
                memcpy(out, self.boxes[t].records, self.boxes[t].count * self.boxes[t].size)
            out += self.boxes[t].count * self.boxes[t].size
            self.boxes[t].count = 0
        return records
