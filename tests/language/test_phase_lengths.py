"""Phases that are as long as an int parameter says."""

from __future__ import annotations

from typing import Any

import pytest

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

MODES: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]
NAMES = ["compiled", "interpreted", "reference"]


class Chain(gl.VertexProgram):
    """Both phases as long as parameters say; the first sends what the second takes, too."""

    steps: int = 3
    rounds: int = 1
    repeat_phases = "rounds"

    class Vertex(gl.Vertex):
        n: int = 1
        heard: int = 0

    @gl.aggregator(every=gl.Phase)
    def most(self, v: Vertex) -> gl.Max[int]:
        return v.n

    def is_even(self, v: Vertex) -> bool:
        return v.index % 2 == 0

    def double(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.n = 2 * v.n
        v.heard += message
        v.signal(1)

    def add(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.n += 1
        v.heard += message

    phases = (gl.Phase(start=is_even, apply=double, supersteps="steps"), gl.Phase(apply=add, supersteps=1))


class Late(Chain):
    """The second phase alone is as long as a parameter says, unless its `done` comes before."""

    def enough(self) -> bool:
        return self.phase_step >= 4

    phases = (
        gl.Phase(apply=Chain.add, supersteps=1),
        gl.Phase(start=Chain.is_even, apply=Chain.double, done=enough, supersteps="steps"),
    )


class Falls(gl.VertexProgram):
    """A phase that kernels run by themselves, superstep after superstep."""

    far: int = 4

    class Vertex(gl.Vertex):
        level: int = -1

    def is_first(self, v: Vertex) -> bool:
        return v.index == 0

    def arrive(self, v: Vertex) -> None:
        v.level = self.phase_step

    def go_on(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal()

    def look(self, v: Vertex) -> None:
        v.level += 100

    phases = (
        gl.Phase(start=is_first, apply=arrive, scatter=go_on, supersteps="far"),
        gl.Phase(apply=look, supersteps=1),
    )


def shown(result: Any) -> tuple[Any, ...]:
    names = [name for name in ("n", "heard", "level") if name in result.vertices]
    phases = [row["phase"] for row in result.history]
    return [result.vertices[name].tolist() for name in names], phases, result.converged, result.aggregates


def chain(n: int, comm: Comm | None = None) -> gl.Graph:
    return gl.Graph.from_edges(range(n - 1), range(1, n), comm=comm)


def run_each(comm: Comm, mode: dict[str, Any]) -> list[Any]:
    graph = chain(4, comm)
    programs = [
        Chain(), Chain(steps=1, rounds=2), Chain(steps=0), Chain(steps=0, rounds=3), Chain(rounds=0),
        Late(), Late(steps=9), Late(steps=0, rounds=2),
    ]  # fmt: skip
    found = [shown(gl.run(program, graph, **mode)) for program in programs]
    with gl.prepare(Chain(), graph, **mode) as job:
        found += [shown(job.run(steps=k)) for k in (1, 0, 3)]
        found.append(shown(job.run(start={0: 5, 3: 7}, steps=2)))
        found.append(shown(job.run(start={0: 5, 3: 7}, steps=0)))
    return found


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_a_phase_is_as_long_as_its_parameter_says(ranks: Ranks, mode: dict[str, Any]) -> None:
    def of(n: list[int], heard: list[int], phases: list[int]) -> tuple[Any, ...]:
        return [n, heard], phases, True, {"most": max(n)}

    expected = [
        of([9, 2, 9, 2], [3, 0, 3, 0], [0, 0, 0, 1]),
        of([7, 3, 7, 3], [2, 0, 2, 0], [0, 1, 0, 1]),
        of([2] * 4, [0] * 4, [1]),
        of([4] * 4, [0] * 4, [1] * 3),
        of([1] * 4, [0] * 4, []),
        of([16, 2, 16, 2], [2, 0, 2, 0], [0, 1, 1, 1]),
        of([64, 2, 64, 2], [4, 0, 4, 0], [0, 1, 1, 1, 1, 1]),
        of([3] * 4, [0] * 4, [0, 0]),
        of([3, 2, 3, 2], [1, 0, 1, 0], [0, 1]),
        of([2] * 4, [0] * 4, [1]),
        of([9, 2, 9, 2], [3, 0, 3, 0], [0, 0, 0, 1]),
        of([5, 2, 2, 5], [7, 0, 0, 9], [0, 0, 1]),
        of([2] * 4, [5, 0, 0, 7], [1]),
    ]
    assert ranks.run(run_each, mode) == [expected] * ranks.size


def fall(comm: Comm, mode: dict[str, Any]) -> list[Any]:
    with gl.prepare(Falls(), chain(6, comm), **mode) as job:
        return [shown(job.run(far=k))[0][0] for k in (4, 1, 0, 300)]


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_supersteps_in_a_kernel_are_counted(ranks: Ranks, mode: dict[str, Any]) -> None:
    expected = [
        [100, 101, 102, 103, 99, 99], [100, 99, 99, 99, 99, 99], [99] * 6, [100, 101, 102, 103, 104, 105],
    ]  # fmt: skip
    assert ranks.run(fall, mode) == [expected] * ranks.size


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_a_start_that_fails_is_not_asked_where_its_phase_does_not_run(mode: dict[str, Any]) -> None:
    class Fails(Chain):
        def fails(self, v: Chain.Vertex) -> bool:
            return 1 // v.heard == 0

        phases = (
            gl.Phase(start=fails, apply=Chain.double, supersteps="steps"),
            gl.Phase(apply=Chain.add, supersteps=1),
        )

    assert gl.run(Fails(steps=0), chain(3), **mode).vertices["n"].tolist() == [2, 2, 2]
    with pytest.raises(gl.ExecutionError, match="division"):
        gl.run(Fails(), chain(3), **mode)


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_the_limit_ends_a_phase_before_its_parameter_does(mode: dict[str, Any]) -> None:
    with pytest.warns(gl.ConvergenceWarning):
        result = gl.run(Chain(steps=5), chain(3), max_iterations=2, **mode)
    assert shown(result)[0] == [[4, 1, 4], [1, 0, 1]]
    assert gl.run(Chain(steps=0), chain(3), max_iterations=1, **mode).converged


def refused(comm: Comm, mode: dict[str, Any]) -> list[str]:
    found = []
    with gl.prepare(Chain(), chain(3, comm), **mode) as job:
        for k in (-1, 1.5, "3", True):
            with pytest.raises(UsageError) as caught:
                job.run(steps=k)
            found.append(str(caught.value))
    return found


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_other_values_are_refused_on_every_rank(ranks: Ranks, mode: dict[str, Any]) -> None:
    expected = [
        "Chain(steps=-1): a whole number of at least 0 is needed",
        "Chain(steps=1.5): a whole number is needed, not float",
        "Chain(steps='3'): a whole number is needed, not str",
        "Chain(steps=True): a whole number is needed, not bool",
    ]
    assert ranks.run(refused, mode) == [expected] * ranks.size
