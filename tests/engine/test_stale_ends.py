"""How runs with bounded staleness end: at fixed points, at limits, where no vertex starts, and by faults."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.asynchronous.test_asynchronous import hubs
from tests.engine.test_stale import slowly
from tests.mpi.ranks import Ranks
from tests.support import stale_programs, unordered_programs
from tests.support.delays import slow


def many_ends(comm: Comm, runs: int) -> int:
    """Run again and again with batches that lie about; return in how many runs something was lost."""
    drawn = hubs(30, 90, 1)
    graph = drawn.build(comm, "random")
    due = np.bincount([target for _, target in drawn.edges], minlength=len(drawn.ids)).tolist()
    lost = 0
    for k in range(runs):
        with slowly(comm, k):
            result = gl.run(unordered_programs.Parcels(), graph, engine=gl.Stale(k % 4))
        lost += result.vertices["got"].tolist() != due or not result.converged
    return lost


@pytest.mark.slow
def test_the_end_is_never_early_and_always_comes(ranks: Ranks) -> None:
    assert ranks.run(many_ends, 24, timeout=120) == [0] * ranks.size


# ---- limits and errors -----------------------------------------------------------------------------


def limits(comm: Comm) -> list[Any]:
    graph = hubs().build(comm)
    warned = pytest.warns(gl.errors.ConvergenceWarning) if not comm.rank else contextlib.nullcontext()
    with warned:
        few = gl.run(unordered_programs.Restless(), graph, engine=gl.Stale(2), max_iterations=7)
    enough = gl.run(unordered_programs.Sated(), graph, engine=gl.Stale(2))
    nothing = gl.run(unordered_programs.Labels(), graph, engine=gl.Stale(1), max_iterations=99)
    with pytest.raises(gl.errors.TimeoutExpired, match=r"Restless ran out of 0.2 s "):
        gl.run(unordered_programs.Restless(), graph, engine=gl.Stale(2), timeout=0.2)
    return [
        few.iterations, few.converged, len(few.history), enough.converged, enough.aggregates["most"],
        enough.iterations - next(row["superstep"] for row in enough.history if row["most"] >= 50),
        nothing.converged, nothing.iterations, len(nothing.history), nothing.history[-1]["active"] > 0,
    ]  # fmt: skip


def nobody_starts(comm: Comm) -> list[tuple[int, int, bool]]:
    graph = gl.Graph.generate("grid", rows=4, columns=4, comm=comm)
    found = []
    for how in ({}, {"engine": gl.Stale(0)}, {"engine": gl.Stale(2)}):
        result = gl.run(stale_programs.NobodyStarts(), graph, max_iterations=9, **how)  # type: ignore[arg-type]
        found.append((int(result.vertices["turns"].sum()), result.iterations, result.converged))
    return found


def test_where_no_vertex_starts_none_runs(ranks: Ranks) -> None:
    assert ranks.run(nobody_starts) == [[(0, 0, True)] * 3] * ranks.size


class Once(gl.VertexProgram):
    """Every vertex runs, and signals none."""

    class Vertex(gl.Vertex):
        n: int = 0

    @gl.aggregator
    def whole(self, v: Vertex) -> gl.Sum[int]:
        return v.n

    def start(self, v: Vertex) -> bool:
        return v.n == 0

    def apply(self, v: Vertex) -> None:
        v.n += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.n > 1:
            nbr.signal()


def ended(comm: Comm) -> list[bool]:
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 3], comm=comm)
    ways: list[dict[str, Any]] = [{"engine": "sync"}, {"engine": gl.Stale(0)}]
    return [gl.run(Once(), graph, max_iterations=1, **way).converged for way in ways]


def test_a_limit_is_none_where_no_vertex_is_left(ranks: Ranks) -> None:
    assert ranks.run(ended)[0] == [True, True]


def test_limits_end_a_run_on_all_ranks_at_one_superstep(ranks: Ranks) -> None:
    figures = ranks.run(limits)
    assert all(one == figures[0] for one in figures)
    iterations, limited, rows, done, most, after, converged, ran, shown, last = figures[0]
    assert (iterations, limited, rows) == (7, False, 7)
    assert done
    assert most >= 50
    assert after == 3  # the superstep that said so, and `staleness` more
    assert converged
    assert ran == shown < 99
    assert last


def fails(comm: Comm) -> tuple[list[int], list[int]]:
    """Let runs fail with batches on the road; return what a later run finds, and what it should."""
    drawn = hubs(40, 160)
    graph = drawn.build(comm, "random")
    ending = gl.Graph.from_edges([1, 2, 3], [2, 3, 4], comm=comm)
    for staleness, (program, where, text) in itertools.product(
        (0, 2),
        (
            (unordered_programs.Divides(), ending, r"Divides failed at vertex 4 .*division"),
            (unordered_programs.Trips(), graph, r"Trips failed .*in superstep 30"),
        ),
    ):
        with pytest.raises(gl.errors.ExecutionError, match=text):
            gl.run(program, where, engine=gl.Stale(staleness))
        with pytest.raises(ZeroDivisionError):
            gl.run(stale_programs.BadDone(), graph, engine=gl.Stale(staleness))
    expected = np.bincount([target for _, target in drawn.edges], minlength=len(drawn.ids))
    found = gl.run(unordered_programs.Parcels(), graph, engine=gl.Stale(1))
    return found.vertices["got"].tolist(), expected.tolist()


def test_a_fault_is_raised_on_every_rank_and_leaves_nothing_on_the_road(ranks: Ranks) -> None:
    for found, expected in ranks.run(fails):
        assert found == expected


def raises_with_delays(comm: Comm) -> bool:
    graph = hubs(40, 160).build(comm, "random")
    for seed in range(12):
        with slow(comm, seed), pytest.raises(ZeroDivisionError):
            gl.run(stale_programs.BadDone(), graph, engine=gl.Stale(1 + seed % 3))
    return True


def test_no_rank_waits_for_one_that_has_raised(ranks: Ranks) -> None:
    """One that is ahead waits for values of the rank that has seen the fault first."""
    assert all(ranks.run(raises_with_delays))
