"""Without supersteps: the same fixed points, scopes that exclude neighbours, an end that is found."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.engine.asynchronous.driver import AsynchronousDriver
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.programs import additive, directions, lists, signals, signals_by_id
from tests.programs.gathers import Rank
from tests.support import stale_programs
from tests.support import unordered_programs as programs
from tests.support.graphs import STRATEGIES, Drawn, graphs, hubs
from tests.support.scopes import overlaps

WAYS = [
    ("relaxed", "fifo"), ("relaxed", "sweep"), ("relaxed", "random"),
    ("serialisable", "fifo"), ("serialisable", "sweep"), ("serialisable", "random"),
]  # fmt: skip


class Recorded(AsynchronousDriver):
    """Keeps the times of all locks, and itself."""

    last: Any = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments, watch=True)
        Recorded.last = self


def outcome(
    comm: Comm, drawn: Drawn, ways: list[tuple[str, str]], strategy: str
) -> list[tuple[dict[Any, Any], dict[Any, Any]]]:
    """Return what the asynchronous and the synchronous engine find, program by program and way by way."""
    graph = drawn.build(comm, strategy)
    source = drawn.ids[0]
    compared = []
    for consistency, scheduler in ways:
        engine = gl.Async(consistency=consistency, scheduler=scheduler)
        program: gl.VertexProgram
        for program, field in (
            (programs.Paths(source=source), "distance"),
            (programs.Labels(), "part"),
            (programs.Parcels(), "got"),
        ):
            found, expected = gl.run(program, graph, engine=engine), gl.run(program, graph)
            assert found.converged
            compared.append((found.vertices.to_dict(field), expected.vertices.to_dict(field)))
        program = programs.Urgent(source=source)
        found = gl.run(program, graph, engine=gl.Async(consistency=consistency))
        compared.append(
            (found.vertices.to_dict("distance"), gl.run(program, graph).vertices.to_dict("distance"))
        )
    return compared


@pytest.mark.slow
@settings(max_examples=max(settings.default.max_examples // 3, 2))
@given(drawn=graphs(), way=st.sampled_from(WAYS), strategy=st.sampled_from(STRATEGIES))
def test_fixed_points_are_those_of_supersteps(ranks: Ranks, drawn: Drawn, way: Any, strategy: str) -> None:
    drawn = Drawn(
        drawn.ids, drawn.edges, {"weight": [k % 7 + 0.5 for k in range(len(drawn.edges))]}, drawn.directed
    )
    if not drawn.directed:  # Parcels looks at an edge from its source
        drawn = Drawn(drawn.ids, drawn.edges, drawn.columns, True)
    for compared in ranks.run(outcome, drawn, [way], strategy):
        for found, expected in compared:
            assert found == expected


@pytest.mark.slow
def test_every_way_finds_the_fixed_points_of_a_graph_with_hubs(ranks: Ranks) -> None:
    for compared in ranks.run(outcome, hubs(), WAYS, "random"):
        for found, expected in compared:
            assert found == expected


def ranking(comm: Comm, drawn: Drawn) -> list[tuple[float, bool, float]]:
    graph = drawn.build(comm)
    answers = []
    exact = gl.run(programs.Ranked(tolerance=1e-13), graph).vertices["score"]
    for consistency, scheduler in WAYS[::2]:
        result = gl.run(
            programs.Ranked(tolerance=1e-8),
            graph,
            engine=gl.Async(consistency=consistency, scheduler=scheduler),
        )
        error = float(np.abs(result.vertices["score"] - exact).max())
        answers.append((error, result.converged, abs(result.aggregates["most"] - exact.max())))
    return answers


@pytest.mark.slow
def test_pagerank_by_signals_comes_within_its_tolerance(ranks: Ranks) -> None:
    for answers in ranks.run(ranking, hubs()):
        for error, converged, most in answers:
            assert converged
            assert error < 1e-5
            assert most < 1e-5


def colouring(comm: Comm, drawn: Drawn, strategy: str, scheduler: str) -> tuple[int, int, bool, int]:
    """Return the edges of one colour, overlaps of scopes here, whether all ran once, the number of locks."""
    graph = drawn.build(comm, strategy)
    module = importlib.import_module("gaslab.engine.execute")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "AsynchronousDriver", Recorded)
        result = gl.run(
            programs.Once(), graph, engine=gl.Async(consistency="serialisable", scheduler=scheduler)
        )
    colour = result.vertices.to_dict("colour")
    wrong = sum(colour[u] == colour[w] for u, w in drawn.edges if u != w)
    turns = result.vertices["turns"]
    locks = Recorded.last.machine.locks()
    return wrong, overlaps(graph.local, locks), bool((turns == 1).all()), len(locks)


@pytest.mark.slow
@pytest.mark.parametrize("scheduler", ["fifo", "sweep", "random"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
def test_no_two_neighbours_hold_their_scopes_at_once(hosts: Any, size: int, scheduler: str) -> None:
    for seed, strategy in enumerate(["random", "1d"]):
        drawn = hubs(150, 500, seed)
        for wrong, overlapped, all_ran, locks in hosts(size).run(colouring, drawn, strategy, scheduler):
            assert wrong == 0
            assert overlapped == 0
            assert all_ran
            assert locks > 0 or size == 1


# ---- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "options", "message"),
    [
        (Rank(), {}, "no signals decide which vertices run"),
        (signals.Parts(), {}, "its methods read self.superstep"),
        (lists.Labels(), {}, "cannot run with engine='async'"),
        (signals_by_id.Jumping(), {}, "it signals vertices by their ids"),
        (additive.Falls(), {}, "its scatter adds to fields"),
        (directions.Ways(), {}, "its directions depend on the vertex"),
        (gl.programs.Components(), {}, "it has several phases"),
        (stale_programs.OnePhase(), {}, "it has `phases`; remove them and name its methods gather"),
        (programs.Labels(), {"engine": gl.Async("priority")}, "needs signals with priority="),
        (programs.Labels(), {"max_iterations": 3}, r"give engine=gl.Async\(max_updates=...\)"),
        (programs.Labels(), {"trace": [1]}, "trace= follows supersteps"),
        (programs.Labels(), {"compile": "never"}, "runs compiled programs only"),
    ],
)
def test_what_cannot_run_so_is_refused(program: Any, options: dict[str, Any], message: str) -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(gl.errors.UsageError, match=message):
        gl.run(program, graph, **{"engine": "async", **options})
