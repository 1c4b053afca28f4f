"""Vectors that gather and scatter compute of their own vertex alone, once for all of its edges."""

from __future__ import annotations

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


@case(limit=4)
class Tallies(gl.VertexProgram):
    """Labels around: gathered, counted once for a vertex, and looked up at each of its edges."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL
    kinds: int = 5

    class Vertex(gl.Vertex):
        label: gl.uint8 = 1
        near: gl.List[gl.uint8]
        often: gl.Vector = gl.field(shape="kinds", dtype=gl.int32)
        heard: int = 0

    def init(self, v: Vertex) -> None:
        v.label = v.degree % self.kinds

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.uint8]:
        return nbr.label

    def apply(self, v: Vertex, total: gl.List[gl.uint8], message: gl.Sum[int]) -> None:
        v.near = total
        v.often = np.bincount(total, minlength=self.kinds)
        v.heard = message % 1000
        v.label = (v.label + message + len(total)) % self.kinds

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        counts = np.bincount(v.near, minlength=self.kinds)
        upto = np.cumsum(counts)
        nbr.signal(counts[nbr.label] * 3 + upto[v.label])


@case(limit=4)
class Ordered(gl.VertexProgram):
    """Places of the neighbours' numbers among a vertex's own, sorted once; edges keep a difference."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=11)
        rank: int = 0

    class Edge(gl.Edge):
        at: float = 0.0

    def init(self, v: Vertex) -> None:
        v.x[0], v.x[1], v.x[10] = v.degree * 0.5, 1.5, -float(v.in_degree)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        rest = 1
        low = np.sort(v.x) * rest
        return int(np.searchsorted(low, nbr.x[0])) + rest

    def apply(self, v: Vertex, total: int) -> None:
        v.rank = total
        v.x[self.superstep % 11] += total % 7

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        sums = np.cumsum(v.x)
        changed = v.x * 2.0
        changed[0] = nbr.x[1]
        if e.forward:
            e.at = sums[10] - changed[0] + changed[1]
        nbr.signal()


@case(limit=4)
class Weighed(gl.VertexProgram):
    """A record of what each edge adds, by weights that are made of the near vertex and an aggregate."""

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=32, init=1.0)
        low: float = 0.0

    class Total(gl.Accumulator):
        x: gl.Vector = gl.field(shape=32)
        most: gl.Max[float]

    @gl.aggregator
    def all(self, v: Vertex) -> gl.Sum[float]:
        return v.x[0]

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        """The weights are this vertex's alone."""
        weights = v.x / (self.all + 1.0)
        return self.Total(x=weights * nbr.x[1], most=weights[nbr.degree % 32])

    def apply(self, v: Vertex, total: Total) -> None:
        v.x = (total.x + v.degree) / 4.0
        v.low = total.most if total.most > 0.0 else 0.0
