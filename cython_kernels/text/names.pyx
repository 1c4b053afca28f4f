"""Many byte strings at once: interning, sorting, searching, copying.

A set of names is an arena of bytes and the starts of the names in it: name i is
``arena[start[i]:start[i + 1]]``. Every arena has 8 bytes of padding that a hash may read.
"""

from libc.stdint cimport int64_t, uint8_t, uint64_t
from libc.string cimport memcmp, memcpy

import numpy as np

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object text, Py_ssize_t *length) except NULL
    object PyUnicode_DecodeUTF8(const char *text, Py_ssize_t length, const char *errors)

cdef extern from "names.h" nogil:
    ctypedef struct gl_names:
        uint8_t *arena
        int64_t *start
        uint64_t *slot
        int64_t mask
        int64_t count
    uint64_t gl_load8(const uint8_t *p)
    uint64_t gl_hash_bytes(const uint8_t *p, int64_t length)
    void gl_place(gl_names *names, uint64_t hash, int64_t index)
    int64_t gl_intern(gl_names *names, const uint8_t *text, int64_t length)

cdef extern from *:
    """
    #define gl_swap8 __builtin_bswap64
    """
    uint64_t gl_swap8(uint64_t word) nogil

PADDING = 8


def place(uint8_t[::1] arena, int64_t[::1] start, int64_t count, uint64_t[::1] slot):
    """Fill empty slots (a power of two, at most half of them needed) with the first *count* names."""
    cdef gl_names names
    cdef int64_t i
    names.arena, names.start, names.slot = &arena[0], &start[0], &slot[0]
    names.mask, names.count = slot.shape[0] - 1, count
    with nogil:
        for i in range(count):
            gl_place(&names, gl_hash_bytes(&arena[start[i]], start[i + 1] - start[i]), i)


def intern(
    uint8_t[::1] arena, int64_t[::1] start, uint64_t[::1] slot, int64_t count,
    const uint8_t[::1] new_arena, const int64_t[::1] new_start,
):
    """Add the new names to a table that has room for all; return (index of each, names in the table now)."""
    cdef gl_names names
    cdef int64_t i, n = new_start.shape[0] - 1
    index_array = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] index = index_array
    names.arena, names.start, names.slot = &arena[0], &start[0], &slot[0]
    names.mask, names.count = slot.shape[0] - 1, count
    with nogil:
        for i in range(n):
            index[i] = gl_intern(&names, &new_arena[new_start[i]], new_start[i + 1] - new_start[i])
    return index_array, names.count


cdef inline uint64_t _head(const uint8_t *p, int64_t length) noexcept nogil:
    """The first eight bytes as a number that orders as they do; shorter names are filled up with zeros."""
    if length <= 0:
        return 0
    cdef uint64_t word = gl_swap8(gl_load8(p))
    return word if length >= 8 else word >> (64 - 8 * length) << (64 - 8 * length)


cdef inline int _compare(const uint8_t *a, int64_t length_a, const uint8_t *b, int64_t length_b) noexcept nogil:
    cdef int sign = memcmp(a, b, min(length_a, length_b))
    return sign if sign else (length_a > length_b) - (length_a < length_b)


cdef inline bint _after(
    uint64_t head_a, int64_t a, uint64_t head_b, int64_t b, const uint8_t *arena, const int64_t *start
) noexcept nogil:
    """Whether name a comes after name b."""
    if head_a != head_b:
        return head_a > head_b
    return _compare(arena + start[a], start[a + 1] - start[a], arena + start[b], start[b + 1] - start[b]) > 0


def sort(const uint8_t[::1] arena, const int64_t[::1] start):
    """Return int64 indices that put the names in bytewise order; equal names keep theirs.

    A merge sort of (first eight bytes, index): most comparisons never look at the arena.
    """
    cdef int64_t n = start.shape[0] - 1, i, lo, mid, hi, width, a, b, out
    order_array = np.arange(n, dtype=np.int64)
    if n < 2:
        return order_array
    cdef int64_t[::1] order = order_array, other = np.empty(n, dtype=np.int64), spare
    cdef uint64_t[::1] head = np.empty(n, dtype=np.uint64), other_head = np.empty(n, dtype=np.uint64), spare_head
    cdef int64_t index
    cdef uint64_t first
    cdef int moves = 0
    with nogil:
        for i in range(n):
            head[i] = _head(&arena[start[i]], start[i + 1] - start[i])
        for lo in range(0, n, 16):                     # insertion sort of short runs
            for i in range(lo + 1, min(lo + 16, n)):
                index, first, a = order[i], head[i], i
                while a > lo and _after(head[a - 1], order[a - 1], first, index, &arena[0], &start[0]):
                    order[a], head[a] = order[a - 1], head[a - 1]
                    a -= 1
                order[a], head[a] = index, first
        width = 16
        while width < n:
            lo = 0
            while lo < n:
                mid, hi = min(lo + width, n), min(lo + 2 * width, n)
                a, b = lo, mid
                for out in range(lo, hi):
                    if b == hi or (
                        a < mid and not _after(head[a], order[a], head[b], order[b], &arena[0], &start[0])
                    ):
                        other[out], other_head[out] = order[a], head[a]
                        a += 1
                    else:
                        other[out], other_head[out] = order[b], head[b]
                        b += 1
                lo = hi
            with gil:
                order, other = other, order
                head, other_head = other_head, head
            width *= 2
    return np.asarray(order)


