"""Pairs of a key and its payload: ArgMin and ArgMax as totals, as parts and as aggregates."""

from __future__ import annotations

import math

from gaslab import program as gl
from tests.programs.case import case


@case()
class NearestPair(gl.VertexProgram):
    """The neighbour over the cheapest edge; the dearest edge's own number; ties; an empty total."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        nearest: gl.VertexId
        cost: float = 0.0
        level: int = 1
        far: gl.VertexId

    class Edge(gl.Edge):
        weight: float
        cost: int

    @gl.aggregator
    def dearest(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.ArgMax[gl.float32, int]:
        return e.weight * v.level, e.cost - nbr.level

    @gl.aggregator
    def lowest(self, v: Vertex) -> gl.ArgMin[int, gl.VertexId]:
        return (v.level, v.id) if v.degree > 1 else (-v.level, v.id)

    @gl.aggregator(every=2)
    def hub(self, v: Vertex) -> gl.ArgMax[int, float]:
        return v.degree, v.cost

    @hub.finalize
    def _(self, total: tuple[int, float]) -> tuple[int, float]:
        return total[0] + 1, max(-10.0, min(total[1], 10.0))

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.ArgMin[float, gl.VertexId]:
        if e.cost < 0:
            return math.nan, v.id
        return e.weight + nbr.level % 2, nbr.id

    def apply(self, v: Vertex, total: tuple[float, gl.VertexId]) -> None:
        v.cost, v.nearest = total
        degree, cost = self.hub
        top, number = self.dearest
        if v.nearest == gl.NOBODY:
            v.cost = -1.0 - cost / 64
        v.level = (v.level + degree + number + int(min(total[0], 8.0) + max(-8.0, min(top, 8.0)))) % 7
        if self.lowest[0] > -4 and v.id != self.lowest[1]:
            v.level += 1
            v.far = self.lowest[1]

    def done(self) -> bool:
        return self.hub[0] > 10**9 and self.lowest[1] is None


@case()
class Both(gl.VertexProgram):
    """Pairs beside other parts, with payloads of floats and narrow integers; nan and left out."""

    class Vertex(gl.Vertex):
        x: float = 0.0
        mark: gl.int16 = 0
        level: int = 2

    class Edge(gl.Edge):
        weight: float
        cost: int

    class Total(gl.Accumulator):
        edges: int
        low: gl.ArgMin[float, gl.int16]
        high: gl.ArgMax[gl.int16, float]
        seen: gl.Vector = gl.field(shape=2, dtype=int)
        last: gl.ArgMax[int, gl.VertexId]

    @gl.aggregator
    def all(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        if e.cost == 1:
            return self.Total(edges=2, seen=gl.at(nbr.mark % 2))
        return self.Total(edges=1, low=(v.x, e.cost), high=(nbr.mark, e.weight), last=(v.level, v.id))

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        odd = math.nan if e.cost == 2 else e.weight
        if nbr.level % 3 == 0:
            return self.Total(edges=1, seen=gl.at(0, e.cost))
        return self.Total(
            edges=1,
            low=(e.weight / max(e.cost % 3, 1), nbr.mark),
            high=(e.cost, odd),
            last=(e.cost % 2, nbr.id),
        )

    def apply(self, v: Vertex, total: Total) -> None:
        x, v.mark = total.low
        cost, weight = total.high
        if total.edges > 0 and x < 100.0:
            v.x = x / 8
        if weight == weight and cost > 0:
            v.x += weight / 64 + total.high[1] / 64
        if total.last[1] != gl.NOBODY:
            v.level += total.last[0] + int(total.last[1] < v.id)
        v.mark = (v.mark + total.seen[0] + self.all.seen[1] + self.all.low[1] % 5 + v.level) % 30
        if self.all.last[1] == v.id:
            v.level += self.all.edges


@case()
class EnoughPairs(gl.VertexProgram):
    """A gather of a pair that stops at the first that cannot be beaten."""

    class Vertex(gl.Vertex):
        level: int = 5
        whom: int = 0

    class Edge(gl.Edge):
        cost: int

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.ArgMax[int, int]:
        if nbr.level % 4 == 3 and e.cost > 0:
            gl.stop()
            return 1000, 0
        return nbr.level % 4, e.cost

    def apply(self, v: Vertex, total: tuple[int, int]) -> None:
        best, whom = total
        v.whom = whom
        v.level += best % 13 if best > -1 else 1


@case()
class PassedOn(gl.VertexProgram):
    """A gathered pair that is sent on to another vertex, and one of an aggregator to the neighbours."""

    class Vertex(gl.Vertex):
        level: int = 1
        whom: gl.VertexId

    class Edge(gl.Edge):
        cost: int

    @gl.aggregator
    def lowest(self, v: Vertex) -> gl.ArgMin[int, gl.VertexId]:
        return v.level, v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.ArgMin[int, gl.VertexId]:
        return e.cost + nbr.level % 3, nbr.id

    def apply(
        self, v: Vertex, total: tuple[int, gl.VertexId], message: gl.ArgMin[int, gl.VertexId]
    ) -> None:
        if total[1] != gl.NOBODY:
            self.signal(total[1], total)
        if message[1] != gl.NOBODY:
            v.level = (v.level + message[0]) % 11
        v.whom = message[1]

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if nbr.level % 2 == 0:
            nbr.signal(self.lowest)
