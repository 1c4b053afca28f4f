"""Signals by global id: across ranks in any number, to either side, and to nobody."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab._kernels import frontier
from gaslab.compiler.python import block
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

MODES: list[dict[str, Any]] = [{"threads": 2}, {"compile": "never"}]
LENGTH = 4000


class Count(gl.VertexProgram):
    """Everybody on a path writes to three vertices, of which most ranks have nothing."""

    first: gl.VertexId
    last: gl.VertexId

    class Vertex(gl.Vertex):
        letters: int = 0

    def apply(self, v: Vertex, message: gl.Sum[int]) -> None:
        v.letters = message
        if self.superstep == 0:
            self.signal(self.first, 1)
            self.signal(self.last, 100)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if self.superstep == 0:
            self.signal(self.first, 10000)


def count(comm: Comm, mode: dict[str, Any]) -> list[Any]:
    ids = np.arange(LENGTH)
    graph = gl.Graph.from_edges(ids, ids + 1, strategy="1d", comm=comm)
    result = gl.run(Count(first=5, last=LENGTH), graph, **mode)
    return [result.vertices["letters"][[4, 5, LENGTH]].tolist(), result.history[1]["active"]]


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted"])
def test_letters_in_any_number_arrive(ranks: Ranks, mode: dict[str, Any]) -> None:
    answers = ranks.run(count, mode)
    assert answers == [[[0, (LENGTH + 1) + 10000 * LENGTH, 100 * (LENGTH + 1)], 2]] * ranks.size


class Partner(gl.VertexProgram):
    """Each left vertex writes to the right one that stands first in its neighbours', and is answered."""

    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        best: gl.VertexId
        heard: gl.VertexId = gl.NOBODY

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.VertexId, message: gl.Max[gl.VertexId]) -> None:
        v.best = total
        if self.superstep == 0:
            if v.side == 0:
                self.signal(v.best, v.id)
        elif v.side == 1:
            v.heard = message
            self.signal(message, v.id)
        else:
            v.heard = message


def partners(comm: Comm, mode: dict[str, Any]) -> list[Any]:
    graph = gl.Graph.from_edges([1, 2, 2, 3], [1, 1, 2, 2], bipartite=True, strategy="random", comm=comm)
    heard = gl.run(Partner(), graph, **mode).vertices
    return [heard.side(side)["heard"].tolist() for side in (0, 1)]


@pytest.mark.parametrize("mode", MODES, ids=["compiled", "interpreted"])
def test_ids_are_of_either_side(ranks: Ranks, mode: dict[str, Any]) -> None:
    left, right = ranks.run(partners, mode)[0]
    assert len(left) == 3
    assert len(right) == 2
    assert left[0] == -1  # the first right vertex has answered 2, its last
    assert left[1] != -1
    assert left[2] != -1


class Lost(gl.VertexProgram):
    class Vertex(gl.Vertex):
        friend: gl.VertexId = gl.NOBODY

    def apply(self, v: Vertex) -> None:
        if v.id == self.source:
            self.signal(v.friend)

    source: gl.VertexId


@pytest.mark.parametrize(
    "mode", [*MODES, {"engine": "reference"}], ids=["compiled", "interpreted", "reference"]
)
def test_a_signal_to_nobody_names_vertex_and_line(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([3, 4], [4, 5])
    with pytest.raises(gl.ExecutionError) as caught:
        gl.run(Lost(source=4), graph, **mode)
    assert (
        ": Lost failed at vertex 4 in superstep 0: a signal to nobody; test the id against gl.NOBODY"
        in str(caught.value)
    )
    assert str(caught.value).endswith("self.signal(v.friend)")


def test_explain_shows_what_travels_by_id() -> None:
    (row,) = [t for t in gl.explain(Count).travels if t["what"] == "signals by id"]
    assert row["bytes"] == 16
    assert row["to"] == "to masters"


def test_interpreted_programs_mark_the_blocks_of_the_kernels() -> None:
    assert block.SIGNAL_BLOCK == frontier.SIGNAL_BLOCK
