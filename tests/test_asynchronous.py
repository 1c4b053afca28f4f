"""Without supersteps: the same fixed points, scopes that keep neighbours apart, an end that is found."""

from __future__ import annotations

import contextlib
import importlib
import itertools
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.comm import Comm
from gaslab.engine.asynchronous import Asynchronous
from gaslab.mail import Mail, MPIMail
from tests import unordered_programs as programs
from tests.graphs import STRATEGIES, Drawn, graphs
from tests.mpi.ranks import Ranks
from tests.zoo import additive, caches, control, letters, lists, signals
from tests.zoo.gathers import Rank

WAYS = [
    ("relaxed", "fifo"), ("relaxed", "sweep"), ("relaxed", "random"),
    ("serialisable", "fifo"), ("serialisable", "sweep"), ("serialisable", "random"),
]  # fmt: skip


class Watched(Asynchronous):
    """Keeps the times of all locks, and itself."""

    last: Any = None

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments, watch=True)
        Watched.last = self


class SlowMail(MPIMail):
    """Lets batches lie for a while, in the order in which they came."""

    lying: list[tuple[int, np.ndarray]]
    delivered = 0
    chance = random.Random()

    def collect(self) -> list[tuple[int, np.ndarray]]:
        lying = [*vars(self).get("lying", []), *super().collect()]
        count = self.chance.randint(0, len(lying))
        self.lying = lying[count:]
        self.delivered += count
        self.received = self.delivered
        return lying[:count]


def hubs(n: int = 60, edges: int = 400, seed: int = 3) -> Drawn:
    chance = np.random.default_rng(seed)
    ends = np.stack([chance.integers(0, n, edges), chance.integers(0, n, edges) ** 3 // n**2])
    weights = chance.integers(1, 40, edges) / 4
    return Drawn(list(range(n)), list(map(tuple, ends.T.tolist())), {"weight": weights.tolist()}, True)


def overlaps(asynchronous: Any) -> int:
    """Count the edges here both of whose ends held their scopes at once."""
    local, scopes = asynchronous.graph.local, asynchronous.machine.locks()
    held: dict[int, list[tuple[int, int]]] = {}
    for v, begin, end in scopes.tolist():
        held.setdefault(v, []).append((begin, end))
    count = 0
    for w, u in zip(local.targets().tolist(), local.in_neighbor.tolist(), strict=True):
        for (a, b), (c, d) in itertools.product(held.get(u, []), held.get(w, [])):
            count += u != w and a < d and c < b
    return count


def outcome(
    comm: Comm, drawn: Drawn, ways: list[tuple[str, str]], strategy: str
) -> list[tuple[dict[Any, Any], dict[Any, Any]]]:
    """Return what the asynchronous and the synchronous engine find, program by program and way by way."""
    graph = drawn.build(comm, strategy)
    source = drawn.ids[0]
    compared = []
    for consistency, scheduler in ways:
        urgent = {"engine": "async", "consistency": consistency}
        options = {**urgent, "scheduler": scheduler}
        program: gl.VertexProgram
        for program, field in (
            (programs.Paths(source=source), "distance"),
            (programs.Labels(), "part"),
            (programs.Parcels(), "got"),
        ):
            found, expected = gl.run(program, graph, **options), gl.run(program, graph)
            assert found.converged
            compared.append((found.vertices.to_dict(field), expected.vertices.to_dict(field)))
        program = programs.Urgent(source=source)
        found = gl.run(program, graph, engine="async", consistency=consistency)
        compared.append(
            (found.vertices.to_dict("distance"), gl.run(program, graph).vertices.to_dict("distance"))
        )
    return compared


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


def test_every_way_finds_the_fixed_points_of_a_graph_with_hubs(ranks: Ranks) -> None:
    for compared in ranks.run(outcome, hubs(), WAYS, "random"):
        for found, expected in compared:
            assert found == expected


def ranking(comm: Comm, drawn: Drawn) -> list[tuple[float, bool, float]]:
    graph = drawn.build(comm)
    told = []
    exact = gl.run(programs.Ranked(tolerance=1e-13), graph).vertices["score"]
    for consistency, scheduler in WAYS[::2]:
        result = gl.run(
            programs.Ranked(tolerance=1e-8),
            graph,
            engine="async",
            consistency=consistency,
            scheduler=scheduler,
        )
        error = float(np.abs(result.vertices["score"] - exact).max())
        told.append((error, result.converged, abs(result.aggregates["most"] - exact.max())))
    return told


def test_pagerank_by_signals_comes_within_its_tolerance(ranks: Ranks) -> None:
    for told in ranks.run(ranking, hubs()):
        for error, converged, most in told:
            assert converged
            assert error < 1e-5
            assert most < 1e-5


def colouring(comm: Comm, drawn: Drawn, strategy: str, scheduler: str) -> tuple[int, int, bool, int]:
    """Return the edges of one colour, overlaps of scopes here, whether all ran, the number of locks."""
    graph = drawn.build(comm, strategy)
    module = importlib.import_module("gaslab.engine.run")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "Asynchronous", Watched)
        result = gl.run(
            programs.Colours(), graph, engine="async", consistency="serialisable", scheduler=scheduler
        )
    colour = result.vertices.to_dict("colour")
    wrong = sum(colour[u] == colour[w] for u, w in drawn.edges if u != w)
    turns = result.vertices["turns"]
    return wrong, overlaps(Watched.last), bool((turns >= 1).all()), len(Watched.last.machine.locks())


@pytest.mark.parametrize("scheduler", ["fifo", "sweep", "random"])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 8])
def test_no_two_neighbours_hold_their_scopes_at_once(hosts: Any, size: int, scheduler: str) -> None:
    for seed in range(3 if size < 8 else 1):
        for strategy in ("random", "1d"):
            drawn = hubs(150, 500, seed)
            for wrong, overlapped, all_ran, locks in hosts(size).run(colouring, drawn, strategy, scheduler):
                assert wrong == 0
                assert overlapped == 0
                assert all_ran
                assert locks > 0 or size == 1


