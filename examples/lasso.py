"""Lasso by parallel coordinate descent, with features chosen by how they move and by what they depend on.

Minimises |y - X w|^2 / 2 + penalty * |w|_1. An edge example -> feature holds one entry of X. Several weights
are updated at once, which is right only where their columns hardly correlate: else each corrects the same
error, and together they overshoot (Bradley et al., "Parallel Coordinate Descent for L1-Regularized Loss
Minimization", ICML 2011). So a round is (Lee, Kim, Zheng, Ho, Gibson, Xing, "On Model Parallelization and
Scheduling Strategies for Distributed Machine Learning", NIPS 2014)

    schedule  draw: every slot draws one feature, by how much it moved when it was last updated
              columns: the examples collect the drawn columns, and their sum of squares says who correlates
    push      correlate: a drawn feature sums x * residual over its examples
    pull      move: it takes its soft-thresholded step, unless a better drawn one correlates with it
              shift: the examples follow

    mpiexec -n 2 python examples/lasso.py
"""

from __future__ import annotations

import math
import warnings

import numpy as np

import gaslab as gl


class Lasso(gl.VertexProgram):
    penalty: float
    slots: int = 8
    most_correlated: float = 0.3  # two columns with a larger cosine are not updated in one round
    checked: bool = True
    idle: float = 1e-3  # added to what a feature moved, so that everyone is drawn some day
    tolerance: float = 1e-7

    class Vertex(gl.Vertex):
        residual: float = 0.0  # of examples: y - X w; starts as y
        row: gl.Vector = gl.field(shape="slots")  # of examples: their entries in the drawn columns
        weight: float = 0.0
        step: float = 0.0  # of the weight in this round
        moved: float = 1.0  # by its last update
        key: float = -math.inf
        slot: int = 0
        seen: int = -1  # when it was last updated
        restless: int = 0  # when it last moved by more than the tolerance

    class Edge(gl.Edge):
        x: float

    class Best(gl.Accumulator):
        key: gl.Vector = gl.field(shape="slots", combine=gl.MAX)

    class Gram(gl.Accumulator):
        of: gl.Matrix = gl.field(shape=("slots", "slots"))

    class Row(gl.Accumulator):
        x: gl.Vector = gl.field(shape="slots")

    @gl.aggregator
    def best(self, v: Vertex) -> Best:
        keys = np.ones(self.slots) * -math.inf
        keys[v.slot] = v.key
        return self.Best(key=keys)

    @gl.aggregator
    def gram(self, v: Vertex) -> Gram:
        return self.Gram(of=np.outer(v.row, v.row))

    @gl.aggregator
    def loss(self, v: Vertex) -> gl.Sum[float]:
        return v.residual**2 / 2 + self.penalty * abs(v.weight)

    @gl.aggregator
    def updates(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v.seen >= 0 and v.seen == self.superstep else 0

    @gl.aggregator
    def looked(self, v: Vertex) -> gl.Min[int]:  # everybody has been looked at since
        return v.seen if v.side == 1 else 1 << 60

    @gl.aggregator
    def moving(self, v: Vertex) -> gl.Max[int]:  # somebody has moved since
        return v.restless

    def is_feature(self, v: Vertex) -> bool:
        return v.side == 1

    def is_example(self, v: Vertex) -> bool:
        return v.side == 0

    def is_drawn(self, v: Vertex) -> bool:
        return v.side == 1 and v.key == self.best.key[v.slot]

    def draw(self, v: Vertex) -> None:  # the best of each slot's keys is drawn in proportion
        v.slot = gl.integers(self.slots)
        v.key = math.log(1.0 - gl.uniform()) / (v.moved + self.idle)
        v.step = 0.0

    def columns(self, v: Vertex, e: Edge, nbr: Vertex) -> Row:
        if nbr.key == self.best.key[nbr.slot]:
            return self.Row(x=gl.at(nbr.slot, e.x))
        return self.Row()

    def keep(self, v: Vertex, total: Row) -> None:
        v.row = total.x

    def correlate(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.x * nbr.residual

    def move(self, v: Vertex, total: float) -> None:
        square = self.gram.of[v.slot, v.slot]
        clashes = False
        for k in range(self.slots):
            if self.best.key[k] > v.key:
                most = self.most_correlated * math.sqrt(square * self.gram.of[k, k])
                clashes = clashes or abs(self.gram.of[v.slot, k]) > most
        if square > 0.0 and not (clashes and self.checked):
            pull = v.weight * square + total
            size = max(abs(pull) - self.penalty, 0.0) / square
            v.step = (size if pull > 0.0 else -size) - v.weight
            v.weight += v.step
            v.moved = abs(v.step)
            v.seen = self.superstep
            if v.moved > self.tolerance:
                v.restless = self.superstep

    def steps(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.x * nbr.step

    def shift(self, v: Vertex, total: float) -> None:
        v.residual -= total

    phases = (
        gl.Phase(apply=draw, start=is_feature, supersteps=1),
        gl.Phase(gather=columns, apply=keep, start=is_example, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(gather=correlate, apply=move, start=is_drawn, supersteps=1),
        gl.Phase(gather=steps, apply=shift, start=is_example, gather_edges=gl.OUT, supersteps=1),
    )

    def done(self) -> bool:
        return self.looked > self.moving


def problem(examples: int, features: int, shared: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return X, of whose columns (of length 1) the first half have a part *shared* in common, and y."""
    rng = np.random.default_rng(seed)
    x, half = rng.normal(size=(examples, features)), features // 2
    x[:, :half] = shared * rng.normal(size=(examples, 1)) + (1 - shared) * x[:, :half]
    x *= rng.random(x.shape) < 0.8  # what is 0 has no edge
    x /= np.linalg.norm(x, axis=0)
    weight = rng.normal(size=features) * (rng.random(features) < 0.3)
    return x, x @ weight + 0.01 * rng.normal(size=examples)


def graph_of(x: np.ndarray, comm: object = None) -> gl.Graph:
    """Return the graph of a matrix: an edge for each entry that is not 0."""
    example, feature = np.nonzero(x)
    columns = {"x": x[example, feature]}
    return gl.Graph.from_edges(example, feature, columns=columns, bipartite=True, comm=comm)


def fit(program: Lasso, graph: gl.Graph, y: np.ndarray, rounds: int) -> tuple[np.ndarray, gl.Result]:
    """Run at most so many rounds, of four supersteps each; return the weights and the run."""
    residual = np.concatenate([y, np.zeros(graph.num_vertices - y.size)])
    result = gl.run(program, graph, init={"residual": residual}, max_iterations=4 * rounds)
    return result.vertices["weight"][y.size :], result


def main() -> None:
    warnings.simplefilter("ignore", gl.ConvergenceWarning)
    x, y = problem(60, 20, shared=0.6)
    graph = graph_of(x)
    for checked in (True, False):
        program = Lasso(penalty=0.02, tolerance=1e-4, checked=checked)
        weight, result = fit(program, graph, y, rounds=1000 if checked else 40)
        if graph.comm.rank == 0:
            rounds = result.iterations // 4
            updates = sum(row["updates"] for row in result.history if row["phase"] == 2) / rounds
            title = "dependencies checked" if checked else "nothing checked"
            end = f"{np.count_nonzero(weight)} weights" if result.converged else "it does not converge"
            print(f"{title:21}{rounds:4} rounds, {updates:.1f} updates each: "
                  f"loss {result.aggregates['loss']:.4g}, {end}")  # fmt: skip


if __name__ == "__main__":
    main()
