"""Draws by weights: as often as these say, the same index in all modes, and what cannot be drawn by."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.conftest import Hosts
from tests.support.one_fault import MODES, NAMES, assert_fault, vertices

MANY = 20000


class Wheel(gl.VertexProgram):
    k: int = 3

    class Vertex(gl.Vertex):
        weights: gl.Vector = gl.field(shape="k")
        u: float = 0.0
        n: int = -1

    def init(self, v: Vertex) -> None:
        v.u = gl.uniform()  # the number that `apply` would draw, were it init

    def apply(self, v: Vertex) -> None:
        v.n = gl.categorical(v.weights)


class Streams(Wheel):
    rng = "stream"


class Hashes(Wheel):
    rng = "hash"


class Early(Wheel):
    def init(self, v: Wheel.Vertex) -> None:
        v.n = gl.categorical(v.weights)


def weights_of(k: int) -> np.ndarray:
    """Return weights of which every fifth is 0, no sum is 1, and the last one may be 0 too."""
    return np.where(np.arange(k) % 5 == 3, 0.0, 0.25 + np.sqrt(np.arange(k)))


@pytest.mark.parametrize("program", [Wheel, Streams, Hashes])
@pytest.mark.parametrize("k", [1, 4, 8, 21, 64])
def test_an_index_comes_as_often_as_its_weight_says(program: type[Wheel], k: int) -> None:
    weights = weights_of(k)
    init = {"weights": weights}
    drawn = gl.run(program(k=k), vertices(MANY), max_iterations=1, init=init, seed=k).vertices["n"]
    counts, some = np.bincount(drawn, minlength=k), weights > 0
    assert not counts[~some].any()
    if some.sum() > 1:
        expected = MANY * weights / weights.sum()
        assert stats.chisquare(counts[some], expected[some]).pvalue > 1e-4


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@pytest.mark.parametrize("k", [1, 3, 4])
def test_up_to_four_weights_are_added_in_their_order(mode: dict[str, Any], k: int) -> None:
    """Then an index is what a search among the running sums finds."""
    weights, graph = 0.1 + np.arange(k) % 3, vertices(200)
    u = gl.run(Wheel(k=k), graph, max_iterations=0).vertices["u"]
    found = gl.run(Early(k=k), graph, max_iterations=0, init={"weights": weights}, **mode).vertices["n"]
    sums = np.cumsum(weights)
    assert found.tolist() == np.searchsorted(sums, u * sums[-1], side="right").tolist()


class Single(Wheel):
    precision = gl.float32


@pytest.mark.parametrize("program", [Wheel, Single])
@pytest.mark.parametrize("k", [2, 4, 7, 8, 9, 11, 12, 13, 16, 20, 22, 31, 72, 73, 81, 200])
def test_any_number_of_weights_is_drawn_by_as_the_reference_draws(program: type[Wheel], k: int) -> None:
    """Weights that differ little, or by much, or of which most are 0; the last row whole or in part."""
    rng = np.random.default_rng(k)
    graph, size = vertices(100), (100, k)
    for weights in (
        rng.random(size),
        10.0 ** rng.uniform(-30, 30, size),
        np.where(rng.random(size) < 1.5 / k, 1.0, 0.0) + (np.arange(k) == k - 1) * 1e-7,
    ):
        found = [
            gl.run(program(k=k), graph, max_iterations=1, init={"weights": weights}, seed=k, **mode)
            for mode in (*MODES, {"engine": "reference"})
        ]
        for other in found[1:]:
            np.testing.assert_array_equal(found[0].vertices["n"], other.vertices["n"])
        assert (weights[np.arange(100), found[0].vertices["n"]] > 0).all()


class Sums(Wheel):
    def init(self, v: Wheel.Vertex) -> None:
        sums = np.cumsum(v.weights)
        v.n = np.searchsorted(sums, gl.uniform(0.0, sums[-1]), side="right")


def test_sums_that_are_kept_find_what_the_weights_draw() -> None:
    """As docs/randomness.md says for many draws by the same weights."""
    init, graph = {"weights": weights_of(4)}, vertices(200)
    found = (gl.run(p(k=4), graph, max_iterations=0, init=init).vertices["n"] for p in (Early, Sums))
    np.testing.assert_array_equal(*found)


TINY, HUGE = 5e-324, 1.7e308


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@pytest.mark.parametrize("k", [2, 19])
@pytest.mark.parametrize("weight", [TINY, 1.0, HUGE])
def test_the_only_weight_is_always_drawn(mode: dict[str, Any], k: int, weight: float) -> None:
    """Whatever is rounded, and wherever it stands."""
    n = 40
    places = [(vertex * 7) % k for vertex in range(n)]
    rows = np.array([[weight if j == place else 0.0 for j in range(k)] for place in places])
    found = gl.run(Wheel(k=k), vertices(n), max_iterations=1, init={"weights": rows}, **mode).vertices["n"]
    assert found.tolist() == places


BAD = {
    "negative": [1.0, -TINY, 1.0],
    "nan": [1.0, math.nan, 1.0],
    "nothing": [0.0, -0.0, 0.0],
    "infinite": [1.0, math.inf, 1.0],
    "an infinite sum": [HUGE, HUGE, 0.0],
}


@pytest.mark.parametrize("what", BAD)
def test_weights_that_cannot_be_drawn_by_name_the_vertex(what: str, hosts: Hosts) -> None:
    rows = {vertex: [1.0, 0.0, 2.0] for vertex in (1, 2, 3)} | {4: BAD[what]}
    assert_fault(hosts, Wheel, {"weights": rows}, 8)


def test_outside_of_a_method_there_are_no_weights() -> None:
    with pytest.raises(gl.UsageError, match=r"gl.categorical draws only in the methods of a program"):
        gl.categorical([1.0, 2.0])


class Step(gl.VertexProgram):
    """The recipe of docs/randomness.md."""

    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        to: gl.VertexId

    class Edge(gl.Edge):
        weight: float = 1.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.ArgMin[float, gl.VertexId]:
        return gl.exponential() / e.weight, nbr.id

    def apply(self, v: Vertex, total: tuple[float, gl.VertexId]) -> None:
        _, v.to = total


def steps(comm: Comm, many: int) -> list[Any]:
    """Return the choices of vertices that each have edges to 0, 1 and 2, of weights 1, 2 and 5."""
    source = np.repeat(np.arange(3, 3 + many), 3)
    columns = {"weight": np.tile([1.0, 2.0, 5.0], many)}
    graph = gl.Graph.from_edges(
        source, np.tile([0, 1, 2], many), columns=columns, comm=comm, strategy="random"
    )
    chosen: list[Any] = gl.run(Step(), graph, max_iterations=1, seed=9).vertices["to"].tolist()
    return chosen


def test_a_random_edge_is_chosen_by_weight(hosts: Hosts) -> None:
    chosen = steps(Comm(), 4000)
    assert chosen[:3] == [-1] * 3
    counts = np.bincount(chosen[3:], minlength=3)
    assert stats.chisquare(counts, 500 * np.array([1, 2, 5])).pvalue > 1e-4
    for size in (2, 3):
        assert hosts(size).run(steps, 4000) == [chosen] * size
