"""Matrix factorisation on the inputs of reports about other systems: finite, whatever the ratings are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, gaslab, on_ranks
from tests.support.inputs import Input, check

__all__ = ["gaslab"]  # a fixture
SIGNED = [0, 0, 1, 1, 2], [0, 1, 0, 1, 1], [0.0, -3.0, 0.0, 4.0, -1.0]


def ratings(users: Any, items: Any, stars: Any, comm: Comm) -> gl.Graph:
    return gl.Graph.from_edges(users, items, columns={"rating": stars}, bipartite=True, comm=comm)


def dense(comm: Comm) -> gl.Graph:
    users, items = np.indices((100, 200)).reshape(2, -1)
    return ratings(users, items, np.random.default_rng(0).integers(0, 5, users.size), comm)


def identity(comm: Comm) -> gl.Graph:
    return gl.Graph.from_scipy(sp.eye_array(10), bipartite=True, comm=comm)


def finite(result: gl.Result) -> list[bool]:
    """Return whether factors, biases and predictions of all pairs are finite, and the error over ratings."""
    users, items = (result.tables[name] for name in ("user_factors", "item_factors"))
    predicted = users["factors"] @ items["factors"].T + users["bias"][:, None] + items["bias"]
    return [bool(np.isfinite(one).all()) for one in (predicted, result.metrics["figures"]["train_rmse"])]


def unseen(comm: Comm) -> dict[str, float]:
    """Return the error over two test ratings of the mean, 2: of an unseen user, and of an unseen item."""
    learned = ratings([0, 0, 1], [0, 1, 0], [1.0, 2.0, 3.0], comm)
    test = ratings([9, 0], [0, 7], [1.0, 5.0], comm)
    figures = gl.als(learned, factors=2, test=test).metrics["figures"]
    return {name: figures[name] for name in ("test_rmse", "test_ratings")}


def shifted(comm: Comm) -> list[bool]:
    """Return whether ids from 0 have the factors of ids from 1, and vertex 0 any at all, by als and sgd."""
    found = []
    for factorise in (gl.als, gl.sgd):
        users, items = np.array(SIGNED[0]), np.array(SIGNED[1])
        zero, one = (factorise(ratings(users + k, items + k, SIGNED[2], comm), factors=2) for k in (0, 1))
        for name in ("user_factors", "item_factors"):
            mine, theirs = zero.tables[name], one.tables[name]
            same = np.array_equal(mine["factors"], theirs["factors"]) and mine.ids[0] == 0
            found.append(bool(same and np.any(mine["factors"][0])))
    return found


INPUTS = {
    "an unseen user": Input(  # errors 1 and 3 of two predictions
        "implicit#134, spark#17102",
        unseen, lambda figures: figures, {"test_rmse": 5.0**0.5, "test_ratings": 2},
    ),
    "a dense matrix": Input(
        "implicit#80", dense, lambda graph: finite(gl.als(graph, factors=8, iterations=3)), [True, True]
    ),
    "more factors than users": Input(
        "implicit#377", identity, lambda graph: finite(gl.als(graph, factors=15)), [True, True]
    ),
    "more factors than users, not regularized": Input(
        "implicit#377",
        identity, lambda graph: finite(gl.als(graph, factors=15, regularization=0.0)), [True, True],
    ),
    "ratings of 0 and below": Input(
        "libmf#21, python-libmf#9", lambda comm: ratings(*SIGNED, comm),
        lambda graph: [*finite(gl.als(graph, factors=2)), *finite(gl.sgd(graph, factors=2))], [True] * 4,
    ),
    "a rating of 0 counts": Input(  # the mean of all five, and a vector for the item that has only zeros
        "libmf#21, python-libmf#9", lambda comm: ratings([0, 1, 1], [0, 0, 1], [0.0, 0.0, 3.0], comm),
        lambda graph: gl.als(graph, factors=1).metrics["parameters"]["mean"], 1.0,
    ),
    "ids from 0": Input("machinelearning#1442", shifted, lambda found: found, [True] * 4),
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_factors(ranks: Ranks, name: str) -> None:
    check(ranks, __name__, name)


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_user_without_ratings_is_recommended_what_all_like(gaslab: Run, ranks: int, tmp_path: Path) -> None:
    """implicit#134: an empty row of the matrix."""
    path = tmp_path / "stars.mtx"
    head = "%%MatrixMarket matrix coordinate integer general\n3 3 4\n"
    path.write_text(head + "1 1 5\n1 2 1\n2 1 4\n2 3 2\n")
    words = ("als", path, "--bipartite", "--factors", 2, "--top", 1, "-q")
    done = gaslab(*words) if ranks == 1 else on_ranks(ranks, *words)
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1].startswith("  3 (has no ratings, so by the items' biases): 1 (")
    assert "nan" not in done.out
