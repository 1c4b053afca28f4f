"""HITS: hubs that point at good authorities, authorities that good hubs point at.

Kleinberg, Authoritative Sources in a Hyperlinked Environment, JACM 46, 1999. Power iteration with A and
its transpose in turn; hubs and authorities each sum to 1, as in NetworkX. Where the largest singular
value of A is not simple, the answer is the one that a start from equal hubs leads to.
"""

from __future__ import annotations

from typing import Any, ClassVar

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import check_scale, run, weights
from gaslab.programs._loops import count_self_loops, init_with_loops
from gaslab.programs._tool import Command, Option, Tool


class HITS(gl.VertexProgram):
    """Each vertex's `hub` and `authority`, until the hubs change by less than `tolerance` in total."""

    tolerance: float = 1e-10

    class Vertex(gl.Vertex):
        hub: float = 0.0
        authority: float = 0.0
        _hub: float = 0.0  # before they are scaled to sum 1
        _authority: float = 0.0
        _moved: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    @gl.aggregator
    def hubs(self, v: Vertex) -> gl.Sum[float]:
        return v._hub

    @gl.aggregator
    def authorities(self, v: Vertex) -> gl.Sum[float]:
        return v._authority

    @gl.aggregator
    def change(self, v: Vertex) -> gl.Sum[float]:
        return v._moved

    def init(self, v: Vertex) -> None:
        v.hub = 1.0 / self.num_vertices

    def from_hubs(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight * nbr.hub

    def to_authority(self, v: Vertex, total: float) -> None:
        v._authority = total

    def from_authorities(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight * nbr._authority

    def to_hub(self, v: Vertex, total: float) -> None:
        v._hub = total

    def scale(self, v: Vertex) -> None:
        hub = v._hub / self.hubs if self.hubs > 0.0 else 0.0
        v._moved = abs(hub - v.hub)
        v.hub = hub
        v.authority = v._authority / self.authorities if self.authorities > 0.0 else 0.0

    def done(self) -> bool:
        return self.change < self.tolerance

    phases: ClassVar[tuple[gl.Phase, ...]] = (
        gl.Phase(gather=from_hubs, apply=to_authority, gather_edges=gl.IN, supersteps=1),
        gl.Phase(gather=from_authorities, apply=to_hub, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(apply=scale, supersteps=1),
    )


class UndirectedHITS(HITS):
    """HITS of an undirected graph with self-loops, each of which counts once, as in NetworkX.

    `loops`, the weight of a vertex's self-loops, is given (``init=``); `hits` fills it in.
    """

    class Vertex(HITS.Vertex):
        loops: float = 0.0

    def once_to_authority(self, v: Vertex, total: float) -> None:
        v._authority = total - v.loops * v.hub  # the gather has met each self-loop twice

    def once_to_hub(self, v: Vertex, total: float) -> None:
        v._hub = total - v.loops * v._authority

    phases = (
        gl.Phase(gather=HITS.from_hubs, apply=once_to_authority, gather_edges=gl.IN, supersteps=1),
        gl.Phase(gather=HITS.from_authorities, apply=once_to_hub, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(apply=HITS.scale, supersteps=1),
    )


@collective(options="run", own=("columns",))
def hits(
    graph: gl.Graph,
    *,
    tolerance: float = 1e-10,
    max_iterations: int = 3000,
    weight: str | None = None,
    **options: Any,
) -> gl.Result:
    """Return hub and authority scores, ``result.vertices["hub" | "authority"]`` (float64, each sums to 1).

    Parameters
    ----------
    graph : Graph
        Undirected edges count in both directions, self-loops once; parallel edges count each.
    tolerance : float
        Stop when the hub scores change by less than this in total.
    max_iterations : int
        Maximum number of supersteps, three per iteration; reaching it warns (ConvergenceWarning).
    weight : str, optional
        Edge column of non-negative weights, the largest from 1e-100 to 1e100.
    **options
        As for `gaslab.run`.

    Returns
    -------
    Result
        All 0 in a graph without edges.

    Raises
    ------
    UsageError
        The graph has no such column, its values are invalid, or the tolerance is not finite.

    Examples
    --------
    >>> import gaslab as gl
    >>> result = gl.hits(gl.Graph.from_edges([0, 0, 1], [1, 2, 2]))
    >>> result.vertices["hub"].round(4), result.vertices["authority"].round(4)
    (array([0.618, 0.382, 0.   ]), array([0.   , 0.382, 0.618]))
    """
    check_graph(graph)
    tolerance = arguments.number("tolerance", tolerance, least=0)
    options = {**options, "columns": {"weight": weights(graph, weight)}, "max_iterations": max_iterations}
    check_scale(graph, weight, "HITS sums products of two weights", 1e-100, 1e100)
    if not graph.directed and count_self_loops(graph):
        options["init"] = init_with_loops(graph, options, ("hub", "authority"))
        return run(UndirectedHITS(tolerance=tolerance), graph, **options)
    return run(HITS(tolerance=tolerance), graph, **options)


TOOL = Tool(
    hits, order=60,
    command=Command(
        "hubs and authorities (HITS)",
        "HITS: hub and authority scores, each summing to 1.",
        fields=("hub", "authority"),
        options=(
            Option("tolerance", "number", "stop at this total change of the hub scores (default 1e-10)", "T"),
            Option("weight", "column", "edge column with weights (default: every edge weighs 1)", "NAME"),
        ),
        columns="weighted", also=("loops",),
    ),
    answer="`hub`, `authority`", definition="each sums to 1", source="Kleinberg 1999", networkx="`hits`",
)  # fmt: skip
