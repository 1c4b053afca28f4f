"""Katz centrality: how many ways lead to a vertex, each edge of a way making it count less.

Katz, A New Status Index Derived from Sociometric Analysis, Psychometrika 18, 1953. It is x in
x = alpha * (sum of x over in-neighbours) + beta, by iteration from 0 as in NetworkX.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import check_values, run
from gaslab.programs._power import PowerIteration, checked
from gaslab.programs._tool import Command, Option, Tool


class Katz(PowerIteration):
    """Each vertex's Katz centrality, `katz`; `_beta` is given (``init=``)."""

    alpha: float = 0.1
    normalized: bool = True

    class Vertex(PowerIteration.Vertex):
        katz: float = 0.0
        _beta: float = 1.0

    def gather(self, v: Vertex, e: PowerIteration.Edge, nbr: Vertex) -> gl.Sum[float]:
        if self.halve_loops and nbr.id == v.id:
            return 0.5 * e.weight * nbr._next
        return e.weight * nbr._next

    def apply(self, v: Vertex, total: float) -> None:
        score = self.alpha * total + v._beta
        v._moved = abs(score - v._next)
        v._next = score

    def scale(self, v: Vertex) -> None:
        v.katz = v._next / math.sqrt(self.squares) if self.normalized and self.squares > 0.0 else v._next

    phases = (gl.Phase(gather=gather, apply=apply, supersteps=1), gl.Phase(apply=scale, supersteps=1))


@collective(options="run", own=("columns", "init"))
def katz(
    graph: gl.Graph,
    alpha: float = 0.1,
    beta: float | Mapping[Any, float] = 1.0,
    *,
    weight: str | None = None,
    normalized: bool = True,
    max_iterations: int = 2000,
    tolerance: float = 1e-6,
    **options: Any,
) -> gl.Result:
    """Return Katz centrality, ``result.vertices["katz"]`` (float64).

    Parameters
    ----------
    graph : Graph
        Without parallel edges. Directed edges pass centrality to their targets; for the other direction use
        ``graph.reverse()``. A self-loop counts once.
    alpha : float
        Attenuation per edge of a walk; the iteration converges below 1 / the largest eigenvalue.
    beta : float or mapping
        The centrality that each vertex has on its own; a mapping has a number for each vertex id.
    weight : str, optional
        Edge column of finite weights, which may be negative; the largest magnitude is 1e-100 to 1e100.
    normalized : bool
        Scale to Euclidean norm 1.
    max_iterations : int
        Maximum number of supersteps, two per iteration; reaching it warns (ConvergenceWarning).
    tolerance : float
        Stop when the mean absolute change of the scores is below this.
    **options
        As for `gaslab.run`.

    Raises
    ------
    UsageError
        The graph has parallel edges, no such column, or a column with invalid values; *beta* leaves out a
        vertex.
    VertexNotFound
        An id in *beta* is not in the graph.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 3])
    >>> gl.katz(graph, 0.5, normalized=False).vertices["katz"]
    array([1.   , 1.5  , 1.75 , 1.875])
    """
    check_graph(graph)
    alpha = arguments.number("alpha", alpha)
    normalized = arguments.flag("normalized", normalized)
    tolerance = arguments.number("tolerance", tolerance, least=0)
    if isinstance(beta, Mapping):
        check_values("beta", beta, "finite numbers are needed")
        if len(beta) < graph.num_vertices:
            raise gl.UsageError(
                f"beta has {len(beta):,} of the {graph.num_vertices:,} vertices; a number for each is needed"
            )
    else:
        beta = arguments.number("beta", beta, hint=", or a mapping of vertex ids to such")
    column, halve = checked(graph, weight, "Katz centrality")
    options = {**options, "columns": {"weight": column}, "max_iterations": max_iterations}
    program = Katz(alpha=alpha, normalized=normalized, tolerance=tolerance, halve_loops=halve)
    return run(program, graph, **{**options, "init": {"_beta": beta}})


TOOL = Tool(
    katz, order=69,
    command=Command(
        "importance from all walks that end at a vertex (Katz)",
        "Katz centrality: all walks that end at a vertex, weighted by ALPHA to the power of their length.",
        fields=("katz",),
        options=(
            Option("weight", "column", "edge column with weights (default: every edge weighs 1)", "NAME"),
            Option("alpha", "real", "attenuation per edge of a walk (default 0.1)", "A"),
            Option("beta", "real", "base score of every vertex (default 1)", "B"),
            Option("tolerance", "number", "stop at this mean change of the scores (default 1e-6)", "T"),
        ),
        columns="weighted",
    ),
    answer="`katz`", definition="x = alpha * (sum of x over in-neighbours) + beta, of Euclidean length 1",
    source="Katz 1953",
    networkx="`katz_centrality`",
)  # fmt: skip
