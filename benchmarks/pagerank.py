"""PageRank's compute time against the same iterations by scipy's CSR product, in one process, in turn.

    python benchmarks/pagerank.py --threads 2
    mpiexec -n 2 python benchmarks/pagerank.py

In float64. Ours is timed whole: product, teleport, dangling mass, L1 change, and the messages; of
scipy's iteration only the product counts. Under mpiexec scipy runs on rank 0 while the others
wait. Also times a user's copy of the program.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import scipy.sparse

import gaslab as gl
from common import in_turn, parser, report, rmat

ITERATIONS = 20


class MyPageRank(gl.programs.PageRank):
    """As a user's own: the field makes it another program, which is compiled when it is first run."""

    class Vertex(gl.programs.PageRank.Vertex):
        mine: int = 0


def scipy_side(graph: gl.Graph) -> tuple[object, list[np.ndarray]]:
    """Return a function that runs the iterations with scipy on rank 0, and where it leaves its answer."""
    answer: list[np.ndarray] = []
    edges = graph.edges(on="root")
    if graph.comm.rank:
        return (lambda: 0.0), answer
    src, dst = edges
    n = graph.num_vertices
    out = np.bincount(src, minlength=n)
    matrix = scipy.sparse.csr_matrix((np.ones(src.size), (dst, src)), shape=(n, n))
    matrix.sort_indices()
    divisor, dangling = 1.0 / np.maximum(out, 1), out == 0

    def run() -> float:
        x, seconds = np.full(n, 1.0 / n), 0.0
        for _ in range(ITERATIONS):
            share = x * divisor
            began = time.perf_counter()
            y = matrix @ share
            seconds += time.perf_counter() - began
            y *= 0.85
            y += (0.15 + 0.85 * x[dangling].sum()) / n
            x = y
        answer[:] = [x]
        return seconds

    return run, answer


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--compact", action="store_true", help="leave out vertices without edges")
    options = arguments.parse_args()
    graph = rmat(options)
    if options.compact:
        graph = gl.Graph.from_edges(*graph.edges(on="all"), strategy=options.strategy)
    theirs, answer = scipy_side(graph)

    def side(program: gl.VertexProgram):
        def run() -> float:
            result = gl.run(program, graph, max_iterations=ITERATIONS, threads=options.threads, on="root")
            ours[:] = [result.vertices["score"]] if graph.comm.rank == 0 else []
            return result.metrics["seconds"]["compute"]

        return run

    ours: list[np.ndarray] = []
    warnings.simplefilter("ignore", gl.ConvergenceWarning)  # the limit is the point here
    sides = {
        "gaslab": side(gl.programs.PageRank(tolerance=0.0)),
        "scipy CSR product": theirs,
        "gaslab, user's copy": side(MyPageRank()),
    }
    timings = in_turn(sides, options.repeats)
    if graph.comm.rank == 0:
        size = graph.comm.size
        target = 0.60 if size == 2 else 0.45 if options.threads == 2 else 0.75 if size == 1 else None
        print(f"{graph!r}\n{size} ranks x {options.threads} threads, {ITERATIONS} iterations, float64")
        report(timings[:2], target)
        report([timings[2], timings[0]], 1.05)
        per_edge = timings[0].best / ITERATIONS / graph.num_edges * 1e9
        off = np.abs(ours[0] - answer[0]).max()
        print(f"{per_edge:.3f} ns per edge and iteration; largest difference of a score {off:.2e}")


if __name__ == "__main__":
    main()
