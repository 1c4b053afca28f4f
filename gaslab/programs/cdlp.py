"""Community detection by label propagation: every vertex takes the most frequent label around it.

Raghavan, Albert, Kumara: Near linear time algorithm to detect community structures in large-scale
networks. Physical Review E 76, 2007; made deterministic as in LDBC Graphalytics: all vertices at
once, the smallest of several most frequent labels, an edge of a directed graph counts from both of
its ends (two edges that are each other's reverse count twice).
"""

from __future__ import annotations

from typing import Any

import gaslab as gl
from gaslab import arguments
from gaslab.parallel.collective import collective
from gaslab.programs._columns import run
from gaslab.programs._tool import Command, Tool


class LabelPropagation(gl.VertexProgram):
    """Each vertex's community `label`, a vertex id; a vertex without edges keeps its own id."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        label: gl.VertexId

    def init(self, v: Vertex) -> None:
        v.label = v.id

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.List[gl.VertexId]:
        return nbr.label

    def apply(self, v: Vertex, labels: gl.List[gl.VertexId]) -> None:
        if len(labels) > 0:
            v.label = gl.mode(labels)


@collective(options="run", own=("max_iterations",))
def cdlp(graph: gl.Graph, *, iterations: int = 10, **options: Any) -> gl.Result:
    """Return communities by label propagation, ``result.vertices["label"]``: the id of one of the vertices.

    The definition is LDBC Graphalytics'.

    Parameters
    ----------
    graph : Graph
        Edges count in both directions; parallel edges each count.
    iterations : int
        Number of rounds; there is no other stopping rule, since labels may oscillate forever.
    **options
        As for `gaslab.run`.

    Examples
    --------
    >>> import gaslab as gl
    >>> graph = gl.Graph.from_edges([1, 1, 2, 3, 7, 7, 8], [2, 3, 3, 7, 8, 9, 9], directed=False)
    >>> gl.cdlp(graph).vertices["label"]
    array([1, 1, 1, 3, 3, 3])
    """
    iterations = arguments.whole("iterations", iterations, 0)
    return run(LabelPropagation(), graph, max_iterations=iterations, **options)


TOOL = Tool(
    cdlp, order=100,
    command=Command(
        "communities by label propagation",
        "Communities by label propagation, as Graphalytics defines them; --iterations rounds (10).",
        fields=("label",), show="groups",
    ),
    answer="`label`", definition="synchronous; the smallest of the most frequent labels",
    source="Raghavan, Albert, Kumara 2007",
)  # fmt: skip
