"""``precision = gl.float32``: the bits of numpy's float32, compiled, interpreted and by the reference."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from tests.mpi.ranks import Ranks
from tests.programs import CASES, single
from tests.support.agreement import assert_agree, by_reference, from_text, on_ranks
from tests.support.record import graph_of, task_of

Values = dict[str, Any]
ONE, LENGTH = np.float32(1.0), 19


def in_turn(x: np.ndarray) -> np.ndarray:
    """Return the sums of rows of float32 by eight running sums, those left over to the first."""
    sums = np.zeros((len(x), 8), np.float32)
    whole = x.shape[1] - x.shape[1] % 8
    for k in range(x.shape[1]):
        sums[:, k % 8 if k < whole else 0] += x[:, k]
    while sums.shape[1] > 1:
        sums = sums[:, ::2] + sums[:, 1::2]
    return sums[:, 0]


def once(function: Callable[..., Any], *values: np.ndarray) -> np.ndarray:
    """Return a function of float64 numbers, rounded once."""
    made: np.ndarray = function(*(x.astype(np.float64) for x in values)).astype(np.float32)
    return made


EXPRESSIONS: dict[str, Callable[[Values], Any]] = {
    "v.x + v.y": lambda v: v["x"] + v["y"],
    "v.x * v.y - v.x / v.y": lambda v: v["x"] * v["y"] - v["x"] / v["y"],
    "v.x + 0.1": lambda v: v["x"] + np.float32(0.1),
    "v.x + (0.1 + 0.2)": lambda v: v["x"] + np.float32(0.1 + 0.2),
    "v.x * self.rate": lambda v: v["x"] * np.float32(0.3),
    "v.x * SHARE * 0.1": lambda v: v["x"] * np.float32(0.7) * np.float32(0.1),
    "v.n * v.x": lambda v: v["n"].astype(np.float32) * v["x"],
    "float(v.n)": lambda v: v["n"].astype(np.float32),
    "v.n / 7": lambda v: v["n"].astype(np.float32) / np.float32(7),
    "v.x ** 2": lambda v: v["x"] * v["x"],
    "abs(v.x) ** 0.3": lambda v: once(lambda x: x ** float(np.float32(0.3)), np.abs(v["x"])),
    "math.sqrt(abs(v.x))": lambda v: np.sqrt(np.abs(v["x"])),
    "math.exp(v.x)": lambda v: once(np.exp, v["x"]),
    "math.log(abs(v.x), 3.0)": lambda v: once(np.log, np.abs(v["x"])) / np.float32(math.log(3.0)),
    "math.degrees(v.x)": lambda v: v["x"] * np.float32(180.0 / math.pi),
    "math.pi * v.x": lambda v: np.float32(math.pi) * v["x"],
    "v.x // v.y": lambda v: once(np.floor_divide, v["x"], v["y"]),
    "v.x % v.y": lambda v: once(np.remainder, v["x"], v["y"]),
    "min(v.x, v.y, 0.1)": lambda v: np.minimum(np.minimum(v["x"], v["y"]), np.float32(0.1)),
    "float(int(v.x))": lambda v: np.trunc(v["x"]) + np.float32(0),
    "(0.3 if v.x > 0.1 else -v.y)": lambda v: np.where(v["x"] > np.float32(0.1), np.float32(0.3), -v["y"]),
    "np.sum(v.z)": lambda v: in_turn(v["z"]),
    "np.dot(v.z, v.z)": lambda v: in_turn(v["z"] * v["z"]),
    "np.mean(v.z)": lambda v: in_turn(v["z"]) / np.float32(LENGTH),
    "np.linalg.norm(v.z)": lambda v: np.sqrt(in_turn(v["z"] * v["z"])),
    "np.sum(v.short)": lambda v: v["short"][:, 0] + v["short"][:, 1] + v["short"][:, 2],
    "np.prod(v.short)": lambda v: v["short"][:, 0] * v["short"][:, 1] * v["short"][:, 2],
    "np.cumsum(v.z)[-1]": lambda v: np.cumsum(v["z"], axis=1, dtype=np.float32)[:, -1],
    "np.sum(np.exp(v.z) * v.n)": lambda v: in_turn(once(np.exp, v["z"]) * v["n"].astype(np.float32)[:, None]),
    "np.sort(v.z)[3] + v.z[2]": lambda v: np.sort(v["z"], axis=1)[:, 3] + v["z"][:, 2],
    "np.sum(np.outer(v.short, v.short) @ v.short)": lambda v: _squares(v["short"]),
    "inner(v.z, v.x)": lambda v: in_turn(v["z"] * v["x"][:, None]),
}


def _squares(x: np.ndarray) -> np.ndarray:
    a = x[:, :, None] * x[:, None, :]
    y = [a[:, i, 0] * x[:, 0] + a[:, i, 1] * x[:, 1] + a[:, i, 2] * x[:, 2] for i in range(3)]
    return y[0] + y[1] + y[2]


PROGRAM = """
import math

