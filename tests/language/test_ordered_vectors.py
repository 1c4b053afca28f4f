"""np.sort, np.cumsum and np.searchsorted in programs are numpy's, to the bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from tests.support.one_fault import MODES, NAMES, vertices


class Ordered(gl.VertexProgram):
    k: int = 3

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k")
        n: gl.Vector = gl.field(shape="k", dtype=int)
        low: gl.Vector = gl.field(shape="k")
        sums: gl.Vector = gl.field(shape="k")
        least: gl.Vector = gl.field(shape="k", dtype=int)
        counts: gl.Vector = gl.field(shape="k", dtype=int)

    def apply(self, v: Vertex) -> None:
        v.low, v.sums = np.sort(v.x), np.cumsum(v.x)
        v.least, v.counts = np.sort(v.n), np.cumsum(v.n)


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@pytest.mark.parametrize("k", [1, 2, 15, 16, 17, 48, 100])
def test_sort_and_cumsum_are_those_of_numpy(mode: dict[str, Any], k: int) -> None:
    """To the bit: nan comes last, 0.0 and -0.0 keep their order, ints wrap."""
    draws = np.random.default_rng(k)
    some = np.array([0.0, -0.0, 1.5, -math.inf, math.inf, math.nan, 5e-324, -2.0])
    x = draws.choice(some, (6, k))
    x[3:] = draws.normal(size=(3, k))
    n = draws.choice([-(2**63), 2**63 - 1, 0, 3, 3], (6, k))
    found = gl.run(Ordered(k=k), vertices(6), max_iterations=1, init={"x": x, "n": n}, **mode).vertices
    with np.errstate(invalid="ignore"):
        sums = np.cumsum(x, axis=1)
    assert found["low"].tobytes() == np.sort(x, axis=1, kind="stable").tobytes()
    np.testing.assert_array_equal(found["sums"], sums)
    assert found["least"].tolist() == np.sort(n, axis=1).tolist()
    assert found["counts"].tolist() == np.cumsum(n, axis=1).tolist()


class Searched(gl.VertexProgram):
    k: int = 3

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k")
        n: gl.Vector = gl.field(shape="k", dtype=gl.int32)
        wanted: float = 0.0
        number: int = 0
        found: gl.Vector = gl.field(shape=4, dtype=int)

    def apply(self, v: Vertex) -> None:
        v.found[0] = np.searchsorted(v.x, v.wanted)
        v.found[1] = np.searchsorted(v.x, v.wanted, side="right")
        v.found[2] = np.searchsorted(v.n, v.number)
        v.found[3] = np.searchsorted(v.n, v.number, side="right")


@pytest.mark.parametrize("mode", [*MODES, {"engine": "reference"}], ids=[*NAMES, "reference"])
@pytest.mark.parametrize("k", [1, 20, 32, 33, 65, 100])
def test_searchsorted_is_numpy_s(mode: dict[str, Any], k: int) -> None:
    """Also of equal elements, of nan, which comes last, and of numbers that no element can be."""
    draws, many = np.random.default_rng(k), 80
    x = draws.choice([-math.inf, -1.5, 0.0, 2.0, math.inf, math.nan], (many, k))
    x[1::2] = draws.normal(size=(many // 2, k))
    x = np.sort(x, axis=1)
    n = np.sort(draws.integers(0, 2 * k, (many, k)), axis=1)
    wanted = draws.choice([-math.inf, -1.5, 0.0, 0.1, math.inf, math.nan], many)
    number = draws.choice([-(2**63), -1, 2**31, 2**63 - 1], many)
    number[::2] = draws.integers(0, 2 * k, many // 2)
    init = {"x": x, "n": n, "wanted": wanted, "number": number}
    found = gl.run(Searched(k=k), vertices(many), max_iterations=1, init=init, **mode).vertices["found"]
    for row in range(many):
        expected = [
            int(np.searchsorted(array[row], value[row], side=side))  # type: ignore[call-overload]
            for array, value in ((x, wanted), (n, number))
            for side in ("left", "right")
        ]
        assert found[row].tolist() == expected
