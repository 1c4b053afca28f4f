"""Programs with one fixed point in every order, whose messages, totals and fields are of all kinds."""

from __future__ import annotations

import math

import numpy as np

from gaslab import program as gl

BIG = 1 << 40


def after(first: int, a: int, b: int, c: int, d: int) -> int:
    """Return the smallest of four that is not the first."""
    a = a if a != first else BIG
    b = b if b != first else BIG
    c = c if c != first else BIG
    d = d if d != first else BIG
    return min(a, b, c, d)


class Bundles(gl.VertexProgram):
    """Every vertex sends one message of many parts along each out-edge; they are counted and compared."""

    class Vertex(gl.Vertex):
        turns: int = 0
        count: int = 0
        low: gl.float32 = 100.0
        top: int = -100
        who: gl.VertexId
        bins: gl.Vector = gl.field(shape=3, dtype=int)
        odd: bool = False
        even: bool = True

    class Edge(gl.Edge):
        weight: float
        cost: int

    class Letter(gl.Accumulator):
        count: int
        low: gl.Min[gl.float32]
        best: gl.ArgMax[int, gl.VertexId]
        bins: gl.Vector = gl.field(shape=3, dtype=gl.int16)
        odd: gl.Any[bool]
        even: gl.All[bool]

    def apply(self, v: Vertex, message: Letter) -> None:
        v.turns += 1
        v.count += message.count
        v.low = min(v.low, message.low)
        top, who = message.best
        if who != gl.NOBODY and (top > v.top or (top == v.top and who < v.who)):
            v.top, v.who = top, who
        for k in range(3):
            v.bins[k] = v.bins[k] + message.bins[k]
        v.odd = v.odd or message.odd
        v.even = v.even and message.even

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.turns == 1:
            nbr.signal(
                self.Letter(
                    count=1, low=e.weight, best=(e.cost, v.id), bins=gl.at(e.cost % 3), odd=e.cost % 2 == 1,
                    even=e.cost % 2 == 0,
                ),
            )  # fmt: skip


class Ways(gl.VertexProgram):
    """Shortest paths with the smallest parent, by pairs as messages, whoever is nearest first."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        distance: float
        parent: gl.VertexId
        improved: bool = True

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        v.distance = 0.0 if v.id == self.source else math.inf
        v.parent = v.id if v.id == self.source else gl.NOBODY

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex, message: gl.ArgMin[float, gl.VertexId]) -> None:
        distance, parent = message
        v.improved = distance < v.distance or v.id == self.source
        nearer = distance < v.distance or (distance == v.distance and parent < v.parent)
        if nearer and v.id != self.source:
            v.distance, v.parent = distance, parent

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.improved and v.distance + e.weight <= nbr.distance:
            nbr.signal((v.distance + e.weight, v.id), priority=int(v.distance + e.weight))


class Least(gl.VertexProgram):
    """The two smallest labels that reach a vertex, by messages with the program's own merge."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        first: int = BIG
        second: int = BIG
        improved: bool = True

    class Two(gl.Accumulator):
        first: int = BIG
        second: int = BIG

    def init(self, v: Vertex) -> None:
        v.first = v.in_degree * 7 + v.out_degree * 3

    def merge(self, a: Two, b: Two) -> Two:
        first = min(a.first, b.first)
        second = after(first, a.first, b.first, a.second, b.second)
        return self.Two(first=first, second=second)

    def apply(self, v: Vertex, message: Two) -> None:
        first = min(v.first, message.first)
        v.second = after(first, v.first, message.first, v.second, message.second)
        v.first = first

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.first < nbr.first or (v.second < nbr.second and v.second != nbr.first):
            nbr.signal(self.Two(first=v.first, second=v.second))


