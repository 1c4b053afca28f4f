# Packs rows of arrays, unpacks them, and moves them.

cdef extern from *:
    void __builtin_prefetch(const void *, ...) noexcept nogil

cdef enum:
    AHEAD = 8  # rows that are fetched before their turn


ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


cdef void _take(const word *values, const int32_t *ids, int64_t n, word *out) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        out[i] = values[ids[i]]


cdef void _put(word *values, const int32_t *ids, int64_t n, const word *packed) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        values[ids[i]] = packed[i]


cdef void take_rows(const void *values, const int32_t *ids, int64_t n, int64_t size, void *out) noexcept nogil:
    """out = values[ids], for rows of *size* bytes."""
    cdef int64_t i
    if size == 8:
        _take[uint64_t](<const uint64_t *> values, ids, n, <uint64_t *> out)
    elif size == 4:
        _take[uint32_t](<const uint32_t *> values, ids, n, <uint32_t *> out)
    elif size == 2:
        _take[uint16_t](<const uint16_t *> values, ids, n, <uint16_t *> out)
    elif size == 1:
        _take[uint8_t](<const uint8_t *> values, ids, n, <uint8_t *> out)
    else:
        for i in range(n):
            memcpy(<char *> out + i * size, <const char *> values + ids[i] * size, size)


cdef void put_rows(void *values, const int32_t *ids, int64_t n, int64_t size, const void *packed) noexcept nogil:
    """values[ids] = packed, for rows of *size* bytes."""
    cdef int64_t i
    if size == 8:
        _put[uint64_t](<uint64_t *> values, ids, n, <const uint64_t *> packed)
    elif size == 4:
        _put[uint32_t](<uint32_t *> values, ids, n, <const uint32_t *> packed)
    elif size == 2:
        _put[uint16_t](<uint16_t *> values, ids, n, <const uint16_t *> packed)
    elif size == 1:
        _put[uint8_t](<uint8_t *> values, ids, n, <const uint8_t *> packed)
    else:
        for i in range(n):
            memcpy(<char *> values + ids[i] * size, <const char *> packed + i * size, size)


cdef void _move(const word *values, const int32_t *ids, word *into, const int32_t *places, int64_t n) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        into[places[i]] = values[ids[i]]


cdef void move_rows(
    const void *values, const int32_t *ids, void *into, const int32_t *places, int64_t n, int64_t size
) noexcept nogil:
    """into[places] = values[ids], for rows of *size* bytes."""
    cdef int64_t i
    cdef const char *source = <const char *> values
    cdef char *target = <char *> into
    if size == 8:
        _move[uint64_t](<const uint64_t *> values, ids, <uint64_t *> into, places, n)
    elif size == 4:
        _move[uint32_t](<const uint32_t *> values, ids, <uint32_t *> into, places, n)
    elif size == 2:
        _move[uint16_t](<const uint16_t *> values, ids, <uint16_t *> into, places, n)
    elif size == 1:
        _move[uint8_t](<const uint8_t *> values, ids, <uint8_t *> into, places, n)
    else:
        for i in range(n):
            if i + AHEAD < n:
                __builtin_prefetch(source + ids[i + AHEAD] * size)
                __builtin_prefetch(target + places[i + AHEAD] * size, 1)
            memcpy(target + places[i] * size, source + ids[i] * size, size)
