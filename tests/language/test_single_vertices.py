"""The border's range functions, one vertex at a time: what an engine that locks single vertices will call."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab._kernels import phase_runner
from gaslab.compiler import compile_program
from gaslab.engine.bind import bind_edge_fields, bind_parameters
from gaslab.engine.initial_draws import InitialDraws
from gaslab.engine.state import RunState
from gaslab.engine.storage import dtype_of, scalars
from gaslab.engine.view import make_view
from gaslab.parallel.comm import world
from tests.programs.gathers import Rank
from tests.programs.signals import Messages, Paths


class Single:
    """Drives a compiled program on one rank, vertex by vertex."""

    def __init__(self, program: gl.VertexProgram, graph: gl.Graph) -> None:
        compiled = compile_program(type(program), world(), "require")
        assert compiled.library is not None
        self.library, self.tree, self.graph = compiled.library, compiled.tree, graph
        starts = InitialDraws(graph, 0, program.parameters())
        edges = bind_edge_fields(self.tree, graph, None, self.tree.written_edges(), starts)
        self.state = RunState.create(self.tree, graph, edges, starts)
        self.view = make_view(self.state, graph, bind_parameters(self.tree, program, graph), [])
        self.vertices = range(graph.num_vertices)
        for v in self.vertices:
            self.call("gl_init", v)

    def call(self, phase: str, v: int) -> None:
        """Run *phase* on the list of one vertex."""
        function = self.library.function(phase)
        if phase != "gl_init":
            assert function, f"the program has no {phase}"
        if function:
            one = np.array([v], np.int32)
            assert phase_runner.run(self.view, function, np.array([0, 1]), one, None, 1) is None

    def gather(self, v: int) -> np.ndarray:
        assert self.tree.gather is not None
        total = np.empty(1, dtype_of(self.tree.gather.storage))
        self.view.total = total
        self.call("gl_gather", v)
        return total

    def apply(self, v: int, total: np.ndarray | None) -> None:
        self.view.total = total
        self.call("gl_apply", v)

    def signalled(self) -> list[int]:
        found = np.flatnonzero(self.state.signalled).tolist()
        self.state.signalled[:] = 0
        return found

    def values(self, name: str) -> dict[Any, Any]:
        k = [f.name for f in self.tree.vertex_fields].index(name)
        local = self.graph.local
        ids = self.graph.ids.lookup(local.gid)
        return dict(sorted(zip(ids.tolist(), self.state.fields[k].tolist(), strict=True)))


@pytest.fixture
def graph() -> gl.Graph:
    generator = np.random.default_rng(5)
    source, target = generator.integers(0, 40, 300), generator.integers(0, 40, 300) ** 2 // 40
    columns = {"weight": generator.integers(1, 64, 300) / 8, "cost": generator.integers(-9, 9, 300)}
    return gl.Graph.from_edges(source, target, columns=columns)


@pytest.mark.filterwarnings("ignore::gaslab.errors.ConvergenceWarning")  # the limit is asked for
def test_gather_and_apply_by_the_vertex_are_those_of_a_sweep(graph: gl.Graph) -> None:
    single = Single(Rank(), graph)
    expected = gl.run(Rank(), graph, max_iterations=1).vertices.to_dict("score")

    dangling = sum(x for v, x in enumerate(single.state.fields[0]) if graph.local.out_degree[v] == 0)
    single.view.aggregate = scalars([float(dangling), 0.0])
    totals = [single.gather(v) for v in single.vertices]
    for v in reversed(single.vertices):
        single.apply(v, totals[v])
    single.state.swap()
    found = single.values("score")
    assert list(found) == list(expected)
    assert list(found.values()) == pytest.approx(list(expected.values()), abs=1e-15)


@pytest.mark.filterwarnings("ignore::gaslab.errors.ConvergenceWarning")
def test_scatter_by_the_vertex_signals_whom_a_sweep_signals(graph: gl.Graph) -> None:
    """Supersteps of single vertices, taken in any order, with messages: the same as the engine's."""
    single, generator = Single(Messages(), graph), np.random.default_rng(3)
    active = [v for v in single.vertices if graph.local.in_degree[v] > 0]
    for superstep in range(4):
        single.view.superstep = superstep
        order = generator.permutation(active).tolist()
        totals = {v: single.gather(v) for v in order}
        for v in order:
            single.apply(v, totals[v])
            single.state.message[v] = 0
        for current, following in zip(single.state.fields, single.state.next_fields, strict=True):
            current[active] = following[active]
        for v in order:
            single.call("gl_scatter_push", v)
        active = single.signalled()
    expected = gl.run(Messages(), graph, max_iterations=4)
    for name in ("got", "around", "hops"):
        assert single.values(name) == expected.vertices.to_dict(name)


def test_one_vertex_after_the_other_finds_the_shortest_paths(graph: gl.Graph) -> None:
    """No supersteps at all: gather, apply and scatter of one vertex, then of the next that is signalled."""
    program = Paths(source=1)
    single = Single(program, graph)
    waiting = [int(np.flatnonzero(graph.local.gid == graph.ids.find([1])[0])[0])]
    while waiting:
        v = waiting.pop()
        single.apply(v, single.gather(v))
        for current, following in zip(single.state.fields, single.state.next_fields, strict=True):
            current[v] = following[v]
        single.call("gl_scatter_push", v)
        waiting += single.signalled()
    assert single.values("distance") == gl.run(program, graph).vertices.to_dict("distance")
