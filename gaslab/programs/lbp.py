"""Loopy belief propagation on a pairwise model: every vertex has a state, neighbours like the same one.

Pearl, Probabilistic Reasoning in Intelligent Systems, 1988; Yedidia, Freeman and Weiss, Understanding
Belief Propagation and its Generalizations, 2003. The probability of all states x is proportional to
the product of prior[v][x[v]] over vertices and of exp(smoothing * weight) over edges whose ends are in
the same state (a Potts model). Beliefs are exact on trees. All messages of a step go at once: an edge
keeps those of this step and those of the next.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._columns import check_values, run, weights
from gaslab.programs._numpy import np
from gaslab.programs._tool import Command, Option, Tool

MOST = 700.0  # what exp takes


class BeliefPropagation(gl.VertexProgram):
    """Each vertex's `belief`, the probabilities of its states, until none moves by more than `tolerance`."""

    states: int = 2
    smoothing: float = 1.0
    damping: float = 0.0  # how much of the old message stays
    tolerance: float = 1e-9
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        prior: gl.Vector = gl.field(shape="states", init=1.0)
        belief: gl.Vector = gl.field(shape="states")
        _log: gl.Vector = gl.field(shape="states")  # of the belief, not scaled
        _moved: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0
        # Logs of the messages to the target and to the source: those of this step, those of the next.
        _forward: gl.Matrix = gl.field(shape=(2, "states"))
        _backward: gl.Matrix = gl.field(shape=(2, "states"))

    class Total(gl.Accumulator):
        log: gl.Vector = gl.field(shape="states")

    @gl.aggregator
    def change(self, v: Vertex) -> gl.Max[float]:
        return v._moved

    def active(self, v: Vertex) -> bool:
        return True

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        if nbr.id == v.id:
            return self.Total()
        now = self.superstep % 2
        if e.forward:
            return self.Total(log=e._backward[now])
        return self.Total(log=e._forward[now])

    def apply(self, v: Vertex, total: Total) -> None:
        v._log = np.log(v.prior) + total.log
        belief = np.exp(v._log - np.max(v._log))
        belief = belief / np.sum(belief)
        moved = np.max(np.abs(belief - v.belief))
        v._moved = moved if moved >= 0.0 else math.inf  # not a number where no state is possible
        v.belief = belief

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        now = self.superstep % 2
        if e.forward:
            message = self.message(e.weight, v._log - e._backward[now], e._forward[now])
            for state in range(self.states):
                e._forward[1 - now, state] = message[state]
        else:
            message = self.message(e.weight, v._log - e._forward[now], e._backward[now])
            for state in range(self.states):
                e._backward[1 - now, state] = message[state]

    def message(self, weight: float, rest: gl.Vector, old: gl.Vector) -> gl.Vector:
        """Return the log of a vertex's message about its neighbour's state; *rest* is its own belief."""
        own = np.exp(rest - np.max(rest))
        whole = np.sum(own)
        # Not whole + expm1(...) * own: of a vertex sure of its state, which is to differ, the log of 0.
        new = np.log((whole - own + math.exp(self.smoothing * weight) * own) / whole)
        said: gl.Vector = (1.0 - self.damping) * (new - np.max(new)) + self.damping * old
        return said

    def done(self) -> bool:
        return self.change <= self.tolerance


