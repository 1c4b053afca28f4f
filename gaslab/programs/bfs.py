"""Breadth-first search: how many edges every vertex is away from a source.

The frontier of each superstep signals whoever has no level yet. A signal carries nothing, so where the
frontier is large its targets look for it instead, each only until its first neighbour there
(Beamer, Asanović and Patterson: Direction-optimizing breadth-first search, SC 2012); the engine chooses.
Levels are those of LDBC Graphalytics and NetworkX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gaslab as gl

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.result import Result


class Levels(gl.VertexProgram):
    """Each vertex's `level`: the edges on a shortest way from `source`, -1 where there is none."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        level: gl.int32 = -1

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex) -> None:
        v.level = self.superstep

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.level < 0:
            nbr.signal()


def bfs(graph: Graph, source: Any, **options: Any) -> Result:
    """Return breadth-first levels from *source*, ``result.vertices["level"]`` (int32, -1: not reached).

    Parameters
    ----------
    graph : Graph
        Directed edges are followed forward.
    source : vertex id
        In the user's own ids.
    **options
        As for `gaslab.run`.

    Raises
    ------
    VertexNotFound
        *source* is not in the graph.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 1, 2, 4], [2, 3, 3, 1])
    >>> gl.bfs(graph, 1).vertices["level"]
    array([ 0,  1,  1, -1], dtype=int32)
    """
    return gl.run(Levels(source=source), graph, **options)
