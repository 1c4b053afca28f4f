"""Jacobi against numpy; belief propagation against its definition and against all states of a tree."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import world
from tests.support.graphs import Drawn, graphs


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


def beliefs(drawn: Drawn, prior: np.ndarray, smoothing: float, rounds: int) -> np.ndarray:
    """Return the beliefs after so many rounds of all messages at once, by their definition."""
    position = {vertex: k for k, vertex in enumerate(drawn.ids)}
    ends = [
        (position[s], position[t], w) for (s, t), w in zip(drawn.edges, drawn.columns["weight"], strict=True)
    ]
    states = prior.shape[1]
    messages = {(k, way): np.full(states, 1 / states) for k in range(len(ends)) for way in (0, 1)}
    for _ in range(rounds):
        new = {}
        for (k, way), _old in messages.items():
            source, target = ends[k][:2] if way == 0 else ends[k][1::-1]
            if source == target:
                new[k, way] = _old
                continue
            product = prior[source].copy()
            for (other, direction), message in messages.items():
                u, v = ends[other][:2] if direction == 0 else ends[other][1::-1]
                if v == source and u != v and other != k:
                    product = product * message
            pair = np.exp(smoothing * ends[k][2] * np.eye(states))
            new[k, way] = product @ pair / (product @ pair).sum()
        messages = new
    belief = prior.copy()
    for (k, way), message in messages.items():
        source, target = ends[k][:2] if way == 0 else ends[k][1::-1]
        if source != target:
            belief[target] = belief[target] * message
    return belief / belief.sum(axis=1, keepdims=True)


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@given(drawn=graphs(most=6), data=st.data())
def test_beliefs_are_those_of_the_messages(drawn: Drawn, data: st.DataObject) -> None:
    states = data.draw(st.integers(2, 4), label="states")
    tenths = st.integers(1, 10).map(lambda k: k / 10)
    row = st.lists(tenths, min_size=states, max_size=states)
    prior = np.array(
        data.draw(st.lists(row, min_size=len(drawn.ids), max_size=len(drawn.ids)), label="prior")
    )
    smoothing = data.draw(st.sampled_from([0.5, -0.25]), label="smoothing")
    rounds = data.draw(st.integers(0, 4), label="rounds")
    graph = drawn.build(world())
    found = gl.lbp(
        graph, prior, smoothing=smoothing, weight="weight", tolerance=0.0, max_iterations=rounds + 1
    )
    np.testing.assert_allclose(found.vertices["belief"], beliefs(drawn, prior, smoothing, rounds), atol=1e-9)


@given(data=st.data())
def test_beliefs_are_exact_on_trees(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 6), label="vertices")
    parents = [data.draw(st.integers(0, k - 1)) for k in range(1, n)]
    tenths = st.lists(st.integers(0, 10).map(lambda k: k / 10), min_size=2, max_size=2).filter(any)
    prior = np.array([data.draw(tenths) for _ in range(n)])
    weights = [data.draw(st.integers(-3, 3).map(float)) for _ in parents]
    exact = np.zeros((n, 2))
    for states in itertools.product(range(2), repeat=n):
        p = math.prod(prior[v, x] for v, x in enumerate(states))
        for k, (parent, w) in enumerate(zip(parents, weights, strict=True), 1):
            p *= math.exp(0.5 * w) if states[k] == states[parent] else 1.0
        for v, x in enumerate(states):
            exact[v, x] += p
    graph = gl.Graph.from_edges(parents, range(1, n), columns={"weight": weights}, comm=world())
    table = dict(enumerate(prior.tolist()))
    result = gl.lbp(
        graph, table, smoothing=0.5, weight="weight", damping=data.draw(st.sampled_from([0.0, 0.3]))
    )
    assert result.converged
    np.testing.assert_allclose(result.vertices["belief"], exact / exact.sum(axis=1, keepdims=True), atol=1e-6)
