"""visit: both ends and the edge are written, in one order on any ranks and threads."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


@case(limit=3)
class Trade(gl.VertexProgram):
    """Every edge carries a part of one end's wealth to the other: the order shows in every bit."""

    share: float = 0.25

    class Vertex(gl.Vertex):
        wealth: float = 1.0
        deals: gl.int16 = 0
        last: gl.VertexId
        lucky: bool = False

    class Edge(gl.Edge):
        weight: float
        carried: gl.float32 = 0.0
        times: int = 0

    @gl.aggregator
    def all_wealth(self, v: Vertex) -> gl.Sum[float]:
        return v.wealth

    def init(self, v: Vertex) -> None:
        v.wealth = 1.0 + v.out_degree / 2
        v.last = v.id

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        part = self.share * u.wealth / (1.0 + e.weight)
        if u.lucky and w.degree < 3:
            part = -part
        e.carried = part + 0.5 * e.carried
        e.times += 1 + self.superstep
        u.wealth -= part
        w.wealth += part
        u.deals += 1
        w.deals += 2
        u.last, w.last = w.id, u.last
        w.lucky = u.last < w.last


@case(limit=3)
class Chain(gl.VertexProgram):
    """A sweep, then a gather over what it wrote on vertices and edges, then apply; few ways."""

    visit_ways = 2

    class Vertex(gl.Vertex):
        seen: int = 0
        heard: int = 0

    class Edge(gl.Edge):
        cost: int = 1
        stamp: int = 0

    @gl.aggregator
    def most(self, v: Vertex) -> gl.Max[int]:
        return v.seen

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        w.seen = (3 * u.seen + w.seen + e.cost + u.heard) % 1009
        e.stamp = w.seen - u.seen + self.most

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return e.stamp + nbr.seen

    def apply(self, v: Vertex, total: int) -> None:
        v.heard = total % 97
        v.seen += 1


@case(limit=2)
class Sized(gl.VertexProgram):
    """Reads all that the graph knows of both ends, which travels with their fields."""

    class Vertex(gl.Vertex):
        all: int = 0
        coming: int = 0
        going: int = 0

    def visit(self, u: Vertex, e: gl.Edge, w: Vertex) -> None:
        u.going = 100 * u.in_degree + 10 * u.out_degree + u.degree
        w.coming = 100 * w.in_degree + 10 * w.out_degree + w.degree
        w.all = w.all + u.going


@case(limit=2)
class Ahead(gl.VertexProgram):
    """Asks in visit, and in a helper of it, which end it is at: always the source."""

    class Vertex(gl.Vertex):
        paid: int = 0

    def price(self, e: gl.Edge, one: int, other: int) -> int:
        return one if e.forward else other

    def visit(self, u: Vertex, e: gl.Edge, w: Vertex) -> None:
        u.paid += 1 if e.forward else 100
        w.paid += self.price(e, 10, 1000)


@case(limit=3)
class Urns(gl.VertexProgram):
    """Draws by totals that it changes, kept in derived vectors; a helper reads one, too."""

    kinds: int = 3
    visit_ways = 3

    class Vertex(gl.Vertex):
        seen: int = 0

    class Edge(gl.Edge):
        kind: gl.int8 = gl.integers("kinds")

    class Total(gl.Accumulator):
        counts: gl.Vector = gl.field(shape="kinds", dtype=gl.int32)
        all: int

    @gl.aggregator(live=True)
    def balls(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(counts=gl.at(e.kind), all=1)

    @gl.aggregator(live=True)
    def moves(self, v: Vertex) -> gl.Sum[int]:
        return v.degree

    def shifted(self, k: int) -> int:
        return (self.moves + k + self.balls.counts[0] + self.balls.all) % self.kinds

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        rest = 0.5 * self.kinds
        self.balls.counts[e.kind] -= 1
        e.kind = gl.categorical(
            (self.balls.counts + 1.0) * (1.0 / (self.balls.counts + rest)) + 0.25 * w.degree
        )
        self.balls.counts[e.kind] += 1
        self.balls.all += self.shifted(e.kind)
        self.moves -= self.balls.counts[-1] - w.degree
        u.seen += self.moves

    def apply(self, v: Vertex) -> None:
        v.seen = (v.seen + self.balls.all) % 1009
