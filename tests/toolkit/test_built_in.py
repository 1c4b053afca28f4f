"""The functions of the toolkit run built-in code: none compiles anything at its first use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler import build, toolchain

FEW = ([0, 1, 2], [1, 2, 3])  # so that a round of betweenness has few lanes
SOME = (np.arange(40), (np.arange(40) * 7 + 1) % 41)
CALLS: dict[str, tuple[Any, ...]] = {
    **dict.fromkeys(
        ("betweenness", "cdlp", "closeness", "clustering", "components", "degrees", "diameter", "eigenvector",
         "harmonic", "hits", "katz", "kcore", "pagerank", "strong_components", "triangles"),
        (),
    ),
    "bfs": (0,), "sssp": (0,), "distances": ([0, 1],),
}  # fmt: skip
OF_UNDIRECTED: dict[str, tuple[Any, ...]] = {"coloring": (), "mis": (), "transitivity": ()}


@pytest.fixture(autouse=True)
def nothing_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty cache, nothing loaded, and a compiler that must not be asked."""

    def compile_text(*_: Any) -> None:
        raise AssertionError("the program is not among those that setup.py compiles")

    monkeypatch.setenv("GASLAB_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setattr(toolchain, "compile_text", compile_text)


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("ends", [FEW, SOME], ids=["few", "some"])
def test_the_toolkit_compiles_nothing(ends: Any, directed: bool) -> None:
    graph = gl.Graph.from_edges(*ends, columns={"weight": np.arange(1, len(ends[0]) + 1)}, directed=directed)
    for name, arguments in {**CALLS, **({} if directed else OF_UNDIRECTED)}.items():
        getattr(gl, name)(graph, *arguments, compile="require")
    gl.betweenness(graph, edges=True, compile="require")
    gl.betweenness(graph, weight="weight", compile="require")
    gl.closeness(graph, weight="weight", compile="require")


def test_a_program_of_one_s_own_would(monkeypatch: pytest.MonkeyPatch) -> None:
    class Mine(gl.VertexProgram):
        class Vertex(gl.Vertex):
            x: float = 0.0

        def apply(self, v: Vertex) -> None:
            v.x += 0.015625

    with pytest.raises(AssertionError, match="not among those"):
        gl.run(Mine(), gl.Graph.from_edges(*FEW), max_iterations=1, compile="require")
