"""Edges in global ids, spread over the ranks: the output of ingest for the graph."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gaslab._kernels import ids as kernels
from gaslab.ingest.duplicates import first_of_each
from gaslab.ingest.ids import VertexIds
from gaslab.parallel.comm import Comm
from gaslab.ragged import RaggedColumn

VertexColumns = tuple[np.ndarray, dict[str, np.ndarray]]


@dataclass
class Numbered:
    """A reader's result on this rank: edges in global ids, before any are dropped.

    *position* (collective) gives the place of each edge among those of all ranks, None if that is the order
    of ranks; the rest is as in `EdgeList`.
    """

    src: np.ndarray
    dst: np.ndarray
    columns: dict[str, np.ndarray]
    ids: VertexIds
    directed: bool
    counts: dict[str, int]
    position: Callable[[], np.ndarray | None] = lambda: None
    vertices: VertexColumns | None = None
    left_out: dict[str, str] = field(default_factory=dict)


@dataclass
class EdgeList:
    """This rank's share of the edges; any split over the ranks.

    Attributes
    ----------
    src, dst : int64 array
        Global ids of the ends.
    columns : dict of str to array
        Edge fields, as long as *src*.
    ids : VertexIds
        User ids to global ids and back.
    num_vertices : int
        Of the whole graph.
    directed : bool
    counts : dict of str to int
        Of the whole input: ``edges_read``, ``self_loops``, ``duplicates`` (if dropped) and ``edges``, those
        left after drops. From text also ``lines``, ``headers``, ``comments``, ``blanks`` and
        ``lines_rejected``, where edges_read + lines_rejected + headers + comments + blanks = lines (except
        for METIS files, with a line per vertex).
    source : str
        The name of the input.
    fingerprint : str
        The same for the same graph on any number of ranks and in any order of edges.
    vertices : pair of int64 array and dict of str to array, optional
        Global ids and the values of vertex columns for them; all ranks together have every vertex once.
    left_out : dict of str to str
        Columns of the input that were left out unasked, and their content, the same on every rank: ``{"note":
        "text"}``.
    """

    src: np.ndarray
    dst: np.ndarray
    columns: dict[str, np.ndarray]
    ids: VertexIds
    num_vertices: int
    directed: bool
    counts: dict[str, int]
    source: str
    fingerprint: str
    vertices: VertexColumns | None = None
    left_out: dict[str, str] = field(default_factory=dict)


def assemble(
    comm: Comm,
    src: np.ndarray,
    dst: np.ndarray,
    columns: dict[str, np.ndarray],
    ids: VertexIds,
    *,
    directed: bool,
    counts: dict[str, int],
    source: str,
    threads: int,
    drop_self_loops: bool = False,
    drop_duplicates: bool = False,
    position: np.ndarray | None = None,
) -> EdgeList:
    """Drop unwanted edges, count and fingerprint (collective).

    *position* orders the edges of all ranks, to find the first of parallel edges; by default they
    are in order of rank and index.
    """
    counts = dict(counts)
    counts["self_loops"] = int(comm.allreduce(kernels.count_equal(src, dst, threads)))
    if drop_duplicates:
        keep = first_of_each(comm, src, dst, ids.num_vertices, directed, position, threads)
        counts["duplicates"] = int(comm.allreduce(np.count_nonzero(~keep)))
    if drop_self_loops and counts["self_loops"]:
        keep = (src != dst) & keep if drop_duplicates else src != dst
    if (drop_self_loops and counts["self_loops"]) or counts.get("duplicates"):
        src, dst = src[keep], dst[keep]
        columns = {name: column[keep] for name, column in columns.items()}
    counts["edges"] = int(comm.allreduce(src.size))
    mark = fingerprint(comm, src, dst, columns, ids, directed, threads)
    return EdgeList(src, dst, columns, ids, ids.num_vertices, directed, counts, source, mark)


def fingerprint(
    comm: Comm,
    src: np.ndarray,
    dst: np.ndarray,
    columns: dict[str, np.ndarray],
    ids: VertexIds,
    directed: bool,
    threads: int,
) -> str:
    """Return 32 hexadecimal digits that differ where two graphs differ (collective).

    They come from the sum of a hash of every edge, its ends and columns, and of one of every user
    id; so they do not depend on ranks, threads or the order of the edges.
    """
    bits = tuple(bits for name in sorted(columns) for bits in _bits(columns[name]))
    sums = [kernels.hash_edges(src, dst, bits, threads), ids.hash_here(), src.size]
    total = comm.allreduce(np.array(sums, dtype=np.uint64))
    types = sorted((name, *_type(column)) for name, column in columns.items())
    sides = () if ids.num_left is None else (ids.num_left,)
    known = (ids.kind, ids.num_vertices, directed, types, total.tolist(), *sides)
    return hashlib.blake2b(repr(known).encode(), digest_size=16).hexdigest()


def _type(column: Any) -> tuple[Any, ...]:
    if isinstance(column, RaggedColumn):
        return (column.kind,)
    return str(column.dtype), *column.shape[1:]


def _bits(column: Any) -> list[np.ndarray]:
    """Return a column's values as int64, unchanged or a real's bits; for rows, an array per element."""
    if isinstance(column, RaggedColumn):
        return [column.hashes()]
    kind = np.float64 if column.dtype.kind == "f" else np.int64
    flat = column.reshape(len(column), -1) if column.size else column.reshape(0, math.prod(column.shape[1:]))
    return [np.ascontiguousarray(flat[:, k], dtype=kind).view(np.int64) for k in range(flat.shape[1])]
