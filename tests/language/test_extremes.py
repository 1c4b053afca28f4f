"""np.min, np.max, np.argmin, np.argmax, np.minimum and np.maximum in programs are numpy's, nan included."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from tests.support.one_fault import MODES, NAMES, vertices


class Extremes(gl.VertexProgram):
    k: int = 3

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k")
        y: gl.Vector = gl.field(shape="k")
        least: float = 0.0
        most: float = 0.0
        first: int = 0
        last: int = 0
        low: gl.Vector = gl.field(shape="k")
        high: gl.Vector = gl.field(shape="k")
        one: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.least, v.most = np.min(v.x), np.max(v.x)
        v.first, v.last = np.argmin(v.x), np.argmax(v.x)
        v.low, v.high = np.minimum(v.x, v.y), np.maximum(v.x, v.y)
        v.one = np.maximum(v.x[0], v.y[0])


class SingleExtremes(Extremes):
    precision = gl.float32


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@pytest.mark.parametrize("program", [Extremes, SingleExtremes])
@pytest.mark.parametrize("k", [1, 2, 3, 17])
def test_extremes_are_those_of_numpy(mode: dict[str, Any], program: type[Extremes], k: int) -> None:
    """nan wins wherever it stands, and its first place is where the extreme is."""
    draws = np.random.default_rng(k)
    some = np.array([0.0, -0.0, 1.5, -math.inf, math.inf, math.nan, -2.0])
    x, y = draws.choice(some, (40, k)), draws.choice(some, (40, k))
    found = gl.run(program(k=k), vertices(40), max_iterations=1, init={"x": x, "y": y}, **mode).vertices
    np.testing.assert_array_equal(found["least"], x.min(axis=1))
    np.testing.assert_array_equal(found["most"], x.max(axis=1))
    assert found["first"].tolist() == x.argmin(axis=1).tolist()
    assert found["last"].tolist() == x.argmax(axis=1).tolist()
    np.testing.assert_array_equal(found["low"], np.minimum(x, y))
    np.testing.assert_array_equal(found["high"], np.maximum(x, y))
    np.testing.assert_array_equal(found["one"], np.maximum(x[:, 0], y[:, 0]))


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_of_equal_elements_the_first_is_the_extreme(mode: dict[str, Any]) -> None:
    """0.0 and -0.0 are equal, and differ in their signs."""
    x = np.array([[0.0, -0.0, -0.0], [-0.0, 0.0, 0.0]])
    found = gl.run(Extremes(), vertices(2), max_iterations=1, init={"x": x, "y": -x}, **mode).vertices
    for column in ("least", "most", "one"):
        assert np.signbit(found[column]).tolist() == [False, True], column
    for column in ("low", "high"):
        assert np.signbit(found[column]).tolist() == np.signbit(x).tolist(), column
