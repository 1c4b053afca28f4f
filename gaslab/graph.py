"""The graph that programs run on: every rank's part of it, and what is known of the whole."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from gaslab import launch
from gaslab.comm import Comm, world
from gaslab.localgraph import LocalGraph
from gaslab.partition import strategies
from gaslab.partition.build import build_local
from gaslab.partition.metrics import measure

if TYPE_CHECKING:
    from gaslab.ingest.edges import EdgeList
    from gaslab.ingest.ids import VertexIds


class Graph:
    """A graph spread over the ranks of a communicator.

    Attributes
    ----------
    comm : Comm
    directed : bool
    num_vertices, num_edges : int
        Of the whole graph; an undirected edge counts once.
    strategy : str
        Name of the vertex-cut strategy; see `gaslab.partition.strategies`.
    replication_factor, edge_balance, vertex_balance : float
        Quality of the cut; see `gaslab.partition.metrics.CutMetrics`.
    edge_columns : dict of str to array
        Values of this rank's edges, in the order of ``local``'s slots.
    ids : VertexIds
        User ids to global ids and back.
    counts : dict of str to int
        What was read: lines, comments, blanks, lines_rejected, self_loops, duplicates.
    source, fingerprint : str
        Where the edges came from, and a value that is the same for the same input on any ranks.
    seconds : dict of str to float
        Time of the slowest rank for ``load`` and ``partition``.
    local : LocalGraph
        This rank's part.
    """

    def __init__(
        self,
        *,
        comm: Comm,
        directed: bool,
        num_vertices: int,
        strategy: str,
        local: LocalGraph,
        edge_columns: dict[str, np.ndarray],
        ids: VertexIds,
        counts: dict[str, int],
        source: str,
        fingerprint: str,
        seconds: dict[str, float],
    ) -> None:
        self.comm = comm
        self.directed = directed
        self.num_vertices = num_vertices
        self.num_edges = int(comm.allreduce(local.num_edges))
        self.strategy = strategy
        self.local = local
        self.edge_columns = edge_columns
        self.ids = ids
        self.counts = counts
        self.source = source
        self.fingerprint = fingerprint
        self.seconds = {name: float(comm.allreduce(value, "max")) for name, value in seconds.items()}
        cut = measure(comm, local)
        self.replication_factor = cut.replication_factor
        self.edge_balance = cut.edge_balance
        self.vertex_balance = cut.vertex_balance

    @classmethod
    def from_edge_list(
        cls,
        edges: EdgeList,
        *,
        strategy: str | None = None,
        comm: Comm | None = None,
        load_seconds: float = 0.0,
    ) -> Graph:
        """Cut *edges*, any split of them over the ranks, and build each rank's part (collective).

        The arrays of *edges* are taken over and freed on the way.
        """
        name, cut = strategies.find(strategy)
        comm = world() if comm is None else comm
        started = time.perf_counter()
        local, columns = build_local(edges, cut, comm, launch.threads_per_rank(comm.size))
        return cls(
            comm=comm,
            directed=edges.directed,
            num_vertices=edges.num_vertices,
            strategy=name,
            local=local,
            edge_columns=columns,
            ids=edges.ids,
            counts=edges.counts,
            source=edges.source,
            fingerprint=edges.fingerprint,
            seconds={"load": load_seconds, "partition": time.perf_counter() - started},
        )
