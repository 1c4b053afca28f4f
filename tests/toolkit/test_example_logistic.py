"""The logistic example: with and without staleness the weights that Newton's method finds."""

from __future__ import annotations

import re

import numpy as np
import pytest

from examples.logistic import fit, graph_of, problem
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.toolkit.test_examples import on_ranks, output_of

RIDGE = 0.1


def newton(x: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the best weights and their loss."""
    weight, n = np.zeros(x.shape[1]), len(label)
    for _ in range(30):
        probability = 1 / (1 + np.exp(label * (x @ weight)))
        gradient = -x.T @ (label * probability) / n + RIDGE * weight
        curvature = (x.T * (probability * (1 - probability))) @ x / n + RIDGE * np.eye(len(weight))
        weight = weight - np.linalg.solve(curvature, gradient)
    loss = np.log1p(np.exp(-label * (x @ weight))).mean() + RIDGE * weight @ weight / 2
    return weight, float(loss)


def on_ranks_of(comm: Comm, staleness: int) -> tuple[np.ndarray, float, bool, int]:
    x, label = problem(80, 8)
    result = fit(graph_of(x, comm), label, staleness)
    weight = result.vertices["value"][label.size :]
    return weight, result.aggregates["losses"], result.converged, result.metrics["staleness"]["max"]


@pytest.mark.slow
@pytest.mark.parametrize("staleness", [0, 2])
def test_gradient_steps_find_the_weights_of_newton(ranks: Ranks, staleness: int) -> None:
    x, label = problem(80, 8)
    expected, least = newton(x, label)
    for weight, loss, converged, oldest in ranks.run(on_ranks_of, staleness):
        assert converged
        assert np.abs(weight - expected).max() < 1e-5
        assert loss == pytest.approx(least, rel=1e-6)
        assert oldest <= staleness


@pytest.mark.slow
@on_ranks
def test_logistic_script(ranks: int) -> None:
    _, least = newton(*problem(300, 20))
    printed = re.findall(
        r"^staleness (\d): loss (\S+), (\S+)% right$", output_of(ranks, "examples/logistic.py"), re.M
    )
    assert [int(s) for s, _, _ in printed] == [0, 2]
    for _, loss, right in printed:
        assert float(loss) == pytest.approx(least, rel=1e-6)
        assert float(right) > 75
