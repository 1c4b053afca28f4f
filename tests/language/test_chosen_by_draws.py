"""A draw that decides whether an edge's field is written: emitted without a branch, with Python's answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from tests.mpi.ranks import Ranks
from tests.support.one_fault import MODES


class Chosen(gl.VertexProgram):
    """Fields of each kind that a draw decides on, in one scatter; the value is another draw at times."""

    rng = "hash"

    class Vertex(gl.Vertex):
        mine: int = 0

    class Edge(gl.Edge):
        small: gl.int8 = 3
        real: float = 0.5
        flag: bool = False
        wide: int = 7

    def active(self, v: Vertex) -> bool:
        return True

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        there = gl.integers(100)
        if gl.uniform() < 0.5:
            e.small = there
        if gl.uniform() * e.real < 0.3:
            e.real = gl.uniform()
        if gl.integers(2) == 1:
            e.flag = not e.flag
        if there < 50 and gl.uniform() < 0.9:
            e.wide = e.wide + there // (there % 3 + 1)


def graph_on(comm: Any) -> gl.Graph:
    return gl.Graph.from_edges(*np.random.default_rng(4).integers(0, 40, (2, 700)), comm=comm)


def answers(comm: Any) -> list[list[Any]]:
    program, graph, found = Chosen(), graph_on(comm), []
    for mode in MODES:
        edges = gl.run(program, graph, max_iterations=3, seed=11, edges=True, **mode).edges
        found.append([edges[field].tolist() for field in ("small", "real", "flag", "wide")])
    return found


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_every_engine_chooses_alike(ranks: Ranks) -> None:
    first, *others = [one for answer in ranks.run(answers) for one in answer]
    assert all(other == first for other in others)
    assert len({*first[0]}) > 20
    assert {*first[2]} == {True, False}


def test_emitted_without_a_branch() -> None:
    text = emit(parse(Chosen))
    for field in ("small", "real", "flag", "wide"):
        (line,) = [x for x in text.splitlines() if f"_{field}[e] = " in x]
        assert " ? " in line


class TooLarge(Chosen):
    """What does not fit is a fault only where it is chosen."""

    often: float = 0.0

    def scatter(self, v: Chosen.Vertex, e: Chosen.Edge, nbr: Chosen.Vertex) -> None:
        if gl.uniform() < self.often:
            e.small = 100 + nbr.in_degree + 100


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("mode", MODES)
def test_only_what_is_chosen_must_fit(mode: dict[str, Any]) -> None:
    graph = graph_on(None)
    kept = gl.run(TooLarge(often=0.0), graph, max_iterations=2, edges=True, **mode).edges["small"]
    assert set(kept.tolist()) == {3}
    with pytest.raises(gl.ExecutionError, match="outside the range"):
        gl.run(TooLarge(often=1.0), graph, max_iterations=2, **mode)
