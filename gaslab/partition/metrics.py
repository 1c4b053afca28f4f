"""How good a cut is, in three numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gaslab.comm import Comm
from gaslab.localgraph import LocalGraph


@dataclass(frozen=True)
class CutMetrics:
    """The quality of a vertex-cut; every number is 1 at best.

    Attributes
    ----------
    replication_factor : float
        Mean number of replicas (master and mirrors) over the vertices that have an edge.
    edge_balance : float
        Edges of the fullest rank over the mean of all ranks.
    vertex_balance : float
        Replicas on the fullest rank over the mean of all ranks.
    """

    replication_factor: float
    edge_balance: float
    vertex_balance: float


def measure(comm: Comm, local: LocalGraph) -> CutMetrics:
    """Measure the cut that *local* is one part of (collective)."""
    with_edge = local.degree > 0
    replicas, masters = int(with_edge.sum()), int(with_edge[: local.num_masters].sum())
    table = np.array(comm.allgather((replicas, masters, local.num_edges, local.num_local)), dtype=float)
    replicas_all, masters_all = table[:, 0].sum(), table[:, 1].sum()
    return CutMetrics(
        replication_factor=float(replicas_all / masters_all) if masters_all else 1.0,
        edge_balance=_balance(table[:, 2]),
        vertex_balance=_balance(table[:, 3]),
    )


def _balance(loads: np.ndarray) -> float:
    return float(loads.max() / loads.mean()) if loads.any() else 1.0
