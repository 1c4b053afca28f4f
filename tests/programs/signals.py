"""Which vertices run: start, active, signals and messages."""

from __future__ import annotations

import math

from gaslab import program as gl
from tests.programs.case import case


@case(limit=40)
class Paths(gl.VertexProgram):
    """start, Min of floats over a weight, signals along OUT."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        distance: float

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        v.distance = 0.0 if v.id == self.source else math.inf

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.distance + e.weight

    def apply(self, v: Vertex, total: float) -> None:
        v.distance = min(v.distance, total)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance:
            nbr.signal()


@case(limit=40)
class Parts(gl.VertexProgram):
    """Min of ids as a message, scattered both ways; who has no message sees the identity."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        part: gl.VertexId
        improved: bool = True

    def init(self, v: Vertex) -> None:
        v.part = v.id

    def apply(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.improved = self.superstep == 0 or message < v.part
        v.part = min(message, v.part)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.improved and v.part < nbr.part:
            nbr.signal(v.part)


@case(limit=6)
class Messages(gl.VertexProgram):
    """Sum of ints as a message, against the edges; gather and message at once."""

    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        got: int = 0
        around: float = 0.0
        hops: gl.int32 = 3

    class Edge(gl.Edge):
        cost: int = 1

    def start(self, v: Vertex) -> bool:
        return v.in_degree > 0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return 0.5 * nbr.got + 0.25

    def apply(self, v: Vertex, total: float, message: gl.Sum[int]) -> None:
        v.got += message
        v.around = total
        v.hops -= 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.hops > 0:
            nbr.signal(e.cost + v.out_degree)
        elif nbr.hops > 2:
            nbr.signal()


@case(limit=6)
class Loudest(gl.VertexProgram):
    """Max of floats as a message, several signals along one edge."""

    class Vertex(gl.Vertex):
        volume: float = 0.0

    class Edge(gl.Edge):
        weight: float = 0.5

    def init(self, v: Vertex) -> None:
        v.volume = v.out_degree * 0.5

    def apply(self, v: Vertex, message: gl.Max[float]) -> None:
        if message > v.volume:
            v.volume = message

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nbr.signal(v.volume - e.weight)
        if v.volume > nbr.volume:
            nbr.signal(v.volume - 2 * e.weight)


@case(limit=20)
class Peel(gl.VertexProgram):
    """active: vertices leave in rounds; an aggregate decides when to stop."""

    most: int = 2
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        gone: bool = False
        when: gl.int32 = -1

    @gl.aggregator
    def left(self, v: Vertex) -> gl.Sum[int]:
        return int(not v.gone)

    @gl.aggregator
    def last(self, v: Vertex) -> gl.Max[int]:
        return v.when

    def active(self, v: Vertex) -> bool:
        return not v.gone

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return 0 if nbr.gone else 1

    def apply(self, v: Vertex, total: int) -> None:
        if total <= self.most:
            v.gone = True
            v.when = self.superstep

    def done(self) -> bool:
        return self.left == 0 or self.last < self.superstep


@case(limit=6)
class Turns(gl.VertexProgram):
    """active on alternate supersteps, with messages that wait until their vertex runs."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        inbox: int = 0

    def init(self, v: Vertex) -> None:
        v.inbox = v.degree % 2

    def active(self, v: Vertex) -> bool:
        return v.degree % 2 == self.superstep % 2

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.inbox = v.inbox * 3 + message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.inbox % 11)


@case(limit=4)
class Younger(gl.VertexProgram):
    """NOBODY as a default, compared, assigned and gathered."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        best: gl.VertexId = gl.NOBODY
        alone: bool = False

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.id if nbr.degree > v.degree else nbr.best

    def apply(self, v: Vertex, total: gl.VertexId) -> None:
        v.alone = total == gl.NOBODY
        v.best = gl.NOBODY if v.best != gl.NOBODY and v.best < v.id else min(total, v.id)
