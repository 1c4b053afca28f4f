"""The whole graph of the reference engine: vertices, edges and neighbours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from gaslab import program as words
from gaslab.language.visit_ways import choose_ways
from gaslab.reference.arithmetic import number
from gaslab.reference.state import State
from gaslab.reference.views import Edge, Vertex
from gaslab.reference.visit import Visit, visit_order


class PlainGraph:
    """Views of all vertices and edges, in the order of the input, with their degrees."""

    def __init__(
        self, run: State, vertices: Sequence[Any], edges: Sequence[tuple[Any, Any]], directed: bool
    ) -> None:
        by_id = self.by_id = {vertex_id: Vertex(run, vertex_id) for vertex_id in vertices}
        self.vertices = list(by_id.values())
        self.ends = [(by_id[source], by_id[target]) for source, target in edges]
        self.edges = [Edge(run, *ends) for ends in self.ends]
        self.edge_numbers = {e: k for k, e in enumerate(self.edges)}
        self.directed = directed
        self.incoming: dict[Vertex, list[tuple[Edge, Vertex]]] = {v: [] for v in self.vertices}
        self.outgoing: dict[Vertex, list[tuple[Edge, Vertex]]] = {v: [] for v in self.vertices}
        for e, (source, target) in zip(self.edges, self.ends, strict=True):
            self.incoming[target].append((e, source))
            self.outgoing[source].append((e, target))
        for place, v in enumerate(self.vertices):
            vars(v)["index"] = number(place)
            coming, going = len(self.incoming[v]), len(self.outgoing[v])
            both = coming + going
            degrees = (coming, going, both) if directed else (both, both, both)
            vars(v).update(zip(("in_degree", "out_degree", "degree"), map(number, degrees), strict=True))

    def beside(self, v: Vertex, direction: int) -> Iterator[tuple[Edge, Vertex]]:
        """Yield v's edges in a direction, with the vertex across; a loop once for each end."""
        if direction and not self.directed:
            direction = words.ALL
        for mask, rows, forward in ((words.IN, self.incoming, False), (words.OUT, self.outgoing, True)):
            for e, nbr in rows[v] if direction & mask else ():
                vars(e)["forward"] = forward
                yield e, nbr

    def visit_order(self, ways: int | None, vertex_bytes: int) -> list[Visit]:
        """Return the order in which a program's ``visit`` reaches the edges."""
        if ways is None:
            ways = choose_ways(len(self.vertices), len(self.edges), vertex_bytes)
        place = {v: k for k, v in enumerate(self.vertices)}
        return visit_order([(place[u], place[w]) for u, w in self.ends], self.directed, ways)
