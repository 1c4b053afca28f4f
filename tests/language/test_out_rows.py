"""Fields of edges that change lie in the order of in-edges: a walk along out-edges fetches them ahead."""

from __future__ import annotations

import numpy as np
import pytest

import gaslab as gl
from gaslab import compiler
from gaslab.compiler.c import emit
from gaslab.compiler.c.prelude import HELPERS
from gaslab.compiler.frontend import parse

pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")


class Summed(gl.VertexProgram):
    """Four edges at a time."""

    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        x: int = 0
        often: gl.Vector = gl.field(shape=3, dtype=gl.int32)
        near: gl.List[int]

    class Edge(gl.Edge):
        kind: int = gl.integers(3)

    class Total(gl.Accumulator):
        often: gl.Vector = gl.field(shape=3, dtype=gl.int32)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return e.kind

    def apply(self, v: Vertex, total: int) -> None:
        v.x = total

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.kind = (e.kind + v.x) % 3
        nbr.signal()


class Counted(Summed):
    """Each edge to an element of a vector."""

    def gather(self, v: Summed.Vertex, e: Summed.Edge, nbr: Summed.Vertex) -> Summed.Total:
        return self.Total(often=gl.at(e.kind))

    def apply(self, v: Summed.Vertex, total: Summed.Total) -> None:
        v.often = total.often
        v.x = v.often[1]


class Listed(Summed):
    """All of a vertex's edges."""

    def gather(self, v: Summed.Vertex, e: Summed.Edge, nbr: Summed.Vertex) -> gl.List[int]:
        return e.kind

    def apply(self, v: Summed.Vertex, total: gl.List[int]) -> None:
        v.near = total
        v.x = len(total)


@pytest.mark.parametrize("edges", [1, 67, 68, 69, 72, 73, 900])
@pytest.mark.parametrize("program", [Summed, Counted, Listed])
def test_fetching_edges_ahead_changes_no_answer(
    program: type[gl.VertexProgram], edges: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    always = HELPERS["gl_prefetch_slots_end"].replace("GL_MANY_SLOTS = 1 << 14", "GL_MANY_SLOTS = 1")
    assert always != HELPERS["gl_prefetch_slots_end"]
    monkeypatch.setitem(HELPERS, "gl_prefetch_slots_end", always)
    monkeypatch.setattr(compiler, "_emitted_from", compiler._emitted_from.__wrapped__)  # which remembers
    assert "out_slot[p + GL_PREFETCH_EDGES + 0]" in emit(parse(program))
    graph = gl.Graph.from_edges(*np.random.default_rng(3).integers(0, 60, (2, edges)))
    one, other = (
        gl.run(program(), graph, max_iterations=3, compile="require", engine=engine, seed=2)
        for engine in ("sync", "reference")
    )
    for name in one.vertices.columns:
        assert [*map(str, one.vertices[name])] == [*map(str, other.vertices[name])], name


@pytest.mark.parametrize("program", [Summed, Counted, Listed])
def test_a_graph_of_many_edges_has_the_answer_of_the_reference(program: type[gl.VertexProgram]) -> None:
    graph = gl.Graph.generate("rmat", scale=11, edge_factor=10, seed=1)
    one, other = (
        gl.run(program(), graph, max_iterations=2, compile="require", engine=engine, seed=2)
        for engine in ("sync", "reference")
    )
    assert one.vertices["x"].tolist() == other.vertices["x"].tolist()