def slowly(comm: Comm, drawn: Drawn, runs: int, seed: int) -> int:
    """Run again and again with batches that lie about; return in how many runs a parcel was lost."""
    graph = drawn.build(comm, "random")
    degree = np.zeros(len(drawn.ids), int)
    for _, target in drawn.edges:
        degree[target] += 1
    SlowMail.chance.seed(seed + comm.rank)
    mail = comm.mail

    def slow() -> Mail:
        made = mail()
        made.__class__ = SlowMail
        return made

    comm.mail = slow  # type: ignore[method-assign]
    lost = 0
    try:
        for k in range(runs):
            consistency = "serialisable" if k % 4 == 0 else "relaxed"
            result = gl.run(programs.Parcels(), graph, engine="async", consistency=consistency)
            lost += result.vertices["got"].tolist() != degree.tolist()
    finally:
        comm.mail = mail  # type: ignore[method-assign]
    return lost


def test_the_end_is_never_early_and_always_comes(ranks: Ranks) -> None:
    if ranks.size == 1:
        pytest.skip("nothing is under way on one rank")
    assert ranks.run(slowly, hubs(30, 90, 1), 60, 5, timeout=120) == [0] * ranks.size


# ---- limits and errors -----------------------------------------------------------------------------


def limits(comm: Comm) -> tuple[int, bool, float, bool]:
    graph = hubs().build(comm)
    warned = pytest.warns(gl.errors.ConvergenceWarning) if not comm.rank else contextlib.nullcontext()
    with warned:
        few = gl.run(programs.Restless(), graph, engine="async", max_updates=500)
    enough = gl.run(programs.Sated(), graph, engine="async")
    with pytest.raises(gl.errors.TimeoutExpired, match=r"Restless ran out of 0.2 s after \d+ updates"):
        gl.run(programs.Restless(), graph, engine="async", timeout=0.2)
    return few.metrics["updates"], few.converged, enough.aggregates["most"], enough.converged


def test_limits_end_a_run_that_would_not_end(ranks: Ranks) -> None:
    for updates, limited, most, done in ranks.run(limits):
        assert updates == 500 if ranks.size == 1 else updates >= 500
        assert not limited
        assert most >= 50
        assert done


def fails(comm: Comm) -> tuple[list[int], list[int]]:
    """Let runs fail with batches on the road; return what a later run finds, and what it should."""
    drawn = hubs(40, 160)
    graph = drawn.build(comm, "random")
    ending = gl.Graph.from_edges([1, 2, 3], [2, 3, 4], comm=comm)
    for _ in range(5):
        with pytest.raises(gl.errors.ExecutionError, match=r"Divides failed at vertex 4 .*division"):
            gl.run(programs.Divides(), ending, engine="async")
        with pytest.raises(gl.errors.ExecutionError, match=r"Trips failed"):
            gl.run(programs.Trips(), graph, engine="async")
    expected = np.bincount([target for _, target in drawn.edges], minlength=len(drawn.ids))
    return gl.run(programs.Parcels(), graph, engine="async").vertices["got"].tolist(), expected.tolist()


def test_a_fault_is_raised_on_every_rank_and_leaves_nothing_on_the_road(ranks: Ranks) -> None:
    for found, expected in ranks.run(fails):
        assert found == expected


@pytest.mark.parametrize(
    ("program", "options", "message"),
    [
        (Rank(), {}, "no signals decide who runs"),
        (signals.Parts(), {}, "its methods read self.superstep"),
        (caches.Posted(), {}, "it posts changes of gathers"),
        (lists.Labels(), {}, "cannot run with engine='async'"),
        (letters.Jumping(), {}, "it signals vertices by their ids"),
        (additive.Falls(), {}, "its scatter adds to fields"),
        (control.Ways(), {}, "its directions change by vertex"),
        (gl.programs.Components(), {}, "it has several phases"),
        (programs.Labels(), {"consistency": "strict"}, "consistency='strict' is unknown"),
        (programs.Labels(), {"scheduler": "lifo"}, "scheduler='lifo' is unknown; did you mean 'fifo'"),
        (programs.Labels(), {"scheduler": "priority"}, "needs signals with priority="),
        (programs.Labels(), {"max_updates": -1}, "must not be negative"),
        (programs.Labels(), {"max_iterations": 3}, "give max_updates"),
        (programs.Labels(), {"trace": [1]}, "trace= follows supersteps"),
        (programs.Labels(), {"compile": "never"}, "runs compiled programs only"),
        (programs.Labels(), {"engine": "sync", "scheduler": "fifo"}, "is of engine='async'"),
    ],
)
def test_what_cannot_run_so_is_refused(program: Any, options: dict[str, Any], message: str) -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(gl.errors.UsageError, match=message):
        gl.run(program, graph, **{"engine": "async", **options})