import numpy as np
import pytest

import gaslab as gl

SHARE = 0.7


def inner(z, x):
    return np.sum(z * x)


class P(gl.VertexProgram):
    precision = gl.float32
    rate: float = 0.3

    class Vertex(gl.Vertex):
        x: float
        y: float
        n: int
        z: gl.Vector = gl.field(shape=19)
        short: gl.Vector = gl.field(shape=3)
{fields}

    def apply(self, v):
{statements}
"""


def test_expressions_have_the_bits_of_float32() -> None:
    names = [f"r{k}" for k in range(len(EXPRESSIONS))]
    text = PROGRAM.format(
        fields="\n".join(f"        {name}: float" for name in names),
        statements="\n".join(f"        v.{n} = {x}" for n, x in zip(names, EXPRESSIONS, strict=True)),
    )
    rng, count = np.random.default_rng(5), 60
    values: Values = {
        "x": rng.normal(0, 3, count).astype(np.float32), "y": rng.normal(0, 3, count).astype(np.float32),
        "n": rng.integers(-(2**62), 2**62, count) >> rng.integers(0, 62, count),
        "z": rng.normal(0, 1, (count, LENGTH)).astype(np.float32),
        "short": rng.normal(0, 1, (count, 3)).astype(np.float32),
    }  # fmt: skip
    program = from_text("of_float32", text).P
    graph = gl.Graph.from_edges(range(count), range(count)).with_vertices({"id": range(count), **values})
    for how in ({"compile": "require"}, {"compile": "never"}, {"engine": "reference"}):
        found = gl.run(program(), graph, max_iterations=1, **how).vertices
        for name, (expression, expected) in zip(names, EXPRESSIONS.items(), strict=True):
            assert found[name].dtype == np.float32
            with np.errstate(all="ignore"):
                wanted = np.asarray(expected(values), np.float32)
            assert found[name].tobytes() == wanted.tobytes(), (how, expression, found[name] - wanted)


class Solved(gl.VertexProgram):
    """Products, solvers and draws; each vertex gathers over one edge, so that no order of edges counts."""

    precision = gl.float32
    n: int = 17

    class Vertex(gl.Vertex):
        a: gl.Matrix = gl.field(shape=("n", "n"), init=gl.normal())
        x: gl.Vector = gl.field(shape="n", init=gl.normal())
        y: gl.Vector = gl.field(shape="n")
        solved: gl.Vector = gl.field(shape="n")
        drawn: gl.Vector = gl.field(shape="n")
        seen: float = 0.0
        number: float = 0.0
        whole: int = 0

    class Total(gl.Accumulator):
        outer: gl.Matrix = gl.field(shape=("n", "n"))
        near: gl.Vector = gl.field(shape="n")

    @gl.aggregator
    def most(self, v: Vertex) -> gl.Max[float]:
        return v.x[0] / 3.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(outer=np.outer(nbr.x, nbr.x), near=nbr.x * 0.3)

    def apply(self, v: Vertex, total: Total) -> None:
        spd = total.outer + 3.0 * np.eye(self.n)
        v.y = v.a @ v.x + total.near
        v.solved = gl.solve_spd(spd, v.y) + np.linalg.solve(v.a, v.x)
        v.solved = v.solved + gl.conjugate_gradient(spd, v.y, v.x, 3)
        v.drawn = gl.dirichlet(np.abs(v.x) + 0.1)
        v.whole = gl.categorical(v.drawn) + gl.poisson(3.3) + int(gl.gamma(1.3, 0.7) * 100.0)
        v.number = gl.uniform(0.1, 0.7) + gl.normal(0.3) + gl.exponential(0.2)
        v.seen = self.most + np.sum(v.a) + np.linalg.norm(v.y)


def test_products_solvers_and_draws_have_the_same_bits() -> None:
    ring = gl.Graph.from_edges(range(8), [*range(1, 8), 0])
    compiled, *others = (
        gl.run(Solved(), ring, max_iterations=2, seed=4, **how).vertices
        for how in ({"compile": "require"}, {"compile": "never"}, {"engine": "reference"})
    )
    for name in compiled.columns:
        for other in others:
            assert compiled[name].tobytes() == other[name].tobytes(), name


SOME = {1: ("Products", "Urns"), 2: ("Weighted",), 3: ("Squares", "Portions"), 4: ("Squares", "Portions")}


@pytest.mark.slow
def test_programs_agree_on_any_ranks_and_threads(ranks: Ranks) -> None:
    for case in CASES:
        if str(case) in SOME[ranks.size]:
            task = task_of(case, graph_of(case), case.limit)
            task = replace(task, program=f"{single.__name__}:{case}")
            modes = [("require", 1), ("require", 2), ("never", 1)]
            of_each_rank = ranks.run(on_ranks, task, "dbh", modes, timeout=240)
            outcomes = [outcome for rank in of_each_rank for outcome in rank]
            assert all(repr(outcome) == repr(outcomes[0]) for outcome in outcomes)
            assert_agree(outcomes[0], by_reference(task), 1e-5)


LAST = (1 << 64) - 1  # a random word of ones


def test_a_uniform_number_of_24_bits_is_below_1() -> None:
    from gaslab.compiler.python.rng import Random
    from gaslab.reference.distributions import drawn

    for precision, most in (("float32", np.nextafter(ONE, np.float32(0))), ("float64", 1.0 - 2.0**-53)):
        random = Random(None, "counter", precision)
        random.word = lambda: LAST  # type: ignore[method-assign]
        assert random.uniform(0.0, 1.0) == most
        kept = (lambda x: float(np.float32(x))) if precision == "float32" else float
        assert drawn("uniform", (0.0, 1.0), lambda used: (LAST, LAST), kept) == most
        assert int(np.float32(most) * np.float32(10)) == 9 or precision == "float64"


class Shares(gl.VertexProgram):
    """Helpers take vectors of an aggregate: by their own reading of it, and as arguments."""

    precision = gl.float32

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=3, init=gl.uniform())
        k: int = gl.integers(3)

    class Total(gl.Accumulator):
        x: gl.Vector = gl.field(shape=3)
        count: gl.Vector = gl.field(shape=3, dtype=gl.int32)

    @gl.aggregator
    def total(self, v: Vertex) -> Total:
        return self.Total(x=v.x / 3.0, count=gl.at(v.k))

    def own(self, v: Vertex) -> gl.Vector:
        return (v.x + self.total.x) / self.total.count

    @staticmethod
    def given(x: gl.Vector, y: gl.Vector, k: int) -> float:
        largest = np.argmax(x) + np.searchsorted(x, y[k]) + np.max(x) - np.min(x)
        return x[k] * y[2 - k] + np.sum(y) + np.dot(x, y) + np.sort(x)[1] + np.cumsum(x)[k] + largest

    def apply(self, v: Vertex) -> None:
        v.x = self.own(v) + self.given(self.total.x, v.x, v.k)
        v.x /= 100.0


def test_helpers_take_vectors_of_aggregates_in_the_type_that_these_have() -> None:
    graph = gl.Graph.from_edges([*range(9)], [*range(1, 9), 0])
    compiled, *others = (
        gl.run(Shares(), graph, max_iterations=3, seed=4, **how).vertices["x"]
        for how in ({"compile": "require"}, {"compile": "never"}, {"engine": "reference"})
    )
    assert all(compiled.tobytes() == other.tobytes() for other in others)
    assert len(np.unique(compiled)) == compiled.size


def test_fields_and_totals_are_float32_and_aggregates_are_not() -> None:
    cls: Any = gl.programs.PageRank
    narrow = type("Narrow", (cls,), {"precision": gl.float32, "__module__": __name__})
    tree, wide = parse(narrow), parse(cls)
    assert {f.storage for f in tree.vertex_fields} == {"float32"} != {f.storage for f in wide.vertex_fields}
    assert tree.gather is not None
    assert tree.gather.storage == "float32"
    assert {a.combiner.storage for a in tree.aggregators} == {"float64"}
    assert emit(tree) != emit(wide)  # which the cache knows libraries by
    assert gl.explain(narrow).title == "Narrow: gathers over gl.IN, scatters over gl.NONE, in float32"
