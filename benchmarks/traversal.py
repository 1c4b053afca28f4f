"""Search, components, shortest paths and core numbers against their peers, in one process, in turn.

    python benchmarks/traversal.py --threads 2
    python benchmarks/traversal.py --only sssp kcore

The peers are scipy.sparse.csgraph (one thread) and, for core numbers, networkit if it is installed.
Answers are compared. Of ours the compute time counts: init to the last superstep, messages included.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
import scipy.sparse.csgraph as csgraph

import gaslab as gl
from common import Timing, in_turn, parser, report, rmat, timed

Found = dict[str, np.ndarray]
TARGETS = {"bfs": 0.025, "components": 0.06, "sssp": 0.15, "kcore": 0.40}  # seconds on 2 threads


class Bench:
    """The graph in the forms that both sides take, and how to time a side."""

    def __init__(self, options: argparse.Namespace) -> None:
        plain = rmat(options)
        self.options, self.edges = options, plain.edges(on="all")
        n = plain.num_vertices
        weights = np.random.default_rng(1).integers(1, 256, self.edges[0].size).astype(float)
        self.weights = weights
        self.graph = gl.Graph.from_edges(
            *self.edges, columns={"weight": weights}, vertices=np.arange(n), strategy=options.strategy
        )
        self.root = self.graph.comm.rank == 0
        self.source = int(np.bincount(self.edges[0], minlength=n).argmax())
        self.matrix = scipy.sparse.csr_matrix((weights, self.edges), shape=(n, n)) if self.root else None
        self.found: Found = {}

    def ours(self, field: str, call: Callable[..., Any]) -> Callable[[], float]:
        def run() -> float:
            result = call(threads=self.options.threads, on="root")
            if self.root:
                self.found["ours"] = result.vertices[field]
            return float(result.metrics["seconds"]["compute"])

        return run

    def theirs(self, call: Callable[[], np.ndarray]) -> Callable[[], float]:
        return lambda: timed(lambda: self.found.update(theirs=call())) if self.root else 0.0

    def turns(self, name: str, ours: Callable[[], float], peer: str, theirs: Callable[[], float]) -> None:
        timings: list[Timing] = in_turn({name: ours, peer: theirs}, self.options.repeats)
        report(timings)
        if self.root and self.options.threads == 2 and self.graph.comm.size == 1:
            print(f"{name}: {timings[0].best:.4f} s   (to reach: {TARGETS[name]} s)")


def bfs(bench: Bench) -> None:
    def peer() -> np.ndarray:
        return csgraph.breadth_first_order(bench.matrix, bench.source)[1]

    side = bench.ours("level", lambda **run: gl.bfs(bench.graph, bench.source, **run))
    bench.turns("bfs", side, "scipy breadth_first_order", bench.theirs(peer))
    if bench.root:
        parent, level = bench.found["theirs"], bench.found["ours"]
        below = parent >= 0
        assert (level[below] == level[parent[below]] + 1).all()
        assert ((level >= 0) == (below | (np.arange(level.size) == bench.source))).all()


def components(bench: Bench) -> None:
    def peer() -> np.ndarray:
        return csgraph.connected_components(bench.matrix, directed=True, connection="weak")[1]

    side = bench.ours("component", lambda **run: gl.components(bench.graph, **run))
    bench.turns("components", side, "scipy connected_components", bench.theirs(peer))
    if bench.root:
        label = bench.found["theirs"]
        smallest = np.full(label.size, label.size)
        np.minimum.at(smallest, label, np.arange(label.size))
        assert (smallest[label] == bench.found["ours"]).all()


def sssp(bench: Bench) -> None:
    side = bench.ours("distance", lambda **run: gl.sssp(bench.graph, bench.source, **run))
    peer = bench.theirs(lambda: csgraph.dijkstra(bench.matrix, indices=bench.source))
    bench.turns("sssp", side, "scipy dijkstra", peer)
    if bench.root:
        assert (bench.found["ours"] == bench.found["theirs"]).all()


def kcore(bench: Bench) -> None:
    """On the undirected simple graph: of two edges that join the same vertices one counts."""
    n = bench.graph.num_vertices
    source, target = (ends.astype(np.int64) for ends in bench.edges)
    pairs = np.unique(np.minimum(source, target) * n + np.maximum(source, target))
    graph = gl.Graph.from_edges(
        pairs // n, pairs % n, vertices=np.arange(n), directed=False, strategy=bench.options.strategy
    )
    side = bench.ours("core", lambda **run: gl.kcore(graph, **run))
    try:
        import networkit
    except ImportError:
        timings = in_turn({"kcore": side}, bench.options.repeats)
        report(timings)
        return
    networkit.setNumberOfThreads(bench.options.threads)
    other = networkit.GraphFromCoo((pairs // n, pairs % n), n=n) if bench.root else None

    def peer() -> np.ndarray:
        return np.array(networkit.centrality.CoreDecomposition(other).run().scores())

    bench.turns("kcore", side, "networkit CoreDecomposition", bench.theirs(peer))
    if bench.root:
        assert (bench.found["ours"] == bench.found["theirs"]).all()


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--only", nargs="+", choices=list(TARGETS), default=list(TARGETS))
    options = arguments.parse_args()
    bench = Bench(options)
    if bench.root:
        print(f"{bench.graph!r}\n{bench.graph.comm.size} ranks x {options.threads} threads")
    for name in options.only:
        globals()[name](bench)
    if bench.root:
        print("answers identical to the peers'")


if __name__ == "__main__":
    main()
