"""Eigenvector centrality: a vertex is as central as the vertices that point at it, together.

Bonacich, Power and Centrality, Am. J. Sociology 92, 1987; before him Landau 1895. Power iteration with A + I,
which has the eigenvectors of A and converges where A has eigenvalues of the same size (as NetworkX does).
A vertex keeps its part of the next vector unscaled until the aggregator has the length of the whole.
"""

from __future__ import annotations

import math
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import run
from gaslab.programs._power import PowerIteration, checked
from gaslab.programs._tool import Command, Option, Tool


class Eigenvector(PowerIteration):
    """Each vertex's eigenvector centrality, `eigenvector`."""

    class Vertex(PowerIteration.Vertex):
        eigenvector: float = 0.0

    def init(self, v: Vertex) -> None:
        v.eigenvector = 1.0 / self.num_vertices
        v._moved = 1.0

    def gather(self, v: Vertex, e: PowerIteration.Edge, nbr: Vertex) -> gl.Sum[float]:
        if self.halve_loops and nbr.id == v.id:
            return 0.5 * e.weight * nbr.eigenvector
        return e.weight * nbr.eigenvector

    def apply(self, v: Vertex, total: float) -> None:
        v._next = v.eigenvector + total

    def scale(self, v: Vertex) -> None:
        score = v._next / math.sqrt(self.squares) if self.squares > 0.0 else v._next
        v._moved = abs(score - v.eigenvector)
        v.eigenvector = score

    phases = (gl.Phase(gather=gather, apply=apply, supersteps=1), gl.Phase(apply=scale, supersteps=1))


@collective(options="run", own=("columns",))
def eigenvector(
    graph: gl.Graph,
    *,
    weight: str | None = None,
    max_iterations: int = 200,
    tolerance: float = 1e-6,
    **options: Any,
) -> gl.Result:
    """Return eigenvector centrality, ``result.vertices["eigenvector"]`` (float64, of Euclidean norm 1).

    Parameters
    ----------
    graph : Graph
        Without parallel edges. Directed edges pass centrality to their targets; for the other
        direction use ``graph.reverse()``. A self-loop counts once.
    weight : str, optional
        Edge column of finite weights, which may be negative; the largest magnitude is 1e-100 to 1e100.
    max_iterations : int
        Maximum number of supersteps, two per iteration; reaching it warns (ConvergenceWarning).
    tolerance : float
        Stop when the mean absolute change of the scores is below this.
    **options
        As for `gaslab.run`; ``init=`` may give the initial scores, by default all equal.

    Raises
    ------
    UsageError
        The graph has parallel edges, no such column, or a column with invalid values.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 3], directed=False)
    >>> gl.eigenvector(graph).vertices["eigenvector"].round(2)
    array([0.37, 0.6 , 0.6 , 0.37])
    """
    check_graph(graph)
    tolerance = arguments.number("tolerance", tolerance, least=0)
    column, halve = checked(graph, weight, "eigenvector centrality")
    options = {**options, "columns": {"weight": column}, "max_iterations": max_iterations}
    return run(Eigenvector(tolerance=tolerance, halve_loops=halve), graph, **options)


TOOL = Tool(
    eigenvector, order=68,
    command=Command(
        "importance from the importance of in-neighbours (eigenvector)",
        "Eigenvector centrality: a vertex's importance is the sum of those that point at it, scaled.",
        fields=("eigenvector",),
        options=(
            Option("weight", "column", "edge column with weights (default: every edge weighs 1)", "NAME"),
            Option("tolerance", "number", "stop at this mean change of the scores (default 1e-6)", "T"),
        ),
        columns="weighted",
    ),
    answer="`eigenvector`", definition="of Euclidean length 1",
    source="Bonacich 1987",
    networkx="`eigenvector_centrality`",
)  # fmt: skip
