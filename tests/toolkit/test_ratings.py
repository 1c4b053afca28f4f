"""What ratings ALS and SGD take and refuse; the mean, the test, and vertices without ratings."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from examples.recommend import ratings
from gaslab.parallel.comm import Comm, world
from gaslab.programs._ratings import exact_mean, exact_sums
from gaslab.programs._recommend import recommend
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES


def als(graph: gl.Graph, **options: Any) -> gl.Result:
    return gl.als(graph, threads=1, **options)  # threads would wait for each other, on few edges


def sgd(graph: gl.Graph, **options: Any) -> gl.Result:
    return gl.sgd(graph, threads=1, **options)


def als_by_steps(graph: gl.Graph, **options: Any) -> gl.Result:
    return als(graph, solver="conjugate_gradient", **options)


functions = pytest.mark.parametrize("function", [als, als_by_steps, sgd], ids=["als", "steps", "sgd"])
FEW = ([1, 1, 2, 2, 3], [10, 20, 10, 20, 10], [5.0, 1.0, 4.0, 2.0, 5.0])


def rated(users: Any = FEW[0], items: Any = FEW[1], rating: Any = FEW[2], **options: Any) -> gl.Graph:
    columns = {"rating": np.asarray(rating)}
    options = {"comm": world(), "bipartite": True, **options}
    return gl.Graph.from_edges(users, items, columns=columns, **options)


def predicted(result: gl.Result, user: int, item: int) -> float:
    """Return the prediction for a user and an item, by their place in the tables."""
    users, items = result.tables["user_factors"], result.tables["item_factors"]
    dot = users["factors"][user].astype(float) @ items["factors"][item].astype(float)
    return float(result.metrics["parameters"]["mean"] + users["bias"][user] + items["bias"][item] + dot)


# ---- the mean ----------------------------------------------------------------------------------------


def mean_of_parts(comm: Comm, values: list[float]) -> str:
    mine = np.array(values[comm.rank :: comm.size])
    return exact_mean(comm, exact_sums(mine), len(values)).hex()


finite = st.floats(allow_nan=False, allow_infinity=False) | st.floats(-5, 5) | st.sampled_from([1e30, -1e30])


@given(values=st.lists(finite, min_size=1, max_size=40))
def test_the_mean_is_the_exact_one_rounded(ranks: Ranks, values: list[float]) -> None:
    exact = float(sum(map(Fraction, values)) / len(values))
    assert set(ranks.run(mean_of_parts, values)) == {(exact + 0.0).hex()}


def test_the_mean_of_many_is_exact() -> None:
    values = np.random.default_rng(1).normal(size=100_000) * 10.0 ** np.arange(-50, 50).repeat(1000)
    exact = float(sum(map(Fraction, values.tolist())) / values.size)
    assert exact_mean(world(), exact_sums(values), values.size) == exact
    assert float(values.mean()) != exact


def mean_under_all_cuts(comm: Comm) -> set[str]:
    user, item, rating = ratings(30, 20, 200)
    graphs = [rated(user, item, rating, comm=comm, strategy=strategy) for strategy in STRATEGIES]
    found = [sgd(graph, factors=1, iterations=1) for graph in graphs]
    return {result.metrics["parameters"]["mean"].hex() for result in found}


def test_the_mean_has_the_same_bits_under_any_cut(ranks: Ranks) -> None:
    rating = ratings(30, 20, 200)[2]
    exact = float(sum(map(Fraction, rating.tolist())) / rating.size)
    assert set().union(*ranks.run(mean_under_all_cuts)) == {exact.hex()}


# ---- small and odd ratings ---------------------------------------------------------------------------


@pytest.mark.parametrize("function", [als, als_by_steps])
def test_als_of_a_constant_is_the_constant(function: Any) -> None:
    for regularization in (0.1, 0.0):
        result = function(rated(rating=[0.1] * 5), factors=3, regularization=regularization)
        assert [row["rmse"] for row in result.history] == [0.0] * 20
        assert not result.vertices["factors"].any()
        assert not result.vertices["bias"].any()


def test_sgd_of_a_constant_comes_near_it() -> None:
    result = sgd(rated(rating=[3.7] * 5), factors=3)
    assert result.metrics["figures"]["train_rmse"] < 0.02


@functions
@pytest.mark.parametrize("regularization", [0.1, 0.0])
def test_one_rating(function: Any, regularization: float) -> None:
    result = function(rated([7], [7], [4.0]), regularization=regularization)
    assert result.tables["user_factors"].ids.tolist() == result.tables["item_factors"].ids.tolist() == [7]
    assert result.metrics["figures"]["train_rmse"] == pytest.approx(0.0, abs=0.02)


@functions
def test_one_factor_and_more_factors_than_ratings(function: Any) -> None:
    for factors in (1, 32):
        result = function(rated(), factors=factors, regularization=0.02, iterations=100)
        assert result.vertices["factors"].shape == (5, factors)
        assert result.metrics["figures"]["train_rmse"] < 0.55  # the ratings spread by 1.6


def test_als_without_regularization_has_a_solution_for_every_vertex() -> None:
    user, item, rating = ratings(20, 15, 100)
    result = als(rated(user, item, rating), regularization=0.0, iterations=50)
    assert result.metrics["figures"]["train_rmse"] < 1e-2
    assert np.isfinite(result.vertices["factors"]).all()


@functions
def test_parallel_ratings_each_count(function: Any) -> None:
    users, items, rating = FEW
    twice = rated(users * 2, items * 2, rating + [r + 1.0 for r in rating])
    result = function(twice, factors=1, iterations=50, regularization=0.001)
    assert result.metrics["parameters"]["mean"] == np.mean(rating) + 0.5
    assert predicted(result, 0, 0) == pytest.approx(5.5, abs=0.7)  # of 5 and 6
    assert result.history[-1]["rmse"] > 0.49  # what no prediction can be below


@functions
def test_the_ratings_may_be_of_any_kind(function: Any) -> None:
    expected = function(rated(), factors=3).vertices["bias"]
    for rating in (np.array(FEW[2], int), np.array(FEW[2], np.float32), np.array(FEW[2], np.uint8)):
        assert function(rated(rating=rating), factors=3).vertices["bias"].tolist() == expected.tolist()
    assert function(rated(directed=False), factors=3).vertices["bias"] == pytest.approx(expected, abs=0.5)
    yes = function(rated(rating=np.array([True, False, True, False, True])), factors=1)
    assert yes.metrics["parameters"]["mean"] == 0.6


def test_als_follows_the_scale_of_the_ratings() -> None:
    """Ratings and weights a million times as large: so are the predictions."""
    small = als(rated(), factors=1, regularization=0.0, iterations=5)
    large = als(rated(rating=np.array(FEW[2]) * 1e29), factors=1, regularization=0.0, iterations=5)
    assert predicted(large, 0, 0) == pytest.approx(1e29 * predicted(small, 0, 0), rel=1e-3)


def test_the_column_of_the_ratings() -> None:
    def graph(**columns: Any) -> gl.Graph:
        return gl.Graph.from_edges(*FEW[:2], columns=columns, bipartite=True, comm=world())

    other = [1, 2, 3, 4, 5]
    found = {
        name: als(graph(**columns), factors=1, iterations=1, rating=asked).metrics["parameters"]["mean"]
        for name, asked, columns in (
            ("rating", None, {"when": other, "rating": FEW[2]}),
            ("first", None, {"weight": FEW[2], "when": other}),
            ("asked", "when", {"rating": FEW[2], "when": other}),
        )
    }
    assert found == {"rating": 3.4, "first": 3.4, "asked": 3.0}


def test_a_column_of_the_vertices_is_no_start() -> None:
    graph = rated().with_vertices({"id": [1, 2, 3, gl.right(10), gl.right(20)], "bias": [9.0] * 5})
    assert sgd(graph, factors=1).vertices["bias"].tolist() == (
        sgd(rated(), factors=1).vertices["bias"].tolist()
    )


def test_a_start_of_the_users_own() -> None:
    first = als(rated(), factors=3, iterations=30)
    again = als(rated(), factors=3, iterations=1, init=first)
    assert again.history[0]["rmse"] <= first.history[-1]["rmse"] * 1.001


# ---- what is refused ---------------------------------------------------------------------------------

REFUSED = [
    (lambda: rated([], [], np.zeros(0), vertices=([1], [2])), {}, "the graph has no ratings: .* no edges"),
    (lambda: rated(rating=[1, 2, np.inf, 3, 4]), {},
     r"edge column 'rating' is inf on the edge 2 \(left\) -> 10 \(right\); a finite number is needed"),
    (lambda: rated(rating=[1, 2, 1e31, 3, 4]), {}, r"'rating' is 1e\+31, .*scale the column"),
    (lambda: rated(rating=np.ones((5, 2))), {}, r"rows of shape \(2,\); a number is needed"),
    (lambda: rated(bipartite=False), {}, r"needs a bipartite graph; .*bipartite=True \(--bipartite\)"),
    (lambda: gl.Graph.from_edges(*FEW[:2], bipartite=True, comm=world()), {},
     "the graph has no edge column with ratings; give it one with columns=, or read a file whose third"),
    (rated, {"rating": "ratng"}, "no edge column 'ratng'; did you mean 'rating'"),
    (rated, {"factors": 0}, "factors=0: a whole number from 1 to 256 is needed"),
    (rated, {"factors": 257}, "factors=257: a whole number from 1 to 256 is needed"),
    (rated, {"regularization": -1}, "regularization=-1: a number of at least 0 is needed"),
    (rated, {"regularization": np.inf}, "regularization=inf: a finite number is needed"),
    (rated, {"iterations": 0}, "iterations=0: a whole number of at least 1 is needed"),
    (rated, {"max_iterations": 5}, "use iterations=, not max_iterations="),
    (rated, {"columns": {"rating": "x"}}, "sets columns itself"),
    (rated, {"engine": "async"}, "engine='async'"),
    (rated, {"test": 3}, "test=3: a gaslab.Graph is needed, not int"),
    (rated, {"test": lambda: rated(bipartite=False)}, r"test is not a bipartite graph; .*--bipartite"),
    (rated, {"test": lambda: rated([], [], np.zeros(0), vertices=([1], [2]))}, "the test has no ratings"),
    (rated, {"test": lambda: rated(items=list("abcde"))},
     r"the ids of items are of kind 'int' in the graph and 'str' in the test, .*\(--ids\)"),
    (rated, {"test": lambda: rated(rating=[1, 2, np.inf, 3, 4])}, "edge column 'rating' is inf"),
]  # fmt: skip


@functions
@pytest.mark.parametrize(("graph", "options", "words"), REFUSED, ids=[words for *_, words in REFUSED])
def test_what_cannot_be_factorised(function: Any, graph: Any, options: dict[str, Any], words: str) -> None:
    options = {
        name: value() if name == "test" and callable(value) else value for name, value in options.items()
    }
    with pytest.raises(gl.UsageError, match=words):
        function(graph(), **options)


def test_a_solver_is_named_and_takes_a_step() -> None:
    with pytest.raises(gl.UsageError, match=r"solver='conjugate_gradients'.*conjugate_gradient"):
        als(rated(), solver="conjugate_gradients")
    for solver in ("cholesky", "conjugate_gradient"):
        with pytest.raises(gl.UsageError, match="steps=0: a whole number of at least 1 is needed"):
            als(rated(), solver=solver, steps=0)


def test_steps_that_are_too_large_are_an_error() -> None:
    with pytest.raises(
        gl.UsageError, match=r"learning_rate=0\.05 with regularization=0\.1 is too large: in iteration \d+ "
    ):
        sgd(rated(rating=np.array(FEW[2]) * 1e6))
    for name, value in (("learning_rate", 0), ("learning_rate", np.nan), ("decay", -1)):
        with pytest.raises(gl.UsageError, match=f"{name}={value}"):
            sgd(rated(), **{name: value})


# ---- the test, and recommendations -------------------------------------------------------------------


def judged(comm: Comm, function: str, on: str, strategy: str) -> list[Any]:
    """Return what is predicted of a test of known and unknown ends, and what is recommended."""
    user, item, rating = ratings(30, 20, 300)
    names = np.array([f"i{k:02}" for k in range(40)], object)
    left, right = np.arange(33), [f"i{k:02}" for k in range(22)]  # the last have no ratings
    graph = rated(user, names[item], rating, vertices=(left, right), comm=comm, strategy=strategy)
    asked, offered, stars = cells()
    test = rated(asked, names[offered], stars, comm=comm, strategy=strategy)
    result = getattr(gl, function)(graph, factors=3, test=test, on=on, threads=1)
    offers = recommend(graph, result, 32, 6)
    vertices = [result.vertices[name] for name in ("factors", "bias")]
    return [
        result.metrics["figures"]["test_rmse"],
        result.metrics["figures"]["test_ratings"],
        offers,
        *vertices,
    ]


def cells() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return ratings by users 0 to 39 of items 0 to 39: 30 users and 20 items have ratings in the graph."""
    asked, offered = np.divmod(np.arange(0, 1600, 7), 40)
    return asked, offered, 1.0 + (asked * 7 + offered * 3) % 9 / 2


