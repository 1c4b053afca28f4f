"""Random numbers in every method, by both generators, and random starts of fields."""

from __future__ import annotations

import numpy as np

from gaslab import program as gl
from tests.programs.case import case


def shaken(x: float, times: int) -> float:
    for k in range(times):
        x = x + gl.uniform(-1.0, 1.0) * (k + 1)
    return x


@case(limit=4)
class Throws(gl.VertexProgram):
    """Draws in all methods of a frontier program; the order of operands; parallel edges of their own."""

    sides: int = 6
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        first: float = 0.0
        shape: float = gl.normal(0.5)
        hand: gl.uint8 = 0
        best: float = 0.0
        luck: float = 0.0

    class Edge(gl.Edge):
        die: gl.int16 = gl.integers("sides")

    @gl.aggregator
    def highest(self, v: Vertex) -> gl.Max[float]:
        return v.luck

    def init(self, v: Vertex) -> None:
        v.first = gl.uniform() - gl.uniform()

    def start(self, v: Vertex) -> bool:
        return gl.uniform() < 0.75

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[float]:
        return gl.uniform(nbr.first, nbr.first + 1.0) * gl.integers(e.die + 1)

    def apply(self, v: Vertex, total: float, message: gl.Max[int]) -> None:
        v.hand = gl.integers(self.sides) + message % 7 if message > 0 else gl.integers(2)
        v.best = total
        v.luck = shaken(gl.normal(), gl.integers(4)) - max(gl.uniform(), gl.uniform() / 2.0)
        if (v.luck > 0.0 and gl.uniform() < 0.5) or gl.integers(3) == 1:
            v.luck += gl.normal(scale=2.0)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if gl.uniform() < 0.5:
            nbr.signal(gl.integers(1000))


@case(limit=5)
class Rumour(gl.VertexProgram):
    """Draws along single-direction signals without a message: pull stops early, and none may notice."""

    class Vertex(gl.Vertex):
        heard: int = 0

    def active(self, v: Vertex) -> bool:
        return gl.integers(4) != self.superstep

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.integers(100)

    def apply(self, v: Vertex, total: int) -> None:
        v.heard = v.heard * 3 + total


@case(limit=4)
class Streams(gl.VertexProgram):
    """The same words with a small generator seeded per call."""

    rng = "stream"

    class Vertex(gl.Vertex):
        x: float = gl.uniform(1.0, 3.0)
        y: float = 0.0
        n: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.x + gl.uniform() * gl.uniform() - gl.normal()

    def apply(self, v: Vertex, total: float) -> None:
        v.y = total
        for _ in range(gl.integers(3), gl.integers(6), 1 + gl.integers(2)):
            v.n += gl.integers(1 << 40)
        v.x = shaken(v.x, 3)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if gl.uniform() < 0.4:
            nbr.signal()


@case(limit=4)
class Hashes(Streams):
    """The same words with a mix of seed, moment, unit and number."""

    rng = "hash"


@case(limit=4, directed_only=True)
class Weighted(gl.VertexProgram):
    """gl.categorical by fields, locals and expressions of them, of few and of many elements."""

    k: int = 21

    class Vertex(gl.Vertex):
        weights: gl.Vector = gl.field(shape="k", dtype=gl.float32, init=gl.uniform())
        counts: gl.Vector = gl.field(shape=3, dtype=int, init=1)
        seen: gl.Vector = gl.field(shape="k", dtype=int)
        n: int = 0

    class Edge(gl.Edge):
        chosen: int = 0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.categorical(nbr.weights * v.weights) - gl.integers(4) * gl.categorical(nbr.counts)

    def apply(self, v: Vertex, total: int) -> None:
        v.seen[gl.categorical(v.weights)] += 1
        v.n = total + gl.categorical(np.exp(-v.weights * gl.uniform())) - gl.categorical(v.counts * v.counts)
        v.counts[gl.categorical(v.counts + 0.5)] += gl.categorical(np.ones(8))
        v.weights[gl.categorical(v.seen + 1)] = 0.0 if np.sum(v.weights) > 2.0 else 1.0

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.chosen = gl.categorical(nbr.counts) if gl.uniform() < 0.5 else gl.categorical(v.weights)
        if gl.categorical(v.counts) != 1:
            nbr.signal()


@case(limit=3)
class Distributed(gl.VertexProgram):
    """Draws that take one number, several or as many as it needs, in all methods and of starts."""

    shape: float = 0.7

    class Vertex(gl.Vertex):
        alpha: gl.Vector = gl.field(shape=5, init=gl.gamma("shape"))
        share: gl.Vector = gl.field(shape=5)
        rate: float = gl.exponential(20.0)
        count: int = gl.poisson(15)
        sum: float = 0.0

    class Edge(gl.Edge):
        wait: float = gl.exponential()

    def start(self, v: Vertex) -> bool:
        return gl.poisson(v.rate) > 3

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return gl.poisson(nbr.rate) + gl.integers(1 + gl.poisson(e.wait))

    def apply(self, v: Vertex, total: int) -> None:
        v.count = total + gl.poisson(v.rate) * gl.poisson(0.5)
        share = gl.dirichlet(v.alpha * v.count + 0.01)
        v.share = gl.dirichlet(share) if v.count % 2 else share
        v.sum = gl.gamma(v.share[0]) + gl.gamma(1 + v.rate, gl.exponential())
        v.rate = gl.exponential(v.rate + gl.uniform())

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if gl.gamma(1.5) < 1.0 and gl.poisson(v.rate) < gl.poisson(10 + e.wait):
            nbr.signal()


@case(limit=3)
class DistributedStreams(Distributed):
    rng = "stream"


@case(limit=3, directed_only=True)
class WeightedHashes(Weighted):
    rng = "hash"


@case(limit=3)
class Duels(gl.VertexProgram):
    """Draws in visits, by the edge."""

    class Vertex(gl.Vertex):
        strength: int = gl.integers(100)

    class Edge(gl.Edge):
        thrown: int = 0

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        e.thrown = gl.integers(1000)
        if gl.uniform() < 0.5:
            u.strength += e.thrown
        else:
            w.strength -= gl.integers(50)


@case(limit=4)
class Spilled(gl.VertexProgram):
    """Draws in an init that takes a message: others in every superstep."""

    class Vertex(gl.Vertex):
        held: int = 0
        heard: int = 0

    def init(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.held = message % 1000 + gl.integers(100)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.held

    def apply(self, v: Vertex, total: int) -> None:
        v.heard = v.heard * 3 + total

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.held % 3 > 0:
            nbr.signal(v.held)
