"""The oracle itself: against NetworkX, and the parts of the language's meaning that others copy."""

from __future__ import annotations

import bdb
import math
import sys
from collections.abc import Callable
from typing import Any

import networkx as nx
import pytest

from gaslab import program as gl
from gaslab.errors import ExecutionError, ProgramError, UsageError, VertexNotFound
from gaslab.programs.pagerank import PageRank
from gaslab.reference.arithmetic import Float, Int, narrow
from gaslab.reference.run import ReferenceResult, run_reference
from gaslab.reference.translate import translate
from tests.programs.signals import Parts, Paths


def on(graph: Any, program: gl.VertexProgram, **options: Any) -> ReferenceResult:
    return run_reference(program, list(graph), list(graph.edges), directed=graph.is_directed(), **options)


@pytest.mark.parametrize("directed", [True, False])
def test_pagerank_is_networkx_s(directed: bool) -> None:
    graph = nx.gnp_random_graph(40, 0.06, seed=2, directed=directed)
    result = on(graph, PageRank(tolerance=1e-13))
    assert result.converged
    assert result.vertices["score"] == pytest.approx(nx.pagerank(graph, tol=1e-15, max_iter=1000), abs=1e-12)


def test_distances_are_dijkstra_s_on_string_ids() -> None:
    graph = nx.relabel_nodes(nx.gnp_random_graph(50, 0.05, seed=3, directed=True), "v{}".format)
    weights = [1.0 + 7 * i % 5 for i in range(graph.number_of_edges())]
    nx.set_edge_attributes(graph, dict(zip(graph.edges, weights, strict=True)), "weight")
    result = on(graph, Paths(source="v3"), columns={"weight": weights})
    near = nx.single_source_dijkstra_path_length(graph, "v3")
    assert result.vertices["distance"] == {v: near.get(v, math.inf) for v in graph}
    assert result.history[0] == {"superstep": 0, "active": 1}
    assert result.iterations == len(result.history)


def test_messages_flood_components() -> None:
    graph = nx.gnp_random_graph(40, 0.03, seed=4)
    result = on(graph, Parts())
    expected = {v: min(part) for part in nx.connected_components(graph) for v in part}
    assert result.vertices["part"] == expected


class Degrees(gl.VertexProgram):
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        ends: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return 1

    def apply(self, v: Vertex, total: int) -> None:
        v.ends = total * 100 + v.in_degree * 10 + v.out_degree


@pytest.mark.parametrize(("directed", "expected"), [(True, {7: 523, 8: 110}), (False, {7: 555, 8: 111})])
def test_loops_and_parallels_count_by_ends(directed: bool, expected: dict[int, int]) -> None:
    edges = [(7, 7), (7, 7), (7, 8)]
    result = run_reference(Degrees(), [7, 8], edges, directed=directed, max_iterations=1)
    assert result.vertices["ends"] == expected
    assert result.iterations == 1


def test_the_program_s_own_end_or_the_limit_is_reported() -> None:
    ring = nx.cycle_graph(5, create_using=nx.DiGraph)
    assert on(ring, Degrees(), max_iterations=3).converged  # it has no end of its own
    assert not on(nx.path_graph(5, create_using=nx.DiGraph), PageRank(), max_iterations=3).converged
    assert not on(nx.path_graph(5), Parts(), max_iterations=2).converged
    assert on(nx.path_graph(5), Parts(), max_iterations=9).iterations == 5
    with pytest.raises(UsageError, match="Degrees would never end; give max_iterations"):
        on(ring, Degrees())


