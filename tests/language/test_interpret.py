"""`compile_program` and its ways, and interpreted runs of whole programs.

That every phase leaves the same bits interpreted and compiled is seen in test_emit,
test_emit_scatter and test_emit_numerics, which run each phase both ways.
"""

from __future__ import annotations

import math
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.compiler import build, compile_ahead, compile_program
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from gaslab.compiler.python import Interpreter
from gaslab.parallel.comm import Comm
from tests.support.threadcomm import run_ranks

LIMIT = 50


def halved(x: float, times: int) -> float:
    for _ in range(times):
        if x < 0.001:
            break
        x = x / 2.0
    return x


class Everything(gl.VertexProgram):
    """Uses what the language has; means nothing."""

    pace: float = 0.25
    floor: gl.float32 = 0.1
    rounds: int = 6
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        heat: float = 1.0
        cool: gl.float32 = 0.5
        visits: gl.uint16 = 0
        seen: bool = False
        nearest: gl.VertexId

    class Edge(gl.Edge):
        weight: float = 1.0

    @gl.aggregator
    def total(self, v: Vertex) -> gl.Sum[float]:
        return v.heat + v.cool

    @gl.aggregator
    def most(self, v: Vertex) -> gl.Max[int]:
        return v.visits

    def init(self, v: Vertex) -> None:
        v.heat = math.sqrt(v.degree + 1) / self.num_vertices
        v.nearest = v.id

    def start(self, v: Vertex) -> bool:
        return v.degree % 3 != 1

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        if nbr.heat > v.heat and not nbr.seen:
            return (nbr.heat - v.heat) * e.weight
        return -nbr.cool / (1.0 + abs(v.heat))

    def apply(self, v: Vertex, total: float, message: gl.Max[int]) -> None:
        v.visits += 1
        v.seen = v.visits > 2 or message > 5
        if v.seen:
            v.cool = max(self.floor, halved(v.cool, v.visits))
            return
        step = total * self.pace
        v.heat += step if step < 1.0 else math.log1p(step)
        v.cool = v.cool * 0.9 + 0.01 * (self.total // 1.0)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.visits < self.rounds and (v.heat > nbr.heat or e.weight < 0.5):
            nbr.signal(int(v.heat * 10.0) % 7)

    def done(self) -> bool:
        return self.most >= self.rounds


edges = st.integers(2, 12).flatmap(
    lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), min_size=1, max_size=50)
)


def fields(program: Any, graph: Any, **options: Any) -> dict[str, bytes]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.ConvergenceWarning)
        result = gl.run(program, graph, max_iterations=LIMIT, **options)
    return {name: np.asarray(result.vertices[name]).tobytes() for name in result.vertices.columns}


@pytest.mark.slow
@given(edges=edges, directed=st.booleans(), seed=st.integers(0, 99))
def test_runs_end_with_the_same_bits_compiled_and_interpreted(edges: Any, directed: bool, seed: int) -> None:
    src, dst = np.array(edges).T
    weight = np.random.default_rng(seed).random(len(edges))
    graph = gl.Graph.from_edges(src, dst, columns={"weight": weight}, directed=directed)
    source = int(src[0])
    for program in (Everything(), gl.programs.PageRank(), gl.programs.Components(),
                    gl.programs.ShortestPaths(source=source)):  # fmt: skip
        compiled = fields(program, graph, compile="require")
        assert fields(program, graph, compile="never") == compiled


@pytest.fixture
def no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc")
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "SHIPPED", tmp_path)
    monkeypatch.setattr(build, "_loaded", {})


@pytest.mark.usefixtures("no_compiler")
def test_auto_interprets_without_a_compiler_and_warns_once_loudly() -> None:
    with pytest.warns(gl.PerformanceWarning, match="Everything runs interpreted.*no C compiler") as warned:
        compiled = compile_program(Everything, Comm())
    assert len(warned) == 1
    assert compiled.library is None
    assert compiled.interpreter is not None


@pytest.mark.usefixtures("no_compiler")
def test_only_rank_0_warns() -> None:
    with pytest.warns(gl.PerformanceWarning) as warned:
        made = run_ranks(3, lambda comm: compile_program(Everything, comm))
    assert len(warned) == 1
    assert all(compiled.interpreter is not None for compiled in made)


@pytest.mark.usefixtures("no_compiler")
def test_require_raises_without_a_compiler() -> None:
    with pytest.raises(gl.CompileError, match="no C compiler"):
        compile_program(Everything, Comm(), "require")


@pytest.mark.usefixtures("no_compiler")
def test_never_asks_no_compiler_and_does_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compiled = compile_program(Everything, Comm(), "never")
    assert compiled.interpreter is not None


def test_a_program_the_compiler_refuses_is_an_error_and_not_interpreted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setenv("CC", "cc -not-an-option")
    with pytest.raises(gl.CompileError, match="refused the program"):
        compile_program(Everything, Comm(), "auto")


def test_other_modes_are_refused() -> None:
    with pytest.raises(gl.UsageError, match="'always' is unknown; one of 'auto', 'require', 'never'"):
        compile_program(Everything, Comm(), "always")


@pytest.mark.slow
def test_compile_ahead_serves_a_machine_without_a_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compile_ahead(Everything, tmp_path)
    assert sorted(made) == sorted(tmp_path.iterdir())
    monkeypatch.setenv("CC", "/nonexistent/cc")
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "_loaded", {})
    compiled = compile_program(Everything, Comm(), "require")
    assert compiled.library is not None
    assert compiled.cached


def test_built_in_programs_are_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc")
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "_loaded", {})
    for name in gl.programs.__all__:
        cls = getattr(gl.programs, name)
        if isinstance(cls, type):
            assert compile_program(cls, Comm(), "require").cached, f"{name}: run setup.py build_ext --inplace"


def test_common_lengths_are_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/nonexistent/cc")
    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "_loaded", {})
    for program in (getattr(gl.programs, name) for name in gl.programs.__all__):
        for name, values in getattr(sys.modules[program.__module__], "LENGTHS", {}).items():
            for value in values:
                found = compile_program(program, Comm(), "require", {name: value})
                assert found.cached, f"{program}({name}={value}): run setup.py build_ext --inplace"


def test_a_fault_has_one_message() -> None:
    class Narrow(gl.VertexProgram):
        class Vertex(gl.Vertex):
            small: gl.int8 = 100

        def apply(self, v: Vertex) -> None:
            v.small = v.small + v.out_degree * 10

    graph = gl.Graph.from_edges([5, 5, 5, 6], [6, 7, 8, 5])
    warned = []
    for mode in ("require", "never"):
        where = r"test_interpret\.py:\d+: Narrow failed at vertex 5"
        with pytest.raises(gl.ExecutionError, match=where) as error:
            gl.run(Narrow(), graph, max_iterations=1, compile=mode)
        warned.append(str(error.value))
    assert warned[0] == warned[1]


def test_the_phases_of_both_are_the_same() -> None:
    every = ["gl_" + name for name in (
        "init", "start", "active", "gather", "combine", "apply", "gather_apply", "aggregate", "scatter_push",
        "scatter_pull", "combine_messages",
    )]  # fmt: skip
    for cls in (Everything, gl.programs.PageRank, gl.programs.ShortestPaths, gl.programs.Degrees):
        tree = parse(cls)
        library, interpreter = build.load(emit(tree), Comm()), Interpreter(tree)
        assert [bool(library.function(name)) for name in every] == [interpreter.has(name) for name in every]
