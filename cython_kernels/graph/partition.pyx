# cython: language_level=3
"""Loops of the vertex-cut: the part of each edge, packing for the shuffle, compact ids, masters.

Nothing here allocates; callers pass every output and scratch array. Edges are split into `threads`
chunks of consecutive edges, and chunk t writes where `cursor[t]` says, so that the order of the
edges inside a part is their order before, on any number of threads.
"""

from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef fused id_t:
    int32_t
    int64_t

ctypedef fused wire_t:
    int32_t
    int64_t

ctypedef fused item_t:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef extern from *:
    """
    #define GL_POPCOUNT(x) __builtin_popcountll(x)
    """
    int GL_POPCOUNT(uint64_t) nogil


# ---- strategies ------------------------------------------------------------------------------------

cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    """Steele, Lea and Flood's SplitMix64: neighbouring ids get unrelated hashes."""
    x = x + <uint64_t>0x9E3779B97F4A7C15
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef inline int32_t pick(uint64_t hashed, uint64_t k) noexcept nogil:
    """Map a hash onto 0..k-1 evenly, without a division."""
    return <int32_t>(((hashed >> 32) * k) >> 32)


def by_edge(const id_t[::1] src, const id_t[::1] dst, int64_t k, int32_t[::1] part, int threads):
    """part = hash of the unordered pair, so that an edge, its parallels and its reverse stay together."""
    cdef int64_t i, low, high
    for i in prange(src.shape[0], nogil=True, num_threads=threads, schedule="static"):
        low = src[i] if src[i] < dst[i] else dst[i]
        high = dst[i] if src[i] < dst[i] else src[i]
        part[i] = pick(mix(mix(low) ^ <uint64_t>high), k)


def by_vertex(const id_t[::1] vertex, int64_t k, int32_t[::1] part, int threads):
    """part = hash of one end of the edge."""
    cdef int64_t i
    for i in prange(vertex.shape[0], nogil=True, num_threads=threads, schedule="static"):
        part[i] = pick(mix(vertex[i]), k)


def by_grid(const id_t[::1] src, const id_t[::1] dst, int64_t columns, int64_t rows, int64_t last_rows,
            int32_t[::1] part, int threads):
    """part = (column of the target, row of the source); the last column may have fewer rows."""
    cdef int64_t i, column
    for i in prange(src.shape[0], nogil=True, num_threads=threads, schedule="static"):
        # The column takes the hash's high half and the row its low half, so the two are independent.
        column = pick(mix(dst[i]), (columns - 1) * rows + last_rows) // rows
        part[i] = <int32_t>(column * rows) + pick(
            mix(src[i]) << 32, rows if column < columns - 1 else last_rows)


def by_lower_degree(const id_t[::1] src, const id_t[::1] dst, const int32_t[::1] src_index,
                    const int32_t[::1] dst_index, const int64_t[::1] degree, int64_t k,
                    int32_t[::1] part, int threads):
    """part = hash of the end with the lower global degree; the lower id where both are equal."""
    cdef int64_t i, a, b, chosen
    for i in prange(src.shape[0], nogil=True, num_threads=threads, schedule="static"):
        a = degree[src_index[i]]
        b = degree[dst_index[i]]
        chosen = src[i] if a < b or (a == b and src[i] < dst[i]) else dst[i]
        part[i] = pick(mix(chosen), k)


def by_target_unless_hub(const id_t[::1] src, const id_t[::1] dst, const int32_t[::1] src_index,
                         const int32_t[::1] dst_index, const int64_t[::1] degree, int64_t threshold,
                         bint directed, int64_t k, int32_t[::1] part, int threads):
    """part = hash of the target; of the source where the target's degree is above the threshold.

    Without directions the target is the end of the higher degree, the higher id where both are equal.
    """
    cdef int64_t i, source, target, a, b
    cdef bint swap
    for i in prange(src.shape[0], nogil=True, num_threads=threads, schedule="static"):
        source = src[i]
        target = dst[i]
        b = degree[dst_index[i]]
        if not directed:
            a = degree[src_index[i]]
            swap = a > b or (a == b and source > target)
            source, target = (target, source) if swap else (source, target)
            b = a if swap else b
        part[i] = pick(mix(source if b > threshold else target), k)


