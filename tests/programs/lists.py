"""Lists and sorted sets: gathered, kept in fields, read of neighbours, asked by every word."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


@case(limit=3)
class Circles(gl.VertexProgram):
    """A set of ids that grows along the edges; old and new side by side; loops and membership."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]
        before: gl.List[gl.VertexId]
        shared: int = 0
        above: int = 0
        first: gl.VertexId
        last: gl.VertexId

    def init(self, v: Vertex) -> None:
        v.first = v.last = v.id

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        if len(nbr.near) > 2 and nbr.id not in v.near:
            return nbr.near[-1] if nbr.near[1] < v.id else None
        return None if nbr.id == v.id else nbr.id

    def apply(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.before = v.near
        if self.superstep != 1 or len(total) > 1:
            v.near = total
        v.shared = gl.common(v.near, total) * 100 + len(v.before)
        v.above = 0
        for y in v.near:
            if y < v.id:
                continue
            v.above += 1 if y in v.before else 10
            if v.above > 30:
                break
        if v.near:
            v.first, v.last = v.near[0], v.near[-1]


@case(limit=6)
class Labels(gl.VertexProgram):
    """The most frequent label around; the list itself is asked nothing that shows its order."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: gl.VertexId
        met: bool = False

    def init(self, v: Vertex) -> None:
        v.label = v.id

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.VertexId]:
        return nbr.label

    def apply(self, v: Vertex, total: gl.List[gl.VertexId]) -> None:
        v.met = v.id in total
        if len(total) > 0:
            v.label = gl.mode(total)


@case(limit=8)
class Free(gl.VertexProgram):
    """The smallest number no neighbour has; some vertices run, and lists of small ints are kept."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        color: gl.int32 = 0
        taken: gl.List[gl.int16]
        turns: int = 0

    class Edge(gl.Edge):
        cost: int = 2

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[gl.int16]:
        if nbr.id < v.id or e.cost > 5:
            return nbr.color + (nbr.taken[0] if len(nbr.taken) > 0 else 0)

        return None

    def apply(self, v: Vertex, total: gl.List[gl.int16]) -> None:
        free = gl.mex(total)
        v.turns = v.turns + 1 if free != v.color else 0
        v.color = free
        v.taken = [] if v.turns > 4 else total

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.turns > 0 and (nbr.id > v.id or v.color in nbr.taken) and len(v.taken) < 9:
            nbr.signal()


def middle(x: gl.List[float], n: int) -> float:
    """A helper that is given a list."""
    return x[n // 2] if n % 2 == 1 else 0.5 * (x[n // 2 - 1] + x[n // 2])


@case(limit=4)
class Median(gl.VertexProgram):
    """Floats in ascending order; a list of bools; a helper takes a list."""

    class Vertex(gl.Vertex):
        value: float = 1.0
        spread: float = 0.0
        flags: gl.List[bool]
        seen: gl.List[gl.float32]

    class Edge(gl.Edge):
        weight: float = 0.5

    def init(self, v: Vertex) -> None:
        v.value = v.degree * 0.25

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[float]:
        return nbr.value - e.weight

    def apply(self, v: Vertex, total: gl.List[float]) -> None:
        n = len(total)
        if n:
            v.value = middle(total, n)
            v.spread = total[-1] - total[0]
            for x in total:
                v.spread = v.spread * 0.5 + x

    @gl.aggregator
    def ends(self, v: Vertex) -> gl.Sum[int]:
        return len(v.seen) + len(v.flags)


@case(limit=3)
class Pairs(gl.VertexProgram):
    """Sets meet across an edge in scatter, pulled and pushed; the message counts."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]
        ring: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        if nbr.id == v.id:
            return None
        return nbr.id

    def apply(self, v: Vertex, total: gl.SortedSet[gl.VertexId], message: gl.Sum[int]) -> None:
        v.near = total
        v.ring += message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.id != nbr.id and self.superstep < 2:
            nbr.signal(gl.common(nbr.near, v.near))
