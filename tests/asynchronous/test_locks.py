"""The protocol of scopes, by simulation of the kernel: neighbours exclude each other, all get their turn.

Small graphs in every interleaving, larger ones at random; ``pytest -s`` prints how many there were.
"""

from __future__ import annotations

import graphlib
import itertools
import random
from collections.abc import Sequence
from typing import Any

import pytest

import gaslab as gl
from tests.conftest import LONG
from tests.support import unordered_programs as programs
from tests.support.interleavings import Explorer, Walk
from tests.support.scopes import overlaps
from tests.support.simulator import (
    GIVE_BACK,
    IN_FLIGHT,
    MAX_BYPASS,
    PACE,
    REFUSAL,
    UPDATE,
    Edge,
    Rank,
    ranks_of,
)

PATH, TRIANGLE, STAR = [(0, 1), (1, 2)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (0, 2), (3, 0)]
SQUARE = [(0, 1), (2, 1), (2, 3), (3, 0)]


def assert_in_order(ranks: Sequence[Rank], vertices: int, edges: Sequence[Edge], rounds: int) -> None:
    """Hold what `Ledger` wrote down against one turn after the other, in an order that all ranks agree on."""
    for rank in ranks:
        assert rank.machine.in_flight == rank.machine.waiting == 0, "vertices wait for each other"
        assert overlaps(rank.local, rank.machine.locks()) == 0, "adjacent vertices were at work at once"
    saw: dict[tuple[int, bool], list[int]] = {}
    turns: dict[tuple[int, bool], list[int]] = {}
    for rank in ranks:
        for v, gid in enumerate(rank.local.gid.tolist()):
            master = v < rank.local.num_masters
            for known, field in ((saw, "saw"), (turns, "turns")):
                known.setdefault((gid, not master), []).append(int(rank.fields[field][v]))
    assert all(turns[v, False][0] >= rounds for v in range(vertices)), "somebody was never served"
    for (v, mirror), values in saw.items():
        assert not mirror or set(values) == set(saw[v, False]), "a mirror has old values"

    taken = ((v, k) for v in range(vertices) for k in range(turns[v, False][0]))
    after: dict[Edge, set[Edge]] = {(v, k): {(v, k - 1)} for v, k in taken}
    for rank in ranks:
        near = {frozenset((int(u), int(w))) for u, w in rank.edges()}
        held: list[Edge] = []
        count: dict[int, int] = {}
        for v in rank.turns():
            turn = count[v] = count.get(v, -1) + 1
            after[v, turn] |= {other for other in held if {v, other[0]} in near}
            held.append((v, turn))
    found = dict.fromkeys(range(vertices), 0)
    for v, turn in graphlib.TopologicalSorter(after).static_order():
        if turn >= 0:
            total = sum(found[u] for u, w in edges if w == v) + sum(found[w] for u, w in edges if u == v)
            found[v] = (5 * found[v] + total + 1) % 1000003
    assert {v: [found[v]] for v in range(vertices)} == {v: saw[v, False] for v in range(vertices)}


def explore(
    vertices: int, edges: Sequence[Edge], parts: Sequence[int], size: int, rounds: int = 1,
    turns: bool = False, max_bypass: int = MAX_BYPASS,
) -> Explorer:  # fmt: skip
    program = programs.Ledger(rounds=rounds)
    ranks = ranks_of(program, size, vertices, edges, parts, max_bypass=max_bypass, turns=turns)
    explorer = Explorer(ranks)
    explorer.explore(lambda: assert_in_order(ranks, vertices, edges, rounds))
    return explorer


