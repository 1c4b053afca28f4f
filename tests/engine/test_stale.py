"""Bounded staleness: none is the synchronous engine; some comes to the same fixed points in its bound."""

from __future__ import annotations

import contextlib
import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.compiler.frontend import parse_phases
from gaslab.engine.stale.step import check_program
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.parallel.transport import MPITransport, Transport
from tests.asynchronous.test_asynchronous import hubs
from tests.conftest import Hosts
from tests.language.test_agreement import task_of
from tests.mpi.launcher import run_script
from tests.mpi.ranks import Ranks
from tests.programs import CASES, caches, directions, lists, pairs, phases
from tests.support import stale_programs, unordered_programs
from tests.support.agreement import Mode, Outcome, Task, run_task
from tests.support.graphs import STRATEGIES, Drawn, graphs, with_lists

OWN = {"staleness_max", "staleness_mean", "waited"}  # of the rows


# ---- none ------------------------------------------------------------------------------------------


def none_and_sync(comm: Comm, task: Task, strategy: str) -> list[tuple[Outcome, Outcome]]:
    """Run with staleness 0 and in step, compiled on two threads and, on two ranks, interpreted."""
    graph = task.graph.build(comm, strategy)
    found = []
    modes: list[Mode] = [("require", 2), ("never", 1)]
    for mode in modes if comm.size == 2 else modes[:1]:
        stale = run_task(task, graph, mode, engine=gl.Stale(0))
        history = [{k: x for k, x in row.items() if k not in OWN} for row in stale.history]
        found.append((replace(stale, history=history), run_task(task, graph, mode)))
    return found


def assert_same(ranks: Ranks, task: Task, strategy: str) -> None:
    """Assert that staleness 0 is the synchronous engine bit for bit, if it takes the program."""
    trees = parse_phases(type(task.instance()))
    try:
        check_program(list(trees))
    except UsageError:
        return
    for found in ranks.run(none_and_sync, task, strategy):
        for stale, sync in found:
            assert repr(stale) == repr(sync)


def taken(case: Any) -> bool:
    try:
        check_program(list(parse_phases(case.program)))
    except UsageError:
        return False
    return True


def test_most_programs_are_taken() -> None:
    assert sum(map(taken, CASES)) > 0.5 * len(CASES)


