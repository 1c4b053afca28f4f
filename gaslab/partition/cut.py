"""A vertex-cut into any number of parts, looked at without building it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import gaslab._kernels.partition as kernels
from gaslab.comm import Comm, as_comm
from gaslab.errors import UsageError
from gaslab.partition.directory import Directory
from gaslab.partition.index import Index
from gaslab.partition.metrics import CutMetrics
from gaslab.partition.strategies import Context, find

if TYPE_CHECKING:
    from gaslab.ingest.edges import EdgeList


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
    """Cut *edges* into *k* parts and measure the cut (collective); *edges* stay as they are."""
    name, function = find(strategy)
    if k < 1:
        raise UsageError(f"a graph cannot be cut into {k} parts; k is at least 1")
    comm = as_comm(comm)
    context = Context(comm, edges.num_vertices, edges.directed)
    part = function(edges.src, edges.dst, k, context)
    return Cut(name, k, part, measure_parts(edges.src, edges.dst, part, k, edges.num_vertices, comm))


def measure_parts(
    src: np.ndarray, dst: np.ndarray, part: np.ndarray, k: int, num_vertices: int, comm: Comm
) -> CutMetrics:
    """Measure a cut from the part of every edge, however the edges are split over ranks (collective).

    Every vertex has a row of k bits, one per part it has an edge in; the rows of all ranks are
    joined at the directory.
    """
    index = Index(src, dst, num_vertices)
    held = np.zeros((index.gids.size, -(-k // 64)), dtype=np.uint64)
    for ends in (src, dst):
        kernels.mark_parts(index.of(ends), part, held)
    directory = Directory(comm, index.gids, num_vertices)
    joined = np.zeros((directory.num_slots, held.shape[1]), dtype=np.uint64)
    for word in range(held.shape[1]):
        kernels.or_at(directory.slots, directory.tell(held[:, word].copy()), joined, word)
    replicas = np.zeros(64 * held.shape[1], dtype=np.int64)
    kernels.count_bits(joined, replicas)
    edges_of = comm.allreduce(np.bincount(part, minlength=k))
    vertices = comm.allreduce(int(joined.any(axis=1).sum()))
    return CutMetrics.of(vertices, edges_of, comm.allreduce(replicas[:k]))
