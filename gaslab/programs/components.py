"""Weakly connected components: a search from the largest vertex, then smallest labels on the rest.

In most graphs nearly all vertices hang together. One search by plain signals finds them, and where its
frontier is large its targets look for it, each only until the first hit; what is left over is small and
passes labels on. (Slota, Rajamanickam and Madduri: BFS and coloring-based parallel algorithms for
strongly connected components and related problems, IPDPS 2014.) The label of a component is its
smallest member, as in LDBC Graphalytics.
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import is_async
from gaslab.programs._columns import run
from gaslab.programs.unordered import SmallestLabel


class Components(gl.VertexProgram):
    """Each vertex's `component`: the smallest id among the vertices it is weakly connected to."""

    class Vertex(gl.Vertex):
        component: gl.VertexId = gl.NOBODY
        _found: bool = False  # by the search

    @gl.aggregator(every=gl.Phase)
    def hub(self, v: Vertex) -> gl.ArgMax[int, gl.VertexId]:
        return v.degree, v.id

    @gl.aggregator(every=gl.Phase)
    def smallest(self, v: Vertex) -> gl.Min[gl.VertexId]:
        return v.id if v._found else gl.NOBODY

    def is_hub(self, v: Vertex) -> bool:
        return v.id == self.hub[1]

    def find(self, v: Vertex) -> None:
        v._found = True

    def search(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if not nbr._found:
            nbr.signal()

    def is_left(self, v: Vertex) -> bool:
        return v.degree > 0 and not v._found

    def take(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.component = min(v.id, v.component, message)

    def send_least(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.component < nbr.component:
            nbr.signal(v.component)

    def name(self, v: Vertex) -> None:
        v.component = self.smallest if v._found else min(v.id, v.component)

    phases = (
        gl.Phase(start=is_hub, apply=find, scatter=search, scatter_edges=gl.ALL),
        gl.Phase(start=is_left, apply=take, scatter=send_least, scatter_edges=gl.ALL),
        gl.Phase(apply=name, supersteps=1),  # no edge reads it, so it is not sent
    )


@collective(options="run")
def components(graph: gl.Graph, **options: Any) -> gl.Result:
    """Return weakly connected components, ``result.vertices["component"]`` (the smallest id in each).

    Parameters
    ----------
    graph : Graph
        Edge directions are ignored.
    **options
        As for `gaslab.run`; ``engine="async"`` runs `SmallestLabel`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2, 7], [2, 3, 8])
    >>> gl.components(graph).vertices["component"]
    array([1, 1, 1, 7, 7])
    """
    unordered = is_async(options)
    return run(SmallestLabel() if unordered else Components(), graph, **options)
