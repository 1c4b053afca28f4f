"""Additive fields: scatter adds to either end, and the sums count once it is over."""

from __future__ import annotations

from gaslab import program as gl
from tests.zoo.case import case


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