class Gathered(Least):
    """The same by gathers with the program's own merge, and a vector beside."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        first: int = BIG
        second: int = BIG
        marks: gl.Vector = gl.field(shape=3, dtype=gl.uint8)

    class Both(gl.Accumulator):
        first: int = BIG
        second: int = BIG
        marks: gl.Vector = gl.field(shape=3, dtype=gl.uint8)

    def init(self, v: Vertex) -> None:
        v.first = v.in_degree * 7 + v.out_degree * 3
        v.marks[v.first % 3] = v.first % 200

    def merge(self, a: Both, b: Both) -> Both:
        first = min(a.first, b.first)
        second = after(first, a.first, b.first, a.second, b.second)
        return self.Both(first=first, second=second, marks=np.maximum(a.marks, b.marks))

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Both:
        return self.Both(first=nbr.first, second=nbr.second, marks=nbr.marks)

    def apply(self, v: Vertex, total: Both) -> None:
        first = min(v.first, total.first)
        v.second = after(first, v.first, total.first, v.second, total.second)
        v.first = first
        v.marks = np.maximum(v.marks, total.marks)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        behind = v.marks[0] > nbr.marks[0] or v.marks[1] > nbr.marks[1] or v.marks[2] > nbr.marks[2]
        if behind or v.first < nbr.first or (v.second < nbr.second and v.second != nbr.first):
            nbr.signal()


class Narrow(gl.VertexProgram):
    """Fields of odd widths; Any and All; what scatter writes on edges."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        reached: bool = False
        safe: bool = True
        level: gl.uint8 = 200
        heat: gl.float32 = 0.0
        odd: gl.int16 = 0

    class Edge(gl.Edge):
        cost: int
        most: gl.float32 = 0.0

    class Around(gl.Accumulator):
        reached: gl.Any[bool]
        safe: gl.All[bool]
        level: gl.Min[gl.uint8]
        heat: gl.Max[gl.float32]
        odd: gl.BitOr[gl.int16]

    def init(self, v: Vertex) -> None:
        v.reached = v.id == self.source
        v.level = 0 if v.reached else 200
        v.safe = v.out_degree % 4 != 3
        v.heat = v.in_degree * 0.5
        v.odd = 1 << v.out_degree % 7

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Around:
        return self.Around(
            reached=nbr.reached, safe=nbr.safe, level=min(nbr.level + 1, 200), heat=nbr.heat, odd=nbr.odd
        )

    def apply(self, v: Vertex, total: Around) -> None:
        v.reached = v.reached or total.reached
        v.safe = v.safe and total.safe
        v.level = min(v.level, total.level)
        v.heat = max(v.heat, total.heat)
        v.odd = v.odd | total.odd

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.forward:
            e.most = max(e.most, v.heat)
        if (
            (v.reached and not nbr.reached) or (nbr.safe and not v.safe) or v.level + 1 < nbr.level
            or v.heat > nbr.heat or (v.odd | nbr.odd) != nbr.odd
        ):  # fmt: skip
            nbr.signal()


class Upstream(gl.VertexProgram):
    """The smallest id downstream: gathers over out-edges, signals against the edges."""

    gather_edges = gl.OUT
    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        least: gl.VertexId

    def init(self, v: Vertex) -> None:
        v.least = v.id

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.least

    def apply(self, v: Vertex, total: gl.VertexId) -> None:
        v.least = min(v.least, total)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.least < nbr.least:
            nbr.signal()


class Echoes(gl.VertexProgram):
    """Every vertex sends messages to itself, a few times, and to its neighbours once: all arrive."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        turns: int = 0
        left: int = 3
        own: int = 0
        got: int = 0

    class Letter(gl.Accumulator):
        own: int
        got: int

    def apply(self, v: Vertex, message: Letter) -> None:
        v.turns += 1
        v.own += message.own
        v.got += message.got
        if v.left > 0:
            v.signal(self.Letter(own=v.left))
            v.left -= 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.turns == 1:
            nbr.signal(self.Letter(got=1))


class Alone(gl.VertexProgram):
    """No edges at all: everybody counts down by signals to itself."""

    gather_edges = gl.NONE
    scatter_edges = gl.NONE

    class Vertex(gl.Vertex):
        left: gl.uint8 = 5
        sum: int = 0

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.sum += message
        if v.left > 0:
            v.left -= 1
            v.signal(v.left * 1)
