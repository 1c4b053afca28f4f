"""All triangles, and label propagation, against their peers in one process, in turn.

    python benchmarks/triangles.py --threads 2
    python benchmarks/triangles.py --scale 16 --peer scipy

The peer of triangles is scipy's (L @ L) .* L of the lower half by degree (one thread; at scale 20 it
needs some 20 GB, so choose a smaller scale), or networkit if it is installed. Answers are compared.
Of ours the compute time counts.
"""

from __future__ import annotations

import argparse

import numpy as np
import scipy.sparse

import gaslab as gl
from common import in_turn, parser, report, rmat, timed

TARGET = 8.0  # seconds for all triangles of scale 20 on 2 threads


def lower_half(source: np.ndarray, target: np.ndarray, n: int) -> scipy.sparse.csr_matrix:
    """Return the matrix of the edges led from the lower end to the higher, by degree and then by id."""
    degree = np.bincount(source, minlength=n) + np.bincount(target, minlength=n)
    swap = (degree[source] > degree[target]) | ((degree[source] == degree[target]) & (source > target))
    low, high = np.where(swap, target, source), np.where(swap, source, target)
    return scipy.sparse.csr_matrix((np.ones(low.size, np.int64), (low, high)), shape=(n, n))


def main(options: argparse.Namespace) -> None:
    plain = rmat(options)
    source, target = plain.edges(on="all")
    graph = gl.Graph.from_edges(source, target, directed=False, drop_duplicates=True)
    found: dict[str, int] = {}

    def ours() -> float:
        result = gl.triangles(graph, per_vertex=False, threads=options.threads, on="local")
        found["ours"] = result.metrics["triangles"]
        return float(result.metrics["seconds"]["compute"])

    def labels() -> float:
        return float(gl.cdlp(graph, threads=options.threads, on="local").metrics["seconds"]["compute"])

    sides = {"triangles": ours}
    if options.peer == "scipy":
        both = graph.edges(on="all")
        matrix = lower_half(*both, graph.num_vertices)

        def theirs() -> float:
            return timed(lambda: found.update(theirs=int((matrix @ matrix).multiply(matrix).sum())))

        sides["scipy"] = theirs
    report(in_turn(sides, options.repeats))
    assert found.get("theirs", found["ours"]) == found["ours"], found
    if graph.comm.rank == 0:
        print(f"{found['ours']:,} triangles (to reach at scale 20 on 2 threads: {TARGET} s)")
    report(in_turn({"cdlp, 10 rounds": labels}, options.repeats))


if __name__ == "__main__":
    arguments = parser(__doc__)
    arguments.add_argument("--peer", choices=["none", "scipy"], default="none")
    main(arguments.parse_args())
