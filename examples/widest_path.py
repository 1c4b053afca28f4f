"""Widest paths: how much can flow from one vertex to every other along a single path.

The width of a path is the smallest capacity on it; a vertex's width is that of the widest path from
`source` to it (Pollack, "The maximum capacity through a network", Operations Research 8, 1960). It is
shortest paths with min in place of + and max in place of min. Here the offers travel as messages: a
vertex that became wider offers min(own width, capacity) along its out-edges, and whoever gets several
offers sees the best. There is no gather, so nothing but offers crosses between ranks.

    mpiexec -n 2 python examples/widest_path.py
    gaslab run examples/widest_path.py:WidestPath GRAPH -p source=ID --column capacity=NAME
"""

from __future__ import annotations

import math

import gaslab as gl


class WidestPath(gl.VertexProgram):
    source: gl.VertexId

    class Vertex(gl.Vertex):
        width: float = 0.0  # 0: not reachable
        wider: bool = False  # became wider in this superstep

    class Edge(gl.Edge):
        capacity: float

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def apply(self, v: Vertex, message: gl.Max[float]) -> None:
        offer = math.inf if v.id == self.source else message
        v.wider = offer > v.width
        v.width = max(v.width, offer)

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if v.wider:
            nbr.signal(min(v.width, e.capacity))


LINKS = [  # from, to, Gbit/s
    ("Oslo", "Hamburg", 40.0), ("Oslo", "London", 100.0), ("London", "Paris", 60.0),
    ("London", "Lisbon", 20.0), ("Hamburg", "Berlin", 80.0), ("Hamburg", "Paris", 50.0),
    ("Paris", "Madrid", 30.0), ("Madrid", "Lisbon", 90.0), ("Paris", "Berlin", 60.0),
    ("Berlin", "Vienna", 70.0), ("Vienna", "Rome", 10.0), ("Madrid", "Rome", 20.0),
    ("Rome", "Athens", 40.0), ("Athens", "Vienna", 80.0), ("Lisbon", "Oslo", 10.0),
    ("Cork", "London", 25.0),
]  # fmt: skip


def main() -> None:
    sources, targets, capacities = zip(*LINKS, strict=True)
    graph = gl.Graph.from_edges(sources, targets, columns={"capacity": capacities})
    result = gl.run(WidestPath(source="Oslo"), graph)
    if graph.comm.rank == 0:
        for city, width in zip(result.vertices.ids, result.vertices["width"], strict=True):
            print(f"{city:10}{width:6g} Gbit/s")


if __name__ == "__main__":
    main()
