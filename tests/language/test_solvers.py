"""Linear systems in programs: of any scale, with nan and inf in them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from tests.support.one_fault import MODES, NAMES, vertices


class Solved(gl.VertexProgram):
    class Vertex(gl.Vertex):
        a: gl.Matrix = gl.field(shape=(3, 3))
        b: gl.Vector = gl.field(shape=3)
        start: gl.Vector = gl.field(shape=3)
        cg: gl.Vector = gl.field(shape=3)
        spd: gl.Vector = gl.field(shape=3)
        lu: gl.Vector = gl.field(shape=3)

    def apply(self, v: Vertex) -> None:
        v.cg = gl.conjugate_gradient(v.a, v.b, v.start, 3)
        v.spd = gl.solve_spd(v.a, v.b)
        v.lu = np.linalg.solve(v.a, v.b)


MATRIX = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]])
EXPONENTS = [-1060, -700, -540, -60, 0, 60, 540, 700, 1015]


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_a_system_is_solved_alike_at_any_scale(mode: dict[str, Any]) -> None:
    """Squares of these right sides are 0 or inf."""
    right = np.array([2.0, -1.0, 1.5])
    scales = np.ldexp(1.0, EXPONENTS)
    init = {"a": np.array([MATRIX] * len(scales)), "b": scales[:, None] * right}
    found = gl.run(Solved(), vertices(len(scales)), max_iterations=1, init=init, **mode).vertices
    exact = np.linalg.solve(MATRIX, right)
    for k, scale in enumerate(scales):
        rounding = 1e-13 if EXPONENTS[k] > -1000 else 1e-3  # numbers near 2**-1060 have few bits
        np.testing.assert_allclose(found["cg"][k] / scale, exact, rtol=rounding, err_msg=f"{scale}")
        np.testing.assert_allclose(found["spd"][k] / scale, exact, rtol=rounding, err_msg=f"{scale}")


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@pytest.mark.parametrize("scale", [2.0**-600, 2.0**600])
def test_a_start_of_any_scale_is_a_start(mode: dict[str, Any], scale: float) -> None:
    init = {"a": MATRIX[None], "b": np.ones((1, 3)) * scale, "start": np.array([[3.0, -2.0, 1.0]]) * scale}
    init = {name: np.repeat(value, 2, axis=0) for name, value in init.items()}
    found = gl.run(Solved(), vertices(2), max_iterations=1, init=init, **mode).vertices
    np.testing.assert_allclose(found["cg"][0] / scale, np.linalg.solve(MATRIX, np.ones(3)), rtol=1e-13)


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("mode", MODES, ids=NAMES)
@pytest.mark.parametrize("where", ["a", "b", "start"])
def test_nan_gives_nan(mode: dict[str, Any], where: str) -> None:
    """It is no sign of a matrix that is not positive definite, which would end the run."""
    init = {"a": MATRIX[None], "b": np.ones((1, 3)), "start": np.zeros((1, 3))}
    init[where] = init[where] * math.nan
    init = {name: np.repeat(value, 2, axis=0) for name, value in init.items()}
    found = gl.run(Solved(), vertices(2), max_iterations=1, init=init, **mode).vertices
    for solver in ("cg", "spd", "lu") if where != "start" else ("cg",):
        assert np.isnan(found[solver]).all(), solver


class Units(gl.VertexProgram):
    class Vertex(gl.Vertex):
        s: float = 0.0
        m: gl.Matrix = gl.field(shape=(2, 2), init=2.0)
        product: gl.Matrix = gl.field(shape=(2, 2))
        chain: gl.Matrix = gl.field(shape=(2, 2))
        ratio: gl.Matrix = gl.field(shape=(2, 2))
        total: gl.Matrix = gl.field(shape=(2, 2))
        less: gl.Matrix = gl.field(shape=(2, 2))
        negative: gl.Matrix = gl.field(shape=(2, 2))

    def apply(self, v: Vertex) -> None:
        v.product = np.eye(2) * v.s
        v.chain = v.s * np.eye(2) * v.s
        v.ratio = np.eye(2) / v.s
        v.total = v.m + v.s * np.eye(2)
        v.less = v.m - np.eye(2) / v.s
        v.negative = np.eye(2) * -2.0


@pytest.mark.parametrize("mode", MODES, ids=NAMES)
def test_multiples_of_the_unit_matrix_are_those_of_numpy(mode: dict[str, Any]) -> None:
    """0 times inf is nan, beside the diagonal too; 0 times a number below 0 is -0.0."""
    some = [0.0, -0.0, 1.5, -2.0, 1e200, math.inf, -math.inf, math.nan]
    found = gl.run(
        Units(), vertices(len(some)), max_iterations=1, init={"s": np.array(some)}, **mode
    ).vertices
    two = np.full((2, 2), 2.0)
    with np.errstate(all="ignore"):
        for k, s in enumerate(np.array(some)):
            expected = {
                "product": np.eye(2) * s, "chain": s * np.eye(2) * s, "ratio": np.eye(2) / s,
                "total": two + s * np.eye(2), "less": two - np.eye(2) / s, "negative": np.eye(2) * -2.0,
            }  # fmt: skip
            for name, matrix in expected.items():
                np.testing.assert_array_equal(found[name][k], matrix, err_msg=f"{name} {s}")
                of_numbers = ~np.isnan(matrix)
                signs = np.signbit(found[name][k])[of_numbers]
                assert signs.tolist() == np.signbit(matrix)[of_numbers].tolist(), (name, s)
