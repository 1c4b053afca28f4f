"""A maximal independent set: the greedy one for an order of vertices, decided in parallel.

Luby, A Simple Parallel Algorithm for the Maximal Independent Set Problem, 1986; Blelloch, Fineman and
Shun, Greedy Sequential Maximal Independent Set and Matching are Parallel on Average, SPAA 2012. A
vertex is in as soon as all neighbours before it are out, and out as soon as one is in. So the set is
what a sequential pass in this order finds, on any number of ranks; a random order takes few supersteps.
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import run
from gaslab.programs._loops import warn_of_self_loops
from gaslab.programs._tool import Command, Option, Tool

OUT_OF_SET, WAIT, IN_SET = 0, 1, 2  # what the neighbours before a vertex say, the strongest last


class IndependentSet(gl.VertexProgram):
    """Whether each vertex is a `member`; those with the smallest `_rank` choose first, then by id."""

    by_id: bool = False
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        _rank: float = 0.0
        member: bool = False
        _decided: bool = False

    def init(self, v: Vertex) -> None:
        v._rank = 0.0 if self.by_id else gl.uniform()

    def before(self, a: Vertex, b: Vertex) -> bool:
        return a._rank < b._rank or (a._rank == b._rank and a.id < b.id)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
        if nbr.member:
            return IN_SET
        return WAIT if self.before(nbr, v) and not nbr._decided else OUT_OF_SET

    def apply(self, v: Vertex, total: int) -> None:
        if total != WAIT:
            v._decided = True
            v.member = total != IN_SET

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v._decided and not nbr._decided:
            nbr.signal()


@collective(options="run")
def mis(graph: gl.Graph, *, order: str = "random", **options: Any) -> gl.Result:
    """Return a maximal independent set, ``result.vertices["member"]`` (bool).

    No two members are neighbours, and every other vertex has a neighbour that is a member. It is the set that
    a pass over the vertices in the given order finds.

    Parameters
    ----------
    graph : Graph
        Edge directions are ignored. So are self-loops, with a warning: a member would be its own neighbour.
    order : {"random", "id"}
        Which vertices choose first. A random order depends on the seed and takes few supersteps; by id, a
        path takes as many supersteps as it is long.
    **options
        As for `gaslab.run`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 2, 3, 4], [2, 3, 4, 5])
    >>> gl.mis(graph, order="id").vertices["member"]
    array([ True, False,  True, False,  True])
    >>> gl.mis(graph, seed=2).vertices["member"]
    array([ True, False,  True, False,  True])
    """
    check_graph(graph)
    order = arguments.choice("order", order, ("random", "id"))
    warn_of_self_loops(graph, "the independent set ignores them: a member may be its own neighbour")
    return run(IndependentSet(by_id=order == "id"), graph, **options)


TOOL = Tool(
    mis, order=120,
    command=Command(
        "a maximal independent set",
        "A maximal independent set: no two members are neighbours, and every other vertex has one.",
        fields=("member",), show="members",
        options=(
            Option("order", ("random", "id"), "order in which vertices choose (default: random, by --seed)"),
        ),
    ),
    answer="`member`", definition="greedy, in random order or by id",
    source="Luby 1986; Blelloch, Fineman, Shun 2012", networkx="`maximal_independent_set` (another set)",
)  # fmt: skip
