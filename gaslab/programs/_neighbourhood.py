"""The first phase of the programs on triangles: each vertex gathers its neighbours."""

from __future__ import annotations

import gaslab as gl


class Neighbourhood(gl.VertexProgram):
    """The other ends of edges, the vertex itself left out; fewer than `_edges` where some are parallel."""

    class Vertex(gl.Vertex):
        _edges: int = 0

    def count_others(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return 1 if nbr.id != v.id else 0

    def keep_count(self, v: Vertex, total: int) -> None:
        v._edges = total

    def others(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id if nbr.id != v.id else None
