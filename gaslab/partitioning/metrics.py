"""The quality of a cut, in numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gaslab.parallel.comm import Comm
from gaslab.partitioning.baseline import Baseline, grid_bound
from gaslab.partitioning.local_graph import LocalGraph

if TYPE_CHECKING:
    from gaslab.partitioning.census import Census

BANDWIDTH = 1e9  # bytes a second into or out of a part: about what 10 gigabits give
VALUE_BYTES = 8  # of a float64


@dataclass(frozen=True)
class CutMetrics:
    """The quality of a vertex-cut; every number is 1 at best. Vertices without edges do not count.

    Attributes
    ----------
    replication_factor : float
        Mean number of replicas (master and mirrors) of a vertex.
    edge_balance : float
        Edges of the fullest part divided by the mean over all parts.

    vertex_balance : float
        Replicas in the fullest part divided by the mean over all parts.
    """

    replication_factor: float
    edge_balance: float
    vertex_balance: float

    @classmethod
    def of(cls, vertices: int, edges: np.ndarray, replicas: np.ndarray) -> CutMetrics:
        """Return the metrics for a number of vertices and the edges and replicas of each part."""
        return CutMetrics(
            replication_factor=float(replicas.sum() / vertices) if vertices else 1.0,
            edge_balance=_balance(edges),
            vertex_balance=_balance(replicas),
        )


@dataclass(frozen=True)
class Cost:
    """The cost of making a cut.

    Attributes
    ----------
    seconds : float
        Time on the slowest rank.
    peak_bytes : int or None
        Peak bytes of numpy and Python besides the edges, over all ranks; None if the program traces its
        memory itself.
    """

    seconds: float
    peak_bytes: int | None


@dataclass(frozen=True)
class PartitionMetrics(CutMetrics):
    """All metrics of a cut. Vertices without edges do not count.

    A *superstep* is that of a program such as PageRank, which gathers one value over in-edges and changes all
    vertices: each mirror with in-edges sends a sum to its master, and each mirror with out-edges gets the new
    value. In an undirected graph each mirror does both.

    Attributes
    ----------
    master_balance, mirror_balance : float
        Masters, and mirrors, in the fullest part divided by the mean over all parts; 1 at best.
    cut_vertex_share : float
        Share of the vertices that are in more than one part, 0 to 1.
    mean_peers, most_peers : float, int; or None
        Number of other parts that a part exchanges values with: mean and maximum over all parts. None above
        1,024 parts.
    bytes_per_superstep : int
        Bytes that all parts send in a superstep.
    busiest_bytes : int
        The most bytes that one part sends, or receives, in a superstep.
    seconds : float
        Time of the cut, on the slowest rank.
    edges_per_second : float
    peak_bytes_per_edge : float or None
        Peak bytes of numpy and Python besides the edges while the graph was cut, over all ranks; None if the
        program traces its memory itself.
    break_even : float or None
        Supersteps after which the cut has saved the extra time that it took over `random`; 0 if it took no
        longer, None if the busiest part is no less busy. A superstep waits for that part, whose bytes take
        ``busiest_bytes / bandwidth`` seconds; computation time is not counted.
    random_replication_factor : float
        The exact expectation of RF under `random`.
    grid_bound : float
        2 sqrt(k): the approximate maximum of replicas of a vertex under `2d`.
    """

    master_balance: float
    mirror_balance: float
    cut_vertex_share: float
    mean_peers: float | None
    most_peers: int | None
    bytes_per_superstep: int
    busiest_bytes: int
    seconds: float
    edges_per_second: float
    peak_bytes_per_edge: float | None
    break_even: float | None
    random_replication_factor: float
    grid_bound: float

    @classmethod
    def judge(
        cls, census: Census, cost: Cost, random: tuple[Census, Cost], baseline: Baseline,
        value_bytes: int = VALUE_BYTES, bandwidth: float = BANDWIDTH,
    ) -> PartitionMetrics:  # fmt: skip
        """Return the metrics of a cut; *random* are the counts and the cost of a cut by `random`."""
        edges = int(census.edges.sum())
        cut = CutMetrics.of(census.vertices, census.edges, census.replicas)
        peers = _peers(census.traffic)
        busiest, against = (busiest_values(one) * value_bytes for one in (census, random[0]))
        return cls(
            **vars(cut),
            master_balance=_balance(census.masters),
            mirror_balance=_balance(census.mirrors),
            cut_vertex_share=census.cut_vertices / max(census.vertices, 1),
            mean_peers=None if peers is None else float(peers.mean()),
            most_peers=None if peers is None else int(peers.max()),
            bytes_per_superstep=int(census.sends.sum()) * value_bytes,
            busiest_bytes=busiest,
            seconds=cost.seconds,
            edges_per_second=edges / cost.seconds if cost.seconds > 0 else 0.0,
            peak_bytes_per_edge=None if cost.peak_bytes is None else cost.peak_bytes / max(edges, 1),
            break_even=break_even(cost.seconds - random[1].seconds, (against - busiest) / bandwidth),
            random_replication_factor=baseline.random_replication_factor(census.k),
            grid_bound=grid_bound(census.k),
        )


def break_even(longer: float, saved: float) -> float | None:
    """Return how many supersteps, each saving some seconds, make up for a cut that took *longer*.

    >>> break_even(2.0, 0.5), break_even(-1.0, 0.5), break_even(2.0, 0.0)
    (4.0, 0.0, None)
    """
    if saved <= 0:
        return None
    return max(longer, 0.0) / saved


def busiest_values(census: Census) -> int:
    """Return the most values that a part sends, or receives, in a superstep."""
    return int(max(census.sends.max(), census.receives.max()))


def measure(comm: Comm, local: LocalGraph) -> CutMetrics:
    """Measure the cut to which *local* belongs (collective)."""
    with_edge = local.degree > 0
    replicas, masters = int(with_edge.sum()), int(with_edge[: local.num_masters].sum())
    table = np.array(comm.allgather((masters, local.num_edges, replicas)))
    return CutMetrics.of(int(table[:, 0].sum()), table[:, 1], table[:, 2])


def _peers(traffic: np.ndarray | None) -> np.ndarray | None:
    """Return with how many other parts each part exchanges values."""
    if traffic is None:
        return None
    count: np.ndarray = ((traffic > 0) | (traffic.T > 0)).sum(axis=1)
    return count


def _balance(loads: np.ndarray) -> float:
    return float(loads.max() / loads.mean()) if loads.any() else 1.0
