"""From which size on gaslab pays: one call of PageRank by gaslab, NetworkX, and numpy and scipy, as ratios.

    python benchmarks/small_graphs.py

Each side is given its own graph (a `gl.Graph`, a `networkx.DiGraph`, a CSR matrix) and is timed from the call
to the scores. NetworkX makes a matrix of its graph in every call, as in any script that calls it. A job of
gaslab (`gaslab.prepare`), which spares what `gaslab.run` does anew, is timed as well. The graphs are uniform,
with ten edges a vertex; all sides stop at the same change of the scores, and their answers are compared.
"""

from __future__ import annotations

from collections.abc import Callable

import networkx as nx
import numpy as np
import scipy.sparse as sp

import gaslab as gl
from common import parser, timed

EDGES = (100, 1_000, 10_000, 100_000, 1_000_000)
TOLERANCE = 1e-6  # the change of all scores together


def by_products(transposed: sp.csr_array, leaving: np.ndarray) -> np.ndarray:
    """Return PageRank by products of a matrix and a vector, dangling mass spread evenly."""
    n = leaving.size
    scores = np.full(n, 1.0 / n)
    share = np.divide(1.0, leaving, out=np.zeros(n), where=leaving > 0)
    while True:
        dangling = scores[leaving == 0].sum() / n
        after = 0.15 / n + 0.85 * (transposed @ (scores * share) + dangling)
        if np.abs(after - scores).sum() < TOLERANCE:
            return after
        scores = after


def ratios(edges: int, repeats: int, threads: int) -> list[float]:
    """Return the best seconds of NetworkX, scipy and a job, each over those of `gaslab.run`."""
    n = edges // 10
    graph = gl.Graph.generate("erdos-renyi", vertices=n, edges=edges, seed=1)
    pairs = graph.to_pandas()[["source", "target"]].drop_duplicates().to_numpy()
    graph = gl.Graph.from_edges(pairs[:, 0], pairs[:, 1], vertices=range(n))
    net = nx.DiGraph()
    net.add_nodes_from(range(n))
    net.add_edges_from(pairs.tolist())
    transposed = sp.csr_array((np.ones(len(pairs)), (pairs[:, 1], pairs[:, 0])), shape=(n, n))
    leaving = np.bincount(pairs[:, 0], minlength=n)
    program = gl.programs.PageRank(tolerance=TOLERANCE)
    with gl.prepare(program, graph, threads=threads) as job:
        scores: dict[str, np.ndarray] = {}

        def networkx() -> None:
            found = nx.pagerank(net, tol=TOLERANCE / n)
            scores["networkx"] = np.fromiter(found.values(), float, n)

        def scipy() -> None:
            scores["scipy"] = by_products(transposed, leaving)

        def prepared() -> None:
            scores["job"] = job.run().vertices["score"]

        def run() -> None:
            scores["run"] = gl.run(program, graph, threads=threads).vertices["score"]

        sides: list[Callable[[], None]] = [run, networkx, scipy, prepared]
        turns = [[timed(side) for side in sides] for _ in range(repeats)]
        best = [min(seconds) for seconds in zip(*turns, strict=True)]
    for name, found in scores.items():
        assert np.abs(found - scores["run"]).sum() < 10 * TOLERANCE, name
    return [seconds / best[0] for seconds in best[1:]]


def main() -> None:
    options = parser(__doc__).parse_args()
    print("| edges | NetworkX | numpy and scipy | a job of gaslab |\n|---|---|---|---|")
    for edges in EDGES:
        cells = " | ".join(f"{ratio:.2g}" for ratio in ratios(edges, options.repeats, options.threads))
        print(f"| {edges:,} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
