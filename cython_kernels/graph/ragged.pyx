"""Rows of different length: where they lie, and moving them.

Row v holds ``place[v, 1]`` values from value ``place[v, 0]`` of its data on. Values are moved as bytes.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

cdef extern from *:
    int __builtin_ctzll(unsigned long long) noexcept nogil

cdef enum:
    AT_ONCE = 32  # values of a short run

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


def lists_in(const uint8_t[::1] box):
    """Return where the lists of a ``gl_scratch.grown`` begin, of which vertices they are, and their lengths."""
    cdef int64_t head[3]
    cdef int64_t at, found, size = box.shape[0]
    cdef int64_t[::1] begin, lengths
    cdef int32_t[::1] ids
    cdef int fill
    begin, lengths, ids = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0, np.int32)
    for fill in range(2):  # first counts
        with nogil:
            at = found = 0
            while at < size:
                memcpy(head, &box[at], sizeof(head))
                if head[0] >= 0:
                    if fill:
                        begin[found], lengths[found] = at + <int64_t> sizeof(head), head[1]
                        ids[found] = <int32_t> head[0]
                    found += 1
                at += head[2]
        if not fill:
            begin, lengths = np.empty(found, np.int64), np.empty(found, np.int64)
            ids = np.empty(found, np.int32)
    return np.asarray(begin), np.asarray(ids), np.asarray(lengths)


def put_lists(int64_t[:, ::1] place, data, const uint8_t[::1] box, const int64_t[::1] begin,
              const int32_t[::1] ids, const int64_t[::1] lengths):
    """Fill the rows *ids* with the lists of that *box* that begin there."""
    cdef char *to = <char *> PyArray_DATA(<ndarray> data)
    cdef int64_t size = data.itemsize
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            place[ids[i], 1] = lengths[i]
            if lengths[i]:
                memcpy(to + place[ids[i], 0] * size, &box[begin[i]], lengths[i] * size)


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


cdef uint64_t _ends(const bits *row, int64_t n) noexcept nogil:
    """Return as bits which of n values, at most 64, are others than those before them."""
    cdef uint8_t other[64]
    cdef uint64_t eight, ends = 0
    cdef int64_t j
    memset(other, 0, 64)
    for j in range(n):
        other[j] = row[j] != row[j - 1]
    for j in range(8):
        memcpy(&eight, other + 8 * j, 8)
        ends |= eight * <uint64_t> 0x0102040810204080 >> 56 << 8 * j  # byte k of eight to bit k
    return ends


cdef int64_t _runs_of_row(const bits *row, int64_t n, packed_bits *of_runs, int32_t *repeats, int64_t room) \
        noexcept nogil:
    """Write the runs of a row of n values, which is not empty; return how many, -1 for more than *room*.

    Their ends are found 64 values at a time: a branch at each value, or each end, would be predicted wrongly.
    """
    cdef uint64_t ends
    cdef int64_t start = 0, k, end, found = 0
    for k in range(1, n, 64):
        ends = _ends(row + k, min(n - k, 64))
        while ends:
            end = k + __builtin_ctzll(ends)
            ends &= ends - 1
            if found + 1 >= room:  # of which the last has one
                return -1
            of_runs[found] = <packed_bits> row[start]
            repeats[found] = <int32_t> (end - start)
            found += 1
            start = end
    if found >= room:
        return -1
    of_runs[found] = <packed_bits> row[start]
    repeats[found] = <int32_t> (n - start)
    return found + 1


def take_runs(const int64_t[:, ::1] place, const bits[::1] data, const int32_t[::1] ids, int32_t[::1] lengths,
              packed_bits[::1] of_runs, int32_t[::1] repeats):
    """Write the runs of equal values in the rows *ids*, each row its own, and the rows' lengths.

    ``of_runs[r]`` is the value of run r, narrowed as by `take`, and ``repeats[r]`` how often it stands there.
    Returns how many runs there are, -1 for more than there is room for, and all values or-ed.
    """
    cdef int64_t n, found, runs = 0, room = repeats.shape[0], k
    cdef const bits *row
    cdef bits ored = 0
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            n = place[ids[i], 1]
            lengths[i] = <int32_t> n
            if n == 0:
                continue
            row = &data[place[ids[i], 0]]
            found = -1
            if runs < room:
                found = _runs_of_row(row, n, &of_runs[runs], &repeats[runs], room - runs)
            if found < 0:
                runs = -1
                break
            for k in range(n):
                ored |= row[k]
            runs += found
    return runs, ored


def put_runs(int64_t[:, ::1] place, bits[::1] data, const int32_t[::1] ids, const int32_t[::1] lengths,
             const packed_bits[::1] of_runs, const int32_t[::1] repeats, bint behind):
    """Fill the rows *ids* with the values of runs, as `put` does; return whether the runs fill all rows."""
    cdef int64_t at, left, before, k, r = 0, runs = repeats.shape[0]
    cdef bits value
    cdef Py_ssize_t i
    with nogil:
        for i in range(ids.shape[0]):
            left = lengths[i]
            before = place[ids[i], 1] if behind else 0
            at = place[ids[i], 0] + before
            place[ids[i], 1] = before + left
            while left > 0 and r < runs and 0 < repeats[r] <= left:
                value = <bits> of_runs[r]
                if repeats[r] <= AT_ONCE <= left:  # what is too much is written over by the next runs
                    for k in range(AT_ONCE):
                        data[at + k] = value
                else:
                    for k in range(repeats[r]):
                        data[at + k] = value
                at += repeats[r]
                left -= repeats[r]
                r += 1
            if left > 0:
                r = -1
                break
    return r == runs
