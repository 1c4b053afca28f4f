"""Logistic regression by gradient steps, in supersteps that may read values some supersteps old.

Minimises the mean of log(1 + exp(-y (x . w))) over the examples, y = 1 or -1, plus ridge * |w|^2 / 2. An edge
example -> feature holds one entry of X. Everybody works in every superstep: an example sums x * w over its
features and says how steep its loss is there; a feature sums x * slope over its examples and steps down. So
the slopes that a feature reads are of the weights of a superstep ago: a gradient step that is late by one.
Under bounded staleness it may be late by more, which converges as long as the rate is small enough for it:
rate * (largest curvature) * (delay) well below 1 (Ho et al., "More Effective Distributed ML via a Stale
Synchronous Parallel Parameter Server", NIPS 2013).

    mpiexec -n 2 python examples/logistic.py
    gaslab run examples/logistic.py:Logistic GRAPH --bipartite --engine stale --staleness 2 --init label=FILE
"""

from __future__ import annotations

import math

import numpy as np

import gaslab as gl


class Logistic(gl.VertexProgram):
    rate: float = 1.0
    ridge: float = 0.1
    tolerance: float = 1e-7  # of the gradient, in any weight
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: float = 0.0  # of examples: 1 or -1
        value: float = 0.0  # of a feature its weight, of an example the slope of its loss
        loss: float = 0.0
        gradient: float = math.inf

    class Edge(gl.Edge):
        x: float = 1.0

    @gl.aggregator
    def examples(self, v: Vertex) -> gl.Count:
        return v.side == 0

    @gl.aggregator
    def losses(self, v: Vertex) -> gl.Sum[float]:
        return v.loss

    @gl.aggregator
    def steepest(self, v: Vertex) -> gl.Max[float]:
        return abs(v.gradient) if v.side == 1 else 0.0

    def init(self, v: Vertex) -> None:  # all weights are 0
        v.value = -v.label / 2

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.x * nbr.value

    def apply(self, v: Vertex, total: float) -> None:
        if v.side == 0:
            margin = v.label * total
            v.value = -v.label / (1.0 + math.exp(min(margin, 700.0)))
            v.loss = (math.log1p(math.exp(-abs(margin))) + max(-margin, 0.0)) / self.examples
        else:
            v.gradient = total / self.examples + self.ridge * v.value
            v.value -= self.rate * v.gradient
            v.loss = self.ridge * v.value**2 / 2

    def done(self) -> bool:
        return self.steepest < self.tolerance


def problem(examples: int, features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return X and labels: entries of about 1, many of them 0."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(examples, features)) * (rng.random((examples, features)) < 0.5)
    x[np.arange(examples), rng.integers(0, features, examples)] = 1.0  # no example is empty
    probability = 1 / (1 + np.exp(-x @ rng.normal(size=features)))
    return x, np.where(rng.random(examples) < probability, 1.0, -1.0)


def graph_of(x: np.ndarray, comm: object = None) -> gl.Graph:
    """Return the graph of a matrix: an edge for each entry that is not 0."""
    example, feature = np.nonzero(x)
    columns = {"x": x[example, feature]}
    return gl.Graph.from_edges(example, feature, columns=columns, bipartite=True, comm=comm)


def fit(graph: gl.Graph, label: np.ndarray, staleness: int, **parameters: float) -> gl.Result:
    """Return the run; its vertices are the examples, then the features."""
    start = {"label": np.concatenate([label, np.zeros(graph.num_vertices - label.size)])}
    return gl.run(
        Logistic(**parameters), graph, engine=gl.Stale(staleness), init=start, max_iterations=5000
    )


def main() -> None:
    x, label = problem(300, 20)
    graph = graph_of(x)
    for staleness in (0, 2):
        result = fit(graph, label, staleness)
        if graph.comm.rank == 0:
            weight = result.vertices["value"][label.size :]
            right = ((x @ weight > 0) == (label > 0)).mean()
            print(f"staleness {staleness}: loss {result.aggregates['losses']:.9f}, {right:.1%} right")


if __name__ == "__main__":
    main()
