"""Clustering: how many of a vertex's neighbours are neighbours of each other.

Watts, Strogatz: Collective dynamics of small-world networks. Nature 393, 1998. For directed graphs
Fagiolo: Clustering in complex directed networks. Physical Review E 76, 2007, as NetworkX has it, or
LDBC Graphalytics' local clustering coefficient.
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph, unsaved
from gaslab.programs._columns import run
from gaslab.programs._neighbourhood import checked
from gaslab.programs._tool import Command, Option, Tool
from gaslab.programs.directed_triangles import BY_DIRECTION, DirectedTriangles, LocalClustering
from gaslab.programs.triangles import Triangles


class Clustering(Triangles):
    """Each vertex's `clustering` in an undirected graph, and the counts that it is computed from."""

    class Vertex(Triangles.Vertex):
        clustering: float = 0.0

    def divide(self, v: Vertex, total: int) -> None:
        v.triangles = total
        if v.neighbors > 1:
            v.clustering = 2.0 * total / (v.neighbors * (v.neighbors - 1))

    phases = (
        *Triangles.phases[:-1],
        gl.Phase(gather=Triangles.close, apply=divide, gather_edges=gl.ALL, supersteps=1),
    )


class DirectedClustering(DirectedTriangles):
    """Fagiolo's `clustering` of every vertex of a directed graph."""

    class Vertex(DirectedTriangles.Vertex):
        clustering: float = 0.0

    def divide(self, v: Vertex, total: int) -> None:
        v.cycle_triangles = total
        degree, both = len(v._sources) + len(v._targets), gl.common(v._sources, v._targets)
        pairs = degree * (degree - 1) - 2 * both
        triangles = v.in_triangles + v.out_triangles + v.through_triangles + total
        if triangles > 0:
            v.clustering = triangles / pairs

    phases = (
        *DirectedTriangles.phases[:-1],
        gl.Phase(gather=DirectedTriangles.to_sources, apply=divide, gather_edges=gl.OUT, supersteps=1),
    )


@collective(options="run")
def clustering(graph: gl.Graph, *, definition: str = "networkx", **options: Any) -> gl.Result:
    """Return the local clustering coefficient of every vertex, ``result.vertices["clustering"]`` (float64).

    Self-loops are ignored; a vertex with fewer than two neighbours has 0. In an undirected graph it
    is the fraction of pairs of neighbours that are adjacent, as in NetworkX's
    ``clustering`` and in LDBC Graphalytics. For directed graphs these two differ.

    Parameters
    ----------
    graph : Graph
        Without parallel edges.
    definition : {"networkx", "graphalytics"}
        For directed graphs: Fagiolo's, which weights triangles by all ways to direct them; or the number of
        edges between neighbours (in either direction) over the number possible.
    **options
        As for `gaslab.run`.

    Raises
    ------
    UsageError
        The graph has parallel edges, or the definition is unknown.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 1, 2, 2, 3], [2, 3, 3, 4, 4], directed=False)
    >>> gl.clustering(graph).vertices["clustering"].round(3)
    array([1.   , 0.667, 0.667, 1.   ])
    """
    check_graph(graph)
    definition = arguments.choice("definition", definition, ("networkx", "graphalytics"))
    directed = LocalClustering() if definition == "graphalytics" else DirectedClustering()
    result = run(directed if graph.directed else Clustering(), graph, **options)
    checked(graph, result)
    return result


@collective(options="run")
def transitivity(graph: gl.Graph, **options: Any) -> float:
    """Return the fraction of pairs of edges at a vertex that close a triangle, as in NetworkX.

    Parameters
    ----------
    graph : Graph
        Undirected, without parallel edges.
    **options
        As for `gaslab.run`.

    Raises
    ------
    UsageError
        The graph is directed, or has parallel edges.

    Examples
    --------
    >>> import gaslab as gl
    >>> gl.transitivity(gl.Graph.from_edges([1, 1, 2, 2, 3], [2, 3, 3, 4, 4], directed=False))
    0.75
    """
    check_graph(graph)
    if graph.directed:
        raise gl.UsageError("transitivity is defined only for undirected graphs; this one is directed")
    last = checked(graph, run(Triangles(), graph, **{**options, "on": "local"}))
    return last["corners"] / last["pairs"] if last["pairs"] else 0.0



def _both(graph: gl.Graph, *, definition: str, transitivity: bool, **options: Any) -> gl.Result:
    result = clustering(graph, definition=definition, **options)
    if not transitivity:
        return result
    figures = {"transitivity": TRANSITIVITY.function(graph, **unsaved(options))}
    return result.replaced(metrics={**result.metrics, "answer": figures})


TOOL = Tool(
    clustering, order=90,
    command=Command(
        "local clustering coefficients, transitivity",
        "Local clustering coefficients: how many pairs of neighbours are neighbours.",
        fields=("clustering",),
        options=(
            Option("definition", ("networkx", "graphalytics"), "for directed graphs, if named differently"),
            Option("transitivity", "flag", "of an undirected graph, too"),
        ),
        also=(*BY_DIRECTION, "triangles", "neighbors"), run=_both,
    ),
    answer="`clustering`", definition='`definition="networkx"` or `"graphalytics"`',
    source="Watts, Strogatz 1998; Fagiolo 2007", networkx="`clustering`",
)  # fmt: skip
TRANSITIVITY = Tool(
    transitivity, order=95,
    command="`gaslab clustering --transitivity`", answer="a number", definition="closed pairs of edges",
    networkx="`transitivity`",
)  # fmt: skip
