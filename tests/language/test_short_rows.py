"""Rows of few edges, whose totals take another way in the emitted C: the bits of the interpreted program."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from tests.support.agreement import from_text

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.1, 1e300, -1e300, 5e-324, math.inf, -math.inf, math.nan]

TEXT = """
import gaslab as gl

class Rows(gl.VertexProgram):
    precision = gl.{precision}
    gather_edges = gl.{edges}

    class Vertex(gl.Vertex):
        given: float
        total: float
        seen: int = 0

    @gl.aggregator
    def whole(self, v: Vertex) -> gl.Sum[int]:
        return v.seen

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.{combiner}[float]:
        return nbr.given

    def apply(self, v: Vertex, total: float) -> None:
        v.total = total
        v.seen = v.seen + 1
"""


def short_rows(directed: bool) -> gl.Graph:
    """Return a graph of vertices with 0 to 6 edges in and out, many times over."""
    rng, n = np.random.default_rng(8), 300
    targets = np.repeat(np.arange(n), rng.integers(0, 7, n))
    sources = rng.permutation(np.repeat(np.arange(n), rng.integers(0, 7, n)))
    m = min(len(sources), len(targets))
    return gl.Graph.from_edges(sources[:m], targets[:m], vertices=np.arange(n), directed=directed)


@pytest.mark.parametrize("combiner", ["Sum", "Prod", "Min", "Max"])
@pytest.mark.parametrize("edges", ["IN", "OUT", "ALL"])
@pytest.mark.parametrize("precision", ["float64", "float32"])
@pytest.mark.parametrize("directed", [True, False])
def test_totals_of_short_rows(combiner: str, edges: str, precision: str, directed: bool) -> None:
    name = f"short_rows_{combiner}_{edges}_{precision}"
    program = from_text(name, TEXT.format(combiner=combiner, edges=edges, precision=precision)).Rows
    assert "last_in - first_in < 4" in emit(parse(program))
    graph = short_rows(directed)
    local = graph.local
    rows = {"IN": local.in_degree, "OUT": local.out_degree, "ALL": local.degree}[edges]
    assert set(rows.tolist()) >= set(range(5))
    given = np.random.default_rng(3).choice(SPECIAL, graph.num_vertices)
    ways: list[dict[str, Any]] = [
        {"compile": "require"},
        {"compile": "require", "threads": 2},
        {"compile": "never"},
    ]
    first, *others = (
        gl.run(program(), graph, max_iterations=2, init={"given": given}, **way).vertices for way in ways
    )
    for other in others:
        assert first["seen"].tolist() == other["seen"].tolist()
        assert bits(first["total"]) == bits(other["total"])


def bits(values: np.ndarray) -> bytes:
    """Return the bytes of *values*, all nan alike."""
    return np.where(np.isnan(values), np.nan, values).tobytes()


class FirstPositive(gl.VertexProgram):
    """Stops at an edge: what lies behind it does not count, in short rows neither."""

    class Vertex(gl.Vertex):
        given: float
        total: float

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[float]:
        if nbr.given > 0.0:
            gl.stop()
        return nbr.given

    def apply(self, v: Vertex, total: float) -> None:
        v.total = total


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_short_rows_end_where_gather_stops() -> None:
    assert "first_in" not in emit(parse(FirstPositive))
    graph = short_rows(True)
    given = np.random.default_rng(3).choice([-1.0, 0.0, 3.0], graph.num_vertices)
    compiled, interpreted = (
        gl.run(FirstPositive(), graph, max_iterations=1, init={"given": given}, compile=how).vertices["total"]
        for how in ("require", "never")
    )
    assert compiled.tolist() == interpreted.tolist()


class Nobody(gl.VertexProgram):
    """Gathers over no edges, and only a few vertices run."""

    gather_edges = gl.NONE

    class Vertex(gl.Vertex):
        ran: int = 0
        total: float = 5.0

    @gl.aggregator
    def whole(self, v: Vertex) -> gl.Sum[int]:
        return v.ran

    def active(self, v: Vertex) -> bool:
        return v.in_degree == 6

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return nbr.total

    def apply(self, v: Vertex, total: float) -> None:
        v.ran = v.ran + 1
        v.total = total

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.out_degree == 3:
            nbr.signal()


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("engine", [gl.Sync(), gl.Stale(0)], ids=str)
def test_vertices_that_do_not_run_are_left_alone(engine: Any) -> None:
    graph, found = short_rows(True), []
    for how in (engine, "reference"):
        result = gl.run(Nobody(), graph, max_iterations=3, engine=how)
        found.append(
            [result.vertices["ran"].tolist(), result.vertices["total"].tolist(), result.history[-1]["whole"]]
        )
    assert found[0] == found[1]
    assert set(found[0][0]) == {0, 3}
