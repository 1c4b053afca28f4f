"""Programs that print or stop are for the reference engine; programs may gather or scatter over no edges."""

from __future__ import annotations

import math

import pytest

import gaslab as gl
from gaslab.comm import Comm
from tests.mpi.ranks import Ranks


class Talking(gl.VertexProgram):
    class Vertex(gl.Vertex):
        turns: int = 0

    def apply(self, v: Vertex) -> None:
        print("at", v.id, "after", v.turns)
        v.turns += 1


class Alone(gl.VertexProgram):
    """Gathers and scatters over no edges."""

    gather_edges = gl.NONE
    scatter_edges = gl.NONE

    class Vertex(gl.Vertex):
        turns: int = 0
        least: float = 0.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.least

    def apply(self, v: Vertex, total: float) -> None:
        v.turns += 1
        v.least = total

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal()


def test_the_reference_engine_prints(capsys: pytest.CaptureFixture[str]) -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    result = gl.run(Talking(), graph, engine="reference", max_iterations=2)
    assert capsys.readouterr().out.splitlines() == [f"at {v} after {t}" for t in (0, 1) for v in (1, 2, 3)]
    assert result.vertices["turns"].tolist() == [2, 2, 2]


def test_a_compiled_program_says_where_to_print() -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    with pytest.raises(gl.ProgramError, match="print is not in the language; run with engine='reference'"):
        gl.run(Talking(), graph, max_iterations=2)


def run_alone(comm: Comm, engine: str) -> tuple[list[int], list[float], int]:
    graph = gl.Graph.from_edges([0, 1, 2, 3, 3], [1, 2, 3, 0, 1], comm=comm)
    result = gl.run(Alone(), graph, engine=engine)
    return result.vertices["turns"].tolist(), result.vertices["least"].tolist(), result.iterations


@pytest.mark.parametrize("engine", ["sync", "reference"])
def test_no_edges_to_gather_or_scatter_over(ranks: Ranks, engine: str) -> None:
    assert ranks.run(run_alone, engine) == [([1] * 4, [math.inf] * 4, 1)] * ranks.size
