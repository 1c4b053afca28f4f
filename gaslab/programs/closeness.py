"""Closeness and harmonic centrality: how near the sources are to a vertex, together.

Freeman, Centrality in Social Networks, 1979; Wasserman and Faust 1994 (graphs in parts); Boldi and Vigna,
Axioms for Centrality, 2014 (harmonic). A search from hundreds of sources at once keeps the set of those that
have reached a vertex as bits, and an edge hands on a whole set (Then et al., The More the Merrier: Efficient
Multi-Source Graph Traversal, VLDB 2014). What is new in a set at level t is t edges away. With lengths the
distances of a batch are relaxed at once.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import lengths, run
from gaslab.programs._sources import turns
from gaslab.programs._tool import Command, Option, Tool

ODD = 0x5555555555555555  # every second bit
PAIRS = 0x3333333333333333
NIBBLES = 0x0F0F0F0F0F0F0F0F
BYTES = 0x0101010101010101


def ones(bits: int) -> int:
    """Return how many of 64 bits are set."""
    pairs = bits - ((bits >> 1) & ODD)
    nibbles = (pairs & PAIRS) + ((pairs >> 2) & PAIRS)
    return ((((nibbles + (nibbles >> 4)) & NIBBLES) * BYTES) >> 56) & 255


def rated(reached: int, far: float, others: int, wf_improved: bool) -> float:
    """Return the closeness of a vertex from how many other sources reach it, *far* away in total."""
    if far == 0.0:
        return 0.0
    mean = reached / far
    return mean * reached / others if wf_improved else mean


class _Search(gl.VertexProgram):
    """How far the sources are from each vertex; `_turn` numbers these from 0 on (``init=``)."""

    words: int = 8  # of 64 sources each, for a round

    class Vertex(gl.Vertex):
        _turn: gl.int32 = -1
        _round: gl.int32 = 0
        _begin: gl.int32 = 0  # the superstep before that of level 1
        _reached: int = 0  # how many sources reach the vertex, itself left out
        _far: int = 0  # the sum of their distances
        _near: float = 0.0  # the sum of 1 / distance
        _seen: gl.Vector = gl.field(shape="words", dtype=int)

    class Total(gl.Accumulator):
        seen: gl.Vector = gl.field(shape="words", dtype=int, combine=gl.BITOR)

    @gl.aggregator(every=gl.Phase)
    def left(self, v: Vertex) -> gl.Max[int]:
        return v._turn - 64 * self.words * v._round

    def begin(self, v: Vertex) -> None:
        place = v._turn - 64 * self.words * v._round
        v._round += 1
        v._begin = self.superstep
        for k in range(self.words):
            v._seen[k] = 1 << place % 64 if k == place // 64 else 0

    def sets(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(seen=nbr._seen)

    def learn(self, v: Vertex, total: Total) -> None:
        level = self.superstep - v._begin
        count = 0
        for k in range(self.words):
            count += ones(total.seen[k] & ~v._seen[k])
            v._seen[k] |= total.seen[k]
        v._reached += count
        v._far += count * level
        v._near += count / level

    def spread(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        news = 0
        for k in range(self.words):
            news |= v._seen[k] & ~nbr._seen[k]
        if news:
            nbr.signal()

    def rate(self, v: Vertex) -> None:
        """Set the answer, after each round."""

    def done(self) -> bool:
        return self.left < 0

    phases: ClassVar[tuple[gl.Phase, ...]] = (
        gl.Phase(apply=begin, supersteps=1),
        gl.Phase(gather=sets, apply=learn, scatter=spread),
        gl.Phase(apply=rate, supersteps=1),
    )


class Closeness(_Search):
    """Each vertex's `closeness`; `sources` is the number of sources."""

    sources: int
    wf_improved: bool = True

    class Vertex(_Search.Vertex):
        closeness: float = 0.0

    def rate(self, v: Vertex) -> None:  # type: ignore[override]  # its vertices have one field more
        others = self.sources - (1 if v._turn >= 0 else 0)
        v.closeness = rated(v._reached, float(v._far), others, self.wf_improved)