SMALL = [
    (vertices, edges, parts, size, 1)
    for vertices, edges, size in ((3, PATH, 3), (3, TRIANGLE, 2), (4, STAR, 2))
    for parts in itertools.product(range(size), repeat=len(edges))
    if len(set(parts)) > 1  # else all is local
]
LARGER = [
    (3, TRIANGLE, (0, 1, 2), 3, 1),  # everybody has two replicas, on other ranks each
    (3, [(0, 1), (1, 0), (0, 0), (1, 2)], (0, 1, 1, 1), 2, 1),  # to and fro, and a loop
]
IN_TURN = [
    (3, PATH, (0, 1), 2, 2, True),
    (3, PATH, (1, 0), 2, 2, True),
    (3, TRIANGLE, (0, 1, 0), 2, 1, True),
    (4, SQUARE, (0, 1, 1, 0), 2, 1, True),
    (3, PATH, (0, 1), 3, 1, True),
    (3, PATH, (2, 1), 3, 1, True),
]
HASTY = [(3, [(0, 1), (0, 2), (1, 0)], (0, 0, 1), 2, 2)]  # whoever is passed once blocks others
LARGEST = [
    (3, TRIANGLE, (2, 1, 0), 3, 1),
    (3, TRIANGLE, (1, 2, 0), 3, 1),
    (3, TRIANGLE, (0, 1, 1), 2, 2),
    *[(3, PATH, parts, 2, threads) for parts in ((0, 1), (1, 0)) for threads in (2, 3)],
    (4, SQUARE, (0, 1, 0, 1), 2, 1),
    (4, SQUARE, (0, 1, 1, 0), 2, 1),
    (4, STAR, (0, 1, 2), 3, 1),
    (3, TRIANGLE, (0, 1, 1), 2, 2, True),
    (4, SQUARE, (0, 1, 0, 1), 2, 1, True),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("graphs", "max_bypass"),
    [
        (HASTY, 0),
        *[(graphs, MAX_BYPASS) for graphs in (SMALL, LARGER, IN_TURN, *[[one] for one in LARGEST * LONG])],
    ],
)
def test_every_interleaving_is_one_turn_after_the_other(graphs: list[Any], max_bypass: int) -> None:
    explored = [explore(*graph, max_bypass=max_bypass) for graph in graphs]
    states, ends, ways = (sum(getattr(one, name) for one in explored) for name in ("states", "ends", "ways"))
    print(f"\n{len(graphs)} graphs: {ways:,} interleavings through {states:,} states to {ends:,} ends")
    assert ways > ends >= len(graphs)


