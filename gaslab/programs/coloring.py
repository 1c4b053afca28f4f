"""Greedy colouring: in a given order, every vertex takes the smallest colour that no neighbour has.

Welsh and Powell, An Upper Bound for the Chromatic Number of a Graph, 1967 (by degree); Jones and
Plassmann, A Parallel Graph Coloring Heuristic, 1993: a vertex chooses as soon as all neighbours before
it have chosen, so the colours are those of a sequential pass, on any number of ranks. Brélaz, New
Methods to Color the Vertices of a Graph, CACM 22, 1979 (by saturation).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.engine.engines import Async, engine_of
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph, is_async
from gaslab.programs._columns import run
from gaslab.programs._loops import warn_of_self_loops
from gaslab.programs._tool import Command, Option, Tool
from gaslab.programs.unordered import FreeColors


class Coloring(gl.VertexProgram):
    """Each vertex's `color`, from 0; vertices of high degree choose first if `by_degree`, then by id."""

    by_degree: bool = False
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        color: int = -1

    @gl.aggregator(every=gl.Phase)
    def last(self, v: Vertex) -> gl.Max[int]:
        return v.color

    def before(self, a: Vertex, b: Vertex) -> bool:
        if self.by_degree and a.degree != b.degree:
            return a.degree > b.degree
        return a.id < b.id

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[int]:
        return nbr.color if nbr.color >= 0 or self.before(nbr, v) else None

    def apply(self, v: Vertex, total: gl.SortedSet[int]) -> None:
        if len(total) == 0 or total[0] >= 0:  # -1: a neighbour before this one has not chosen
            v.color = gl.mex(total)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.color >= 0 and nbr.color < 0:
            nbr.signal()


class SaturationColoring(gl.VertexProgram):
    """Each vertex's `color`, from 0; the most colours among neighbours first, then degree, then id.

    A vertex chooses as soon as it comes before all its neighbours; Brélaz's DSATUR orders the whole
    graph, one vertex at a time.
    """

    class Vertex(gl.Vertex):
        color: int = -1
        _free: int = 0  # the smallest colour that no neighbour has
        _seen: int = 0  # colours of neighbours

    @gl.aggregator(every=gl.Phase)
    def last(self, v: Vertex) -> gl.Max[int]:
        return v.color

    @gl.aggregator(every=gl.Phase)
    def rest(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v.color < 0 else 0

    def colorless(self, v: Vertex) -> bool:
        return v.color < 0

    def colors(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[int]:
        return nbr.color if nbr.color >= 0 else None

    def look(self, v: Vertex, total: gl.SortedSet[int]) -> None:
        v._free = gl.mex(total)
        v._seen = len(total)

    def waits(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[bool]:
        if nbr.color >= 0 or nbr.id == v.id:
            return False
        if nbr._seen != v._seen:
            return nbr._seen > v._seen
        return nbr.degree > v.degree or (nbr.degree == v.degree and nbr.id < v.id)

    def choose(self, v: Vertex, total: bool) -> None:
        if not total:
            v.color = v._free

    def done(self) -> bool:
        return self.rest == 0

    phases = (
        gl.Phase(active=colorless, gather=colors, apply=look, gather_edges=gl.ALL, supersteps=1),
        gl.Phase(active=colorless, gather=waits, apply=choose, gather_edges=gl.ALL, supersteps=1),
    )


ORDERS = {"id": Coloring(), "degree": Coloring(by_degree=True), "saturation": SaturationColoring()}


@collective(options="run")
def coloring(graph: gl.Graph, *, order: str = "degree", **options: Any) -> gl.Result:
    """Colour the vertices so that neighbours differ, ``result.vertices["color"]`` (int64, from 0).

    ``result.metrics["answer"]["colors"]`` is the number of colours.

    Parameters
    ----------
    graph : Graph
        Edge directions are ignored. So are self-loops, as in NetworkX, with a warning: no colour differs
        from itself.
    order : {"degree", "id", "saturation"}
        Which vertices choose first: those of largest degree (NetworkX's ``"largest_first"`` with nodes in
        the order of their ids); those with the smallest ids; or those with the most colours among their
        neighbours (few colours, many supersteps).
    **options
        As for `gaslab.run`; ``engine=gl.Async(consistency="serialisable")`` runs `FreeColors`, in which
        each vertex chooses when its turn comes.

    Raises
    ------
    UsageError
        The engine has no supersteps, and an *order* is given or neighbours may run at once.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2, 3, 3], [2, 3, 1, 4], directed=False)
    >>> result = gl.coloring(graph)
    >>> result.vertices["color"], result.metrics["answer"]
    (array([1, 2, 0, 1]), {'colors': 3})
    """
    check_graph(graph)
    order = arguments.choice("order", order, ORDERS)
    warn_of_self_loops(graph, "colouring ignores them: a vertex cannot differ in colour from itself")
    result = run(_without_supersteps(order, options) or ORDERS[order], graph, **options)
    colors = int(result.aggregates["last"]) + 1 if graph.num_vertices else 0
    return result.replaced(metrics={**result.metrics, "answer": {"colors": colors}})


def _without_supersteps(order: str, options: Mapping[str, Any]) -> gl.VertexProgram | None:
    """Return the program of a run without supersteps; None of another."""
    if not is_async(options):
        return None
    if order != "degree":
        raise gl.UsageError(
            f"order={order!r} needs supersteps: with engine='async' vertices choose when their turn comes; "
            "leave order= (--order) out"
        )
    engine = engine_of(options["engine"])
    if not isinstance(engine, Async) or engine.consistency != "serialisable":
        raise gl.UsageError(
            "neighbours that run at once may choose one colour; with engine='async' write "
            "engine=gl.Async(consistency='serialisable') (--consistency serialisable)"
        )
    return FreeColors()


TOOL = Tool(
    coloring, order=110,
    command=Command(
        "a vertex colouring (greedy)",
        "Greedy colouring: neighbours have different colours, and few colours are used.",
        fields=("color",), show="groups",
        options=(
            Option(
                "order", ("degree", "id", "saturation"),
                "order in which vertices choose (default: by degree, largest first)",
            ),
        ),
    ),
    answer="`color`", definition="greedy in the order of degrees, of ids or of saturation",
    source="Welsh, Powell 1967; Jones, Plassmann 1993; Brélaz 1979",
    networkx="`greedy_color`: `largest_first` is by degree; `DSATUR` is near to by saturation",
)  # fmt: skip