class Harmonic(_Search):
    """Each vertex's `harmonic` centrality."""

    class Vertex(_Search.Vertex):
        harmonic: float = 0.0

    def rate(self, v: Vertex) -> None:  # type: ignore[override]
        v.harmonic = v._near


class _WeightedSearch(gl.VertexProgram):
    """The same where edges have lengths, a lane of the vectors for each source of a round."""

    lanes: int = 16

    class Vertex(gl.Vertex):
        _turn: gl.int32 = -1
        _round: gl.int32 = 0
        _lane: gl.int32 = -1  # in this round, of a source
        _reached: int = 0
        _far: float = 0.0
        _near: float = 0.0  # without the distances of 0
        _distance: gl.Vector = gl.field(shape="lanes")

    class Edge(gl.Edge):
        length: float

    class Nearer(gl.Accumulator):
        distance: gl.Vector = gl.field(shape="lanes", combine=gl.MIN)

    @gl.aggregator(every=gl.Phase)
    def left(self, v: Vertex) -> gl.Max[int]:
        return v._turn - self.lanes * v._round

    def begin(self, v: Vertex) -> None:
        lane = v._turn - self.lanes * v._round
        v._round += 1
        v._lane = lane if 0 <= lane < self.lanes else -1
        for k in range(self.lanes):
            v._distance[k] = math.inf

    def is_source(self, v: Vertex) -> bool:
        return v._lane >= 0

    def come_nearer(self, v: Vertex, message: Nearer) -> None:
        for k in range(self.lanes):
            v._distance[k] = 0.0 if k == v._lane else min(v._distance[k], message.distance[k])

    def offer(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nearer = False
        for k in range(self.lanes):
            if v._distance[k] + e.length < nbr._distance[k]:
                nearer = True
        if nearer:
            nbr.signal(self.Nearer(distance=v._distance + e.length))

    def add_up(self, v: Vertex) -> None:
        for k in range(self.lanes):
            if v._distance[k] < math.inf and k != v._lane:
                v._reached += 1
                v._far += v._distance[k]
                v._near += 1.0 / v._distance[k] if v._distance[k] > 0.0 else 0.0

    def rate(self, v: Vertex) -> None:
        """Set the answer, after each round."""

    def done(self) -> bool:
        return self.left < 0

    phases: ClassVar[tuple[gl.Phase, ...]] = (
        gl.Phase(apply=begin, supersteps=1),
        gl.Phase(start=is_source, apply=come_nearer, scatter=offer),
        gl.Phase(apply=add_up, supersteps=1),
        gl.Phase(apply=rate, supersteps=1),
    )


class WeightedCloseness(_WeightedSearch):
    """Each vertex's `closeness` with edge lengths; `sources` is the number of sources."""

    sources: int
    wf_improved: bool = True

    class Vertex(_WeightedSearch.Vertex):
        closeness: float = 0.0

    def rate(self, v: Vertex) -> None:  # type: ignore[override]  # its vertices have one field more
        others = self.sources - (1 if v._turn >= 0 else 0)
        v.closeness = rated(v._reached, v._far, others, self.wf_improved)


class WeightedHarmonic(_WeightedSearch):
    """Each vertex's `harmonic` centrality with edge lengths."""

    class Vertex(_WeightedSearch.Vertex):
        harmonic: float = 0.0

    def rate(self, v: Vertex) -> None:  # type: ignore[override]
        v.harmonic = v._near


@collective(options="run", own=("columns", "init"))
def closeness(
    graph: gl.Graph,
    *,
    sources: Any = None,
    weight: str | None = None,
    wf_improved: bool = True,
    **options: Any,
) -> gl.Result:
    """Return closeness centrality, ``result.vertices["closeness"]`` (float64), as NetworkX defines it.

    It is r / d, where r other vertices reach this one and d is the sum of their distances: directed edges are
    followed towards the vertex. For distances from it use ``graph.reverse()``. A vertex that no other reaches
    has 0.

    Parameters
    ----------
    graph : Graph
        Parallel edges and self-loops change nothing.
    sources : int or iterable of vertex ids, optional
        The vertices that r and d count: how many to draw by ``seed=``, or their ids; an estimate of the
        answer for all (Eppstein and Wang, Fast Approximation of Centrality, 2004). By default all.
    weight : str, optional
        Edge column of non-negative lengths; an infinite edge is on no path. By default every edge has length
        1.
    wf_improved : bool
        Multiply by r as a fraction of the other sources (Wasserman and Faust), for disconnected graphs.
    **options
        As for `gaslab.run`; ``seed=`` draws the sources.

    Raises
    ------
    UsageError
        *sources* is empty or exceeds the number of vertices; the graph has no column *weight*, a length is
        negative or not a number, or lengths are so large that a path may sum to infinity.
    VertexNotFound
        A source is not in the graph.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 0, 0, 1, 1], [1, 2, 3, 2, 3], directed=False)
    >>> gl.closeness(graph).vertices["closeness"]
    array([1.  , 1.  , 0.75, 0.75])
    """
    check_graph(graph)
    wf_improved = arguments.flag("wf_improved", wf_improved)
    weight = lengths(graph, weight)
    count, turn = turns(graph, sources, options)
    kind = Closeness if weight is None else WeightedCloseness
    return _search(kind(sources=count, wf_improved=wf_improved), graph, weight, turn, options)


@collective(options="run", own=("columns", "init"))
def harmonic(graph: gl.Graph, *, sources: Any = None, weight: str | None = None, **options: Any) -> gl.Result:
    """Return harmonic centrality, ``result.vertices["harmonic"]`` (float64), as NetworkX defines it.

    It is the sum of 1 / distance over the other vertices that reach this one; a distance of 0 adds nothing.

    Parameters
    ----------
    graph : Graph
        Directed edges are followed towards the vertex. Parallel edges and self-loops change nothing.
    sources : int or iterable of vertex ids, optional
        The vertices to sum over: how many to draw by ``seed=``, or their ids; the sum is not scaled. By
        default all.
    weight : str, optional
        As for `closeness`.
    **options
        As for `gaslab.run`; ``seed=`` draws the sources.

    Raises
    ------
    UsageError, VertexNotFound
        As for `closeness`.

    Examples
    --------
    >>> import gaslab as gl
    >>> gl.harmonic(gl.Graph.from_edges([0, 1], [1, 2])).vertices["harmonic"]
    array([0. , 1. , 1.5])
    """
    check_graph(graph)
    weight = lengths(graph, weight)
    _, turn = turns(graph, sources, options)
    return _search(Harmonic() if weight is None else WeightedHarmonic(), graph, weight, turn, options)


def _search(
    program: gl.VertexProgram, graph: gl.Graph, weight: str | None, turn: Any, options: dict[str, Any]
) -> gl.Result:
    columns = {} if weight is None else {"columns": {"length": weight}}
    return run(program, graph, **{**options, **columns, "init": {"_turn": turn}})


TOOL = Tool(
    closeness, order=64,
    command=Command(
        "mean nearness to all other vertices (closeness)",
        "Closeness centrality: the inverse mean distance from the vertices that reach each vertex.",
        fields=("closeness",),
        options=(
            Option("sources", "whole", "estimate from N random source vertices (default: use all)", "K"),
            Option("weight", "column", "edge column with lengths (default: all are 1)", "NAME"),
        ),
        columns="weighted",
    ),
    answer="`closeness`", definition="reached / distance in sum, times the share reached",
    source="Freeman 1979; Wasserman, Faust 1994",
    networkx="`closeness_centrality`",
)  # fmt: skip


TOOL_HARMONIC = Tool(
    harmonic, order=66,
    command=Command(
        "the sum of 1 / distance (harmonic centrality)",
        "Harmonic centrality: the sum of 1 / distance over the vertices that reach each vertex.",
        fields=("harmonic",),
        options=(
            Option("sources", "whole", "estimate from N random source vertices (default: use all)", "K"),
            Option("weight", "column", "edge column with lengths (default: all are 1)", "NAME"),
        ),
        columns="weighted",
    ),
    answer="`harmonic`", definition="sum of 1 / distance of those that reach it",
    source="Boldi, Vigna 2014",
    networkx="`harmonic_centrality`",
)  # fmt: skip
