"""Matrix factorisation by alternating least squares.

A rating is mean + x[user] . x[item]. Users and items take turns: with the other side's vectors held
still, each vertex solves its own least-squares problem, regularized in proportion to how many ratings
it has (Zhou, Wilkinson, Schreiber, Pan, "Large-Scale Parallel Collaborative Filtering for the Netflix
Prize", AAIM 2008). A superstep is one side's turn.

    mpiexec -n 2 python examples/als.py
    gaslab run examples/als.py:ALS RATINGS --bipartite -p factors=16 --max-iterations 20 --column rating=NAME
"""

from __future__ import annotations

import numpy as np

import gaslab as gl


class ALS(gl.VertexProgram):
    factors: int = 8
    mean: float = 0.0
    regularization: float = 0.05
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="factors", dtype=gl.float32, init=gl.normal(0.3))

    class Edge(gl.Edge):
        rating: gl.float32

    class Total(gl.Accumulator):  # the normal equations of one vertex
        xtx: gl.Matrix = gl.field(shape=("factors", "factors"))
        xty: gl.Vector = gl.field(shape="factors")

    @gl.aggregator
    def squares(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return float(e.rating - self.mean - np.dot(v.x, nbr.x)) ** 2

    def active(self, v: Vertex) -> bool:  # users, then items
        return v.side == self.superstep % 2

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(xtx=np.outer(nbr.x, nbr.x), xty=(e.rating - self.mean) * nbr.x)

    def apply(self, v: Vertex, total: Total) -> None:
        ridge = self.regularization * v.degree * np.eye(self.factors)
        v.x = np.linalg.solve(total.xtx + ridge, total.xty)


def ratings(users: int, items: int, count: int, rank: int = 3, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Return users, items and ratings of a matrix of low rank with noise."""
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(users, rank)), rng.normal(size=(items, rank))
    cells = rng.choice(users * items, count, replace=False)
    user, item = cells // items, cells % items
    rating = 3.0 + (left[user] * right[item]).sum(axis=1) + 0.1 * rng.normal(size=count)
    return user, item, rating


def main() -> None:
    user, item, rating = ratings(300, 200, 8000)
    graph = gl.Graph.from_edges(user, item, columns={"rating": rating}, bipartite=True)
    result = gl.run(ALS(mean=float(rating.mean())), graph, max_iterations=20)
    if graph.comm.rank == 0:
        for row in result.history:
            side = "items" if row["superstep"] % 2 else "users"
            print(f"{row['superstep']:2} {side}: RMSE {(row['squares'] / graph.num_edges) ** 0.5:.4f}")


if __name__ == "__main__":
    main()
