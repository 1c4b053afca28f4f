"""Counts of edges in 32 bits, where the compiler knows that they fit, against 64.

    mpiexec -n 2 python benchmarks/counts.py

How often each of so many kinds is on a vertex's edges; the edges are tokens of words drawn by Zipf's law, cut
at random, so that hubs and rare words have mirrors. Both sides run in turn. Seconds are the least CPU-seconds
of rank 0 for a superstep.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from unittest import mock

import numpy as np

import gaslab as gl
from common import in_turn, parser, report
from gaslab import compiler
from gaslab.parallel.comm import world

KINDS, SUPERSTEPS = (20, 100, 1000), 15
MARKS: list[float] = []  # CPU-seconds of rank 0 after each superstep
SIDES = {"32 bits": compiler.MANY_EDGES, "64 bits": 0}  # the edges from which counts are kept in 64


class Kinds(gl.VertexProgram):
    kinds: int = 20

    class Vertex(gl.Vertex):
        most: int = 0

    class Edge(gl.Edge):
        kind: gl.int32

    class Total(gl.Accumulator):
        counts: gl.Vector = gl.field(shape="kinds", dtype=int)

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(counts=gl.at(e.kind))

    def apply(self, v: Vertex, total: Total) -> None:
        v.most = int(np.max(total.counts))

    def done(self) -> bool:
        MARKS.append(time.process_time())
        return False


def superstep(graph: gl.Graph, kinds: int, threads: int, many_edges: int) -> float:
    """Return the CPU-seconds of rank 0 for a superstep: the least of a run's."""
    MARKS.clear()
    with mock.patch.object(compiler, "MANY_EDGES", many_edges), warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.ConvergenceWarning)
        gl.run(Kinds(kinds=kinds), graph, max_iterations=SUPERSTEPS, threads=threads)
    return float(min(np.diff(MARKS), default=0.0))


def main() -> None:
    arguments = parser(__doc__)
    arguments.add_argument("--documents", type=int, default=5_000, help="of 200 tokens each")
    arguments.add_argument("--words", type=int, default=30_000)
    options = arguments.parse_args()
    rng = np.random.default_rng(0)
    documents = np.repeat(np.arange(options.documents), 200)
    share = 1.0 / np.arange(1, options.words + 1)
    words = rng.choice(options.words, documents.size, p=share / share.sum())
    for kinds in KINDS:
        columns = {"kind": rng.integers(0, kinds, words.size)}
        graph = gl.Graph.from_edges(
            documents, words, columns=columns, bipartite=True, strategy=options.strategy or "random"
        )
        sides: dict[str, Callable[[], float]] = {
            name: partial(superstep, graph, kinds, options.threads, many) for name, many in SIDES.items()
        }
        if world().rank == 0:
            print(f"\n{words.size:,} edges, {kinds} kinds, {world().size} ranks")
        report(in_turn(sides, options.repeats))


if __name__ == "__main__":
    main()
