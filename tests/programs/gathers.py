"""What a vertex can gather: directions, combiners and types."""

from __future__ import annotations

import math

from gaslab import program as gl
from gaslab.programs.pagerank import PageRank
from tests.programs.case import case


@case(limit=12)
class Rank(PageRank):
    """IN, Sum of floats, two aggregators, done."""

    @gl.aggregator
    def change(self, v: PageRank.Vertex) -> gl.Max[float]:
        return v.moved

    def done(self) -> bool:
        return self.superstep >= 8 and self.change < 1.0


@case(columns={"strength": "weight"}, given=("hub",))
class Hubs(gl.VertexProgram):
    """OUT and weights under another name; a field read at both ends; an aggregate that normalises."""

    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        hub: float = 1.0

    class Edge(gl.Edge):
        strength: float

    @gl.aggregator
    def length(self, v: Vertex) -> gl.Sum[float]:
        return v.hub * v.hub

    def init(self, v: Vertex) -> None:
        v.hub = 1.0 + v.in_degree

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.strength * nbr.hub + v.hub / 8

    def apply(self, v: Vertex, total: float) -> None:
        v.hub = total / math.sqrt(self.length) if self.length > 0 else 0.0


@case()
class Ends(gl.VertexProgram):
    """ALL, Sum of ints, loops seen from both ends, degrees on both sides."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        ends: int = 0
        loops: gl.int16 = 0
        seen: gl.uint32 = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        loop = 1000000 if nbr.id == v.id else 0
        return loop + nbr.degree * 1000 + nbr.in_degree * 10 + nbr.out_degree + nbr.ends % 7

    def apply(self, v: Vertex, total: int) -> None:
        v.ends = total
        v.loops = total // 1000000
        v.seen = v.seen + (v.degree << 2 | 1)


@case()
class Extremes(gl.VertexProgram):
    """Min and Max over narrow and signed types; empty gathers give identities."""

    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        low: gl.int8 = 0
        high: gl.uint16 = 0
        widest: int = 0

    class Edge(gl.Edge):
        cost: gl.int16

    def init(self, v: Vertex) -> None:
        v.high = v.degree * 3
        v.low = -v.in_degree

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[int]:
        return e.cost * nbr.high + nbr.low

    def apply(self, v: Vertex, total: int) -> None:
        v.widest = total
        v.high = abs(total) % 65536
        v.low = (total & 255) - 128


@case()
class Nearest(gl.VertexProgram):
    """Min over ids; ids copied, compared and ordered."""

    source: gl.VertexId
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: gl.VertexId
        follows: bool = False

    def init(self, v: Vertex) -> None:
        v.label = v.id

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.label

    def apply(self, v: Vertex, total: gl.VertexId) -> None:
        if v.degree > 0:
            v.label = min(v.label, total)
        v.follows = v.label < self.source or v.id == self.source


@case()
class Colours(gl.VertexProgram):
    """Max of bools, several aggregators of other types, logic without numbers."""

    class Vertex(gl.Vertex):
        lit: bool = False
        turns: gl.uint8 = 0

    @gl.aggregator
    def shining(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v.lit else 0

    @gl.aggregator
    def darkest(self, v: Vertex) -> gl.Min[gl.VertexId]:
        return v.id

    @gl.aggregator
    def any_lit(self, v: Vertex) -> gl.Max[bool]:
        return v.lit

    def init(self, v: Vertex) -> None:
        v.lit = v.in_degree % 2 == 0 and not v.out_degree > 2

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[bool]:
        return nbr.lit

    def apply(self, v: Vertex, total: bool) -> None:
        v.lit = (total != v.lit) and (self.shining > 1 or v.id == self.darkest)
        v.turns = v.turns + v.lit + self.any_lit


@case(tolerance=1e-4)
class Singles(gl.VertexProgram):
    """float32 fields, accumulators and parameters."""

    rate: gl.float32 = 0.3
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        heat: gl.float32 = 1.5
        total: gl.float32 = 0.0

    class Edge(gl.Edge):
        weight: gl.float32 = 1.0

    def init(self, v: Vertex) -> None:
        v.heat = v.degree * 0.1

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[gl.float32]:
        return e.weight * (nbr.heat - v.heat) / (nbr.degree + v.degree)

    def apply(self, v: Vertex, total: float) -> None:
        v.total = total
        v.heat += self.rate * total


@case(limit=4)
class Decided(gl.VertexProgram):
    """A total that is decided by its parts, which further edges cannot change."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        some: bool = False
        every: bool = True
        heat: int = 0

    class Edge(gl.Edge):
        cost: int

    class Total(gl.Accumulator):
        any_dear: gl.Any[bool]
        all_near: gl.All[bool]
        forth: gl.Max[bool]

    def init(self, v: Vertex) -> None:
        v.heat = v.degree

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        if nbr.heat % 3 == 0:
            return self.Total(any_dear=e.cost > 0, all_near=nbr.heat < v.heat)
        return self.Total(all_near=e.cost < 2, forth=e.forward)

    def apply(self, v: Vertex, total: Total) -> None:
        v.some = total.any_dear
        v.every = total.all_near
        v.heat = (v.heat * 2 + total.any_dear + 3 * total.forth) % 17


@case(limit=4)
class Enough(gl.VertexProgram):
    """An accumulator whose parts cannot be beaten stops by the program's word."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        low: int = 5
        marks: int = 0
        whose: gl.VertexId
        near: bool = False

    class Total(gl.Accumulator):
        low: gl.Min[int]
        marks: gl.BitOr[int]
        first: gl.ArgMin[int, gl.VertexId]
        near: gl.Any[bool]

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        if nbr.low == 0:
            gl.stop()
            return self.Total(low=-1, marks=7, first=(-1, v.id), near=True)
        return self.Total(low=nbr.low, marks=nbr.degree & 6, first=(nbr.low, v.id), near=nbr.low < 4)

    def apply(self, v: Vertex, total: Total) -> None:
        v.low = 0 if total.low < 0 else (v.degree + total.low % 9) % 3
        v.marks = 7 if total.low < 0 else total.marks
        v.near = total.near
        v.whose = total.first[1]
