"""node2vec: random walks of second order, which turn back with weight 1 / p and go away with weight 1 / q.

A walker that has come from `came` to a vertex chooses a neighbour of it: `came` itself by the weight 1 / p, a
neighbour of `came` by 1, any other by 1 / q (Grover, Leskovec, "node2vec: Scalable feature learning for
networks", KDD 2016). A small p keeps walks near, a small q drives them away.

No vertex knows its neighbours' neighbours. So a step is drawn by rejection (Yang, Zhang, Wang, Ma, Chen,
"KnightKing: A fast distributed graph random walk engine", SOSP 2019): a neighbour is proposed, all alike,
with a number below the largest weight, and taken if that is below its own. Mostly this can be said at once;
where it hangs on whether the proposed vertex is a neighbour of `came`, the walker goes there and asks, and is
sent back if the answer is no. So where q is 1 there are two supersteps more than steps, and else the slowest
walker takes more: two to four times as many where q is 2 or 1/2, more where p is far from 1, too.

The graph is undirected; parallel edges count once.

    mpiexec -n 2 python examples/node2vec.py
    gaslab run examples/node2vec.py:Node2Vec GRAPH --undirected -p p=0.5 -p q=2.0 --seed 1
"""

from __future__ import annotations

from pathlib import Path

import gaslab as gl


class Node2Vec(gl.VertexProgram):
    rng = "hash"
    steps: int = 10
    p: float = 1.0
    q: float = 1.0

    class Vertex(gl.Vertex):
        trace: gl.Vector = gl.field(shape="steps", dtype=gl.VertexId)  # where its walker is after each step
        _near: gl.SortedSet[gl.VertexId]

    def neighbour(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id

    def keep(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v._near = total

    def walk(
        self, v: Vertex, message: gl.List[tuple[gl.VertexId, int, gl.VertexId, gl.VertexId]]
    ) -> None:
        """Messages: a walker, its steps so far, the vertex it comes from, the one before that if it asks."""
        if self.superstep == 1 and len(v._near) > 0:
            v.trace[0] = v._near[gl.integers(len(v._near))]
            self.signal(v.trace[0], (v.id, 1, v.id, gl.NOBODY))
        low, high = min(1.0, 1.0 / self.q), max(1.0, 1.0 / self.q)
        for walker, steps, came, asks_for in message:
            if walker == gl.NOBODY:  # a step of the walk that began here
                v.trace[steps] = came
                continue
            taken = steps
            if asks_for != gl.NOBODY:
                if (asks_for in v._near) != (self.q > 1.0):
                    self.signal(came, (walker, steps, asks_for, gl.NOBODY))
                    continue
                self.signal(walker, (gl.NOBODY, steps, v.id, gl.NOBODY))
                taken += 1
            if taken >= self.steps:
                continue
            while True:
                there = v._near[gl.integers(len(v._near))]
                weight = gl.uniform(0.0, max(1.0 / self.p, high))
                if weight < (1.0 / self.p if there == came else high):
                    break
            if there == came or weight < low:
                self.signal(walker, (gl.NOBODY, taken, there, gl.NOBODY))
                self.signal(there, (walker, taken + 1, v.id, gl.NOBODY))
            else:
                self.signal(there, (walker, taken, v.id, came))

    phases = (
        gl.Phase(gather=neighbour, apply=keep, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(apply=walk),
    )


def main() -> None:
    imports = Path(__file__).resolve().parent.parent / "datasets" / "stdlib-imports.tsv"
    graph = gl.read_graph(imports, directed=False)
    for p, q in ((1.0, 1.0), (0.25, 2.0), (4.0, 0.5)):
        walks = gl.run(Node2Vec(steps=20, p=p, q=q), graph, seed=1)
        if graph.comm.rank == 0:
            traces = walks.vertices.to_dict("trace")
            visited = sum(len({*trace}) for trace in traces.values()) / len(traces)
            print(f"p={p} q={q}: {visited:.1f} vertices in 20 steps, {walks.iterations} supersteps")
            print("  asyncio ->", " -> ".join(traces["asyncio"][:6]))


if __name__ == "__main__":
    main()
