"""Gather caching: the answers of the same program without it, and how much is gathered."""

from __future__ import annotations

import math
from typing import Any

import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


class Halves(gl.VertexProgram):
    """Values move by sixteenths, so that every sum is exact; a vertex that moves posts it."""

    class Vertex(gl.Vertex):
        value: float = 0.0
        moved: float = 0.0

    def init(self, v: Vertex) -> None:
        v.value = v.degree / 16.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.value

    def apply(self, v: Vertex, total: float) -> None:
        before = v.value
        v.value = (v.value + total) // 0.0625 % 16.0 * 0.0625
        v.moved = v.value - before

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.moved != 0.0:
            nbr.post_delta(v.moved)
            nbr.signal()


class Plain(Halves):
    def scatter(self, v: Halves.Vertex, e: gl.Edge, nbr: Halves.Vertex) -> None:
        if v.moved != 0.0:
            nbr.signal()


class Rebuilt(Halves):
    cache_rebuild = 2


class Mute(Halves):
    """Says nothing of its changes, which is found out."""

    def scatter(self, v: Halves.Vertex, e: gl.Edge, nbr: Halves.Vertex) -> None:
        if v.moved != 0.0:
            nbr.signal()
        else:
            nbr.post_delta(0.0)


def run_all(comm: Comm, strategy: str, mode: dict[str, Any]) -> list[Any]:
    graph = gl.Graph.generate("rmat", scale=5, edge_factor=3, seed=2, strategy=strategy, comm=comm)
    found = []
    for program in (Plain(), Halves(), Rebuilt(), Mute()):
        result = gl.run(program, graph, max_iterations=9, **mode)
        found.append((result.vertices["value"].tolist(), result.metrics.get("gathers"), result.iterations))
    return found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("mode", [{"threads": 2}, {"compile": "never"}], ids=["compiled", "interpreted"])
@pytest.mark.parametrize("strategy", ["1d", "random"])
def test_cached_gathers_give_the_same_and_are_fewer(
    ranks: Ranks, strategy: str, mode: dict[str, Any]
) -> None:
    results = ranks.run(run_all, strategy, mode)
    assert results == [results[0]] * ranks.size
    plain, cached, rebuilt, mute = results[0]
    assert plain[1] is None
    for other in (cached, rebuilt, mute):
        assert (other[0], other[2]) == (plain[0], plain[2])
        assert other[1]["done"] + other[1]["skipped"] == cached[1]["done"] + cached[1]["skipped"]
    assert 0 < cached[1]["done"] < rebuilt[1]["done"] < mute[1]["done"]
    assert cached[1]["skipped"] > 4 * cached[1]["done"]  # each replica gathers once


class Constant(gl.VertexProgram):
    """A cached gather reads arrays and lists that apply writes anew without a change."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        z: gl.Vector = gl.field(shape=3, init=math.nan)
        near: gl.List[int]
        seen: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return len(nbr.near) + (1 if nbr.z[1] < 0.0 else 3)

    def apply(self, v: Vertex, total: int) -> None:
        v.seen += total
        v.z[1] = v.z[1] * 1.0
        v.near = v.near

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.seen < -1:
            nbr.clear_cache()
        nbr.signal()


def run_constant(comm: Comm, mode: dict[str, Any]) -> Any:
    graph = gl.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], strategy="random", comm=comm)
    lists = {v: [v] * (v + 1) for v in range(4)}
    result = gl.run(Constant(), graph, max_iterations=5, init={"near": lists}, **mode)
    return result.vertices["seen"].tolist(), result.metrics["gathers"]


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning", "ignore::gaslab.PerformanceWarning")
@pytest.mark.parametrize("mode", [{"threads": 2}, {"compile": "never"}], ids=["compiled", "interpreted"])
def test_arrays_and_lists_that_stay_the_same_keep_the_totals(ranks: Ranks, mode: dict[str, Any]) -> None:
    for seen, gathers in ranks.run(run_constant, mode):
        assert seen == [5 * s for s in (2 + 3 + 4 + 9, 1 + 3 + 6, 1 + 2 + 4 + 9, 1 + 3 + 6)]
        replicas = gathers["done"]  # each gathers once
        assert gathers["skipped"] == 4 * replicas
