"""Programs whose signals have priorities, spread widely, and whose answer does not depend on the order."""

from __future__ import annotations

import math

from gaslab import program as gl
from tests.support import unordered_programs as plain


class Nearer(gl.VertexProgram):
    """Shortest paths by gathers, the nearest first: a vertex is asked while it waits for its mirrors."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        distance: float
        turns: int = 0

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        v.distance = 0.0 if v.id == self.source else math.inf

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.distance + e.weight

    def apply(self, v: Vertex, total: float) -> None:
        v.distance = min(v.distance, total)
        v.turns += 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance:
            nbr.signal(priority=v.distance + e.weight)


class Posted(gl.VertexProgram):
    """One parcel along each out-edge, at the edge's priority: none is lost, none comes twice."""

    class Vertex(gl.Vertex):
        got: int = 0
        turns: int = 0

    class Edge(gl.Edge):
        weight: float

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.got += message
        v.turns += 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.turns == 1:
            nbr.signal(1, priority=e.weight)


class Joined(plain.Labels):
    """The smallest id of each component, by messages both ways at the edge's priority."""

    class Edge(gl.Edge):
        weight: float

    def scatter(self, v: plain.Labels.Vertex, e: Edge, nbr: plain.Labels.Vertex) -> None:
        if v.part < nbr.part:
            nbr.signal(v.part, priority=e.weight)


class Painted(plain.Colours):
    """A greedy colouring at the edge's priority: proper if no two neighbours choose at once."""

    class Edge(gl.Edge):
        weight: float

    def scatter(self, v: plain.Colours.Vertex, e: Edge, nbr: plain.Colours.Vertex) -> None:
        if nbr.colour < 0:
            nbr.signal(priority=e.weight)
