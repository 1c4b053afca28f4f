"""Messages that are collected, vectors of vertex ids, and lists that grow."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


@case(limit=4)
class Heard(gl.VertexProgram):
    """Every vertex hears of all that its neighbours write, and of some that it names itself."""

    source: gl.VertexId
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        heard: gl.List[gl.VertexId]
        least: gl.VertexId
        count: int = 0

    def init(self, v: Vertex) -> None:
        v.least = v.id

    def apply(self, v: Vertex, message: gl.List[gl.VertexId]) -> None:
        v.heard = message
        for y in message:
            v.count += 2 if y < v.id else 1
        if message:
            v.least = min(message[0], gl.mode(message))
        if v.id in message:
            self.signal(self.source, v.id)
            self.signal(v.least, v.least)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.count < 40:
            nbr.signal(v.least)
            if v.degree > 2:
                nbr.signal(v.id)
        else:
            nbr.signal()


@case(limit=5)
class Marks(gl.VertexProgram):
    """Sets of small ints, with priorities: some wait for several supersteps."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        marks: gl.List[gl.int16]
        gap: int = 0

    def apply(self, v: Vertex, message: gl.SortedSet[gl.int16]) -> None:
        for mark in message:
            v.marks.append(mark)
        v.gap = gl.mex(message) * 100 + len(message)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.gap < 700:
            nbr.signal((v.degree + self.superstep) % 5, priority=nbr.degree % 3)


@case(limit=6)
class Letters(gl.VertexProgram):
    """Tuples of numbers and ids; the same vertices may send several in a superstep, and wait by a rule."""

    class Vertex(gl.Vertex):
        total: float = 0.0
        last: gl.VertexId = gl.NOBODY
        read: int = 0

    class Edge(gl.Edge):
        weight: float

    def active(self, v: Vertex) -> bool:
        return (v.degree + self.superstep) % 3 != 0

    def apply(self, v: Vertex, message: gl.List[tuple[int, gl.VertexId, float]]) -> None:
        for number, sender, weight in message:
            v.total += number * weight
            if sender != v.id:
                v.last = sender
        if len(message) > 1:
            number, _, weight = message[-1]
            v.read += number + len(message) + (1 if message[0][2] < weight else 0)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nbr.signal((v.degree, v.id, e.weight))
        if e.weight > 1.0:
            nbr.signal((-1, gl.NOBODY, -e.weight))
            v.signal((2, nbr.id, 0.5))


@case(limit=5)
class Traces(gl.VertexProgram):
    """A step of a walk in each superstep: places in vectors of ids, and in lists that grow."""

    steps: int = 4

    class Vertex(gl.Vertex):
        trace: gl.Vector = gl.field(shape="steps", dtype=gl.VertexId)
        near: gl.Matrix = gl.field(shape=(2, 2), dtype=gl.VertexId)
        visits: gl.List[int]
        guests: gl.List[gl.VertexId]

    def init(self, v: Vertex) -> None:
        v.near[0, 0] = v.id
        v.guests.append(v.id)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[gl.VertexId]:
        return max(nbr.id, nbr.near[1, 0]) if nbr.trace[0] == gl.NOBODY else nbr.trace[-1]

    def apply(self, v: Vertex, total: gl.VertexId, message: gl.List[tuple[gl.VertexId, int]]) -> None:
        if self.superstep < self.steps:
            v.trace[self.superstep] = total if v.in_degree > 0 else v.id
        v.near[1, 0] = v.near[0, 0]
        for guest, number in message:
            if guest not in v.guests:
                v.guests.append(guest)
            for k in range(number % 4):
                v.visits.append(k + len(v.guests))
        if len(v.visits) > 12:
            v.visits = []

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if self.superstep < 3:
            nbr.signal((v.id, v.out_degree))


@case(limit=4)
class Copies(gl.VertexProgram):
    """Lists that grow, copied from one to another."""

    class Vertex(gl.Vertex):
        stops: gl.List[gl.float32]
        before: gl.List[gl.float32]
        flags: gl.List[bool]

    def apply(self, v: Vertex, message: gl.List[bool]) -> None:
        v.before = v.stops
        v.stops.append(v.degree * 0.5)
        v.flags = message
        v.flags.append(len(v.before) > 2)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.degree > nbr.degree)


@case()
class Kept(gl.VertexProgram):
    """Collected messages of a phase wait in the next one, with those sent there, until their vertex runs."""

    class Vertex(gl.Vertex):
        heard: gl.List[gl.VertexId]
        runs: int = 0

    def wait(self, v: Vertex, message: gl.List[gl.VertexId]) -> None:
        v.runs = -len(message)

    def send(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.id)

    def is_even(self, v: Vertex) -> bool:
        return v.index % 2 == 0

    def read(self, v: Vertex, message: gl.List[gl.VertexId]) -> None:
        for sender in message:
            v.heard.append(sender)
        v.runs += 1

    def answer(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.runs == 1 and v.index % 4 == 0:
            nbr.signal(v.id)

    phases = (
        gl.Phase(apply=wait, scatter=send, supersteps=1),
        gl.Phase(start=is_even, apply=read, scatter=answer, supersteps=3),
        gl.Phase(apply=read, supersteps=1),
    )
