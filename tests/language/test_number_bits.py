"""Numbers bit for bit: compiled, interpreted and reference against numpy's fixed widths.

One program has a field for each expression; each vertex has its own drawn values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gaslab as gl
from tests.support.agreement import from_text

Values = dict[str, np.ndarray]
# x, y are any floats, s, t small ones; a, b float32; m, n int64, i int32, j int8, u uint8; p, q bools.
DTYPES = {
    "x": np.float64, "y": np.float64, "s": np.float64, "t": np.float64, "a": np.float32, "b": np.float32,
    "m": np.int64, "n": np.int64, "i": np.int32, "j": np.int8, "u": np.uint8, "p": np.bool_, "q": np.bool_,
}  # fmt: skip
NAMES = {np.float64: "float", np.int64: "int", np.bool_: "bool"}


def whole(x: np.ndarray) -> np.ndarray:
    return x.astype(np.int64)


def least(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Python's ``min(x, y)``."""
    return np.where(y < x, y, x)


def most(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.where(y > x, y, x)


def near(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < 8.0, x, 0.75)


def wide(v: Values) -> Values:
    """Return the values as expressions read them: floats have 64 bits, ints too."""
    wider = {"f": np.float64, "i": np.int64, "u": np.int64, "b": np.bool_}
    return {name: x.astype(wider[x.dtype.kind]) for name, x in v.items()}


NEAR = "(v.x if abs(v.x) < 8.0 else 0.75)"  # a range that a compiler sees
NONZERO = "(v.n if v.n != 0 else 3)"
# An expression of the language, and numpy's: of the same type.
FLOATS: dict[str, Callable[[Values], np.ndarray]] = {
    "math.floor(v.s) * 1.0": lambda v: whole(np.floor(v["s"])) * 1.0,
    "math.ceil(v.s) * 1.0": lambda v: whole(np.ceil(v["s"])) * 1.0,
    "math.trunc(v.s) * 1.0": lambda v: whole(v["s"]) * 1.0,
    "float(int(v.s))": lambda v: whole(v["s"]) * 1.0,
    "int(v.a) * 1.0": lambda v: whole(v["a"]) * 1.0,
    f"math.floor({NEAR}) * 1.0": lambda v: whole(np.floor(near(v["x"]))) * 1.0,
    f"math.ceil({NEAR}) * 1.0": lambda v: whole(np.ceil(near(v["x"]))) * 1.0,
    f"math.trunc({NEAR}) * 1.0": lambda v: whole(near(v["x"])) * 1.0,
    f"float(int({NEAR}))": lambda v: whole(near(v["x"])) * 1.0,
    f"-float(int({NEAR}))": lambda v: -(whole(near(v["x"])) * 1.0),
    f"math.copysign(1.0, math.ceil({NEAR}))": lambda v: np.copysign(1.0, whole(np.ceil(near(v["x"])))),
    f"1.0 / (math.ceil({NEAR}) * 1.0)": lambda v: 1.0 / (whole(np.ceil(near(v["x"]))) * 1.0),
    "math.ceil(max(min(v.s, 0.5), -0.5)) * 1.0": lambda v: whole(np.ceil(np.clip(v["s"], -0.5, 0.5))) * 1.0,
    "math.floor(v.s + 0.5) * 1.0": lambda v: whole(np.floor(v["s"] + 0.5)) * 1.0,
    "min(v.x, v.y)": lambda v: least(v["x"], v["y"]),
    "max(v.x, v.y)": lambda v: most(v["x"], v["y"]),
    "min(v.x, 0.0)": lambda v: least(v["x"], np.zeros_like(v["x"])),
    "max(-0.0, v.x)": lambda v: most(np.full_like(v["x"], -0.0), v["x"]),
    "min(v.x, v.y, v.s)": lambda v: least(least(v["x"], v["y"]), v["s"]),
    "abs(v.x)": lambda v: np.abs(v["x"]),
    "-v.x": lambda v: -v["x"],
    "+v.x": lambda v: v["x"],
    "v.x + v.y": lambda v: v["x"] + v["y"],
    "v.x + 0.0": lambda v: v["x"] + 0.0,
    "v.x - 0.0": lambda v: v["x"] - 0.0,
    "0.0 - v.x": lambda v: 0.0 - v["x"],
    "v.x - v.x": lambda v: v["x"] - v["x"],
    "v.x * 0.0": lambda v: v["x"] * 0.0,
    "v.x * -1.0": lambda v: v["x"] * -1.0,
    "v.x * v.y + v.s": lambda v: v["x"] * v["y"] + v["s"],
    "v.x / v.y": lambda v: v["x"] / v["y"],
    "v.x / v.x": lambda v: v["x"] / v["x"],
    "v.x // v.y": lambda v: np.floor_divide(v["x"], v["y"]),
    "v.x % v.y": lambda v: np.mod(v["x"], v["y"]),
    "v.s // v.t": lambda v: np.floor_divide(v["s"], v["t"]),
    "v.s % v.t": lambda v: np.mod(v["s"], v["t"]),
    "v.s % 1.0": lambda v: np.mod(v["s"], 1.0),
    "v.s // -0.25": lambda v: np.floor_divide(v["s"], -0.25),
    "v.x ** 2": lambda v: v["x"] * v["x"],
    "math.sqrt(v.x)": lambda v: np.sqrt(v["x"]),
    "math.fabs(v.x)": lambda v: np.abs(v["x"]),
    "math.copysign(v.x, v.y)": lambda v: np.copysign(v["x"], v["y"]),
    "math.fmod(v.x, v.y)": lambda v: np.fmod(v["x"], v["y"]),
    "math.nextafter(v.x, v.y)": lambda v: np.nextafter(v["x"], v["y"]),
    "(v.x if v.x < v.y else v.y)": lambda v: np.where(v["x"] < v["y"], v["x"], v["y"]),
    "(v.x and v.y)": lambda v: np.where(v["x"] != 0.0, v["y"], v["x"]),
    "(v.x or v.y)": lambda v: np.where(v["x"] != 0.0, v["x"], v["y"]),
    "v.a * v.b": lambda v: v["a"] * v["b"],
    "v.a - v.b": lambda v: v["a"] - v["b"],
    "v.m * 1.0": lambda v: v["m"] * 1.0,
    "v.m * -0.0": lambda v: v["m"] * -0.0,
    "v.m + v.x": lambda v: v["m"] + v["x"],
    f"v.m / {NONZERO}": lambda v: v["m"] / np.where(v["n"] != 0, v["n"], 3),
    "v.p * -1.0": lambda v: v["p"] * -1.0,
    "min(v.m, v.x) + 0.0": lambda v: least(v["m"] * 1.0, v["x"]) + 0.0,
}
INTS: dict[str, Callable[[Values], np.ndarray]] = {
    "math.floor(v.s)": lambda v: whole(np.floor(v["s"])),
    "math.ceil(v.s)": lambda v: whole(np.ceil(v["s"])),
    "int(v.s)": lambda v: whole(v["s"]),
    "int(v.p)": lambda v: v["p"] * 1,
    "v.m + v.n": lambda v: v["m"] + v["n"],
    "v.m - v.n": lambda v: v["m"] - v["n"],
    "v.m * v.n": lambda v: v["m"] * v["n"],
    "-v.m": lambda v: -v["m"],
    "~v.m": lambda v: ~v["m"],
    "abs(v.m)": lambda v: np.abs(v["m"]),
    f"v.m // {NONZERO}": lambda v: np.floor_divide(v["m"], np.where(v["n"] != 0, v["n"], 3)),
    f"v.m % {NONZERO}": lambda v: np.mod(v["m"], np.where(v["n"] != 0, v["n"], 3)),
    "v.m // -1": lambda v: -v["m"],
    "v.m % -7": lambda v: np.mod(v["m"], -7),
    "v.m ** 3": lambda v: v["m"] * v["m"] * v["m"],
    "v.m << 5": lambda v: v["m"] << 5,
    "v.m >> 5": lambda v: v["m"] >> 5,
    "v.m & v.n | v.m ^ 12": lambda v: v["m"] & v["n"] | v["m"] ^ 12,
    "min(v.m, v.n)": lambda v: least(v["m"], v["n"]),
    "max(v.m, v.n, 0)": lambda v: most(most(v["m"], v["n"]), np.zeros_like(v["m"])),
    "v.i * v.i * v.i": lambda v: v["i"] * v["i"] * v["i"],
    "v.j * v.u - v.i": lambda v: v["j"] * v["u"] - v["i"],
    "v.p + v.q": lambda v: v["p"] * 1 + v["q"] * 1,
}
BOOLS: dict[str, Callable[[Values], np.ndarray]] = {
    "v.x < v.y": lambda v: v["x"] < v["y"],
    "v.x == v.y": lambda v: v["x"] == v["y"],
    "v.x != v.x": lambda v: v["x"] != v["x"],
    "not v.x < v.y": lambda v: ~(v["x"] < v["y"]),
    "not v.x >= v.y": lambda v: ~(v["x"] >= v["y"]),
    "bool(v.x)": lambda v: v["x"] != 0.0,
    "v.x": lambda v: v["x"] != 0.0,
    "v.m < v.n": lambda v: v["m"] < v["n"],
    "v.j == v.u": lambda v: v["j"] == v["u"],
    "(v.p and not v.q)": lambda v: v["p"] & ~v["q"],
}
# Stored in 32 bits.
SINGLES: dict[str, Callable[[Values], np.ndarray]] = {
    "v.x": lambda v: v["x"],
    "v.a * v.b": lambda v: v["a"] * v["b"],
    "v.a / v.b": lambda v: v["a"] / v["b"],
    "-v.a": lambda v: -v["a"],
    "v.m * 1.0": lambda v: v["m"] * 1.0,
    f"math.ceil({NEAR}) * 1.0": lambda v: whole(np.ceil(near(v["x"]))) * 1.0,
}
# Powers are the C library's, of which numpy has its own; where they are exact, all agree.
POWERS = (
    "v.x ** v.y",
    "v.x ** 0.5",
    "v.x ** -1.0",
    "v.x ** 3.0",
    "v.s ** v.t",
    "2.0 ** v.t",
    "math.pow(v.x, v.t)",
)
TABLES = (
    ("float", "floats", FLOATS), ("int", "ints", INTS), ("bool", "bools", BOOLS),
    ("gl.float32", "singles", SINGLES), ("float", "powers", dict.fromkeys(POWERS)),
)  # fmt: skip


def _text() -> str:
    lines = ["import math", "import gaslab as gl", "class P(gl.VertexProgram):"]
    lines.append("    class Vertex(gl.Vertex):")
    for name, dtype in DTYPES.items():
        kind = NAMES.get(dtype, f"gl.{np.dtype(dtype).name}")
        lines.append(f"        {name}: {kind} = {np.zeros(1, dtype)[0].item()!r}")
    stores = []
    for kind, letter, table in TABLES:
        lines.append(f"        {letter}: gl.Vector = gl.field(shape={len(table)}, dtype={kind})")
        for k, expression in enumerate(table):
            stored = f"bool({expression})" if kind == "bool" else expression
            stores.append(f"        v.{letter}[{k}] = {stored}")
    # A number that goes through a local, and a field of one number.
    stores += [
        "        k = int(v.s)",
        "        v.lx = k * 1.0",
        "        z = 0.0 * k",
        "        v.lz = z * -1.0",
    ]
    lines += ["        lx: float", "        lz: float"]
    return "\n".join([*lines, "    def apply(self, v):", *stores, ""])


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -3.0, 1e308, 5e-324, -5e-324, math.inf, -math.inf, math.nan]
any_float = st.one_of(st.sampled_from(SPECIAL), st.floats())
small = st.one_of(
    st.sampled_from([0.0, -0.0, -0.5, 0.5, -1.0, 5e-324, -5e-324, -0.99999, 3.0]), st.floats(-1e6, 1e6)
)


