"""Edge fields that visit only reads are brought into its order once for a graph, not once for a run."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine.visit.edges import Edges
from gaslab.engine.visit.plan import plan_of
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks


class Weighed(gl.VertexProgram):
    ways: int = 16
    visit_ways = "ways"

    class Vertex(gl.Vertex):
        total: float = 0.0

    class Edge(gl.Edge):
        weight: float
        seen: int = 0

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        u.total += e.weight
        w.total += 2.0 * e.weight
        e.seen += 1


def twice(comm: Comm, forgetful: int) -> tuple[list[int], list[bytes], list[int]]:
    """Run on one graph three times; before the last the rank *forgetful* drops what it keeps."""
    rng = np.random.default_rng(3)
    ends, weight = rng.integers(0, 50, (2, 300)), rng.integers(1, 9, 300) / 4
    graph = gl.Graph.from_edges(*ends, columns={"weight": weight}, comm=comm)
    brought: list[int] = []
    answers: list[bytes] = []
    bring = Edges.bring

    def counted(edges: Edges, values: Any) -> Any:
        brought[-1] += 1
        return bring(edges, values)

    with patch.object(Edges, "bring", counted):
        for run in range(3):
            if run == 2 and comm.rank == forgetful:
                plan_of(graph, 16).edges._kept = []
            brought.append(0)
            result = gl.run(Weighed(), graph, max_iterations=2, edges=True)
            answers.append(result.vertices["total"].tobytes())
    return brought, answers, result.edges["seen"].tolist()


@pytest.mark.parametrize("forgetful", [0, 9])
def test_what_visit_reads_of_edges_is_brought_once(ranks: Ranks, forgetful: int) -> None:
    """Also where one rank has lost it: then all bring it again, together."""
    for brought, answers, seen in ranks.run(twice, forgetful):
        assert brought == [2, 1, 2 if forgetful == 0 else 1]
        assert len(set(answers)) == 1
        assert set(seen) == {2}


def test_a_plan_that_is_replaced_takes_along_what_it_kept() -> None:
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0], columns={"weight": [1.0, 2.0, 3.0]})
    taken = []
    for ways in (16, 32, 16, 32, 16):
        gl.run(Weighed(ways=ways), graph, max_iterations=1)
        taken.append(graph.memory_bytes())
    assert taken[0] == taken[2] == taken[4]
