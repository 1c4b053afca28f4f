"""Accumulators with parts, histograms, and the combiners beside Sum, Min and Max."""

from __future__ import annotations

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


@case()
class Portions(gl.VertexProgram):
    """Numbers of several types and vectors in one accumulator; parts left out; a histogram."""

    k: int = 3
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", init=0.5)
        level: int = 1
        spread: float = 0.0
        odd: bool = False

    class Edge(gl.Edge):
        weight: float
        cost: int

    class Total(gl.Accumulator):
        weight: float
        low: gl.Min[gl.int16]
        high: gl.Max[float]
        odd: gl.Any[bool]
        bits: gl.BitOr[int]
        x: gl.Vector = gl.field(shape="k")
        top: gl.Vector = gl.field(shape=2, combine=gl.MAX)
        bins: gl.Vector = gl.field(shape=4, dtype=gl.int32)
        heavy: gl.Vector = gl.field(shape=2, dtype=float)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        if e.cost < 0:
            return self.Total(weight=e.weight, bins=gl.at(nbr.level % 4))
        return self.Total(
            weight=e.weight, low=e.cost, high=nbr.x[0], odd=nbr.level % 2 == 1, bits=1 << (nbr.level % 7),
            x=nbr.x * e.weight, top=np.ones(2) * e.weight, heavy=gl.at(e.cost % 2, e.weight),
            bins=gl.at(-1),
        )  # fmt: skip

    def apply(self, v: Vertex, total: Total) -> None:
        v.spread = total.weight + (total.high if total.high > -1000.0 else 0.0) / 8
        v.x = total.x / 64 + 0.25
        v.level = total.bins[0] + 2 * total.bins[3] + total.bits % 16 + (total.low if total.low < 100 else 0)
        v.odd = total.odd
        v.x[0] += total.heavy[1] / 64 + max(total.top[0], 0.0) / 64


@case(limit=4, tolerance=1e-6)
class Normal(gl.VertexProgram):
    """Sums of outer products of one vector, by halves; solved with a multiple of the unit matrix."""

    k: int = 4
    ridge: float = 0.5

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", dtype=gl.float32)
        skew: float = 0.0

    class Edge(gl.Edge):
        weight: float

    class Total(gl.Accumulator):
        xtx: gl.Matrix = gl.field(shape=("k", "k"))
        xty: gl.Vector = gl.field(shape="k")
        other: gl.Matrix = gl.field(shape=(2, 2))

    def init(self, v: Vertex) -> None:
        for i in range(self.k):
            v.x[i] = (v.degree + 3 * i) % 5 - 2

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        pair = np.ones(2)
        pair[1] = nbr.x[0]
        return self.Total(
            xtx=np.outer(nbr.x, nbr.x) * e.weight, xty=e.weight * nbr.x, other=np.outer(pair, np.ones(2))
        )

    def apply(self, v: Vertex, total: Total) -> None:
        a = total.xtx + self.ridge * (1 + v.degree) * np.eye(self.k)
        v.x = gl.solve_spd(a, total.xty) + np.linalg.solve(a, total.xty) + 0.125
        v.skew = total.xtx[0, 1] - total.xtx[1, 0] + total.other[0, 1] - total.other[1, 0]


@case(limit=3, tolerance=1e-6)
class Squares(gl.VertexProgram):
    """Sums of outer products: of one vector alone, in float32, of ints, beside other matrices."""

    k: int = 5

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", dtype=gl.float32)
        y: gl.Vector = gl.field(shape=2, dtype=int)
        seen: gl.Vector = gl.field(shape=5)

    class Edge(gl.Edge):
        weight: float

    class Total(gl.Accumulator):
        alone: gl.Matrix = gl.field(shape=("k", "k"))
        narrow: gl.Matrix = gl.field(shape=("k", "k"), dtype=gl.float32)
        whole: gl.Matrix = gl.field(shape=(2, 2), dtype=int)
        mixed: gl.Matrix = gl.field(shape=("k", "k"))
        few: gl.Matrix = gl.field(shape=(9, 9))

    def init(self, v: Vertex) -> None:
        for i in range(self.k):
            v.x[i] = (v.degree + 3 * i) % 5 / 4 - 0.7

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        z = np.ones(9)
        z[3] = e.weight
        if nbr.degree % 3 == 1:
            return self.Total(mixed=np.eye(self.k) * e.weight, few=np.outer(z + v.x[0], z + v.x[0]))
        return self.Total(
            alone=np.outer(nbr.x, nbr.x),
            narrow=np.outer(nbr.x + v.x, nbr.x + v.x),
            whole=np.outer(nbr.y, nbr.y),
            mixed=np.outer(e.weight * nbr.x, e.weight * nbr.x),
        )

    def apply(self, v: Vertex, total: Total) -> None:
        v.seen[0] = np.sum(total.alone) + total.alone[0, 1] - total.alone[1, 0]
        v.seen[1] = np.max(total.narrow) + total.narrow[2, 4] / (1 + total.narrow[4, 2] ** 2)
        v.seen[2] = total.whole[0, 1]
        v.seen[3] = np.min(total.mixed)
        v.seen[4] = total.few[0, 3] - total.few[8, 8] + total.few[3, 0]
        for i in range(self.k):
            v.x[i] = total.alone[i, (i + 1) % self.k] / (1 + v.degree)
        v.y[0] = v.degree
        v.y[1] = self.superstep - 1


@case()
class Truth(gl.VertexProgram):
    """Any of bools, aggregators that count, multiply and combine bits."""

    class Vertex(gl.Vertex):
        hot: bool = False
        level: int = 1

    @gl.aggregator
    def many(self, v: Vertex) -> gl.Count:
        return v.hot

    @gl.aggregator
    def bits(self, v: Vertex) -> gl.BitOr[int]:
        return 1 << (v.level % 50)

    @gl.aggregator
    def product(self, v: Vertex) -> gl.Prod[int]:
        return 2 * v.level + 1

    @gl.aggregator
    def everyone(self, v: Vertex) -> gl.All[bool]:
        return v.hot

    def init(self, v: Vertex) -> None:
        v.hot = v.in_degree > v.out_degree

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Any[bool]:
        return nbr.hot or nbr.level % 3 == 0

    def apply(self, v: Vertex, total: bool) -> None:
        v.hot = total and not v.hot
        v.level += self.many + self.bits % 5 + self.product % 7


@case()
class Counted(gl.VertexProgram):
    """Count, and messages combined by products and bits."""

    class Vertex(gl.Vertex):
        level: int = 1

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Count:
        return nbr.level % 2 == 1

    def apply(self, v: Vertex, total: int, message: gl.Prod[int]) -> None:
        v.level += total + message % 11

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.level % 5)
