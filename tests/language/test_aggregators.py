"""Aggregators over edges, every n supersteps, with finalisers: how often, how, and what is refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

MODES: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]


class Clock(gl.VertexProgram):
    """The superstep of its last computation is what an aggregator of every n-th shows."""

    class Vertex(gl.Vertex):
        time: int = 0
        late: int = 0

    @gl.aggregator(every=3)
    def third(self, v: Vertex) -> gl.Max[int]:
        return v.time

    @gl.aggregator
    def always(self, v: Vertex) -> gl.Max[int]:
        return v.time

    @gl.aggregator(every=2)
    def edges(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return v.time + 1

    @edges.finalize
    def _(self, total: int) -> int:
        return 100 * self.superstep + total

    def apply(self, v: Vertex) -> None:
        v.time = self.superstep + 1
        v.late = self.edges


def run_clock(comm: Comm, mode: dict[str, Any]) -> Any:
    graph = gl.Graph.from_edges([0, 1, 1, 4], [1, 1, 2, 0], comm=comm)
    result = gl.run(Clock(), graph, max_iterations=7, **mode)
    rows = [(row["third"], row["always"], row["edges"]) for row in result.history]
    return rows, result.aggregates, result.vertices["late"].tolist()


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_every_n_keeps_its_value_between(ranks: Ranks, mode: dict[str, Any]) -> None:
    edges = [4, 112, 112, 320, 320, 528, 528]  # four edges; the superstep from the finaliser
    rows = [(3 * (t // 3), t, edges[t - 1]) for t in range(1, 8)]
    expected = (rows, {"third": 6, "always": 7, "edges": 528}, [528] * 4)
    assert ranks.run(run_clock, mode) == [expected] * ranks.size


class Wrong(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: float = 0.0

    @gl.aggregator
    def size(self, v: Vertex) -> gl.Sum[int]:
        return 1

    @size.finalize
    def _(self, total: int) -> int:
        return total / 2  # type: ignore[return-value]

    def apply(self, v: Vertex) -> None:
        v.x = 1.0


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_a_finaliser_keeps_the_type(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([0], [1])
    with pytest.raises(gl.ProgramError) as caught:
        gl.run(Wrong(), graph, max_iterations=1, **mode)
    assert str(caught.value) == "the finaliser of Wrong.size gave 1.0; its aggregator holds int"


class Nowhere(gl.VertexProgram):
    """Ids that are nobody's: alone, as the payload of a pair, and as that of a part nobody gives."""

    class Vertex(gl.Vertex):
        x: int = 0

    class Found(gl.Accumulator):
        best: gl.ArgMin[float, gl.VertexId]
        count: int

    @gl.aggregator
    def least(self, v: Vertex) -> gl.Min[gl.VertexId]:
        return gl.NOBODY

    @gl.aggregator
    def pair(self, v: Vertex) -> gl.ArgMax[int, gl.VertexId]:
        return v.x, gl.NOBODY

    @gl.aggregator
    def found(self, v: Vertex) -> Found:
        return self.Found(count=1)

    def apply(self, v: Vertex) -> None:
        v.x += 1

    def done(self) -> bool:
        assert self.least is None
        assert self.pair[1] is None
        assert self.found.best[1] is None
        return self.pair[0] == 2


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_nobody_is_none_to_done_and_in_results(mode: dict[str, Any]) -> None:
    result = gl.run(Nowhere(), gl.Graph.from_edges([0], [1]), **mode)
    assert result.iterations == 2
    for values in (*result.history, result.aggregates):
        assert values["least"] is None
        assert values["pair"][1] is None
        assert values["found"].best == (math.inf, None)


def test_a_finaliser_of_the_same_name_is_a_new_aggregator() -> None:
    def double(self: Any, total: int) -> int:
        return 2 * total

    double.__name__ = "size"
    before = Wrong.size.finalizer
    made = Wrong.size.finalize(double)
    assert isinstance(made, type(Wrong.size))
    assert (made.finalizer, Wrong.size.finalizer) == (double, before)


