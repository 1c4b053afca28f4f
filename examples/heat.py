"""Heat: a vertex is heated once, and the heat spreads over edges of different conductance.

In a short time dt an edge carries dt * conductance * (difference of its ends' temperatures), which is
one explicit Euler step of dT/dt = -L T with the graph's weighted Laplacian L (Chung, "Spectral Graph
Theory", 1997, chapter 10). The sum of all temperatures never changes. The steps are stable while
dt < 1 / (largest sum of conductances around one vertex); beyond that the temperatures blow up.

    mpiexec -n 2 python examples/heat.py
    gaslab run examples/heat.py:Heat GRAPH -p source=ID -p time=1.0 --column conductance=NAME
"""

from __future__ import annotations

from pathlib import Path

import gaslab as gl


class Heat(gl.VertexProgram):
    source: gl.VertexId
    time: float = 1.0
    dt: float = 0.001
    gather_edges = gl.ALL  # heat flows both ways, whichever way the edge points

    class Vertex(gl.Vertex):
        temperature: float = 0.0

    class Edge(gl.Edge):
        conductance: float = 1.0

    @gl.aggregator
    def heat(self, v: Vertex) -> gl.Sum[float]:
        return v.temperature

    @gl.aggregator
    def hottest(self, v: Vertex) -> gl.Max[float]:
        return v.temperature

    def init(self, v: Vertex) -> None:
        v.temperature = 1.0 if v.id == self.source else 0.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.conductance * (nbr.temperature - v.temperature)

    def apply(self, v: Vertex, inflow: float) -> None:
        v.temperature += self.dt * inflow

    def done(self) -> bool:
        return (self.superstep + 1) * self.dt >= self.time


def main() -> None:
    imports = Path(__file__).resolve().parent.parent / "datasets" / "stdlib-imports.tsv"
    graph = gl.read_graph(imports)
    result = gl.run(Heat(source="asyncio", time=0.05), graph, columns={"conductance": "weight"})
    temperature = dict(zip(result.vertices.ids, result.vertices["temperature"], strict=True))
    if graph.comm.rank == 0:
        print(f"after {result.iterations} steps the heat of all modules is {sum(temperature.values()):.12f}")
        for name in sorted(temperature, key=lambda name: -temperature[name])[:10]:
            print(f"{name:30}{temperature[name]:10.6f} " + "#" * round(50 * temperature[name]))


if __name__ == "__main__":
    main()
