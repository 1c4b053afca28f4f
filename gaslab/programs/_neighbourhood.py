"""The first phase of programs on triangles, and the look back whether the graph has parallel edges."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.programs._loops import count_self_loops


class Neighbourhood(gl.VertexProgram):
    """The other ends of edges, the vertex itself left out."""

    def others(self, v: gl.Vertex, e: gl.Edge, nbr: gl.Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id if nbr.id != v.id else None


def checked(graph: gl.Graph, result: gl.Result) -> dict[str, Any]:
    """Return the aggregates at the end; raises UsageError if there were parallel edges (collective).

    The aggregate ``surplus`` is the number of edges (of an undirected graph, of their ends) less those of
    neighbours in all sets: of self-loops, which are counted where there is any, and of parallel edges.
    """
    nothing = dict.fromkeys(("surplus", "corners", "pairs", "triangles"), 0)
    last: dict[str, Any] = result.history[-1] if result.history else nothing  # no vertices, no supersteps
    surplus = last["surplus"] if graph.directed else last["surplus"] // 2
    if surplus and surplus > count_self_loops(graph):
        raise gl.UsageError(
            "triangle counting needs a simple graph, and this one has parallel edges; read it with "
            "drop_duplicates=True"
        )
    return last
