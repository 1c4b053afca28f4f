"""Control flow, helpers, numbers; programs that do without gather or apply."""

from __future__ import annotations

import math

from gaslab import program as gl
from tests.programs.case import case


def collatz(n: int, most: int) -> int:
    """Return how many steps lead to 1, at most *most*."""
    steps = 0
    while n > 1 and steps < most:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def clamped(x: float, low: float = -1.0, high: float = 1.0) -> float:
    return low if x < low else min(x, high)


@case()
class Steps(gl.VertexProgram):
    """while, for, break, continue, helpers with defaults, chained comparisons, tuples."""

    most: int = 30

    class Vertex(gl.Vertex):
        steps: int = 0
        series: float = 0.0
        odd: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        found = 0
        for i in range(nbr.degree):
            if i % 2 == 1:
                continue
            if i > 6:
                break
            found += i + collatz(i + v.degree, 3)
        return found

    def apply(self, v: Vertex, total: int) -> None:
        v.steps = collatz(total + 1, self.most)
        x, sign = 0.0, 1
        for k in range(7, 0, -2):
            x += sign / k
            sign = -sign
        v.series = clamped(x + v.steps) + clamped(-x, low=-0.5)
        if 2 <= v.steps < 9:
            v.odd |= 1 << v.steps
        elif v.steps >= 9 or total == 0:
            v.odd ^= 5
        else:
            v.odd = ~v.odd


@case()
class Numerics(gl.VertexProgram):
    """Python's // and %, powers, math on poles, IEEE division, casts, wrapping integers."""

    class Vertex(gl.Vertex):
        whole: int = 1
        real: float = 0.75
        odd: float = 0.0
        wrapped: int = 1

    class Edge(gl.Edge):
        cost: int
        weight: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        floored = (e.cost * 7) // 4 - (e.cost * 7) % 4 + int(e.cost / 3)
        return floored + math.floor(-e.weight) + math.ceil(e.weight) + int(e.cost % 2.5 // 1)

    def apply(self, v: Vertex, total: int) -> None:
        v.whole = total % 1000 - total // 7 + (-total) % 13 + abs(total) ** 2
        v.real = math.sqrt(abs(v.real)) + math.log(1 + v.degree) + 2.0**-v.degree + math.atan2(v.real, 2)
        pole = math.log(0.0 * v.degree) + math.exp(1000.0 - v.degree)
        v.odd = pole if v.degree % 3 else v.real / (0 * v.real)
        v.wrapped = v.wrapped * 6364136223846793005 + 1442695040888963407 + total
        v.wrapped ^= v.wrapped >> 17


@case(limit=3)
class Alone(gl.VertexProgram):
    """apply only, on every vertex; directions of NONE; counts of the whole graph."""

    gather_edges = gl.NONE
    scatter_edges = gl.NONE
    step: int = 2

    class Vertex(gl.Vertex):
        count: int = 0
        share: float = 0.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[int]:
        return nbr.count

    def apply(self, v: Vertex, total: int) -> None:
        v.count += self.step * self.superstep + (total > 5)
        v.share = self.num_edges / self.num_vertices


@case(limit=3, given=("size",))
class Begun(gl.VertexProgram):
    """init alone, reading what was given."""

    class Vertex(gl.Vertex):
        first: gl.VertexId
        size: int = 7
        half: float = 0.0

    def init(self, v: Vertex) -> None:
        v.first = v.id
        v.size = v.in_degree - v.out_degree
        v.half = v.size / 2


@case()
class Unsigned(gl.VertexProgram):
    """uint64 in fields, vectors, totals and messages: an empty total is 2**63 - 1."""

    class Vertex(gl.Vertex):
        x: gl.uint64 = 5
        least: gl.uint64 = 0
        both: gl.Vector = gl.field(shape=2, dtype=gl.uint64, init=7)

    class Edge(gl.Edge):
        times: gl.uint64 = 3

    @gl.aggregator
    def largest(self, v: Vertex) -> gl.Max[gl.uint64]:
        return v.x

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Min[gl.uint64]:
        return nbr.x * e.times + nbr.degree

    def apply(self, v: Vertex, total: int, message: gl.Sum[gl.uint64]) -> None:
        v.least = total
        v.x = total % 1000 + message % 1000 + v.degree
        v.both[1] = v.both[1] % 100 + v.x // 4 + self.largest // 8

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nbr.signal(v.x % 1000)
