# cython: language_level=3
"""Loops that measure a cut: a row of bits per vertex, one bit per part, and what its replicas exchange.

Nothing here allocates; callers pass every output.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

ctypedef fused id_t:
    int32_t
    int64_t

cdef extern from *:
    """
    #include <stdint.h>
    #define GL_POPCOUNT(x) __builtin_popcountll(x)
    #define GL_ZEROS(x) __builtin_clzll((unsigned long long)(x))
    #define GL_AHEAD 24  /* edges: rows are in no cache, but known long before */

    /* The place of an edge's bit; vertices without a row have the last one, which no one reads. */
    static inline uint64_t *gl_word(uint64_t *bits, int64_t row, int64_t count, int64_t words, int32_t part) {
        uint64_t place = (uint64_t)row < (uint64_t)count ? (uint64_t)row : (uint64_t)count;
        return bits + place * words + (part >> 6);
    }
    static inline void gl_fetch(uint64_t *word) { __builtin_prefetch(word, 1); }
    /* Most bits are set already: a look is cheaper than a write that other threads wait for. */
    static inline void gl_set_bit(uint64_t *word, int32_t part) {
        uint64_t bit = (uint64_t)1 << (part & 63);
        if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit)) __atomic_fetch_or(word, bit, __ATOMIC_RELAXED);
    }
    """
    int GL_POPCOUNT(uint64_t) nogil
    int GL_ZEROS(int64_t) nogil
    enum: GL_AHEAD
    uint64_t *gl_word(uint64_t *bits, int64_t row, int64_t count, int64_t words, int32_t part) noexcept nogil
    void gl_fetch(uint64_t *word) noexcept nogil
    void gl_set_bit(uint64_t *word, int32_t part) noexcept nogil


def mark(const id_t[::1] vertex, const int32_t[::1] part, int64_t first, uint64_t[:, ::1] rows, int threads):
    """Set the bit of each edge's part in row ``vertex[i] - first``; the last row takes all other vertices."""
    cdef int64_t i, edges = vertex.shape[0], count = rows.shape[0] - 1, words = rows.shape[1]
    cdef uint64_t *bits = &rows[0, 0]
    for i in prange(edges, nogil=True, num_threads=threads, schedule="static"):
        if i + GL_AHEAD < edges:
            gl_fetch(gl_word(bits, vertex[i + GL_AHEAD] - first, count, words, part[i + GL_AHEAD]))
        gl_set_bit(gl_word(bits, vertex[i] - first, count, words, part[i]), part[i])


def count_replicas(const uint64_t[:, ::1] with_in, const uint64_t[:, ::1] with_out, int64_t groups,
                   int64_t[::1] counts, int threads):
    """counts[a * rows per group + j] = parts that hold the vertex of row j * groups + a."""
    cdef int64_t s, w, a, j, total, per_group = with_in.shape[0] // groups
    for s in prange(with_in.shape[0], nogil=True, num_threads=threads, schedule="static"):
        total = 0
        for w in range(with_in.shape[1]):
            total = total + GL_POPCOUNT(with_in[s, w] | with_out[s, w])
        counts[s % groups * per_group + s // groups] = total


def list_replicas(const uint64_t[:, ::1] with_in, const uint64_t[:, ::1] with_out, int64_t groups,
                  const int64_t[::1] begin, int32_t[::1] holder, uint8_t[::1] has_in, uint8_t[::1] has_out,
                  int threads):
    """List the parts that hold each vertex, ascending, in the order of `count_replicas`.

    `has_in` and `has_out` say whether the vertex has edges there that lead to it, and from it.
    """
    cdef int64_t s, w, at, per_group = with_in.shape[0] // groups
    cdef uint64_t bits, bit
    for s in prange(with_in.shape[0], nogil=True, num_threads=threads, schedule="static"):
        at = begin[s % groups * per_group + s // groups]
        for w in range(with_in.shape[1]):
            bits = with_in[s, w] | with_out[s, w]
            while bits:
                bit = bits & (0 - bits)
                holder[at] = <int32_t>(64 * w + GL_POPCOUNT(bit - 1))
                has_in[at] = (with_in[s, w] & bit) != 0
                has_out[at] = (with_out[s, w] & bit) != 0
                at = at + 1
                bits = bits & (bits - 1)


def tally(const int64_t[::1] begin, const int32_t[::1] holder, const uint8_t[::1] has_in,
          const uint8_t[::1] has_out, const int32_t[::1] master, const int64_t[::1] gids,
          const int64_t[::1] degree, int64_t[:, ::1] counts, int64_t[:, ::1] traffic, int64_t[:, ::1] levels):
    """Add up, per part, what vertices with an edge make of it.

    `counts` has a row for each of: replicas; masters; mirrors; mirrors with in-edges; mirrors with out-edges;
    and, at the part of the master, its mirrors with in-edges, and with out-edges. ``traffic[m, h]`` counts the
    mirrors in part h whose master is in m; without rows it is left out. ``levels[l]`` has, of the vertices
    with a degree from 2^l to 2^(l+1) - 1, how many there are, how many are in more than one part, and their
    replicas; `degree` is by global id.
    """
    cdef int64_t v, r, level, replicas
    cdef int32_t home, part
    cdef bint wanted = traffic.shape[0] > 0
    with nogil:
        for v in range(master.shape[0]):
            replicas = begin[v + 1] - begin[v]
            if replicas == 0:
                continue
            level = 63 - GL_ZEROS(degree[gids[v]])
            levels[level, 0] += 1
            levels[level, 1] += replicas > 1
            levels[level, 2] += replicas
            home = master[v]
            counts[1, home] += 1
            for r in range(begin[v], begin[v + 1]):
                part = holder[r]
                counts[0, part] += 1
                if part == home:
                    continue
                counts[2, part] += 1
                counts[3, part] += has_in[r]
                counts[4, part] += has_out[r]
                counts[5, home] += has_in[r]
                counts[6, home] += has_out[r]
                if wanted:
                    traffic[home, part] += 1
