"""Small promises about how runs begin and end: fixed phases, sets to start with, what results hold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

ENGINES = ["sync", "reference"]


class Fixed(gl.VertexProgram):
    """Two phases of so many supersteps each; nothing else ends them."""

    class Vertex(gl.Vertex):
        up: int = 0
        down: int = 0

    @gl.aggregator(every=2)
    def height(self, v: Vertex) -> gl.Sum[int]:
        return v.up + v.down + 1

    def rise(self, v: Vertex) -> None:
        v.up += 1

    def fall(self, v: Vertex) -> None:
        v.down -= 1

    phases = (gl.Phase(apply=rise, supersteps=2), gl.Phase(apply=fall, supersteps=3))


def fixed(comm: Comm, engine: str, limit: int | None) -> tuple[bool, int, list[str], list[int]]:
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=comm)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        result = gl.run(Fixed(), graph, engine=engine, max_iterations=limit)
    heights = [row["height"] for row in result.history]
    return result.converged, result.iterations, [str(one.message) for one in warned], heights


@pytest.mark.parametrize("engine", ENGINES)
def test_phases_of_fixed_length_end_by_themselves(ranks: Ranks, engine: str) -> None:
    for limit in (None, 5, 9):
        for found in ranks.run(fixed, engine, limit):
            assert found == (True, 5, [], [3, 9, 9, 3, 3])
    for rank, (converged, iterations, warned, heights) in enumerate(ranks.run(fixed, engine, 4)):
        assert (converged, iterations, heights) == (False, 4, [3, 9, 9, 3])
        assert warned == ["Fixed was not done after 4 supersteps; raise max_iterations"] * (rank == 0)


class Counted(Fixed):
    """The same; what it counts is of interest when a phase is over."""

    @gl.aggregator(every=gl.Phase)
    def ups(self, v: Fixed.Vertex) -> gl.Sum[int]:
        return v.up

    @gl.aggregator(every=gl.Phase)
    def falls(self, v: Fixed.Vertex, e: gl.Edge, nbr: Fixed.Vertex) -> gl.Min[int]:
        return nbr.down


def counted(comm: Comm, engine: str, limit: int | None) -> tuple[list[tuple[int, int]], int, int]:
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=comm)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the limit
        result = gl.run(Counted(), graph, engine=engine, max_iterations=limit)
    rows = [(row["ups"], row["falls"]) for row in result.history]
    return rows, result.aggregates["ups"], result.aggregates["falls"]


@pytest.mark.parametrize("engine", ENGINES)
def test_aggregates_of_phases_are_computed_when_these_are_over(ranks: Ranks, engine: str) -> None:
    rows = [(0, 0), (0, 0), (6, 0), (6, 0), (6, 0)]
    assert ranks.run(counted, engine, None) == [(rows, 6, -3)] * ranks.size
    assert ranks.run(counted, engine, 4) == [(rows[:4], 6, -2)] * ranks.size
    assert ranks.run(counted, engine, 1) == [(rows[:1], 3, 0)] * ranks.size


class Reach(gl.VertexProgram):
    class Vertex(gl.Vertex):
        hops: int = 99

    def apply(self, v: Vertex, message: gl.Min[int]) -> None:
        v.hops = 0 if self.superstep == 0 else min(v.hops, message)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.hops + 1 < nbr.hops:
            nbr.signal(v.hops + 1)


def from_a_set(comm: Comm, engine: str, bipartite: bool) -> list[int]:
    graph = gl.Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4], comm=comm, bipartite=bipartite)

    def sources(v: Any) -> Any:
        return v.in_degree == 0

    begin = graph.vertices(sources)
    if not bipartite:
        begin = begin | graph.vertices([3])
    return list(gl.run(Reach(), graph, engine=engine, start=begin).vertices["hops"].tolist())


@pytest.mark.parametrize("engine", ENGINES)
def test_a_vertex_set_to_start_with(ranks: Ranks, engine: str) -> None:
    assert ranks.run(from_a_set, engine, False) == [[0, 1, 2, 0, 1]] * ranks.size
    assert ranks.run(from_a_set, engine, True) == [[0] * 4 + [1] * 4] * ranks.size


class Unwritten(gl.VertexProgram):
    class Edge(gl.Edge):
        flow: float = 2.0
        far: bool = False

    def scatter(self, v: gl.Vertex, e: Edge, nbr: gl.Vertex) -> None:
        if v.degree > 100:
            e.flow = 1.0


def unwritten(comm: Comm, engine: str) -> dict[str, list[float]]:
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=comm)
    edges = gl.run(Unwritten(), graph, engine=engine, edges=True).edges
    return {name: edges[name].tolist() for name in edges}


@pytest.mark.parametrize("engine", ENGINES)
def test_edge_fields_that_could_have_been_written_are_in_the_result(ranks: Ranks, engine: str) -> None:
    assert ranks.run(unwritten, engine) == [{"flow": [2.0, 2.0]}] * ranks.size


class Seeds(gl.VertexProgram):
    """Vectors and matrices of vertices and edges that start from draws."""

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=3, init=gl.normal(0.5))
        m: gl.Matrix = gl.field(shape=(2, 2), dtype=gl.float32, init=gl.uniform(-1.0, 1.0))
        k: gl.Vector = gl.field(shape=2, dtype=gl.uint64, init=gl.integers(1000))

    class Edge(gl.Edge):
        y: gl.Vector = gl.field(shape=2, init=gl.normal(1.0))

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.y[0] = e.y[0] + 0.0


def seeds(comm: Comm, engine: str, seed: int) -> list[Any]:
    graph = gl.Graph.from_edges([0, 1, 2, 0, 0], [1, 2, 3, 3, 3], comm=comm)
    result = gl.run(Seeds(), graph, engine=engine, seed=seed, edges=True)
    return [result.vertices[name] for name in ("x", "m", "k")] + [result.edges["y"]]


def test_random_starts_of_arrays(ranks: Ranks) -> None:
    first, *others = [one for engine in ENGINES for one in ranks.run(seeds, engine, 1)]
    for other in others:
        assert all(np.array_equal(a, b) and a.dtype == b.dtype for a, b in zip(first, other, strict=True))
    for values in first:
        assert np.unique(values).size == values.size, "every element has a draw of its own"
    anew = ranks.run(seeds, "sync", 2)[0]
    assert not any(np.array_equal(a, b) for a, b in zip(first, anew, strict=True))
