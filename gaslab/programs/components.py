"""Weakly connected components by smallest-label propagation.

Every vertex takes the smallest vertex id it hears of and passes it on, edges taken both ways. The
label of a component is its smallest member, as in LDBC Graphalytics. Rounds are bounded by the
diameter; on power-law graphs almost all work is in the first three, where targets pull.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gaslab as gl

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.result import Result


class Components(gl.VertexProgram):
    """Each vertex's `component`: the smallest id among the vertices it is weakly connected to."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        component: gl.VertexId

    def init(self, v: Vertex) -> None:
        v.component = v.id

    def apply(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.component = min(v.component, message)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.component < nbr.component:
            nbr.signal(v.component)


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
