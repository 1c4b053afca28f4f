"""Priorities without supersteps: the least of all ranks runs first, and what is called runs in the end."""

from __future__ import annotations

import random
import struct
from typing import Any

import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.conftest import LONG
from tests.support.interleavings import Explorer, Walk
from tests.support.simulator import FRONT, Rank, kind_of, ranks_of


class Ranked(gl.VertexProgram):
    """Everybody calls the next, in two turns at most, the second of which comes after all first ones."""

    class Vertex(gl.Vertex):
        turns: gl.int32 = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[int]:
        return nbr.turns

    def apply(self, v: Vertex, most: int, message: gl.Sum[int]) -> None:
        v.turns += 1

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.turns < 2:
            nbr.signal(1, priority=v.turns)


def by_priority(*parts: int, size: int = 2, consistency: str = "relaxed") -> list[Rank]:
    """Return ranks with a ring of vertices."""
    edges = [(v, (v + 1) % len(parts)) for v in range(len(parts))]
    return ranks_of(Ranked(), size, len(parts), edges, parts, consistency, "priority")


def front(priority: int) -> bytes:
    """Return the record that this is the least priority that waits."""
    return struct.pack("<IIq", 0, FRONT, priority)


def fronts(records: tuple[bytes, ...]) -> list[int]:
    """Return what is said of priorities."""
    return [struct.unpack("<q", record[8:])[0] for record in records if kind_of(record) == FRONT]


NOBODY = 2**63 - 1


def test_nobody_begins_above_the_least_of_all() -> None:
    rank, _ = by_priority(0, 0, 1, 1)
    assert rank.step([], 9)[0] == 0, "the other has yet to send its front"
    assert rank.machine.held_up
    assert rank.step([(1, front(0))], 9)[0] == rank.local.num_masters
    assert rank.step([], 9)[0] == 0, "those that wait come after those of the other"
    assert rank.machine.held_up
    assert rank.step([(1, front(1))], 9)[0] > 0


def test_ranks_send_a_new_front_at_once_and_once() -> None:
    rank, _ = by_priority(0, 0, 1, 1)
    _, sent = rank.step([], 0)
    assert fronts(sent[1]) == [0]
    assert rank.machine.urgent
    _, sent = rank.step([], 0)
    assert not fronts(sent[1])
    assert not rank.machine.urgent
    _, sent = rank.step([(1, front(NOBODY))], 99)
    assert fronts(sent[1]) == [NOBODY]


def assert_nobody_waits(ranks: list[Rank]) -> None:
    for rank in ranks:
        assert rank.machine.in_flight == rank.machine.waiting == 0, "no signal lets them begin"
        assert (rank.fields["turns"] > 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("consistency", ["relaxed", "serialisable"])
@pytest.mark.parametrize("parts", [(0, 1, 0), (0, 1, 1)])
def test_priorities_leave_nobody_waiting_in_any_way(parts: tuple[int, ...], consistency: str) -> None:
    ranks = by_priority(*parts, consistency=consistency)
    explorer = Explorer(ranks)
    explorer.explore(lambda: assert_nobody_waits(ranks))
    assert explorer.ways > explorer.ends > 0


class Recalled(Ranked):
    """Calls come at lower and higher priorities, also while the called one is at work."""

    def scatter(self, v: Ranked.Vertex, e: gl.Edge, nbr: Ranked.Vertex) -> None:
        if nbr.turns < 4:
            nbr.signal(1, priority=(v.turns + v.out_degree) % 5)


@pytest.mark.slow
@pytest.mark.parametrize("consistency", ["relaxed", "serialisable"])
def test_priorities_leave_nobody_waiting_on_more_ranks(consistency: str) -> None:
    rng = random.Random(1)
    for size in (2, 3, 5):
        edges = [(u, v) for u in range(30) for v in range(30) if u != v and rng.random() < 0.1]
        parts = [rng.randrange(size) for _ in edges]
        ranks = ranks_of(Recalled(), size, 30, edges, parts, consistency, "priority")
        for _ in range(10):
            Walk(ranks, rng)
            assert_nobody_waits(ranks)


def test_a_lost_front_is_found() -> None:
    ranks = by_priority(0, 1, 0)
    with pytest.raises(AssertionError, match="no signal lets them"):
        Explorer(ranks).explore(lambda: assert_nobody_waits(ranks), lost=FRONT)


# ---- priorities of a wide spread -------------------------------------------------------------------
# Where a search of the buckets has no end it stays in the kernel: these run on hosts, which can be ended.


class Spread(Ranked):
    """Signals have priorities of a wider spread than a window of buckets, also at vertices in flight."""

    most: int = 3

    def scatter(self, v: Ranked.Vertex, e: gl.Edge, nbr: Ranked.Vertex) -> None:
        if nbr.turns < self.most:
            nbr.signal(1, priority=(v.turns + v.out_degree) % 5 * 100)


CYCLE = [(0, 1), (1, 2), (2, 0)]
SMALL = [("relaxed", (0, 1, 0)), ("relaxed", (0, 1, 1))]
LARGE = [("serialisable", (0, 1, 0)), ("serialisable", (0, 1, 1))]


def explored(comm: Comm, consistency: str, parts: tuple[int, ...]) -> int:
    """Go through all ways of a small graph; return how many states there were."""
    ranks = ranks_of(Spread(most=2), 2, 3, CYCLE, parts, consistency, "priority")
    explorer = Explorer(ranks)
    explorer.explore(lambda: assert_nobody_waits(ranks))
    return explorer.states


@pytest.mark.slow
@pytest.mark.parametrize(("consistency", "parts"), SMALL + LARGE * LONG)
def test_a_wide_spread_leaves_no_vertex_waiting_in_any_order(
    hosts: Any, consistency: str, parts: tuple[int, ...]
) -> None:
    states = hosts(2).run(explored, consistency, parts, timeout=240)
    print(f"\n{states[0]:,} states")


def walked(comm: Comm, consistency: str, walks: int) -> None:
    """Go through larger graphs at random, in which the vertices called first have mirrors nearly all."""
    rng = random.Random(comm.rank)
    for size in (2, 3, 4):
        n = rng.randint(8, 40)
        edges = {(u, v) for u in range(n) for v in range(n) if u != v and rng.random() < 4 / n}
        some = sorted(edges | {(u, 0) for u in range(1, n)})
        parts = [rng.randrange(size) for _ in some]
        ranks = ranks_of(Spread(), size, n, some, parts, consistency, "priority")
        for _ in range(walks):
            Walk(ranks, rng)
            assert_nobody_waits(ranks)


@pytest.mark.parametrize("consistency", ["relaxed", "serialisable"])
def test_a_wide_spread_leaves_no_vertex_waiting_on_more_ranks(hosts: Any, consistency: str) -> None:
    hosts(2).run(walked, consistency, 200 if LONG else 8, timeout=240 if LONG else 60)
