"""GraphSAGE: two layers with the mean aggregator, from features and trained weights to embeddings.

A layer gives a vertex max(0, own @ W + mean @ M + b), divided by its length: of its own vector of the
layer before, and of the mean of its neighbours' (Hamilton, Ying, Leskovec: Inductive Representation Learning
on Large Graphs. NIPS 2017, algorithm 1; W over M is the matrix of the paper, which takes both vectors one
behind the other). The weights are parameters: arrays that all vertices share. Here they are drawn; trained
ones come from files:

    python examples/graphsage.py
    gaslab run examples/graphsage.py:GraphSAGE GRAPH --undirected --vertices FEATURES.npz -p own1=OWN1.npy \\
        -p mean1=MEAN1.npy -p bias1=BIAS1.npy -p own2=OWN2.npy -p mean2=MEAN2.npy -p bias2=BIAS2.npy
"""

from __future__ import annotations

from typing import Any

import numpy as np

import gaslab as gl


def unit(x: gl.Vector) -> gl.Vector:
    """Return what is positive of a vector, divided by its length."""
    y: gl.Vector = np.maximum(x, 0.0)
    return y / max(float(np.linalg.norm(y)), 1e-12)


class GraphSAGE(gl.VertexProgram):
    inputs: int = 1  # the lengths are those of the arrays
    hidden: int = 1
    outputs: int = 1
    own1: gl.Matrix = gl.field(shape=("inputs", "hidden"))
    mean1: gl.Matrix = gl.field(shape=("inputs", "hidden"))
    bias1: gl.Vector = gl.field(shape="hidden")
    own2: gl.Matrix = gl.field(shape=("hidden", "outputs"))
    mean2: gl.Matrix = gl.field(shape=("hidden", "outputs"))
    bias2: gl.Vector = gl.field(shape="outputs")
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="inputs")
        h: gl.Vector = gl.field(shape="hidden")
        embedding: gl.Vector = gl.field(shape="outputs")

    class Inputs(gl.Accumulator):
        sums: gl.Vector = gl.field(shape="inputs")

    class Hidden(gl.Accumulator):
        sums: gl.Vector = gl.field(shape="hidden")

    def gather1(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Inputs:
        return self.Inputs(sums=nbr.x)

    def apply1(self, v: Vertex, total: Inputs) -> None:
        mean = total.sums / max(v.degree, 1)
        v.h = unit(v.x @ self.own1 + mean @ self.mean1 + self.bias1)

    def gather2(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Hidden:
        return self.Hidden(sums=nbr.h)

    def apply2(self, v: Vertex, total: Hidden) -> None:
        mean = total.sums / max(v.degree, 1)
        v.embedding = unit(v.h @ self.own2 + mean @ self.mean2 + self.bias2)

    phases = (
        gl.Phase(gather=gather1, apply=apply1, supersteps=1),
        gl.Phase(gather=gather2, apply=apply2, supersteps=1),
    )


Weights = dict[str, Any]  # arrays by the names of parameters


def problem(vertices: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Weights]:
    """Return edges, which leave no vertex out, features and weights."""
    rng = np.random.default_rng(seed)
    edges = rng.integers(0, vertices, (4 * vertices, 2))
    edges[:vertices, 0] = np.arange(vertices)
    weights: Weights = {}
    for k, shape in (("1", (8, 16)), ("2", (16, 4))):
        weights |= {name + k: rng.normal(size=shape) / 4 for name in ("own", "mean")}
        weights["bias" + k] = rng.normal(size=shape[1]) / 4
    return edges, rng.normal(size=(vertices, 8)), weights


def embed(edges: np.ndarray, x: np.ndarray, weights: Weights, comm: object = None) -> gl.Result:
    """Return the run; its vertices are the rows of *x*."""
    graph = gl.Graph.from_edges(edges[:, 0], edges[:, 1], directed=False, comm=comm)
    return gl.run(GraphSAGE(**weights), graph, init={"x": x})


def by_numpy(edges: np.ndarray, x: np.ndarray, weights: Weights) -> np.ndarray:
    """Return the embeddings by whole matrices."""
    adjacency = np.zeros((len(x), len(x)))
    for source, target in (edges.T, edges.T[::-1]):  # a self-loop is two neighbours
        np.add.at(adjacency, (source, target), 1)
    mean = adjacency / adjacency.sum(axis=1, keepdims=True)
    for k in "12":
        x = np.maximum(x @ weights[f"own{k}"] + mean @ x @ weights[f"mean{k}"] + weights[f"bias{k}"], 0)
        x = x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-12)
    return x


def main() -> None:
    edges, x, weights = problem(1000)
    result = embed(edges, x, weights)
    if result.comm.rank == 0:
        error = np.abs(result.vertices["embedding"] - by_numpy(edges, x, weights)).max()
        print(f"{len(x)} embeddings, which are numpy's but for {error:.0e}")


if __name__ == "__main__":
    main()
