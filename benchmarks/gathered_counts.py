"""Counts of the kinds of neighbours: made in the field that apply copies them to, or copied to it.

    python benchmarks/gathered_counts.py --scale 17

Apply begins with the same copy in both programs. One looks at the total again, and so has one to copy.
Seconds of the supersteps but the first, on R-MAT, uniform, grid and chain graphs.
"""

from __future__ import annotations

import warnings

import gaslab as gl
from calls import GRAPHS
from common import in_turn, parser, report
from near_vectors import SUPERSTEPS, side

KINDS = (16, 100)


class Made(gl.VertexProgram):
    kinds: int = 16

    class Vertex(gl.Vertex):
        kind: gl.int32 = gl.integers("kinds")
        often: gl.Vector = gl.field(shape="kinds", dtype=gl.int32)
        first: int = 0

    class Total(gl.Accumulator):
        often: gl.Vector = gl.field(shape="kinds", dtype=gl.int32)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(often=gl.at(nbr.kind))

    def apply(self, v: Vertex, total: Total) -> None:
        v.often = total.often
        v.first = v.often[0]

    def active(self, v: Vertex) -> bool:
        return True


class Copied(Made):
    def apply(self, v: Made.Vertex, total: Made.Total) -> None:
        v.often = total.often
        v.first = total.often[0]


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")  # of limits
    for kind, make in GRAPHS.items():
        graph = make(options.scale, options.edge_factor)
        for kinds in KINDS:
            print(f"\n{kinds} kinds: {kind}, seconds of {SUPERSTEPS - 1} supersteps")
            programs = {"made in the field": Made(kinds=kinds), "copied": Copied(kinds=kinds)}
            sides = {name: side(program, graph, options.threads) for name, program in programs.items()}
            report(in_turn(sides, options.repeats))


if __name__ == "__main__":
    main()
