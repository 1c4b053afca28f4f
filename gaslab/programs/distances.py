"""Distances from the nearest of several sources, and which source that is (a graph Voronoi diagram).

Erwig, The Graph Voronoi Diagram with Applications, Networks 36, 2000. In the first phase distances
spread from all sources at once as in `sssp`; in the second every vertex hears the name of its source
along the edges that lie on shortest paths. Weights must not be negative.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import WEIGHT, lengths, run
from gaslab.programs._tool import Tool


class NearestSource(gl.VertexProgram):
    """Each vertex's `distance` from the `nearest` vertex whose `_source` is true."""

    class Vertex(gl.Vertex):
        distance: float
        nearest: gl.VertexId
        _source: bool = False
        _asked: bool = False  # whether `nearest` means anything yet

    class Edge(gl.Edge):
        weight: float = 1.0

    def init(self, v: Vertex) -> None:
        v.distance = 0.0 if v._source else math.inf

    def from_source(self, v: Vertex) -> bool:
        return v._source

    def come_nearer(self, v: Vertex, message: gl.Min[float]) -> None:
        v.distance = min(v.distance, message)

    def offer(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance:
            nbr.signal(v.distance + e.weight)

    def take_name(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        name = min(v.id, message) if v._source else message
        v.nearest = min(v.nearest, name) if v._asked else name
        v._asked = True

    def send_name(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        # An edge of infinite length leads nowhere, though the sum is what a vertex has that no path reaches.
        if v.distance + e.weight == nbr.distance and v.nearest < nbr.nearest and nbr.distance < math.inf:
            nbr.signal(v.nearest)

    phases = (
        gl.Phase(start=from_source, apply=come_nearer, scatter=offer),
        gl.Phase(apply=take_name, scatter=send_name),
    )


@collective(options="run", own=("columns", "init"))
def distances(
    graph: gl.Graph, sources: Iterable[Any], *, weight: str | None = WEIGHT, **options: Any
) -> gl.Result:
    """Return distances from the nearest source, ``result.vertices["distance" | "nearest"]``.

    Distances are float64, inf where there is no path; `nearest` is the source's id, the smallest if several
    are equally near, and None (-1 where ids are integers from 0) if there is no path.

    Parameters
    ----------
    graph : Graph
    sources : iterable of vertex ids
        At least one.
    weight : str, optional
        Edge column of non-negative lengths; an infinite edge is on no path. Every edge has length 1 if
        *weight* is None, or if it is not given and the graph has no column "weight".
    **options
        As for `gaslab.run`.

    Raises
    ------
    VertexNotFound
        A source is not in the graph.
    UsageError
        There is no source, the graph has no column *weight*, a weight is negative or not a
        number, or weights are so large that a path may sum to infinity.

    Examples
    --------
    >>> import gaslab as gl
    >>> result = gl.distances(gl.Graph.from_edges([1, 2, 3, 8], [2, 3, 4, 4]), [1, 8])
    >>> result.vertices["distance"], result.vertices["nearest"]
    (array([0., 1., 2., 1., 0.]), array([1, 1, 1, 8, 8]))
    """
    check_graph(graph)
    chosen = dict.fromkeys(arguments.ids("sources", sources), True)
    if not chosen:
        raise gl.UsageError("distances needs at least one source; sources is empty")
    options = {**options, "columns": {"weight": lengths(graph, weight)}}
    return run(NearestSource(), graph, **{**options, "init": {"_source": chosen}})


TOOL = Tool(
    distances, order=25,
    command="`gaslab sssp`, several `--source`", answer="`distance`, `nearest`",
    definition="distance to the nearest source; ties go to the smallest id", source="Erwig 2000",
    networkx="`multi_source_dijkstra_path_length`, `voronoi_cells`",
)  # fmt: skip
