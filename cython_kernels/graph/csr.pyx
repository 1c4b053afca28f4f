# cython: language_level=3
"""Loops of the local graph: degrees, vertex order, CSC and CSR by counting sorts, block bounds.

Nothing here allocates; callers pass every output and scratch array. A `cursor` holds where each
row's next edge goes, starts as the row's begin and is used up.
"""

from cython.parallel cimport prange, threadid
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

ctypedef fused id_t:
    int32_t
    int64_t


ctypedef fused key_t:
    int32_t
    int64_t
    uint64_t


def count_ends(const id_t[::1] src, const id_t[::1] dst, int32_t[::1] out_count, int32_t[::1] in_count,
               int threads):
    """Count the edges that leave and enter each vertex; the two ends run side by side."""
    cdef int64_t i
    cdef int end
    for end in prange(2, nogil=True, num_threads=2 if threads > 1 else 1, schedule="static"):
        if end == 0:
            for i in range(src.shape[0]):
                out_count[src[i]] += 1
        else:
            for i in range(dst.shape[0]):
                in_count[dst[i]] += 1


def radix_pass(const key_t[::1] key, const int32_t[::1] order, int shift, int64_t[::1] counts,
               int32_t[::1] out):
    """One stable pass of a radix sort: `order` sorted by the 11 bits of the keys, from 0, that begin at `shift`.

    `counts` is scratch for 2049 numbers.
    """
    cdef int64_t i, digit
    with nogil:
        counts[:] = 0
        for i in range(order.shape[0]):
            counts[((key[i] >> shift) & 2047) + 1] += 1
        for i in range(2048):
            counts[i + 1] += counts[i]
        for i in range(order.shape[0]):
            digit = (key[order[i]] >> shift) & 2047
            out[counts[digit]] = order[i]
            counts[digit] += 1


# ---- counting sorts in two steps: to buckets of rows that fit the cache, then to rows ----------------
# table[row >> shift] names a row's bucket. A record is its row in the high half and the other end in
# the low half; a tag may go beside it. counts and cursor are [chunks, buckets]: chunk t of the
# edges writes to bucket b where cursor[t, b] says, so that equal rows keep the edges' order.

def count_buckets(const id_t[::1] row, const int32_t[::1] local, const int64_t[::1] chunk,
                  const uint16_t[::1] table, int shift, int64_t[:, ::1] counts):
    """counts[t, b] += edges of bucket b in chunk t, i.e. chunk[t]:chunk[t + 1]; `local` may be None."""
    cdef int64_t t, i
    cdef bint look_up = local is not None
    for t in prange(counts.shape[0], nogil=True, num_threads=<int>counts.shape[0], schedule="static"):
        for i in range(chunk[t], chunk[t + 1]):
            counts[t, table[(local[row[i]] if look_up else row[i]) >> shift]] += 1


def bucket_edges(const id_t[::1] src, const id_t[::1] dst, const int32_t[::1] local, const int64_t[::1] chunk,
                 const uint16_t[::1] table, int shift, int64_t[:, ::1] cursor, uint64_t[::1] record,
                 int32_t[::1] tag):
    """Put edges into buckets by their local source; the tag, unless None, is the edge's position."""
    cdef int64_t t, i, at
    cdef uint32_t row
    cdef uint16_t bucket
    cdef bint keep = tag is not None
    for t in prange(cursor.shape[0], nogil=True, num_threads=<int>cursor.shape[0], schedule="static"):
        for i in range(chunk[t], chunk[t + 1]):
            row = <uint32_t>local[src[i]]
            bucket = table[row >> shift]
            at = cursor[t, bucket]
            cursor[t, bucket] = at + 1
            record[at] = (<uint64_t>row << 32) | <uint32_t>local[dst[i]]
            if keep:
                tag[at] = <int32_t>i


