"""Totals that apply copies to a vector field as they are, and totals that only look so."""

from __future__ import annotations

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


@case(limit=4)
class MadeInField(gl.VertexProgram):
    """Counts of the labels around; apply goes on with the field, and scatter reads it across edges."""

    kinds: int = 5

    class Vertex(gl.Vertex):
        label: gl.int32 = 0
        often: gl.Vector = gl.field(shape="kinds", dtype=gl.int32, init=1)
        seen: int = 0

    class Total(gl.Accumulator):
        often: gl.Vector = gl.field(shape="kinds", dtype=gl.int32)

    def init(self, v: Vertex) -> None:
        v.label = v.degree % self.kinds

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(often=gl.at(nbr.label))

    def apply(self, v: Vertex, total: Total) -> None:
        v.often = total.often
        v.often[0] += 1
        v.label = int(np.argmax(v.often)) % self.kinds
        v.seen += v.often[v.label]

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.often[nbr.label] != 1:
            nbr.signal()


@case(limit=4)
class ReadOnTheWay(MadeInField):
    """Gather reads what was counted before."""

    gather_edges = gl.ALL

    def gather(self, v: MadeInField.Vertex, e: gl.Edge, nbr: MadeInField.Vertex) -> MadeInField.Total:
        return self.Total(often=gl.at((nbr.label + v.often[0]) % self.kinds))

    def apply(self, v: MadeInField.Vertex, total: MadeInField.Total) -> None:
        v.often = total.often


@case(limit=4)
class ReadAcross(ReadOnTheWay):
    """The same of the far end."""

    def gather(self, v: MadeInField.Vertex, e: gl.Edge, nbr: MadeInField.Vertex) -> MadeInField.Total:
        return self.Total(often=gl.at((nbr.label + nbr.often[1]) % self.kinds))


@case(limit=4)
class ReadTwice(MadeInField):
    """Apply needs the total after it changed the field."""

    def apply(self, v: MadeInField.Vertex, total: MadeInField.Total) -> None:
        v.often = total.often
        v.often[1] = v.seen % 7
        v.seen += total.often[1]
        v.label = (v.label + total.often[2]) % self.kinds


@case(limit=4)
class NotAtFirst(MadeInField):
    """Apply needs the field before it copies."""

    def apply(self, v: MadeInField.Vertex, total: MadeInField.Total) -> None:
        v.seen += v.often[0]
        v.often = total.often


@case(limit=4)
class Averages(gl.VertexProgram):
    """A total of floats, made in its field; apply reads it there, also for a narrower field."""

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=3, init=0.5)
        sums: gl.Vector = gl.field(shape=3)
        narrow: gl.Vector = gl.field(shape=3, dtype=gl.float32)

    class Total(gl.Accumulator):
        sums: gl.Vector = gl.field(shape=3)

    def init(self, v: Vertex) -> None:
        v.x[0] = v.degree * 0.1

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(sums=nbr.x * 0.5)

    def apply(self, v: Vertex, total: Total) -> None:
        v.sums = total.sums
        v.narrow = v.sums
        v.x = 0.5 * v.x + 0.25 * v.sums / max(v.in_degree, 1)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal()
