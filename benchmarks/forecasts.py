"""What `auto` expects of the stateless strategies, against the cuts that they make.

    python benchmarks/forecasts.py --scales 16 17 18

For each graph and number of parts, per strategy: RF, values that mirrors exchange in a superstep (per vertex
that has an edge) and EB, expected and counted, and which strategy is chosen.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

import gaslab as gl
from gaslab.cuts.partition import edges_of
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.comm import Comm
from gaslab.partitioning.cut import baseline_of, cut
from gaslab.partitioning.strategies import Context
from gaslab.partitioning.strategies.auto import estimates, ranked
from gaslab.partitioning.strategies.sample import forecasts, take


def graphs(scales: list[int]) -> Iterator[tuple[str, gl.Graph]]:
    """Yield graphs of several kinds with their names."""
    rng = np.random.default_rng(1)
    for scale in scales:
        yield f"R-MAT {scale}", gl.Graph.generate("rmat", scale=scale, edge_factor=16, seed=1)
    rmat = gl.Graph.generate("rmat", scale=scales[0], edge_factor=16, seed=1)
    yield "R-MAT, undirected", rmat.to_undirected()
    n = 1 << scales[0]
    yield "uniform", gl.Graph.from_edges(*rng.integers(0, n, (2, 16 * n)))
    grid = gl.Graph.generate("grid", rows=500, columns=500)
    mixed = rng.permutation(250_000)
    yield "grid", grid
    src, dst = grid.edges()
    yield "grid, shuffled ids", gl.Graph.from_edges(mixed[src], mixed[dst], directed=False)
    at = np.arange(250_000)
    yield "chain", gl.Graph.from_edges(at[:-1], at[1:])
    yield "chain, shuffled ids", gl.Graph.from_edges(mixed[:-1], mixed[1:])
    yield "star, to the hub", gl.Graph.from_edges(at[1:], 0 * at[1:])
    yield "star, from the hub", gl.Graph.from_edges(0 * at[1:], at[1:])
    users, items = (np.array([[50_000], [2_000]]) * rng.random((2, 1_000_000)) ** 2).astype(int)
    yield "bipartite", gl.Graph.from_edges(users, items, bipartite=True)


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--scales", type=int, nargs="+", default=[16, 17, 18])
    made.add_argument("--parts", type=int, nargs="+", default=[2, 4, 32])
    options = made.parse_args()
    print(f"{'graph':22}{'k':>4}  {'strategy':9}{'RF':>13}{'values':>15}{'EB':>13}")
    for name, graph in graphs(options.scales):
        edges = edges_of(graph)
        baseline = baseline_of(edges, Comm())
        for k in options.parts:
            judge(name, edges, k, baseline)


def judge(name: str, edges: EdgeList, k: int, baseline: object) -> None:
    """Print what is expected and what is so, for one graph and number of parts."""
    context = Context.of(edges, Comm(), 1)
    began = time.perf_counter()
    sample, counts = take(edges.src, edges.dst, context)
    found = forecasts(sample, counts, k, context)
    took = time.perf_counter() - began
    best = ranked(estimates(edges.src, edges.dst, k, context, 1e9, False), 50)[0].name
    for strategy, one in found.items():
        census = cut(edges, k, strategy, Comm(), baseline).census
        n, m = census.vertices, counts.num_edges
        columns = [
            f"{1 + one.mirrors / n:.2f} {census.replicas.sum() / n:.2f}",
            f"{(one.sums + one.updates) / n:.2f} {census.sends.sum() / n:.2f}",
            f"{one.fullest * k / m:.2f} {census.edges.max() * k / m:.2f}",
        ]
        chosen = f"  chosen, in {1e3 * took:.1f} ms" * (strategy == best)
        figures = f"{columns[0]:>13}{columns[1]:>15}{columns[2]:>13}"
        print(f"{name:22}{k:4}  {strategy:9}{figures}{chosen}", flush=True)


if __name__ == "__main__":
    main()
