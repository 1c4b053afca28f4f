"""np.sort and np.cumsum in programs are numpy's, to the bit."""

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
