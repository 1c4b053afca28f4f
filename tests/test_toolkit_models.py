"""Jacobi against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.comm import world
from tests.graphs import Drawn, graphs


def system(drawn: Drawn) -> tuple[np.ndarray, gl.Graph]:
    """Return a strictly diagonally dominant matrix with the edges of *drawn*, and its graph."""
    n, position = len(drawn.ids), {vertex: k for k, vertex in enumerate(drawn.ids)}
    dense = np.zeros((n, n))
    rows = []
    for (source, target), entry in zip(drawn.edges, drawn.columns["cost"], strict=True):
        if source != target:
            rows.append((source, target, float(entry)))
            dense[position[source], position[target]] += entry
            if not drawn.directed:
                dense[position[target], position[source]] += entry
    for k, vertex in enumerate(drawn.ids):
        whole = np.abs(dense[k]).sum() + 1.0 + k % 3
        rows += [(vertex, vertex, 0.25 * whole), (vertex, vertex, 0.75 * whole)]  # parallel ones add up
        dense[k, k] = whole
    sources, targets, weights = zip(*rows, strict=True)
    return dense, gl.Graph.from_edges(
        sources, targets, columns={"w": weights}, directed=drawn.directed, vertices=drawn.ids, comm=world()
    )


@given(drawn=graphs(), data=st.data())
def test_jacobi_solves(drawn: Drawn, data: st.DataObject) -> None:
    dense, graph = system(drawn)
    numbers = st.lists(st.integers(-9, 9), min_size=len(dense), max_size=len(dense))
    rhs = data.draw(numbers, label="rhs")
    given_as: Any = data.draw(st.sampled_from([rhs, dict(zip(drawn.ids, rhs, strict=True))]), label="as")
    found = gl.jacobi(graph, given_as, weight="w", tolerance=1e-13, max_iterations=10_000).vertices["x"]
    np.testing.assert_allclose(found, np.linalg.solve(dense, rhs), atol=1e-9)
    start = gl.jacobi(graph, given_as, weight="w", init={"x": np.linalg.solve(dense, rhs)}, tolerance=1e-9)
    assert start.iterations == 2  # the diagonal, and one step that moves nothing


def test_jacobi_says_what_is_wrong() -> None:
    graph = gl.Graph.from_edges([0, 0, 1], [0, 1, 0], columns={"weight": [2.0, 1.0, 1.0]}, comm=world())
    with pytest.raises(gl.UsageError, match="the diagonal is zero in 1 row; Jacobi divides by it"):
        gl.jacobi(graph)
    with pytest.raises(gl.UsageError, match="no edge column 'wieght'; did you mean 'weight'"):
        gl.jacobi(graph, weight="wieght")
    blunt = gl.Graph.from_edges(
        [0, 0, 1, 1], [0, 1, 0, 1], columns={"weight": [1.0, 2.0, 2.0, 1.0]}, comm=world()
    )
    with pytest.warns(gl.ConvergenceWarning):
        assert not gl.jacobi(blunt, max_iterations=5).converged
