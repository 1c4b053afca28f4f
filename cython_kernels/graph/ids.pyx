"""User ids to global ids: which integers occur, and the position of each among those that do."""

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint8_t, uint64_t

import numpy as np

cdef extern from "mix.h" nogil:
    uint64_t gl_mix(uint64_t z)


cdef extern from *:
    """
    static inline int64_t gl_ones(uint64_t word)
    {
        word -= (word >> 1) & 0x5555555555555555ull;
        word = (word & 0x3333333333333333ull) + ((word >> 2) & 0x3333333333333333ull);
        word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0Full;
        return (int64_t)((word * 0x0101010101010101ull) >> 56);
    }
    static inline void gl_mark(uint8_t *flag) /* by several threads at once; a flag that is set is not written */
    {
        if (!__atomic_load_n(flag, __ATOMIC_RELAXED))
            __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
    }
    """
    # Bits set in a word. The oldest x86-64 has no such instruction, and a call would cost more.
    int64_t gl_ones(uint64_t word) nogil
    void gl_mark(uint8_t *flag) nogil


def mark(const int64_t[::1] values, uint8_t[::1] present, int threads):
    """Set ``present[v] = 1`` for every value; every thread stores the same 1."""
    cdef int64_t i, n = values.shape[0]
    for i in prange(n, nogil=True, schedule="static", num_threads=threads):
        gl_mark(&present[values[i]])


def pack(const uint8_t[::1] present, int threads):
    """Return the bytes (0 or 1; a multiple of 64) as bits, uint64[len / 64]."""
    words_array = np.zeros(present.shape[0] // 64, dtype=np.uint64)
    cdef uint64_t[::1] words = words_array
    cdef int64_t w, n = words.shape[0]
    for w in prange(n, nogil=True, schedule="static", num_threads=threads):
        words[w] = _pack_word(&present[64 * w])
    return words_array


cdef inline uint64_t _pack_word(const uint8_t *p) noexcept nogil:
    cdef uint64_t word = 0
    cdef int bit
    for bit in range(64):
        word |= <uint64_t> p[bit] << bit
    return word


def prefix(const uint64_t[::1] words):
    """Return int64[len(words) + 1]: the bits set before each word, and in all."""
    before_array = np.empty(words.shape[0] + 1, dtype=np.int64)
    cdef int64_t[::1] before = before_array
    cdef int64_t w, total = 0
    with nogil:
        for w in range(words.shape[0]):
            before[w] = total
            total += gl_ones(words[w])
        before[words.shape[0]] = total
    return before_array


def rank_in_bits(int64_t[::1] values, const uint64_t[::1] words, const int64_t[::1] before, int threads):
    """Replace each value, whose bit is set, by the number of bits set below it."""
    cdef int64_t i, v, n = values.shape[0]
    for i in prange(n, nogil=True, schedule="static", num_threads=threads):
        v = values[i]
        values[i] = before[v >> 6] + gl_ones(words[v >> 6] & ((<uint64_t> 1 << (v & 63)) - 1))


def every_nth_bit(const uint64_t[::1] words, const int64_t[::1] before, int64_t step, int64_t first):
    """Return the positions of the set bits number first, first + step, ... as int64."""
    cdef int64_t total = before[words.shape[0]], w, at, out = 0
    cdef uint64_t word
    found_array = np.empty(max(0, (total - first + step - 1) // step), dtype=np.int64)
    cdef int64_t[::1] found = found_array
    with nogil:
        for w in range(words.shape[0]):
            word = words[w]
            at = before[w]
            while word:
                if at % step == first:
                    found[out] = 64 * w + gl_ones((word & (~word + 1)) - 1)
                    out += 1
                word &= word - 1
                at += 1
    return found_array


def translate(int64_t[::1] values, const int64_t[::1] table, int threads):
    """Replace each value by ``table[value]``."""
    cdef int64_t i, n = values.shape[0]
    for i in prange(n, nogil=True, schedule="static", num_threads=threads):
        values[i] = table[values[i]]


def hash_edges(const int64_t[::1] source, const int64_t[::1] target, tuple columns, int threads):
    """Return the sum, modulo 2**64, of a hash of every edge (ends and the bits of int64 columns)."""
    cdef int64_t i, n = source.shape[0]
    cdef int k, num_columns = len(columns)
    cdef uint64_t total = 0
    cdef const int64_t[::1] column
    pointer_array = np.zeros(num_columns + 1, dtype=np.int64)
    cdef int64_t[::1] pointers = pointer_array
    for k in range(num_columns if n else 0):
        column = columns[k]
        pointers[k] = <int64_t> &column[0]
    for i in prange(n, nogil=True, schedule="static", num_threads=threads):
        total += _hash_edge(source[i], target[i], <const int64_t **> &pointers[0], num_columns, i)
    return int(total)


cdef inline uint64_t _hash_edge(
    int64_t source, int64_t target, const int64_t **column, int num_columns, int64_t i
) noexcept nogil:
    cdef uint64_t hash = gl_mix(gl_mix(<uint64_t> source) + <uint64_t> target * <uint64_t> 0x9E3779B97F4A7C15)
    cdef int k
    for k in range(num_columns):
        hash = gl_mix(hash + <uint64_t> column[k][i])
    return hash


def intern_integers(
    int64_t[::1] values, int64_t first, int64_t[::1] key, int64_t[::1] index, int64_t[::1] distinct, int64_t count
):
    """Replace values, from position *first* on, by their index among the distinct ones, in order of arrival.

    *key* and *index* are a hash table (index -1: free) of a power of two of places. Stops when it is
    half full. Returns (position reached, number of distinct values so far).
    """
    cdef int64_t i, n = values.shape[0], v, at, mask = key.shape[0] - 1, most = key.shape[0] // 2
    with nogil:
        i = first
        while i < n:
            v = values[i]
            at = <int64_t> (gl_mix(<uint64_t> v) & <uint64_t> mask)
            while index[at] >= 0 and key[at] != v:
                at = (at + 1) & mask
            if index[at] < 0:
                if count == most:
                    break
                key[at] = v
                index[at] = count
                distinct[count] = v
                count += 1
            values[i] = index[at]
            i += 1
    return i, count


def count_equal(const int64_t[::1] source, const int64_t[::1] target, int threads):
    """Return in how many places the two are equal."""
    cdef int64_t i, n = source.shape[0], count = 0
    for i in prange(n, nogil=True, schedule="static", num_threads=threads):
        count += source[i] == target[i]
    return count
