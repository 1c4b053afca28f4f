"""Recommendations from ratings: factorise nine tenths of them, predict the rest, both by ALS and by SGD.

The ratings are made up: each is a mean, what its user adds, what its item adds, and a product of two short
vectors, with noise of standard deviation 0.3. So 0.3 is the best RMSE that any prediction can have.

    mpiexec -n 2 python examples/recommend.py
"""

from __future__ import annotations

import numpy as np

import gaslab as gl

Ratings = tuple[np.ndarray, np.ndarray, np.ndarray]


def ratings(users: int, items: int, count: int, rank: int = 3, noise: float = 0.3, seed: int = 0) -> Ratings:
    """Return users, items and ratings; no user rates an item twice."""
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(users, rank)), rng.normal(size=(items, rank))
    cells = rng.choice(users * items, count, replace=False)
    user, item = cells // items, cells % items
    biases = 0.5 * rng.normal(size=users)[user] + 0.5 * rng.normal(size=items)[item]
    products = 0.5 * (left[user] * right[item]).sum(axis=1)
    return user, item, 3.0 + biases + products + noise * rng.normal(size=count)


def main() -> None:
    user, item, rating = ratings(300, 200, 12_000)
    held = np.arange(rating.size) % 10 == 0
    graph, test = (
        gl.Graph.from_edges(user[part], item[part], columns={"rating": rating[part]}, bipartite=True)
        for part in (~held, held)
    )
    results = {
        "ALS": gl.als(graph, factors=3, regularization=0.02, test=test),
        "SGD": gl.sgd(graph, factors=3, regularization=0.02, iterations=60, test=test),
    }
    if graph.comm.rank == 0:
        print(f"mean: test RMSE {(rating[held] - rating[~held].mean()).std():.3f}")
        for name, result in results.items():
            print(f"{name}:  test RMSE {result.metrics['figures']['test_rmse']:.3f}")


if __name__ == "__main__":
    main()
