"""Rows of different length: where they lie, and moving them.

Row v holds ``place[v, 1]`` values from value ``place[v, 0]`` of its data on. Values are moved as bytes.
"""

from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

cdef enum:
    AT_ONCE = 16  # values of a short run

ctypedef fused bits:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

ctypedef fused packed_bits:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def lay_out(int64_t[:, ::1] place, const int64_t[::1] room):
    """Place rows one behind the other, each with its room and no values yet; return the whole room."""
    cdef Py_ssize_t v
    cdef int64_t at = 0
    with nogil:
        for v in range(room.shape[0]):
            place[v, 0] = at
            place[v, 1] = 0
            at += room[v]
    return at


def total(const int64_t[:, ::1] place, const int32_t[::1] ids):
    """Return the values in the rows *ids*."""
    cdef Py_ssize_t i
    cdef int64_t n = 0
    with nogil:
        for i in range(ids.shape[0]):
            n += place[ids[i], 1]
    return n


def runs(const int64_t[:, ::1] place, const bits[::1] data, const int32_t[::1] ids):
    """Return how many runs of equal values the rows *ids* have, each row its own."""
    cdef int64_t begin, n, found = 0
    cdef int32_t mine, k
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            begin, n = place[ids[i], 0], place[ids[i], 1]
            mine = n > 0
            for k in range(1, <int32_t> n):
                mine += data[begin + k] != data[begin + k - 1]
            found += mine
    return found


def take(const int64_t[:, ::1] place, const bits[::1] data, const int32_t[::1] ids, int32_t[::1] lengths,
         packed_bits[::1] out):
    """Copy the rows *ids* one behind the other to *out*, and their lengths; return all values or-ed.

    The values of *out* may be narrower than those of *data*, which lose their upper bits.
    """
    cdef int64_t at = 0, begin, n, k
    cdef bits ored = 0
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            begin, n = place[ids[i], 0], place[ids[i], 1]
            lengths[i] = <int32_t> n
            for k in range(n):
                ored |= data[begin + k]
                out[at + k] = <packed_bits> data[begin + k]
            at += n
    return ored


def put(int64_t[:, ::1] place, bits[::1] data, const int32_t[::1] ids, const int32_t[::1] lengths,
        const packed_bits[::1] packed, bint behind):
    """Fill the rows *ids* with what `take` packed, *behind* the values that they have or in place of them."""
    cdef int64_t at = 0, begin, before, n, k
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            n = lengths[i]
            before = place[ids[i], 1] if behind else 0
            begin = place[ids[i], 0] + before
            place[ids[i], 1] = before + n
            if bits is packed_bits:
                if n:
                    memcpy(&data[begin], &packed[at], n * sizeof(bits))
            else:
                for k in range(n):
                    data[begin + k] = <bits> packed[at + k]
            at += n


def copy(const int64_t[:, ::1] place, data, int64_t[:, ::1] to_place, to_data, const int32_t[::1] ids):
    """Copy the rows *ids* to the rows of the same numbers in other data."""
    cdef const char *source = <const char *> PyArray_DATA(<ndarray> data)
    cdef char *to = <char *> PyArray_DATA(<ndarray> to_data)
    cdef int64_t size = data.itemsize
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            to_place[ids[i], 1] = place[ids[i], 1]
            memcpy(to + to_place[ids[i], 0] * size, source + place[ids[i], 0] * size, place[ids[i], 1] * size)


def differ(const int64_t[:, ::1] place, data, const int64_t[:, ::1] other_place, other_data,
           uint8_t[::1] out):
    """out[v] = whether row v has other values, by their bytes, than row v of other data."""
    cdef const char *one = <const char *> PyArray_DATA(<ndarray> data)
    cdef const char *other = <const char *> PyArray_DATA(<ndarray> other_data)
    cdef int64_t size = data.itemsize, n
    cdef Py_ssize_t v
    with nogil:
        for v in range(place.shape[0]):
            n = place[v, 1]
            out[v] = n != other_place[v, 1] or memcmp(
                one + place[v, 0] * size, other + other_place[v, 0] * size, n * size) != 0


def add_row_lengths(int64_t[::1] lengths, const int64_t[::1] begin, const int32_t[::1] ids):
    """lengths[i] += the length of row ids[i] of a CSR with row bounds *begin*."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            lengths[i] += begin[ids[i] + 1] - begin[ids[i]]


def find_runs(const bits[::1] values, bits[::1] of_runs, int32_t[::1] repeats):
    """Find the runs of equal values; return their number, -1 unless it is below the length of *repeats*.

    ``of_runs[r]`` is the value of run r and ``repeats[r]`` how often it stands there. The loop has no branch
    on values: where runs are short it would be predicted wrongly at each. The answer is -1, too, for more
    than 2**31 - 1 values.
    """
    cdef int64_t at, stop = 0, end = values.shape[0], last = -1, room = repeats.shape[0]
    cdef int32_t begin = 0, after
    if end > INT32_MAX:
        return -1
    with nogil:
        while stop < end and last + 1 < room:
            at, stop = stop, min(end, stop + room - 1 - last)  # were each value a run, there would be room
            for at in range(at, stop):
                last += at == 0 or values[at] != values[at - 1]
                of_runs[last] = values[at]
                repeats[last] = <int32_t> (at + 1)
        for at in range(last + 1):
            after = repeats[at]
            repeats[at] = after - begin
            begin = after
    return last + 1 if last + 1 < room else -1


def expand_runs(const bits[::1] of_runs, const int32_t[::1] repeats, bits[::1] values):
    """Write the values that `find_runs` found runs of; return whether they fill *values*."""
    cdef int64_t at = 0, r, k, left = values.shape[0]
    cdef bits value
    with nogil:
        for r in range(repeats.shape[0]):
            if not 0 <= repeats[r] <= left:
                break
            value = of_runs[r]
            if repeats[r] <= AT_ONCE <= left:  # what is too much is written over by the next runs
                for k in range(AT_ONCE):
                    values[at + k] = value
            else:
                for k in range(repeats[r]):
                    values[at + k] = value
            at += repeats[r]
            left -= repeats[r]
        else:
            r = -1
    return r == -1 and left == 0
