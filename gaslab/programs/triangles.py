"""Triangles of an undirected graph: of each vertex, or all of them at less cost.

Every edge is led from its lower end to its higher, by degree and then by id, so that no vertex leads
many; then each triangle is met once. Chiba, Nishizeki: Arboricity and subgraph listing algorithms.
SIAM J. Computing 14, 1985. Schank, Wagner: Finding, counting and listing all triangles in large
graphs. WEA 2005.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import run
from gaslab.programs._neighbourhood import Neighbourhood, checked
from gaslab.programs._tool import Command, Tool
from gaslab.programs.directed_triangles import BY_DIRECTION, DirectedTriangles


class TriangleCount(gl.VertexProgram):
    """All triangles, each counted at its middle vertex: `middle`."""

    class Vertex(gl.Vertex):
        _higher: gl.SortedSet[gl.VertexId]
        middle: int = 0

    @gl.aggregator
    def triangles(self, v: Vertex) -> gl.Sum[int]:
        return v.middle

    @gl.aggregator
    def surplus(self, v: Vertex) -> gl.Sum[int]:
        return v.degree - 2 * len(v._higher)

    def is_higher(self, v: Vertex, nbr: Vertex) -> bool:
        return nbr.degree > v.degree or (nbr.degree == v.degree and nbr.id > v.id)

    def higher(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id if self.is_higher(v, nbr) else None

    def keep_higher(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v._higher = total

    def close(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        """Return the third vertices of the triangles whose lowest vertex is this neighbour."""
        return gl.common(v._higher, nbr._higher) if self.is_higher(nbr, v) else 0

    def keep(self, v: Vertex, total: int) -> None:
        v.middle = total

    phases = (
        gl.Phase(gather=higher, apply=keep_higher, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=close, apply=keep, gather_edges=gl.ALL, supersteps=1),
    )


class Triangles(Neighbourhood):
    """Each vertex's `triangles` and `neighbors`; of the other two in a triangle one is the higher."""

    class Vertex(gl.Vertex):
        _around: gl.SortedSet[gl.VertexId]
        _higher: gl.SortedSet[gl.VertexId]
        triangles: int = 0
        neighbors: int = 0

    @gl.aggregator
    def corners(self, v: Vertex) -> gl.Sum[int]:
        return v.triangles

    @gl.aggregator
    def pairs(self, v: Vertex) -> gl.Sum[int]:
        return v.neighbors * (v.neighbors - 1) // 2

    @gl.aggregator
    def surplus(self, v: Vertex) -> gl.Sum[int]:
        return v.degree - len(v._around)

    def keep_around(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v._around = total
        v.neighbors = len(total)

    def higher(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id if nbr.degree > v.degree or (nbr.degree == v.degree and nbr.id > v.id) else None

    def keep_higher(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v._higher = total

    def close(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.common(v._around, nbr._higher) if nbr.id != v.id else 0

    def keep(self, v: Vertex, total: int) -> None:
        v.triangles = total

    phases: ClassVar[tuple[gl.Phase, ...]] = (
        gl.Phase(gather=Neighbourhood.others, apply=keep_around, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=higher, apply=keep_higher, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(gather=close, apply=keep, gather_edges=gl.ALL, supersteps=1),
    )


@collective(options="run")
def triangles(graph: gl.Graph, *, per_vertex: bool = True, **options: Any) -> gl.Result:
    """Count the triangles at every vertex, and all together: ``result.metrics["triangles"]``.

    Self-loops are ignored. In an undirected graph ``result.vertices["triangles"]`` (int64) equals NetworkX's
    ``triangles``. A directed graph has four columns, as in GraphLab: for a vertex v and an edge u -> w
    opposite it, ``in_triangles`` (u -> v, w -> v), ``out_triangles`` (v -> u, v -> w), ``through_triangles``
    (u -> v -> w) and ``cycle_triangles`` (v -> u, w -> v).

    Parameters
    ----------
    graph : Graph
        Without parallel edges.
    per_vertex : bool
        False: only the total number of triangles of an undirected graph, in about half the time; the column
        ``middle`` counts each at its middle vertex by degree and id.
    **options
        As for `gaslab.run`.

    Raises
    ------
    UsageError
        The graph has parallel edges, or it is directed and *per_vertex* is False.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 1, 2, 2, 3], [2, 3, 3, 4, 4], directed=False)
    >>> result = gl.triangles(graph)
    >>> result.vertices["triangles"], result.metrics["triangles"]
    (array([1, 2, 2, 1]), 2)
    """
    check_graph(graph)
    per_vertex = arguments.flag("per_vertex", per_vertex)
    if graph.directed and not per_vertex:
        raise gl.UsageError("per_vertex=False needs an undirected graph; this one is directed")
    if graph.directed:
        result = run(DirectedTriangles(), graph, **options)
        checked(graph, result)
        return result
    result = run(Triangles() if per_vertex else TriangleCount(), graph, **options)
    last = checked(graph, result)
    count = last["corners"] // 3 if per_vertex else last["triangles"]
    return result.replaced(metrics={**result.metrics, "triangles": count, "answer": {"triangles": count}})


TOOL = Tool(
    triangles, order=80,
    command=Command(
        "triangles at every vertex",
        "Triangles at every vertex and in total; in a directed graph, by direction.",
        fields=(*BY_DIRECTION, "triangles"), also=("neighbors",),
    ),
    answer="`triangles`; directed `in_triangles`, `out_triangles`, `through_triangles`, `cycle_triangles`",
    definition="no parallel edges", source="Chiba, Nishizeki 1985; Schank, Wagner 2005",
    networkx="`triangles`",
)  # fmt: skip