# ---- a sample of the vertices ----------------------------------------------------------------------

cdef inline uint32_t mix_quickly(uint64_t x) noexcept nogil:
    """The last steps of Appleby's MurmurHash3 with 32 bits: compilers vectorise them, unlike those of `mix`."""
    cdef uint32_t h = <uint32_t>(x ^ (x >> 32)) + <uint32_t>0x9E3779B9  # 0 would stay 0
    h = (h ^ (h >> 16)) * <uint32_t>0x85EBCA6B
    h = (h ^ (h >> 13)) * <uint32_t>0xC2B2AE35
    return h ^ (h >> 16)


cdef inline void count_and_mark_end(const id_t* ids, int64_t n, uint32_t limit, int32_t* count,
                                    uint8_t* marks) noexcept nogil:
    cdef int64_t i
    for i in range(n):
        marks[i] = mix_quickly(<uint64_t>ids[i]) <= limit
    for i in range(n):
        count[ids[i]] += 1


def count_and_mark(const id_t[::1] src, const id_t[::1] dst, uint32_t limit, int32_t[::1] out_count,
                   int32_t[::1] in_count, uint8_t[:, ::1] marks, int threads):
    """Count the edges that leave and enter each vertex, and mark the ends whose hash is up to `limit`.

    marks[0, i] is of the source of edge i, marks[1, i] of its target; the two ends run side by side.
    """
    cdef int end
    cdef int64_t n = src.shape[0]
    if n == 0:
        return
    for end in prange(2, nogil=True, num_threads=2 if threads > 1 else 1, schedule="static"):
        if end == 0:
            count_and_mark_end(&src[0], n, limit, &out_count[0], &marks[0, 0])
        else:
            count_and_mark_end(&dst[0], n, limit, &in_count[0], &marks[1, 0])


# ---- packing for the shuffle -----------------------------------------------------------------------

cdef inline int64_t chunk_start(int64_t n, int64_t chunk, int64_t chunks) noexcept nogil:
    return n // chunks * chunk + (chunk if chunk < n % chunks else n % chunks)


def count_parts(const int32_t[::1] part, int64_t[:, ::1] counts):
    """counts[t, p] += edges of part p in chunk t."""
    cdef int64_t t, i, chunks = counts.shape[0], n = part.shape[0]
    for t in prange(chunks, nogil=True, num_threads=<int>chunks, schedule="static"):
        for i in range(chunk_start(n, t, chunks), chunk_start(n, t + 1, chunks)):
            counts[t, part[i]] += 1


def pack_ids(const id_t[::1] values, const int32_t[::1] part, int64_t[:, ::1] cursor, wire_t[::1] out):
    """Group ids by part, narrowed to the wire's width; `cursor` is used up."""
    cdef int64_t t, i, chunks = cursor.shape[0], n = part.shape[0]
    for t in prange(chunks, nogil=True, num_threads=<int>chunks, schedule="static"):
        for i in range(chunk_start(n, t, chunks), chunk_start(n, t + 1, chunks)):
            out[cursor[t, part[i]]] = <wire_t>values[i]
            cursor[t, part[i]] += 1


def pack_items(const item_t[::1] values, const int32_t[::1] part, int64_t[:, ::1] cursor, item_t[::1] out):
    """Group the items of an edge column by part; `cursor` is used up."""
    cdef int64_t t, i, chunks = cursor.shape[0], n = part.shape[0]
    for t in prange(chunks, nogil=True, num_threads=<int>chunks, schedule="static"):
        for i in range(chunk_start(n, t, chunks), chunk_start(n, t + 1, chunks)):
            out[cursor[t, part[i]]] = values[i]
            cursor[t, part[i]] += 1


# ---- compact ids: a bitmap with ranks --------------------------------------------------------------
# ranked[w, 0] holds the bits of the ids 64 w .. 64 w + 63, ranked[w, 1] how many bits are set before
# word w: a quarter byte per possible id, and one cache line per look-up.

