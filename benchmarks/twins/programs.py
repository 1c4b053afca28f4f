"""The vertex programs that have a twin and are not built in, and those that nobody tuned anything for."""

from __future__ import annotations

import numpy as np

import gaslab as gl
from gaslab.programs import LDA


class Relax(gl.VertexProgram):
    """Every vertex takes the shortest way over its in-edges, from distances drawn at random."""

    class Vertex(gl.Vertex):
        distance: float = gl.uniform(0.0, 5000.0)

    class Edge(gl.Edge):
        weight: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.distance + e.weight

    def apply(self, v: Vertex, total: float) -> None:
        v.distance = min(v.distance, total)


class Histogram(gl.VertexProgram):
    """The topics of a word's tokens."""

    topics: int = 100

    class Vertex(gl.Vertex):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)

    class Edge(gl.Edge):
        topic: gl.int32

    class Total(gl.Accumulator):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(counts=gl.at(e.topic))

    def apply(self, v: Vertex, total: Total) -> None:
        v.counts = total.counts


class UniformLDA(LDA):
    """The loops of `LDA` with the plainest proposal; its chain is not that of LDA."""

    def other(self, v: LDA.Vertex, here: int, prior: float) -> int:
        return -1


class Labels(gl.VertexProgram):
    """Every vertex takes the label of most weight around it."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: gl.VertexId

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        v.label = v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[gl.VertexId, float]:
        return nbr.label, e.weight

    def apply(self, v: Vertex, total: gl.SumBy[gl.VertexId, float]) -> None:
        if total:
            v.label = total.argmax()


class LabelsByLoop(Labels):
    """The same by a loop over the labels in their order."""

    Vertex, Edge = Labels.Vertex, Labels.Edge

    def apply(self, v: Vertex, total: gl.SumBy[gl.VertexId, float]) -> None:
        most = 0.0
        for label, weight in total.items():
            if weight > most:
                v.label, most = label, weight


SIZES = np.arange(4096) % 7 / 8.0 + 0.5


class Joins(gl.VertexProgram):
    """A move as of the Louvain method, by a loop: to the group around it that gains most, if one gains."""

    rate: float = 0.5
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        group: gl.int32 = 0

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        v.group = v.index

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[gl.int32, float]:
        return nbr.group, e.weight

    def apply(self, v: Vertex, total: gl.SumBy[gl.int32, float]) -> None:
        best, most = v.group, 0.0
        for group, weight in total.items():
            if group == v.group:
                continue
            gain = weight - self.rate * SIZES[group % 4096]
            if gain > most:
                best, most = group, gain
        v.group = best


# ---- nobody tuned anything for these ---------------------------------------------------------------


class Standing(gl.VertexProgram):
    """PageRank: its fields have other names and another order, and two more stand between."""

    pull: float = 0.85

    class Vertex(gl.Vertex):
        portion: float = 0.0
        since: gl.int16 = 0
        weight: float = 0.0
        label: gl.VertexId
        rank: float = 0.0

    @gl.aggregator
    def lost(self, v: Vertex) -> gl.Sum[float]:
        return v.rank if v.out_degree == 0 else 0.0

    @gl.aggregator
    def turn(self, v: Vertex) -> gl.Sum[float]:
        return v.weight

    def init(self, v: Vertex) -> None:
        v.rank = 1.0 / self.num_vertices
        v.portion = v.rank / max(v.out_degree, 1)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.portion

    def apply(self, v: Vertex, total: float) -> None:
        rank = (1.0 - self.pull + self.pull * self.lost) / self.num_vertices + self.pull * total
        v.weight = abs(rank - v.rank)
        v.rank = rank
        v.portion = rank / max(v.out_degree, 1)


class Widest(gl.VertexProgram):
    """`Relax` with another combiner: the way whose narrowest edge is the widest."""

    class Vertex(gl.Vertex):
        width: float = gl.uniform(0.0, 255.0)

    class Edge(gl.Edge):
        capacity: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[float]:
        return min(nbr.width, e.capacity)

    def apply(self, v: Vertex, total: float) -> None:
        v.width = max(v.width, total)


class Palette(gl.VertexProgram):
    """`Histogram` of documents, in 37 kinds."""

    kinds: int = 37
    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        seen: int = 0
        often: gl.Vector = gl.field(shape="kinds", dtype=gl.int32)

    class Edge(gl.Edge):
        kind: gl.int32

    class Sums(gl.Accumulator):
        often: gl.Vector = gl.field(shape="kinds", dtype=gl.int32)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Sums:
        return self.Sums(often=gl.at(e.kind))

    def apply(self, v: Vertex, total: Sums) -> None:
        v.often = total.often


class Chooser(gl.VertexProgram):
    """A sampler of 50 topics in one scatter: uniform proposals, judged by the counts of both ends."""

    rng = "hash"
    groups: int = 50
    own_prior: float = 0.1
    word_prior: float = 0.01
    gather_edges = gl.ALL
    scatter_edges = gl.OUT

    class Vertex(gl.Vertex):
        tally: gl.Vector = gl.field(shape="groups", dtype=gl.int32)

    class Edge(gl.Edge):
        group: gl.int32 = gl.integers("groups")

    class Sums(gl.Accumulator):
        tally: gl.Vector = gl.field(shape="groups", dtype=gl.int32)

    @gl.aggregator
    def terms(self, v: Vertex) -> gl.Count:
        return v.side == 1

    @gl.aggregator
    def whole(self, v: Vertex, e: Edge, nbr: Vertex) -> Sums:
        return self.Sums(tally=gl.at(e.group))

    def active(self, v: Vertex) -> bool:
        return True

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Sums:
        return self.Sums(tally=gl.at(e.group))

    def apply(self, v: Vertex, total: Sums) -> None:
        v.tally = total.tally

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        rest = self.terms * self.word_prior
        here = e.group
        there = gl.integers(self.groups)
        old = (v.tally[here] - 1 + self.own_prior) * (nbr.tally[here] - 1 + self.word_prior)
        new = (v.tally[there] + self.own_prior) * (nbr.tally[there] + self.word_prior)
        if gl.uniform() * old / (self.whole.tally[here] + rest) < new / (self.whole.tally[there] + rest):
            e.group = there


class Tastes(gl.VertexProgram):
    """A step down the gradient for each rating: k = 20, other names, and two fields more."""

    width: int = 20
    middle: float = 3.5
    shrink: float = 0.1
    pace: float = 0.02

    class Vertex(gl.Vertex):
        lean: float = 0.0
        last: gl.int32 = 0
        taste: gl.Vector = gl.field(shape="width", dtype=gl.float32, init=gl.normal(0.1))

    class Edge(gl.Edge):
        stars: float
        order: gl.int32 = 0

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        wrong = e.stars - self.middle - u.lean - w.lean - np.dot(u.taste, w.taste)
        theirs = np.copy(w.taste)
        w.taste = w.taste + self.pace * (wrong * u.taste - self.shrink * w.taste)
        u.taste = u.taste + self.pace * (wrong * theirs - self.shrink * u.taste)
        w.lean += self.pace * (wrong - self.shrink * w.lean)
        u.lean += self.pace * (wrong - self.shrink * u.lean)
