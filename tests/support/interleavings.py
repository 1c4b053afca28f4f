"""What can happen between the machines of `tests.support.simulator`: all of it, or one random way through.

A machine depends on nothing but its inputs, so `Explorer` knows the state of a rank by the inputs it
has had. Steps of different ranks so commute by themselves, and what many interleavings lead to is looked at
once.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gaslab._kernels.machine import Serialisable
from tests.support.scopes import ID, LOCK, RELEASE
from tests.support.simulator import REQUEST, Edge, Rank, Records, kind_of, position_of

Input = tuple[int, bytes]  # the sender and its record; or to begin a vertex
BEGIN: Input = (-1, b"")
HELD_UP: Input = (-2, b"")  # to begin a vertex before the rank's turn


class Explorer:
    """Every state that a small graph's ranks can come to; with *overtaking*, records do not keep their order.

    Attributes
    ----------
    states, ends, ways : int
        Different states, those where nothing more can happen, and the interleavings that lead there.
    kinds : set of int
        Of all records that were ever sent.
    """

    def __init__(self, ranks: list[Rank], overtaking: bool = False) -> None:
        self.ranks, self._overtaking = ranks, overtaking
        self.states = self.ends = self.ways = 0
        self.kinds: set[int] = set()
        self._history: list[list[tuple[Input, ...]]] = [[()] for _ in ranks]  # by rank and number
        self._known: list[dict[tuple[int, Input], Any]] = [{} for _ in ranks]
        self._now = [0 for _ in ranks]  # where each machine is
        for rank in ranks:
            rank.restart()

    def explore(self, check: Callable[[], None], lost: int | None = None) -> None:
        """Call *check* at every end, with all machines there; records of kind *lost* do not arrive."""
        count = len(self.ranks)
        level: dict[Any, int] = {((0,) * count, ((),) * count**2): 1}
        while level:
            following: dict[Any, int] = {}
            for (numbers, channels), ways in level.items():
                self.states += 1
                after = list(self._after(numbers, channels, lost))
                if not after:
                    self.ends += 1
                    self.ways += ways
                    for r in range(count):
                        self._go(r, numbers[r])
                    check()
                for state in after:
                    following[state] = following.get(state, 0) + ways
            level = following

    def _after(self, numbers: tuple[int, ...], channels: Any, lost: int | None) -> Iterator[Any]:
        """Return the states that are one step away: one rank begins a vertex, or takes in one record."""
        count = len(self.ranks)
        inputs = [(r, BEGIN, 0, 0) for r in range(count)]
        for k, records in enumerate(channels):
            some = records if self._overtaking else records[:1]
            inputs += [(k % count, (k // count, record), k, i) for i, record in enumerate(some)]
        for r, given, k, i in inputs:
            number, sent = self._step(r, numbers[r], given)
            if number == numbers[r]:
                continue
            carried = list(channels)
            if given != BEGIN:
                carried[k] = (*carried[k][:i], *carried[k][i + 1 :])
            for peer, records in enumerate(sent):
                self.kinds.update(map(kind_of, records))
                carried[r * count + peer] += tuple(x for x in records if kind_of(x) != lost)
            yield (*numbers[:r], number, *numbers[r + 1 :]), tuple(carried)

    def _step(self, r: int, number: int, given: Input) -> tuple[int, list[Records]]:
        """Return what rank *r*, being in a state, comes to and sends when it is given something."""
        if (number, given) not in self._known[r]:
            self._go(r, number)
            begun, sent = self._give(r, given)
            reached, history = number, self._history[r][number]
            vain = given == BEGIN and not begun and not any(sent)
            held_up = vain and self.ranks[r].machine.held_up
            if vain and (not held_up or history[-1:] == (HELD_UP,)):  # this must not show in what follows
                self.ranks[r].restart()
                self._now[r] = 0
            else:
                self._history[r].append((*history, HELD_UP if held_up else given))
                self._now[r] = reached = len(self._history[r]) - 1
            self._known[r][number, given] = reached, sent
        return self._known[r][number, given]  # type: ignore[no-any-return]

    def _give(self, r: int, given: Input) -> tuple[int, list[Records]]:
        begins = given in (BEGIN, HELD_UP)
        return self.ranks[r].step([] if begins else [given], int(begins))

    def _go(self, r: int, number: int) -> None:
        """Bring the machine of rank *r* into a state, from where it is if that is on the way."""
        history, now = self._history[r][number], self._history[r][self._now[r]]
        if history[: len(now)] != now:
            self.ranks[r].restart()
            now = ()
        for given in history[len(now) :]:
            self._give(r, given)
        self._now[r] = number


# ---- one way ---------------------------------------------------------------------------------------


class Walk:
    """One random way: batches split and merged, ranks and channels that are quick and slow."""

    def __init__(self, ranks: list[Rank], rng: random.Random) -> None:
        self.ranks, self._rng = ranks, rng
        self.steps = 0
        self._channels: dict[Edge, list[bytes]] = {}
        self._pace = {(a, b): rng.choice((1, 1, 5, 25)) for a in range(8) for b in range(8)}
        self._full: set[int] = set()  # ranks that do nothing until they hear something
        self._asked: list[tuple[int, int, int]] = []  # rank, mirror, releases before
        for rank in ranks:
            rank.restart()
        while self._move():
            self.steps += 1

    def _move(self) -> bool:
        """Let one rank take in some records or begin some vertices; return whether any could."""
        moves = [move for move, records in self._channels.items() if records]
        moves += [(r, r) for r in range(len(self.ranks)) if r not in self._full]
        if not moves:
            return False
        a, b = self._rng.choices(moves, [self._pace[move] for move in moves])[0]
        came, budget = [], self._rng.choice((1, 1, 2, 9))
        if a != b:
            came, budget = self._delivery(a, b), self._rng.choice((0, 0, 1))
            self._full.discard(b)
        begun, sent = self.ranks[b].step(came, budget)
        if a == b and not begun and not any(sent):
            self._full.add(b)
        for peer, records in enumerate(sent):
            self._channels.setdefault((b, peer), []).extend(records)
        return True

    def _delivery(self, a: int, b: int) -> list[tuple[int, bytes]]:
        records = self._channels[a, b]
        part = records[: self._rng.choice((1, 1, 2, 7, len(records)))]
        del records[: len(part)]
        rank = self.ranks[b]
        for record in part:
            if kind_of(record) == REQUEST and isinstance(rank.machine, Serialisable):
                mirror = int(rank.local.mirror_bounds[a, 0]) + position_of(record)
                self._asked.append((b, mirror, len(rank.machine.locks())))
        return [(a, b"".join(part))] if self._rng.random() < 0.5 else [(a, record) for record in part]

    def passed(self) -> Iterator[tuple[int, int]]:
        """Yield of every wait of a mirror how often it was passed, and its neighbours here.

        A neighbour that held before the mirror asked counts as one that passed it.
        """
        tables = [rank.machine.locks() for rank in self.ranks]
        turns: dict[Edge, int] = {}
        for r, mirror, releases in self._asked:
            local, table = self.ranks[r].local, tables[r]
            turn = turns[r, mirror] = turns.get((r, mirror), -1) + 1
            locked_at = np.sort(table[table[:, ID] == mirror, LOCK])[turn]
            asked_after = table[releases - 1, RELEASE] if releases else -1
            begin, neighbor, _ = local.out()
            near = [neighbor[begin[mirror] : begin[mirror + 1]]]
            near.append(local.in_neighbor[local.in_begin[mirror] : local.in_begin[mirror + 1]])
            near = np.unique(np.concatenate(near))
            near = near[near != mirror]
            since = (table[:, LOCK] > asked_after) & (table[:, LOCK] < locked_at)
            between = since & np.isin(table[:, ID], near)
            yield int(between.sum()), near.size
