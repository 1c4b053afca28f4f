"""Matrix factorisation beside its peers: test error of ALS and of biased SGD, and CPU-seconds, in turn.

    python -m benchmarks ratings --data DIR

ALS stands beside cmfrec's, SGD beside Surprise's SVD: the same model (mean, two biases, factors), as many
factors and iterations, the same regularization, one thread each. All are measured by `quality.rmse`, and
the error that gaslab itself states must be that. What each side has:

- ALS and cmfrec's CMF (``method="als"``): the squares of factors and biases are weighted by regularization
  times the number of ratings (``scale_lam=True``); both solve exactly (``use_cg=False``), and in a second
  row by 3 steps of the conjugate gradient method (of cmfrec the last iteration is exact).
- SGD and Surprise's SVD: the same objective, one rating after the other, Surprise's in the order of the
  training ratings; the same step in every sweep. A third row has the step that `gl.sgd` has by default,
  which shrinks.

implicit is left out: it factorises implicit feedback, which is another objective. MovieLens 100k is looked
for by the names of its files below the folder --data: u1.base with u1.test, and u.data, split at random, 80
to 20, by each seed. Without it, ratings of low rank with noise are generated and split; with ``--ratings
10000000`` so many, of 7 users and 1 item per 1,000, the more often the lower their numbers.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import scipy.sparse

import gaslab as gl
from common import data_file, installed, opened, parser, row, spread
from quality import Side, rmse

STEP = 0.02  # of both SGDs where it is the same
TARGETS = {"ALS": 0.945, "SGD": 0.935}  # test error to reach on u1 with 32 factors

Split = tuple[str, np.ndarray, np.ndarray, int]  # name, training and test ratings, seed
Learned = tuple[float, float]  # test error, CPU-seconds
Learner = Callable[[np.ndarray, np.ndarray, int], Learned]  # of training ratings, test ratings and seed


def read(path: Path) -> np.ndarray:
    """Return the rows of user, item and rating of a file of MovieLens 100k."""
    with opened(path) as file:
        return np.loadtxt(file, usecols=(0, 1, 2))


def generated(many: int | None, rank: int = 3) -> np.ndarray:
    """Return ratings with biases, of low rank, with noise: 20,000, or *many* by a law of powers."""
    rng = np.random.default_rng(0)
    users, items = (400, 300) if many is None else (max(many // 143, 2), max(many // 1000, 2))
    left, right = rng.normal(0, 0.5, (users, rank + 2)), rng.normal(0, 0.5, (items, rank + 2))
    left[:, -1] = right[:, -2] = 1.0  # times a bias of the other side
    if many is None:
        user, item = np.divmod(rng.choice(users * items, 20_000, replace=False), items)
    else:
        user, item = (
            (count * rng.random(many) ** (1.0 / (1.0 - power))).astype(np.int64)
            for count, power in ((users, 0.6), (items, 0.8))
        )
    rating = 3.5 + (left[user] * right[item]).sum(axis=1) + rng.normal(0, 0.5, user.size)
    return np.column_stack([user, item, rating])


def splits(options: argparse.Namespace) -> Iterator[Split]:
    """Return the splits: the published one once for every seed, the others drawn by the seed."""
    seeds = range(1, options.seeds + 1)
    base, test = data_file(options.data, "u1.base"), data_file(options.data, "u1.test")
    if base is not None and test is not None:
        yield from (("u1", read(base), read(test), seed) for seed in seeds)
    whole = None if options.ratings else data_file(options.data, "u.data")
    name = "generated" if whole is None else "u.data, 80 to 20"
    ratings = generated(options.ratings) if whole is None else read(whole)
    for seed in seeds:
        held = np.random.default_rng(seed).permutation(len(ratings)) < len(ratings) // 5
        yield name, ratings[~held], ratings[held], seed


def graph_of(ratings: np.ndarray) -> gl.Graph:
    """Return the graph of users, items and ratings."""
    ends = ratings[:, :2].astype(np.int64).T
    return gl.Graph.from_edges(*ends, columns={"rating": ratings[:, 2]}, bipartite=True)


def ours(function: Callable[..., gl.Result], options: argparse.Namespace, **settings: float | str) -> Learner:
    """Return how gaslab learns, by `gl.als` or `gl.sgd`."""

    def learn(train: np.ndarray, test: np.ndarray, seed: int) -> Learned:
        result = function(
            graph_of(train), test=graph_of(test), factors=options.factors, iterations=options.iterations,
            regularization=options.regularization, seed=seed, threads=options.threads, **settings,
        )  # fmt: skip
        users, items = (
            Side(table.ids, table["bias"], table["factors"])
            for table in (result.tables["user_factors"], result.tables["item_factors"])
        )
        error, figures = rmse(train[:, 2].mean(), users, items, test), result.metrics["figures"]
        stated = figures["test_rmse"]
        assert abs(error - stated) < 1e-6, f"gaslab states a test error of {stated}, measured is {error}"
        return error, figures["cpu_seconds"]

    return learn


def cmfrec(options: argparse.Namespace, use_cg: bool = False) -> Learner:
    import cmfrec

    def learn(train: np.ndarray, test: np.ndarray, seed: int) -> Learned:
        users, user = np.unique(train[:, 0], return_inverse=True)
        items, item = np.unique(train[:, 1], return_inverse=True)
        model = cmfrec.CMF(
            k=options.factors, lambda_=options.regularization, scale_lam=True, method="als", use_cg=use_cg,
            niter=options.iterations, nthreads=1, random_state=seed, verbose=False,
        )  # fmt: skip
        matrix = scipy.sparse.coo_matrix((train[:, 2], (user, item)))
        began = time.process_time()
        model.fit(matrix)
        seconds = time.process_time() - began
        left = Side(users, model.user_bias_, model.A_)
        return rmse(model.glob_mean_, left, Side(items, model.item_bias_, model.B_), test), seconds

    return learn


def surprise(options: argparse.Namespace) -> Learner:
    import surprise

    def learn(train: np.ndarray, test: np.ndarray, seed: int) -> Learned:
        data = surprise.Dataset(surprise.Reader(rating_scale=(1, 5)))
        ratings = data.construct_trainset([(*rating, None) for rating in train.tolist()])
        model = surprise.SVD(
            n_factors=options.factors, n_epochs=options.iterations, lr_all=STEP,
            reg_all=options.regularization, random_state=seed,
        )  # fmt: skip
        began = time.process_time()
        model.fit(ratings)
        seconds = time.process_time() - began
        users = np.array([ratings.to_raw_uid(inner) for inner in range(ratings.n_users)])
        items = np.array([ratings.to_raw_iid(inner) for inner in range(ratings.n_items)])
        by_user, by_item = users.argsort(), items.argsort()
        left = Side(users[by_user], model.bu[by_user], model.pu[by_user])
        right = Side(items[by_item], model.bi[by_item], model.qi[by_item])
        return rmse(ratings.global_mean, left, right, test), seconds

    return learn


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--factors", type=int, default=32)
    arguments.add_argument("--iterations", type=int, default=20)
    arguments.add_argument("--regularization", type=float, default=0.1)
    arguments.add_argument("--seeds", type=int, default=5, help="of random splits and of factors (default 5)")
    arguments.add_argument("--ratings", type=int, help="how many to generate, split by each seed")
    options = arguments.parse_args()
    learners: dict[str, Learner] = {"gaslab ALS": ours(gl.als, options)}
    if installed("cmfrec"):
        learners["cmfrec ALS"] = cmfrec(options)
    learners["gaslab ALS, 3 steps"] = ours(gl.als, options, solver="conjugate_gradient")
    if installed("cmfrec"):
        learners["cmfrec ALS, 3 steps"] = cmfrec(options, use_cg=True)
    learners[f"gaslab SGD, step {STEP}"] = ours(gl.sgd, options, learning_rate=STEP, decay=0.0)
    if installed("surprise"):
        learners[f"Surprise SGD, step {STEP}"] = surprise(options)
    learners["gaslab SGD"] = ours(gl.sgd, options)
    found: dict[str, dict[str, list[Learned]]] = {}
    for name, train, test, seed in splits(options):
        for system, learn in learners.items():
            found.setdefault(name, {}).setdefault(system, []).append(learn(train, test, seed))
    print(
        f"{options.factors} factors, {options.iterations} iterations, regularization "
        f"{options.regularization}; {options.threads} threads; load of the machine {os.getloadavg()[0]:.1f}\n"
        f"to reach on u1 with 32 factors: ALS {TARGETS['ALS']}, SGD {TARGETS['SGD']}\n"
    )
    print(row("ratings", "system", "test RMSE: mean (least to greatest)", "CPU-seconds, least"))
    print(row(*["---"] * 4))
    for name, systems in found.items():
        for system, pairs in systems.items():
            errors, seconds = zip(*pairs, strict=True)
            print(row(name, system, spread(errors), f"{min(seconds):.2f}"))


if __name__ == "__main__":
    main()
