"""Single-source shortest paths by relaxation with messages (Bellman–Ford on a frontier).

Bellman 1958; Ford 1956. A vertex whose distance fell offers each out-neighbour a shorter way; offers
combine by their minimum. Simple and parallel; it relaxes an edge more often than Dijkstra where
weights vary much. Weights must not be negative. With buckets of distances, the nearest first, it relaxes
fewer: Meyer and Sanders, Δ-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003.
"""

from __future__ import annotations

import math
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import WEIGHT, lengths, run

LAST_BUCKET = 2.0**62  # the number of a bucket is an int64; what lies further shares the last one


class ShortestPaths(gl.VertexProgram):
    """Each vertex's `distance` from `source`, infinite where there is no path."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        distance: float

    class Edge(gl.Edge):
        weight: float = 1.0

    def init(self, v: Vertex) -> None:
        v.distance = 0.0 if v.id == self.source else math.inf

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex, message: gl.Min[float]) -> None:
        v.distance = min(v.distance, message)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance:
            nbr.signal(v.distance + e.weight)


class DeltaStepping(ShortestPaths):
    """The same, a bucket of distances `delta` wide after the other."""

    delta: float

    def scatter(self, v: ShortestPaths.Vertex, e: ShortestPaths.Edge, nbr: ShortestPaths.Vertex) -> None:
        there = v.distance + e.weight
        if there < nbr.distance:
            nbr.signal(there, priority=min(there / self.delta, LAST_BUCKET))


@collective(options="run", own=("columns",))
def sssp(
    graph: gl.Graph, source: Any, *, weight: str | None = WEIGHT, delta: float | None = None, **options: Any
) -> gl.Result:
    """Return shortest-path distances from *source*, ``result.vertices["distance"]`` (float64, inf: no path).

    Parameters
    ----------
    graph : Graph
    source : vertex id
        In the user's own ids.
    weight : str, optional
        Edge column of non-negative lengths, of which no path takes an infinite one. Every edge has length 1
        where *weight* is None, or is not given and the graph has no column "weight".
    delta : float, optional
        Run by delta-stepping: only vertices of the nearest bucket, so many units of length wide, run
        in a superstep. Fewer relaxations in more supersteps; what ``engine="async"`` gains most from. By
        default every vertex with a shorter distance runs. Distances of 2**62 buckets and more share one.
    **options
        As for `gaslab.run`.

    Raises
    ------
    VertexNotFound
        *source* is not in the graph.
    UsageError
        The graph has no column that *weight* names, a weight is negative or not a number, weights are so
        large that a path may sum to infinity, or *delta* is not a finite number above 0.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 0, 1], [1, 2, 2], columns={"weight": [1.0, 5.0, 1.0]})
    >>> gl.sssp(graph, 0).vertices["distance"]
    array([0., 1., 2.])
    >>> gl.sssp(graph, 0, delta=2.0).vertices["distance"]
    array([0., 1., 2.])
    """
    check_graph(graph)
    weight = arguments.text("weight", weight, optional=True)
    delta = arguments.number("delta", delta, above=0, optional=True)
    column = lengths(graph, weight)
    program = ShortestPaths(source=source) if delta is None else DeltaStepping(source=source, delta=delta)
    return run(program, graph, columns={"weight": column}, **options)
