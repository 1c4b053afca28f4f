"""Core numbers by peeling: whoever has the fewest neighbours left goes first.

Seidman 1983; Matula and Beck 1983; Batagelj and Zaversnik 2003; in parallel by buckets: Dhulipala,
Blelloch and Shun, Julienne, SPAA 2017. A vertex waits in the bucket of its neighbours left. Those of the
lowest bucket go, all at once, and tell their neighbours, who count how many went and move down.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gaslab as gl
from gaslab.programs.unordered import FallingCores

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.result import Result

SPAN = 1 << 32  # a message is (1 + SPAN * core) of each neighbour that went; all of one step have one core


class Cores(gl.VertexProgram):
    """Each vertex's `core`: the largest k such that it belongs to a subgraph of least degree k."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        core: gl.int32 = 0
        _left: int = 0  # edges to vertices that have not gone
        _gone: bool = False

    def init(self, v: Vertex) -> None:
        v._left = v.degree

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        if self.superstep == 0:
            if v._left > 0:
                v.signal(priority=v._left)
        else:
            gone = message % SPAN
            level = message // SPAN // gone if gone > 0 else v._left
            v._left = max(v._left - gone, level)
            v._gone = v._left == level
            if v._gone:
                v.core = level
            else:
                v.signal(priority=v._left)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v._gone and not nbr._gone:
            nbr.signal(1 + SPAN * v.core, priority=v.core)


def kcore(graph: Graph, **options: Any) -> Result:
    """Return core numbers, ``result.vertices["core"]`` (int32), as ``networkx.core_number`` has them.

    Parameters
    ----------
    graph : Graph
        Edge directions are ignored. Every edge counts: parallel ones each, and both of a pair that runs
        to and fro, as in a directed graph of NetworkX; a self-loop counts twice, as in `degree`, and
        stays (NetworkX refuses it). For the undirected simple graph drop duplicates and loops when
        reading, with ``directed=False``.
    **options
        As for `gaslab.run`; ``engine="async"`` runs `FallingCores`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2, 3, 3], [2, 3, 1, 4], directed=False)
    >>> gl.kcore(graph).vertices["core"]
    array([2, 2, 2, 1], dtype=int32)
    """
    unordered = options.get("engine") == "async"
    return gl.run(FallingCores() if unordered else Cores(), graph, **options)
