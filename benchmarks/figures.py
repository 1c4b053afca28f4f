"""The table of figures: search, components, paths, core numbers and triangles beside all peers, in turn.

    python benchmarks/figures.py --threads 2
    python benchmarks/figures.py --scale 16 --only triangles

The peers are scipy.sparse.csgraph, and python-igraph and networkit where they are installed; all but
networkit use one thread. Answers are compared. Of ours the compute time counts: init to the last
superstep. The ratio is that of the minima, the spread that of the ratios by turn.
"""

from __future__ import annotations

import argparse
import importlib
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse.csgraph as csgraph

import gaslab as gl
from common import Timing, in_turn, parser, timed
from traversal import TARGETS, Bench

LIMITS = {**TARGETS, "triangles": 8.0}  # seconds to reach at scale 20 on 2 threads
Peer = Callable[[], Any]
Call = Callable[..., Any]


def installed(name: str) -> Any:
    """Return a module, None where it is not installed."""
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class Sides:
    """Ours and the peers' of one row: how to run each, and what it found."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.bench = Bench(options)
        n = self.n = self.bench.graph.num_vertices
        source, target = (ends.astype(np.int64) for ends in self.bench.edges)
        pairs = np.unique(np.minimum(source, target) * n + np.maximum(source, target))
        self.pairs = pairs // n, pairs % n
        self.simple = gl.Graph.from_edges(*self.pairs, vertices=np.arange(n), directed=False)
        self.igraph, self.networkit = installed("igraph"), installed("networkit")
        if self.igraph is not None:
            self.directed_peer = self.igraph.Graph(n, np.column_stack([source, target]), directed=True)
            self.simple_peer = self.igraph.Graph(n, np.column_stack(self.pairs))
        if self.networkit is not None:
            self.networkit.setNumberOfThreads(options.threads)
            self.networkit_peer = self.networkit.GraphFromCoo(self.pairs, n=n)

    def row(self, name: str, call: Call, found: Callable[[Any], Any], peers: dict[str, Peer]) -> str:
        """Run ours and the peers in turn; return the row of the table. All must find the same."""
        answers: dict[str, Any] = {}

        def ours() -> float:
            result = call(threads=self.options.threads)
            answers["gaslab"] = found(result)
            return float(result.metrics["seconds"]["compute"])

        def theirs(peer: str) -> Callable[[], float]:
            return lambda: timed(lambda: answers.update({peer: peers[peer]()}))

        sides = {"gaslab": ours, **{peer: theirs(peer) for peer in peers}}
        timings = in_turn(sides, self.options.repeats)
        for peer in peers:
            same = np.allclose(answers[peer], answers["gaslab"], rtol=1e-12)
            assert same, f"{name}: {peer} finds another answer"
        compared = map(beside(timings[0]), timings[1:])
        return " | ".join([name, f"{timings[0].best:.4f}", f"{LIMITS[name]}", *compared])

    # ---- rows --------------------------------------------------------------------------------------

    def bfs(self) -> str:
        bench = self.bench

        peers: dict[str, Peer] = {
            "scipy": lambda: csgraph.breadth_first_order(bench.matrix, bench.source)[0].size
        }
        if self.igraph is not None:
            peers["igraph"] = lambda: len(self.directed_peer.bfs(bench.source, mode="out")[0])
        return self.row(
            "bfs", lambda **run: gl.bfs(bench.graph, bench.source, **run),
            lambda result: int((result.vertices["level"] >= 0).sum()), peers,
        )  # fmt: skip

    def components(self) -> str:
        peers: dict[str, Peer] = {"scipy": lambda: csgraph.connected_components(self.bench.matrix)[0]}
        if self.igraph is not None:
            peers["igraph"] = lambda: len(self.directed_peer.connected_components(mode="weak"))
        return self.row(
            "components", lambda **run: gl.components(self.bench.graph, **run),
            lambda result: np.unique(result.vertices["component"]).size, peers,
        )  # fmt: skip

    def sssp(self) -> str:
        bench = self.bench
        peers: dict[str, Peer] = {"scipy": lambda: csgraph.dijkstra(bench.matrix, indices=bench.source)}
        if self.igraph is not None:
            weights = bench.weights.tolist()
            peers["igraph"] = lambda: np.array(self.directed_peer.distances(bench.source, weights=weights)[0])
        return self.row(
            "sssp", lambda **run: gl.sssp(bench.graph, bench.source, **run),
            lambda result: result.vertices["distance"], peers,
        )  # fmt: skip

    def kcore(self) -> str:
        peers: dict[str, Peer] = {}
        if self.igraph is not None:
            peers["igraph"] = lambda: np.array(self.simple_peer.coreness())
        if self.networkit is not None:
            decomposition = self.networkit.centrality.CoreDecomposition
            peers["networkit"] = lambda: np.array(decomposition(self.networkit_peer).run().scores())
        return self.row(
            "kcore", lambda **run: gl.kcore(self.simple, **run), lambda result: result.vertices["core"], peers
        )

    def triangles(self) -> str:
        degree = np.bincount(np.concatenate(self.pairs), minlength=self.n)
        paths = float((degree * (degree - 1) // 2).sum())  # each triangle closes three
        peers: dict[str, Peer] = {}
        if self.igraph is not None:
            peers["igraph"] = lambda: self.simple_peer.transitivity_undirected()
        return self.row(
            "triangles", lambda **run: gl.triangles(self.simple, per_vertex=False, **run),
            lambda result: 3 * result.metrics["triangles"] / paths, peers,
        )  # fmt: skip


def beside(ours: Timing) -> Callable[[Timing], str]:
    """Return how to print a peer's best, our ratio to it, and the spread of that by turn."""

    def line(peer: Timing) -> str:
        ratios = [a / b for a, b in zip(ours.seconds, peer.seconds, strict=True)]
        return (
            f"{peer.name} {peer.best:.4f}, {ours.best / peer.best:.3f}x "
            f"({min(ratios):.3f} to {max(ratios):.3f})"
        )

    return line


def main() -> None:
    arguments = parser(__doc__)
    arguments.set_defaults(threads=2)
    arguments.add_argument("--only", nargs="+", choices=list(LIMITS), default=list(LIMITS))
    options = arguments.parse_args()
    sides = Sides(options)
    print(f"{sides.bench.graph!r}\n{options.threads} threads; load of the machine {os.getloadavg()[0]:.1f}")
    print("what | seconds, min | to reach | peer: seconds, ratio, by turn")
    for name in options.only:
        print(getattr(sides, name)(), flush=True)
    print("answers identical to the peers'")


if __name__ == "__main__":
    main()
