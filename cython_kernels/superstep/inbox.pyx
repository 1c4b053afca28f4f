"""Messages that are collected: sorted by their vertices, whose rows they become."""

import numpy as np

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()


cdef void _copy(char *to, const char *value, int64_t size) noexcept nogil:
    """Copy one value; the usual sizes without a call."""
    if size == 4:
        memcpy(to, value, 4)
    elif size == 8:
        memcpy(to, value, 8)
    elif size == 16:
        memcpy(to, value, 16)
    else:
        memcpy(to, value, size)


def fill_rows(int64_t[:, ::1] place, const int32_t[::1] located, records, int64_t offset, out,
              int32_t[::1] targets):
    """Put the message of every record into *out*, in the row of its vertex; return the longest row.

    A record begins with the global id of its vertex, an int64, and has the message *offset* bytes behind; one to
    ``-1 - id`` has none. *located* is the row of each global id. All rows of *place* are empty before; those that
    get messages are laid out one behind the other, by their first. *targets* becomes the row of each record.
    """
    cdef const char *record = <const char *> PyArray_DATA(<ndarray> records)
    cdef char *data = <char *> PyArray_DATA(<ndarray> out)
    cdef int64_t step = records.itemsize, size = out.itemsize, n = targets.shape[0]
    cdef int64_t i, to, at = 0, longest = 0, found = 0
    cdef int32_t t
    cdef int32_t[::1] touched = np.empty(n, np.int32)
    with nogil:
        for i in range(n):
            memcpy(&to, record + i * step, 8)
            t = targets[i] = located[to if to >= 0 else -1 - to]
            if to >= 0:
                if not place[t, 1]:
                    touched[found] = t
                    found += 1
                place[t, 1] += 1
        for i in range(found):
            t = touched[i]
            place[t, 0] = at
            at += place[t, 1]
            longest = max(longest, place[t, 1])
            place[t, 1] = 0
        for i in range(n):
            memcpy(&to, record + i * step, 8)
            if to >= 0:
                t = targets[i]
                _copy(data + (place[t, 0] + place[t, 1]) * size, record + i * step + offset, size)
                place[t, 1] += 1
    return longest
