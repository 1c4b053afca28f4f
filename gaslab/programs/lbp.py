"""Loopy belief propagation on a pairwise model: every vertex has a state, neighbours like the same one.

Pearl, Probabilistic Reasoning in Intelligent Systems, 1988; Yedidia, Freeman and Weiss, Understanding
Belief Propagation and its Generalizations, 2003. The probability of all states x is proportional to
the product of prior[v][x[v]] over vertices and of exp(smoothing * weight) over edges whose ends are in
the same state (a Potts model). Beliefs are exact on trees. All messages of a step go at once: an edge
keeps those of this step and those of the next.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

import gaslab as gl

if TYPE_CHECKING:
    from gaslab.graph import Graph
    from gaslab.result import Result


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
        _ahead: gl.Matrix = gl.field(shape=(2, "states"))
        _back: gl.Matrix = gl.field(shape=(2, "states"))

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
            return self.Total(log=e._back[now])
        return self.Total(log=e._ahead[now])

    def apply(self, v: Vertex, total: Total) -> None:
        v._log = np.log(v.prior) + total.log
        belief = np.exp(v._log - np.max(v._log))
        belief = belief / np.sum(belief)
        v._moved = np.max(np.abs(belief - v.belief))
        v.belief = belief

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        now = self.superstep % 2
        if e.forward:
            message = self.message(e.weight, v._log - e._back[now], e._ahead[now])
            for state in range(self.states):
                e._ahead[1 - now, state] = message[state]
        else:
            message = self.message(e.weight, v._log - e._ahead[now], e._back[now])
            for state in range(self.states):
                e._back[1 - now, state] = message[state]

    def message(self, weight: float, rest: gl.Vector, old: gl.Vector) -> gl.Vector:
        """Return the log of what a vertex says of its neighbour's state; *rest*: what it believes itself."""
        own = np.exp(rest - np.max(rest))
        whole = np.sum(own)
        new = np.log((whole + math.expm1(self.smoothing * weight) * own) / whole)
        said: gl.Vector = (1.0 - self.damping) * (new - np.max(new)) + self.damping * old
        return said

    def done(self) -> bool:
        return self.change <= self.tolerance


def lbp(
    graph: Graph,
    prior: Any,
    *,
    smoothing: float = 1.0,
    weight: str | None = None,
    damping: float = 0.0,
    tolerance: float = 1e-9,
    max_iterations: int = 200,
    **options: Any,
) -> Result:
    """Return beliefs, ``result.vertices["belief"]`` (float64, a row of probabilities per vertex).

    Parameters
    ----------
    graph : Graph
        Edge directions and self-loops are ignored.
    prior : mapping by vertex id or array by sorted id
        The weight of every state at every vertex, a row of non-negative numbers; vertices that a
        mapping leaves out favour no state.
    smoothing : float
        Ends of an edge are exp(smoothing * weight) times as likely to be in the same state as not;
        negative for neighbours that differ.
    weight : str, optional
        Edge column; without it every edge counts 1.
    damping : float
        In [0, 1): how much of an old message stays; where beliefs swing, try 0.5.
    tolerance : float
        Largest move of a probability in one step at which to stop.
    max_iterations : int
        Supersteps at most; reaching it warns (ConvergenceWarning).
    **options
        As for `gaslab.run`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges(["a", "b"], ["b", "c"])
    >>> gl.lbp(graph, {"a": [0.9, 0.1]}).vertices["belief"].round(3)
    array([[0.9  , 0.1  ],
           [0.685, 0.315],
           [0.585, 0.415]])
    """
    if not 0.0 <= damping < 1.0:
        raise gl.UsageError(f"damping={damping}: at least 0 and below 1 is needed; 0.5 is usual")
    row = next(iter(prior.values()), (1.0, 1.0)) if hasattr(prior, "values") else np.asarray(prior)[0]
    program = BeliefPropagation(states=len(row), smoothing=smoothing, damping=damping, tolerance=tolerance)
    options = {**options, "columns": {"weight": weight}, "max_iterations": max_iterations}
    return gl.run(program, graph, **{**options, "init": {"prior": prior}})