def _drawn(name: str, dtype: Any) -> st.SearchStrategy[Any]:
    if name in "st":
        return small
    if dtype is np.float64:
        return any_float
    if dtype is np.bool_:
        return st.booleans()
    if dtype is np.float32:
        return st.one_of(st.sampled_from([0.0, -0.0, 0.5, -0.75, 3.0]), st.floats(-1e6, 1e6, width=32))
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return st.one_of(st.integers(low, high), st.sampled_from([low, high, 0, 1]))


rows = st.lists(st.tuples(*(_drawn(name, dtype) for name, dtype in DTYPES.items())), min_size=1, max_size=20)


def _bits(x: np.ndarray) -> np.ndarray:
    """Return floats as their bits, every nan as one."""
    x = np.asarray(x)
    if x.dtype.kind != "f":
        return x
    return np.where(np.isnan(x), np.nan, x).astype(x.dtype).view(f"i{x.dtype.itemsize}")


def _answers(values: Values, options: dict[str, Any]) -> Values:
    count = len(values["x"])
    graph = gl.Graph.from_edges([], [], vertices=range(count))
    program = from_text("number_bits", _text()).P()
    found = gl.run(program, graph, max_iterations=1, init=values, **options)
    return {name: np.asarray(found.vertices[name]) for name in found.vertices.columns}


