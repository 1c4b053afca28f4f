"""A random edge of a vertex: by a gather, in proportion to weights and for each end alone, and by a list."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import gaslab as gl
from examples.walks import Walks
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES

MODES: list[dict[str, Any]] = [{"threads": 2}, {"compile": "never"}]


class Chosen(gl.VertexProgram):
    """Every vertex chooses one of its edges by weight, with numbers that its other end has not."""

    rng = "hash"
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        to: gl.VertexId

    class Edge(gl.Edge):
        weight: float = 1.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.ArgMin[float, gl.VertexId]:
        out, back = gl.exponential(), gl.exponential()
        return (out if e.forward else back) / e.weight, nbr.id

    def apply(self, v: Vertex, total: tuple[float, gl.VertexId]) -> None:
        _, v.to = total


def test_edges_are_chosen_by_their_weights() -> None:
    """Hubs choose among leaves 0 to 4 of weights 0 to 4."""
    hubs = np.arange(5, 4005)
    weights = {"weight": np.tile(np.arange(5.0), hubs.size)}
    graph = gl.Graph.from_edges(np.repeat(hubs, 5), np.tile(np.arange(5), hubs.size), columns=weights)
    to = gl.run(Chosen(), graph, max_iterations=1, seed=3).vertices["to"][5:]
    none, *counts = np.bincount(to, minlength=5)
    assert none == 0
    assert stats.chisquare(counts, hubs.size * np.array([0.1, 0.2, 0.3, 0.4])).pvalue > 1e-6


def test_both_ends_of_an_edge_choose_by_themselves() -> None:
    """On a circle half of all choices are mutual; if both ends had the same number, two thirds would be."""
    n = 4000
    graph = gl.Graph.from_edges(np.arange(n), (np.arange(n) + 1) % n, directed=False)
    to = gl.run(Chosen(), graph, max_iterations=1, seed=3).vertices["to"]
    assert abs(np.mean(to[to] == np.arange(n)) - 0.5) < 0.04  # five standard deviations


class Pairs(gl.VertexProgram):
    """Every edge draws two numbers."""

    rng = "hash"
    scatter_edges = gl.OUT

    class Vertex(gl.Vertex):
        pass

    class Edge(gl.Edge):
        first: float = 0.0
        second: float = 0.0

    def active(self, v: Vertex) -> bool:
        return True

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.first, e.second = gl.uniform(), gl.uniform()


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("mode", MODES)
def test_parallel_edges_share_no_numbers(mode: dict[str, Any]) -> None:
    """Nor do an edge's second number and the next one's first."""
    graph = gl.Graph.from_edges([0] * 500 + [1] * 500, [1] * 500 + [0] * 500)
    edges = gl.run(Pairs(), graph, max_iterations=1, seed=3, **mode).edges
    assert np.unique([edges["first"], edges["second"]]).size == 2000


SOURCE, TARGET = [0, 0, 0, 1, 1, 2, 3, 3, 3, 4, 5, 6], [1, 1, 2, 2, 3, 3, 3, 4, 5, 0, 0, 6]


def all_chosen(comm: Comm, strategy: str, directed: bool, mode: dict[str, Any]) -> list[Any]:
    columns = {"weight": 1.0 + np.arange(12) % 3}
    graph = gl.Graph.from_edges(
        SOURCE, TARGET, columns=columns, directed=directed, strategy=strategy, comm=comm
    )
    program = Walks(source=0, walkers=50)
    found = [gl.run(Chosen(), graph, max_iterations=k, seed=4, **mode).vertices["to"] for k in (1, 2)]
    return [x.tolist() for x in (*found, gl.run(program, graph, seed=4, **mode).vertices["visits"])]


@pytest.mark.slow
def test_choices_are_the_same_everywhere(ranks: Ranks) -> None:
    """Strategies, directed or not, and threads or the interpreter, in turn."""
    expected = [all_chosen(Comm(), "1d", directed, {"engine": "reference"}) for directed in (False, True)]
    assert expected[0][0] != expected[0][1]
    assert expected[1][2][0] > 50  # walkers came back
    for k, strategy in enumerate(STRATEGIES):
        found = ranks.run(all_chosen, strategy, k % 2 == 1, MODES[k // 2 % 2])
        assert found == [expected[k % 2]] * ranks.size


def test_visits_are_in_proportion_to_personalised_pagerank() -> None:
    graph = gl.Graph.from_edges(SOURCE, TARGET)
    visits = gl.run(Walks(source=0, walkers=100_000), graph, seed=4).vertices["visits"]
    exact = gl.pagerank(graph, personalization={0: 1.0}).vertices["score"]
    assert np.abs(visits / visits.sum() - exact).max() < 0.003
