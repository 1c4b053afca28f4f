"""Jacobi's iteration for a sparse system A x = b: every unknown solves its own row for itself.

Saad, Iterative Methods for Sparse Linear Systems, 2nd ed. 2003, section 4.1. The edge i -> j is the
entry A[i, j], as in `Graph.from_scipy`; self-loops are the diagonal, parallel edges add up. It
converges for every start if A is strictly diagonally dominant.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.graph.absent import no_edge_column
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import check_values, run, weights
from gaslab.programs._numpy import np
from gaslab.programs._tool import Command, Option, Tool


class Jacobi(gl.VertexProgram):
    """The unknown `x` of every vertex, until none changes by more than `tolerance` in one step."""

    tolerance: float = 1e-10
    loop: float = 1.0  # of a self-loop's weight; 0.5 where the graph is undirected: gather sees it twice

    class Vertex(gl.Vertex):
        b: float = 0.0
        x: float = 0.0
        _diagonal: float = 0.0
        _moved: float = 0.0

    class Edge(gl.Edge):
        weight: float

    @gl.aggregator
    def change(self, v: Vertex) -> gl.Max[float]:
        return v._moved

    @gl.aggregator
    def empty_rows(self, v: Vertex) -> gl.Sum[int]:
        return 1 if v._diagonal == 0.0 else 0

    def on_diagonal(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return self.loop * e.weight if nbr.id == v.id else 0.0

    def keep(self, v: Vertex, total: float) -> None:
        v._diagonal = total

    def off_diagonal(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return 0.0 if nbr.id == v.id else e.weight * nbr.x

    def solve(self, v: Vertex, total: float) -> None:
        x = (v.b - total) / v._diagonal
        moved = abs(x - v.x)
        v._moved = moved if moved >= 0.0 else math.inf  # not a number where both are infinite
        v.x = x

    def small_change(self) -> bool:
        return self.empty_rows > 0 or self.change <= self.tolerance

    phases = (
        gl.Phase(gather=on_diagonal, apply=keep, gather_edges=gl.OUT, supersteps=1),
        gl.Phase(gather=off_diagonal, apply=solve, gather_edges=gl.OUT, done=small_change),
    )


@collective(options="run", own=("columns",))
def jacobi(
    graph: gl.Graph,
    rhs: Any = 1.0,
    *,
    weight: str = "weight",
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
    **options: Any,
) -> gl.Result:
    """Solve the sparse linear system A x = b by Jacobi iteration, ``result.vertices["x"]`` (float64).

    Parameters
    ----------
    graph : Graph
        The edge i -> j is the entry A[i, j]; an undirected edge is A[j, i] too.
    rhs : number, mapping by vertex id, array by sorted id, or Result
        The right-hand side b, in a form that `gaslab.run` takes for ``init``.
    weight : str
        Edge column with the entries of A.
    tolerance : float
        Stop when no unknown changes by more than this in one step.
    max_iterations : int
        Maximum number of supersteps; reaching it warns (ConvergenceWarning). The first reads the diagonal.
    **options
        As for `gaslab.run`; ``init={"x": ...}`` gives the starting values.

    Raises
    ------
    UsageError
        The diagonal has a zero, an entry or a value of the right-hand side or of the start is not finite, or
        the graph has no such column.

    Examples
    --------
    >>> import gaslab as gl, numpy as np, scipy.sparse as sp
    >>> graph = gl.Graph.from_scipy(sp.coo_array(np.array([[4.0, 1.0], [2.0, 5.0]])))
    >>> gl.jacobi(graph, [9.0, 18.0]).vertices["x"].round(6)
    array([1.5, 3. ])
    """
    check_graph(graph)
    weight, tolerance = arguments.text("weight", weight), arguments.number("tolerance", tolerance, least=0)
    start = arguments.mapping("init", options.get("init"), "a mapping from field to values", optional=True)
    _check_rhs(rhs, graph.num_vertices)
    if weight not in graph.edge_columns:
        raise no_edge_column(graph, weight, "; it holds the matrix entries")
    weights(graph, weight, least=-math.inf)
    for what, values in (("rhs", rhs), ("init 'x'", (start or {}).get("x", 0.0))):
        check_values(what, values, "finite numbers are needed")
    options = {**options, "columns": {"weight": weight}, "max_iterations": max_iterations}
    options["init"] = {**(start or {}), "b": rhs}
    program = Jacobi(tolerance=tolerance, loop=1.0 if graph.directed else 0.5)
    result = run(program, graph, **options)
    if result.history and (rows := result.history[-1]["empty_rows"]):
        raise gl.UsageError(f"the diagonal is zero in {rows} row{'s' * (rows != 1)}; Jacobi divides by it")
    return result


def _check_rhs(rhs: Any, count: int) -> None:
    """Raise UsageError for what is neither by vertex nor a number or an array of one for each."""
    if isinstance(rhs, (Mapping, gl.Result)) or hasattr(rhs, "to_dict"):
        return
    values = np.array(None) if isinstance(rhs, type) else np.asarray(rhs)
    if values.dtype.kind not in "iuf" or values.shape not in ((), (count,)):
        needed = f"a number, {count} of them in the order of the sorted ids, or a mapping by id is needed"
        raise arguments.wrong("rhs", rhs, needed)


TOOL = Tool(
    jacobi, order=130,
    command=Command(
        "a sparse linear system A x = b",
        "Solve A x = b, where the edge i -> j with weight w is the entry A[i, j] = w.",
        fields=("x",),
        options=(
            Option("rhs", "values", "the right-hand side b: lines of id and value (default: 1)", "FILE"),
            Option("weight", "text", "edge column with the matrix entries (default: the third)", "NAME"),
            Option("tolerance", "number", "stop when no value changes by more (default 1e-10)", "T"),
        ),
        columns="all", also=("b",),
    ),
    answer="`x`", definition="A x = b, the edge i → j with weight w is A[i, j] = w", source="Saad 2003, 4.1",
    networkx="(`scipy.sparse.linalg.spsolve`)",
)  # fmt: skip