@pytest.fixture(scope="module")
def ways() -> list[dict[str, Any]]:
    return [{"compile": "require"}, {"compile": "never"}, {"engine": "reference"}]


ZEROS = tuple(dtype(0).item() if dtype not in (np.float64, np.float32) else -0.0 for dtype in DTYPES.values())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
@given(drawn=rows)
@example(drawn=[ZEROS])
def test_every_expression_has_numpy_s_bits(ways: list[dict[str, Any]], drawn: list[tuple[Any, ...]]) -> None:
    columns = zip(*drawn, strict=True)
    values = {
        name: np.array(list(c), dtype) for (name, dtype), c in zip(DTYPES.items(), columns, strict=True)
    }
    results = [_answers(values, way) for way in ways]
    known = wide(values)
    for _, name, table in TABLES:
        for k, (expression, oracle) in enumerate(table.items()):
            first = results[0][name][:, k]
            with np.errstate(all="ignore"):
                expected = first if oracle is None else oracle(known).astype(first.dtype)
            for way, result in zip(ways, results, strict=True):
                same = _bits(result[name][:, k]) == _bits(expected)
                at = {c: x[~same] for c, x in values.items()}
                assert same.all(), (expression, way, result[name][~same, k], expected[~same], at)
    cut = whole(known["s"]) * 1.0
    for way, result in zip(ways, results, strict=True):
        for name, x in (("lx", cut), ("lz", 0.0 * cut * -1.0)):
            assert (_bits(result[name]) == _bits(x)).all(), (name, way, values["s"])


