"""Loops between numbers: their variables index without a check where none can fail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler import tree as t
from gaslab.compiler.c import emit
from gaslab.compiler.c.ranges import MOST, of
from gaslab.compiler.frontend import parse
from tests.support.program_text import load

MODES: list[dict[str, Any]] = [{}, {"compile": "never"}, {"engine": "reference"}]
PROGRAM = """
class P(gl.VertexProgram):
    size: int = 8
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="size", dtype=gl.int32)
        s: int = 0
    def apply(self, v: Vertex) -> None:
        {}
"""
SAFE = {
    "for k in range(self.size): v.x[k] = k * k + 1": [k * k + 1 for k in range(8)],
    "for k in range(6, -1, -2): v.x[k + 1] = k + 1": [0, 1, 0, 3, 0, 5, 0, 7],
    "for k in range(-20, 20): v.x[k % self.size] += 1": [5] * 8,
    "for i in range(4):\n            for k in range(2): v.x[2 * i + k] = i - k": [0, -1, 1, 0, 2, 1, 3, 2],
    "k = 9\n        for k in range(1, 8): v.x[k - 1] = k\n        v.s = k": [1, 2, 3, 4, 5, 6, 7, 0],
}
CHECKED = {
    "for k in range(-8, 0): v.x[k] = k": [*range(-8, 0)],
    "for k in range(3):\n            v.x[k] = 1\n            k = k + 4\n            v.x[k] = 2": [
        1,
        1,
        1,
        0,
        2,
        2,
        2,
        0,
    ],
    "for k in range(7, 7): v.x[k + 100] = 1": [0] * 8,
    "k = 9\n        for k in range(1, 8): v.x[k - 1] = k\n        v.x[k] = k": [1, 2, 3, 4, 5, 6, 7, 7],
    "for k in range(v.degree + 3): v.x[k] = 1": [1, 1, 1, 1, 0, 0, 0, 0],
}
FAULTS = [
    "for k in range(9): v.x[k] = 1",
    "for k in range(8): v.x[k - 9 + k] = 1",
    "for k in range(8): v.x[k] = 1 << 31 if k == 5 else k",
    "for k in range(8): v.x[k] = k // (k - 3)\n        for k in range(9): v.x[k] = 1",
    "for k in range(8): v.x[k] = 3\n        v.x = v.x * (1 << 30)\n        v.s = 1 // v.s",
    "v.x = v.x - 1\n        v.x = v.x * (1 << 32)",
]


def answers(folder: Path, body: str) -> list[Any]:
    program = load(folder, "import numpy as np\n" + PROGRAM.format(body)).P
    graph = gl.Graph.from_edges([0], [1])
    return [gl.run(program(), graph, max_iterations=1, **mode).vertices["x"][0].tolist() for mode in MODES]


@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
@pytest.mark.parametrize("body", [*SAFE, *CHECKED])
def test_what_a_loop_writes(tmp_path: Path, body: str) -> None:
    assert answers(tmp_path, body) == [{**SAFE, **CHECKED}[body]] * 3


@pytest.mark.parametrize("body", [*SAFE, *CHECKED])
def test_only_what_may_fail_is_checked(tmp_path: Path, body: str) -> None:
    text = emit(parse(load(tmp_path, PROGRAM.format(body)).P))
    assert ("gl_index(c, " in text) == (body in CHECKED)


@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
@pytest.mark.parametrize("body", FAULTS)
def test_faults_are_those_of_the_reference(tmp_path: Path, body: str) -> None:
    program = load(tmp_path, "import numpy as np\n" + PROGRAM.format(body)).P
    texts = []
    for mode in MODES:
        with pytest.raises(gl.ExecutionError) as caught:
            gl.run(program(), gl.Graph.from_edges([0], [1]), max_iterations=1, **mode)
        said, line = str(caught.value).splitlines()
        texts.append((said.partition("superstep 0: ")[0], line))
    assert texts == texts[:1] * 3


def test_intervals_hold_every_value() -> None:
    """Of sums, differences, products and remainders, against all values; none is given beyond the bounds."""
    a, b = t.Local("a", "int"), t.Local("b", "int")
    rng = np.random.default_rng(0)
    for _ in range(300):
        (low, high), (least, most) = np.sort(rng.integers(-9, 9, (2, 2))).tolist()
        known = {"a": (low, high), "b": (least, most)}
        pairs = [(x, y) for x in range(low, high + 1) for y in range(least, most + 1)]
        for op, of_pair in (("+", int.__add__), ("-", int.__sub__), ("*", int.__mul__), ("%", int.__mod__)):
            if op == "%" and least <= 0:
                assert of(t.Binary(op, a, b, "int", 0), known) is None
                continue
            values = [of_pair(x, y) for x, y in pairs]
            found = of(t.Binary(op, a, b, "int", 0), known)
            assert found is not None
            assert found[0] <= min(values) <= max(values) <= found[1]
    assert of(t.Binary("*", a, a, "int", 0), {"a": (0, MOST)}) is None
    assert of(b, {}) is None