@pytest.mark.parametrize(("function", "on"), [("als", "local"), ("sgd", "root"), ("als", "all")])
def test_predictions_are_numpy_s_on_any_ranks(ranks: Ranks, function: str, on: str) -> None:
    user, item, rating = ratings(30, 20, 300)
    factors, bias = judged(world(), function, "all", "1d")[3:]
    table = np.full((40, 40), rating.mean())
    scores = rating.mean() + bias[:30, None] + bias[33:53] + factors[:30].astype(float) @ factors[33:53].T
    table[:30, :20] = scores  # of what has no ratings the mean is predicted
    asked, offered, stars = cells()
    expected = float(np.sqrt(((stars - table[asked, offered]) ** 2).mean()))
    rmse, count, offers = ranks.run(judged, function, on, "random")[0][:3]
    assert count == asked.size
    assert rmse == pytest.approx(expected, rel=1e-6)
    seen = set(zip(user.tolist(), item.tolist(), strict=True))
    assert [(name, rated) for name, rated, _ in offers] == [(k, k < 30) for k in range(32)]
    table[30:, :20] = rating.mean() + bias[33:53]  # but what everybody rates highly is recommended
    assert len(set(bias[33:53].tolist())) == 20
    for name, _, items in offers:
        free = [k for k in range(22) if (name, k) not in seen]
        best = sorted(free, key=lambda k, name=name: (-table[name, k], k))[:6]  # type: ignore[misc]
        assert [x for x, _ in items] == [f"i{k:02}" for k in best]
        assert [x for _, x in items] == pytest.approx([table[name, k] for k in best], abs=1e-5)


def test_a_user_without_ratings_is_offered_what_all_rate_highly_whatever_it_starts_from() -> None:
    graph = rated([1, 1, 2], [5, 6, 7], [1.0, 5.0, 3.0], vertices=([1, 2, 3], [5, 6, 7]))
    result = gl.sgd(graph, factors=2, init={"factors": {3: [9.0, -9.0]}, "bias": {3: 4.0}})
    (user,) = np.flatnonzero(result.vertices["id"] == 3)
    bias = result.vertices.side(1).to_dict("bias")
    mean = result.metrics["parameters"]["mean"]
    last = recommend(graph, result, 3, 3)[2]
    assert result.vertices["bias"][user] == 4.0  # it keeps what it was given
    assert dict(last.items) == pytest.approx({item: mean + bias[item] for item in (5, 6, 7)})


def test_a_user_that_rated_all_is_offered_nothing() -> None:
    users, items = zip(*itertools.product([1, 2], [5, 6, 7]), strict=True)
    graph = rated(users[:-1], items[:-1], [1.0, 2.0, 3.0, 4.0, 5.0])
    (first, second) = recommend(graph, als(graph, factors=1), 10, 5)
    assert first == (1, True, [])
    assert [item for item, _ in second.items] == [7]