EXPONENTS = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, math.inf, -math.inf, math.nan)


@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
@pytest.mark.parametrize("base", [0.0, -0.0, 1.0, -1.0, -2.0, math.inf, -math.inf, math.nan])
def test_powers_of_zeros_negatives_and_infinities_are_numpy_s(
    ways: list[dict[str, Any]], base: float
) -> None:
    exponents = np.array(
        [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, -3.0, 0.5, -0.5, math.inf, -math.inf, math.nan]
    )
    values = {"x": np.full(exponents.size, base), "y": exponents}
    with np.errstate(all="ignore"):
        expected = np.power(values["x"], values["y"])
    for way in ways:
        found = _answers(values, way)["powers"][:, POWERS.index("v.x ** v.y")]
        assert (_bits(found) == _bits(expected)).all(), (way, base, found, expected)


class Negative(gl.VertexProgram):
    """Every place in which a zero may start with its sign."""

    p: float = -0.0

    class Vertex(gl.Vertex):
        x: float = -0.0
        y: gl.float32 = -0.0
        z: gl.Vector = gl.field(shape=2, init=-0.0)
        seen: gl.Vector = gl.field(shape=7)

    class Edge(gl.Edge):
        w: float = -0.0

    @gl.aggregator
    def low(self, v: Vertex) -> gl.Min[float]:
        return v.x

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Max[float]:
        return math.copysign(1.0, e.w)

    def apply(self, v: Vertex, total: float) -> None:
        v.seen[0] = v.x
        v.seen[1] = v.y
        v.seen[2] = v.z[1]
        v.seen[3] = total
        v.seen[4] = self.p
        v.seen[5] = self.low
        v.seen[6] = -self.p * 1.0


@pytest.mark.filterwarnings("ignore::gaslab.PerformanceWarning")
def test_a_zero_starts_with_its_sign(ways: list[dict[str, Any]]) -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    for way in ways:
        seen = gl.run(Negative(), graph, max_iterations=1, **way).vertices["seen"]
        assert repr(seen.tolist()) == repr([[-0.0, -0.0, -0.0, -1.0, -0.0, -0.0, 0.0]] * 2), way
