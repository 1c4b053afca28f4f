"""Signals by global id: to the parent, to the parent's parent, to whoever is named in a field or a list."""

from __future__ import annotations

import math

from gaslab import program as gl
from tests.programs.case import case


@case(limit=60)
class Jumping(gl.VertexProgram):
    """Each asks the parent of its parent, who answers whoever asks with the least id: apply alone sends."""

    class Vertex(gl.Vertex):
        parent: gl.VertexId
        asked: int = 0
        rounds: gl.int16 = 0

    def init(self, v: Vertex) -> None:
        v.parent = v.id

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.parent

    def apply(self, v: Vertex, total: gl.VertexId, message: gl.Min[gl.VertexId]) -> None:
        before = v.parent
        v.parent = min(v.parent, total, message)
        v.rounds += 1
        if v.parent != before or self.superstep == 0:
            self.signal(v.parent, v.parent)
            if message != gl.NOBODY:
                self.signal(message, v.parent)
            v.signal()


@case(limit=60)
class Hooking(gl.VertexProgram):
    """Components: an edge sends its smaller root to the root of either end; with scatter and lists' ids."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        root: gl.VertexId
        improved: bool = True

    def init(self, v: Vertex) -> None:
        v.root = v.id

    def apply(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.improved = message < v.root or self.superstep == 0
        v.root = min(v.root, message)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.improved and v.root < nbr.root:
            self.signal(nbr.root, v.root)
            nbr.signal(v.root)


@case(limit=8)
class Votes(gl.VertexProgram):
    """Sums of floats to one vertex, from apply and from scatter, beside messages along edges."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        heat: float = 1.0
        heard: float = 0.0

    class Edge(gl.Edge):
        weight: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.heat / 4

    def apply(self, v: Vertex, total: float, message: gl.Sum[float]) -> None:
        v.heard = message
        v.heat = (total + message / 16) / 8
        if self.superstep % 2 == 0:
            self.signal(self.source, v.degree / 8)
            self.signal(v.id, 0.25)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.weight > 2.0:
            self.signal(self.source, e.weight)
        else:
            nbr.signal(e.weight)


@case(limit=40)
class Queues(gl.VertexProgram):
    """Priorities, with and without a message, some of them for those who wait already."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        last: gl.VertexId
        turn: int = -1
        times: gl.int32 = 0
        received: gl.int16 = 0

    class Edge(gl.Edge):
        cost: int

    def init(self, v: Vertex) -> None:
        v.last = v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.VertexId, message: gl.Max[gl.int16]) -> None:
        v.turn = self.superstep
        v.times += 1
        v.received = max(v.received, message)
        if v.in_degree > 0:
            v.last = total
        if v.times < 3:
            self.signal(v.last, priority=v.degree * 30)
            self.signal(self.source, v.times, priority=abs(v.received) / 2)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.times < 3:
            self.signal(nbr.last, e.cost % 50, priority=abs(e.cost))


@case(limit=30)
class Rounds(gl.VertexProgram):
    """Two phases: by active with messages that wait, and counts to everyone in a gathered list."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        near: gl.List[gl.VertexId]
        seen: int = 0
        low: float = math.inf
        late: bool = False

    def odd(self, v: Vertex) -> bool:
        return (v.degree + self.superstep) % 2 == 1 and self.superstep < 6

    def wait(self, v: Vertex, message: gl.Any[bool]) -> None:
        v.late = v.late or message
        self.signal(v.id, v.degree % 3 == 0)

    def notify(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        self.signal(nbr.id, nbr.degree > 2)

    def around(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.VertexId]:
        return nbr.id

    def keep(self, v: Vertex, total: gl.List[gl.VertexId], message: gl.Sum[int]) -> None:
        v.near = total
        v.seen += message
        for i in range(len(v.near)):
            if self.superstep < 9:
                self.signal(v.near[i], i + 1)
        for y in v.near:
            if v.seen % 5 == 1:
                self.signal(y)

    def least(self, v: Vertex, message: gl.Min[float]) -> None:
        v.low = min(v.low, message)
        for i in range(min(len(v.near), 2)):
            if self.superstep < 14:
                self.signal(v.near[i], v.degree * 0.5 + i)

    phases = (
        gl.Phase(active=odd, apply=wait, scatter=notify, scatter_edges=gl.IN),
        gl.Phase(gather=around, apply=keep, gather_edges=gl.ALL, supersteps=4),
        gl.Phase(apply=least),
    )


@case(limit=12)
class Deliveries(gl.VertexProgram):
    """init has the message; apply sends by id, scatter to the neighbour's best, on chosen directions."""

    class Vertex(gl.Vertex):
        stock: int = 1
        best: gl.VertexId
        around: int = 0

    def init(self, v: Vertex, message: gl.Sum[int]) -> None:
        if self.superstep == 0:
            v.best = v.id
        v.stock = (v.stock + message) % 40

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
        return nbr.stock

    def scatter_edges(self, v: Vertex) -> int:
        return gl.OUT if v.stock % 2 else gl.IN

    def apply(self, v: Vertex, total: int) -> None:
        v.around = max(total, 0)
        if v.around > v.stock:
            self.signal(v.best, v.around % 9)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.stock % 7 < 4:
            self.signal(nbr.best)
        elif nbr.around < 20:
            self.signal(v.best, 1)