TOGETHER = [  # scopes of one vertex on three ranks; of both, which takes a minute, under the long profile
    (programs.Silent, [(0, 1), (1, 0), (0, 0)], (1, 2, 0)),
    (programs.Silent, [(0, 1), (1, 0), (0, 0)], (0, 2, 1)),
    (programs.Silent, [(0, 1), (1, 0), (0, 0), (1, 1)], (1, 2, 0, 0)),
]
ALL_TOGETHER = [
    (programs.Ledger, [(0, 1), (1, 0), (0, 0)], (0, 1, 2)),
    (programs.Silent, [(0, 1), (1, 0), (0, 0), (1, 1)], (0, 1, 2, 2)),
    (programs.Silent, [(0, 1), (1, 0), (0, 0), (1, 1)], (2, 0, 1, 1)),
    (programs.Ledger, [(0, 1), (1, 0), (0, 0)], (2, 1, 0)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("program", "edges", "parts"), TOGETHER + ALL_TOGETHER * LONG)
def test_scopes_asked_for_on_all_ranks_together(
    program: type[gl.VertexProgram], edges: list[Edge], parts: tuple[int, ...]
) -> None:
    """Who is refused on one gives the others back and asks rank by rank."""
    ranks = ranks_of(program(), 3, 2, edges, parts, turns=True, rivals=False)
    explorer = Explorer(ranks)
    explorer.explore(lambda: assert_in_order(ranks, 2, edges, 1), lost=PACE)  # which nobody waits for
    assert explorer.kinds >= {REFUSAL, GIVE_BACK}


def test_a_scope_that_is_not_given_back_is_found() -> None:
    edges = [(0, 1), (1, 0), (0, 0)]
    ranks = ranks_of(programs.Silent(), 3, 2, edges, (1, 2, 0), turns=True, rivals=False)
    with pytest.raises(AssertionError, match="vertices wait for each other"):
        Explorer(ranks).explore(lambda: assert_in_order(ranks, 2, edges, 1), lost=GIVE_BACK)


@pytest.mark.parametrize("parts", [(0, 1, 1), (1, 0, 0), (1, 0, 1)])
def test_no_message_is_lost_in_any_interleaving(parts: tuple[int, ...]) -> None:
    edges = [(0, 1), (1, 2), (0, 2)]
    ranks = ranks_of(programs.Parcels(), 2, 3, edges, parts)

    def check() -> None:
        got = {}
        for rank in ranks:
            assert rank.machine.in_flight == 0
            masters = range(rank.local.num_masters)
            got |= {int(rank.local.gid[v]): int(rank.fields["got"][v]) for v in masters}
        assert got == {0: 0, 1: 1, 2: 2}

    Explorer(ranks).explore(check)


def test_a_lost_release_is_found() -> None:
    ranks = ranks_of(programs.Ledger(), 2, 3, PATH, (0, 1))
    with pytest.raises(AssertionError, match="vertices wait for each other"):
        Explorer(ranks).explore(lambda: assert_in_order(ranks, 3, PATH, 1), lost=UPDATE)


def test_records_that_overtake_each_other_are_found() -> None:
    ranks = ranks_of(programs.Ledger(rounds=2), 2, 3, PATH, (0, 1))
    with pytest.raises((AssertionError, graphlib.CycleError)):
        Explorer(ranks, overtaking=True).explore(lambda: assert_in_order(ranks, 3, PATH, 2))


@pytest.mark.slow
def test_without_scopes_neighbours_run_at_once() -> None:
    """Without them some interleavings of a greedy colouring are not proper; with them all are."""
    proper: dict[str, set[bool]] = {"relaxed": set(), "serialisable": set()}
    for consistency, found in proper.items():
        ranks = ranks_of(programs.Colours(), 2, 3, TRIANGLE, (0, 1, 0), consistency)

        def check(ranks: list[Rank] = ranks, found: set[bool] = found) -> None:
            colour = {}
            for rank in ranks:
                masters = range(rank.local.num_masters)
                colour |= {int(rank.local.gid[v]): int(rank.fields["colour"][v]) for v in masters}
            found.add(all(colour[u] != colour[w] for u, w in TRIANGLE))

        Explorer(ranks).explore(check)
    assert proper == {"relaxed": {True, False}, "serialisable": {True}}


# ---- larger graphs ---------------------------------------------------------------------------------


def drawn(rng: random.Random, size: int) -> tuple[int, list[Edge], list[int]]:
    """Draw a graph with hubs, loops and parallel edges, and the ranks of its edges."""
    n = rng.randint(20, 60)
    edges = [(rng.randrange(n), int(rng.random() ** 3 * n)) for _ in range(rng.randint(n, 3 * n))]
    place = {edge: rng.randrange(size) for edge in edges}
    return n, edges, [place[edge] for edge in edges]


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 3, 5])
def test_random_interleavings_of_larger_graphs(size: int) -> None:
    rng = random.Random(size)
    steps = 0
    for k in range(400 if LONG else 8):
        n, edges, parts = drawn(rng, size)
        rounds = 1 + k % 3
        scheduler = ("fifo", "sweep", "random")[k % 3]
        ranks = ranks_of(
            programs.Ledger(rounds=rounds), size, n, edges, parts, scheduler=scheduler,
            turns=k % 4 > 0, rivals=k % 4 > 1,
        )  # fmt: skip
        for _ in range(5):
            steps += Walk(ranks, rng).steps
            assert_in_order(ranks, n, edges, rounds)
    print(f"\n{steps:,} steps")


@pytest.mark.slow
def test_nobody_is_passed_for_ever() -> None:
    """A vertex that waits is passed MAX_BYPASS times at most, then by those alone that insisted before."""
    rng = random.Random(3)
    most = 0
    for _ in range(100 if LONG else 2):
        around = range(1, 13)  # around a hub; each has business elsewhere too
        edges = [(0, v) for v in around] + [(v, 12 + v) for v in around]
        parts = [0 for _ in around] + [1 + v % 2 for v in around]
        edges, parts = [(25, 0), *edges], [1, *parts]  # the hub has its master on rank 1
        ranks = ranks_of(programs.Ledger(rounds=60), 3, 26, edges, parts)
        walk = Walk(ranks, rng)
        assert_in_order(ranks, 26, edges, 60)
        assert all(rank.machine.window <= IN_FLIGHT for rank in ranks), "there is no room for so many"
        for passed, neighbours in walk.passed():
            most = max(most, passed)
            assert passed <= MAX_BYPASS + 2 * neighbours
    assert most >= MAX_BYPASS, "no vertex was passed so often"
