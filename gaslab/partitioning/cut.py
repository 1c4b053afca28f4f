"""A vertex-cut into any number of parts, examined without building it."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.ma  # else the first timed cut would load it

from gaslab import arguments
from gaslab.ingest.edges import EdgeList
from gaslab.parallel import launch
from gaslab.parallel.comm import Comm, as_comm
from gaslab.partitioning.baseline import Baseline
from gaslab.partitioning.census import Census, Holders, take_census
from gaslab.partitioning.metrics import Cost, CutMetrics
from gaslab.partitioning.parts import parts_of
from gaslab.partitioning.shuffle import INT32_LIMIT
from gaslab.partitioning.strategies import Context, find


@dataclass(frozen=True)
class Cut:
    """The part to which a strategy assigns each edge.

    Attributes
    ----------
    strategy : str
        The strategy that was named or chosen.
    k : int
        Number of parts, which need not be the number of ranks.
    part : int32 array
        The part, 0..k-1, of each edge of this rank, in the order of the edge list.
    census : Census
        The contents of each part of the whole cut.
    holders : Holders
        Where this rank's share of the vertices is.
    cost : Cost
        The cost of making the cut.
    """

    strategy: str
    k: int
    part: np.ndarray
    census: Census
    holders: Holders
    cost: Cost

    @property
    def metrics(self) -> CutMetrics:
        """The quality of the whole cut."""
        return CutMetrics.of(self.census.vertices, self.census.edges, self.census.replicas)


def cut(
    edges: EdgeList,
    k: int,
    strategy: str | None = None,
    comm: Comm | None = None,
    baseline: Baseline | None = None,
) -> Cut:
    """Cut *edges* into *k* parts and measure the cut (collective); *edges* are not changed.

    A *baseline* that is given saves counting the degrees again.

    Raises
    ------
    UsageError
        *k* is below 1 or above 2**31 - 1, or the strategy does not return a part for each edge.
    """
    comm, k = as_comm(comm), arguments.whole("k", k, 1, INT32_LIMIT)
    check_edges(edges)
    arguments.instance("baseline", baseline, Baseline, "what baseline_of(edges) returned", optional=True)
    threads = launch.threads_per_rank(comm.local_ranks)
    name, function = find(strategy)
    context = Context.of(edges, comm, threads)

    def place() -> np.ndarray:
        return parts_of(name, function, [edges.src, edges.dst], k, context)

    part, cost = _timed(comm, place)
    if baseline is None:
        baseline = baseline_of(edges, comm)
    census, holders = take_census(
        edges.src, edges.dst, part, k, baseline.degree, edges.directed, comm, threads
    )
    return Cut(context.chosen or name, k, part, census, holders, cost)


def baseline_of(edges: EdgeList, comm: Comm) -> Baseline:
    """Count the edges and neighbours of each vertex, common to all cuts (collective)."""
    threads = launch.threads_per_rank(comm.local_ranks)
    return Baseline.of(edges.src, edges.dst, edges.num_vertices, comm, threads)


def check_edges(edges: EdgeList) -> None:
    """Raise a UsageError if *edges* is not an EdgeList."""
    if isinstance(edges, type) or not all(
        hasattr(edges, name) for name in ("src", "dst", "num_vertices", "ids")
    ):
        raise arguments.wrong("edges", edges, f"an EdgeList is needed, not {type(edges).__name__}")


def _timed(comm: Comm, place: Callable[[], np.ndarray]) -> tuple[np.ndarray, Cost]:
    """Return the result of *place*, and its cost (collective)."""
    ours = not tracemalloc.is_tracing()
    if ours:
        tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        began = time.perf_counter()
        part = place()
        took = time.perf_counter() - began
        peak = tracemalloc.get_traced_memory()[1] - before
    finally:
        if ours:
            tracemalloc.stop()
    known = comm.allreduce(int(ours), "min")
    total = int(comm.allreduce(max(peak, 0)))
    return part, Cost(float(comm.allreduce(took, "max")), total if known else None)
