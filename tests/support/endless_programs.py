"""Programs with a method that never returns, each another one, at the vertex `at` unless `ends`."""

from __future__ import annotations

import gaslab as gl


def stays(here: bool) -> int:
    k = 0
    while here:
        k += 1
    return k


class Endless(gl.VertexProgram):
    """Base of the other programs: every vertex signals its out-neighbours, twice."""

    at: gl.VertexId
    ends: bool = False

    class Vertex(gl.Vertex):
        n: int = 0


class InInit(Endless):
    def init(self, v: Endless.Vertex) -> None:
        while not self.ends and v.id == self.at:
            v.n += 1

    def apply(self, v: Endless.Vertex) -> None:
        v.n += 1

    def scatter(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> None:
        if v.n < 2:
            nbr.signal()


class InStart(Endless):
    def start(self, v: Endless.Vertex) -> bool:
        k = 0
        while not self.ends and v.id == self.at:
            k += 1
        return k >= 0

    def apply(self, v: Endless.Vertex) -> None:
        v.n += 1

    def scatter(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> None:
        if v.n < 2:
            nbr.signal()


class InActive(Endless):
    def active(self, v: Endless.Vertex) -> bool:
        k = 0
        while not self.ends and v.id == self.at:
            k += 1
        return self.superstep < 2 and k >= 0

    def apply(self, v: Endless.Vertex) -> None:
        v.n += 1


class InGather(Endless):
    def gather(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> gl.Sum[int]:
        k = 1
        while not self.ends and v.id == self.at:
            k += 1
        return k

    def apply(self, v: Endless.Vertex, total: int) -> None:
        v.n += total

    def scatter(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> None:
        if v.n < 4:
            nbr.signal()


class InGatherOfParts(Endless):
    class Total(gl.Accumulator):
        count: int
        most: gl.Max[int]

    def gather(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> Total:
        k = 1
        while not self.ends and v.id == self.at:
            k += 1
        return self.Total(count=k, most=nbr.n)

    def apply(self, v: Endless.Vertex, total: Total) -> None:
        v.n += total.count

    def done(self) -> bool:
        return True


class InGatherOfLists(Endless):
    def gather(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> gl.List[int]:
        k = 1
        while not self.ends and v.id == self.at:
            k += 1
        return k

    def apply(self, v: Endless.Vertex, total: gl.List[int]) -> None:
        v.n += len(total)

    def done(self) -> bool:
        return True


class InApply(Endless):
    def apply(self, v: Endless.Vertex) -> None:
        v.n += 1
        while not self.ends and v.id == self.at:
            v.n += 1

    def scatter(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> None:
        if v.n < 2:
            nbr.signal()


class InScatter(Endless):
    def apply(self, v: Endless.Vertex, message: gl.Sum[int]) -> None:
        v.n += 1

    def scatter(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> None:
        k = 1
        if not self.ends and v.id == self.at:
            for i in range(10**18):
                k = (k * 7 + i + v.n) % 1000
        if v.n < 2:
            nbr.signal(k)


class InHelper(Endless):
    def apply(self, v: Endless.Vertex) -> None:
        v.n += 1 + stays(not self.ends and v.id == self.at)

    def scatter(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> None:
        if v.n < 2:
            nbr.signal()


class InDirection(Endless):
    def gather_edges(self, v: Endless.Vertex) -> int:
        k = 0
        while not self.ends and v.id == self.at:
            k += 1
        return gl.IN if k == 0 else gl.NONE

    def gather(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> gl.Sum[int]:
        return 1

    def apply(self, v: Endless.Vertex, total: int) -> None:
        v.n += total

    def done(self) -> bool:
        return True


class InPost(Endless):
    """A scatter that posts changes of gathers."""

    def gather(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> gl.Sum[int]:
        return nbr.n

    def apply(self, v: Endless.Vertex, total: int) -> None:
        v.n = 1 + total % 2

    def scatter(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> None:
        k = 0
        while not self.ends and v.id == self.at:
            k += 1
        nbr.clear_cache()
        if self.superstep < 2:
            nbr.signal()


class InAggregator(Endless):
    @gl.aggregator
    def sum(self, v: Endless.Vertex) -> gl.Sum[int]:
        k = 1
        while not self.ends and v.id == self.at:
            k += 1
        return k

    def apply(self, v: Endless.Vertex) -> None:
        v.n += 1

    def done(self) -> bool:
        return True


class InAggregatorOfEdges(Endless):
    @gl.aggregator
    def sum(self, v: Endless.Vertex, e: gl.Edge, nbr: Endless.Vertex) -> gl.Sum[int]:
        k = 1
        while not self.ends and v.id == self.at:
            k += 1
        return k

    def apply(self, v: Endless.Vertex) -> None:
        v.n += 1

    def done(self) -> bool:
        return True


class InVisit(Endless):
    def visit(self, u: Endless.Vertex, e: gl.Edge, w: Endless.Vertex) -> None:
        while not self.ends and u.id == self.at:
            u.n += 1
        w.n += 1

    def done(self) -> bool:
        return True


class InMerge(Endless):
    class Most(gl.Accumulator):
        n: int = 0

    @gl.aggregator
    def most(self, v: Endless.Vertex) -> Most:
        return self.Most(n=v.n)

    def merge(self, a: Most, b: Most) -> Most:
        k = max(a.n, b.n)
        while not self.ends and self.superstep >= 0:
            k = k % 2
        return self.Most(n=k)

    def apply(self, v: Endless.Vertex) -> None:
        v.n += 1

    def done(self) -> bool:
        return True


class Long(gl.VertexProgram):
    """No loop without an end, but a superstep of many seconds."""

    class Vertex(gl.Vertex):
        x: float = 0.5

    def apply(self, v: Vertex) -> None:
        for _ in range(5000):
            v.x = 3.7 * v.x * (1.0 - v.x)


BY_SIGNALS = (InInit, InStart, InGather, InApply, InScatter, InHelper)
ALL = (
    *BY_SIGNALS, InActive, InGatherOfParts, InGatherOfLists, InDirection, InPost, InAggregator,
    InAggregatorOfEdges, InVisit, InMerge,
)  # fmt: skip
