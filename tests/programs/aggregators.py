"""Aggregators over edges, of every n-th superstep, and with a finaliser."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


@case(limit=5)
class Energy(gl.VertexProgram):
    """Each edge once, its ends distinguished; beside aggregators over vertices that apply adds up."""

    bias: int = 3
    period: int = 3

    class Vertex(gl.Vertex):
        level: int = 0
        own: int = 0
        mark: float = 0.0

    class Edge(gl.Edge):
        cost: int
        seen: int = 0

    @gl.aggregator
    def slope(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return (v.level - 2 * nbr.level) * e.cost + e.seen + v.in_degree + self.bias * nbr.out_degree

    @gl.aggregator
    def steepest(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[float]:
        return v.mark - nbr.mark

    @gl.aggregator
    def total(self, v: Vertex) -> gl.Sum[int]:
        return v.own

    @gl.aggregator(every=2)
    def highest(self, v: Vertex) -> gl.Max[int]:
        return v.level

    @gl.aggregator(every="period")
    def first(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return min(v.id, nbr.id)

    @highest.finalize
    def _(self, total: int) -> int:
        return total * 2 + self.bias if self.superstep >= 0 else 0

    def init(self, v: Vertex) -> None:
        v.level = v.in_degree
        v.mark = v.out_degree / 4

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return e.cost + (1 if v.level > 3 else 0)

    def apply(self, v: Vertex, total: int) -> None:
        v.level = (v.level + total + self.slope + self.highest) % 101
        v.own = v.level % 5 + self.total % 3 + (1 if self.first == v.id else 0)
        v.mark = v.mark / 2.0 + self.steepest


@case(limit=20)
class Relay(gl.VertexProgram):
    """Aggregators of whole phases, of vertices and edges: the next phase, a finaliser and done read them."""

    laps: int = 3

    class Vertex(gl.Vertex):
        level: int = 0
        seen: int = 0

    class Most(gl.Accumulator):
        level: gl.Max[int]
        count: int

    @gl.aggregator(every=gl.Phase)
    def highest(self, v: Vertex) -> gl.Max[int]:
        return v.level

    @gl.aggregator(every=gl.Phase)
    def slope(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return (v.level - 2 * nbr.level) % 7 + self.superstep

    @gl.aggregator(every=gl.Phase)
    def most(self, v: Vertex) -> Most:
        return self.Most(level=v.level, count=1 if v.seen > 2 else 0)

    @gl.aggregator
    def total(self, v: Vertex) -> gl.Sum[int]:
        return v.level

    @slope.finalize
    def _(self, total: int) -> int:
        return total + self.superstep

    def init(self, v: Vertex) -> None:
        v.level = v.in_degree

    def starts(self, v: Vertex) -> bool:
        return v.level == self.highest or v.in_degree == 0

    def rise(self, v: Vertex, message: gl.Max[int]) -> None:
        v.level = max(v.level, message % 50) + self.most.count % 3

    def pass_on(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.level < v.level:
            nbr.signal(v.level)

    def look(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.level + self.highest

    def keep(self, v: Vertex, total: int) -> None:
        v.seen = (v.seen + total + self.slope + self.total) % 97

    def done(self) -> bool:
        return self.superstep > 6 * self.laps or self.most.count > 3

    phases = (
        gl.Phase(start=starts, apply=rise, scatter=pass_on),
        gl.Phase(gather=look, apply=keep, supersteps=2),
    )


@case(limit=8)
class Census(gl.VertexProgram):
    """Fields that only aggregators read across edges, when these are due; few vertices run at a time."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        hops: int = 99
        height: int = 0
        mark: float = 1.0
        late: int = 0

    @gl.aggregator(every=3)
    def slope(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return (v.height - 2 * nbr.height) % 11

    @gl.aggregator(every=gl.Phase)
    def steepest(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[float]:
        return v.mark - 2.0 * nbr.mark

    @gl.aggregator
    def gap(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return (v.late + 3 * nbr.late) % 13

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex, message: gl.Min[int]) -> None:
        v.hops = min(v.hops, message if self.superstep else 0)
        v.height += v.hops + self.slope % 5
        v.mark = v.mark / 2.0 + self.superstep + self.gap % 3 + (1 if self.steepest > 0.0 else 0)
        v.late = self.superstep

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.hops + self.gap % 2 < nbr.hops:
            nbr.signal(v.hops + 1)


@case()
class Tallies(gl.VertexProgram):
    """Scatter adds to a field that only aggregators read across edges, and the next phase's gather."""

    class Vertex(gl.Vertex):
        marks: int = gl.field(init=1, sync=gl.SUM)
        seen: int = 0

    @gl.aggregator(every=2)
    def second(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return (v.marks + 3 * nbr.marks) % 13

    @gl.aggregator(every=gl.Phase)
    def final(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return (v.marks + 5 * nbr.marks) % 17 + self.superstep

    def everybody(self, v: Vertex) -> bool:
        return True

    def rest(self, v: Vertex) -> None:
        pass

    def mark(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.marks += 1 + self.second % 2

    def look(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.marks

    def keep(self, v: Vertex, total: int) -> None:
        v.seen = (v.seen + total + self.final) % 97

    phases = (
        gl.Phase(apply=rest, active=everybody, scatter=mark, supersteps=2),
        gl.Phase(gather=look, apply=keep, supersteps=1),
    )


@case(limit=6)
class Cooling(gl.VertexProgram):
    """A frontier shrinks, mirrors keep what only aggregators read; done reads a finalised value."""

    class Vertex(gl.Vertex):
        heat: int = 0

    @gl.aggregator
    def gap(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return abs(v.heat - nbr.heat)

    @gap.finalize
    def _(self, total: float) -> float:
        return total / max(self.num_edges, 1)

    @gl.aggregator
    def uneven(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[bool]:
        return v.heat != nbr.heat

    def init(self, v: Vertex) -> None:
        v.heat = v.degree % 5

    def apply(self, v: Vertex) -> None:
        v.heat = v.heat // 2 + int(self.gap)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.heat > 0 and self.uneven:
            nbr.signal()

    def done(self) -> bool:
        return self.gap < 0.25


@case(limit=3)
class Narrow(gl.VertexProgram):
    """Aggregators of narrow types, kept in eight bytes: sums beyond them, and what nothing gives."""

    class Vertex(gl.Vertex):
        n: gl.int16 = 30_000

    @gl.aggregator
    def sum(self, v: Vertex) -> gl.Sum[gl.int16]:
        return v.n

    @gl.aggregator
    def least(self, v: Vertex) -> gl.Min[gl.int8]:
        return v.n

    @gl.aggregator
    def nothing(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[gl.uint8]:
        return v.degree

    @gl.aggregator
    def share(self, v: Vertex) -> gl.Max[gl.float32]:
        return v.n / 3

    def apply(self, v: Vertex) -> None:
        v.n -= 1