def mark(const id_t[::1] ids, uint64_t[:, ::1] ranked):
    """Set the bit of every id."""
    cdef int64_t i
    with nogil:
        for i in range(ids.shape[0]):
            ranked[ids[i] >> 6, 0] |= <uint64_t>1 << (ids[i] & 63)


def rank_words(uint64_t[:, ::1] ranked):
    """Fill in the ranks of the words; return how many bits are set."""
    cdef int64_t w
    cdef uint64_t total = 0
    with nogil:
        for w in range(ranked.shape[0]):
            ranked[w, 1] = total
            total += GL_POPCOUNT(ranked[w, 0])
    return total


def list_marked(const uint64_t[:, ::1] ranked, int64_t[::1] out):
    """Write the ids whose bits are set, ascending."""
    cdef int64_t w, i = 0
    cdef uint64_t bits
    with nogil:
        for w in range(ranked.shape[0]):
            bits = ranked[w, 0]
            while bits:
                out[i] = 64 * w + GL_POPCOUNT((bits & (0 - bits)) - 1)
                i += 1
                bits &= bits - 1


def ranks_of(const id_t[::1] ids, const uint64_t[:, ::1] ranked, int32_t[::1] out, int threads):
    """out[i] = position of ids[i] among the set bits; the bit must be set."""
    cdef int64_t i, w
    for i in prange(ids.shape[0], nogil=True, num_threads=threads, schedule="static"):
        w = ids[i] >> 6
        out[i] = <int32_t>(ranked[w, 1] + GL_POPCOUNT(
            ranked[w, 0] & ((<uint64_t>1 << (ids[i] & 63)) - 1)))


# ---- the directory ---------------------------------------------------------------------------------

def add_at(const id_t[::1] slot, const wire_t[::1] values, int64_t[::1] totals):
    """totals[slot[i]] += values[i]."""
    cdef int64_t i
    with nogil:
        for i in range(slot.shape[0]):
            totals[slot[i]] += values[i]


def group_by_slot(const id_t[::1] slot, int64_t[::1] cursor, int32_t[::1] record):
    """List the records of each slot, in their order; `cursor` (the slots' starts) is used up."""
    cdef int64_t i
    with nogil:
        for i in range(slot.shape[0]):
            record[cursor[slot[i]]] = <int32_t>i
            cursor[slot[i]] += 1


def place(const int64_t[::1] begin, const int32_t[::1] record, const int32_t[::1] holder,
          const uint8_t[::1] kinds, int64_t[::1] load, int32_t[::1] master):
    """Choose each slot's master among its holders: one with both kinds of edges before one with in-edges
    before one with out-edges, so that the fewest values travel; and among those the one that has the fewest
    to send and to receive so far, which `load` counts. Slots without a holder are left.

    A mirror with in-edges (1 in `kinds`) sends a value to the master, one with out-edges (2) receives one.
    """
    cdef int64_t s, j, best, values
    cdef int32_t r, h
    with nogil:
        for s in range(master.shape[0]):
            best = -1
            for j in range(begin[s], begin[s + 1]):
                r = record[j]
                if (best < 0 or rank_of(kinds[r]) > rank_of(kinds[best])
                        or (kinds[r] == kinds[best] and load[holder[r]] < load[holder[best]])):
                    best = r
            if best < 0:
                continue
            h = holder[best]
            master[s] = h
            for j in range(begin[s], begin[s + 1]):
                r = record[j]
                if r != best:
                    values = (kinds[r] & 1) + (kinds[r] >> 1)
                    load[holder[r]] += values
                    load[h] += values


cdef inline int rank_of(uint8_t kinds) noexcept nogil:
    return 2 * (kinds & 1) + (kinds >> 1)


# ---- measuring a cut: a row of bits per vertex, one bit per part -----------------------------------

def or_at(const id_t[::1] slot, const uint64_t[::1] words, uint64_t[:, ::1] joined, int64_t column):
    """joined[slot[i], column] |= words[i]."""
    cdef int64_t i
    with nogil:
        for i in range(slot.shape[0]):
            joined[slot[i], column] |= words[i]
