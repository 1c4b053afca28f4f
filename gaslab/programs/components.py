"""Weakly connected components: a search, smallest labels on the rest, pointer jumping on what is far.

In most graphs nearly all vertices hang together, and near. One search by plain signals from the largest
vertex finds them, and where its frontier is large its targets look for it, each only until the first hit.
What is left over is small and passes labels on. (Slota, Rajamanickam and Madduri: BFS and coloring-based
parallel algorithms for strongly connected components and related problems, IPDPS 2014.) Where either takes
long, vertices point at smaller and smaller vertices of their component: that of a neighbour, or of the one
that they point at (Shiloach and Vishkin: An O(log n) parallel connectivity algorithm, 1982; the supersteps
are those of Zhang, Azad and Hu: FastSV, 2020). The label of a component is its smallest member, as in LDBC
Graphalytics.
"""

from __future__ import annotations

import math
from typing import Any

import gaslab as gl
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import is_async
from gaslab.programs._columns import run
from gaslab.programs._tool import Command, Tool
from gaslab.programs.unordered import SmallestLabel

NEAR = 8  # supersteps of a search after which its growth is looked at for the first time
SEARCHED, AT_MOST = 2 * NEAR, 4096  # supersteps of a search that is far from its end, and of any
PER_SUPERSTEP = 1000  # vertices and ends of edges that may be looked at to save a superstep of a search
PASSED = 12  # supersteps in which labels are passed on at most
JOINED = 6  # supersteps from one look at whether all point at the smallest to the next
NEVER = 1 << 62
NOT_YET, IN_NEAR, IN_FAR, ON_EDGE, BEYOND, LAST = range(6)  # when the search found a vertex


class Components(gl.VertexProgram):
    """Each vertex's `component`: the smallest id among the vertices it is weakly connected to."""

    class Vertex(gl.Vertex):
        component: gl.VertexId = gl.NOBODY
        _further: gl.VertexId = gl.lookup("component.component")
        _found: gl.int8 = NOT_YET
        _passed: gl.int32 = 0  # the last superstep in which it took a label, from 1
        _open: bool = False  # it takes part in pointer jumping
        _moved: bool = False

    class Seen(gl.Accumulator):
        near: int
        far: int
        cut: gl.Max[bool]
        last: gl.Max[bool]
        first_passed: gl.Min[int]
        last_passed: gl.Max[int]
        moved: gl.Max[bool]

    @gl.aggregator(every=gl.Phase)
    def hub(self, v: Vertex) -> gl.ArgMax[int, gl.VertexId]:
        return v.degree, v.id

    @gl.aggregator(every=gl.Phase)
    def smallest(self, v: Vertex) -> gl.Min[gl.VertexId]:
        return v.id if v._found != NOT_YET else gl.NOBODY

    @gl.aggregator(every=gl.Phase)
    def seen(self, v: Vertex) -> Seen:
        near = 1 if v._found == IN_NEAR else 0
        far = 1 if IN_NEAR <= v._found <= ON_EDGE else 0
        cut, last = v._found == ON_EDGE, v._found == LAST
        return self.Seen(
            near=near, far=far, cut=cut, last=last, moved=v._moved,
            first_passed=v._passed if v._passed > 0 else NEVER, last_passed=v._passed,
        )  # fmt: skip

    def ends_soon(self) -> bool:
        """Return whether the search, if it grows as before, will soon have found all vertices."""
        growth = math.log2(self.seen.far / self.seen.near)  # a power of the supersteps, as they are doubled
        supersteps = SEARCHED * (self.num_vertices / self.seen.far) ** (1.0 / growth)
        return bool(supersteps < (self.num_vertices + 2 * self.num_edges) / PER_SUPERSTEP)

    def is_hub(self, v: Vertex) -> bool:
        return v._found == NOT_YET and v.id == self.hub[1]

    def find(self, v: Vertex) -> None:
        if self.superstep < NEAR:
            v._found = IN_NEAR
        else:
            v._found = IN_FAR if self.superstep < SEARCHED - 1 else ON_EDGE

    def goes_on(self, v: Vertex) -> bool:
        return v._found == ON_EDGE and self.ends_soon()

    def find_more(self, v: Vertex) -> None:
        if v._found == NOT_YET:
            v._found = BEYOND if self.superstep < AT_MOST - 1 else LAST

    def search(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr._found == NOT_YET:
            nbr.signal()

    def is_broken_off(self) -> bool:
        return self.seen.last or (self.seen.cut and not self.ends_soon())

    def is_left(self, v: Vertex) -> bool:
        return v.degree > 0 and v.component == gl.NOBODY and v._found == NOT_YET and not self.is_broken_off()

    def take(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.component = min(v.id, v.component, message)
        v._passed = self.superstep + 1

    def pass_on(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.component < nbr.component:
            nbr.signal(v.component)

    def is_new(self, v: Vertex) -> bool:
        return not self.seen.moved

    def name(self, v: Vertex) -> None:
        v.component = self.smallest if v._found != NOT_YET else min(v.id, v.component)
        left = v._found == NOT_YET and self.seen.last_passed - self.seen.first_passed == PASSED - 1
        v._open = v.degree > 0 and (left or self.is_broken_off())

    def is_open(self, v: Vertex) -> bool:
        return v._open

    def theirs(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.component

    def join(self, v: Vertex, total: gl.VertexId, message: gl.Min[gl.VertexId]) -> None:
        least = min(v.component, v._further, total, message)
        v._moved = least < v.component
        if v._moved:
            self.signal(v.component, least)
        v.component = least

    def done(self) -> bool:
        return not self.seen.moved

    phases = (
        gl.Phase(start=is_hub, apply=find, scatter=search, scatter_edges=gl.ALL, supersteps=SEARCHED),
        gl.Phase(
            start=goes_on, apply=find_more, scatter=search, scatter_edges=gl.ALL,
            supersteps=AT_MOST - SEARCHED,
        ),
        gl.Phase(start=is_left, apply=take, scatter=pass_on, scatter_edges=gl.ALL, supersteps=PASSED),
        gl.Phase(start=is_new, apply=name, supersteps=1),
        gl.Phase(active=is_open, gather=theirs, apply=join, gather_edges=gl.ALL, supersteps=JOINED),
    )


@collective(options="run")
def components(graph: gl.Graph, **options: Any) -> gl.Result:
    """Return weakly connected components, ``result.vertices["component"]`` (the smallest id in each).

    Parameters
    ----------
    graph : Graph
        Edge directions are ignored.
    **options
        As for `gaslab.run`; ``engine="async"`` runs `SmallestLabel`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2, 7], [2, 3, 8])
    >>> gl.components(graph).vertices["component"]
    array([1, 1, 1, 7, 7])
    """
    unordered = is_async(options)
    return run(SmallestLabel() if unordered else Components(), graph, **options)


TOOL = Tool(
    components, order=30,
    command=Command(
        "weakly connected components",
        "Weakly connected components, each named by its smallest vertex id.",
        fields=("component",), show="groups",
    ),
    answer="`component`", definition="smallest id in the weak component",
    source="Shiloach, Vishkin 1982; Slota, Rajamanickam, Madduri 2014; Zhang, Azad, Hu 2020",
    networkx="`weakly_connected_components`",
)  # fmt: skip
