"""Programs for the tests of bounded staleness."""

from __future__ import annotations

from gaslab import program as gl


class Clocks(gl.VertexProgram):
    """Everybody reads how old the neighbours are: a superstep's number is written and gathered."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        when: int = -1
        oldest: int = 0  # by how many supersteps a value that was read was too old
        newest: int = 0  # by how many it was ahead

    class Read(gl.Accumulator):
        first: gl.Min[int]
        last: gl.Max[int]

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Read:
        return self.Read(first=nbr.when, last=nbr.when)

    def apply(self, v: Vertex, read: Read) -> None:
        if v.degree > 0:
            v.oldest = max(v.oldest, self.superstep - 1 - read.first)
            v.newest = max(v.newest, read.last - (self.superstep - 1))
        v.when = self.superstep


class Spills(gl.VertexProgram):
    """A fall of water by additive fields: everybody passes on what it holds, nothing is lost."""

    class Vertex(gl.Vertex):
        holds: int = gl.field(sync=gl.SUM)
        got: int = 0
        passes: int = 0

    def init(self, v: Vertex) -> None:
        v.holds = 1 if v.in_degree == 0 else 0

    def apply(self, v: Vertex) -> None:
        v.passes, v.holds = v.holds, 0
        v.got += v.passes

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.passes > 0 and v.id < nbr.id:
            nbr.holds += v.passes
            nbr.signal()


class Chain(gl.VertexProgram):
    """The longest way to each vertex along edges to greater ids, by gathers that signals ask for."""

    class Vertex(gl.Vertex):
        steps: int = 0
        grew: bool = True

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
        return nbr.steps + 1 if nbr.id < v.id else 0

    def apply(self, v: Vertex, longest: int) -> None:
        v.grew = longest > v.steps
        v.steps = max(v.steps, longest)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.grew and nbr.id > v.id:
            nbr.signal()


class BadDone(gl.VertexProgram):
    """Its done fails after a while."""

    class Vertex(gl.Vertex):
        turns: int = 0

    @gl.aggregator
    def most(self, v: Vertex) -> gl.Max[int]:
        return v.turns

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return 1

    def apply(self, v: Vertex, total: int) -> None:
        v.turns += 1

    def done(self) -> bool:
        return 1 / (5 - self.most) < 0


class OnePhase(gl.VertexProgram):
    """Ends after two supersteps of its only phase, which another engine would not see."""

    class Vertex(gl.Vertex):
        turns: int = 0

    def turn(self, v: Vertex) -> None:
        v.turns += 1

    def call(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal()

    phases = (gl.Phase(apply=turn, scatter=call, supersteps=2),)


class NobodyStarts(gl.VertexProgram):
    """Runs every vertex in each superstep behind the first, if one runs there: none does."""

    class Vertex(gl.Vertex):
        turns: int = 0

    def start(self, v: Vertex) -> bool:
        return v.turns > 0

    def apply(self, v: Vertex) -> None:
        v.turns += 1
