"""The program's own merge: of totals, of messages and of aggregates over vertices and edges."""

from __future__ import annotations

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


@case(tolerance=1e-6)
class Variance(gl.VertexProgram):
    """Mean and variance by Chan's formula, everywhere at once."""

    class Vertex(gl.Vertex):
        mean: float = 0.0
        spread: float = 0.0
        heard: float = 0.0
        n: int = 0
        x: int = 1

    class Edge(gl.Edge):
        weight: float

    class Moments(gl.Accumulator):
        n: int = 0
        mean: float = 0.0
        m2: float = 0.0

    def merge(self, a: Moments, b: Moments) -> Moments:
        n = a.n + b.n
        if n == 0:
            return self.Moments()
        d = b.mean - a.mean
        return self.Moments(
            n=n, mean=(a.n * a.mean + b.n * b.mean) / n, m2=a.m2 + b.m2 + d * d * a.n * b.n / n
        )

    @gl.aggregator
    def all(self, v: Vertex) -> Moments:
        return self.Moments(n=1, mean=v.x)

    @gl.aggregator
    def edges(self, v: Vertex, e: Edge, nbr: Vertex) -> Moments:
        return self.Moments(n=1, mean=e.weight * nbr.x) if e.weight > 0.0 else self.Moments()

    @gl.aggregator(every=2)
    def rare(self, v: Vertex) -> Moments:
        return self.Moments(n=2, mean=v.n, m2=0.5)

    @rare.finalize
    def _(self, total: Moments) -> Moments:
        return self.Moments(n=total.n + 1, mean=total.mean / 2)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Moments:
        return self.Moments(n=1, mean=nbr.x * e.weight)

    def apply(self, v: Vertex, total: Moments, message: Moments) -> None:
        v.mean = total.mean
        v.n = total.n + message.n + self.rare.n
        v.spread = total.m2 / total.n if total.n > 0 else 0.0
        v.heard = message.mean + message.m2 + self.all.mean + self.edges.m2 / max(self.edges.n, 1)
        v.x = (v.x * 3 + v.n + self.edges.n) % 17

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.x % 3 > 0:
            nbr.signal(self.Moments(n=1, mean=v.x))


def later(a: int, b: int, way: int) -> bool:
    return a > b if way > 0 else a < b


@case()
class Best(gl.VertexProgram):
    """The three largest labels, in a vector; loops, a function and a parameter in merge."""

    way: int = 1
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: int = 0
        best: gl.Vector = gl.field(shape=3, dtype=gl.int32)
        far: gl.VertexId

    class Edge(gl.Edge):
        cost: int

    class Top(gl.Accumulator):
        best: gl.Vector = gl.field(shape=3, dtype=gl.int16, init=-1)
        least: gl.VertexId = gl.NOBODY
        some: bool = False
        count: int = 0

    def merge(self, a: Top, b: Top) -> Top:
        if b.count == 0:
            return a
        i, j = 0, 0
        first, second, third = -1, -1, -1
        for k in range(3):
            if later(a.best[i], b.best[j], self.way):
                label = a.best[i]
                i += 1
            else:
                label = b.best[j]
                j += 1
            if k == 0:
                first = label
            elif k == 1:
                second = label
            else:
                third = label
        place = np.zeros(3)
        place[0] = 1.0
        ints = a.best * 0
        return self.Top(
            best=self.row(ints, first, second, third), least=min(a.least, b.least), some=a.some or b.some,
            count=a.count + b.count,
        )  # fmt: skip

    @staticmethod
    def row(ints: gl.Vector, first: int, second: int, third: int) -> gl.Vector:
        made = np.copy(ints)
        made[0], made[1], made[2] = first, second, third
        return made

    @gl.aggregator
    def labels(self, v: Vertex) -> Top:
        return self.Top(best=gl.at(0, v.label % 100), least=v.id, some=v.label > 5, count=1)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Top:
        if e.cost == 1:
            return self.Top(count=1)
        return self.Top(best=gl.at(0, nbr.label), least=nbr.id, count=1, some=e.cost > 3)

    def apply(self, v: Vertex, total: Top) -> None:
        v.best = total.best
        v.far = total.least
        v.label = (v.label + total.best[0] + 2 * total.best[1] + total.best[2] + v.degree) % 50
        if total.some or self.labels.some:
            v.label += self.labels.best[2] % 3 + self.labels.count % 2
        if self.labels.least == v.id:
            v.label += 1
