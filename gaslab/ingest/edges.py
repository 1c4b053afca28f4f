"""Edges in global ids, spread over the ranks: what ingest hands to the graph."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from gaslab._kernels import ids as kernels
from gaslab.comm import Comm
from gaslab.errors import UsageError
from gaslab.ingest.ids import VertexIds


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
        Of the whole input. From text, edges_read + lines_rejected + headers + comments + blanks = lines.
    source : str
        What it was read from.
    fingerprint : str
        The same for the same graph on any number of ranks and in any order of edges.
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
) -> EdgeList:
    """Drop what is not wanted, count and fingerprint (collective)."""
    if drop_duplicates:
        raise UsageError("duplicates cannot be dropped yet")
    counts = dict(counts)
    loop = src == dst
    counts["self_loops"] = int(comm.allreduce(int(np.count_nonzero(loop))))
    if drop_self_loops and counts["self_loops"]:
        src, dst = src[~loop], dst[~loop]
        columns = {name: column[~loop] for name, column in columns.items()}
    counts["edges"] = int(comm.allreduce(src.size))
    mark = fingerprint(comm, src, dst, columns, ids.num_vertices, directed, threads)
    return EdgeList(src, dst, columns, ids, ids.num_vertices, directed, counts, source, mark)


def fingerprint(
    comm: Comm,
    src: np.ndarray,
    dst: np.ndarray,
    columns: dict[str, np.ndarray],
    num_vertices: int,
    directed: bool,
    threads: int,
) -> str:
    """Return 32 hexadecimal digits from the sum of a hash of every edge (collective)."""
    bits = [np.ascontiguousarray(columns[name], dtype=np.float64).view(np.int64) for name in sorted(columns)]
    total = comm.allreduce(
        np.array([kernels.hash_edges(src, dst, tuple(bits), threads), src.size], dtype=np.uint64)
    )
    known = (num_vertices, directed, sorted(columns), total.tolist())
    return hashlib.blake2b(repr(known).encode(), digest_size=16).hexdigest()
