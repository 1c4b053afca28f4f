"""How good a cut is, in three numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaslab.parallel.comm import Comm
from gaslab.partitioning.local_graph import LocalGraph


@dataclass(frozen=True)
class CutMetrics:
    """The quality of a vertex-cut; every number is 1 at best. Vertices without edges do not count.

    Attributes
    ----------
    replication_factor : float
        Mean number of replicas (master and mirrors) of a vertex.
    edge_balance : float
        Edges of the fullest part over the mean of all parts.
    vertex_balance : float
        Replicas in the fullest part over the mean of all parts.
    """

    replication_factor: float
    edge_balance: float
    vertex_balance: float

    @classmethod
    def of(cls, vertices: int, edges: np.ndarray, replicas: np.ndarray) -> CutMetrics:
        """Return the metrics of so many vertices, and of the edges and replicas of each part."""
        return cls(
            replication_factor=float(replicas.sum() / vertices) if vertices else 1.0,
            edge_balance=_balance(edges),
            vertex_balance=_balance(replicas),
        )


def measure(comm: Comm, local: LocalGraph) -> CutMetrics:
    """Measure the cut that *local* is one part of (collective)."""
    with_edge = local.degree > 0
    replicas, masters = int(with_edge.sum()), int(with_edge[: local.num_masters].sum())
    table = np.array(comm.allgather((masters, local.num_edges, replicas)))
    return CutMetrics.of(int(table[:, 0].sum()), table[:, 1], table[:, 2])


def _balance(loads: np.ndarray) -> float:
    return float(loads.max() / loads.mean()) if loads.any() else 1.0
