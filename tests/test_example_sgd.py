"""The SGD example: numpy that goes through the same schedule gives the same vectors, on any ranks."""

from __future__ import annotations

import numpy as np
import pytest

import gaslab as gl
from examples.sgd import SGD, ratings
from gaslab.comm import Comm
from tests.mpi.ranks import Ranks

SWEEPS, WAYS = 4, 16


def _factorise(comm: Comm) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Return the vectors before and after, and the root mean square error of each sweep."""
    user, item, rating = ratings(40, 30, 500)
    graph = gl.Graph.from_edges(user, item, columns={"rating": rating}, strategy="random", comm=comm)
    program = SGD(factors=3, mean=3.0)
    before = gl.run(program, graph, max_iterations=0, seed=5).vertices["x"]
    result = gl.run(program, graph, max_iterations=SWEEPS, seed=5)
    errors = [(row["squares"] / graph.num_edges) ** 0.5 for row in result.history]
    return before, result.vertices["x"], errors


def _hash(k: np.ndarray) -> np.ndarray:
    z = k.astype(np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _replay(x: np.ndarray) -> tuple[np.ndarray, list[float]]:
    user, item, rating = ratings(40, 30, 500)
    ids = np.unique([user, item])
    u, w = np.searchsorted(ids, user), np.searchsorted(ids, item)
    turn = (_hash(w) % WAYS).astype(int) - (_hash(u) % WAYS).astype(int)
    order = np.lexsort((w, u, turn % WAYS))
    x, errors = x.copy(), []
    for sweep in range(SWEEPS):
        step, squares = 0.05 / (1 + 0.1 * sweep), 0.0
        for k in order:
            a, b = x[u[k]].astype(float), x[w[k]].astype(float)
            error = rating[k] - 3.0 - a @ b
            squares += error**2
            x[u[k]] = a + step * (error * b - 0.02 * a)
            x[w[k]] = b + step * (error * a - 0.02 * b)
        errors.append((squares / rating.size) ** 0.5)
    return x, errors


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_sgd_is_numpy_s_on_any_ranks(ranks: Ranks) -> None:
    before, after, errors = ranks.run(_factorise)[0]
    assert before.dtype == np.float32
    assert before.std() == pytest.approx(0.3, rel=0.2)
    expected, expected_errors = _replay(before)
    assert np.abs(after - expected).max() < 1e-5
    assert errors == pytest.approx(expected_errors, rel=1e-6)
    assert errors[-1] < 0.9 * errors[0]
    alone = _factorise(Comm())
    assert after.tobytes() == alone[1].tobytes()
