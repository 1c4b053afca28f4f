"""Core numbers by peeling: the vertices with the fewest neighbours left are removed first.

Seidman 1983; Matula and Beck 1983; Batagelj and Zaversnik 2003; in parallel by buckets: Dhulipala,
Blelloch and Shun, Julienne, SPAA 2017. A vertex waits in the bucket of its neighbours left. Those of the
lowest bucket leave, all at once, and signal their neighbours, which count how many left and move down.
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import is_async
from gaslab.programs._columns import run
from gaslab.programs._tool import Command, Tool
from gaslab.programs.unordered import FallingCores


class Cores(gl.VertexProgram):
    """Each vertex's `core`: the largest k such that it belongs to a subgraph of minimum degree k."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        core: gl.int32 = 0
        _left: int = 0  # edges to vertices that have not gone
        _gone: bool = False

    class Gone(gl.Accumulator):
        edges: int  # to neighbours that went
        core: gl.Max[int]  # of these; all of one step have one core

    def init(self, v: Vertex) -> None:
        v._left = v.degree

    def apply(self, v: Vertex, message: Gone) -> None:
        if self.superstep == 0:
            if v._left > 0:
                v.signal(priority=v._left)
        else:
            level = message.core if message.edges > 0 else v._left
            v._left = max(v._left - message.edges, level)
            v._gone = v._left == level
            if v._gone:
                v.core = level
            else:
                v.signal(priority=v._left)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v._gone and not nbr._gone:
            nbr.signal(self.Gone(edges=1, core=v.core), priority=v.core)


@collective(options="run")
def kcore(graph: gl.Graph, **options: Any) -> gl.Result:
    """Return core numbers, ``result.vertices["core"]`` (int32), as ``networkx.core_number`` does.

    Parameters
    ----------
    graph : Graph
        Edge directions are ignored. Every edge counts: each parallel edge, and both edges of a reciprocal
        pair, as in a directed graph of NetworkX; a self-loop counts twice, as in `degree`, and stays
        (NetworkX refuses self-loops). For the undirected simple graph drop duplicates and self-loops when
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
    unordered = is_async(options)
    return run(FallingCores() if unordered else Cores(), graph, **options)


TOOL = Tool(
    kcore, order=70,
    command=Command(
        "core numbers",
        "Core numbers: the largest k such that a vertex is in a subgraph of minimum degree k.",
        fields=("core",),
    ),
    answer="`core`", definition="largest k with a subgraph of minimum degree k",
    source="Seidman 1983; Batagelj, Zaversnik 2003", networkx="`core_number`",
)  # fmt: skip
