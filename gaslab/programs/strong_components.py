"""Strongly connected components by trimming and colouring, and by pointer jumping along what is long.

Orzan, On Distributed Verification and Verified Distribution, 2004 (colouring); Salihoglu and Widom,
Optimizing Graph Algorithms on Pregel-like Systems, VLDB 2014. A vertex with no remaining
in-neighbour, or no remaining out-neighbour, is a component by itself. Then every vertex gets the smallest id
that reaches it, its colour; the vertices that reach the vertex of their colour, within the colour, are its
component. The remaining vertices go through the phases again.

Where that takes long, vertices with one remaining in-neighbour point at it, and at what it points at, over
ways that double (Wyllie, The complexity of parallel computations, 1979). Who comes so to a vertex without
any is a component by itself; who goes round and round is on a cycle that nobody else enters, or hangs on
one. The same holds for out-neighbours.
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import run
from gaslab.programs._tool import Command, Tool
from gaslab.programs.components import components

TRIMMED, COLORED = 12, 30  # supersteps after which trimming, or colouring, takes long


class StrongComponents(gl.VertexProgram):
    """Each vertex's `component`: the smallest id among the vertices it reaches and is reached from."""

    class Vertex(gl.Vertex):
        component: gl.VertexId
        _color: gl.VertexId
        _left: bool = True  # in no component yet
        _ran: gl.int32 = 0  # in which superstep last, from 1; so below
        _trimmed: gl.int32 = 0
        _settled: gl.int32 = 0
        _late: bool = False  # it ran in the last superstep that a phase has
        _tied: bool = False  # it has one neighbour left; it points there, and on from there
        _ahead: gl.VertexId
        _next_ahead: gl.VertexId = gl.lookup("_ahead._ahead")
        _ahead_tied: bool = gl.lookup("_ahead._tied")
        _least: gl.VertexId  # on the way
        _ahead_least: gl.VertexId = gl.lookup("_ahead._least")
        _way: int = 0  # its length
        _walks: bool = False
        _circles: bool = False  # its way is longer than all that is left
        _on_cycle: bool = False

    class Ends(gl.Accumulator):
        low: gl.Min[gl.VertexId]
        high: gl.Max[gl.VertexId]

    @gl.aggregator(every=gl.Phase)
    def rest(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v._left else 0

    class Clock(gl.Accumulator):
        ran: gl.Max[int]
        trimmed: gl.Max[int]
        settled: gl.Max[int]

    @gl.aggregator(every=gl.Phase)
    def clock(self, v: Vertex) -> Clock:
        return self.Clock(ran=v._ran, trimmed=v._trimmed, settled=v._settled)

    @gl.aggregator(every=gl.Phase)
    def is_long(self, v: Vertex) -> gl.Max[bool]:
        return v._late

    def is_late(self, supersteps: int) -> bool:
        """Return whether this is the last of this many supersteps of the phase."""
        return bool(self.superstep - self.clock.ran == supersteps - 1)

    def left(self, v: Vertex) -> bool:
        return v._left

    def left_if_short(self, v: Vertex) -> bool:
        return v._left and not self.is_long

    def left_if_long(self, v: Vertex) -> bool:
        return v._left and self.is_long

    def left_for_long(self, v: Vertex) -> bool:
        """Return whether no vertex was settled since the last trimming: then there is nothing new to trim."""
        return v._left and self.is_long and self.clock.settled < self.clock.trimmed

    def others(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[bool]:
        return nbr._left and nbr.id != v.id

    def trim(self, v: Vertex, total: bool) -> None:
        v.component = v.id
        v._color = v.id
        v._left = total
        v._ran = v._trimmed = self.superstep + 1
        v._late = v._late or self.is_late(TRIMMED)

    def untie(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr._left and not v._left:
            nbr.signal()

    def recolor(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v._color = min(v._color, message)
        v._ran = self.superstep + 1
        v._late = v._late or self.is_late(COLORED)

    def spread(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr._left and v._color < nbr._color:
            nbr.signal(v._color)

    def root_if_short(self, v: Vertex) -> bool:
        return v._left and v._color == v.id and not self.is_long

    def root_if_long(self, v: Vertex) -> bool:
        return v._left and v._color == v.id and self.is_long and self.clock.settled < self.clock.trimmed

    def collect(self, v: Vertex) -> None:
        v.component = v._color
        v._left = False
        v._ran = self.superstep + 1

    def trace(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr._left and nbr._color == v._color:
            nbr.signal()

    def ends(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Ends:
        return self.Ends(low=nbr.id, high=nbr.id) if nbr._left and nbr.id != v.id else self.Ends()

    def tie(self, v: Vertex, total: Ends) -> None:
        v._tied = v._walks = total.low != gl.NOBODY and total.low == total.high
        v._ahead = total.low if v._tied or total.low == gl.NOBODY else v.id
        v._least = v.id
        v._way = 1
        v._circles = v._on_cycle = False
        v._ran = self.superstep + 1

    def walks(self, v: Vertex) -> bool:
        return v._left and v._walks and self.is_long

    def walk(self, v: Vertex) -> None:
        v._circles = v._ahead_tied and v._way >= self.rest
        v._walks = v._ahead_tied and not v._circles
        if v._walks:
            v._least = min(v._least, v._ahead_least)
            v._way = 2 * v._way
        if not v._circles:
            v._ahead = v._next_ahead
        v._ran = self.superstep + 1

    def circles(self, v: Vertex) -> bool:
        return v._left and v._circles

    def mark(self, v: Vertex, message: gl.Max[bool]) -> None:
        if message:
            v._on_cycle = True
        else:
            self.signal(v._ahead, True)
        v._ran = self.superstep + 1

    def is_known(self, v: Vertex) -> bool:
        return v._left and self.is_long and (v._circles or v._ahead == gl.NOBODY)

    def settle(self, v: Vertex) -> None:
        v.component = v._least if v._on_cycle else v.id
        v._left = False
        v._ran = v._settled = self.superstep + 1

    def done(self) -> bool:
        return self.rest == 0

    phases = (
        gl.Phase(
            start=left, gather=others, apply=trim, scatter=untie, gather_edges=gl.IN, scatter_edges=gl.OUT,
            supersteps=TRIMMED,
        ),
        gl.Phase(
            start=left, gather=others, apply=trim, scatter=untie, gather_edges=gl.OUT, scatter_edges=gl.IN,
            supersteps=TRIMMED,
        ),
        gl.Phase(
            start=left_if_short, apply=recolor, scatter=spread, scatter_edges=gl.OUT, supersteps=COLORED
        ),
        gl.Phase(start=root_if_short, apply=collect, scatter=trace, scatter_edges=gl.IN),
        gl.Phase(start=left_if_long, gather=ends, apply=tie, gather_edges=gl.IN, supersteps=1),
        gl.Phase(active=walks, apply=walk),
        gl.Phase(start=circles, apply=mark, supersteps=2),
        gl.Phase(start=is_known, apply=settle, supersteps=1),
        gl.Phase(start=left_if_long, gather=ends, apply=tie, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(active=walks, apply=walk),
        gl.Phase(start=circles, apply=mark, supersteps=2),
        gl.Phase(start=is_known, apply=settle, supersteps=1),
        gl.Phase(start=left_for_long, apply=recolor, scatter=spread, scatter_edges=gl.OUT),
        gl.Phase(start=root_if_long, apply=collect, scatter=trace, scatter_edges=gl.IN),
    )  # fmt: skip


@collective(options="run")
def strong_components(graph: gl.Graph, **options: Any) -> gl.Result:
    """Return strongly connected components, ``result.vertices["component"]`` (the smallest id in each).

    Parameters
    ----------
    graph : Graph
        In an undirected graph these are the connected components.
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


TOOL = Tool(
    strong_components, order=40,
    command=Command(
        "strongly connected components",
        "Strongly connected components, each named by its smallest vertex id.",
        fields=("component",), show="groups",
    ),
    answer="`component`", definition="smallest id in the strong component",
    source="Wyllie 1979; Orzan 2004; Salihoglu, Widom 2014", networkx="`strongly_connected_components`",
)  # fmt: skip
