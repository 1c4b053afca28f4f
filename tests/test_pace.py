"""Ranks keep pace in big rounds, and go ahead as they like in small ones."""

from __future__ import annotations

import struct

import pytest

import gaslab as gl
from tests.simulator import PACE, Rank, kind_of, ranks_of

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


def two_ranks(pace: int, consistency: str, scheduler: str) -> list[Rank]:
    """Return two ranks with three vertices each, and no edge between them."""
    edges = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    parts = [0, 0, 0, 1, 1, 1]
    return ranks_of(Restless(), 2, 6, edges, parts, consistency, scheduler, pace=pace)


def pass_on(source: int, target: Rank, records: tuple[bytes, ...]) -> None:
    """Let *target* know what rank *source* says of its pace."""
    assert all(kind_of(record) == PACE for record in records)
    target.step([(source, record) for record in records], 0)


@pytest.mark.parametrize("consistency", ["relaxed", "serialisable"])
@pytest.mark.parametrize("scheduler", ["fifo", "sweep", "random"])
def test_a_rank_waits_until_the_other_has_done_most_of_its_round(consistency: str, scheduler: str) -> None:
    quick, slow = two_ranks(1, consistency, scheduler)
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
    quick, slow = two_ranks(4, "relaxed", scheduler)
    begun, sent = slow.step([], 1)
    assert begun == 1
    assert sent == [(), ()]
    assert quick.step([], 100)[0] >= 100
    assert not quick.machine.held_up


def test_a_rank_that_has_nothing_to_do_holds_nobody_up() -> None:
    quick, slow = two_ranks(1, "relaxed", "fifo")
    _, sent = slow.step([], 1)
    pass_on(1, quick, sent[0])
    assert quick.step([], 100)[0] == 3
    assert quick.machine.held_up
    pass_on(1, quick, (struct.pack("<II", ANY, PACE),))
    assert quick.step([], 30)[0] == 30
