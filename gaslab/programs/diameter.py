"""Approximate diameter: every vertex counts whom it reaches in t steps, with a sketch of 64 registers.

Palmer, Gibbons and Faloutsos, ANF, KDD 2002; Flajolet et al., HyperLogLog, 2007; Boldi, Rosa and Vigna,
HyperANF, WWW 2011. A vertex's sketch after t steps is the maximum of its neighbours' after t - 1. When
no sketch changes any more, t is at most the diameter, and rarely much less; the counts of all steps
give the effective diameter. One count is off by about 1.04 / sqrt(registers), 13 %.
"""

from __future__ import annotations

import math
from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_counts_supersteps
from gaslab.programs._columns import run
from gaslab.programs._tool import Command, Option, Tool


class Reach(gl.VertexProgram):
    """Each vertex's `reach`, about how many it reaches, and `eccentricity`, a lower bound on the steps."""

    registers: int = 64
    gather_edges = gl.OUT
    scatter_edges = gl.IN

    class Vertex(gl.Vertex):
        reach: float = 0.0
        eccentricity: int = 0
        _sketch: gl.Vector = gl.field(shape="registers", dtype=gl.uint8)
        _news: bool = False  # this step has changed the sketch

    class Total(gl.Accumulator):
        sketch: gl.Vector = gl.field(shape="registers", dtype=gl.uint8, combine=gl.MAX)

    @gl.aggregator
    def pairs(self, v: Vertex) -> gl.Sum[float]:
        return v.reach

    @gl.aggregator(every=gl.Phase)
    def diameter(self, v: Vertex) -> gl.Max[int]:
        return v.eccentricity

    def count(self, v: Vertex) -> float:
        """Return HyperLogLog's estimate, from the empty registers where few are full."""
        whole = 0.0
        empty = 0
        for k in range(self.registers):
            whole += 2.0 ** -v._sketch[k]
            empty += v._sketch[k] == 0
        m = float(self.registers)
        estimate = 0.7213 / (1.0 + 1.079 / m) * m * m / whole
        return m * math.log(m / empty) if estimate <= 2.5 * m and empty > 0 else estimate

    def init(self, v: Vertex) -> None:
        place = gl.integers(self.registers)
        v._sketch[place] = 1 + int(-math.log2(1.0 - gl.uniform()))
        v.reach = self.count(v)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(sketch=nbr._sketch)

    def apply(self, v: Vertex, total: Total) -> None:
        v._news = False
        for k in range(self.registers):
            if total.sketch[k] > v._sketch[k]:
                v._sketch[k] = total.sketch[k]
                v._news = True
        if v._news:
            v.eccentricity = self.superstep + 1
            v.reach = self.count(v)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v._news:
            nbr.signal()


@collective(options="run")
def diameter(graph: gl.Graph, *, share: float = 0.9, registers: int = 64, **options: Any) -> gl.Result:
    """Estimate the diameter and effective diameter, ``result.metrics["answer"]``, and each vertex's reach.

    The answer has ``diameter``, at most the longest of all shortest paths (in edges, not weights;
    unconnected pairs do not count) and rarely much less; ``effective_diameter``, the distance within which
    the given share of the connected pairs lie, interpolated between whole steps; and ``pairs``, about how
    many pairs are connected, including each vertex with itself. ``result.vertices["reach"]`` is about how
    many vertices a vertex reaches, ``["eccentricity"]`` a lower bound on the steps it takes.

    Parameters
    ----------
    graph : Graph
        Directed edges are followed forward.
    share : float
        Share of pairs for the effective diameter, in (0, 1].
    registers : int
        Number of registers of a sketch. A count is off by about 1.04 / sqrt(registers).
    **options
        As for `gaslab.run`; ``seed=`` chooses the sketches, ``max_iterations=`` bounds the steps.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges(range(50), range(1, 51), directed=False)
    >>> gl.diameter(graph).metrics["answer"]["diameter"]
    50
    """
    share = arguments.number("share", share, above=0, most=1, hint="; 0.9 is usual")
    registers = arguments.whole("registers", registers, 1, 1 << 16)
    check_counts_supersteps("diameter", options)
    result = run(Reach(registers=registers), graph, **options)
    pairs = [float(graph.num_vertices), *(row["pairs"] for row in result.history)]
    figures = {
        "diameter": int(result.aggregates["diameter"]) if graph.num_vertices else 0,
        "effective_diameter": _effective(pairs, share),
        "pairs": pairs[-1],
    }
    return result.replaced(metrics={**result.metrics, "answer": figures})


def _effective(pairs: list[float], share: float) -> float:
    """Return where *pairs*, the connected pairs within 0, 1, ... steps, reach a share of the last."""
    wanted = share * pairs[-1]
    step = next((t for t, count in enumerate(pairs) if count >= wanted), 0)
    if step == 0:
        return 0.0
    return step - 1 + (wanted - pairs[step - 1]) / (pairs[step] - pairs[step - 1])


TOOL = Tool(
    diameter, order=180,
    command=Command(
        "approximate diameter and effective diameter",
        "Approximate diameter, effective diameter and eccentricities, from sketches.",
        fields=("reach", "eccentricity"),
        options=(
            Option(
                "share", "number", "share of connected pairs within the effective diameter (default 0.9)", "S"
            ),
        ),
    ),
    answer="`reach`, `eccentricity`; diameter, effective diameter, pairs",
    definition="over connected pairs; never above the true value",
    source="Palmer, Gibbons, Faloutsos 2002; Boldi, Rosa, Vigna 2011", networkx="`diameter` (exact)",
)  # fmt: skip