@collective(options="run", own=("columns", "init"))
def lbp(
    graph: gl.Graph,
    prior: Any,
    *,
    smoothing: float = 1.0,
    weight: str | None = None,
    damping: float = 0.0,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    **options: Any,
) -> gl.Result:
    """Return beliefs by loopy belief propagation, ``result.vertices["belief"]`` (float64, a row per vertex).

    Parameters
    ----------
    graph : Graph
        Edge directions and self-loops are ignored.
    prior : mapping by vertex id or array by sorted id
        The weight of each state at each vertex: a row of non-negative numbers, not all 0; vertices that a
        mapping leaves out favour no state.
    smoothing : float
        Ends of an edge are exp(smoothing * weight) times as likely to be in the same state as not; negative
        if neighbours should differ; smoothing * weight is from -700 to 700.
    weight : str, optional
        Edge column of weights; by default every edge has weight 1.
    damping : float
        Fraction of the old message that is kept, in [0, 1); if beliefs oscillate, try 0.5.
    tolerance : float
        Stop when no probability changes by more than this in one step.
    max_iterations : int
        Maximum number of supersteps; reaching it warns (ConvergenceWarning).
    **options
        As for `gaslab.run`.

    Raises
    ------
    UsageError
        A row of the prior is invalid, a weight or parameter is not finite, or smoothing * weight is outside
        -700 to 700.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges(["a", "b"], ["b", "c"])
    >>> gl.lbp(graph, {"a": [0.9, 0.1]}).vertices["belief"].round(3)
    array([[0.9  , 0.1  ],
           [0.685, 0.315],
           [0.585, 0.415]])
    """
    check_graph(graph)
    smoothing, tolerance = (
        arguments.number("smoothing", smoothing), arguments.number("tolerance", tolerance, least=0)
    )  # fmt: skip
    damping = arguments.number("damping", damping, least=0, below=1, hint="; 0.5 is usual")
    weight = weights(graph, arguments.text("weight", weight, optional=True), least=-math.inf)
    _check_agreement(graph, weight, smoothing)
    states = _states(prior)
    check_values("the prior", prior, "state weights must be finite and at least 0, and not all 0", least=0.0)
    program = BeliefPropagation(states=states, smoothing=smoothing, damping=damping, tolerance=tolerance)
    options = {**options, "columns": {"weight": weight}, "max_iterations": max_iterations}
    return run(program, graph, **{**options, "init": {"prior": prior}})


def _states(prior: Any) -> int:
    """Return how many states each vertex has; raises UsageError for what has no rows of numbers."""
    first = np.asarray(None)
    if isinstance(prior, Mapping):
        first = np.asarray(next(iter(prior.values()), (1.0, 1.0)))
    elif not isinstance(prior, type):
        with contextlib.suppress(TypeError, ValueError):  # no rows, or of several lengths
            rows = np.asarray(prior)
            first = rows[0] if len(rows) else np.ones(rows.shape[1] if rows.ndim == 2 else 2)
    if first.ndim != 1 or first.dtype.kind not in "iuf" or not first.size:
        needed = "a row of numbers for every vertex is needed, by id or in the order of the sorted ids"
        raise arguments.wrong("prior", prior, needed)
    return int(first.size)


def _check_agreement(graph: gl.Graph, weight: str | None, smoothing: float) -> None:
    """Raise UsageError where exp(smoothing * weight) is more than a float64 holds, or less (collective)."""
    values = np.ones(1) if weight is None else graph.edge_columns[weight]
    least, most = (
        float(graph.comm.allreduce(float(getattr(values, op)(initial=0.0)), op)) for op in ("min", "max")
    )
    for value in (least, most):
        if not abs(smoothing * value) <= MOST:
            raise gl.UsageError(
                f"smoothing={smoothing!r} times a weight of {value:g} is beyond {MOST:g}: neighbours would "
                f"be exp({smoothing * value:g}) times as likely to agree; scale one of them down"
            )


TOOL = Tool(
    lbp, order=140,
    command=Command(
        "beliefs of a pairwise model (loopy belief propagation)",
        "Loopy belief propagation: the probability of every state of every vertex.",
        fields=("belief",),
        options=(
            Option("prior", "rows", "priors: lines of id and one weight per state", "FILE",
                   required=True),
            Option("smoothing", "real", "neighbours are exp(S * weight) times as likely to agree (1)", "S"),
            Option("weight", "column", "edge column with weights (default: every edge weighs 1)", "NAME"),
            Option("damping", "number", "share of the old message that is kept (default 0)", "D"),
            Option("tolerance", "number", "stop when no probability changes by more (default 1e-9)", "T"),
        ),
        columns="weighted", also=("prior",),
    ),
    answer="`belief`",
    definition="Potts model: prior per vertex, exp(smoothing * weight) where the ends of an edge agree",
    source="Pearl 1988; Yedidia, Freeman, Weiss 2003",
)  # fmt: skip
