"""The Lasso example: with its check the weights of plain coordinate descent, without it none."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gaslab as gl
from examples.lasso import Lasso, fit, graph_of, problem
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.toolkit.test_examples import on_ranks, output_of

PENALTY = 0.02


def descent(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the Lasso's weights by cyclic coordinate descent."""
    weight, residual = np.zeros(x.shape[1]), y.copy()
    for _ in range(5000):
        before = weight.copy()
        for j, column in enumerate(x.T):
            pull = weight[j] + column @ residual  # columns have length 1
            new = np.sign(pull) * max(abs(pull) - PENALTY, 0)
            residual -= (new - weight[j]) * column
            weight[j] = new
        if np.abs(weight - before).max() < 1e-12:
            return weight
    raise AssertionError("no convergence")


def loss(x: np.ndarray, y: np.ndarray, weight: np.ndarray) -> float:
    return float(((y - x @ weight) ** 2).sum() / 2 + PENALTY * np.abs(weight).sum())


def on_independent(comm: Comm) -> tuple[np.ndarray, float, float]:
    x, y = problem(60, 20, shared=0.0)
    weight, result = fit(Lasso(penalty=PENALTY), graph_of(x, comm), y, rounds=500)
    updates = sum(row["updates"] for row in result.history if row["phase"] == 2)
    assert result.converged
    return weight, result.aggregates["loss"], 4 * updates / result.iterations


@pytest.mark.slow
def test_independent_columns_are_updated_together(ranks: Ranks) -> None:
    x, y = problem(60, 20, shared=0.0)
    expected = descent(x, y)
    assert 0 < np.count_nonzero(expected) < 20
    for weight, printed, together in ranks.run(on_independent):
        assert np.abs(weight - expected).max() < 1e-6
        assert printed == pytest.approx(loss(x, y, expected))
        assert together > 3


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_columns_that_correlate_need_the_check() -> None:
    x, y = problem(60, 20, shared=0.6)
    graph = graph_of(x, Comm())
    weight, result = fit(Lasso(penalty=PENALTY, tolerance=1e-4), graph, y, rounds=1000)
    least = loss(x, y, descent(x, y))
    assert result.converged
    assert least <= loss(x, y, weight) < least * (1 + 1e-5)
    weight, result = fit(Lasso(penalty=PENALTY, checked=False), graph, y, rounds=40)
    assert loss(x, y, weight) > 1e6
    assert isinstance(result, gl.Result)


@pytest.mark.slow
@on_ranks
def test_lasso_script(ranks: int) -> None:
    x, y = problem(60, 20, shared=0.6)
    checked, unchecked = output_of(ranks, "examples/lasso.py").splitlines()
    printed = re.fullmatch(
        r"dependencies checked +\d+ rounds, [\d.]+ updates each: loss (\S+), \d+ weights", checked
    )
    assert printed is not None
    assert float(printed[1]) == pytest.approx(loss(x, y, descent(x, y)), rel=1e-3)
    assert unchecked.endswith("it does not converge")
