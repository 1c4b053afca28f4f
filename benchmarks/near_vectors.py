"""Vectors of a vertex alone: computed first in gather or scatter, so once a vertex, or later, at each edge.

    python benchmarks/near_vectors.py --scale 17

Each program stands twice: its vector is computed in the first line, or after the neighbour is read.
Seconds of the supersteps but the first, on R-MAT, uniform, grid and chain graphs. Of few elements both do the
same (`LEAST` in gaslab/compiler/tree/near_vectors.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import gaslab as gl
from calls import GRAPHS
from common import in_turn, parser, report

SUPERSTEPS = 5
KINDS = 32


class Scaled(gl.VertexProgram):
    """A vector scaled, and one of its elements for each edge: an elementwise loop."""

    width: int = 32

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="width", init=gl.uniform(0.0, 1.0))
        y: float = 1.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        scaled = v.x / (1.0 + v.y)
        far = nbr.y
        return scaled[nbr.out_degree % self.width] * far

    def apply(self, v: Vertex, total: float) -> None:
        v.y = total / (1.0 + v.in_degree)


class ScaledLater(Scaled):
    def gather(self, v: Scaled.Vertex, e: gl.Edge, nbr: Scaled.Vertex) -> gl.Sum[float]:
        far = nbr.y
        scaled = v.x / (1.0 + v.y)
        return scaled[nbr.out_degree % self.width] * far


class Summed(Scaled):
    """Sums of all elements up to one: a loop in which each element waits for the last."""

    def gather(self, v: Scaled.Vertex, e: gl.Edge, nbr: Scaled.Vertex) -> gl.Sum[float]:
        sums = np.cumsum(v.x)
        far = nbr.y
        return sums[nbr.out_degree % self.width] * far


class SummedLater(Scaled):
    def gather(self, v: Scaled.Vertex, e: gl.Edge, nbr: Scaled.Vertex) -> gl.Sum[float]:
        far = nbr.y
        sums = np.cumsum(v.x)
        return sums[nbr.out_degree % self.width] * far


class Counted(gl.VertexProgram):
    """Counts of the neighbours' kinds, looked up for each edge in scatter."""

    class Vertex(gl.Vertex):
        kind: int = 0
        near: gl.List[gl.uint16]
        alike: int = 0

    def init(self, v: Vertex) -> None:
        v.kind = gl.integers(KINDS)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.uint16]:
        return nbr.kind

    def apply(self, v: Vertex, total: gl.List[gl.uint16], message: gl.Sum[int]) -> None:
        v.near = total
        v.alike = message
        v.signal()

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        counts = np.bincount(v.near, minlength=KINDS)
        kind = nbr.kind
        nbr.signal(counts[kind])


class CountedLater(Counted):
    def scatter(self, v: Counted.Vertex, e: gl.Edge, nbr: Counted.Vertex) -> None:
        kind = nbr.kind
        counts = np.bincount(v.near, minlength=KINDS)
        nbr.signal(counts[kind])


PAIRS = (
    ("vectors of 8 elements, scaled", Scaled(width=8), ScaledLater(width=8)),
    ("vectors of 32 elements, scaled", Scaled(width=32), ScaledLater(width=32)),
    ("vectors of 8 elements, summed", Summed(width=8), SummedLater(width=8)),
    ("vectors of 32 elements, summed", Summed(width=32), SummedLater(width=32)),
    ("kinds of neighbours, counted", Counted(), CountedLater()),
)


def side(program: gl.VertexProgram, graph: gl.Graph, threads: int) -> Callable[[], float]:
    """Return what measures the seconds of the supersteps of a run, without its first."""

    def seconds() -> float:
        history = gl.run(program, graph, max_iterations=SUPERSTEPS, threads=threads, seed=1).history
        return float(sum(row["seconds"] for row in history[1:]))

    return seconds


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")  # of limits
    for kind, make in GRAPHS.items():
        graph = make(options.scale, options.edge_factor)
        for name, first, later in PAIRS:
            if isinstance(first, Counted) and kind == "rmat":
                continue  # at each edge of a hub all its neighbours would be counted: hours
            print(f"\n{name}: {kind}, seconds of {SUPERSTEPS - 1} supersteps")
            both = {
                "first, once a vertex": side(first, graph, options.threads),
                "later, at each edge": side(later, graph, options.threads),
            }
            report(in_turn(both, options.repeats))


if __name__ == "__main__":
    main()
