"""Looks up fields of vertices by global id: on this rank at once, elsewhere by requests."""

import numpy as np

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from numpy cimport PyArray_DATA, import_array, ndarray

import_array()

cdef enum:
    PARALLEL = 1 << 14  # lookups of one thread
    NOBODY = -1         # a place: the id is no vertex's
    ELSEWHERE = -2      # a place: another rank's; then this less the position of its value among those received


cdef int32_t _place(int64_t id, const int32_t *located, int64_t vertices, int64_t masters) noexcept nogil:
    cdef int32_t at
    if id < 0 or id >= vertices:
        return NOBODY
    at = located[id]
    return at if 0 <= at < masters else ELSEWHERE


cdef const int32_t *_ids(list_) except? NULL:
    return NULL if list_ is None else <int32_t *> PyArray_DATA(<ndarray> list_)


def places(const int64_t[::1] link, list_, const int32_t[::1] located, int64_t masters, int threads):
    """Return the places of the vertices that *link* names at the masters *list_* (int32; None is all).

    A place is the local id of a master here, NOBODY or ELSEWHERE. *located* is `LocalGraph.located`.
    """
    cdef int64_t n = masters if list_ is None else list_.shape[0], i
    cdef const int32_t *ids = _ids(list_)
    found = np.empty(n, dtype=np.int32)
    cdef int32_t *out = <int32_t *> PyArray_DATA(<ndarray> found)
    cdef const int32_t *at = &located[0] if located.shape[0] else NULL
    cdef const int64_t *named = &link[0] if link.shape[0] else NULL
    for i in prange(n, nogil=True, num_threads=threads if n > PARALLEL else 1, schedule="static"):
        out[i] = _place(named[ids[i] if ids else i], at, located.shape[0], masters)
    return found


def requests(const int64_t[::1] link, list_, const int32_t[::1] located, const int32_t[::1] owner_of_mirror,
             int64_t masters, int32_t[::1] slot, int32_t[::1] place, int ranks):
    """Give a number to each vertex whose place is ELSEWHERE; return their ids and where each rank's end.

    The ids (int64) are in the order of the ranks that have the masters, each once; *place* becomes ELSEWHERE
    less the position there. *slot* (int32 by global id) is -1 everywhere, before and after.
    """
    cdef int64_t n = place.shape[0], i, id
    cdef int32_t at
    cdef int owner
    cdef const int32_t *ids = _ids(list_)
    owners = np.zeros(ranks + 1, dtype=np.int64)
    cdef int64_t[::1] end = owners
    cdef int64_t[::1] wanted
    with nogil:
        for i in range(n):
            if place[i] == ELSEWHERE:
                id = link[ids[i] if ids else i]
                if slot[id] < 0:
                    at = located[id]
                    owner = -1 - at if at < 0 else owner_of_mirror[at - masters]
                    slot[id] = <int32_t> end[owner + 1]
                    end[owner + 1] += 1
        for owner in range(ranks):
            end[owner + 1] += end[owner]
    wanted_ids = np.empty(end[ranks], dtype=np.int64)
    wanted = wanted_ids
    with nogil:
        for i in range(n):
            if place[i] == ELSEWHERE:
                id = link[ids[i] if ids else i]
                at = located[id]
                owner = -1 - at if at < 0 else owner_of_mirror[at - masters]
                wanted[end[owner] + slot[id]] = id
                place[i] = <int32_t> (ELSEWHERE - end[owner] - slot[id])
        for i in range(wanted.shape[0]):
            slot[wanted[i]] = -1
    return wanted_ids, owners[1:]


ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef void _fill(const word *values, const word *received, word nobody, const int32_t *place, const int32_t *ids,
                int64_t n, word *out, int threads) noexcept nogil:
    cdef int64_t i
    for i in prange(n, num_threads=threads if n > PARALLEL else 1, schedule="static"):
        out[ids[i] if ids else i] = (values[place[i]] if place[i] >= 0 else
                                     nobody if place[i] == NOBODY else received[ELSEWHERE - place[i]])


def fill(values, received, nobody, const int32_t[::1] place, list_, out, int threads):
    """out[list_] = the values at these places: of masters here, or *received*; *nobody* for NOBODY.

    All are arrays of one dtype of 1, 2, 4 or 8 bytes, *nobody* of one element.
    """
    cdef int64_t n = place.shape[0]
    cdef const int32_t *ids = _ids(list_)
    cdef const int32_t *at = &place[0] if n else NULL
    cdef void *a = PyArray_DATA(<ndarray> values)
    cdef void *b = PyArray_DATA(<ndarray> received)
    cdef void *c = PyArray_DATA(<ndarray> nobody)
    cdef void *o = PyArray_DATA(<ndarray> out)
    cdef int size = values.itemsize
    assert out.itemsize == size == received.itemsize == nobody.itemsize
    with nogil:
        if size == 8:
            _fill[uint64_t](<uint64_t *> a, <uint64_t *> b, (<uint64_t *> c)[0], at, ids, n, <uint64_t *> o, threads)
        elif size == 4:
            _fill[uint32_t](<uint32_t *> a, <uint32_t *> b, (<uint32_t *> c)[0], at, ids, n, <uint32_t *> o, threads)
        elif size == 2:
            _fill[uint16_t](<uint16_t *> a, <uint16_t *> b, (<uint16_t *> c)[0], at, ids, n, <uint16_t *> o, threads)
        else:
            _fill[uint8_t](<uint8_t *> a, <uint8_t *> b, (<uint8_t *> c)[0], at, ids, n, <uint8_t *> o, threads)
