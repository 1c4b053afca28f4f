"""Random walks from every vertex of an R-MAT graph, traces kept: ten steps, also node2vec's of second order.

    python benchmarks/random_walks.py --scale 18 --threads 2

The programs are those of `examples/`. Beside them are a loop over the steps in numpy, which moves all walkers
at once, and igraph's walk of one walker, called for each vertex of a sample and counted as if for all. Sides
run in turn; each has the neighbours at hand before its time begins, but gaslab, which collects them in its
first superstep.
"""

from __future__ import annotations

import runpy
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import gaslab as gl
from common import in_turn, installed, parser, report, timed

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
STEPS, SAMPLE = 10, 1 << 12


def by_numpy(begin: np.ndarray, neighbors: np.ndarray) -> np.ndarray:
    """Return the places of all walkers after each step; -1 where a walk has ended."""
    draws = np.random.default_rng(1)
    n = begin.size - 1
    trace, place = np.full((n, STEPS), -1), np.arange(n)
    degree = np.diff(begin)
    for step in range(STEPS):
        walks = np.flatnonzero((place >= 0) & (degree[place] > 0))
        here = place[walks]
        place = np.full(n, -1)
        place[walks] = neighbors[begin[here] + draws.integers(degree[here])]
        trace[:, step] = place
    return trace


def sides(graph: gl.Graph, threads: int) -> dict[str, Callable[[], float]]:
    """Return what measures the seconds of each side."""
    matrix = graph.to_scipy()
    begin, neighbors = matrix.indptr.astype(np.int64), matrix.indices

    def gaslab(name: str, cls: str, **parameters: Any) -> Callable[[], float]:
        program = runpy.run_path(str(EXAMPLES / name))[cls](steps=STEPS, **parameters)
        return lambda: timed(lambda: gl.run(program, graph, threads=threads))

    found = {
        "gaslab": gaslab("random_walks.py", "RandomWalks"),
        "numpy, all walkers at once": lambda: timed(lambda: by_numpy(begin, neighbors)),
        "gaslab, node2vec, p = q = 1": gaslab("node2vec.py", "Node2Vec"),
        "gaslab, node2vec, p = 4, q = 0.5": gaslab("node2vec.py", "Node2Vec", p=4.0, q=0.5),
    }
    if installed("igraph"):
        import igraph

        source, target = matrix.nonzero()
        walked = igraph.Graph(n=begin.size - 1, edges=np.stack([source, target], axis=1)[source < target])
        starts = np.random.default_rng(1).integers(graph.num_vertices, size=SAMPLE).tolist()

        def by_igraph() -> float:
            seconds = timed(lambda: [walked.random_walk(start, STEPS, stuck="return") for start in starts])
            return seconds * graph.num_vertices / SAMPLE

        found["igraph, a call for each walk"] = by_igraph
    return found


def main() -> None:
    options = parser(__doc__)
    options.set_defaults(scale=18, threads=2, repeats=5)
    given = options.parse_args()
    warnings.simplefilter("ignore", gl.ConvergenceWarning)
    drawn = gl.Graph.generate(
        "rmat", scale=given.scale, edge_factor=given.edge_factor, seed=1,
        drop_duplicates=True, drop_self_loops=True,
    )  # fmt: skip
    report(in_turn(sides(drawn.to_undirected(), given.threads), given.repeats))


if __name__ == "__main__":
    main()
