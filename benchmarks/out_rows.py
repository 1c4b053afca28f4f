"""How far ahead a gather over out-edges fetches the fields of edges, which lie in the order of in-edges.

    python benchmarks/out_rows.py --scale 18

A scatter changes the field, though it never comes to, so no copy of it lies in the order of out-edges.
Seconds of the supersteps but the first, on R-MAT, uniform, grid and chain graphs.
"""

from __future__ import annotations

import warnings
from unittest import mock

import gaslab as gl
from calls import GRAPHS
from common import in_turn, parser, report
from gaslab.compiler.c import prelude
from near_vectors import SUPERSTEPS, side

DISTANCES = (64, 16)  # edges; the first is that of the compiler


class Near(gl.VertexProgram):
    gather_edges = gl.OUT

    class Vertex(gl.Vertex):
        x: float = 0.0

    class Edge(gl.Edge):
        share: float = 1.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.share

    def apply(self, v: Vertex, total: float) -> None:
        v.x = total

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.forward:
            e.share = 0.5 * e.share

    def scatter_edges(self, v: Vertex) -> int:
        return gl.OUT if v.x < 0.0 else gl.NONE

    def active(self, v: Vertex) -> bool:
        return True


class Far(Near):
    """The same, compiled apart."""


def main() -> None:
    options = parser(__doc__).parse_args()
    warnings.simplefilter("ignore")  # of limits
    small = GRAPHS["rmat"](6, 4)
    programs = {}
    for ahead, program in zip(DISTANCES, (Near(), Far()), strict=True):
        text = f"enum {{ GL_PREFETCH_EDGES = {ahead} }};\n"
        with mock.patch.dict(prelude.HELPERS, GL_PREFETCH_EDGES=text):
            gl.run(program, small, max_iterations=1)  # compiled here, and kept for its class
        programs[f"{ahead} edges ahead"] = program
    for kind, make in GRAPHS.items():
        graph = make(options.scale, options.edge_factor)
        print(f"\n{kind}, seconds of {SUPERSTEPS - 1} supersteps")
        sides = {name: side(program, graph, options.threads) for name, program in programs.items()}
        report(in_turn(sides, options.repeats))


if __name__ == "__main__":
    main()