@pytest.mark.parametrize("case", [case for case in CASES if taken(case)], ids=str)
@settings(max_examples=max(settings.default.max_examples // 2, 1))
@given(size=st.sampled_from([1, 2, 3, 4]), data=st.data())
def test_no_staleness_is_the_synchronous_engine(
    hosts: Hosts, case: Any, size: int, data: st.DataObject
) -> None:
    graph = data.draw(graphs(directed=True if case.directed_only else None), label="graph")
    if case.lists:
        graph = data.draw(with_lists(graph), label="graph with lists")
    strategy = data.draw(st.sampled_from(STRATEGIES), label="strategy")
    assert_same(hosts(size), task_of(case, graph, data), strategy)


# ---- some ------------------------------------------------------------------------------------------


class SlowTransport(MPITransport):
    """Lets batches lie for a while, each rank's in its order."""

    lying: list[tuple[int, np.ndarray]]
    rng = random.Random()

    def collect(self) -> list[tuple[int, np.ndarray]]:
        lying = [*vars(self).get("lying", []), *super().collect()]
        if self.rng.random() < 0.02:
            time.sleep(0.001)
        slow = {p for p in range(self.size) if self.rng.random() < 0.7}
        self.lying = [(p, data) for p, data in lying if p in slow]
        return [(p, data) for p, data in lying if p not in slow]

    def close(self) -> None:
        assert not vars(self).get("lying"), "the end came while batches lay about"
        super().close()


@contextlib.contextmanager
def slowly(comm: Comm, seed: int) -> Iterator[None]:
    """Let batches between ranks lie about for random times."""
    transport = comm.transport
    SlowTransport.rng.seed(31 * seed + comm.rank)

    def slow() -> Transport:
        made = transport()
        if comm.size > 1:
            made.__class__ = SlowTransport
        return made

    comm.transport = slow  # type: ignore[method-assign]
    try:
        yield
    finally:
        comm.transport = transport  # type: ignore[method-assign]


def compare(comm: Comm, drawn: Drawn, staleness: int, strategy: str, seed: int) -> list[tuple[Any, Any]]:
    """Return what both engines find, program by program, with batches that lie about."""
    graph = drawn.build(comm, strategy)
    source = drawn.ids[0]
    compared: list[tuple[Any, Any]] = []
    program: gl.VertexProgram
    with slowly(comm, seed):
        for program, field in (
            (unordered_programs.Paths(source=source), "distance"),
            (unordered_programs.Labels(), "part"),
            (unordered_programs.Parcels(), "got"),
            (gl.programs.ShortestPaths(source=source), "distance"),
            (stale_programs.Spills(), "got"),
            (stale_programs.Chain(), "steps"),
        ):
            found = gl.run(program, graph, engine=gl.Stale(staleness))
            assert found.converged
            assert found.metrics["staleness"]["max"] <= staleness
            expected = gl.run(program, graph)
            compared.append((found.vertices.to_dict(field), expected.vertices.to_dict(field)))
    return compared


@pytest.mark.slow
@settings(max_examples=max(settings.default.max_examples // 2, 1))
@given(
    drawn=graphs(directed=True),
    staleness=st.sampled_from([1, 2, 5]),
    strategy=st.sampled_from(STRATEGIES),
    seed=st.integers(0, 1000),
)
def test_fixed_points_are_the_same(
    ranks: Ranks, drawn: Drawn, staleness: int, strategy: str, seed: int
) -> None:
    weights = {"weight": [k % 7 + 0.5 for k in range(len(drawn.edges))]}
    drawn = Drawn(drawn.ids, drawn.edges, weights, drawn.directed)
    for compared in ranks.run(compare, drawn, staleness, strategy, seed):
        for found, expected in compared:
            assert found == expected


@pytest.mark.slow
@pytest.mark.parametrize("staleness", [1, 5])
def test_fixed_points_of_a_graph_with_hubs(ranks: Ranks, staleness: int) -> None:
    for compared in ranks.run(compare, hubs(), staleness, "random", staleness):
        for found, expected in compared:
            assert found == expected


def ranking(comm: Comm, staleness: int) -> tuple[float, float, float]:
    graph = hubs(30, 150).build(comm, "random")
    exact = gl.run(unordered_programs.Ranked(tolerance=1e-13), graph).vertices["score"]
    normal = gl.run(gl.programs.PageRank(tolerance=1e-13), graph).vertices["score"]
    way = {"engine": gl.Stale(staleness)}
    signalled = gl.run(unordered_programs.Ranked(tolerance=1e-4), graph, **way)
    score = signalled.vertices["score"]
    plain = gl.run(gl.programs.PageRank(tolerance=1e-5), graph, **way).vertices["score"]
    most = abs(signalled.aggregates["most"] - score.max())
    return float(np.abs(score - exact).max()), float(np.abs(plain - normal).max()), float(most)


@pytest.mark.slow
@pytest.mark.parametrize("staleness", [2])
def test_pagerank_comes_within_its_tolerance(ranks: Ranks, staleness: int) -> None:
    for signalled, plain, most in ranks.run(ranking, staleness):
        assert 0 < signalled < 3e-2  # of scores up to 5
        assert plain < 1e-4
        assert most == 0


def ages(comm: Comm, staleness: int, seed: int) -> tuple[int, int, dict[str, Any], list[dict[str, Any]]]:
    graph = hubs(seed=seed).build(comm, "random")
    with slowly(comm, seed), contextlib.suppress(gl.errors.ConvergenceWarning):
        result = gl.run(
            stale_programs.Clocks(), graph, engine=gl.Stale(staleness), max_iterations=40
        )
    figures = result.metrics["staleness"]
    return int(result.vertices["oldest"].max()), int(result.vertices["newest"].max()), figures, result.history


@pytest.mark.slow
@pytest.mark.parametrize("staleness", [0, 1, 2, 5])
def test_the_bound_is_never_broken(ranks: Ranks, staleness: int) -> None:
    seen = []
    for seed in range(3):
        for oldest, newest, figures, history in ranks.run(ages, staleness, seed):
            assert oldest <= figures["max"] <= staleness
            assert 0 <= newest <= (staleness + 1 if staleness else 0)
            assert figures["bound"] == staleness
            assert 0 <= figures["mean"] <= figures["max"]
            assert len(figures["waited"]) == ranks.size
            assert max(row["staleness_max"] for row in history) == figures["max"]
            seen.append(oldest)
    assert (max(seen) > 0) == (staleness > 0 and ranks.size > 1)


@pytest.mark.parametrize(
    ("program", "options", "message"),
    [
        (unordered_programs.Urgent(source=0), {}, "priorities let one bucket run"),
        (caches.Posted(), {}, "it posts changes of gathers"),
        (lists.Labels(), {}, "its gather collects lists"),
        (directions.Ways(), {}, "gather_edges is a method"),
        (phases.HubsAndAuthorities(), {}, "it has several phases"),
        (stale_programs.OnePhase(), {}, "it has `phases`; remove them and name its methods gather"),
        (pairs.NearestPair(), {}, "an aggregator holds vertex ids"),
        (unordered_programs.Labels(), {"trace": [1]}, "trace= follows supersteps"),
    ],
)
def test_what_cannot_run_so_is_refused(program: Any, options: dict[str, Any], message: str) -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    with pytest.raises(UsageError, match=message):
        gl.run(program, graph, **{"engine": gl.Stale(1), **options})


def drawn_run(comm: Comm, path: str) -> list[str]:
    graph = hubs().build(comm, "random")
    gl.run(unordered_programs.Labels(), graph, engine=gl.Stale(1), timeline=path)
    return [event["name"] for event in json.loads(Path(path).read_text())["traceEvents"]]


def test_a_timeline_shows_the_stages(ranks: Ranks, tmp_path: Path) -> None:
    names = ranks.run(drawn_run, str(tmp_path / "run.json"))[0]
    assert {"superstep", "send values", "send sums", "wait and take in"} <= set(names)


@pytest.mark.slow
def test_the_command_line_has_it(tmp_path: Path) -> None:
    edges, report = tmp_path / "edges.tsv", tmp_path / "report.json"
    edges.write_text("".join(f"{k}\t{(3 * k + 1) % 50}\n" for k in range(50)))
    words = ["pagerank", str(edges), "--engine", "stale", "--staleness", "2", "--json", str(report)]
    done = run_script(2, ["-m", "gaslab", *words])
    assert done.returncode == 0, done.stderr
    assert json.loads(report.read_text())["staleness"]["bound"] == 2
    refused = run_script(1, ["-m", "gaslab", *words[:4], "--force"])
    assert "gaslab: --engine stale needs --staleness S: by how many" in refused.stderr


class Halved(gl.VertexProgram):
    """A finaliser in every superstep."""

    class Vertex(gl.Vertex):
        n: int = 1

    @gl.aggregator
    def whole(self, v: Vertex) -> gl.Sum[int]:
        return v.n

    @whole.finalize
    def _(self, total: int) -> int:
        return total // 2

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return nbr.n % 5

    def apply(self, v: Vertex, total: int) -> None:
        v.n = 1 + total % 7


def halved(comm: Comm, staleness: int) -> list[int]:
    graph = gl.Graph.from_edges([0, 1, 2, 3, 4], [1, 2, 3, 4, 0], comm=comm, strategy="random")
    options = {"engine": gl.Stale(staleness), "max_iterations": 6}
    return [gl.run(Halved(), graph, threads=1, **options).aggregates["whole"] for _ in range(20)]


@pytest.mark.parametrize("staleness", [0, 2])
def test_finalisers_wait_for_nobody(ranks: Ranks, staleness: int) -> None:
    """Each rank finalises a superstep's aggregates when it knows them, and none of them hangs."""
    found = ranks.run(halved, staleness)
    assert all(one == found[0] for one in found)
    assert staleness or len(set(found[0])) == 1
