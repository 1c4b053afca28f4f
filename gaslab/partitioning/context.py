"""What a strategy may know about the whole graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gaslab.ingest.edges import EdgeList
from gaslab.ingest.ids import VertexIds
from gaslab.parallel.comm import Comm


@dataclass
class Context:
    """The properties of the whole graph that a strategy may use, besides the edges of this rank."""

    comm: Comm
    num_vertices: int
    directed: bool
    threads: int = 1
    num_left: int | None = None  # of a bipartite graph: one end of each edge has a global id below
    ids: VertexIds | None = None  # the user's ids of global ids; a gaslab graph has them always
    chosen: str | None = None  # a strategy that cuts by another one names it here

    @classmethod
    def of(cls, edges: EdgeList, comm: Comm, threads: int) -> Context:
        """Return the context of a graph."""
        return cls(comm, edges.num_vertices, edges.directed, threads, edges.ids.num_left, edges.ids)


# (src, dst, k, context) -> the part, 0..k-1, of each edge of this rank, as integers; collective.
Strategy = Callable[[np.ndarray, np.ndarray, int, Context], np.ndarray]
