"""Programs of the toolkit for runs without supersteps, where each vertex only ever comes nearer the answer.

Components by the smallest label; core numbers from above: Montresor, De Pellegrini and Miorandi, Distributed
k-Core Decomposition, IEEE TPDS 24, 2013. `gaslab.components` and `gaslab.kcore` choose them. And a colouring,
which needs that no two neighbours run at once: `gaslab.coloring` chooses it.
"""

from __future__ import annotations

import gaslab as gl

PARTS = 16
WINDOW = 62  # colours in an int, which stays positive


class SmallestLabel(gl.VertexProgram):
    """Each vertex's `component`: the smallest id among the vertices it is weakly connected to."""

    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        component: gl.VertexId

    def init(self, v: Vertex) -> None:
        v.component = v.id

    def apply(self, v: Vertex, message: gl.Min[gl.VertexId]) -> None:
        v.component = min(v.component, message)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.component < nbr.component:
            nbr.signal(v.component)


class FallingCores(gl.VertexProgram):
    """Each vertex's `core`, which starts at its degree and falls while too few neighbours reach it.

    A vertex keeps no list of its neighbours' cores: it counts them by sixteenths of its own. If fewer than t
    of them reach t, its own core is below t; it looks again until this holds for no t.
    """

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        core: gl.int32 = 0
        _fell: bool = False

    class Counts(gl.Accumulator):
        of: gl.Vector = gl.field(shape=PARTS + 1, dtype=gl.int64)

    def init(self, v: Vertex) -> None:
        v.core = v.degree

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Counts:
        return self.Counts(of=gl.at(min(PARTS * nbr.core // v.core, PARTS)))

    def apply(self, v: Vertex, total: Counts) -> None:
        core, have = v.core, 0
        for k in range(PARTS):
            have += total.of[PARTS - k]
            least = (v.core * (PARTS - k) + PARTS - 1) // PARTS
            if have < least:
                core = min(core, least - 1)
        v._fell = core < v.core
        if v._fell:
            v.core = core
            v.signal()

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v._fell and nbr.core > v.core:
            nbr.signal()


class FreeColors(gl.VertexProgram):
    """Each vertex's `color`: the smallest, from 0, that no neighbour has when its turn comes.

    It looks at a window of colours at a time, the bits of an int; if all are taken, at the next window.
    """

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        color: int = -1
        _first: int = 0  # of the window

    @gl.aggregator(every=gl.Phase)
    def last(self, v: Vertex) -> gl.Max[int]:
        return v.color

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.BitOr[int]:
        k = nbr.color - v._first
        return 1 << k if 0 <= k < WINDOW and nbr.id != v.id else 0

    def apply(self, v: Vertex, total: int) -> None:
        if v.color < 0:
            if total == (1 << WINDOW) - 1:
                v._first += WINDOW
                v.signal()
            else:
                v.color = v._first + (total & ~(total + 1)).bit_count()  # the ones before the first zero