def bucket_rows(const int64_t[::1] begin, const int32_t[::1] neighbor, const int32_t[::1] tag_of,
                const int64_t[::1] row_chunk, const uint16_t[::1] table, int shift,
                int64_t[:, ::1] cursor, uint64_t[::1] record, int32_t[::1] tag):
    """Put the edges of rows into buckets by their neighbour, the row becoming the other end.

    The tag, unless None, is the edge's entry in `tag_of`, or its position where that is None.
    Chunk t are the rows row_chunk[t]:row_chunk[t + 1].
    """
    cdef int64_t t, s, j, at
    cdef uint16_t bucket
    cdef bint keep = tag is not None, position = tag_of is None
    for t in prange(cursor.shape[0], nogil=True, num_threads=<int>cursor.shape[0], schedule="static"):
        for s in range(row_chunk[t], row_chunk[t + 1]):
            for j in range(begin[s], begin[s + 1]):
                bucket = table[neighbor[j] >> shift]
                at = cursor[t, bucket]
                cursor[t, bucket] = at + 1
                record[at] = (<uint64_t>neighbor[j] << 32) | <uint32_t>s
                if keep:
                    tag[at] = <int32_t>j if position else tag_of[j]


def place(const int64_t[::1] bucket_begin, const uint64_t[::1] record, int64_t[::1] cursor,
          int32_t[::1] neighbor, int32_t[::1] tag, int32_t[:, ::1] kept):
    """Move the records of each bucket to their rows; `cursor` (the rows' begins) is used up.

    The tags come in the order of the records, and are moved too: thread t keeps those of a bucket in kept[t].
    """
    cdef int64_t b, i, first, at
    cdef uint32_t row
    cdef int t
    cdef bint tagged = tag is not None
    for b in prange(bucket_begin.shape[0] - 1, nogil=True, num_threads=<int>kept.shape[0], schedule="dynamic"):
        t = threadid()
        first = bucket_begin[b]
        if tagged:
            for i in range(first, bucket_begin[b + 1]):
                kept[t, i - first] = tag[i]
        for i in range(first, bucket_begin[b + 1]):
            row = record[i] >> 32
            at = cursor[row]
            cursor[row] = at + 1
            neighbor[at] = <int32_t>record[i]
            if tagged:
                tag[at] = kept[t, i - first]


def bucket_table(const int64_t[::1] begin, int shift, int64_t max_edges, int64_t max_rows, uint16_t[::1] table):
    """Name the bucket of each run of 2**shift rows: new ones where edges or rows get too many.

    Returns the number of buckets.
    """
    cdef int64_t g, lo, hi, n = begin.shape[0] - 1, start = 0
    cdef int bucket = 0
    with nogil:
        for g in range(table.shape[0]):
            lo = g << shift
            hi = lo + (<int64_t>1 << shift)
            hi = hi if hi < n else n
            if lo > start and (begin[hi] - begin[start] > max_edges or hi - start > max_rows):
                bucket += 1
                start = lo
            table[g] = bucket
    return bucket + 1


ctypedef fused word:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def _take(word[::1] values, const int32_t[::1] slots, word[::1] out, int threads):
    cdef Py_ssize_t i
    for i in prange(slots.shape[0], nogil=True, num_threads=threads, schedule="static"):
        out[i] = values[slots[i]]


def take_slots(values, const int32_t[::1] slots, out, int threads):
    """out = values[slots], for one-dimensional arrays of one dtype of 1, 2, 4 or 8 bytes."""
    kind = f"u{values.itemsize}"
    _take(values.view(kind), slots, out.view(kind), threads)


def count_neighbors(const int32_t[::1] neighbor, int64_t[::1] counts):
    """counts[v] += how often v is a neighbour."""
    cdef int64_t i
    with nogil:
        for i in range(neighbor.shape[0]):
            counts[neighbor[i]] += 1


def block_bounds(const int64_t[::1] in_begin, const int64_t[::1] out_begin, int64_t lo, int64_t hi,
                 int64_t max_edges, int64_t max_vertices, int64_t[::1] bounds):
    """Cut the vertices lo..hi-1 into runs of few edges and vertices; return how many runs.

    Either begin may be None: its edges do not count. A vertex of more than `max_edges` edges is a
    run of its own. `bounds` must hold hi - lo + 1 numbers.
    """
    cdef int64_t v, start = lo, edges = 0, d, runs = 0
    cdef bint use_in = in_begin is not None, use_out = out_begin is not None
    bounds[0] = lo
    with nogil:
        for v in range(lo, hi):
            d = 0
            if use_in:
                d += in_begin[v + 1] - in_begin[v]
            if use_out:
                d += out_begin[v + 1] - out_begin[v]
            if v > start and (edges + d > max_edges or v - start >= max_vertices):
                runs += 1
                bounds[runs] = start = v
                edges = 0
            edges += d
        if hi > lo:
            runs += 1
            bounds[runs] = hi
    return runs
