"""Programs that jobs run, the graph on which they do, and the whole content of an answer."""

from __future__ import annotations

from typing import Any

import numpy as np

import gaslab as gl
from gaslab.parallel.comm import Comm


class Spread(gl.VertexProgram):
    """Heat of drawn starts spreads over edges, which wear; its parameters are numbers, an id and a length."""

    rate: float = 0.5
    hot: gl.VertexId = 0
    size: int = 2
    divisor: int = 1

    class Vertex(gl.Vertex):
        heat: gl.Vector = gl.field(shape="size", init=gl.uniform())
        steps: int = 0

    class Edge(gl.Edge):
        weight: float = 1.0
        worn: float = 0.0

    class Total(gl.Accumulator):
        heat: gl.Vector = gl.field(shape="size")

    @gl.aggregator
    def total(self, v: Vertex) -> gl.Sum[float]:
        return np.sum(v.heat)

    def init(self, v: Vertex) -> None:
        if v.id == self.hot:
            v.heat[0] = 8.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(heat=e.weight * nbr.heat)

    def apply(self, v: Vertex, total: Total) -> None:
        v.heat = self.rate * v.heat + total.heat
        v.steps += 6 // self.divisor

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.worn += v.heat[0]


class Endless(gl.VertexProgram):
    most: int = 3

    class Vertex(gl.Vertex):
        steps: int = 0

    def apply(self, v: Vertex) -> None:
        v.steps += 1

    def done(self) -> bool:
        return self.superstep + 1 >= self.most


def drawn_graph(comm: Comm, seed: int = 1) -> gl.Graph:
    rng = np.random.default_rng(seed)
    src, dst = rng.integers(0, 40, (2, 160))
    return gl.Graph.from_edges(
        src, dst, columns={"weight": rng.integers(1, 5, 160) / 8}, strategy="random", comm=comm
    )


def content(result: gl.Result) -> dict[str, Any]:
    """Return all that a result answers, but for times and bytes."""
    same = ("parameters", "seed", "engine", "iterations", "converged", "updates", "threads", "strategy")
    rows = [{k: x for k, x in row.items() if k not in ("seconds", "bytes_sent")} for row in result.history]
    return {
        "vertices": {name: result.vertices[name].tolist() for name in result.vertices.columns},
        "edges": sorted(map(str, result.collect_edges().to_pandas().itertuples())),
        "history": rows,
        "metrics": [result.metrics[name] for name in same],
        "aggregates": result.aggregates,
    }
