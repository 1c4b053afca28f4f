"""The k-core: the largest part of a graph in which everybody has at least k neighbours.

Vertices with fewer than k neighbours leave; those who lose a neighbour count again, until nobody leaves
(Matula and Beck, "Smallest-last ordering", JACM 30, 1983). A leaving vertex sends 1 to each neighbour
and the messages are summed on the way, so a hub that loses a thousand neighbours hears one number per
rank. Parallel edges count as often as they are there, and a self-loop counts twice.

    mpiexec -n 2 python examples/kcore_peel.py
    gaslab run examples/kcore_peel.py:KCorePeel GRAPH --undirected -p k=3
"""

from __future__ import annotations

from pathlib import Path

import gaslab as gl


class KCorePeel(gl.VertexProgram):
    k: int = 2
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        left: int = 0  # neighbours that have not left
        inside: bool = True
        leaving: bool = False  # leaves in this superstep

    @gl.aggregator
    def core_size(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v.inside else 0

    def init(self, v: Vertex) -> None:
        v.left = v.degree

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.left -= message
        v.leaving = v.inside and v.left < self.k
        if v.leaving:
            v.inside = False

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.leaving:
            nbr.signal(1)


def main() -> None:
    imports = Path(__file__).resolve().parent.parent / "datasets" / "stdlib-imports.tsv"
    graph = gl.read_graph(imports, directed=False)
    for k in (2, 4, 8, 12):
        result = gl.run(KCorePeel(k=k), graph)
        inside = int(result.vertices["inside"].sum())
        if graph.comm.rank == 0:
            print(f"{k:2}-core: {inside:4} of {graph.num_vertices} modules, {result.iterations} supersteps")


if __name__ == "__main__":
    main()
