"""Ranks keep pace in big rounds but not in small ones; rivals take turns."""

from __future__ import annotations

import struct

import numpy as np
import pytest

import gaslab as gl
from tests.support import unordered_programs as programs
from tests.support.simulator import (
    GRANT,
    PACE,
    REQUEST,
    SIGNAL,
    UPDATE,
    Edge,
    Rank,
    kind_of,
    position_of,
    ranks_of,
)

NOT_COUNTING = 2**31 - 1  # as in pace.h


class Thrice(programs.Restless):
    """Everybody calls everybody, until it has had three turns."""

    def scatter(self, v: programs.Restless.Vertex, e: gl.Edge, nbr: programs.Restless.Vertex) -> None:
        if v.turns < 3:
            nbr.signal()


SEPARATE = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)], [0, 0, 0, 1, 1, 1]


def two_ranks(big: int, scheduler: str) -> list[Rank]:
    """Return two ranks with three vertices each, and no edge between them."""
    return ranks_of(programs.Restless(), 2, 6, *SEPARATE, "relaxed", scheduler, big=big)


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
    pass_on(1, quick, (pace(NOT_COUNTING),))
    assert quick.step([], 30)[0] == 30


def kinds(records: tuple[bytes, ...]) -> set[int]:
    return {kind_of(record) for record in records}


def in_turns(
    edges: list[Edge], parts: list[int], size: int = 2, scheduler: str = "fifo",
    program: type[gl.VertexProgram] = programs.Restless,
) -> list[Rank]:  # fmt: skip
    vertices = 1 + max(max(edge) for edge in edges)
    return ranks_of(program(), size, vertices, edges, parts, "serialisable", scheduler, turns=True)


def pace(number: int) -> bytes:
    """Return the record that so many rounds are done."""
    return struct.pack("<II", number, PACE)


def numbers(records: tuple[bytes, ...]) -> list[int]:
    """Return what is said of rounds."""
    return [position_of(record) for record in records if kind_of(record) == PACE]


def test_a_rank_that_lags_goes_on_from_where_the_others_are() -> None:
    rank, _ = two_ranks(1, "fifo")
    rank.step([], 3)
    _, sent = rank.step([(1, pace(1000))], 3)
    assert numbers(sent[1]) == [1001]


BOTH_WAYS = [*SEPARATE[0], (2, 4), (5, 1)], [*SEPARATE[1], 0, 1]  # 1 and 4 have mirrors


def test_a_rank_that_lags_stands_in_line_from_where_its_rivals_are() -> None:
    first, second = in_turns(*BOTH_WAYS)
    _, sent = first.step([(1, pace(1000))], 9)
    assert numbers(sent[1]) == [1000]
    assert REQUEST in kinds(sent[1]), "its turn"
    _, sent = second.step([(0, pace(1000))], 9)
    assert numbers(sent[0]) == [999]
    assert REQUEST in kinds(sent[0])


def test_a_rank_that_comes_back_begins_where_the_others_are() -> None:
    first, second = in_turns(*BOTH_WAYS, program=Thrice)
    second.step([(0, pace(NOT_COUNTING))], 0)
    channels: dict[int, tuple[bytes, ...]] = {0: (), 1: ()}
    said: list[int] = []
    for _ in range(40):  # the second has its turns alone, the first is only there for its mirror
        _, sent = second.step([(0, record) for record in channels[1] if kind_of(record) != PACE], 9)
        said += numbers(sent[0])
        channels[0] = tuple(record for record in sent[0] if kind_of(record) != PACE)
        _, sent = first.step([(1, record) for record in channels[0]], 0)
        channels[1] = sent[1]
    assert 1 in said
    assert said[-1] == NOT_COUNTING, "it has nothing to do"
    signal = struct.pack("<II", 0, SIGNAL)
    _, sent = second.step([(0, pace(1)), (0, signal)], 9)
    assert numbers(sent[0]) == [0]
    assert REQUEST in kinds(sent[0]), "it follows the first's round"


@pytest.mark.parametrize("scheduler", ["fifo", "sweep", "random"])
def test_rivals_take_turns(scheduler: str) -> None:
    first, second = in_turns(*BOTH_WAYS, scheduler=scheduler)
    assert second.step([], 100)[0] == 2, "those without mirrors"
    assert second.machine.held_up
    assert second.machine.in_flight == 0
    begun, sent = first.step([], 3)
    assert begun == 3
    assert first.machine.in_flight == 1
    assert kinds(sent[1]) == {REQUEST, SIGNAL}, "it has yet to say that its turn is over"
    _, answer = second.step([(0, record) for record in sent[1]], 100)
    assert kinds(answer[0]) == {GRANT}
    assert second.machine.urgent
    _, sent = first.step([(1, record) for record in answer[0]], 1)
    assert kinds(sent[1]) >= {UPDATE, PACE}
    assert first.machine.urgent
    _, sent = second.step([(0, record) for record in sent[1]], 100)
    assert REQUEST in kinds(sent[0]), "its own turn"


def test_a_rank_without_mirrors_keeps_nobody_from_its_turn() -> None:
    edges, parts = SEPARATE
    busy, other = in_turns([*edges, (2, 3)], [*parts, 0])
    assert other.step([], 100)[0] == 2
    assert other.machine.held_up
    _, sent = busy.step([], 4)  # it never runs out of work
    other.step([(0, record) for record in sent[1]], 1)
    assert other.machine.in_flight == 1


def test_ranks_without_neighbours_on_the_other_have_their_turns_at_once() -> None:
    """Three ranks in a row: the outer ones are rivals of the middle one, and not of each other."""
    edges, parts = SEPARATE
    edges = [*edges, (6, 7), (7, 8), (8, 6), (2, 4), (8, 4), (5, 1)]
    ranks = in_turns(edges, [*parts, 2, 2, 2, 1, 1, 0], 3)
    rivals = [rank.machine.rivals() for rank in ranks]
    assert np.maximum.reduce(rivals).tolist() == [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    for rank, heard in zip(ranks, [[], [], [(1, pace(1))]], strict=True):  # nothing of rank 0
        rank.step(heard, 9)
    assert [rank.machine.in_flight > 0 for rank in ranks] == [True, False, True]
