"""Additive fields: what is added counts once, on any threads and ranks, and faults name who got too much."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.errors import ExecutionError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES
from tests.support.one_fault import MODES, NAMES


class Give(gl.VertexProgram):
    """Real numbers to both ends or to one, in every superstep."""

    both: bool = True

    class Vertex(gl.Vertex):
        got: float = gl.field(init=0.0, sync=gl.SUM)
        times: int = gl.field(init=0, sync=gl.SUM)

    class Edge(gl.Edge):
        weight: float

    def active(self, v: Vertex) -> bool:
        return self.superstep < 2 or v.degree % 3 == 0

    def apply(self, v: Vertex) -> None:
        pass

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        nbr.got += e.weight
        nbr.times += 1


class GiveBoth(Give):
    def scatter(self, v: Give.Vertex, e: Give.Edge, nbr: Give.Vertex) -> None:
        nbr.got += e.weight
        nbr.times += 1
        v.got -= e.weight / 3
        v.times += 1


def _given(comm: Comm, strategy: str) -> list[tuple[bytes, list[int]]]:
    rng = np.random.default_rng(1)
    ends, weights = rng.integers(0, 900, (2, 9000)), rng.random(9000)
    graph = gl.Graph.from_edges(*ends, columns={"weight": weights}, strategy=strategy, comm=comm)
    answers = []
    for program in (Give(), GiveBoth()):
        for threads in (1, 2):
            result = gl.run(program, graph, max_iterations=4, threads=threads)
            answers.append((result.vertices["got"].tobytes(), result.vertices["times"].tolist()))
    return answers


@pytest.mark.slow
@pytest.mark.parametrize("strategy", STRATEGIES[:2])
def test_sums_have_the_same_bits_on_any_threads(ranks: Ranks, strategy: str) -> None:
    rng = np.random.default_rng(1)
    (source, target), weights = rng.integers(0, 900, (2, 9000)), rng.random(9000)
    names, where = np.unique([source, target], return_inverse=True)
    source, target = where.reshape(2, -1)
    degree = np.bincount(source) + np.bincount(target)
    rounds = 2 + 2 * (degree % 3 == 0)[source]
    answers = ranks.run(_given, strategy)[0]
    for one, other, back in ((0, 1, 0.0), (2, 3, 1.0)):
        assert answers[one] == answers[other]
        got = np.bincount(target, rounds * weights)
        got -= back / 3 * np.bincount(source, rounds * weights, names.size)
        assert np.frombuffer(answers[one][0]) == pytest.approx(got, abs=1e-12)
        times = np.bincount(target, rounds) + back * np.bincount(source, rounds, names.size)
        assert answers[one][1] == times.tolist()


class TooMuch(gl.VertexProgram):
    class Vertex(gl.Vertex):
        small: gl.int8 = gl.field(init=0, sync=gl.SUM)

    def start(self, v: Vertex) -> bool:
        return True

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.small += 70


def _too_much(comm: Comm, engine: str) -> None:
    graph = gl.Graph.from_edges([1, 2, 3, 4], [2, 7, 7, 5], strategy="random", comm=comm)
    gl.run(TooMuch(), graph, engine=engine)


@pytest.mark.parametrize("engine", ["sync", "reference"])
def test_a_sum_that_does_not_fit_ends_the_run(ranks: Ranks, engine: str) -> None:
    with pytest.raises(ExecutionError, match="TooMuch failed at vertex 7 in superstep 0: ") as caught:
        ranks.run(_too_much, engine)
    assert "nbr.small += 70" in str(caught.value)


class TooOften(gl.VertexProgram):
    """Both ends of the edge from 2 to 7 alone bring it over its range, in superstep 1."""

    scatter_edges = gl.ALL

    class Edge(gl.Edge):
        fare: gl.int8 = 0
        paid: gl.int8 = gl.field(sync=gl.SUM)

    def active(self, v: gl.Vertex) -> bool:
        return v.degree > 0

    def scatter(self, v: gl.Vertex, e: Edge, nbr: gl.Vertex) -> None:
        e.paid += e.fare


def _too_often(comm: Comm, mode: dict[str, str]) -> None:
    fares = np.array([31, 32, 30, -32], np.int8)
    graph = gl.Graph.from_edges([1, 2, 3, 4], [2, 7, 7, 5], columns={"fare": fares}, comm=comm)
    gl.run(TooOften(), graph, max_iterations=2, **mode)


@pytest.mark.parametrize("mode", [{}, {"compile": "never"}, {"engine": "reference"}])
def test_a_sum_of_an_edge_that_does_not_fit_ends_the_run(ranks: Ranks, mode: dict[str, str]) -> None:
    with pytest.raises(ExecutionError, match="TooOften failed at vertex 7 in superstep 1: ") as caught:
        ranks.run(_too_often, mode)
    assert "e.paid += e.fare" in str(caught.value)


class Fees(gl.VertexProgram):
    """Real numbers from both ends."""

    scatter_edges = gl.ALL

    class Edge(gl.Edge):
        weight: float
        fee: float = gl.field(sync=gl.SUM)

    def active(self, v: gl.Vertex) -> bool:
        return self.superstep < 2 or v.degree % 3 == 0

    def scatter(self, v: gl.Vertex, e: Edge, nbr: gl.Vertex) -> None:
        e.fee += e.weight if e.forward else 1 / v.degree
        e.fee -= 0.1


def _fees(comm: Comm, directed: bool) -> list[bytes]:
    rng = np.random.default_rng(2)
    ends, weights = rng.integers(0, 900, (2, 9000)), rng.random(9000)
    graph = gl.Graph.from_edges(*ends, columns={"weight": weights}, directed=directed, comm=comm)
    runs = [gl.run(Fees(), graph, max_iterations=4, threads=threads, edges=True) for threads in (1, 2)]
    return [np.sort(result.edges["fee"]).tobytes() for result in runs]


@pytest.mark.parametrize("directed", [True, False])
def test_what_edges_are_given_has_the_same_bits_everywhere(ranks: Ranks, directed: bool) -> None:
    rng = np.random.default_rng(2)
    (source, target), weights = rng.integers(0, 900, (2, 9000)), rng.random(9000)
    degree = np.bincount(source, minlength=900) + np.bincount(target, minlength=900)
    rounds = 2 + 2 * (degree % 3 == 0)
    fee = rounds[source] * (weights - 0.1) + rounds[target] * (1 / degree[target] - 0.1)
    results = ranks.run(_fees, directed)
    for of_rank in results:
        assert of_rank == [results[0][0]] * 2
    assert np.frombuffer(results[0][0]) == pytest.approx(np.sort(fee), abs=1e-12)


class TooMuchOfOne(gl.VertexProgram):
    class Vertex(gl.Vertex):
        small: gl.Vector = gl.field(shape=3, dtype=gl.int8, sync=gl.SUM)

    def start(self, v: Vertex) -> bool:
        return True

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.small[v.degree % 2 + 1] += 70


class Outside(TooMuchOfOne):
    def scatter(self, v: TooMuchOfOne.Vertex, e: gl.Edge, nbr: TooMuchOfOne.Vertex) -> None:
        nbr.small[v.in_degree + 2] += 1


def _one_element(comm: Comm, mode: dict[str, str], program: type[gl.VertexProgram]) -> None:
    more = ([4], [2]) if program is Outside else ([], [])
    graph = gl.Graph.from_edges([1, 2, 3, *more[0]], [5, 7, 7, *more[1]], strategy="random", comm=comm)
    gl.run(program(), graph, **mode)


@pytest.mark.parametrize("mode", [{}, {"compile": "never"}, {"engine": "reference"}])
def test_faults_of_elements_name_the_vertex(ranks: Ranks, mode: dict[str, str]) -> None:
    with pytest.raises(ExecutionError, match="Outside failed at vertex 2 in superstep 0: an index outside"):
        ranks.run(_one_element, mode, Outside)
    with pytest.raises(ExecutionError, match="TooMuchOfOne failed at vertex 7 in superstep 0: ") as caught:
        ranks.run(_one_element, mode, TooMuchOfOne)
    assert "nbr.small[v.degree % 2 + 1] += 70" in str(caught.value)


class Lowest(gl.VertexProgram):
    """Roots of which some are nan, to the targets of edges."""

    scatter_edges = gl.OUT

    class Vertex(gl.Vertex):
        x: float = 0.0
        low: gl.Vector = gl.field(shape=2, init=5.0, sync=gl.MIN)
        high: gl.Vector = gl.field(shape=2, init=-5.0, sync=gl.MAX)
        one: float = gl.field(init=5.0, sync=gl.MIN)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        root = math.sqrt(v.x)
        nbr.low = np.minimum(nbr.low, np.ones(2) * root)
        nbr.high[1] = max(nbr.high[1], root)
        nbr.one = min(nbr.one, root)


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_nan_does_not_count_among_contributions(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    init = {"x": np.array([-1.0, 4.0, -1.0, 0.0])}
    found = gl.run(Lowest(), graph, max_iterations=1, init=init, **mode).vertices
    assert found["low"].tolist() == [[5.0] * 2, [5.0] * 2, [2.0] * 2, [5.0] * 2]
    assert found["high"].tolist() == [[-5.0] * 2, [-5.0] * 2, [-5.0, 2.0], [-5.0] * 2]
    assert found["one"].tolist() == [5.0, 5.0, 2.0, 5.0]