class Waning(gl.VertexProgram):
    """Ends where no vertex is left; how many supersteps it took, is asked when it is over."""

    first: gl.VertexId = 0

    class Vertex(gl.Vertex):
        hops: int = 99

    @gl.aggregator(every=gl.Phase)
    def steps(self, v: Vertex) -> gl.Max[int]:
        return self.superstep

    @steps.finalize
    def _(self, total: int) -> int:
        return 100 * self.superstep + total

    def start(self, v: Vertex) -> bool:
        return v.id == self.first

    def apply(self, v: Vertex, message: gl.Min[int]) -> None:
        v.hops = min(v.hops, message if self.superstep else 0)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.hops + 1 < nbr.hops:
            nbr.signal(v.hops + 1)


class Still(gl.VertexProgram):
    """Without supersteps; a finaliser counts how often it is asked."""

    @gl.aggregator(every=gl.Phase)
    def asked(self, v: gl.Vertex) -> gl.Sum[int]:
        return 1

    @asked.finalize
    def _(self, total: int) -> int:
        return 2 * (self.asked or 0) + total


def ended(comm: Comm, mode: dict[str, Any]) -> tuple[int, int]:
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0], comm=comm)
    waning, still = (gl.run(program, graph, **mode) for program in (Waning(), Still()))
    return waning.aggregates["steps"], still.aggregates["asked"]


@pytest.mark.parametrize("mode", [*MODES, {"engine": gl.Stale(0)}], ids=str)
def test_aggregates_of_the_whole_run_are_alike_in_all_engines(ranks: Ranks, mode: dict[str, Any]) -> None:
    assert ranks.run(ended, mode) == [(303, 9)] * ranks.size


