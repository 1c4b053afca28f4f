"""Messages with parts and pairs: from scatter and from apply, to init and to apply, pushed and pulled."""

from __future__ import annotations

import math

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


@case()
class Bundles(gl.VertexProgram):
    """Accumulators as messages: numbers, pairs, vectors and a histogram; some edges send nothing."""

    k: int = 3

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", init=0.5)
        level: int = 1
        who: gl.VertexId
        heard: int = 0

    class Edge(gl.Edge):
        weight: float
        cost: int

    class Letter(gl.Accumulator):
        count: int
        low: gl.Min[gl.float32]
        best: gl.ArgMax[int, gl.VertexId]
        x: gl.Vector = gl.field(shape="k")
        bins: gl.Vector = gl.field(shape=4, dtype=gl.int16)
        odd: gl.Any[bool]

    def apply(self, v: Vertex, message: Letter) -> None:
        v.heard = message.count
        if message.count > 0:
            v.x = message.x / 64 + message.low / 8
            level, v.who = message.best
            v.level = (level + message.bins[0] + 2 * message.bins[-1]) % 9 + int(message.odd)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.cost == 1:
            nbr.signal(self.Letter(count=2, bins=gl.at(v.level % 4)))
        elif v.level % 5 < 4:
            mine = np.ones(self.k) * e.weight
            nbr.signal(
                self.Letter(
                    count=1,
                    low=e.weight - v.level,
                    best=(v.level + e.cost, v.id),
                    x=v.x + mine * nbr.level,
                    bins=gl.at(-1, e.cost),
                    odd=v.level % 2 == 1,
                )
            )


@case(limit=6, start="ids")
class Parents(gl.VertexProgram):
    """A pair as a message to init, which runs before gather; ties by the smaller id."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        distance: float = math.inf
        parent: gl.VertexId
        seen: int = 0

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex, message: gl.ArgMin[float, gl.VertexId]) -> None:
        distance = message[0]
        if message[1] == gl.NOBODY and v.distance == math.inf:
            v.distance = 0.0
        elif distance < v.distance:
            v.distance, v.parent = message

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Count:
        return nbr.distance < math.inf

    def apply(self, v: Vertex, total: int) -> None:
        v.seen = total

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance and e.weight > 0.0:
            nbr.signal((v.distance + e.weight, v.id))


@case()
class Diary(gl.VertexProgram):
    """apply reads its message while it sends itself the next; gathers an accumulator beside it."""

    class Vertex(gl.Vertex):
        n: int = 3
        sum: int = 0

    class Edge(gl.Edge):
        cost: int

    class Total(gl.Accumulator):
        cost: int
        top: gl.Vector = gl.field(shape=2, combine=gl.MAX)

    class Note(gl.Accumulator):
        days: int
        page: gl.ArgMin[int, float]

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        pair = np.zeros(2)
        pair[0] = e.cost
        return self.Total(cost=e.cost) if e.cost > 2 else self.Total(cost=1, top=pair)

    def apply(self, v: Vertex, total: Total, message: Note) -> None:
        page, number = message.page
        v.sum += total.cost + message.days + (page % 7 if number > 0.0 else 0)
        v.n -= 1
        if v.n > 0:
            v.signal(self.Note(days=message.days + 1, page=(v.n, number + 0.5)))

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.cost > 0 and nbr.sum % 2 == 0:
            nbr.signal(self.Note(page=(e.cost, 1.5), days=10))
        else:
            v.signal(self.Note(days=1))


@case(start="ids")
class Ranked(gl.VertexProgram):
    """Messages with parts by priority."""

    class Vertex(gl.Vertex):
        level: int = 0

    class Edge(gl.Edge):
        cost: int

    class Offer(gl.Accumulator):
        most: gl.Max[int]
        bits: gl.BitOr[int]

    def apply(self, v: Vertex, message: Offer) -> None:
        if message.bits > 0:
            v.level += message.bits % 16 + message.most % 3
        else:
            v.level += 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if nbr.level < 20:
            nbr.signal(self.Offer(most=e.cost, bits=1 << (v.level % 6)), priority=abs(e.cost))


@case()
class Addressed(gl.VertexProgram):
    """Messages with parts to any vertex by its id, from apply and scatter, beside those to neighbours."""

    class Vertex(gl.Vertex):
        to: gl.VertexId
        level: int = 0
        x: gl.Vector = gl.field(shape=2)

    class Edge(gl.Edge):
        weight: float
        cost: int

    class Letter(gl.Accumulator):
        count: int
        x: gl.Vector = gl.field(shape=2)
        least: gl.ArgMin[gl.int16, gl.VertexId]

    def init(self, v: Vertex) -> None:
        v.to = v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.ArgMin[int, gl.VertexId]:
        return nbr.level + e.cost, nbr.to

    def apply(self, v: Vertex, total: tuple[int, gl.VertexId], message: Letter) -> None:
        v.x = message.x / 32
        v.level = (v.level + message.count + 1) % 5
        if message.least[1] != gl.NOBODY:
            v.to = message.least[1]
        if total[1] != gl.NOBODY and v.level < 4:
            self.signal(total[1], self.Letter(count=3, least=(v.level, v.id)))

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.cost == 2:
            self.signal(nbr.to)
        elif e.cost > 0:
            self.signal(v.to, self.Letter(x=np.ones(2) * e.weight, count=1))
        else:
            nbr.signal(self.Letter(count=2, least=(e.cost, v.to)))


@case(limit=6)
class Invited(gl.VertexProgram):
    """Pairs to vertices by id, with priorities."""

    class Vertex(gl.Vertex):
        guest: gl.VertexId
        level: int = 3

    class Edge(gl.Edge):
        cost: int

    def apply(self, v: Vertex, message: gl.ArgMax[int, gl.VertexId]) -> None:
        level, guest = message
        if guest != gl.NOBODY:
            v.guest = guest
            v.level = (v.level + level) % 6
            if v.level > 2:
                self.signal(guest, (v.level, v.id), priority=v.level)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.cost % 2 == 0:
            nbr.signal((e.cost, v.id), priority=1 + e.cost % 3)
