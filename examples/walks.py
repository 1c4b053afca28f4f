"""Random walks with restart: which vertices are near to one, by walkers that begin there.

A walker at a vertex ends with probability `restart`, or where no edge leads on, and otherwise follows an
edge, each as likely as the others. The visits of many walkers are in proportion to the personalised
PageRank of the vertices (Avrachenkov, Litvak, Nemirovsky, Osipova, "Monte Carlo methods in PageRank
computation: when one iteration is sufficient", SIAM Journal on Numerical Analysis 45, 2007), and a superstep
costs only the vertices where walkers are. The first phase collects each vertex's neighbours: they are sorted,
so the one that a draw chooses is the same on any ranks, threads and cuts. Any number of walkers may leave a
vertex at once, each by a draw of its own; the price is 8 bytes an edge.

    mpiexec -n 2 python examples/walks.py
    gaslab run examples/walks.py:Walks GRAPH -p source=ID --seed 1
"""

from __future__ import annotations

from pathlib import Path

import gaslab as gl


class Walks(gl.VertexProgram):
    rng = "hash"
    source: gl.VertexId
    walkers: int = 20_000
    restart: float = 0.15

    class Vertex(gl.Vertex):
        visits: int = 0
        _near: gl.List[gl.VertexId]  # the ends of its out-edges, parallel ones as often as they are

    def neighbour(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.VertexId]:
        return nbr.id

    def keep(self, v: Vertex, total: gl.List[gl.VertexId]) -> None:
        v._near = total

    def home(self, v: Vertex) -> bool:
        return v.id == self.source

    def step(self, v: Vertex, message: gl.Sum[int]) -> None:
        here = self.walkers if self.superstep == 1 else message
        v.visits += here
        for _ in range(here if len(v._near) > 0 else 0):
            if gl.uniform() >= self.restart:
                self.signal(v._near[gl.integers(len(v._near))], 1)

    phases = (
        gl.Phase(gather=neighbour, apply=keep, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(apply=step, start=home),
    )


def main() -> None:
    imports = Path(__file__).resolve().parent.parent / "datasets" / "stdlib-imports.tsv"
    graph = gl.read_graph(imports)
    walks = gl.run(Walks(source="asyncio"), graph, seed=1)
    exact = gl.pagerank(graph, personalization={"asyncio": 1.0})
    if graph.comm.rank == 0:
        visits, scores = walks.vertices.to_dict("visits"), exact.vertices.to_dict("score")
        whole = sum(visits.values())
        print(f"{whole} visits in {walks.iterations - 1} steps")
        for module in sorted(visits, key=lambda module: -visits[module])[:8]:
            print(f"{module:24} {visits[module] / whole:.4f}  PageRank {scores[module]:.4f}")


if __name__ == "__main__":
    main()
