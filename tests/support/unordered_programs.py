"""Programs whose answer does not depend on the order in which vertices run, and one that needs scopes."""

from __future__ import annotations

import math

from gaslab import program as gl
from tests.programs.signals import Parts
from tests.programs.signals import Paths as Paths


class Labels(Parts):
    """The smallest id of each component, by messages both ways."""

    def apply(self, v: Parts.Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.part = min(message, v.part)


class Urgent(gl.VertexProgram):
    """Shortest paths by messages, the nearest first."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        distance: float

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        v.distance = 0.0 if v.id == self.source else math.inf

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex, message: gl.Min[float]) -> None:
        v.distance = min(v.distance, message)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance:
            nbr.signal(v.distance + e.weight, priority=int(v.distance + e.weight))


class Parcels(gl.VertexProgram):
    """Everybody sends one parcel along each out-edge, and back: none is lost, none comes twice."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        got: int = 0
        turns: gl.int32 = 0

    class Edge(gl.Edge):
        used: int = 0

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.got += message
        v.turns += 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.turns == 1 and e.forward:
            e.used += 1
            nbr.signal(1)


class Ranked(gl.VertexProgram):
    """PageRank, driven by signals."""

    tolerance: float = 1e-12

    class Vertex(gl.Vertex):
        score: float = 0.0
        share: float = 0.0
        change: float = 0.0

    @gl.aggregator
    def most(self, v: Vertex) -> gl.Max[float]:
        return v.score

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.share

    def apply(self, v: Vertex, total: float) -> None:
        score = 0.15 + 0.85 * total
        v.change = abs(score - v.score)
        v.score = score
        v.share = score / v.out_degree if v.out_degree > 0 else 0.0

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.change > self.tolerance:
            nbr.signal()


class Colours(gl.VertexProgram):
    """The least colour that no neighbour has, taken once: proper if no two neighbours choose at once."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        colour: int = -1
        turns: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.BitOr[int]:
        return 1 << nbr.colour if nbr.colour >= 0 and nbr.id != v.id else 0

    def apply(self, v: Vertex, total: int) -> None:
        v.turns += 1
        if v.colour < 0:
            free = 0
            while (total >> free) % 2 == 1:
                free += 1
            v.colour = free

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.colour < 0:
            nbr.signal()


class Once(Colours):
    """The same in one pass: nobody runs again."""

    def scatter(self, v: Colours.Vertex, e: gl.Edge, nbr: Colours.Vertex) -> None:
        if v.colour < 0:
            nbr.signal()


class Ledger(gl.VertexProgram):
    """Every vertex has `rounds` turns and records its neighbours, which gives the order of turns."""

    rounds: int = 1
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        turns: int = 0
        saw: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.saw

    def apply(self, v: Vertex, total: int) -> None:
        v.saw = (5 * v.saw + total + 1) % 1000003
        v.turns += 1
        if v.turns < self.rounds:
            v.signal()

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.turns == 0:
            nbr.signal()


class Silent(Ledger):
    """Everybody writes down what it sees, and calls nobody."""

    def scatter(self, v: Ledger.Vertex, e: gl.Edge, nbr: Ledger.Vertex) -> None:
        if nbr.turns < 0:
            nbr.signal()


class Divides(gl.VertexProgram):
    """Fails at the vertices without out-edges."""

    class Vertex(gl.Vertex):
        x: int = 0

    def apply(self, v: Vertex) -> None:
        v.x = 6 // v.out_degree

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.x < 0:
            nbr.signal()


class Restless(gl.VertexProgram):
    """Never ends: everybody calls everybody."""

    class Vertex(gl.Vertex):
        turns: int = 0

    @gl.aggregator
    def most(self, v: Vertex) -> gl.Max[int]:
        return v.turns

    def apply(self, v: Vertex) -> None:
        v.turns += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal()


class Sated(Restless):
    """The same, until somebody has had fifty turns."""

    def done(self) -> bool:
        return self.most >= 50


class Trips(Restless):
    """Everybody calls everybody until somebody divides by zero."""

    def apply(self, v: Restless.Vertex) -> None:
        v.turns += 1 + 0 // (30 - v.turns)
