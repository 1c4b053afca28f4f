"""Totals by key: order, indices, faults, and where they are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from gaslab.language.sum_by import Totals
from tests.mpi.ranks import Ranks
from tests.programs import sum_by
from tests.support.agreement import from_text

ENGINES = ("require", "never", "reference")


def how(engine: str) -> dict[str, str]:
    return {"engine": engine} if engine == "reference" else {"compile": engine}


class Histogram(gl.VertexProgram):
    """What is asked of a total depends on its sum alone, or also on the order of the keys."""

    class Vertex(gl.Vertex):
        x: int = 0
        order: int = 0
        first: int = 0
        most: int = 0

    class Edge(gl.Edge):
        weight: float = 1.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[int, float]:
        return nbr.x, e.weight

    def apply(self, v: Vertex, total: gl.SumBy[int, float]) -> None:
        v.order, last = 1, -(2**62)
        for key, weight in total.items():
            if key <= last or total[key] != weight:
                v.order = 0
            last = key
        if total:
            v.most = total.argmax()


class OfIds(Histogram):
    """The same of ids."""

    Vertex = Histogram.Vertex

    Edge = Histogram.Edge

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[gl.VertexId, float]:
        return nbr.id, e.weight

    def apply(self, v: Vertex, total: gl.SumBy[gl.VertexId, float]) -> None:
        v.order, last = 1, v.id
        for key, weight in total.items():
            if (key <= last and last != v.id) or total[key] != weight:
                v.order = 0
            last = key
        v.first = len(total)


@pytest.mark.parametrize("count", [0, 1, 2, 7, 8, 9, 16, 17, 40, 333, 5000])
@pytest.mark.parametrize("kinds", [3, 1000, 1 << 40])
def test_keys_ascend_and_sums_are_found(count: int, kinds: int) -> None:
    random = np.random.default_rng(count)
    keys = random.integers(-kinds, kinds, count)
    weights = random.integers(1, 99, count) / 4
    graph = gl.Graph.from_edges(
        np.arange(count), np.full(count, count), columns={"weight": weights}, vertices=[count]
    )
    result = gl.run(Histogram(), graph, max_iterations=1, init={"x": np.append(keys, 0)}, compile="require")
    sums: dict[int, float] = {}
    for key, weight in zip(keys.tolist(), weights.tolist(), strict=True):
        sums[key] = sums.get(key, 0.0) + weight
    assert result.vertices["order"][-1] == 1
    expected = min(sums, key=lambda key: (-sums[key], key)) if sums else 0
    assert result.vertices["most"][-1] == expected


def test_sums_of_ids() -> None:
    random = np.random.default_rng(5)
    ends = random.integers(0, 300, (2, 9000))
    graph = gl.Graph.from_edges(*ends, columns={"weight": random.integers(1, 9, 9000) / 2})
    result = gl.run(OfIds(), graph, max_iterations=1, compile="require")
    assert (result.vertices["order"] == 1).all()
    distinct = [np.unique(ends[0][ends[1] == v]).size for v in result.vertices.ids]
    assert result.vertices["first"].tolist() == distinct
    for program in (sum_by.WeightedLabels, sum_by.Argmax):
        one, other = (
            gl.run(program(), graph, max_iterations=4, engine=engine) for engine in ("sync", "reference")
        )
        assert one.vertices["label"].tolist() == other.vertices["label"].tolist()


class Bits(gl.VertexProgram):
    """Each key's sum as it was added up."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        mixed: float = 0.0

    class Edge(gl.Edge):
        weight: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[int, float]:
        return nbr.degree % 4, e.weight

    def apply(self, v: Vertex, total: gl.SumBy[int, float]) -> None:
        for key, weight in total.items():
            v.mixed = v.mixed / 3.0 + weight * key + weight


def bits(comm: Any) -> list[list[float]]:
    random = np.random.default_rng(8)
    ends, weights = random.integers(0, 40, (2, 700)), random.random(700)
    graph = gl.Graph.from_edges(*ends, columns={"weight": weights}, strategy="dbh", comm=comm)
    modes = [("require", 1), ("require", 2), ("never", 1), ("require", 2)]
    found = [gl.run(Bits(), graph, max_iterations=1, compile=c, threads=t) for c, t in modes]
    return [one.vertices["mixed"].tolist() for one in found]


def test_sums_of_floats_have_the_same_bits_each_time(ranks: Ranks) -> None:
    for one in ranks.run(bits):
        assert all(other == one[0] for other in one)


def test_the_greatest_sum_in_plain_python() -> None:
    total = Totals(0.0)
    total.update({3: math.nan, 1: math.nan})
    assert total.argmax() == 1
    total.update({5: -math.inf, 4: -math.inf})
    assert total.argmax() == 4
    with pytest.raises(IndexError, match="argmax of an empty total"):
        Totals(0).argmax()


