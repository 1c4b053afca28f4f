"""Ranks keep pace in big rounds, and go ahead as they like in small ones; rivals take turns."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import gaslab as gl
from tests.simulator import GRANT, PACE, REQUEST, SIGNAL, UPDATE, Edge, Rank, kind_of, ranks_of

ANY = 2**31 - 1  # as in pace.h: do not wait for me


class Restless(gl.VertexProgram):
    """Every vertex runs again and again."""

    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        turns: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return 1

    def apply(self, v: Vertex, total: int) -> None:
        v.turns += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal()


APART = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], [0, 0, 0, 1, 1, 1]


def two_ranks(big: int, scheduler: str) -> list[Rank]:
    """Return two ranks with three vertices each, and no edge between them."""
    return ranks_of(Restless(), 2, 6, *APART, "relaxed", scheduler, big=big)


def pass_on(source: int, target: Rank, records: tuple[bytes, ...]) -> None:
    """Let *target* know what rank *source* says of its pace."""
    assert all(kind_of(record) == PACE for record in records)
    target.step([(source, record) for record in records], 0)


@pytest.mark.parametrize("scheduler", ["fifo", "sweep", "random"])
def test_a_rank_waits_until_the_other_has_done_most_of_its_round(scheduler: str) -> None:
    quick, slow = two_ranks(1, scheduler)
    if scheduler == "sweep":  # which takes a round to be as big as the one before
        for rank in (quick, slow):
            assert rank.step([], 3)[0] == 3
    begun, sent = slow.step([], 1)
    assert begun == 1
    pass_on(1, quick, sent[0])
    assert 1 <= quick.step([], 100)[0] <= 3, "its own round, and not the next"
    assert quick.machine.held_up
    assert quick.step([], 100)[0] == 0
    _, sent = slow.step([], 2)
    pass_on(1, quick, sent[0])
    assert 1 <= quick.step([], 100)[0] <= 3
    assert quick.machine.held_up, "the other has yet to begin its second"


@pytest.mark.parametrize("scheduler", ["fifo", "sweep", "random"])
def test_small_rounds_wait_for_nobody(scheduler: str) -> None:
    quick, slow = two_ranks(4, scheduler)
    begun, sent = slow.step([], 1)
    assert begun == 1
    assert sent == [(), ()]
    assert quick.step([], 100)[0] >= 100
    assert not quick.machine.held_up


def test_a_rank_that_has_nothing_to_do_holds_nobody_up() -> None:
    quick, slow = two_ranks(1, "fifo")
    _, sent = slow.step([], 1)
    pass_on(1, quick, sent[0])
    assert quick.step([], 100)[0] == 3
    assert quick.machine.held_up
    pass_on(1, quick, (struct.pack("<II", ANY, PACE),))
    assert quick.step([], 30)[0] == 30


def kinds(records: tuple[bytes, ...]) -> set[int]:
    return {kind_of(record) for record in records}


def in_turns(edges: list[Edge], parts: list[int], size: int = 2, scheduler: str = "fifo") -> list[Rank]:
    vertices = 1 + max(max(edge) for edge in edges)
    return ranks_of(Restless(), size, vertices, edges, parts, "serialisable", scheduler, turns=True)


@pytest.mark.parametrize("scheduler", ["fifo", "sweep", "random"])
def test_rivals_take_turns(scheduler: str) -> None:
    edges, parts = APART
    first, second = in_turns([*edges, (2, 4), (5, 1)], [*parts, 0, 1], scheduler=scheduler)
    assert second.step([], 100)[0] == 2, "those without mirrors"
    assert second.machine.held_up
    assert second.machine.in_flight == 0
    begun, sent = first.step([], 3)
    assert begun == 3
    assert first.machine.in_flight == 1
    assert kinds(sent[1]) == {REQUEST, SIGNAL}, "it has yet to say that its turn is over"
    _, answer = second.step([(0, record) for record in sent[1]], 100)
    assert kinds(answer[0]) == {GRANT}
    _, sent = first.step([(1, record) for record in answer[0]], 1)
    assert kinds(sent[1]) >= {UPDATE, PACE}
    _, sent = second.step([(0, record) for record in sent[1]], 100)
    assert REQUEST in kinds(sent[0]), "its own turn"


def test_a_rank_without_mirrors_keeps_nobody_from_its_turn() -> None:
    edges, parts = APART
    busy, other = in_turns([*edges, (2, 3)], [*parts, 0])
    assert other.step([], 100)[0] == 2
    assert other.machine.held_up
    _, sent = busy.step([], 4)  # it never runs out of work
    other.step([(0, record) for record in sent[1]], 1)
    assert other.machine.in_flight == 1


def test_ranks_without_neighbours_on_the_other_have_their_turns_at_once() -> None:
    """Three ranks in a row: the outer ones are rivals of the middle one, and not of each other."""
    edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (6, 7), (7, 8), (8, 6), (2, 3), (5, 6)]
    ranks = in_turns(edges, [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1], 3)
    rivals = [rank.machine.rivals() for rank in ranks]
    assert np.maximum.reduce(rivals).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
