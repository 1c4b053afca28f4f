"""The language means the same everywhere: compiled, interpreted, and in plain Python."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.reference.run import run_reference
from tests.language.test_parse_expressions import EXPRESSIONS
from tests.support.program_text import FIELDS, load, with_vertex
from tests.support.random_programs import random_program

VERTICES = list(range(8))
EDGES = [(0, 1), (1, 2), (2, 0), (3, 0), (3, 1), (3, 2), (4, 4), (5, 6), (5, 6)]
GIVEN: dict[str, dict[int, Any]] = {
    "x": dict(enumerate([0.0, -0.0, 1.5, -2.5, 1e18, 7.0, 0.1, -0.75])),
    "n": dict(enumerate([1, -1, 2, -7, 2**40, 3, 5, -(2**35)])),
    "m": dict(enumerate([3, 2, 1, 4, 7, 5, 9, 6])),
    "b": dict(enumerate([False, True] * 4)),
    "c": dict(enumerate([True, True, False, False] * 2)),
}
MODES = ("require", "never")


def agree(
    program: gl.VertexProgram, mode: str, supersteps: int = 3, given: dict[str, dict[int, Any]] = GIVEN
) -> dict[str, list[Any]]:
    """Return the fields of a run, having held them against the reference's."""
    graph = gl.Graph.from_edges([s for s, _ in EDGES], [t for _, t in EDGES], vertices=VERTICES)
    reference = run_reference(program, VERTICES, EDGES, init=given, max_iterations=supersteps)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *_, **__: None)  # of slowness, and of the limit
        result = gl.run(program, graph, init=given, max_iterations=supersteps, compile=mode)
    columns = {name: list(result.vertices[name]) for name in reference.vertices}
    for name, values in reference.vertices.items():
        for got, wanted in zip(columns[name], values.values(), strict=True):
            same = (got != got and wanted != wanted) or got == wanted
            assert same or math.isclose(got, wanted, rel_tol=1e-15), (name, got, wanted)
    return columns


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("part", [0, 1])
def test_expressions(part: int, mode: str, tmp_path: Path) -> None:
    chosen = [(written, kind) for written, (_, kind) in EXPRESSIONS.items()][part::2]
    chosen = [(w, k) for w, k in chosen if w != "math.ceil(v.n)"]
    fields = "\n        ".join([FIELDS] + [f"r{i}: {kind} = {kind}(0)" for i, (_, kind) in enumerate(chosen)])
    body = "\n".join(f"    v.r{i} = {written}" for i, (written, _) in enumerate(chosen))
    text = with_vertex(f"def apply(self, v):\n{body}\n", fields=fields)
    agree(load(tmp_path, text).P(), mode, supersteps=1)


PROGRAMS = {
    "loops": """
        def apply(self, v):
            for i in range(v.degree, 20, 3):
                if i % 4 == 3:
                    continue
                v.n += i
                i = i * 2
                if v.n > 60:
                    break
            else_ = 0.5
            while True:
                else_ = else_ * 1.5
                if else_ > v.degree + 2:
                    break
            v.x = else_
            for k in range(5, -5, -2):
                v.m -= k
            j = 7
            for j in range(v.degree):
                pass
            v.m += j
    """,
    "widened": """
        def apply(self, v):
            y = 0
            z = True
            for i in range(v.degree):
                y = z + y
                z = y / 2
            v.x, v.n = y + z, v.m
            a = b = v.n
            a, b = b + 1, a
            v.m = a * 1000 + b
    """,
    "helpers": """
        weight: float = 0.25
        def near(self, a, b):
            return self.weight * gap(a, b) if a.b or b.c else gap(b, a, sign=-1)
        @staticmethod
        def least(*, low, high=3):
            return low if low < high else high
        def gather(self, v, e, nbr) -> gl.Sum[float]:
            return self.near(v, nbr) / 4 + self.least(low=nbr.degree)
        def apply(self, v, total):
            v.x = total % 16.0
            v.n = int(v.x) // 3
    """,
    "ids": """
        gather_edges = gl.ALL
        def gather(self, v, e, nbr) -> gl.Max[gl.VertexId]:
            return nbr.id
        def apply(self, v, total):
            top = total
            if v.degree == 0 or top < v.id:
                top = v.id
            v.b = top != v.id
            v.c = min(top, v.id) == v.id
    """,
    "aggregates": """
        @gl.aggregator
        def mass(self, v) -> gl.Sum[float]:
            return v.x
        @gl.aggregator
        def population(self, v) -> gl.Sum[int]:
            return v.b and v.degree > 1
        @gl.aggregator
        def any_c(self, v) -> gl.Max[bool]:
            return v.c
        @gl.aggregator
        def low(self, v) -> gl.Min[gl.int16]:
            return v.degree
        def init(self, v):
            v.x = v.degree * 0.5
        def apply(self, v):
            v.x = v.x / 2 + self.mass / 16 + self.superstep
            v.n = self.population + self.low + self.num_edges
            v.b = not self.any_c or v.b
    """,
    "signals": """
        scatter_edges = gl.OUT
        def init(self, v):
            v.n = 100
        def start(self, v):
            return v.out_degree >= 2
        def apply(self, v, message: gl.Min[int]):
            if v.in_degree == 0:
                v.n = 0
            else:
                v.n = min(v.n, message)
        def scatter(self, v, e, nbr):
            if v.n + 1 < nbr.n:
                nbr.signal(v.n + 1)
    """,
    "active": """
        def active(self, v):
            return v.degree % 2 == self.superstep % 2
        def gather(self, v, e, nbr) -> gl.Sum[int]:
            return nbr.m + 1
        def apply(self, v, total):
            v.m += total
    """,
}
HELPERS = (
    "def gap(a, b, sign=1):\n    return sign * (a.m - b.m + scale(2))\ndef scale(k):\n    return k * 3\n"
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, mode: str, tmp_path: Path) -> None:
    program = load(tmp_path, HELPERS + with_vertex(PROGRAMS[name], fields=FIELDS)).P()
    columns = agree(program, mode)
    changed = [f for f in ("x", "n", "m", "b", "c") if list(GIVEN[f].values()) != columns[f]]
    assert changed, "the program did nothing"


COMPILED, INTERPRETED = 4, 24


@pytest.mark.parametrize("seed", range(COMPILED + INTERPRETED))
def test_random_programs(seed: int, tmp_path: Path) -> None:
    mode = "require" if seed < COMPILED else "never"
    agree(load(tmp_path, random_program(seed)).P(), mode, given={})
