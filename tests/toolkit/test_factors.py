"""ALS and SGD: numpy that goes the same way gets the same vectors; one answer in every mode and cut."""

from __future__ import annotations

import doctest
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import gaslab as gl
from examples.recommend import ratings
from gaslab.parallel.comm import Comm
from gaslab.reference.visit import visit_order
from tests.mpi.launcher import run_script
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES
from tests.support.toolkit import MODES

FACTORS, ITERATIONS, WAYS = 3, 4, 16
FUNCTIONS = {
    "als": gl.als,
    "als by enough steps": functools.partial(gl.als, solver="conjugate_gradient", steps=8),
    "sgd": gl.sgd,
}
Vectors = tuple[np.ndarray, np.ndarray]  # factors and biases, users then items


def graph_of(comm: Comm, strategy: str | None = None) -> gl.Graph:
    user, item, rating = ratings(40, 30, 500)
    columns = {"rating": rating}
    return gl.Graph.from_edges(user, item, columns=columns, bipartite=True, strategy=strategy, comm=comm)


def vectors(result: gl.Result) -> Vectors:
    return result.vertices["factors"], result.vertices["bias"]


def factorise(comm: Comm, function: str) -> tuple[Vectors, Vectors, list[float]]:
    """Return the vectors before and after, and the root mean square error of each iteration."""
    graph = graph_of(comm, "random")
    program = (gl.programs.SGD if function == "sgd" else gl.programs.ALS)(factors=FACTORS)
    before = gl.run(program, graph, max_iterations=0, seed=5)
    result = FUNCTIONS[function](graph, factors=FACTORS, iterations=ITERATIONS, seed=5, threads=1)
    return vectors(before), vectors(result), [row["rmse"] for row in result.history]


def numbered() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the ratings with the numbers of users and, behind them, of items."""
    user, item, rating = ratings(40, 30, 500)
    users, u = np.unique(user, return_inverse=True)
    return u, np.unique(item, return_inverse=True)[1] + len(users), rating


def rmse(x: np.ndarray, b: np.ndarray) -> float:
    u, w, rating = numbered()
    error = rating - rating.mean() - b[u] - b[w] - (x[u].astype(float) * x[w]).sum(axis=1)
    return float(np.sqrt((error**2).mean()))


def replay_als(x: np.ndarray, b: np.ndarray) -> tuple[Vectors, list[float]]:
    """Solve each vertex's ridge problem for the vector and the bias together, users then items."""
    u, w, rating = numbered()
    x, b, errors = x.copy(), b.copy(), []
    for turn in range(2 * ITERATIONS):
        own, other = (w, u) if turn % 2 else (u, w)
        for vertex in np.unique(own):
            mine = own == vertex
            theirs = np.column_stack([x[other[mine]].astype(float), np.ones(mine.sum())])
            ridge = 0.1 * mine.sum() * np.eye(FACTORS + 1)
            rest = rating[mine] - rating.mean() - b[other[mine]]
            solved = np.linalg.solve(theirs.T @ theirs + ridge, theirs.T @ rest)
            x[vertex], b[vertex] = solved[:-1], solved[-1]
        if turn % 2:
            errors.append(rmse(x, b))
    return (x, b), errors


def replay_sgd(x: np.ndarray, b: np.ndarray) -> tuple[Vectors, list[float]]:
    """Take one rating after the other, in the order of `visit`."""
    u, w, rating = numbered()
    order = [one.edge for one in visit_order(list(zip(u.tolist(), w.tolist(), strict=True)), True, WAYS)]
    x, b, errors = x.copy(), b.copy(), []
    for sweep in range(ITERATIONS):
        step = 0.05 / (1 + 0.2 * sweep)
        for k in order:
            i, j = u[k], w[k]
            mine, theirs = x[i].astype(float), x[j].astype(float)
            error = rating[k] - rating.mean() - b[i] - b[j] - mine @ theirs
            x[i] = mine + step * (error * theirs - 0.1 * mine)
            x[j] = theirs + step * (error * mine - 0.1 * theirs)
            b[i] += step * (error - 0.1 * b[i])
            b[j] += step * (error - 0.1 * b[j])
        errors.append(rmse(x, b))
    return (x, b), errors


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_vectors_are_numpy_s_on_any_ranks(ranks: Ranks, function: str) -> None:
    before, after, errors = ranks.run(factorise, function)[0]
    assert before[0].dtype == np.float32
    assert before[0].std() == pytest.approx(0.1, rel=0.2)
    expected, expected_errors = (replay_sgd if function == "sgd" else replay_als)(*before)
    for found, should in zip(after, expected, strict=True):
        assert np.abs(found - should).max() < 5e-6
    assert errors == pytest.approx(expected_errors, rel=1e-6)
    assert errors == sorted(errors, reverse=True)
    assert errors[-1] < 0.97 * errors[0]


