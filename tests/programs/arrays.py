"""Vectors and matrices in fields, locals, helpers; products, reductions, linear systems."""

from __future__ import annotations

import math

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


def shifted(x: gl.Vector, by: float) -> gl.Vector:
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[(i + 1) % len(x)] = x[i] + by
    return y


def inner(x: gl.Vector, y: gl.Vector) -> float:
    return float(np.dot(x, y))


@case(parameters={"k": 9})
class Shapes(gl.VertexProgram):
    """Vectors and a matrix of three storage types, element by element and whole, read at both ends."""

    k: int = 3
    scale: float = 0.5

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", init=0.25)
        small: gl.Vector = gl.field(shape=2, dtype=gl.float32, init=gl.normal(0.5))
        counts: gl.Vector = gl.field(shape="k", dtype=gl.int16, init=1)
        m: gl.Matrix = gl.field(shape=(2, "k"))
        last: float = 0.0

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        for i in range(self.k):
            v.x[i] = i - v.degree / 4
            v.m[1, i] = i
        v.counts[v.degree % self.k] = 3

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        y = e.weight * nbr.x + v.x
        return y[0] + y[self.k - 1] * nbr.small[v.degree % 2] - np.sum(nbr.m) / 8

    def apply(self, v: Vertex, total: float) -> None:
        v.last = total
        y = v.x * self.scale
        y[0] += total / 64
        v.m[0, -1] = inner(y, v.x) / 64
        v.x = shifted(y, 0.25) if v.degree % 2 else -y
        v.small[0], v.small[1] = v.small[1], v.small[0] + 1
        v.counts += 1
        v.counts[self.superstep % self.k] -= v.counts[0]
        if abs(v.x[0]) > 1000:
            v.x = v.x / v.x[0]


@case(limit=3, tolerance=1e-6)
class Products(gl.VertexProgram):
    """@, outer, eye, solve, norms, extremes, functions of elements."""

    k: int = 4

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k")
        y: gl.Vector = gl.field(shape="k")
        a: gl.Matrix = gl.field(shape=("k", "k"))
        parts: gl.Vector = gl.field(shape=8)
        whole: gl.Vector = gl.field(shape="k", dtype=int)
        rising: gl.Vector = gl.field(shape=5, dtype=gl.int16)
        best: int = 0

    def init(self, v: Vertex) -> None:
        for i in range(1, 5):
            v.rising[i] = v.rising[i - 1] + (v.degree + i) % 3
        for i in range(self.k):
            v.whole[i] = (v.degree + i * i) % 5 - 2
        v.x = 1.0 * v.whole

    def apply(self, v: Vertex) -> None:
        v.a = np.outer(v.x, v.x) + (2.0 + v.degree) * np.eye(self.k)
        v.y = np.linalg.solve(v.a, v.x)
        z = gl.solve_spd(v.a, v.x)
        b = v.a @ v.a
        inverse = np.linalg.solve(v.a, np.eye(self.k))
        v.parts[0] = np.linalg.norm(v.y - z)
        v.parts[1] = np.dot(v.x, v.a @ v.y) - v.x @ v.x
        v.parts[2] = np.max(b) + np.min(v.a[1])
        v.parts[3] = np.sum(np.minimum(np.abs(v.x), 1.0)) + np.prod(v.y + 1)
        v.parts[4] = math.log(np.sum(np.exp(v.x / 4))) + np.mean(v.x)
        v.parts[5] = inverse[0, 1] + (v.x @ b)[2]
        v.parts[6] = v.a[v.best, -1] if v.best < self.k - 1 else 0.5
        v.best = np.argmax(v.whole) + np.argmin(v.whole)
        v.parts[0] += np.searchsorted(v.rising, v.best)
        v.parts[1] += np.searchsorted(v.rising, 1.5 * v.x[0], side="right")
        v.parts[2] += np.searchsorted(np.abs(v.parts) * 0.0, v.x[1], "right")
        v.x = v.a @ v.x / (1 + np.max(np.abs(v.a @ v.x)))
        w = np.copy(v.x)
        w[0] = 1.0
        v.parts[7] = w @ v.x


@case(limit=3)
class Sorted(gl.VertexProgram):
    """np.sort and np.cumsum: of floats, ints and bools, of fields, locals and expressions, long and short."""

    k: int = 70

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", dtype=gl.float32, init=gl.normal())
        low: gl.Vector = gl.field(shape="k")
        sums: gl.Vector = gl.field(shape="k")
        whole: gl.Vector = gl.field(shape=9, dtype=gl.int16, init=gl.integers(5))
        marks: gl.Vector = gl.field(shape=9, dtype=bool)
        one: gl.Vector = gl.field(shape=1, init=3.0)
        middle: float = 0.0

    def apply(self, v: Vertex) -> None:
        for i in range(9):
            v.marks[i] = v.whole[i] % 2 == 1
        v.low = np.sort(v.x * (v.degree % 3) - np.cumsum(v.x))
        v.sums = np.cumsum(np.sort(np.abs(v.x)))
        v.x = np.sort(-v.x) + v.low / 8
        v.whole = np.cumsum(v.marks) + np.sort(v.whole)
        v.marks = np.sort(v.marks)
        v.one = np.cumsum(np.sort(v.one))
        v.middle = np.sort(v.low if v.degree > 1 else v.sums)[self.k // 2]


@case(limit=3, tolerance=1e-6)
class Gradients(gl.VertexProgram):
    """The conjugate gradient method: of locals, of fields in float32, of ints; any number of steps."""

    k: int = 5

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", dtype=gl.float32)
        a: gl.Matrix = gl.field(shape=("k", "k"), dtype=gl.float32)
        whole: gl.Vector = gl.field(shape=2, dtype=int, init=3)
        two: gl.Vector = gl.field(shape=2)

    def init(self, v: Vertex) -> None:
        for i in range(self.k):
            v.x[i] = (v.degree + i * i) % 5 / 4 - 0.5

    def apply(self, v: Vertex) -> None:
        v.a = np.outer(v.x, v.x) + (2.0 + v.degree) * np.eye(self.k)
        y = v.x + 1.0
        z = gl.conjugate_gradient(v.a, y, v.x, v.degree % 4)
        v.x = z + gl.conjugate_gradient(np.eye(self.k), z, y, 1)
        v.x[0] = np.sum(gl.conjugate_gradient(v.a, 2 * y, np.zeros(self.k), 9)) / (1 + v.degree)
        v.two = gl.conjugate_gradient(2 * np.eye(2), v.whole, v.whole, 3 - 4 * (v.degree % 2))


@case(directed_only=True, limit=3)
class Carried(gl.VertexProgram):
    """Vectors on edges, written by scatter; a vector read on the near side alone."""

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=3, dtype=gl.float32, init=0.5)
        seen: float = 0.0

    class Edge(gl.Edge):
        weight: float
        load: gl.Vector = gl.field(shape=2, init=1.0)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[float]:
        return e.load[0] * e.weight - e.load[1]

    def apply(self, v: Vertex, total: float) -> None:
        v.seen = max(total, 0.0)
        v.x = v.x / 2 + v.seen / 64

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.load = e.load / 2
        e.load[1] += v.x[0] - nbr.x[2]
        nbr.signal()