class Numbers(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: float = 0.0
        n: int = 0
        small: gl.int8 = 0
        single: gl.float32 = 0.1


def computing(body: Callable[[Any, Any], None]) -> ReferenceResult:
    """Run one apply, *body*, on the single vertex 0."""
    program = type("Computing", (Numbers,), {"apply": body})()
    return run_reference(program, [0], [], max_iterations=1)


def test_floats_never_raise_and_integers_wrap() -> None:
    def apply(self: Any, v: Any) -> None:
        zero = 0.0
        v.x = math.log(zero) + math.sqrt(-1.0) if 1.0 / zero == math.inf else 0.0
        v.n = 9223372036854775807
        v.n += 1
        v.n = v.n // 3
        infinite = min(5.0 // zero, math.exp(1e3)) == math.inf
        if infinite and math.isnan(v.x) and math.isnan(zero / zero):
            v.small = 1

    result = computing(apply)
    assert result.vertices["n"] == {0: -(2**63) // 3}
    assert result.vertices["small"] == {0: 1}
    assert result.vertices["single"] == {0: 0.10000000149011612}
    assert {type(values[0]) for values in result.vertices.values()} == {int, float}


def test_faults_name_the_vertex_and_the_line() -> None:
    def division(self: Any, v: Any) -> None:
        v.n = 1 // v.n

    def narrowing(self: Any, v: Any) -> None:
        v.small = 100 + 28

    def shift(self: Any, v: Any) -> None:
        v.n = 1 << (64 + v.n)

    def cast(self: Any, v: Any) -> None:
        v.n = int(1e300 + v.x)

    def step(self: Any, v: Any) -> None:
        for _ in range(0, 3, v.n):
            v.n = 1

    for body, text in [
        (division, "integer division by zero"),
        (narrowing, "128 is outside the range of int8"),
        (shift, "shift by 64"),
        (cast, r"1e\+300 is outside the range of int64"),
        (step, "step 0"),
    ]:
        line = body.__code__.co_firstlineno + 1
        where = rf"test_reference.py:{line}: Computing failed at vertex 0 in superstep 0: .*{text}.*\n    \S"
        with pytest.raises(ExecutionError, match=where):
            computing(body)


def test_gather_and_apply_write_only_what_they_may() -> None:
    class Writes(Degrees):
        def gather(self, v: Any, e: gl.Edge, nbr: Any) -> gl.Sum[int]:
            nbr.ends = 1
            return 1

    with pytest.raises(ProgramError, match="gather cannot write the vertex field 'ends'"):
        run_reference(Writes(), [1], [(1, 1)], max_iterations=1)
    with pytest.raises(ProgramError, match="no vertex field 'smal'; did you mean 'small'"):
        computing(_misspells)


def _misspells(self: Any, v: Any) -> None:
    v.smal = 1


def test_given_fields_survive_init_and_unknown_ones_are_refused() -> None:
    graph = nx.path_graph(3, create_using=nx.DiGraph)
    columns = {"weight": [1.0, 1.0]}
    result = on(graph, Paths(source=0), columns=columns, init={"distance": {0: 5.0, 1: 5.0, 2: 9.0}})
    assert result.vertices["distance"] == {0: 5.0, 1: 5.0, 2: 9.0}
    with pytest.raises(UsageError, match="no vertex field 'distanse'; did you mean 'distance'"):
        on(graph, Paths(source=0), columns=columns, init={"distanse": {}})
    with pytest.raises(UsageError, match="needs an edge column 'weight'"):
        on(graph, Paths(source=0))
    with pytest.raises(VertexNotFound, match="source=9"):
        on(graph, Paths(source=9), columns=columns)


def test_a_breakpoint_in_apply_stops_there() -> None:
    line = PageRank.apply.__code__.co_firstlineno + 3
    seen: list[float] = []

    class Debugger(bdb.Bdb):
        def user_line(self, frame: Any) -> None:
            if self.break_here(frame):
                seen.append(frame.f_locals["score"])

    debugger = Debugger()
    assert debugger.set_break(PageRank.apply.__code__.co_filename, line) is None
    before = sys.gettrace()
    try:
        debugger.runcall(on, nx.path_graph(4), PageRank(), max_iterations=2)
    finally:
        sys.settrace(before)
    assert len(seen) == 8
    assert math.fsum(seen[:4]) == pytest.approx(1)


class Methods(Numbers):
    LIMIT = 8

    def apply(self, v: Any) -> None:
        v.n = self.wrapped(self.LIMIT) + self.shifted(1)
        v.x = self.shifted(0.0)

    def wrapped(self, n: int) -> int:
        return 2**60 * n * n // 3

    @staticmethod
    def shifted(x: float) -> float:
        return 1 / x if x == 0.0 else 5


def test_methods_and_constants_of_the_program_compute_alike() -> None:
    result = run_reference(Methods(), [0], [], max_iterations=1)
    assert (result.vertices["n"], result.vertices["x"]) == ({0: 5}, {0: math.inf})


def test_arithmetic_is_closed_and_helpers_are_translated() -> None:
    assert type(Int(2) + 0.5) is Float
    assert type(1 - Int(2)) is Int
    assert type(-Float(1)) is Float
    assert type(Int(1) / 2) is Float
    assert Int(2**62) * 4 == 0
    assert Float(-0.0) / -1 == 0
    assert Float(1) / -0.0 == -math.inf
    assert narrow("float32", 1e300) == math.inf
    assert translate(_half)(0.0) == math.inf
    assert translate(_calls_half)(4.0) == 1.0


def _half(x: float) -> float:
    return 1.0 / x


def _calls_half(x: float) -> float:
    return _half(x) * 4 if math.pow(0.0, -1.0) == math.inf else 0.0
