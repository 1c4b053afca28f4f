"""Matrix factorisation by stochastic gradient descent, in blocks that share no row and no column.

A rating is mean + x[user] . x[item]. One rating after the other, both vectors take a step down the
gradient of the squared error plus regularization * (|x[user]|^2 + |x[item]|^2), each seeing what the
last step left. visit runs as many at once as share no vertex (Gemulla, Nijkamp, Haas, Sismanis,
"Large-Scale Matrix Factorization with Distributed Stochastic Gradient Descent", KDD 2011), and the
answer has the same bits on any number of ranks and threads. Large rates diverge; `rate` is divided by
1 + decay * sweep.

    mpiexec -n 2 python examples/sgd.py
    gaslab run examples/sgd.py:SGD RATINGS -p factors=16 --max-iterations 20 --column rating=NAME
"""

from __future__ import annotations

import numpy as np

import gaslab as gl


class SGD(gl.VertexProgram):
    factors: int = 8
    mean: float = 0.0
    rate: float = 0.05
    decay: float = 0.1
    regularization: float = 0.02

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="factors", dtype=gl.float32, init=gl.normal(0.3))

    class Edge(gl.Edge):
        rating: float
        error: float = 0.0  # before the last step

    @gl.aggregator
    def squares(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.error**2

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        step = self.rate / (1.0 + self.decay * self.superstep)
        e.error = e.rating - self.mean - np.dot(u.x, w.x)
        before = np.copy(u.x)
        u.x += step * (e.error * w.x - self.regularization * u.x)
        w.x += step * (e.error * before - self.regularization * w.x)


def ratings(users: int, items: int, count: int, rank: int = 3, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Return users, items (ids behind the users') and ratings of a matrix of low rank with noise."""
    rng = np.random.default_rng(seed)
    left, right = rng.normal(size=(users, rank)), rng.normal(size=(items, rank))
    cells = rng.choice(users * items, count, replace=False)
    user, item = cells // items, cells % items
    rating = 3.0 + (left[user] * right[item]).sum(axis=1) + 0.1 * rng.normal(size=count)
    return user, users + item, rating


def main() -> None:
    user, item, rating = ratings(300, 200, 8000)
    graph = gl.Graph.from_edges(user, item, columns={"rating": rating})
    result = gl.run(SGD(mean=float(rating.mean())), graph, max_iterations=20)
    if graph.comm.rank == 0:
        for row in result.history:
            print(f"sweep {row['superstep']:2}: RMSE {(row['squares'] / graph.num_edges) ** 0.5:.4f}")


if __name__ == "__main__":
    main()
