"""Pregel's model as a vertex program: compute with messages, a combiner, an aggregator, vote to halt.

Malewicz et al., "Pregel: A System for Large-Scale Graph Processing", SIGMOD 2010. Its words, and ours:

    Compute(messages)                apply, which gets the messages combined, then scatter, which sends
    SendMessageTo(edge, m)           nbr.signal(m)
    SendMessageTo(any vertex, m)     self.signal(id, m)
    Combiner                         the annotation of `message`; there is always one
    VoteToHalt()                     nothing to do: who is neither signalled nor signals itself sleeps
    stay awake                       v.signal()
    Aggregator, master's compute     gl.aggregator, done

Shown is the paper's PageRank (its figure 4): each vertex works for so many supersteps, messages or not,
then halts; when all have, the run ends.

    mpiexec -n 2 python examples/pregel.py
    gaslab run examples/pregel.py:PregelPageRank GRAPH -p supersteps=30
"""

from __future__ import annotations

from pathlib import Path

import gaslab as gl


class PregelPageRank(gl.VertexProgram):
    supersteps: int = 30

    class Vertex(gl.Vertex):
        value: float = 0.0

    def init(self, v: Vertex) -> None:
        v.value = 1.0 / self.num_vertices

    def apply(self, v: Vertex, message: gl.Sum[float]) -> None:
        if self.superstep >= 1:
            v.value = 0.15 / self.num_vertices + 0.85 * message
        if self.superstep < self.supersteps:
            v.signal()  # no vote to halt yet

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if self.superstep < self.supersteps:
            nbr.signal(v.value / v.out_degree)


def main() -> None:
    imports = Path(__file__).resolve().parent.parent / "datasets" / "stdlib-imports.tsv"
    graph = gl.read_graph(imports)
    result = gl.run(PregelPageRank(), graph)
    if graph.comm.rank == 0:
        value = result.vertices.to_dict("value")
        print(f"all halted after superstep {result.iterations - 1}")
        for name in sorted(value, key=lambda name: -value[name])[:5]:
            print(f"{name:12}{value[name]:9.6f}")


if __name__ == "__main__":
    main()
