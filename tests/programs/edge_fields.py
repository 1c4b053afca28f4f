"""Edge fields that scatter writes."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


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


def _signed(e: gl.Edge, value: int) -> int:
    return value if e.forward else -value


@case(limit=5)
class BothEnds(gl.VertexProgram):
    """e.forward in gather, scatter and a helper; each end writes a field of its own."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        flow: int = 0

    class Edge(gl.Edge):
        cost: int = 0
        there: int = 1
        back: gl.int16 = 2

    def init(self, v: Vertex) -> None:
        v.flow = v.degree

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return _signed(e, e.there * 3 + e.cost) if v.id < nbr.id or e.forward else e.back + nbr.flow % 5

    def apply(self, v: Vertex, total: int) -> None:
        v.flow = total % 1000

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.forward:
            e.there = v.flow % 7 + e.there % 50
        if not e.forward:
            e.back = e.back % 100 + 1
        if _signed(e, v.flow) > nbr.flow:
            nbr.signal()


@case(limit=6)
class Upstream(gl.VertexProgram):
    """e.forward in scatters that a target may run, with and without a message."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        heard: int = 0

    class Edge(gl.Edge):
        cost: int

    def apply(self, v: Vertex, message: gl.Max[int]) -> None:
        v.heard = max(v.heard, message)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        said = v.heard + (e.cost if e.forward else -1)
        if said > nbr.heard:
            nbr.signal(said)
