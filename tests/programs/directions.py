"""Over which edges: directions by the vertex, of a class with phases, with every kind of gather."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


@case(limit=7)
class Ways(gl.VertexProgram):
    """Each vertex chooses its directions anew in every superstep, also none."""

    class Vertex(gl.Vertex):
        heat: int = 0
        turn: int = 0

    def init(self, v: Vertex) -> None:
        v.heat = v.degree + 1

    def gather_edges(self, v: Vertex) -> int:
        return (v.heat + self.superstep) % 4

    def scatter_edges(self, v: Vertex) -> int:
        return gl.IN if v.heat % 2 else gl.OUT if v.heat % 3 else gl.NONE if v.heat % 5 else gl.ALL

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.heat + (7 if e.forward else 0)

    def apply(self, v: Vertex, total: int, message: gl.Max[int]) -> None:
        v.heat = (v.heat * 3 + total + max(message, 0)) % 97
        v.turn = self.superstep

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.heat)


@case(limit=6)
class WaysOfAPhase(gl.VertexProgram):
    """Directions by a method in one phase and fixed in the next."""

    class Vertex(gl.Vertex):
        level: int = 1

    def odd_out(self, v: Vertex) -> int:
        return gl.OUT if v.level % 2 == 1 else gl.IN

    def levels(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
        return nbr.level

    def rise(self, v: Vertex, total: int) -> None:
        v.level = v.level + max(total, 0) % 5 + v.in_degree % 2

    phases = (
        gl.Phase(gather=levels, apply=rise, gather_edges=odd_out, supersteps=2),
        gl.Phase(gather=levels, apply=rise, gather_edges=gl.ALL, supersteps=1),
    )

    def done(self) -> bool:
        return self.superstep > 3


@case(limit=5)
class ListsOfWays(gl.VertexProgram):
    """A list over the edges that each vertex chooses, also none; its order is seen."""

    class Vertex(gl.Vertex):
        heat: int = 0
        met: gl.List[int]

    def init(self, v: Vertex) -> None:
        v.heat = v.degree + v.in_degree

    def gather_edges(self, v: Vertex) -> int:
        return (v.heat + self.superstep) % 4

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[int]:
        return nbr.heat + (100 if e.forward else 0)

    def apply(self, v: Vertex, total: gl.List[int]) -> None:
        v.met = total
        v.heat = (v.heat * 3 + len(total) + (total[0] if len(total) > 0 else 2)) % 97


@case(limit=5)
class SetsOfWays(gl.VertexProgram):
    """A set over the edges that each active vertex chooses in one of two phases."""

    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        level: int = 1
        near: gl.SortedSet[gl.VertexId]

    def lower(self, v: Vertex) -> int:
        return gl.IN if v.level % 2 == 1 else gl.ALL

    def some(self, v: Vertex) -> bool:
        return v.level % 3 != 0

    def theirs(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id if nbr.level < 60 or e.forward else None

    def keep(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.near = total
        v.level = (v.level * 2 + len(total)) % 91

    phases = (
        gl.Phase(active=some, gather=theirs, apply=keep, gather_edges=lower, supersteps=2),
        gl.Phase(gather=theirs, apply=keep, supersteps=1),
    )


@case(limit=8)
class WaysOfTheClass(gl.VertexProgram):
    """Phases with the class's directions, of which one has its own gather_edges."""

    gather_edges = gl.OUT
    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        level: int = 1
        seen: int = 0

    def theirs(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.level + (10 if e.forward else 0)

    def add(self, v: Vertex, total: int) -> None:
        v.level = (v.level * 3 + total + v.out_degree) % 97

    def hear(self, v: Vertex, total: int, message: gl.Max[int]) -> None:
        v.seen = (v.seen + total + max(message, 0)) % 89

    def pass_on(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.level > nbr.level or v.seen % 2 == 0:
            nbr.signal(v.level)

    phases = (
        gl.Phase(gather=theirs, apply=add, supersteps=2),
        gl.Phase(gather=theirs, apply=hear, scatter=pass_on, gather_edges=gl.IN, supersteps=3),
        gl.Phase(gather=theirs, apply=hear, scatter=pass_on, scatter_edges=gl.OUT, supersteps=3),
    )


@case(limit=8)
class WaysOfTheVertices(gl.VertexProgram):
    """Phases with the class's directions, which are methods; one has its own, one sees no edge."""

    class Vertex(gl.Vertex):
        level: int = 1
        seen: int = 0

    def gather_edges(self, v: Vertex) -> int:
        return gl.IN if v.level % 2 == 1 else gl.OUT

    def scatter_edges(self, v: Vertex) -> int:
        return (v.level + self.superstep) % 4

    def theirs(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.level + (10 if e.forward else 0)

    def add(self, v: Vertex, total: int) -> None:
        v.level = (v.level * 3 + total + v.out_degree) % 97

    def count(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.seen += message

    def rest(self, v: Vertex) -> None:
        v.level += v.seen % 5

    def pass_on(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.level % 7)

    phases = (
        gl.Phase(gather=theirs, apply=add, supersteps=2),
        gl.Phase(apply=rest, supersteps=1),
        gl.Phase(apply=count, scatter=pass_on, supersteps=2),
        gl.Phase(gather=theirs, apply=add, gather_edges=gl.ALL, supersteps=1),
    )
