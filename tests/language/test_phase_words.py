"""Phases that are repeated, the superstep within a phase, and messages that one phase leaves to the next."""

from __future__ import annotations

import warnings
from typing import Any
from unittest import mock

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine.sync.kernel_steps import KernelSteps
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

MODES: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]
NAMES = ["compiled", "interpreted", "reference"]


class Doubling(gl.VertexProgram):
    rounds: int = 3
    enough: int = 1 << 40
    repeat_phases = "rounds"

    class Vertex(gl.Vertex):
        n: int = 1

    @gl.aggregator(every=gl.Phase)
    def whole(self, v: Vertex) -> gl.Max[int]:
        return v.n

    def double(self, v: Vertex) -> None:
        v.n = 2 * v.n

    def more(self, v: Vertex) -> None:
        v.n += 1

    phases = (gl.Phase(apply=double, supersteps=2), gl.Phase(apply=more, supersteps=1))


class UntilEnough(Doubling):
    def done(self) -> bool:
        return self.whole >= self.enough


class Five(Doubling):
    repeat_phases = 5  # type: ignore[assignment]


def run_each(comm: Comm, programs: list[gl.VertexProgram], mode: dict[str, Any]) -> list[Any]:
    graph, found = gl.Graph.from_edges([0, 1, 2], [1, 2, 3], comm=comm), []
    for program in programs:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # none says that the run has not converged
            result = gl.run(program, graph, **mode)
        found.append((set(result.vertices["n"].tolist()), result.iterations, result.converged))
    return found


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_phases_run_so_often(ranks: Ranks, mode: dict[str, Any]) -> None:
    programs = [Doubling(), Doubling(rounds=1), Five(), UntilEnough(rounds=9, enough=20), UntilEnough()]
    expected = [({85}, 9, True), ({5}, 3, True), ({1365}, 15, True), ({21}, 6, True), ({85}, 9, True)]
    programs += [Doubling(rounds=0), UntilEnough(rounds=0)]
    expected += [({1}, 0, True)] * 2
    assert ranks.run(run_each, programs, mode) == [expected] * ranks.size