class Huge(gl.VertexProgram):
    @gl.aggregator(every=gl.Phase)
    def huge(self, v: gl.Vertex) -> gl.Sum[int]:
        return 1

    @huge.finalize
    def _(self, total: int) -> int:
        return total << 70 if self.superstep else total

    def apply(self, v: gl.Vertex) -> None:
        pass


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_a_finaliser_gives_an_int_of_64_bits(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([0], [1])
    with pytest.raises(gl.ProgramError, match=r"finaliser of Huge.huge gave \d{22}; its aggregator holds"):
        gl.run(Huge(), graph, max_iterations=1, **mode)


class Without(Huge):
    huge = None  # type: ignore[assignment]


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_a_subclass_may_leave_an_aggregator_out(mode: dict[str, Any]) -> None:
    result = gl.run(Without(), gl.Graph.from_edges([0], [1]), max_iterations=1, **mode)
    assert result.aggregates == {}


class Surveyed(gl.VertexProgram):
    """A long field that nothing but a survey reads."""

    class Vertex(gl.Vertex):
        shape: gl.Vector = gl.field(shape=100)

    @gl.aggregator(every=3)
    def survey(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return v.shape[0] + 2.0 * nbr.shape[99]

    def apply(self, v: Vertex) -> None:
        v.shape = v.shape + 1.0


def surveyed(comm: Comm) -> tuple[list[int], list[float]]:
    graph = gl.Graph.from_edges([k % 5 for k in range(40)], [k * 7 % 11 for k in range(40)], comm=comm)
    history = gl.run(Surveyed(), graph, max_iterations=7).history
    return [row["bytes_sent"] for row in history], [row["survey"] for row in history]


def test_what_only_a_survey_reads_travels_when_it_is_due(ranks: Ranks) -> None:
    found = ranks.run(surveyed)
    sent = [sum(by_rank) for by_rank in zip(*(one for one, _ in found), strict=True)]
    assert all(surveys == [0.0, 0.0, 360.0, 360.0, 360.0, 720.0, 720.0] for _, surveys in found)
    usual = sent[0]
    assert [n > usual + 800 for n in sent] == [ranks.size > 1 and k in (2, 5) for k in range(7)]


def test_every_is_no_single_phase() -> None:
    with pytest.raises(gl.UsageError, match=r"every=gl.Phase means all of them"):
        gl.aggregator(every=gl.Phase())(lambda self, v: 1)  # type: ignore[call-overload]


@pytest.mark.parametrize("every", [0, -1, 2.5, True])
def test_every_is_a_whole_number(every: Any) -> None:
    with pytest.raises(gl.UsageError, match=r"aggregator\(every=.*\): a whole number "):

        @gl.aggregator(every=every)
        def size(self: Any, v: Any) -> int:
            return 1


class Seldom(gl.VertexProgram):
    period: int = 2
    share: float = 0.5

    class Vertex(gl.Vertex):
        time: int = 0

    @gl.aggregator(every="period")
    def latest(self, v: Vertex) -> gl.Max[int]:
        return v.time

    def apply(self, v: Vertex) -> None:
        v.time = self.superstep + 1


def latest(comm: Comm, period: int, mode: dict[str, Any]) -> list[int]:
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=comm)
    result = gl.run(Seldom(period=period), graph, max_iterations=7, **mode)
    return [row["latest"] for row in result.history]


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_a_parameter_says_every_how_many(ranks: Ranks, mode: dict[str, Any]) -> None:
    for period in (1, 3, 9):
        assert ranks.run(latest, period, mode)[0] == [t // period * period for t in range(1, 8)]
    with pytest.raises(gl.UsageError, match=r"Seldom\(period=0\): a whole number "):
        ranks.run(latest, 0, mode)


@pytest.mark.parametrize("name", ["share", "perod", "latest"])
def test_every_names_an_int_parameter(name: str) -> None:
    class Named(Seldom):
        @gl.aggregator(every=name)
        def latest(self, v: Seldom.Vertex) -> gl.Max[int]:
            return v.time

    with pytest.raises(gl.ProgramError, match=f"every='{name}' is not an int parameter of the program; "):
        gl.run(Named(), gl.Graph.from_edges([0], [1]), max_iterations=1)


class Broken(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: int = 0

    @gl.aggregator
    def share(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return 10 // v.x

    def init(self, v: Vertex) -> None:
        v.x = 1 - v.in_degree

    def apply(self, v: Vertex) -> None:
        v.x = 1


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_a_fault_over_an_edge_names_its_source(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([3, 5], [5, 7])
    with pytest.raises(gl.ExecutionError, match="Broken failed at vertex 5 in superstep 0: integer division"):
        gl.run(Broken(), graph, max_iterations=1, **mode)


@pytest.mark.parametrize("thing", [3, None, staticmethod(abs), gl.aggregator(lambda self, v: 1)])
def test_only_a_def_finalises(thing: object) -> None:
    aggregator = gl.aggregator(lambda self, v: 1)
    with pytest.raises(UsageError, match=r"finalize is given a \w+; put it above a def$"):
        aggregator.finalize(thing)  # type: ignore[attr-defined]


class Helped(gl.VertexProgram):
    """Reads parts of aggregates in helpers, one within another."""

    class Vertex(gl.Vertex):
        x: float = 0.0
        rest: gl.Vector = gl.field(shape=3)

    class Tally(gl.Accumulator):
        often: gl.Vector = gl.field(shape=3, dtype=int)
        all: int
        last: gl.ArgMax[int, gl.VertexId]

    @gl.aggregator
    def tally(self, v: Vertex) -> Tally:
        return self.Tally(often=gl.at(v.in_degree), all=1, last=(v.in_degree, v.id))

    @gl.aggregator
    def first(self, v: Vertex) -> gl.ArgMin[int, gl.VertexId]:
        return v.in_degree, v.id

    def share(self, k: int) -> float:
        return self.tally.often[k] / self.tally.all

    def others(self) -> gl.Vector:
        return self.tally.all - self.tally.often

    def of_ends(self, v: Vertex) -> float:
        degree, vertex = self.tally.last
        if vertex == v.id:
            return 10.0 * degree
        return 100.0 if self.first[1] == v.id else self.share(v.in_degree) + np.max(self.tally.often)

    def apply(self, v: Vertex) -> None:
        v.x = self.of_ends(v)
        v.rest = self.others()


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted", "reference"])
def test_helpers_read_parts_of_aggregates(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([1, 1, 2, 3], [2, 3, 4, 4])
    table = gl.run(Helped(), graph, max_iterations=1, **mode).vertices
    assert table.to_dict("x") == {1: 100.0, 2: 2.5, 3: 2.5, 4: 20.0}
    assert table.to_dict("rest")[1] == [3.0, 2.0, 3.0]
