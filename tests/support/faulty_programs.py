"""Programs of which one method fails, at vertex 3 or wherever it runs first; all can run in every engine."""

from __future__ import annotations

from gaslab import program as gl


class Sound(gl.VertexProgram):
    """Everybody calls everybody, in three turns; the others fail in one of its methods."""

    class Vertex(gl.Vertex):
        x: int = 0
        turns: int = 0

    def apply(self, v: Vertex) -> None:
        v.turns += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.turns < 3:
            nbr.signal()


class InInit(Sound):
    def init(self, v: Sound.Vertex) -> None:
        v.x = 6 // (v.in_degree - 2)


class InInitBeforeStart(InInit):
    def start(self, v: Sound.Vertex) -> bool:
        return v.in_degree == 1


class InStart(Sound):
    def start(self, v: Sound.Vertex) -> bool:
        return 6 // (v.in_degree - 2) < 0


class InGather(Sound):
    def gather(self, v: Sound.Vertex, e: gl.Edge, nbr: Sound.Vertex) -> gl.Sum[int]:
        return 6 // (v.in_degree - 2)

    def apply(self, v: Sound.Vertex, total: int) -> None:
        v.turns += 1


class InMerge(Sound):
    class Least(gl.Accumulator):
        low: int = 100

    def merge(self, a: Least, b: Least) -> Least:
        return self.Least(low=min(a.low, b.low) + 6 // (a.low - 7))

    def gather(self, v: Sound.Vertex, e: gl.Edge, nbr: Sound.Vertex) -> Least:
        return self.Least(low=7)

    def apply(self, v: Sound.Vertex, total: Least) -> None:
        v.turns += 1


class InApply(Sound):
    def apply(self, v: Sound.Vertex) -> None:
        v.turns += 1 + 0 // (v.in_degree - 2)


class InScatter(Sound):
    def scatter(self, v: Sound.Vertex, e: gl.Edge, nbr: Sound.Vertex) -> None:
        if 6 // (v.in_degree - 2) < 100:
            nbr.signal()


class InLateScatter(Sound):
    """Fails in its last turn, after which nothing is to be done."""

    def scatter(self, v: Sound.Vertex, e: gl.Edge, nbr: Sound.Vertex) -> None:
        if 6 // (3 - v.turns) < 100:
            nbr.signal()


class InAggregator(Sound):
    @gl.aggregator
    def most(self, v: Sound.Vertex) -> gl.Max[int]:
        return 6 // (v.in_degree - 2)


class InLateAggregator(Sound):
    """Fails of what apply has written; `done` never likes what it sees."""

    @gl.aggregator
    def most(self, v: Sound.Vertex) -> gl.Max[int]:
        return 6 // (v.turns - 2)

    def scatter(self, v: Sound.Vertex, e: gl.Edge, nbr: Sound.Vertex) -> None:
        if nbr.turns < 2 or v.turns > 0:
            nbr.signal()

    def apply(self, v: Sound.Vertex) -> None:
        v.turns = min(v.turns + 1, 2)

    def done(self) -> bool:
        return self.most > 1000


class InPriority(Sound):
    def scatter(self, v: Sound.Vertex, e: gl.Edge, nbr: Sound.Vertex) -> None:
        nbr.signal(priority=1 - v.in_degree)


class InMergeOfAggregates(Sound):
    """Fails when the totals of all are merged after the first superstep; `done` likes whatever it sees."""

    class Tally(gl.Accumulator):
        n: int = 0

    def merge(self, a: Tally, b: Tally) -> Tally:
        return self.Tally(n=a.n + b.n + 0 // (a.n + b.n - 9))

    @gl.aggregator
    def tally(self, v: Sound.Vertex) -> Tally:
        return self.Tally(n=1 if v.turns > 0 else 0)

    def done(self) -> bool:
        return True


class OnlyInit(gl.VertexProgram):
    """Has nothing to do but init, which fails."""

    class Vertex(gl.Vertex):
        x: int = 0

    def init(self, v: Vertex) -> None:
        v.x = 6 // (v.in_degree - 2)


FAULTS = (
    InInit, InInitBeforeStart, InStart, InGather, InMerge, InApply, InScatter, InLateScatter, InAggregator,
    InLateAggregator, InPriority, InMergeOfAggregates, OnlyInit,
)  # fmt: skip


class InDone(Sound):
    """Raises an error of its own once turns are counted; no run ends before, however few turns it has."""

    @gl.aggregator
    def seen(self, v: Sound.Vertex) -> gl.Sum[int]:
        return v.turns

    def scatter(self, v: Sound.Vertex, e: gl.Edge, nbr: Sound.Vertex) -> None:
        if nbr.turns < 3 or self.seen == 0:
            nbr.signal()

    def done(self) -> bool:
        if self.seen > 0:
            raise RuntimeError("done has failed")
        return False


class InFinalizer(Sound):
    @gl.aggregator
    def seen(self, v: Sound.Vertex) -> gl.Sum[int]:
        return v.turns

    @seen.finalize
    def checked(self, value: int) -> int:
        if value > 0:
            raise RuntimeError("the finaliser has failed")
        return value
