"""A vertex-cut into any number of parts, looked at without building it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gaslab._kernels.partition as kernels
from gaslab import arguments
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.comm import Comm, as_comm
from gaslab.partitioning.directory import Directory
from gaslab.partitioning.index import Index
from gaslab.partitioning.metrics import CutMetrics
from gaslab.partitioning.parts import parts_of
from gaslab.partitioning.shuffle import INT32_LIMIT
from gaslab.partitioning.strategies import Context, find


@dataclass(frozen=True)
class Cut:
    """Where a strategy puts each edge.

    Attributes
    ----------
    strategy : str
    k : int
        Number of parts, which need not be the number of ranks.
    part : int32 array
        The part, 0..k-1, of each edge of this rank, in the order of the edge list.
    metrics : CutMetrics
        Of the whole cut.
    """

    strategy: str
    k: int
    part: np.ndarray
    metrics: CutMetrics


def cut(edges: EdgeList, k: int, strategy: str | None = None, comm: Comm | None = None) -> Cut:
    """Cut *edges* into *k* parts and measure the cut (collective); *edges* stay as they are.

    Raises
    ------
    UsageError
        *k* is below 1 or above 2**31 - 1, or the strategy returns no part for each edge.
    """
    comm, k = as_comm(comm), arguments.whole("k", k, 1, INT32_LIMIT)
    if isinstance(edges, type) or not all(
        hasattr(edges, name) for name in ("src", "dst", "num_vertices", "ids")
    ):
        raise arguments.wrong("edges", edges, f"an EdgeList is needed, not {type(edges).__name__}")
    name, function = find(strategy)
    context = Context(comm, edges.num_vertices, edges.directed, num_left=edges.ids.num_left)
    part = parts_of(name, function, [edges.src, edges.dst], k, context)
    return Cut(name, k, part, _measured(edges.src, edges.dst, part, k, edges.num_vertices, comm))


def _measured(
    src: np.ndarray, dst: np.ndarray, part: np.ndarray, k: int, num_vertices: int, comm: Comm
) -> CutMetrics:
    """Give every vertex a row of k bits, one per part it has an edge in, and join the rows of all ranks."""
    index = Index(src, dst, num_vertices)
    held = np.zeros((index.gids.size, -(-k // 64)), dtype=np.uint64)
    for ends in (src, dst):
        kernels.mark_parts(index.of(ends), part, held)
    directory = Directory(comm, index.gids, num_vertices)
    joined = np.zeros((directory.num_slots, held.shape[1]), dtype=np.uint64)
    for word in range(held.shape[1]):
        kernels.or_at(directory.slots, directory.send(held[:, word].copy()), joined, word)
    replicas = np.zeros(64 * held.shape[1], dtype=np.int64)
    kernels.count_bits(joined, replicas)
    edges_of = comm.allreduce(np.bincount(part, minlength=k))
    vertices = comm.allreduce(int(joined.any(axis=1).sum()))
    return CutMetrics.of(vertices, edges_of, comm.allreduce(replicas[:k]))
