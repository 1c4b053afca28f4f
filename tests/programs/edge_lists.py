"""Lists and sorted sets on edges, bound to ragged columns: read in every method that sees an edge."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


def weighed(e: Words, n: int) -> int:
    """A helper that reads the edge's list itself."""
    total = 0
    for k in range(len(e.tokens)):
        total += e.tokens[k] * (k + n)
    return total


def spread(x: gl.List[gl.float32]) -> float:
    """A helper that is given a list."""
    return x[-1] - x[0] if len(x) > 1 else 0.0


class Words(gl.Edge):
    tokens: gl.List[int]


@case(limit=3, lists=True)
class Reading(gl.VertexProgram):
    """Every word, over both ends of an edge, in gather, scatter and aggregators; pushed and pulled."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        seen: int = 0
        wide: float = 0.0
        top: int = 0

    class Edge(gl.Edge):
        tokens: gl.List[int]
        marks: gl.SortedSet[gl.int16]
        levels: gl.List[gl.float32]
        flags: gl.List[bool]
        weight: float = 0.5

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        found = weighed(e, v.seen % 3) + 1000 * gl.common(e.marks, e.marks)
        for mark in e.marks:
            if mark == 5:
                break
            found += 7 if 4 in e.marks else mark
        if e.tokens and e.forward:
            found += gl.mode(e.tokens) - e.tokens[-1]
        return found + (100 if e.weight in e.levels else 0)

    def apply(self, v: Vertex, total: int, message: gl.Max[int]) -> None:
        v.seen = total
        if message > 0:
            v.top = message

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if self.superstep < 2 and len(e.flags) != 1:
            nbr.signal(gl.mex(e.tokens) + (nbr.top if e.flags and e.flags[0] else v.top) % 10)

    @gl.aggregator
    def widest(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[float]:
        return spread(e.levels) + gl.mex(e.tokens)

    @gl.aggregator
    def twos(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return 1 if 2 in e.tokens else v.seen % 2 - nbr.seen % 3


@case(limit=2, lists=True)
class Gathered(gl.VertexProgram):
    """What is gathered is a list itself; some edges' numbers are written after their lists."""

    gather_edges = gl.IN
    scatter_edges = gl.OUT

    class Vertex(gl.Vertex):
        firsts: gl.List[int]
        own: gl.SortedSet[int]
        shared: int = 0

    class Edge(gl.Edge):
        tokens: gl.List[gl.int8]
        marks: gl.SortedSet[int]
        cost: int = 1

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[int]:
        if len(e.tokens) == 0 or gl.common(v.own, e.marks) > 2:
            return None
        return e.tokens[0] + gl.common(e.marks, nbr.own)

    def apply(self, v: Vertex, total: gl.List[int]) -> None:
        v.firsts = total
        v.shared = gl.mode(total) if total else -1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.forward:
            e.cost = e.cost + len(e.tokens) * (gl.mode(e.tokens) if e.tokens else 1)
        nbr.signal()


@case(limit=9, lists=True)
class Driven(gl.VertexProgram):
    """Signals alone, along edges whose lists say so: on one rank supersteps run ahead in a kernel."""

    class Vertex(gl.Vertex):
        best: int = 0
        turns: int = 0

    class Edge(gl.Edge):
        tokens: gl.List[int]
        marks: gl.SortedSet[gl.uint8]

    def start(self, v: Vertex) -> bool:
        return v.degree % 2 == 1

    def apply(self, v: Vertex, message: gl.Max[int]) -> None:
        v.best = max(v.best, message)
        v.turns += 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.turns <= gl.mex(e.tokens) + 1 and len(e.tokens) > 0:
            nbr.signal(v.best + gl.mode(e.tokens) + (e.marks[-1] if e.marks else 0))


@case(limit=2, lists=True)
class Visited(gl.VertexProgram):
    """visit reads the lists of the edges it comes to."""

    class Vertex(gl.Vertex):
        kept: gl.List[int]
        a: int = 0
        b: int = 0

    class Edge(gl.Edge):
        tokens: gl.List[int]
        cost: int = 0

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        for token in e.tokens:
            u.a = (u.a * 3 + token + w.b) % 1009
        w.b += gl.mex(e.tokens) + u.a
        e.cost = len(e.tokens) + (gl.mode(e.tokens) if e.tokens else u.a)
