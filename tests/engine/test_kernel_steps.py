"""Supersteps in a kernel have the results of those run one by one; pending buckets against a plain model."""

from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest

import gaslab as gl
from gaslab._kernels.borders import supersteps_before
from gaslab._kernels.buckets import NEVER, Buckets
from gaslab.engine.sync import kernel_steps
from gaslab.engine.sync.kernel_steps import KernelRounds, KernelSteps
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


class Falling(gl.VertexProgram):
    """Messages with priorities that also fall behind the bucket that runs."""

    class Vertex(gl.Vertex):
        best: int = 1 << 40
        runs: int = 0

    def apply(self, v: Vertex, message: gl.Min[int]) -> None:
        v.best = min(v.best, message if self.superstep else v.degree * 37)
        v.runs += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.best + 3 < nbr.best:
            nbr.signal(v.best + 3, priority=v.best * 7 % 1000)


class Shared(gl.VertexProgram):
    """Sums of floats, which depend on the order in which they are sent."""

    class Vertex(gl.Vertex):
        mass: float = 1.0

    def apply(self, v: Vertex, message: gl.Sum[float]) -> None:
        v.mass = v.mass * 0.5 + message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.mass > 1e-3 * v.degree * (self.superstep + 1):
            nbr.signal(0.4 * v.mass / v.degree)


class Gathered(gl.VertexProgram):
    """Shortest paths by gather, which reads of neighbours what apply writes."""

    first: gl.VertexId

    class Vertex(gl.Vertex):
        distance: float
        place: gl.Vector = gl.field(shape=3)

    class Edge(gl.Edge):
        weight: float

    def init(self, v: Vertex) -> None:
        v.distance = 0.0 if v.id == self.first else math.inf

    def start(self, v: Vertex) -> bool:
        return v.id == self.first

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.distance + e.weight + 0.0 * nbr.place[1]

    def apply(self, v: Vertex, total: float) -> None:
        v.distance = min(v.distance, total)
        v.place[1] = self.superstep

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.distance + e.weight < nbr.distance:
            nbr.signal()


class Summed(Falling):
    """The same, with aggregates of the whole run."""

    @gl.aggregator(every=gl.Phase)
    def turns(self, v: Falling.Vertex) -> gl.Sum[int]:
        return v.runs


class Faulty(gl.VertexProgram):
    """A wave that divides by zero at vertex 70."""

    first: gl.VertexId

    class Vertex(gl.Vertex):
        at: int = -1

    def start(self, v: Vertex) -> bool:
        return v.id == self.first

    def apply(self, v: Vertex) -> None:
        v.at = 100 // (70 - self.superstep)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.id > v.id:
            nbr.signal()


class Endless(Faulty):
    """Two vertices that call each other for ever."""

    def apply(self, v: Faulty.Vertex) -> None:
        v.at = self.superstep

    def scatter(self, v: Faulty.Vertex, e: gl.Edge, nbr: Faulty.Vertex) -> None:
        nbr.signal()


def road(directed: bool = False, n: int = 60) -> gl.Graph:
    """A grid of n x 8 with some far roads: many supersteps of few vertices."""
    at = np.arange(n * 8).reshape(n, 8)
    a = np.concatenate([at[:-1].ravel(), at[:, :-1].ravel(), at[::9, 0]])
    b = np.concatenate([at[1:].ravel(), at[:, 1:].ravel(), at[::-9, 7][: at[::9, 0].size]])
    weights = np.random.default_rng(3).integers(1, 50, a.size).astype(float)
    return gl.Graph.from_edges(a, b, columns={"weight": weights}, directed=directed, drop_self_loops=True)


