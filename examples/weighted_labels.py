"""Communities by weighted label propagation: every vertex takes the label of most weight around it.

Raghavan, Albert, Kumara, "Near linear time algorithm to detect community structures in large-scale
networks", Physical Review E 76, 2007, with weights of edges. Vertices that all moved at once could swap
labels for ever, so in each superstep about half of them may move; of several labels of one weight a vertex
keeps its own, or else takes the smallest. It is over when no vertex would move.

    mpiexec -n 2 python examples/weighted_labels.py
    gaslab run examples/weighted_labels.py:WeightedLabels GRAPH --undirected --max-iterations 100
"""

from __future__ import annotations

from pathlib import Path

import gaslab as gl


class WeightedLabels(gl.VertexProgram):
    share: float = 0.5  # of the vertices, that may move in a superstep
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: gl.VertexId
        settled: bool = False

    class Edge(gl.Edge):
        weight: float = 1.0

    @gl.aggregator
    def unsettled(self, v: Vertex) -> gl.Sum[int]:
        return 0 if v.settled else 1

    def init(self, v: Vertex) -> None:
        v.label = v.id

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.SumBy[gl.VertexId, float]:
        return nbr.label, e.weight

    def apply(self, v: Vertex, total: gl.SumBy[gl.VertexId, float]) -> None:
        best = total.argmax() if total else v.label
        v.settled = total[best] <= total[v.label]
        if not v.settled and gl.uniform() < self.share:
            v.label = best

    def done(self) -> bool:
        return self.unsettled == 0


def main() -> None:
    imports = Path(__file__).resolve().parent.parent / "datasets" / "stdlib-imports.tsv"
    graph = gl.read_graph(imports, directed=False)
    result = gl.run(WeightedLabels(), graph, max_iterations=200, columns={"weight": "weight"}, seed=1)
    members: dict[str, list[str]] = {}
    for module, label in zip(result.vertices.ids, result.vertices["label"], strict=True):
        members.setdefault(label, []).append(module)
    if graph.comm.rank == 0:
        print(f"{len(members)} communities after {result.iterations} supersteps")
        for label, modules in sorted(members.items(), key=lambda one: (-len(one[1]), one[0]))[:8]:
            print(f"{len(modules):4} with {label}: {', '.join(modules[:6])}")


if __name__ == "__main__":
    main()
