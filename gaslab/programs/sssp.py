"""Single-source shortest paths by relaxation with messages, in one of three orders.

A vertex whose distance fell offers each out-neighbour a shorter way; offers combine by their minimum. Where
all run at once (Bellman 1958; Ford 1956) supersteps are few, and edges are relaxed again and again where
weights vary much. With buckets of distances, the nearest first, few edges are relaxed twice (Meyer and
Sanders, Δ-stepping: a parallelizable shortest path algorithm, J. Algorithms 49, 2003). Where every edge has
length 1, the first offer is the best, and a vertex may stop at it. Weights must not be negative.
"""

from __future__ import annotations

import math
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph, in_supersteps
from gaslab.programs._columns import WEIGHT, bounds, lengths, mean, run
from gaslab.programs._degrees import HUBS, spread_of_degrees
from gaslab.programs._tool import Command, Option, Tool
from gaslab.programs.distances import distances

LAST_BUCKET = 2.0**62  # the number of a bucket is an int64; what lies further shares the last one
RELAXED_AT_ONCE = 8.0  # a bucket is as wide as this many mean weights, by the mean degree


class ShortestPaths(gl.VertexProgram):
    """Each vertex's `distance` from `source`, infinite if there is no path."""

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


class UnitPaths(gl.VertexProgram):
    """Shortest paths with edges of length 1: signals carry no message, and a target stops at its first."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        distance: float = math.inf

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex) -> None:
        v.distance = float(self.superstep)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.distance == math.inf:
            nbr.signal()


class DeltaStepping(ShortestPaths):
    """Shortest paths by delta-stepping: buckets of distances, each `delta` wide, one after the other."""

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
        Edge column of non-negative lengths; an infinite edge is on no path. Every edge has length 1 if
        *weight* is None, or if it is not given and the graph has no column "weight".
    delta : float, optional
        Bucket width for delta-stepping, in units of length: only vertices of the nearest bucket run in a
        superstep. Fewer relaxations, but more supersteps. Distances of 2**62 buckets and more share one. By
        default it is chosen from the weights and degrees (``result.metrics["parameters"]`` has it); in a
        graph with hubs, and with an engine other than "sync", every vertex whose distance decreased runs.
    **options
        As for `gaslab.run`.

    Raises
    ------
    VertexNotFound
        *source* is not in the graph.
    UsageError
        The graph has no column *weight*, a weight is negative or not a number, weights are so large that a
        path may sum to infinity, or *delta* is not a finite number above 0.

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
    goes_on = options.get("init") is not None or options.get("start") is not None
    if delta is None and in_supersteps(options) and not goes_on:
        if column is None or bounds(graph, column) == (1.0, 1.0):
            return run(UnitPaths(source=source), graph, **options)
        delta = chosen_delta(graph, column)
    program = ShortestPaths(source=source) if delta is None else DeltaStepping(source=source, delta=delta)
    return run(program, graph, columns={"weight": column}, **options)


def chosen_delta(graph: gl.Graph, column: str) -> float | None:
    """Return a width of buckets, a power of two, or None if buckets would not pay (collective)."""
    spread, degree = spread_of_degrees(graph)
    weight = mean(graph, column)
    if spread > HUBS or not 0 < weight < math.inf:
        return None
    exponent = round(math.log2(RELAXED_AT_ONCE * weight) - math.log2(degree))
    return math.ldexp(1.0, min(max(exponent, -1000), 1000))


def _of_sources(graph: gl.Graph, *, source: list[Any], delta: float | None, **options: Any) -> gl.Result:
    if len(source) == 1:
        return sssp(graph, source[0], delta=delta, **options)
    if delta is not None:
        raise gl.UsageError("--delta needs a single --source")
    return distances(graph, source, **options)


TOOL = Tool(
    sssp, order=20,
    command=Command(
        "shortest paths from one vertex",
        "Shortest paths from one vertex, or from the nearest of several; inf if there is none.",
        fields=("distance",), show="nearest",
        options=(
            Option(
                "source", "vertex", "the source vertex; with several, the distance to the nearest", "ID",
                required=True, repeated=True,
            ),
            Option(
                "weight", "column", "edge column with lengths (default: the third, else all are 1)", "NAME"
            ),
            Option("delta", "real", "delta-stepping: width of a bucket (default: from the lengths)", "D"),
        ),
        columns="all", also=("nearest",), run=_of_sources,
    ),
    answer="`distance`", definition="length of a shortest path; inf without one",
    source="Meyer and Sanders 2003; with hubs Bellman 1958, Ford 1956",
    networkx="`single_source_dijkstra_path_length`",
)  # fmt: skip
