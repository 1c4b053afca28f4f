"""Power iteration: what eigenvector and Katz centrality share."""

from __future__ import annotations

import gaslab as gl
from gaslab.programs._columns import LARGEST, check_scale, weights
from gaslab.programs._loops import count_self_loops
from gaslab.programs._parallel_edges import refuse_parallel_edges


class PowerIteration(gl.VertexProgram):
    """A sum over in-neighbours until the sum of changes is below `tolerance` for each vertex."""

    tolerance: float = 1e-6
    halve_loops: bool = False  # in an undirected graph, where a gather meets a self-loop twice

    class Vertex(gl.Vertex):
        _next: float = 0.0  # before it is scaled
        _moved: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    @gl.aggregator
    def squares(self, v: Vertex) -> gl.Sum[float]:
        return v._next * v._next

    @gl.aggregator
    def change(self, v: Vertex) -> gl.Sum[float]:
        return v._moved

    def done(self) -> bool:
        return self.change < self.tolerance * self.num_vertices


def checked(graph: gl.Graph, weight: str | None, what: str) -> tuple[str | None, bool]:
    """Return the column of weights, and whether self-loops count half (collective).

    Raises UsageError for parallel edges, for no such column, and for weights that are not finite or out of
    scale.
    """
    column = weights(graph, weight, least=-LARGEST)
    check_scale(graph, weight, "the iteration sums products of two weights", 1e-100, 1e100)
    refuse_parallel_edges(graph, what)
    return column, not graph.directed and count_self_loops(graph) > 0