def number_sorted(const uint8_t[::1] arena, const int64_t[::1] start, const int64_t[::1] order):
    """Return (for each name, its number among the distinct ones; where in *order* each distinct one starts)."""
    cdef int64_t n = order.shape[0], i, a, b, total = -1
    number_array = np.empty(n, dtype=np.int64)
    first_array = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] number = number_array, first = first_array
    with nogil:
        for i in range(n):
            b = order[i]
            a = order[i - 1] if i else b
            if i == 0 or start[a + 1] - start[a] != start[b + 1] - start[b] or memcmp(
                &arena[start[a]], &arena[start[b]], start[b + 1] - start[b]
            ) != 0:
                total += 1
                first[total] = i
            number[b] = total
    return number_array, first_array[: total + 1]


def take(const uint8_t[::1] arena, const int64_t[::1] start, const int64_t[::1] which):
    """Return (arena, start) of the chosen names."""
    cdef int64_t n = which.shape[0], i, length
    start_array = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t[::1] taken_start = start_array
    with nogil:
        for i in range(n):
            taken_start[i + 1] = taken_start[i] + start[which[i] + 1] - start[which[i]]
    arena_array = np.empty(taken_start[n] + 8, dtype=np.uint8)
    cdef uint8_t[::1] taken = arena_array
    with nogil:
        for i in range(n):
            length = start[which[i] + 1] - start[which[i]]
            memcpy(&taken[taken_start[i]], &arena[start[which[i]]], length)
    arena_array[taken_start[n]:] = 0
    return arena_array, start_array


def search(const uint8_t[::1] arena, const int64_t[::1] start, bytes name):
    """Return where *name* belongs among sorted names: the first position not before it."""
    cdef int64_t lo = 0, hi = start.shape[0] - 1, mid
    cdef const uint8_t *text = name
    cdef int64_t length = len(name)
    while lo < hi:
        mid = (lo + hi) // 2
        if _compare(&arena[start[mid]], start[mid + 1] - start[mid], text, length) < 0:
            lo = mid + 1
        else:
            hi = mid
    return lo


def find(const uint8_t[::1] arena, const int64_t[::1] start, wanted):
    """Return int64 positions of *wanted*, bytes, among sorted names; -1 for those not there."""
    cdef int64_t n = start.shape[0] - 1, at
    found_array = np.empty(len(wanted), dtype=np.int64)
    cdef int64_t[::1] found = found_array
    cdef Py_ssize_t i
    cdef const uint8_t *text
    for i, name in enumerate(wanted):
        at = search(arena, start, name)
        text = <bytes> name
        if at == n or _compare(&arena[start[at]], start[at + 1] - start[at], text, len(name)) != 0:
            at = -1
        found[i] = at
    return found_array


def hash_sum(const uint8_t[::1] arena, const int64_t[::1] start):
    """Return the sum, modulo 2**64, of a hash of each name."""
    cdef int64_t i
    cdef uint64_t total = 0
    with nogil:
        for i in range(start.shape[0] - 1):
            total += gl_hash_bytes(&arena[start[i]], start[i + 1] - start[i])
    return int(total)


def decode(const uint8_t[::1] arena, const int64_t[::1] start):
    """Return the names as an object array of str."""
    cdef int64_t n = start.shape[0] - 1, i
    names = np.empty(n, dtype=object)
    cdef object[::1] out = names
    for i in range(n):
        out[i] = PyUnicode_DecodeUTF8(<const char *> &arena[start[i]], start[i + 1] - start[i], NULL)
    return names


def encode(list strings):
    """Return (arena, start) of Python strings as UTF-8."""
    cdef Py_ssize_t n = len(strings), i, length
    start_array = np.zeros(n + 1, dtype=np.int64)
    cdef int64_t[::1] start = start_array
    cdef const char *text
    for i in range(n):
        PyUnicode_AsUTF8AndSize(strings[i], &length)
        start[i + 1] = start[i] + length
    arena_array = np.zeros(start[n] + 8, dtype=np.uint8)
    cdef uint8_t[::1] arena = arena_array
    for i in range(n):
        text = PyUnicode_AsUTF8AndSize(strings[i], &length)
        memcpy(&arena[start[i]], text, length)
    return arena_array, start_array
