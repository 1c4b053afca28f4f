"""Additive fields: scatter adds to either end, and the sums count once it is over."""

from __future__ import annotations

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


@case(limit=4)
class Pour(gl.VertexProgram):
    """Water flows along every edge, taken from one end and given to the other; nobody is signalled."""

    class Vertex(gl.Vertex):
        water: float = gl.field(init=8.0, sync=gl.SUM)
        drops: gl.int16 = gl.field(init=0, sync=gl.SUM)
        level: float = 0.0

    class Edge(gl.Edge):
        cost: int

    @gl.aggregator
    def all_water(self, v: Vertex) -> gl.Sum[float]:
        return v.water

    def active(self, v: Vertex) -> bool:
        return v.degree % 2 == self.superstep % 2 or v.drops > 3

    def apply(self, v: Vertex) -> None:
        v.level = v.water / 4

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.level > nbr.level:
            v.water -= 0.125 * e.cost
            nbr.water += 0.125 * e.cost
            nbr.drops += 1


@case(limit=5)
class Falls(gl.VertexProgram):
    """Targets only, by signals: sums, a minimum of ids, a maximum, all read by the next gather."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        heat: gl.float32 = gl.field(init=1.0, sync=gl.SUM)
        hits: int = gl.field(sync=gl.SUM)
        least: gl.VertexId = gl.field(sync=gl.MIN)
        best: float = gl.field(init=0.5, sync=gl.MAX)
        lit: bool = gl.field(init=False, sync=gl.MAX)
        beside: float = 0.0

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        v.least = v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[float]:
        return nbr.best + nbr.heat if nbr.lit else nbr.best

    def apply(self, v: Vertex, total: float) -> None:
        v.beside = total
        if v.hits > 6:
            v.hits -= 5
            v.lit = False

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nbr.heat += e.weight / 8
        nbr.hits += 1
        nbr.least = min(nbr.least, v.least)
        nbr.best = max(nbr.best, v.best / 2 + e.weight)
        if v.hits > nbr.hits or v.least < nbr.least:
            nbr.lit = max(nbr.lit, v.hits > 2)
            nbr.signal()


@case(limit=4)
class Owed(gl.VertexProgram):
    """Beside a message: the near end alone is added to, over the edges that come in."""

    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        owed: int = gl.field(init=0, sync=gl.SUM)
        got: int = 0

    def start(self, v: Vertex) -> bool:
        return v.in_degree > 1

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.got = message + v.owed

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        v.owed += 1 + nbr.degree
        nbr.signal(v.got % 5 + v.owed)


@case(limit=5)
class Tolls(gl.VertexProgram):
    """Both ends add to an edge, which gathers and the next scatter read."""

    scatter_edges = gl.ALL
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        purse: float = 1.0
        beside: float = 0.0

    class Edge(gl.Edge):
        weight: float
        cost: int
        paid: float = gl.field(sync=gl.SUM)
        low: int = gl.field(init=50, sync=gl.MIN)
        high: gl.float32 = gl.field(init=-1.0, sync=gl.MAX)
        least: gl.VertexId = gl.field(init=gl.NOBODY, sync=gl.MIN)
        used: bool = gl.field(init=False, sync=gl.MAX)
        times: gl.int16 = gl.field(sync=gl.SUM)

    def init(self, v: Vertex) -> None:
        v.purse = v.degree * 1.0

    def start(self, v: Vertex) -> bool:
        return v.degree % 3 == 1

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.paid + e.times + (1.0 if e.used else 0.0)

    def apply(self, v: Vertex, total: float) -> None:
        v.beside = total
        v.purse = v.purse / 2

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.paid += v.purse if e.forward else -0.5
        if e.times < 5:
            e.paid -= e.weight
            e.times += 2
            e.low = min(e.low, e.cost - v.degree)
            nbr.signal()
        else:
            e.high = max(e.high, v.purse)
            e.least = min(e.least, v.id)
        if v.purse > nbr.purse:
            e.used = max(e.used, True)


@case(limit=4)
class OneWay(gl.VertexProgram):
    """Over the out-edges alone, some of them chosen by the vertex, beside a message."""

    class Vertex(gl.Vertex):
        got: int = 0

    class Edge(gl.Edge):
        sent: int = gl.field(sync=gl.SUM)
        most: int = gl.field(init=-9, sync=gl.MAX)

    def scatter_edges(self, v: Vertex) -> int:
        return gl.OUT if v.degree % 2 else gl.NONE if v.got % 3 else gl.IN

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.got = (v.got + message) % 100

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        edge = e.sent
        e.sent += v.got + 1
        e.most = max(e.most, v.got)
        nbr.signal(1 + edge % 5)


@case(limit=4)
class Inwards(gl.VertexProgram):
    """Over the in-edges alone."""

    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        turn: int = 0

    class Edge(gl.Edge):
        sent: int = gl.field(sync=gl.SUM)

    def active(self, v: Vertex) -> bool:
        return (v.degree + self.superstep) % 2 == 0

    def apply(self, v: Vertex) -> None:
        v.turn += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        e.sent += v.turn * 10 + nbr.turn


@case(limit=4)
class Spread(gl.VertexProgram):
    """Vectors and a matrix are added to, whole and by elements, at both ends."""

    size: int = 3

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="size", init=1.0, sync=gl.SUM)
        small: gl.Vector = gl.field(shape=2, dtype=gl.float32, init=0.5, sync=gl.SUM)
        m: gl.Matrix = gl.field(shape=(2, "size"), dtype=int, sync=gl.SUM)
        low: gl.Vector = gl.field(shape=3, init=9.0, sync=gl.MIN)
        high: gl.Vector = gl.field(shape=3, dtype=gl.int32, init=-1, sync=gl.MAX)
        total: float = 0.0
        hits: int = gl.field(sync=gl.SUM)

    class Edge(gl.Edge):
        weight: float
        cost: int

    def apply(self, v: Vertex) -> None:
        v.total = np.sum(v.x) + v.m[1, 2]
        v.x = v.x * 0.5
        if v.hits > 9:
            v.m[0, 0] = 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nbr.x += v.x * e.weight + nbr.x
        nbr.x -= 0.25
        v.small += np.ones(2) * e.weight
        v.small[e.cost % 2] -= 0.125
        nbr.m[v.degree % 2, 1] += e.cost
        nbr.m += v.m - 1
        nbr.low = np.minimum(nbr.low, v.x)
        nbr.low[2] = min(nbr.low[2], e.weight - 3.0)
        v.high[0] = max(v.high[0], e.cost)
        v.high = np.maximum(v.high, nbr.m[0] % 7)
        nbr.hits += 1
        if v.hits < 20:
            nbr.signal()


@case(limit=4)
class Counts(gl.VertexProgram):
    """Targets alone, on all threads: a histogram of the sources' labels."""

    class Vertex(gl.Vertex):
        label: int = 0
        seen: gl.Vector = gl.field(shape=4, dtype=int, sync=gl.SUM)

    def init(self, v: Vertex) -> None:
        v.label = v.degree % 4

    def active(self, v: Vertex) -> bool:
        return v.label % 2 == self.superstep % 2

    def apply(self, v: Vertex) -> None:
        v.label = np.argmax(v.seen)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.seen[v.label] += 1
