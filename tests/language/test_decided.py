"""A gather leaves its edges as soon as none can change the total: what comes later is not looked at."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl

MODES: list[dict[str, Any]] = [{}, {"compile": "never"}]


class Seen(gl.VertexProgram):
    """The neighbours from 10 on would end the run."""

    class Vertex(gl.Vertex):
        one: int = 0
        found: bool = False

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Any[bool]:
        return 1 // nbr.one == 1

    def apply(self, v: Vertex, total: bool) -> None:
        v.found = total


class Unseen(Seen):
    def gather(self, v: Seen.Vertex, e: gl.Edge, nbr: Seen.Vertex) -> gl.All[bool]:
        return 1 // nbr.one == 2


class Both(Seen):
    class Total(gl.Accumulator):
        some: gl.Any[bool]
        every: gl.All[bool]

    def gather(self, v: Seen.Vertex, e: gl.Edge, nbr: Seen.Vertex) -> Total:
        return self.Total(some=1 // nbr.one == 1, every=1 // nbr.one == 2)

    def apply(self, v: Seen.Vertex, total: Total) -> None:
        v.found = total.some and not total.every


class Half(Both):
    """One of its parts is never decided, so all edges count."""

    def gather(self, v: Seen.Vertex, e: gl.Edge, nbr: Seen.Vertex) -> Both.Total:
        return self.Total(some=1 // nbr.one == 1, every=1 // nbr.one == 1)


def run(program: gl.VertexProgram, mode: dict[str, Any]) -> Any:
    graph = gl.Graph.from_edges(range(1, 101), [0] * 100)
    ones = {"one": {k: int(k < 10) for k in range(101)}}
    return gl.run(program, graph, max_iterations=1, init=ones, **mode).vertices["found"][0]


@pytest.mark.slow
@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted"])
def test_a_decided_total_ends_the_gather(mode: dict[str, Any]) -> None:
    assert run(Seen(), mode)
    assert not run(Unseen(), mode)
    assert run(Both(), mode)
    with pytest.raises(gl.ExecutionError, match="failed at vertex 0 in superstep 0: integer division"):
        run(Half(), mode)


class Rare(gl.VertexProgram):
    """Whether an edge is light; few are, so most gathers look at all their edges, four by four."""

    class Vertex(gl.Vertex):
        found: int = 0

    class Edge(gl.Edge):
        weight: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[bool]:
        return e.weight * (1.0 + self.superstep) < 0.02

    def apply(self, v: Vertex, total: bool) -> None:
        v.found += int(total)


class Never(Rare):
    def gather(self, v: Rare.Vertex, e: Rare.Edge, nbr: Rare.Vertex) -> gl.Min[bool]:
        return e.weight * (1.0 + self.superstep) >= 0.02


@pytest.mark.parametrize("program", [Rare, Never])
def test_a_total_is_decided_by_a_comparison_of_floats(program: type[gl.VertexProgram]) -> None:
    rng = np.random.default_rng(5)
    ends, weight = rng.integers(0, 12, (2, 160)), rng.random(160)
    graph = gl.Graph.from_edges(*ends, columns={"weight": weight})
    expected = np.zeros(12, int)
    for superstep in range(8):
        light = np.bincount(ends[1], weight * (1.0 + superstep) < 0.02, 12) > 0
        expected += light if program is Rare else ~light
    for how in ({"compile": "require"}, {"compile": "never"}, {"engine": "reference"}):
        found = gl.run(program(), graph, max_iterations=8, threads=1, **how).vertices["found"]
        assert found.tolist() == expected.tolist(), how
