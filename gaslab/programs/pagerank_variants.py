"""PageRank's relatives: restarts by choice, weighted edges, PowerGraph's scores, a frontier.

Haveliwala, Topic-Sensitive PageRank, 2002 (restarts); Gonzalez et al., PowerGraph, OSDI 2012
(unnormalised scores, signals). `gaslab.pagerank` chooses among them.
"""

from __future__ import annotations

import math

import gaslab as gl


class PersonalizedPageRank(gl.VertexProgram):
    """PageRank that restarts, and spreads dangling mass, by a given distribution over vertices.

    Edges count by their weight. `restart`, `out_weight` and `loops` are given (``init=``); `pagerank` fills
    them in.
    """

    damping: float = 0.85
    tolerance: float = 1e-9
    loops_once: bool = False  # whether `loops` is given

    class Vertex(gl.Vertex):
        restart: float = 0.0  # sums to 1
        out_weight: float = 0.0  # of all out-edges, a self-loop as often as the gather meets it
        loops: float = 0.0  # see LoopWeight
        score: float = 0.0
        share: float = 0.0
        moved: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    @gl.aggregator
    def dangling(self, v: Vertex) -> gl.Sum[float]:
        return v.score if v.out_weight == 0.0 else 0.0

    @gl.aggregator
    def change(self, v: Vertex) -> gl.Sum[float]:
        return v.moved

    def init(self, v: Vertex) -> None:
        v.score = v.restart
        out = v.out_weight - v.loops if self.loops_once else v.out_weight
        v.share = v.score / out if out > 0.0 else 0.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.share * e.weight

    def apply(self, v: Vertex, total: float) -> None:
        d = self.damping
        out = v.out_weight
        if self.loops_once:
            out -= v.loops
            total -= v.loops * v.share
        score = (1.0 - d + d * self.dangling) * v.restart + d * total
        v.moved = abs(score - v.score)
        v.score = score
        v.share = score / out if out > 0.0 else 0.0

    def done(self) -> bool:
        return self.change < self.tolerance


class OutWeight(gl.VertexProgram):
    """The sum of the weights of each vertex's out-edges; an undirected self-loop counts at both ends."""

    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        out_weight: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    @gl.aggregator
    def lightest(self, v: Vertex) -> gl.ArgMin[float, gl.VertexId]:
        return v.out_weight if v.out_weight > 0.0 else math.inf, v.id

    @gl.aggregator
    def heaviest(self, v: Vertex) -> gl.ArgMax[float, gl.VertexId]:
        return v.out_weight, v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight

    def apply(self, v: Vertex, total: float) -> None:
        v.out_weight = total


class LoopWeight(gl.VertexProgram):
    """The weight of each vertex's self-loops in an undirected graph.

    A gather over undirected edges meets a self-loop twice, once at each end; programs that count it once
    subtract this weight from what they gather.
    """

    class Vertex(gl.Vertex):
        loops: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return 0.5 * e.weight if nbr.id == v.id else 0.0

    def apply(self, v: Vertex, total: float) -> None:
        v.loops = total


class _UnnormalizedScores(gl.VertexProgram):
    """PowerGraph's definition: scores start at 1, dangling mass is lost, the mean is at most 1.

    How it ends is left to the two programs below.
    """

    damping: float = 0.85
    loops_once: bool = False  # whether `loops` is given

    class Vertex(gl.Vertex):
        score: float = 1.0
        share: float = 0.0
        moved: float = 0.0
        loops: float = 0.0  # how many self-loops: see LoopWeight

    def init(self, v: Vertex) -> None:
        v.score = 1.0
        links = v.out_degree - v.loops if self.loops_once else float(v.out_degree)
        v.share = v.score / max(links, 1.0)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.share

    def apply(self, v: Vertex, total: float) -> None:
        links = float(v.out_degree)
        if self.loops_once:
            links -= v.loops
            total -= v.loops * v.share
        score = 1.0 - self.damping + self.damping * total
        v.moved = abs(score - v.score)
        v.score, v.share = score, score / max(links, 1.0)


class UnnormalizedPageRank(_UnnormalizedScores):
    """Unnormalised PageRank over all vertices, until the mean change is below the tolerance."""

    tolerance: float = 1e-9  # L1 change, divided by the number of vertices

    @gl.aggregator
    def change(self, v: _UnnormalizedScores.Vertex) -> gl.Sum[float]:
        return v.moved

    def done(self) -> bool:
        return self.change < self.tolerance * self.num_vertices


class SignalPageRank(_UnnormalizedScores):
    """PageRank driven by signals: a vertex runs again only after an in-neighbour changed noticeably.

    The scores are PageRank times a constant, so that dividing by their sum, `mass`, gives
    `PageRank`'s answer. Each vertex stops within `tolerance` of its own fixed point, so the L1 error
    is about ``tolerance * num_vertices`` at worst; compare the two variants at equal error, not at
    equal tolerance.
    """

    tolerance: float = 1e-3  # change of one score that is worth a signal

    @gl.aggregator
    def mass(self, v: _UnnormalizedScores.Vertex) -> gl.Sum[float]:
        return v.score

    def scatter(self, v: _UnnormalizedScores.Vertex, e: gl.Edge, nbr: _UnnormalizedScores.Vertex) -> None:
        if v.moved > self.tolerance:
            nbr.signal()


class Scale(gl.VertexProgram):
    """Multiply given scores by a factor."""

    factor: float

    class Vertex(gl.Vertex):
        score: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.score = v.score * self.factor
