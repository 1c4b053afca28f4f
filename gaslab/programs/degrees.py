"""Degrees of every vertex; parallel edges count each, a self-loop once in and once out."""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.parallel.collective import collective
from gaslab.programs._columns import run
from gaslab.programs._tool import Command, Tool


class Degrees(gl.VertexProgram):
    """Each vertex's `in_edges`, `out_edges` and `edges`."""

    class Vertex(gl.Vertex):
        in_edges: int = 0
        out_edges: int = 0
        edges: int = 0

    def init(self, v: Vertex) -> None:
        v.in_edges, v.out_edges, v.edges = v.in_degree, v.out_degree, v.degree


@collective(options="run")
def degrees(graph: gl.Graph, **options: Any) -> gl.Result:
    """Return degrees, ``result.vertices["in_edges" | "out_edges" | "edges"]`` (int64).

    In an undirected graph all three are the degree, and a self-loop counts twice.

    Examples
    --------
    >>> import gaslab as gl
    >>> gl.degrees(gl.Graph.from_edges([0, 0, 1], [1, 2, 2])).vertices["edges"]
    array([2, 2, 2])
    """
    return run(Degrees(), graph, **options)


TOOL = Tool(
    degrees, order=190,
    command=Command(
        "in-, out- and total degree of every vertex",
        "Degrees: each parallel edge counts, and a self-loop counts once in and once out.",
        fields=("in_edges", "out_edges", "edges"),
    ),
    answer="`in_edges`, `out_edges`, `edges`",
    definition="each parallel edge counts; a self-loop counts twice in `edges`",
    networkx="`in_degree`, `out_degree`, `degree`",
)  # fmt: skip
