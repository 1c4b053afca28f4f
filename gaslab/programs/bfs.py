"""Breadth-first search: how many edges every vertex is away from a source, and by whom it is reached.

The frontier of each superstep signals the neighbours without a level. A signal carries nothing, so where the
frontier is large its targets look for it instead, each only until its first neighbour there
(Beamer, Asanović and Patterson: Direction-optimizing breadth-first search, SC 2012); the engine chooses.
Levels are those of LDBC Graphalytics and NetworkX. Parents cost one more look at the in-edges: with the
search itself they would forbid to stop at the first neighbour, if the answer is to be the same every time.
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_counts_supersteps
from gaslab.programs._columns import run
from gaslab.programs._tool import Command, Option, Tool


class Levels(gl.VertexProgram):
    """Each vertex's `level`: the number of edges on a shortest path from `source`, -1 if not reached."""

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


class Tree(gl.VertexProgram):
    """Each vertex's `level`, and its `parent`: the smallest id among the neighbours that reach it first."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        level: gl.int32 = -1
        parent: gl.VertexId = gl.NOBODY

    def is_source(self, v: Vertex) -> bool:
        return v.id == self.source

    def reach(self, v: Vertex) -> None:
        v.level = self.superstep

    def search(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.level < 0:
            nbr.signal()

    def has_parent(self, v: Vertex) -> bool:
        return v.level > 0

    def above(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.id if nbr.level == v.level - 1 else gl.NOBODY

    def choose(self, v: Vertex, total: gl.VertexId) -> None:
        v.parent = total

    phases = (
        gl.Phase(start=is_source, apply=reach, scatter=search),
        gl.Phase(active=has_parent, gather=above, apply=choose, supersteps=1),
    )


@collective(options="run")
def bfs(graph: gl.Graph, source: Any, *, parents: bool = False, **options: Any) -> gl.Result:
    """Return breadth-first levels from *source*, ``result.vertices["level"]`` (int32, -1: not reached).

    Parameters
    ----------
    graph : Graph
        Directed edges are followed forward.
    source : vertex id
        In the user's own ids.
    parents : bool
        Also return ``result.vertices["parent"]``: the smallest id among the neighbours one level nearer to
        *source*. The source and vertices not reached have None, or -1 where ids are integers from 0.
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
    >>> gl.bfs(graph, 1, parents=True).vertices["parent"]
    array([-1,  1,  1, -1])
    """
    parents = arguments.flag("parents", parents)
    check_counts_supersteps("bfs", options)
    return run(Tree(source=source) if parents else Levels(source=source), graph, **options)


TOOL = Tool(
    bfs, order=10,
    command=Command(
        "breadth-first search from one vertex",
        "Breadth-first search: the distance of every vertex in edges; -1 if it is not reached.",
        fields=("parent", "level"), show="nearest",
        options=(
            Option("source", "vertex", "the vertex to start from", "ID", required=True),
            Option("parents", "flag", "also write the predecessor of each vertex"),
        ),
    ),
    answer="`level`, on request `parent`",
    definition="edges on a shortest path, -1 without one; the smallest id one level nearer",
    source="Beamer, Asanović, Patterson 2012", networkx="`single_source_shortest_path_length`",
)  # fmt: skip
