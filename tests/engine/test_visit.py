"""visit and its schedule: every edge once, no vertex at two tables, one answer on any ranks and cuts."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import gaslab as gl
from gaslab._kernels import phase_runner
from gaslab.engine.visit.schedule import BUCKETS, Schedule
from gaslab.engine.visit.sweep import Visits
from gaslab.errors import ExecutionError
from gaslab.language.visit_ways import LEAST
from gaslab.parallel.comm import Comm, Pending
from tests.mpi.ranks import Ranks
from tests.programs.visits import Chain, Trade
from tests.support.graphs import STRATEGIES


@pytest.mark.parametrize("bipartite", [True, False])
@pytest.mark.parametrize("ways", [1, 2, 3, 16])
def test_every_two_blocks_meet_once_and_a_round_shares_none(ways: int, bipartite: bool) -> None:
    schedule = Schedule(ways, bipartite)
    assert schedule.seats.shape == (schedule.rounds, 2 * ways)
    for seats in schedule.seats:
        assert np.bincount(seats, minlength=ways).tolist() == [2] * ways
    met = np.zeros((2 * ways, 2 * ways), int)
    for a in range(2 * ways):
        for b in range(2 * ways):
            if bipartite and not (a < ways <= b):
                continue
            turn = int(schedule.round_of(np.array([a]), np.array([b]))[0])
            assert schedule.seats[turn, a] == schedule.seats[turn, b]
            met[a, b] += (schedule.seats[:, a] == schedule.seats[:, b]).sum() if a != b else 1
    assert met[met > 0].tolist() == [1] * (ways * ways if bipartite else 4 * ways * ways)


def test_blocks_are_even() -> None:
    gids = np.arange(100_000)
    for bipartite, is_target in ((True, gids % 2 == 1), (False, gids < 0)):
        schedule = Schedule(16, bipartite)
        bucket = schedule.bucket_of(gids, is_target)
        block = schedule.block_of_bucket(np.bincount(bucket, minlength=32 * BUCKETS))[bucket]
        sizes = np.bincount(block, minlength=32)
        assert sizes.min() > 0.99 * 100_000 / 32
        assert sizes.max() < 1.01 * 100_000 / 32
        assert bipartite == ((block >= 16) == is_target).all()


class Count(gl.VertexProgram):
    class Vertex(gl.Vertex):
        starts: int = 0
        ends: int = 0

    class Edge(gl.Edge):
        visits: int = 0

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        e.visits += 1
        u.starts += 1
        w.ends += 1


def _columns(result: gl.Result) -> list[Any]:
    columns = [result.vertices[name].tolist() for name in result.vertices.columns]
    order = np.lexsort(tuple(reversed(result.edges.ids))) if result.edges.columns else []
    return columns + [result.edges[name][order].tolist() for name in result.edges.columns]


def _everything(comm: Comm, ranks_and_threads: list[tuple[str, int]]) -> list[Any]:
    """Run three programs on three graphs by all the strategies; return all the answers."""
    rng = np.random.default_rng(3)
    any_ends = rng.integers(0, 60, (2, 400))
    graphs = {
        "any": (any_ends, True),
        "undirected": (any_ends, False),
        "bipartite": (any_ends * 2 + np.array([[0], [1]]), True),
    }
    weights = rng.integers(1, 9, 400) / 8
    answers = []
    for ends, directed in graphs.values():
        for strategy, threads in ranks_and_threads:
            graph = gl.Graph.from_edges(
                *ends, columns={"weight": weights}, directed=directed, strategy=strategy, comm=comm
            )
            count = gl.run(Count(), graph, max_iterations=2, threads=threads, edges=True)
            assert (count.edges["visits"] == 2).all()
            assert count.vertices["starts"].sum() == count.vertices["ends"].sum() == 800
            for program in (Trade(), Chain()):
                result = gl.run(program, graph, max_iterations=3, threads=threads, edges=True)
                answers.append([program.parameters(), directed, _columns(result)])
    return answers


@pytest.mark.slow
def test_one_answer_on_any_ranks_threads_and_cuts(ranks: Ranks) -> None:
    modes = [(strategy, 1 + k % 2) for k, strategy in enumerate(STRATEGIES)]
    answers = ranks.run(_everything, modes)[0]
    for first in range(0, len(answers), 2 * len(modes)):
        for other in range(first, first + 2 * len(modes), 2):
            assert answers[other : other + 2] == answers[first : first + 2]
    assert repr(answers) == repr(_everything(Comm(), modes))


class Fails(gl.VertexProgram):
    class Vertex(gl.Vertex):
        part: int = 0

    class Edge(gl.Edge):
        weight: float

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        u.part = 5 // (w.in_degree - 3)


def _fails(comm: Comm, engine: str) -> None:
    graph = gl.Graph.from_edges([1, 2, 7, 3], [2, 3, 3, 3], columns={"weight": [1.0] * 4}, comm=comm)
    gl.run(Fails(), graph, max_iterations=1, engine=engine)


@pytest.mark.parametrize("engine", ["sync", "reference"])
def test_a_fault_names_the_source_and_the_line(ranks: Ranks, engine: str) -> None:
    with pytest.raises(ExecutionError, match=r"Fails failed at vertex [237] in superstep 0: integer") as e:
        ranks.run(_fails, engine)
    assert "u.part = 5 // (w.in_degree - 3)" in str(e.value)


def test_a_graph_without_edges_is_swept() -> None:
    graph = gl.Graph.from_edges([1], [2], vertices=[9])
    result = gl.run(Count(), graph, max_iterations=1)
    assert result.vertices.to_dict("starts") == {1: 1, 2: 0, 9: 0}


def late_after(comm: Comm, turns: int, threads: int) -> str:
    """Let the time be up after some rounds of tables, of which most have no edges; return the error."""
    ratings = {"rating": [1.0, 2.0, 4.0]}
    graph = gl.Graph.from_edges([0, 0, 1], [0, 1, 1], columns=ratings, bipartite=True, comm=comm)
    receive = Visits._receive

    def late(self: Visits, turn: int, sent: Pending) -> None:
        receive(self, turn, sent)
        if turn + 1 == turns:
            self.executor.cancellation.stop[0] = phase_runner.TIMEOUT

    with patch.object(Visits, "_receive", late), pytest.raises(gl.TimeoutExpired) as ended:
        gl.sgd(graph, timeout=600, threads=threads)
    return str(ended.value)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_time_may_be_up_where_no_edges_are_left(ranks: Ranks, threads: int) -> None:
    for turns in (1, 2, LEAST - 1):
        said = ranks.run(late_after, turns, threads)
        assert said == [said[0]] * ranks.size
        assert re.search(r"SGD ran out of 600 s (before|after) ", said[0]), said[0]
