"""Arrays from outside: parameters, arrays of modules, functions and classes; slices and concatenations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gaslab import program as gl
from tests.programs.case import case

TABLE = np.array([3, -1, 2, 7], dtype=np.int32)
MASKS = np.array([[True, False], [False, True]])
HALVES = np.arange(12, dtype=np.float16).reshape(3, 4) / 2
WEIGHTS = np.arange(-8.0, 8.0).reshape(4, 4) / 4


def weighed(x: gl.Vector, by: gl.Matrix, k: int) -> float:
    return float(np.dot(x, by[k]) + HALVES[k % 3, -1] * by[0, 1])


@case(parameters={"weights": WEIGHTS[:, :3], "bias": [0.5, -1.0, 0.25], "counts": [2, 1]})
class Layers(gl.VertexProgram):
    """Parameters of three types in every method; their lengths are those of the arrays."""

    inputs: int = 9
    hidden: int = 9
    weights: gl.Matrix = gl.field(shape=("inputs", "hidden"))
    bias: gl.Vector = gl.field(shape="hidden", dtype=gl.float32)
    counts: gl.Vector = gl.field(shape=2, dtype=gl.uint8)
    scale: gl.Vector = gl.field(shape="hidden", init=0.5)
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="inputs", init=0.25)
        y: gl.Vector = gl.field(shape="hidden")
        n: int = 0

    class Edge(gl.Edge):
        weight: float

    class Total(gl.Accumulator):
        sums: gl.Vector = gl.field(shape="hidden")
        n: int

    @gl.aggregator
    def size(self, v: Vertex) -> gl.Sum[float]:
        return np.sum(v.y * self.scale) * self.counts[1]

    @size.finalize
    def _(self, total: float) -> float:
        return total + float(self.weights[0, 0])

    def init(self, v: Vertex) -> None:
        v.x[0] = self.weights[v.degree % self.inputs, -1]
        v.n = self.counts[v.in_degree % 2]

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(sums=e.weight * nbr.x[: self.hidden] * self.scale, n=self.counts[0])

    def apply(self, v: Vertex, total: Total) -> None:
        v.y = total.sums * self.scale + self.bias
        v.x = np.minimum(np.abs(self.weights @ v.y), 8.0)
        v.y[0] += weighed(v.y, self.scaled(), v.degree % 3) / 64
        v.n += total.n % 7

    def scaled(self) -> gl.Matrix:
        return np.outer(self.scale, self.bias)

    def done(self) -> bool:
        return bool(self.size > 1e6 * self.weights.shape[0] * self.bias[0])


def with_closure() -> Any:
    steps = np.array([[1.5, -0.5, 4.0], [0.25, 8.0, -2.0]], dtype=">f4")

    @case(limit=4)
    class Outside(gl.VertexProgram):
        """Arrays of the module, of a function around and of the class, in every kind of method."""

        PLACES = np.array([5, 1, 4], dtype=np.uint16)

        class Vertex(gl.Vertex):
            x: gl.Vector = gl.field(shape=3)
            n: int = 0
            on: bool = False

        class Letter(gl.Accumulator):
            most: gl.Max[float]
            near: gl.Vector = gl.field(shape=4, dtype=int)

        def start(self, v: Vertex) -> bool:
            return bool(MASKS[v.degree % 2, 1] or MASKS[0, v.in_degree % 2])

        def apply(self, v: Vertex, message: Letter) -> None:
            v.on = MASKS[v.degree % 2, v.in_degree % 2]
            v.x = steps[0] - steps[1] if v.on else steps[v.degree % 2]
            v.n = (v.n + TABLE[v.degree % 4] + np.sum(message.near) + np.argmax(HALVES[1])) % 101
            v.x[1] = max(min(message.most, 9.0), -9.0)

        def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
            if self.superstep < self.PLACES[1] + self.PLACES[nbr.degree % 3] % 3:
                nbr.signal(self.Letter(most=HALVES[2, nbr.degree % 4] + v.x[0], near=gl.at(TABLE[2])))

    return Outside


Outside = with_closure()


@case(parameters={"grid": WEIGHTS})
class Slices(gl.VertexProgram):
    """Slices of vectors and of matrices, and vectors one behind another, by numpy's rules."""

    k: int = 4
    grid: gl.Matrix = gl.field(shape=(4, "k"))

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", init=1.5)
        y: gl.Vector = gl.field(shape=6)
        n: gl.Vector = gl.field(shape=3, dtype=int)
        m: gl.Matrix = gl.field(shape=(3, "k"))
        s: float = 0.0

    def init(self, v: Vertex) -> None:
        for i in range(self.k):
            v.x[i] = v.degree + i / 4
            v.m[1, i] = i - v.in_degree

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return np.sum(nbr.x[1 : self.k - 1]) + np.max((v.x - nbr.x)[-2:]) / 8

    def apply(self, v: Vertex, total: float) -> None:
        v.y = np.concatenate((v.x[: self.k // 2], self.grid[1:, 0], np.ones(5)[4:]))
        v.n = np.concatenate([TABLE[:1], v.n[:-1]])
        v.x = np.concatenate((v.x[1:], v.x[:1])) % 16.0
        inner = self.grid[1:3, :-2] @ v.x[-2:] - v.m[:2, 1]
        v.s = total % 16.0 + inner[0] * inner[-1] + (v.x[:3] + self.grid[2][1:])[v.degree % 3]
        mixed = np.concatenate((MASKS[0], TABLE[2:], v.x[100 - 98 : 50]))
        v.m[2, 3] = np.sum(mixed[1:-1])


@case(limit=3)
class Merging(gl.VertexProgram):
    """A merge and a helper that read arrays from outside."""

    class Vertex(gl.Vertex):
        n: int = 1
        low: float = 0.0

    class Best(gl.Accumulator):
        n: int = 0
        low: float = math.inf

    def merge(self, a: Best, b: Best) -> Best:
        n = a.n + b.n
        return self.Best(n=n, low=min(a.low, b.low) + TABLE[n % 4] * 0.0)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Best:
        return self.Best(n=1, low=-float(TABLE[nbr.degree % 4]))

    def apply(self, v: Vertex, total: Best) -> None:
        v.n, v.low = total.n, total.low


@case(limit=2)
class Visiting(gl.VertexProgram):
    """visit and an aggregator over edges that read arrays from outside."""

    class Vertex(gl.Vertex):
        n: int = 1

    @gl.aggregator
    def ends(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return TABLE[v.degree % 4] * TABLE[nbr.degree % 4]

    def visit(self, u: Vertex, e: gl.Edge, w: Vertex) -> None:
        u.n = (u.n + TABLE[w.degree % 4]) % 101
        w.n = (w.n + TABLE[u.degree % 4]) % 101


@case(limit=4, parameters={"table": WEIGHTS}, tolerance=1e-6)
class Single(gl.VertexProgram):
    """In float32, which a parameter is that does not say its type; others are rounded when they are read."""

    precision = gl.float32
    table: gl.Matrix = gl.field(shape=(4, 4))

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=4, init=0.1)
        s: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.x = (self.table[v.degree % 4] + HALVES[0] + TENTHS[1:]) @ self.table % 4.0
        v.s = np.sum(np.concatenate((v.x, TENTHS)))


def in_single() -> Any:
    """Return the same program in float32, for the zoo."""

    @case(limit=2, parameters={"tall": TALL}, tolerance=1e-5)
    class SingleRows(RowProducts):
        precision = gl.float32

    return SingleRows


TALL = np.arange(18 * 5).reshape(18, 5) % 7 / 3.0
WHOLE = np.arange(17 * 4, dtype=np.int16).reshape(17, 4) % 11


@case(limit=2, parameters={"tall": TALL})
class RowProducts(gl.VertexProgram):
    """Products of a vector with a matrix of many rows, of which some are left over from the sums in turn."""

    tall: gl.Matrix = gl.field(shape=(18, 5))

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=18, init=0.3)
        y: gl.Vector = gl.field(shape=5)
        n: gl.Vector = gl.field(shape=4, dtype=int)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return (nbr.x @ self.tall)[1]

    def apply(self, v: Vertex, total: float) -> None:
        for i in range(18):
            v.x[i] = i / 7 - v.degree
        v.y = (v.x - 0.5) @ self.tall + total % 3.0
        v.n = np.concatenate((v.n, v.n, v.n, v.n, np.bincount(v.n, minlength=50)[:1])) @ WHOLE % 50 + v.n
        for i in range(4):
            v.n[i] = (v.n[i] + i + v.in_degree) % 50


SingleRows = in_single()
TENTHS = np.array([0.1, 0.2, 0.3, 0.4, 0.7])