def test_a_number_of_rounds_that_is_none() -> None:
    graph = gl.Graph.from_edges([0], [1])
    with pytest.raises(UsageError, match=r"Doubling\(rounds=-1\): a whole number of at least 0 is needed"):
        gl.run(Doubling(rounds=-1), graph)


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_the_limit_comes_before_the_last_round(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([0], [1])
    with pytest.warns(gl.ConvergenceWarning):
        result = gl.run(Doubling(), graph, max_iterations=4, **mode)
    assert (result.iterations, result.converged, result.vertices["n"].tolist()) == (4, False, [10, 10])


# ---- the superstep of a phase ------------------------------------------------------------------------


class Search(gl.VertexProgram):
    """Levels from either end of a path, one after the other: supersteps of one vertex."""

    repeat_phases = 2

    class Vertex(gl.Vertex):
        level: int = -1
        back: int = -1
        when: int = 0

    @gl.aggregator(every=gl.Phase)
    def ran(self, v: Vertex) -> gl.Max[int]:
        return self.phase_step

    def is_first(self, v: Vertex) -> bool:
        return v.index == self.phase_step

    def is_last(self, v: Vertex) -> bool:
        return v.index == self.num_vertices - 1

    def arrive(self, v: Vertex) -> None:
        v.level = self.phase_step
        v.when = self.superstep

    def go_on(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal()

    def return_to(self, v: Vertex) -> None:
        v.back = v.back + self.phase_step + 1

    phases = (
        gl.Phase(start=is_first, apply=arrive, scatter=go_on),
        gl.Phase(start=is_last, apply=return_to, scatter=go_on, scatter_edges=gl.IN),
    )

    def done(self) -> bool:
        assert self.phase_step == self.num_vertices - 1
        assert self.superstep == 2 * self.num_vertices - 1
        return False


def run_search(comm: Comm, n: int, mode: dict[str, Any]) -> tuple[Any, ...]:
    graph = gl.Graph.from_edges(range(n - 1), range(1, n), comm=comm, strategy="chunk")
    counted: list[int] = []
    run = KernelSteps.run

    def count(self: KernelSteps, signalled: np.ndarray, most: int) -> Any:
        ids, ran = run(self, signalled, most)
        counted.append(len(ran))
        return ids, ran

    with mock.patch.object(KernelSteps, "run", count):
        result = gl.run(Search(), graph, **mode)
    fields = [result.vertices[name].tolist() for name in ("level", "back", "when")]
    return *fields, result.iterations, result.aggregates["ran"], sum(counted) > 2 * n


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_the_superstep_within_a_phase(ranks: Ranks, mode: dict[str, Any]) -> None:
    n = 300 if not mode else 30
    level = list(range(n))
    back = [2 * (n - k) - 1 for k in range(n)]
    expected = (level, back, [2 * n + k for k in level], 4 * n, n)
    for found in ranks.run(run_search, n, mode):
        assert found[:-1] == expected
        assert found[-1] or mode or ranks.size > 1  # most supersteps ran in a kernel


class Alone(gl.VertexProgram):
    class Vertex(gl.Vertex):
        same: bool = True

    def apply(self, v: Vertex) -> None:
        v.same = v.same and self.phase_step == self.superstep

    def done(self) -> bool:
        return bool(self.phase_step >= 3)


@pytest.mark.parametrize("mode", [*MODES, {"engine": gl.Stale(0)}], ids=[*NAMES, "stale"])
def test_a_program_without_phases_is_one(mode: dict[str, Any]) -> None:
    result = gl.run(Alone(), gl.Graph.from_edges([0], [1]), max_iterations=9, **mode)
    assert (result.vertices["same"].tolist(), result.iterations) == ([True] * 2, 4)


# ---- messages ----------------------------------------------------------------------------------------


class Relay(gl.VertexProgram):
    """Sums go on to phases of the same kind, past one in which no vertex runs; others drop them."""

    class Letter(gl.Accumulator):
        n: int
        most: gl.Max[int]

    class Same(gl.Accumulator):
        n: int
        most: gl.Max[int]

    class Other(gl.Accumulator):
        n: int
        least: gl.Min[int]

    class Vertex(gl.Vertex):
        summed: int = 0
        lettered: int = 0
        othered: int = 0

    def say(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.summed += message

    def tell(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(10)

    def nobody(self, v: Vertex) -> bool:
        return v.index < 0

    def add(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.summed += message

    def write(self, v: Vertex, message: Letter) -> None:
        v.signal(self.Letter(n=1, most=v.index))

    def read(self, v: Vertex, message: Same) -> None:
        v.lettered += message.n * 100 + max(message.most, -1)

    def other(self, v: Vertex, message: Other) -> None:
        v.othered += message.n
        v.signal(self.Other(n=1, least=3))

    phases = (
        gl.Phase(apply=say, scatter=tell, supersteps=2),
        gl.Phase(start=nobody, apply=add, supersteps=1),
        gl.Phase(apply=add, supersteps=2),
        gl.Phase(apply=write, supersteps=1),
        gl.Phase(apply=read, supersteps=1),
        gl.Phase(apply=other, supersteps=1),
        gl.Phase(apply=say, scatter=tell, supersteps=1),
        gl.Phase(apply=write, supersteps=1),
        gl.Phase(apply=add, supersteps=1),
    )


def run_relay(comm: Comm, mode: dict[str, Any]) -> Any:
    graph = gl.Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 3, 3, 0], comm=comm, strategy="random")
    result = gl.run(Relay(), graph, **mode)
    return result.vertices.to_dict(), [row["phase"] for row in result.history]


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_messages_wait_for_a_phase_of_their_kind(ranks: Ranks, mode: dict[str, Any]) -> None:
    expected = {
        v: {"summed": 2 * heard, "lettered": 100 + v, "othered": 0}
        for v, heard in enumerate([10, 10, 10, 20])
    }
    phases = [0, 0, 2, 2, 3, 4, 5, 6, 7, 8]
    assert ranks.run(run_relay, mode) == [(expected, phases)] * ranks.size


# ---- aggregators after scatter -----------------------------------------------------------------------


class Tolls(gl.VertexProgram):
    """What scatter wrote is known in the next superstep, and by done at once."""

    class Vertex(gl.Vertex):
        seen: int = -1
        before: int = -1

    class Edge(gl.Edge):
        paid: int = 0

    @gl.aggregator(after="scatter")
    def paid(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return e.paid

    @gl.aggregator
    def early(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return e.paid

    @gl.aggregator(after="scatter", every=2)
    def seldom(self, v: Vertex) -> gl.Max[int]:
        return v.seen

    @seldom.finalize
    def _(self, total: int) -> int:
        return total * 10 + self.superstep % 10

    def apply(self, v: Vertex) -> None:
        v.seen, v.before = self.paid, self.early

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.paid += 1
        nbr.signal()

    def done(self) -> bool:
        return self.paid >= 12


def run_tolls(comm: Comm, mode: dict[str, Any]) -> Any:
    graph = gl.Graph.from_edges([0, 1, 2, 0], [1, 2, 0, 2], comm=comm)
    result = gl.run(Tolls(), graph, **mode)
    rows = [(row["paid"], row["early"], row["seldom"]) for row in result.history]
    seen, before = (result.vertices[name].tolist() for name in ("seen", "before"))
    return rows, result.initial_aggregates, seen, before


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_an_aggregator_after_scatter(ranks: Ranks, mode: dict[str, Any]) -> None:
    rows = [(4, 0, -10), (8, 4, 41), (12, 8, 41)]
    expected = (rows, {"paid": 0, "early": 0, "seldom": -10}, [8] * 3, [4] * 3)
    assert ranks.run(run_tolls, mode) == [expected] * ranks.size


@pytest.mark.parametrize("engine", [gl.Async(), gl.Stale(2)], ids=["async", "stale"])
def test_after_scatter_belongs_to_supersteps(engine: Any) -> None:
    with pytest.raises(UsageError, match=r"an aggregator after scatter .*; leave out after="):
        gl.run(Tolls(), gl.Graph.from_edges([0], [1]), engine=engine)


def test_what_after_cannot_be() -> None:
    with pytest.raises(UsageError, match=r"aggregator\(after='apply_'\) is unknown; did you mean 'apply'"):
        gl.aggregator(after="apply_")(lambda self, v: 0)
    with pytest.raises(UsageError, match=r"aggregator\(every=gl.Phase, after='scatter'\): a phase is over"):
        gl.aggregator(every=gl.Phase, after="scatter")(lambda self, v: 0)


# ---- small words -------------------------------------------------------------------------------------


class Bits(gl.VertexProgram):
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        place: int = 0
        around: int = 0
        bits: int = 0
        least: int = 0
        of_all: gl.Vector = gl.field(shape=3, dtype=int)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return (1 << nbr.index) | (1 << v.index)

    def apply(self, v: Vertex, total: int) -> None:
        v.place = v.index
        v.around = total
        v.bits = 10 * (-total).bit_count() + total.bit_count()
        v.least = (-1 << 63).bit_count() * 1000 + np.bitwise_count(~0 ^ (1 << 63)) + (v.place - 2).bit_count()
        v.of_all[0] = -7
        v.of_all[1] = total
        v.of_all = np.bitwise_count(v.of_all) * 300


def run_bits(comm: Comm, names: list[Any], mode: dict[str, Any]) -> Any:
    a, b, c = names
    graph = gl.Graph.from_edges([c, a], [a, b], comm=comm, strategy="random")
    return gl.run(Bits(), graph, max_iterations=1, **mode).vertices.to_dict()


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@pytest.mark.parametrize("names", [["b", "d", "x"], [-70, 4, 10**12]], ids=["text", "sparse"])
def test_places_and_bits(ranks: Ranks, names: list[Any], mode: dict[str, Any]) -> None:
    around = [0b101 + 0b011, 0b011, 0b101]
    expected = {
        name: {
            "place": k,
            "around": total,
            "bits": 11 * total.bit_count(),
            "least": 1063 + (k - 2).bit_count(),
            "of_all": [900, 300 * total.bit_count(), 0],
        }
        for k, (name, total) in enumerate(zip(names, around, strict=True))
    }
    assert ranks.run(run_bits, names, mode) == [expected] * ranks.size
