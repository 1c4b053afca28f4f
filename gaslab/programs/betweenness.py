"""Betweenness: the share of all shortest paths that lead through a vertex, or over an edge.

Brandes, A Faster Algorithm for Betweenness Centrality, J. Math. Sociology 25, 2001. From each source the
paths to every vertex are counted outward, level by level; on the way back each vertex adds up what
depends on it, from its successors (Madduri et al., IPDPS 2009). A round does so for a batch of sources at
once, one in each lane of the vectors, and an edge is looked at only where a bit mask says that it leads on in
some lane (as in Then et al., The More the Merrier: Efficient Multi-Source Graph Traversal, VLDB 2014).

No level is compared across an edge. A lane of `_paths` is 0 until its vertex is reached, and one of `_part`
is 0 until its vertex has been passed on the way back, so that the sums take in the right neighbours alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs import weighted_betweenness as weighted
from gaslab.programs._arguments import check_graph, resumed_notes
from gaslab.programs._columns import run
from gaslab.programs._degrees import HUBS, spread_of_degrees
from gaslab.programs._parallel_edges import SHARE, has_parallel_edges, with_shares
from gaslab.programs._sources import turns
from gaslab.programs._tool import Command, Option, Tool

# Where paths are short, the sources of a round reach a vertex together and share its edges.
LANES, LANES_OF_LONG_PATHS = 16, 4
LENGTHS = {"lanes": (LANES_OF_LONG_PATHS,)}  # for which setup.py compiles the page, beside the default
SHORT_PATHS = 32  # supersteps of a search
FEW_VERTICES = 4096  # where a search costs more than it can save


class _Search(gl.VertexProgram):
    """A search from the sources of the first round at once."""

    lanes: int = LANES

    class Vertex(gl.Vertex):
        _turn: gl.int32 = -1
        _level: gl.int32 = -1

    def start(self, v: Vertex) -> bool:
        return 0 <= v._turn < self.lanes

    def apply(self, v: Vertex) -> None:
        v._level = self.superstep

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr._level < 0:
            nbr.signal()


class Betweenness(gl.VertexProgram):
    """Each vertex's `betweenness` over the sources; `_turn` numbers the sources from 0 (``init=``)."""

    lanes: int = LANES  # sources of a round, at most 62: a bit of an int each
    endpoints: bool = False  # whether a path leads through its two ends
    scale: float = 1.0  # what counts are multiplied by
    source_scale: float = 1.0  # the same at a source

    class Vertex(gl.Vertex):
        betweenness: float = 0.0
        _turn: gl.int32 = -1
        _round: gl.int32 = 0
        _lane: gl.int32 = -1  # in this round, of a source
        _count: float = 0.0  # before it is scaled
        _seen: int = 0  # lanes that have reached the vertex
        _now: int = 0  # lanes that did so at `_level`
        _passed: int = 0  # lanes that have come back
        _level: gl.int32 = -1  # a superstep
        _levels: gl.Vector = gl.field(shape="lanes", dtype=gl.int32)
        _paths: gl.Vector = gl.field(shape="lanes")
        _part: gl.Vector = gl.field(shape="lanes")  # (1 + dependency) / paths

    class Total(gl.Accumulator):
        sums: gl.Vector = gl.field(shape="lanes")

    @gl.aggregator(every=gl.Phase)
    def deepest(self, v: Vertex) -> gl.Max[int]:
        return v._level

    @gl.aggregator(every=gl.Phase)
    def left(self, v: Vertex) -> gl.Max[int]:
        return v._turn - self.lanes * v._round

    @gl.aggregator(every=gl.Phase)
    def whole(self, v: Vertex) -> gl.Sum[float]:
        return v._count

    def begin(self, v: Vertex) -> None:
        lane = v._turn - self.lanes * v._round
        v._round += 1
        v._lane = lane if 0 <= lane < self.lanes else -1
        v._level = -1
        v._seen = 0
        v._passed = 0
        for k in range(self.lanes):
            v._levels[k] = -1
            v._paths[k] = 0.0
            v._part[k] = 0.0

    def is_source(self, v: Vertex) -> bool:
        return v._lane >= 0

    def paths(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        if nbr._seen & ~v._seen:
            return self.Total(sums=nbr._paths)
        return self.Total()

    def reach(self, v: Vertex, total: Total) -> None:
        v._level = self.superstep
        v._now = 0
        for k in range(self.lanes):
            if v._levels[k] < 0:
                v._paths[k] = 1.0 if k == v._lane else total.sums[k]
                if v._paths[k] > 0.0:
                    v._levels[k] = self.superstep
                    v._now |= 1 << k
        v._seen |= v._now

    def search(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v._now & ~nbr._seen:
            nbr.signal()

    def is_reached(self, v: Vertex) -> bool:
        return v._level >= 0

    def parts(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        if nbr._passed & v._now:
            return self.Total(sums=nbr._part)
        return self.Total()

    def come_back(self, v: Vertex, total: Total) -> None:
        level = v._level  # at which it is to run
        if self.superstep == 2 * self.deepest + 1 - level:
            level = -1  # the next one above
            for k in range(self.lanes):
                if v._levels[k] == v._level:
                    through = v._paths[k] * total.sums[k]
                    v._part[k] = 1.0 / v._paths[k] + total.sums[k]
                    if self.endpoints:
                        v._count += through if k == v._lane else through + 1.0
                    elif k != v._lane:
                        v._count += through
                elif v._levels[k] < v._level:
                    level = max(level, v._levels[k])
            v.betweenness = v._count * (self.scale if v._turn < 0 else self.source_scale)
            v._passed |= v._now
            v._level = level
            v._now = 0
            for k in range(self.lanes):
                if level >= 0 and v._levels[k] == level:
                    v._now |= 1 << k
        if level >= 0:
            v.signal(priority=self.deepest - level)

    def done(self) -> bool:
        return self.left < 0

    phases: ClassVar[tuple[gl.Phase, ...]] = (
        gl.Phase(apply=begin, supersteps=1),
        gl.Phase(start=is_source, gather=paths, apply=reach, scatter=search),
        gl.Phase(start=is_reached, gather=parts, apply=come_back, gather_edges=gl.OUT),
    )


class ParallelBetweenness(Betweenness):
    """Betweenness with parallel edges: each has a `share` of its paths, and the shares sum to 1."""

    class Edge(gl.Edge):
        share: float = 1.0

    def paths(  # type: ignore[override]  # its edges have a field
        self, v: Betweenness.Vertex, e: Edge, nbr: Betweenness.Vertex
    ) -> Betweenness.Total:
        if nbr._seen & ~v._seen:
            return self.Total(sums=e.share * nbr._paths)
        return self.Total()

    def parts(  # type: ignore[override]
        self, v: Betweenness.Vertex, e: Edge, nbr: Betweenness.Vertex
    ) -> Betweenness.Total:
        if nbr._passed & v._now:
            return self.Total(sums=e.share * nbr._part)
        return self.Total()


class EdgeBetweenness(ParallelBetweenness):
    """The `betweenness` of each edge and of each vertex."""

    both_ways: bool = False  # whether edges have no direction

    class Edge(ParallelBetweenness.Edge):
        betweenness: float = 0.0

    def share_out(self, v: Betweenness.Vertex, e: Edge, nbr: Betweenness.Vertex) -> None:
        if e.forward:
            through = 0.0
            for k in range(self.lanes):
                down = nbr._levels[k] - v._levels[k]  # a lane that reaches one end alone has no paths there
                through += v._paths[k] * nbr._part[k] if down == 1 else 0.0
                if self.both_ways:
                    through += nbr._paths[k] * v._part[k] if down == -1 else 0.0
            e.betweenness += self.scale * e.share * through

    phases = (*Betweenness.phases, gl.Phase(scatter=share_out, supersteps=1))


@collective(options="run", own=("columns", "init"))
def betweenness(
    graph: gl.Graph,
    *,
    sources: Any = None,
    weight: str | None = None,
    normalized: bool = True,
    endpoints: bool = False,
    edges: bool = False,
    **options: Any,
) -> gl.Result:
    """Return betweenness centrality, ``result.vertices["betweenness"]`` (float64), as NetworkX defines it.

    Parallel edges count as one; a self-loop is on no shortest path.

    Parameters
    ----------
    graph : Graph
        Directed edges are followed forward.
    sources : int or iterable of vertex ids, optional
        The vertices where paths begin: how many to draw by ``seed=``, or their ids. Either way the answer is
        scaled as with NetworkX's ``k``, as an estimate of the answer for all sources. By default all.
    weight : str, optional
        Edge column of lengths above 0; an infinite edge is on no path. Two paths are equally long if their
        lengths, summed from the source, are the same float64. By default every edge has length 1.
    normalized : bool
        Divide by the number of pairs that could have the vertex, or the edge, between them.
    endpoints : bool
        Count a path at its two ends as well.
    edges : bool
        Score edges: ``result.edges["betweenness"]``, in an undirected graph for both directions together;
        every rank has the whole table. The shortest of parallel edges share one edge's score equally.
        `result.vertices` is the same as without this, but scaled as for edges.
    **options
        As for `gaslab.run`; ``seed=`` draws the sources.

    Returns
    -------
    Result
        With one source and without *endpoints*, the source itself has nan, as in NetworkX.

    Raises
    ------
    UsageError
        *sources* is empty or exceeds the number of vertices; the column *weight* does not exist, has a length
        that is not above 0, or lengths so different that a further edge makes a path no longer; *edges*
        and *endpoints* are given together; there are more shortest paths than a float64 can count.
    VertexNotFound
        A source is not in the graph.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 4], directed=False)
    >>> gl.betweenness(graph, normalized=False).vertices["betweenness"]
    array([0., 3., 5., 0., 0.])
    >>> gl.betweenness(graph, edges=True, normalized=False).edges["betweenness"]
    array([4., 6., 4., 4.])
    """
    check_graph(graph)
    normalized, endpoints, edges = arguments.flags(normalized=normalized, endpoints=endpoints, edges=edges)
    weight = weighted.above_zero(graph, weight)
    if edges and endpoints:
        raise gl.UsageError("endpoints=True counts paths at vertices; edges=True has no use for it")
    count, turn = turns(graph, sources, options)
    scale, source_scale = _scales(graph, count, normalized, endpoints, edges)
    parameters: dict[str, Any] = {"endpoints": endpoints, "scale": scale, "source_scale": source_scale}
    if edges:
        parameters["both_ways"] = not graph.directed
    columns: dict[str, str | None] = {"betweenness": None}
    parallel = has_parallel_edges(graph)
    if parallel:
        graph = with_shares(graph, weight)
    if edges or parallel or weight is not None:
        columns["share"] = SHARE if parallel else None
    kind: type[gl.VertexProgram]
    if weight is not None:
        kind = weighted.WeightedEdgeBetweenness if edges else weighted.WeightedBetweenness
        columns["length"] = weight
    else:
        parameters["lanes"] = _lanes(graph, turn, count, options)
        options["notes"] = {"lanes": parameters["lanes"]}
        kind = EdgeBetweenness if edges else ParallelBetweenness if parallel else Betweenness
    options = {**options, "columns": columns, "init": {"_turn": turn}, "edges": edges}
    result = run(kind(**parameters), graph, **options)
    _check(result.aggregates)
    return result


def _lanes(graph: gl.Graph, turn: Any, count: int, options: Mapping[str, Any]) -> int:
    """Return how many sources share a round: those of a checkpoint to resume, else what is faster here.

    On several ranks a superstep costs more than its vertices.
    """
    if (known := resumed_notes(graph, options).get("lanes")) in (LANES, LANES_OF_LONG_PATHS):
        return int(known)
    if count <= LANES_OF_LONG_PATHS:
        return LANES_OF_LONG_PATHS
    few = graph.num_vertices < FEW_VERTICES
    if few or graph.comm.size > 1 or spread_of_degrees(graph)[0] > HUBS:
        return LANES
    alike = {name: options[name] for name in ("threads", "timeout") if name in options}
    search = run(_Search(), graph, init={"_turn": turn}, **alike)
    return LANES if search.iterations <= SHORT_PATHS else LANES_OF_LONG_PATHS


def _check(totals: Mapping[str, Any]) -> None:
    """Raise UsageError where a float64 could not hold a number of paths, or tell two lengths apart."""
    if totals.get("stuck"):
        raise gl.UsageError(
            "some edges are so short beside the paths that lead to them that a float64 holds the same length "
            "with and without them; scale or round the lengths"
        )
    if not math.isfinite(totals.get("whole", 0.0)):
        raise gl.UsageError(
            "between some vertices there are more shortest paths than a float64 can count, 1.8e308"
        )


def _scales(
    graph: gl.Graph, count: int, normalized: bool, endpoints: bool, edges: bool
) -> tuple[float, float]:
    """Return what the sum of dependencies is multiplied by, elsewhere and at a source (NetworkX's rules)."""
    n = graph.num_vertices
    others = n if endpoints or edges else n - 1  # of a pair with the vertex, or the edge, between them
    if others < 2:
        return 1.0, 1.0
    pairs = others - 1 if normalized else (1 if graph.directed else 2) / others
    if endpoints or edges or count == n:
        scale = 1.0 / (pairs * (others if count == n else count))
        return scale, scale
    return 1.0 / (pairs * count), 1.0 / (pairs * (count - 1)) if count > 1 else math.nan


TOOL = Tool(
    betweenness, order=62,
    command=Command(
        "share of shortest paths through a vertex (betweenness)",
        "Betweenness centrality: the share of shortest paths that lead through each vertex.",
        fields=("betweenness",),
        options=(
            Option("sources", "whole", "estimate from N random source vertices (default: use all)", "K"),
            Option("weight", "column", "edge column with lengths above 0 (default: all are 1)", "NAME"),
            Option("endpoints", "flag", "also count a path at its two end vertices"),
        ),
        columns="weighted",
    ),
    answer="`betweenness`; with `edges=True` of edges",
    definition="from all sources, or an estimate scaled up from some",
    source="Brandes 2001; Madduri et al. 2009",
    networkx="`betweenness_centrality`, `edge_betweenness_centrality`",
)  # fmt: skip
