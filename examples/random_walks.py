"""Random walks from every vertex, with their traces: what DeepWalk and other embeddings learn from.

A walker begins at each vertex and takes `steps` steps, each along an out-edge that is as likely as the others
(Perozzi, Al-Rfou, Skiena, "DeepWalk: Online learning of social representations", KDD 2014). The messages of
a vertex are a list: the walkers that come to it, and what others write home about its own walker. So many
walkers may meet at one vertex, and each is moved on by a draw of its own. Lists are sorted, so the walks are
the same on any ranks, threads and cuts. They take two supersteps more than `steps`: the first collects the
neighbours.
A trace ends where no edge leads on; the rest of it is no vertex.

    mpiexec -n 2 python examples/random_walks.py
    gaslab run examples/random_walks.py:RandomWalks GRAPH -p steps=10 --seed 1
"""

from __future__ import annotations

from pathlib import Path

import gaslab as gl


class RandomWalks(gl.VertexProgram):
    rng = "hash"
    steps: int = 10

    class Vertex(gl.Vertex):
        trace: gl.Vector = gl.field(shape="steps", dtype=gl.VertexId)  # where its walker is after each step
        _near: gl.List[gl.VertexId]  # the ends of its out-edges, parallel ones as often as they are

    def neighbour(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.VertexId]:
        return nbr.id

    def keep(self, v: Vertex, total: gl.List[gl.VertexId]) -> None:
        v._near = total

    def walk(self, v: Vertex, message: gl.List[tuple[gl.VertexId, gl.VertexId]]) -> None:
        """Move on each walker that is here; a message without a walker says where the own one went."""
        step = self.superstep - 1
        if step == 0 and len(v._near) > 0:
            v.trace[0] = v._near[gl.integers(len(v._near))]
            self.signal(v.trace[0], (v.id, v.id))
        for walker, place in message:
            if walker == gl.NOBODY:
                v.trace[step - 1] = place
            elif step < self.steps and len(v._near) > 0:
                there = v._near[gl.integers(len(v._near))]
                self.signal(walker, (gl.NOBODY, there))
                self.signal(there, (walker, v.id))

    phases = (
        gl.Phase(gather=neighbour, apply=keep, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(apply=walk),
    )


def main() -> None:
    imports = Path(__file__).resolve().parent.parent / "datasets" / "stdlib-imports.tsv"
    graph = gl.read_graph(imports)
    walks = gl.run(RandomWalks(steps=6), graph, seed=1)
    if graph.comm.rank == 0:
        traces = walks.vertices.to_dict("trace")
        print(f"{len(traces)} walks in {walks.iterations} supersteps")
        for module in ("asyncio", "json", "unittest"):
            print(module, "->", " -> ".join(place for place in traces[module] if place is not None))


if __name__ == "__main__":
    main()
