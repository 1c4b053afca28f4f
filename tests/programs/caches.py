"""Cached gathers: totals that neighbours keep right by posting, that they clear, or that they forget to."""

from __future__ import annotations

import math

from gaslab import program as gl
from tests.programs.case import case


@case(limit=6)
class Posted(gl.VertexProgram):
    """A sum kept by deltas; some changes are posted, some cleared, and some said to nobody."""

    class Vertex(gl.Vertex):
        value: int = 1
        moved: int = 0
        total: int = 0

    class Edge(gl.Edge):
        cost: int

    def init(self, v: Vertex) -> None:
        v.value = v.degree

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.value * e.cost

    def apply(self, v: Vertex, total: int) -> None:
        before = v.value
        v.total = total
        if (total + self.superstep) % 3 > 0:
            v.value = (v.value * 5 + total) % 97
        v.moved = v.value - before

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.moved % 4 == 1:
            nbr.clear_cache()
        elif v.moved % 4 != 3:
            nbr.post_delta(v.moved * e.cost)
        if (v.value + e.cost) % 3 != 1:
            nbr.signal()


@case(limit=6)
class Lowest(gl.VertexProgram):
    """A minimum over all edges, which improves by posts and is cleared where it may get worse."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL
    cache_rebuild = 4

    class Vertex(gl.Vertex):
        level: float = 0.0
        rises: bool = False
        low: float = 0.0

    def init(self, v: Vertex) -> None:
        v.level = v.out_degree * 8.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.level + v.low / 2.0

    def apply(self, v: Vertex, total: float) -> None:
        before = v.level
        v.level = v.level - 3.0 if v.level > 6.0 else v.level + 5.0
        v.rises = v.level > before
        if self.superstep == 2 and total < 100.0:
            v.low = total // 1.0

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.rises:
            nbr.clear_cache()
        else:
            nbr.post_delta(v.level + nbr.low / 2.0)
        if v.level > 4.0:
            nbr.signal()


@case(limit=7)
class Silent(gl.VertexProgram):
    """Changes without posting, on some edges; by a frontier that `active` chooses."""

    gather_edges = gl.OUT
    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        value: gl.int32 = 2
        seen: int = 0

    def active(self, v: Vertex) -> bool:
        return (v.value + self.superstep) % 3 > 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
        return nbr.value

    def apply(self, v: Vertex, total: int) -> None:
        v.seen = v.seen * 2 % 1000 + max(total, 0) % 10
        if v.degree % 2 == 0:
            v.value = (v.value + 7) % 50

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.degree > 100:
            nbr.clear_cache()


@case(limit=7)
class SilentArrays(gl.VertexProgram):
    """Vectors, a matrix, the sign of a zero and nan change without posting; gathers read them all."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        z: gl.Vector = gl.field(shape=3, init=0.5)
        table: gl.Matrix = gl.field(shape=(2, 2), dtype=gl.float32)
        mine: gl.Vector = gl.field(shape=2, dtype=gl.int16)
        sign: float = 0.0
        odd: float = math.nan
        seen: float = 0.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        sign = math.copysign(2.0, nbr.sign) + (1.0 if nbr.odd != nbr.odd else 4.0)
        return nbr.z[2] + nbr.table[1, 0] + v.mine[1] + sign

    def apply(self, v: Vertex, total: float) -> None:
        v.seen = (v.seen + total) % 64.0
        if v.degree % 2 == 0:
            v.z[self.superstep % 3] = v.z[2] + 0.25
        if v.seen % 3.0 == 1.0:
            v.table[1, 0] = v.seen
        if v.seen % 5.0 == 2.0:
            v.mine[1] = self.superstep
        if v.in_degree % 2 == 1:
            v.sign = -v.sign
            v.odd = 1.0 if self.superstep == 2 else math.nan

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.degree > 100:
            nbr.clear_cache()
        nbr.signal()


@case(limit=9)
class SilentLists(gl.VertexProgram):
    """Lists of one phase change in the next, in length or in a value alone, and nothing is posted."""

    gather_edges = gl.OUT
    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        near: gl.List[int]
        other: gl.List[int]
        mine: gl.List[int]
        seen: int = 0

    def degrees(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[int]:
        return nbr.in_degree + self.superstep * (v.out_degree % 2)

    def keep(self, v: Vertex, total: gl.List[int]) -> None:
        if self.superstep == 0:
            v.near = total
        else:
            v.other = total

    def first(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return (nbr.near[0] if len(nbr.near) > 0 else 7) + len(v.mine) * 10

    def change(self, v: Vertex, total: int) -> None:
        v.seen = (v.seen * 3 + total) % 97
        if self.superstep % 3 == v.degree % 3:
            v.near = v.other
        if v.seen % 4 == 1:
            v.mine = v.other
        if v.seen % 7 == 3:
            v.other = []

    def hint(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.degree > 100:
            nbr.clear_cache()
        nbr.signal()

    phases = (
        gl.Phase(gather=degrees, apply=keep, supersteps=2),
        gl.Phase(gather=first, apply=change, scatter=hint, supersteps=6),
    )