def test_a_few_steps_learn_as_much_as_exact_solutions() -> None:
    found = {}
    for steps in (0, 1, 3):
        how: dict[str, Any] = {"solver": "conjugate_gradient", "steps": steps} if steps else {}
        result = gl.als(graph_of(Comm()), factors=8, iterations=12, threads=1, seed=2, **how)
        assert result.metrics["parameters"]["steps"] == (steps or None)
        found[steps] = [row["rmse"] for row in result.history]
    assert found[3][-1] == pytest.approx(found[0][-1], rel=0.02)
    assert found[1][-1] == pytest.approx(found[0][-1], rel=0.1)
    assert abs(found[1][0] - found[0][0]) > 10 * abs(found[3][0] - found[0][0])


@dataclass(frozen=True)
class Rated:
    """Ratings as plain lists; of the vertices some have none."""

    users: list[Any]
    items: list[Any]
    rows: list[tuple[Any, Any, float]]
    directed: bool

    def build(self, comm: Comm, strategy: str) -> gl.Graph:
        user, item, rating = zip(*self.rows, strict=True)
        return gl.Graph.from_edges(
            user, item, columns={"stars": rating}, vertices=(self.users, self.items), bipartite=True,
            directed=self.directed, strategy=strategy, comm=comm,
        )  # fmt: skip


@st.composite
def rated(draw: st.DrawFn) -> Rated:
    users: list[Any] = draw(st.sampled_from([[0, 1, 2, 3, 9], ["A", "a b", "zz", "é", "日本"]]))
    items: list[Any] = draw(st.sampled_from([[0, 1, 7, 8], ["A", "a", "b", "~"]]))
    stars = st.integers(2, 10).map(lambda k: k / 2)
    row = st.tuples(st.sampled_from(users[:4]), st.sampled_from(items[:3]), stars)
    return Rated(users, items, draw(st.lists(row, min_size=1, max_size=30)), draw(st.booleans()))


def in_every_mode(comm: Comm, drawn: Rated, strategy: str, function: str) -> dict[str, dict[str, Any]]:
    """Return the answers by mode, each with the test that it is given: its own ratings."""
    graph, found = drawn.build(comm, strategy), {}
    for mode, how in MODES.items():
        result = FUNCTIONS[function](
            graph, factors=FACTORS, regularization=0.125, iterations=3, rating="stars", test=graph, **how
        )
        assert result.converged
        assert (result.iterations, [row["iteration"] for row in result.history]) == (3, [1, 2, 3])
        tables = result.tables
        assert [(table.columns, len(table)) for table in tables.values()] == [
            (["factors", "bias"], 5), (["factors", "bias"], 4),
        ]  # fmt: skip
        found[mode] = {
            "factors": result.vertices["factors"],
            "bias": result.vertices["bias"],
            "rmse": np.array([row["rmse"] for row in result.history]),
            "test": np.array(result.metrics["figures"]["test_rmse"]),
        }
    return found


@pytest.mark.slow
@pytest.mark.parametrize("function", FUNCTIONS)
@settings(phases=[Phase.explicit, Phase.generate])  # to shrink a failure takes minutes
@given(drawn=rated(), strategy=st.sampled_from(STRATEGIES))
def test_one_answer_in_every_mode(ranks: Ranks, function: str, drawn: Rated, strategy: str) -> None:
    of_each_rank = ranks.run(in_every_mode, drawn, strategy, function)
    assert all(repr(found) == repr(of_each_rank[0]) for found in of_each_rank)
    alone = in_every_mode(Comm(), drawn, "1d", function)["1 thread"]
    exact = {"rel": 1e-12} if function == "als" else {"abs": 1e-6}  # the errors of sgd are of float32
    assert alone["test"] == pytest.approx(alone["rmse"][-1], **exact)
    for mode, answer in of_each_rank[0].items():
        for name, values in answer.items():
            if function == "sgd" and name in ("factors", "bias"):
                assert values.tobytes() == alone[name].tobytes(), (mode, name)
            np.testing.assert_allclose(values, alone[name], rtol=0, atol=1e-6, err_msg=f"{mode}: {name}")
    for name in ("factors", "bias"):
        isolated = [4, 8]  # the last user and the last item
        assert not alone[name][isolated].any()


@pytest.mark.parametrize("name", ["als", "sgd"])
def test_the_docstring_has_an_example_that_runs(name: str) -> None:
    examples = doctest.DocTestFinder(recurse=False).find(getattr(gl, name), name)
    ran = [doctest.DocTestRunner().run(example) for example in examples]
    assert [(result.failed, result.attempted) for result in ran] == [(0, 6)]


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [1, 2])
def test_the_example_predicts_far_better_than_the_mean(ranks: int) -> None:
    done = run_script(ranks, ["examples/recommend.py"])
    assert done.returncode == 0, done.stderr
    found = {line.split(":")[0]: float(line.split()[-1]) for line in done.stdout.splitlines()}
    assert found["mean"] > 1.0
    assert 0.3 < found["ALS"] < 0.36
    assert 0.3 < found["SGD"] < 0.36