class Nans(Bits):
    Edge = Bits.Edge

    class Vertex(Bits.Vertex):
        most: int = -1

    def gather(self, v: Vertex, e: Bits.Edge, nbr: Vertex) -> gl.SumBy[int, float]:
        return int(e.weight) if e.weight < 1e9 else -7, (e.weight if e.weight < 5.0 else math.nan) - 9.0

    def apply(self, v: Vertex, total: gl.SumBy[int, float]) -> None:
        v.most = total.argmax()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("weights", "most"),
    [([7.0, 6.0], 6), ([7.0, 6.0, 1.0], 1), ([1.0, 1.5, 3.0, 7.0], 3), ([2.0, 2.0, -5.0], -5)],
)
def test_a_sum_that_is_nan_comes_last(engine: str, weights: list[float], most: int) -> None:
    n = len(weights)
    graph = gl.Graph.from_edges(range(n), [n] * n, columns={"weight": weights})
    result = gl.run(Nans(), graph, max_iterations=1, **how(engine))
    assert result.vertices["most"][-1] == most


TEXT = """\
import gaslab as gl


class P(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: int = 200

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SumBy[gl.int16, gl.int8]:
        {gather}

    def apply(self, v: Vertex, total: gl.SumBy[gl.int16, gl.int8]) -> None:
        {apply}
"""


@pytest.mark.parametrize(
    ("gather", "apply", "line", "message"),
    [
        ("return None", "v.x = total.argmax()", 12, "the argmax of an empty total; test len(total) first"),
        ("return nbr.x * 999, 1", "v.x = 1", 9, "a value outside the range of the type it is stored in"),
        ("return nbr.x, 200", "v.x = 1", 9, "a value outside the range of the type it is stored in"),
        ("return 5, 100", "v.x = total[5]", 8, "a value outside the range of the type it is stored in"),
    ],
)
@pytest.mark.parametrize("engine", ENGINES)
def test_faults_name_the_vertex_and_the_line(
    gather: str, apply: str, line: int, message: str, engine: str
) -> None:
    program = from_text(f"sums_{abs(hash((gather, apply)))}", TEXT.format(gather=gather, apply=apply)).P
    graph = gl.Graph.from_edges([5, 6, 7], [8, 8, 8])
    with pytest.raises(gl.ExecutionError) as caught:
        gl.run(program(), graph, max_iterations=1, **how(engine))
    where = (line, line - 1) if engine == "reference" else (line,)  # which names gather's own line
    assert any(f":{k}: P failed at vertex " in str(caught.value) for k in where)
    if engine != "reference":
        assert message in str(caught.value)


def test_keys_are_sorted_only_for_a_loop_that_needs_it() -> None:
    assert "gl_sort_total(c, total)" in emit(parse(sum_by.Ints))
    assert "gl_sort" not in emit(parse(sum_by.Argmax)) + emit(parse(sum_by.WeightedLabels))


class Signalled(Histogram):
    Vertex, Edge = Histogram.Vertex, Histogram.Edge

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if nbr.x < v.x:
            nbr.signal()


@pytest.mark.parametrize("engine", ["async", "stale"])
def test_where_totals_by_key_are_refused(engine: str) -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    with pytest.raises(gl.UsageError) as caught:
        gl.run(Signalled(), graph, engine=gl.Stale(1) if engine == "stale" else engine)
    text = f"Signalled cannot run with engine='{engine}': its gather sums by key; use engine='sync'"
    assert str(caught.value) == text


def test_a_trace_and_an_explanation_show_keys() -> None:
    graph = gl.Graph.from_edges([1, 2, 2], [3, 3, 3], columns={"weight": [0.5, 2.0, 1.0]})
    for engine in ("sync", "reference"):
        result = gl.run(sum_by.WeightedLabels(), graph, max_iterations=1, engine=engine, trace=[3])
        (row,) = [row for row in result.trace if row["method"] == "apply"]
        assert row["total"] == {1: 0.5, 2: 3.0}
    text = str(gl.explain(sum_by.WeightedLabels))
    assert "total of gather (at most 12 bytes for each in the list)" in text
    assert "gl.SumBy[id, float64] of what the edges there give" in text


def shown(comm: Any) -> Any:
    graph = gl.Graph.from_edges([1, 2, 2, 4], [3, 3, 3, 3], strategy="random", comm=comm)
    result = gl.run(sum_by.WeightedLabels(), graph, max_iterations=1, trace=[3])
    return [row["total"] for row in result.trace if row["method"] == "apply"]


def test_a_trace_shows_the_sums_of_all_ranks(ranks: Ranks) -> None:
    for rows in ranks.run(shown):
        assert rows == [{1: 1.0, 2: 2.0, 4: 1.0}]