PROGRAMS = {
    "bfs": lambda graph, **run: gl.bfs(graph, 0, **run),
    "sssp": lambda graph, **run: gl.sssp(graph, 0, **run),
    "kcore": gl.kcore,
    "components": gl.components,
    "gathered": lambda graph, **run: gl.run(Gathered(first=0), graph, **run),
    "falling": lambda graph, **run: gl.run(Falling(), graph, **run),
    "shared": lambda graph, **run: gl.run(Shared(), graph, **run),
    "summed": lambda graph, **run: gl.run(Summed(), graph, **run),
    "limited": lambda graph, **run: gl.sssp(graph, 0, max_iterations=11, **run),
    "timed": lambda graph, **run: gl.sssp(graph, 0, timeout=600.0, **run),
}


def course(result: gl.Result, unlike: frozenset[str] = frozenset()) -> str:
    """Return the course of a run as text, without some columns: records of aggregates have no equality."""
    history = [{k: v for k, v in row.items() if k not in {"seconds", *unlike}} for row in result.history]
    return repr((history, result.iterations, result.converged, result.metrics["updates"], result.aggregates))


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_one_by_one(name: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, run = road(), PROGRAMS[name]
    asked = []
    run_steps = KernelSteps.run
    monkeypatch.setattr(KernelSteps, "run", lambda *arguments: asked.append(1) or run_steps(*arguments))
    fast = run(graph, threads=threads)
    assert asked
    monkeypatch.setattr(KernelSteps, "can", lambda *_: False)
    slow = run(graph, threads=threads)
    assert course(fast) == course(slow)
    assert len(fast.history) > 10
    for field in fast.vertices.columns:
        assert fast.vertices[field].tobytes() == slow.vertices[field].tobytes()


several_ranks = pytest.mark.parametrize("ranks", [2, 3, 4], indirect=True)

UNLIKE = frozenset({"bytes_sent"})  # the messages of the two ways differ


def every_way(comm: Comm, name: str, strategy: str, threads: int) -> tuple[int, list[Any]]:
    """Return how many supersteps the kernel ran, and the course and fields of runs with and without it.

    In the second run with it, ranks run alone far from mirrors.
    """
    graph, ran, found = road(name == "gathered").partitioned(strategy), [], []
    in_kernel, can = KernelRounds.run, KernelSteps.can

    def run(self: KernelRounds, *arguments: Any) -> Any:
        answer = in_kernel(self, *arguments)
        ran.extend(answer[1])
        return answer

    with mock.patch.object(KernelRounds, "run", run):
        for allowed, edges in ((False, 0), (True, 0), (True, 1 << 40)):
            with (
                mock.patch.object(KernelSteps, "can", lambda parts, yes=allowed: yes and can(parts)),
                mock.patch.object(kernel_steps, "EDGES_A_SUPERSTEP", edges),
            ):
                result = PROGRAMS[name](graph, threads=threads)
            values = {field: result.vertices[field].tobytes() for field in result.vertices.columns}
            found.append((course(result, UNLIKE), values))
    return len(ran) // 2, found


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("name", ["bfs", "sssp", "kcore", "gathered", "falling", "shared", "limited"])
@pytest.mark.parametrize(
    ("ranks", "strategy"),
    [(2, "chunk"), (3, "chunk"), (3, "1d-source"), (4, "1d-source"), (4, "2d")],
    indirect=["ranks"],
)
def test_the_same_as_one_by_one_on_several_ranks(ranks: Ranks, name: str, strategy: str) -> None:
    for ran, (plain, fast, alone) in ranks.run(every_way, name, strategy, 2 if strategy == "2d" else 1):
        assert plain == fast
        assert plain == alone
        assert ran > 9 or (name == "gathered" and strategy != "chunk")  # where mirrors gather, too


def test_more_supersteps_than_one_call_runs() -> None:
    graph = gl.Graph.from_edges(np.arange(1000), np.arange(1, 1001))
    result = gl.bfs(graph, 0)
    assert result.iterations == 1001
    assert [row["superstep"] for row in result.history] == list(range(1001))
    assert {row["active"] for row in result.history} == {1}


def test_the_time_is_up_in_supersteps_of_a_kernel() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    with pytest.raises(gl.TimeoutExpired, match=r"Endless ran out of 0.3 s (after|before)"):
        gl.run(Endless(first=0), graph, timeout=0.3)


def test_a_fault_names_the_same_vertex_and_superstep(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = gl.Graph.from_edges(np.arange(100), np.arange(1, 101))
    messages = []
    for _ in range(2):
        with pytest.raises(gl.ExecutionError) as caught:
            gl.run(Faulty(first=0), graph)
        messages.append(str(caught.value))
        monkeypatch.setattr(KernelSteps, "can", lambda *_: False)
    assert messages[0] == messages[1]
    assert "vertex 70 in superstep 70" in messages[0]


def meets_a_fault(comm: Comm, strategy: str) -> str:
    graph = gl.Graph.from_edges(np.arange(100), np.arange(1, 101), strategy=strategy)
    with pytest.raises(gl.ExecutionError) as caught:
        gl.run(Faulty(first=0), graph)
    return str(caught.value)


@pytest.mark.parametrize("strategy", ["chunk", "2d"])
@several_ranks
def test_a_fault_on_one_rank_ends_all(ranks: Ranks, strategy: str) -> None:
    for message in ranks.run(meets_a_fault, strategy):
        assert "vertex 70 in superstep 70" in message


class FaultyTwice(gl.VertexProgram):
    """In superstep 1 apply fails at one vertex, and scatter would at all."""

    bad: gl.VertexId

    class Vertex(gl.Vertex):
        one: int = 1

    def apply(self, v: Vertex) -> None:
        v.one = 1 // (1 if v.id != self.bad or self.superstep == 0 else 0)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if 1 // (1 if self.superstep == 0 else 0) == nbr.one:
            nbr.signal()


def meets_two_faults(comm: Comm) -> list[str]:
    messages, ends, can = [], np.random.default_rng(1).integers(0, 40, (2, 400)), KernelSteps.can
    for allowed in (False, True):
        with mock.patch.object(KernelSteps, "can", lambda parts, yes=allowed: yes and can(parts)):
            with pytest.raises(gl.ExecutionError) as caught:
                gl.run(FaultyTwice(bad=7), gl.Graph.from_edges(*ends, strategy="2d"))
            messages.append(str(caught.value))
    return messages


@several_ranks
def test_nothing_is_scattered_after_a_fault(ranks: Ranks) -> None:
    for plain, fast in ranks.run(meets_two_faults):
        assert plain == fast
        assert "vertex 7 in superstep 1" in plain


def pulls_alone(comm: Comm) -> list[Any]:
    """Search from one end of a path to a dense part and on, far from mirrors, with and without the kernel."""
    draw, found, can = np.random.default_rng(1), [], KernelSteps.can
    path, tail, dense, other = np.arange(300), np.arange(2300, 3900), 20_000, 28_000  # the last is of rank 1
    source = np.concatenate(
        [path, draw.integers(300, 2300, dense), tail - 1, draw.integers(3900, 5900, other)]
    )
    target = np.concatenate(
        [path + 1, draw.integers(300, 2300, dense), tail, draw.integers(3900, 5900, other)]
    )
    graph = gl.Graph.from_edges(source, target, strategy="chunk")
    for allowed in (False, True):
        with (
            mock.patch.object(KernelSteps, "can", lambda parts, yes=allowed: yes and can(parts)),
            mock.patch.object(kernel_steps, "EDGES_A_SUPERSTEP", 1 << 40),
        ):
            result = gl.bfs(graph, 0)
        course = [(row["active"], row["delivery"]) for row in result.history]
        assert comm.rank or ("pull" in [delivery for _, delivery in course[2:]])
        assert all(row["seconds"] > 0 for row in result.history)
        found.append((course, result.vertices["level"].tobytes()))
    return found


@pytest.mark.parametrize("ranks", [2], indirect=True)
def test_large_supersteps_far_from_mirrors_are_pulled(ranks: Ranks) -> None:
    for plain, alone in ranks.run(pulls_alone):
        assert plain == alone


def never_ends(comm: Comm) -> str:
    with pytest.raises(gl.TimeoutExpired) as caught:
        gl.run(Endless(first=0), gl.Graph.from_edges([0, 1], [1, 0]), timeout=0.3)
    return str(caught.value)


@several_ranks
def test_the_time_is_up_on_several_ranks(ranks: Ranks) -> None:
    for message in ranks.run(never_ends):
        assert "Endless ran out of 0.3 s" in message


def long_chain(comm: Comm, strategy: str, name: str) -> tuple[int, list[int], float, int]:
    """Return the course of a search from end to end of a chain, and how many messages its rank has sent."""
    weights = np.arange(1000.0) % 7
    graph = gl.Graph.from_edges(
        np.arange(1000), np.arange(1, 1001), columns={"weight": weights}, strategy=strategy
    )
    before = graph.comm.messages_sent
    with mock.patch.object(kernel_steps, "EDGES_A_SUPERSTEP", 1 << 40):
        result = gl.bfs(graph, 0) if name == "bfs" else gl.sssp(graph, 0, delta=2.0)
    (field,) = result.vertices.columns
    messages = (graph.comm.messages_sent - before) // (comm.size - 1)
    active = [row["active"] for row in result.history]
    return result.iterations, active, result.vertices[field].sum(), messages


@several_ranks
@pytest.mark.parametrize("name", ["bfs", "sssp"])
def test_ranks_run_alone_far_from_mirrors(ranks: Ranks, name: str) -> None:
    total = 1000 * 1001 / 2 if name == "bfs" else np.cumsum(np.arange(1000) % 7).sum()
    for strategy, most in (("chunk", 60), ("random", 3000)):
        for *found, messages in ranks.run(long_chain, strategy, name):
            assert found == [1001, [1] * 1001, total]
            assert messages < most


@pytest.mark.parametrize("directions", [0, 1, 2, 3])
def test_borders_against_a_plain_search(directions: int) -> None:
    draw = np.random.default_rng(directions)
    for _ in range(60):
        n, m = int(draw.integers(1, 40)), int(draw.integers(0, 60))
        masters = int(draw.integers(0, n + 1))
        ends = draw.integers(0, n, (2, m)).astype(np.int32)
        order, again = np.argsort(ends[1], kind="stable"), np.argsort(ends[0], kind="stable")
        begins = [np.append(0, np.cumsum(np.bincount(ends[k], minlength=n))).astype(np.int64) for k in (1, 0)]
        replicated = np.flatnonzero(draw.random(masters) < 0.1).astype(np.int32)
        rows = begins[0], ends[0][order], begins[1], ends[1][again]
        found = supersteps_before(*rows, directions, masters, replicated)
        known = np.full(n, 1 << 40)
        known[masters:], known[replicated] = -1, 0
        for _ in range(n + 2):
            for source, target in ends.T.tolist():
                if directions & 2 and source < masters:
                    known[source] = min(known[source], known[target] + 1)
                if directions & 1 and target < masters:
                    known[target] = min(known[target], known[source] + 1)
        assert np.minimum(known, 0x7FFFFFFF).tolist() == found[:n].tolist()


@pytest.mark.parametrize("span", [3, 200, 100_000])
def test_buckets_against_a_plain_model(span: int) -> None:
    draw, n = np.random.default_rng(span), 3000
    priority = np.full(n, NEVER)
    buckets, pending = Buckets(priority, n), dict[int, int]()
    for turn in range(400):
        signalled = np.unique(draw.integers(0, n, draw.integers(0, 300))).astype(np.int32)
        low = 0 if turn % 50 == 0 else min(pending.values(), default=0)
        for v in signalled.tolist():
            pending[v] = min(pending.get(v, NEVER), low + int(draw.integers(0, span)))
            priority[v] = pending[v]
        bucket, ids = buckets.lowest(signalled)
        assert bucket == min(pending.values(), default=NEVER)
        assert ids.tolist() == sorted(v for v, p in pending.items() if p == bucket)
        if draw.integers(0, 4):
            buckets.take(ids)
            for v in ids.tolist():
                del pending[v]
        else:
            buckets.keep(ids)
