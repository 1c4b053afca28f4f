"""Strongly connected components by trimming and colouring.

Orzan, On Distributed Verification and Verified Distribution, 2004 (colouring); Salihoglu and Widom,
Optimizing Graph Algorithms on Pregel-like Systems, VLDB 2014. A vertex with no remaining
in-neighbour, or no remaining out-neighbour, is a component by itself. Then every vertex gets the smallest id
that reaches it, its colour; the vertices that reach the vertex of their colour, within the colour, are its
component. The remaining vertices go through the phases again.
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import run
from gaslab.programs.components import components


class StrongComponents(gl.VertexProgram):
    """Each vertex's `component`: the smallest id among those it reaches and is reached from."""

    class Vertex(gl.Vertex):
        component: gl.VertexId
        _color: gl.VertexId
        _left: bool = True  # in no component yet

    @gl.aggregator(every=gl.Phase)
    def rest(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v._left else 0

    def left(self, v: Vertex) -> bool:
        return v._left

    def others(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[bool]:
        return nbr._left and nbr.id != v.id

    def trim(self, v: Vertex, total: bool) -> None:
        v.component = v.id
        v._color = v.id
        v._left = total

    def untie(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr._left and not v._left:
            nbr.signal()

    def recolor(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v._color = min(v._color, message)

    def spread(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr._left and v._color < nbr._color:
            nbr.signal(v._color)

    def root(self, v: Vertex) -> bool:
        return v._left and v._color == v.id

    def collect(self, v: Vertex) -> None:
        v.component = v._color
        v._left = False

    def trace(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr._left and nbr._color == v._color:
            nbr.signal()

    def done(self) -> bool:
        return self.rest == 0

    phases = (
        gl.Phase(
            start=left, gather=others, apply=trim, scatter=untie, gather_edges=gl.IN, scatter_edges=gl.OUT
        ),
        gl.Phase(
            start=left, gather=others, apply=trim, scatter=untie, gather_edges=gl.OUT, scatter_edges=gl.IN
        ),
        gl.Phase(start=left, apply=recolor, scatter=spread, scatter_edges=gl.OUT),
        gl.Phase(start=root, apply=collect, scatter=trace, scatter_edges=gl.IN),
    )


@collective(options="run")
def strong_components(graph: gl.Graph, **options: Any) -> gl.Result:
    """Return strongly connected components, ``result.vertices["component"]`` (the smallest id in each).

    Parameters
    ----------
    graph : Graph
        In an undirected graph they are the components.
    **options
        As for `gaslab.run`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2, 3, 3], [2, 3, 1, 4])
    >>> gl.strong_components(graph).vertices["component"]
    array([1, 1, 1, 4])
    """
    check_graph(graph)
    return run(StrongComponents(), graph, **options) if graph.directed else components(graph, **options)
