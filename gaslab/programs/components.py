"""Weakly connected components: a search from the largest vertex, then smallest labels on the rest.

In most graphs nearly all vertices hang together. One search by plain signals finds them, and where its
frontier is large its targets look for it, each only until the first hit; what is left over is small and
passes labels on. (Slota, Rajamanickam and Madduri: BFS and coloring-based parallel algorithms for
strongly connected components and related problems, IPDPS 2014.) The label of a component is its
smallest member, as in LDBC Graphalytics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gaslab as gl

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.result import Result


class Components(gl.VertexProgram):
    """Each vertex's `component`: the smallest id among the vertices it is weakly connected to."""

    class Vertex(gl.Vertex):
        component: gl.VertexId
        _found: bool = False  # by the search

    @gl.aggregator
    def most(self, v: Vertex) -> gl.Max[int]:
        return v.degree

    @gl.aggregator
    def smallest(self, v: Vertex) -> gl.Min[gl.VertexId]:
        return v.component

    @gl.aggregator
    def largest(self, v: Vertex) -> gl.Max[gl.VertexId]:
        return v.component

    def init(self, v: Vertex) -> None:
        v.component = v.id

    def stand(self, v: Vertex) -> None:  # the first of the largest vertices is now the smallest label
        v.component = v.id if v.degree == self.most else self.largest

    def is_hub(self, v: Vertex) -> bool:
        return v.id == self.smallest

    def find(self, v: Vertex) -> None:
        v.component = v.id
        v._found = True

    def search(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if not nbr._found:
            nbr.signal()

    def take(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.component = self.smallest if v._found else min(v.id, v.component, message)

    def tell(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if not nbr._found and v.component < nbr.component:
            nbr.signal(v.component)

    phases = (
        gl.Phase(apply=stand, supersteps=1),
        gl.Phase(start=is_hub, apply=find, scatter=search, scatter_edges=gl.ALL),
        gl.Phase(apply=take, scatter=tell, scatter_edges=gl.ALL),
    )


def components(graph: Graph, **options: Any) -> Result:
    """Return weakly connected components, ``result.vertices["component"]`` (the smallest id in each).

    Parameters
    ----------
    graph : Graph
        Edge directions are ignored.
    **options
        As for `gaslab.run`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2, 7], [2, 3, 8])
    >>> gl.components(graph).vertices["component"]
    array([1, 1, 1, 7, 7])
    """
    return gl.run(Components(), graph, **options)
