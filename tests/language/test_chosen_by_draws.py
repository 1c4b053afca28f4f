"""A draw weighed against fields decides whether an edge is written: no branch, and Python's rules."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from tests.mpi.ranks import Ranks
from tests.support.one_fault import MODES


class Chosen(gl.VertexProgram):
    """Fields of each kind that a draw decides on; some in ways that keep their branch."""

    rng = "hash"

    class Vertex(gl.Vertex):
        weight: float = gl.uniform()

    class Edge(gl.Edge):
        small: gl.int8 = 3
        real: float = 0.5
        flag: bool = False
        either: int = 7
        other: int = 8
        pair: gl.Vector = gl.field(shape=2)
        rare: int = 0

    def active(self, v: Vertex) -> bool:
        return True

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        there = gl.integers(100)
        share = gl.uniform()
        yes = not e.flag
        if gl.uniform() < v.weight:
            e.small = there
        if gl.uniform() * nbr.weight < v.weight:
            e.real = share
        if gl.uniform() < share * 0.5:
            e.flag = yes
        if gl.uniform() < nbr.weight:
            e.either = there
        else:
            e.other = there
        if gl.uniform() < nbr.weight:
            e.either = e.either + 1
            e.other = e.other - 1
        if gl.uniform() < nbr.weight:
            e.pair = e.pair + share
        if gl.uniform() < 0.01 or v.weight < 0.01:
            e.rare = e.rare + there // (there % 3 + 1)


FIELDS = ("small", "real", "flag", "either", "other", "pair", "rare")


def graph_on(comm: Any) -> gl.Graph:
    return gl.Graph.from_edges(*np.random.default_rng(4).integers(0, 40, (2, 700)), comm=comm)


def answers(comm: Any) -> list[list[Any]]:
    graph, found = graph_on(comm), []
    for mode in MODES:
        edges = gl.run(Chosen(), graph, max_iterations=3, seed=11, edges=True, **mode).edges
        found.append([edges[field].tolist() for field in FIELDS])
    return found


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
def test_every_engine_chooses_alike(ranks: Ranks) -> None:
    first, *others = [one for answer in ranks.run(answers) for one in answer]
    assert all(other == first for other in others)
    assert all(len({*map(str, values)}) > 1 for values in first)


def test_only_what_weighs_fields_has_no_branch() -> None:
    stores = re.findall(r"_(\w+)\[e\] = (.*)", emit(parse(Chosen)))
    assert [name for name, value in stores if " ? " in value] == ["small", "real", "flag"]
    assert {name for name, _ in stores} == {*FIELDS} - {"pair"}


class TooLarge(gl.VertexProgram):
    """What does not fit is a fault only where it is chosen, and of its own line."""

    often: float = 0.0

    class Vertex(gl.Vertex):
        weight: float = 1.0

    class Edge(gl.Edge):
        small: gl.int8 = 3

    def active(self, v: Vertex) -> bool:
        return True

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        large = 200 + nbr.in_degree
        if gl.uniform() * v.weight < self.often:
            e.small = large


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("mode", MODES)
def test_only_what_is_chosen_must_fit(mode: dict[str, Any]) -> None:
    graph = graph_on(None)
    kept = gl.run(TooLarge(often=0.0), graph, max_iterations=2, edges=True, **mode).edges["small"]
    assert set(kept.tolist()) == {3}
    with pytest.raises(gl.ExecutionError, match="outside the range") as found:
        gl.run(TooLarge(often=1.0), graph, max_iterations=2, **mode)
    assert "e.small = large" in str(found.value)


class OneEnd(gl.VertexProgram):
    """Both ends of an edge come by, and one of them writes it."""

    rng = "hash"
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        weight: float = 0.5

    class Edge(gl.Edge):
        flag: bool = False

    def active(self, v: Vertex) -> bool:
        return True

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.forward and gl.uniform() < v.weight:
            e.flag = not e.flag


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("directed", [True, False])
def test_the_end_that_does_not_write_stores_nothing(directed: bool) -> None:
    """Two threads have an end each of 400,000 edges: what one of them stored back would undo the other's."""
    assert " ? " not in "".join(re.findall(r"_flag\[e\] = .*", emit(parse(OneEnd))))
    edges = 400_000
    graph = gl.Graph.from_edges(np.zeros(edges, int), np.ones(edges, int), directed=directed)
    one, two = (
        gl.run(OneEnd(), graph, max_iterations=20, seed=3, threads=threads, edges=True).edges["flag"]
        for threads in (1, 2)
    )
    assert (one == two).all()
