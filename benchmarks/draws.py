"""A draw by weights, beside a search among running sums that are kept: which of the two for how many draws.

    python benchmarks/draws.py

Every vertex draws many times by the same vector of weights: with `gl.categorical`, which adds them up for
each draw, and with `np.searchsorted` of what `np.cumsum` gave once. Both sides run in turn, on one thread.
The time of a draw is that of a long run less that of a short one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np

import gaslab as gl
from common import in_turn, parser, report

WEIGHTS = (8, 20, 50, 100, 400, 1000)
VERTICES, SHORT, LONG = 200, 1000, 5000  # draws of a vertex


class Categorical(gl.VertexProgram):
    rng = "hash"
    length: int = 20
    draws: int = 1

    class Vertex(gl.Vertex):
        weights: gl.Vector = gl.field(shape="length", init=gl.uniform(0.5, 1.5))
        found: int = 0

    def apply(self, v: Vertex) -> None:
        for _ in range(self.draws):
            v.found += gl.categorical(v.weights)


class Kept(Categorical):
    def apply(self, v: Categorical.Vertex) -> None:
        sums = np.cumsum(v.weights)
        for _ in range(self.draws):
            v.found += np.searchsorted(sums, gl.uniform(0.0, sums[-1]), side="right")


def seconds(program: type[Categorical], length: int, graph: gl.Graph) -> Callable[[], float]:
    """Return what measures the CPU-seconds of a million draws."""

    def measure() -> float:
        ends = []
        for draws in (SHORT, LONG):
            began = time.process_time()
            gl.run(program(length=length, draws=draws), graph, max_iterations=1, threads=1)
            ends.append(time.process_time() - began)
        return (ends[1] - ends[0]) * 1e6 / (VERTICES * (LONG - SHORT))

    return measure


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore", gl.ConvergenceWarning)  # of limits
    graph = gl.Graph.from_edges(np.arange(VERTICES), np.arange(VERTICES))
    sides = {"gl.categorical": Categorical, "np.searchsorted of sums": Kept}
    for length in WEIGHTS:
        print(f"\n{length} weights, CPU-seconds of a million draws")
        measured = {name: seconds(program, length, graph) for name, program in sides.items()}
        report(in_turn(measured, options.repeats))


if __name__ == "__main__":
    main()
