"""Edge fields that scatter writes."""

from __future__ import annotations

from gaslab import program as gl
from tests.zoo.case import case


@case(directed_only=True)
class Flow(gl.VertexProgram):
    """scatter writes edge fields of two types, gather and scatter read them in the next superstep."""

    class Vertex(gl.Vertex):
        level: float = 1.0

    class Edge(gl.Edge):
        weight: float
        carried: float = 0.25
        times: gl.int16 = 0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.carried * e.weight

    def apply(self, v: Vertex, total: float) -> None:
        v.level = 0.5 * v.level + 0.125 * total

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.carried = v.level - 0.5 * nbr.level + e.carried / 4
        e.times += 1
        if e.times < 4:
            nbr.signal()
            e.times = e.times + (v.id < nbr.id)


@case(directed_only=True, limit=4)
class Stamps(gl.VertexProgram):
    """Edge fields written from the target's side."""

    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        mark: gl.uint8 = 1

    class Edge(gl.Edge):
        cost: int = 0
        stamp: gl.uint8 = 0
        crossed: bool = False

    def apply(self, v: Vertex) -> None:
        v.mark = (v.mark * 3 + v.in_degree) % 251

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.stamp = v.mark ^ nbr.mark
        e.crossed = not e.crossed
        if e.cost > 0:
            nbr.signal()
