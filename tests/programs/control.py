"""Signals to oneself and by priority."""

from __future__ import annotations

import math

from gaslab import program as gl
from tests.programs.case import case


@case(limit=12)
class Countdown(gl.VertexProgram):
    """apply signals its own vertex, with nothing else that would."""

    class Vertex(gl.Vertex):
        left: int = 0
        ran: gl.int16 = 0

    def init(self, v: Vertex) -> None:
        v.left = v.degree % 5

    def apply(self, v: Vertex) -> None:
        v.ran += 1
        if v.left > 0:
            v.left -= 1
            v.signal()


@case(limit=12)
class Savings(gl.VertexProgram):
    """Messages to oneself from apply and from scatter, beside those of neighbours, with a gather."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        purse: int = 1
        seen: int = 0
        beside: int = 0

    def init(self, v: Vertex) -> None:
        v.purse = v.in_degree + 1

    def start(self, v: Vertex) -> bool:
        return v.out_degree > 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.purse % 7

    def apply(self, v: Vertex, total: int, message: gl.Sum[int]) -> None:
        v.seen += message
        v.beside = total
        if self.superstep % 3 == 0:
            v.signal(v.purse)
        v.purse = (v.purse + message) % 100

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.purse % 3 == 1:
            v.signal(2)
        if nbr.purse > v.purse:
            nbr.signal(v.purse)


@case(limit=6)
class FloatSavings(gl.VertexProgram):
    """A sum of floats for oneself, along edges that come in."""

    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        purse: float = 0.5

    class Edge(gl.Edge):
        weight: float

    def apply(self, v: Vertex, message: gl.Sum[float]) -> None:
        v.purse = v.purse / 2 + message / 8

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        v.signal(e.weight)
        if e.weight > 4.0:
            nbr.signal(v.purse)


@case(limit=200)
class DeltaStepping(gl.VertexProgram):
    """Priorities that are floats, with messages: shortest paths by buckets of width delta."""

    source: gl.VertexId
    delta: float = 2.5

    class Vertex(gl.Vertex):
        distance: float = math.inf
        turn: int = -1

    class Edge(gl.Edge):
        weight: float

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex, message: gl.Min[float]) -> None:
        v.distance = min(v.distance, 0.0 if v.id == self.source else message)
        v.turn = self.superstep

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance:
            nbr.signal(v.distance + e.weight, priority=(v.distance + e.weight) / self.delta)


@case(limit=60)
class Appointments(gl.VertexProgram):
    """Priorities without messages, far apart, falling while pending, above and below what runs."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        when: int = -1
        times: int = 0

    class Edge(gl.Edge):
        cost: int

    def apply(self, v: Vertex) -> None:
        v.when = self.superstep
        v.times += 1
        if v.times < 3:
            v.signal(priority=v.degree * 40)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if nbr.times < 3:
            nbr.signal(priority=abs(e.cost * e.cost * nbr.times))
        elif nbr.times < 4 and e.cost > 0:
            nbr.signal()


@case(limit=40)
class LaterPhases(gl.VertexProgram):
    """What is pending, with its messages, ends with its phase; one phase has priorities and one has none."""

    class Vertex(gl.Vertex):
        heard: int = 0
        runs: int = 0

    class Edge(gl.Edge):
        cost: int

    def listen(self, v: Vertex, message: gl.Max[int]) -> None:
        v.heard = max(v.heard, message)
        v.runs += 1
        v.signal(v.runs, priority=v.degree)

    def speak(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nbr.signal(v.heard + e.cost, priority=abs(e.cost))

    def few(self, v: Vertex) -> bool:
        return v.heard % 2 == 0

    def tick(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.runs += 10 + message
        if v.runs < 40:
            v.signal(1)

    phases = (
        gl.Phase(apply=listen, scatter=speak, supersteps=4),
        gl.Phase(start=few, apply=tick),
    )

    def done(self) -> bool:
        return self.superstep > 12


@case(limit=30, start="messages")
class Messaged(gl.VertexProgram):
    """The caller names who begins, with messages, where start says otherwise."""

    class Vertex(gl.Vertex):
        best: float = 99.0
        first: bool = False

    class Edge(gl.Edge):
        weight: float

    def start(self, v: Vertex) -> bool:
        return False

    def apply(self, v: Vertex, message: gl.Min[float]) -> None:
        v.best = min(v.best, message)
        v.first = v.first or self.superstep == 0

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.best + e.weight < nbr.best:
            nbr.signal(v.best + e.weight)


@case(limit=10, start="ids")
class Named(gl.VertexProgram):
    """The caller names who begins the first of two phases; a gather that stops early."""

    class Vertex(gl.Vertex):
        hops: int = -1
        near: bool = False
        low: int = 7

    def reach(self, v: Vertex) -> None:
        v.hops = self.superstep if v.hops < 0 else v.hops

    def further(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.hops < 0:
            nbr.signal()

    def lit(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[bool]:
        return nbr.hops == 0

    def keep(self, v: Vertex, total: bool) -> None:
        v.near = total

    def lowest(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[int]:
        if nbr.hops <= 0:
            gl.stop()
            return -1
        return nbr.hops

    def keep_low(self, v: Vertex, total: int) -> None:
        v.low = total

    phases = (
        gl.Phase(apply=reach, scatter=further),
        gl.Phase(gather=lit, apply=keep, supersteps=1),
        gl.Phase(gather=lowest, apply=keep_low, gather_edges=gl.ALL, supersteps=1),
    )


@case(limit=9, start="messages")
class Inbox(gl.VertexProgram):
    """init takes the message; the gather of that superstep reads what it wrote."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        received: int = 0
        around: int = 0

    def init(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.received = v.received % 50 + message + self.superstep

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.received

    def apply(self, v: Vertex, total: int) -> None:
        v.around = total
        if total % 3 == 1:
            v.signal(2)
        v.received = v.received // 2

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.around > nbr.around % 40:
            nbr.signal(v.received % 5)
