"""Programs of several phases."""

from __future__ import annotations

from gaslab import program as gl
from tests.programs.case import case


@case(limit=9)
class HubsAndAuthorities(gl.VertexProgram):
    """Two phases of one superstep each, repeated until done; fields that are read in one of them alone."""

    rounds: int = 3

    class Vertex(gl.Vertex):
        hub: float = 1.0
        authority: float = 0.0

    class Edge(gl.Edge):
        weight: float

    @gl.aggregator
    def mass(self, v: Vertex) -> gl.Sum[float]:
        return v.authority

    def from_hubs(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight * nbr.hub

    def to_authority(self, v: Vertex, total: float) -> None:
        v.authority = total / 64 + v.in_degree

    def from_authorities(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight * nbr.authority

    def to_hub(self, v: Vertex, total: float) -> None:
        v.hub = total / 64 + v.hub / 8 + self.superstep

    phases = (
        gl.Phase(gather=from_hubs, apply=to_authority, supersteps=1),
        gl.Phase(gather=from_authorities, apply=to_hub, gather_edges=gl.OUT, supersteps=1),
    )

    def done(self) -> bool:
        return self.superstep >= 2 * self.rounds - 1 or self.mass < 0


@case(limit=30)
class SearchThenSpread(gl.VertexProgram):
    """Messages of two types, a double buffer; phases end by frontier, count and done."""

    source: gl.VertexId

    class Vertex(gl.Vertex):
        hops: gl.int32 = -1
        label: gl.VertexId
        score: int = 1
        when: int = 0

    @gl.aggregator
    def reached(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v.hops >= 0 else 0

    @gl.aggregator
    def best(self, v: Vertex) -> gl.Max[int]:
        return v.score

    def init(self, v: Vertex) -> None:
        v.label = v.id
        v.score = v.degree + 1

    def at_source(self, v: Vertex) -> bool:
        return v.id == self.source

    def visit_once(self, v: Vertex, message: gl.Min[int]) -> None:
        if v.hops < 0:
            v.hops = 0 if v.id == self.source else message

    def search(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.hops < 0:
            nbr.signal(v.hops + 1)

    def unreached(self, v: Vertex) -> bool:
        return v.hops < 0

    def take_label(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.label = min(v.label, message)
        v.when = self.superstep

    def pass_label(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.label < nbr.label and nbr.hops < 0:
            nbr.signal(v.label)

    def scores(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
        return nbr.score

    def take_score(self, v: Vertex, total: int) -> None:
        v.score = max(v.score + self.reached, total)

    def high(self) -> bool:
        return self.best > 40

    phases = (
        gl.Phase(start=at_source, apply=visit_once, scatter=search),
        gl.Phase(start=unreached, apply=take_label, scatter=pass_label, scatter_edges=gl.ALL, supersteps=3),
        gl.Phase(gather=scores, apply=take_score, gather_edges=gl.ALL, supersteps=4, done=high),
        gl.Phase(active=unreached, gather=scores, apply=take_score, supersteps=1),
    )


@case(limit=5)
class Cut(SearchThenSpread):
    """The limit in the middle of a phase; a method that a subclass replaces; phases that do not repeat."""

    source: gl.VertexId

    def take_score(self, v: SearchThenSpread.Vertex, total: int) -> None:
        v.score = max(v.score, total) - 1


@case(limit=8, directed_only=True)
class TollsInPhases(gl.VertexProgram):
    """A phase writes the edges, the next pushes what it reads of them from a few; twice over."""

    class Vertex(gl.Vertex):
        paid: float = 0.0
        rounds: int = 0

    class Edge(gl.Edge):
        weight: float
        toll: float = 0.5

    @gl.aggregator
    def most(self, v: Vertex) -> gl.Max[int]:
        return v.rounds

    def turn(self, v: Vertex) -> None:
        v.rounds += 1

    def ask(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.toll = e.toll + e.weight + v.rounds

    def few(self, v: Vertex) -> bool:
        return v.in_degree == 1

    def pay(self, v: Vertex, message: gl.Max[float]) -> None:
        v.paid = max(v.paid, message, 0.25)

    def hand_on(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if nbr.paid < e.toll:
            nbr.signal(e.toll)

    def done(self) -> bool:
        return self.most == 2

    phases = (
        gl.Phase(apply=turn, scatter=ask, supersteps=1),
        gl.Phase(start=few, apply=pay, scatter=hand_on, supersteps=2),
    )


@case(limit=60)
class Rumours(gl.VertexProgram):
    """Phases that run so many times as a parameter says; messages that one leaves for the next."""

    times: int = 3
    repeat_phases = "times"

    class Vertex(gl.Vertex):
        heard: int = 0
        places: int = 0
        steps: int = 0

    @gl.aggregator(after="scatter")
    def known(self, v: Vertex) -> gl.Sum[int]:
        return v.heard + self.phase_step

    def first(self, v: Vertex) -> bool:
        return v.index % 5 == 0

    def tell(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.heard = (v.heard + message) % 1009
        v.steps = v.steps * 3 + self.phase_step

    def spread(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal((v.heard + nbr.index + self.known) % 7 + 1)

    def listen(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.heard = (v.heard * 2 + message) % 1009

    def settle(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
        return nbr.heard.bit_count() + (v.heard - nbr.index).bit_count()

    def keep(self, v: Vertex, total: int, message: gl.Sum[int]) -> None:
        v.places = (v.places + max(total, 0) + message) % 1009

    phases = (
        gl.Phase(start=first, apply=tell, scatter=spread, scatter_edges=gl.ALL, supersteps=3),
        gl.Phase(start=first, apply=listen, supersteps=1),  # for others the messages wait
        gl.Phase(gather=settle, apply=keep, supersteps=1),
    )


@case(limit=60)
class Handed(gl.VertexProgram):
    """Messages that apply sends to its own vertex, by priorities, and before a kind that drops them."""

    repeat_phases = 2

    class Least(gl.Accumulator):
        least: gl.Min[int]
        count: int

    class Vertex(gl.Vertex):
        n: int = 0
        found: int = 0
        when: int = -1

    def send(self, v: Vertex, message: Least) -> None:
        v.n = (v.n + message.count + v.degree) % 11
        if v.index % 3 == 0:
            v.signal(self.Least(least=v.index, count=1))

    def offer(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.n < nbr.degree + 3:
            nbr.signal(self.Least(least=v.n, count=2), priority=v.n)

    def even(self, v: Vertex) -> bool:
        return v.index % 2 == 0

    def take(self, v: Vertex, message: Least) -> None:
        v.found = (v.found * 3 + min(message.least, 50) + message.count) % 1009
        v.when = self.phase_step

    def number(self, v: Vertex, message: gl.Min[int]) -> None:
        v.found = (v.found + min(message, 4)) % 1009
        v.when = v.when + self.phase_step
        v.signal(v.n)

    phases = (
        gl.Phase(apply=send, scatter=offer, supersteps=2),
        gl.Phase(start=even, apply=take, supersteps=2),
        gl.Phase(apply=number, supersteps=2),
        gl.Phase(apply=take, supersteps=1),
    )
