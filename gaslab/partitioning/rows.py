"""Edges to sorted rows: stable counting sorts in O(edges), through buckets that fit the cache.

Scattering edges directly to their rows misses the cache at almost every edge. Each sort here first puts the
edges into a few hundred buckets of neighbouring rows, writing few streams, then each bucket into its rows,
which then fit the cache; threads share the buckets. The result does not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np

import gaslab._kernels.csr as kernels

BUCKETS = 256  # about; with more, the parallel streams no longer fit the first cache
GRANULES = 1 << 14  # maximum entries of the table that names a row's bucket


class _Buckets:
    """Which bucket each row is in, for rows that begin at *begin*."""

    def __init__(self, begin: np.ndarray) -> None:
        rows, edges = begin.size - 1, int(begin[-1])
        self.shift = max(0, (rows // GRANULES).bit_length())
        self.table = np.empty(-(-rows >> self.shift) if rows else 0, dtype=np.uint16)
        most = (edges // BUCKETS + 1, rows // BUCKETS + 1)
        self.count = kernels.bucket_table(begin, self.shift, *most, self.table)
        first = np.searchsorted(self.table, np.arange(self.count)) << self.shift
        self.begin = np.append(begin[np.minimum(first, rows)], edges)

    def cursor(self, row: np.ndarray, local: np.ndarray | None, chunk: np.ndarray) -> np.ndarray:
        """Return where each chunk starts writing in each bucket: after the chunks before it."""
        counts = np.zeros((chunk.size - 1, self.count), dtype=np.int64)
        if len(counts) > 1:
            kernels.count_buckets(row, local, chunk, self.table, self.shift, counts)
        starts: np.ndarray = self.begin[:-1] + np.cumsum(counts, axis=0) - counts
        return starts

    def place(
        self, record: np.ndarray, begin: np.ndarray, tag: np.ndarray | None, threads: int
    ) -> np.ndarray:
        """Return the other ends of the records in the rows that begin at *begin*; also move the tags."""
        other = np.empty(record.size, dtype=np.int32)
        longest = 0 if tag is None else int(np.diff(self.begin).max(initial=0))
        threads = min(threads, record.size // max(longest, 1)) or 1  # with at most the room of the edges
        kept = np.empty((threads, longest), dtype=np.int32)
        kernels.place(self.begin, record, begin[:-1].copy(), other, tag, kept)
        return other


def rows_by_target(
    ends: list[np.ndarray],
    local: np.ndarray,
    out_begin: np.ndarray,
    in_begin: np.ndarray,
    tagged: bool,
    threads: int = 1,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Sort edges by target, then source, then position.

    *ends* are the sources and targets, which *local* maps to rows; the list is emptied, so that they are
    freed once read. Returns the int32 rows of the sources and, if *tagged*, each edge's old position.
    """
    src, dst = ends
    ends.clear()
    m = src.size
    record = np.empty(m, dtype=np.uint64)
    tag = np.empty(m, dtype=np.int32) if tagged else None
    buckets = _Buckets(out_begin)
    chunk = np.arange(threads + 1) * m // threads
    cursor = buckets.cursor(src, local, chunk)
    kernels.bucket_edges(src, dst, local, chunk, buckets.table, buckets.shift, cursor, record, tag)
    del src, dst
    target = buckets.place(record, out_begin, tag, threads)
    return _transpose(out_begin, target, in_begin, record, threads, tagged, tag)


def transpose(begin: np.ndarray, neighbor: np.ndarray, threads: int = 1) -> tuple[np.ndarray, ...]:
    """Return ``begin``, ``neighbor`` of the same edges by the other end, and each edge's old position."""
    m = neighbor.size
    other_begin = np.zeros_like(begin)
    kernels.count_neighbors(neighbor, other_begin[1:])
    np.cumsum(other_begin, out=other_begin)
    other, position = _transpose(begin, neighbor, other_begin, np.empty(m, dtype=np.uint64), threads)
    assert position is not None
    return other_begin, other, position


def _transpose(
    begin: np.ndarray,
    neighbor: np.ndarray,
    other_begin: np.ndarray,
    record: np.ndarray,
    threads: int,
    tagged: bool = True,
    tag_of: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray | None]:
    """Sort rows by neighbour into rows of the other end, with *record* as scratch.

    A tag is a position, or *tag_of* at that position.
    """
    buckets = _Buckets(other_begin)
    rows = np.searchsorted(begin, np.arange(1, threads) * neighbor.size // threads)
    row_chunk = np.concatenate([[0], rows, [begin.size - 1]])
    cursor = buckets.cursor(neighbor, None, begin[row_chunk])
    tag = np.empty(neighbor.size, dtype=np.int32) if tagged else None
    kernels.bucket_rows(
        begin, neighbor, tag_of, row_chunk, buckets.table, buckets.shift, cursor, record, tag
    )  # fmt: skip
    return buckets.place(record, other_begin, tag, threads), tag
