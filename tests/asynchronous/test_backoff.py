"""Waiting for batches: not at all at first, then ever longer, and the core goes to the rank that has work."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine.stale.streams import SUMS, VALUES, Streams
from gaslab.parallel import backoff as module
from gaslab.parallel.backoff import FEW, LONGEST, POLLS, SHORTEST, Backoff
from gaslab.parallel.comm import Comm
from gaslab.parallel.transport import Transport
from tests.support import unordered_programs as programs


@pytest.fixture
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was slept, instead of sleeping; 0 is a core that was yielded."""
    found: list[float] = []
    monkeypatch.setattr(module.time, "sleep", found.append)
    monkeypatch.setattr(module.os, "sched_yield", lambda: found.append(0))
    monkeypatch.setattr(module.launch, "usable_cores", lambda: 2)
    return found


@pytest.mark.parametrize(("ranks", "polls"), [(2, POLLS), (3, FEW)])
def test_it_yields_first_and_then_sleeps_ever_longer(slept: list[float], ranks: int, polls: int) -> None:
    backoff = Backoff(ranks)
    for _ in range(polls + 50):
        backoff.wait()
    assert slept[:polls] == [0] * polls
    assert slept[polls : polls + 3] == [SHORTEST, 2 * SHORTEST, 3 * SHORTEST]
    assert slept == sorted(slept)
    assert slept[-1] == LONGEST
    backoff.reset()
    backoff.wait()
    assert slept[-1] == 0


@pytest.mark.parametrize(("ranks", "oversubscription"), [(1, 1), (2, 1), (3, 1.5), (8, 4)])
def test_oversubscription_is_ranks_for_a_core(
    slept: list[float], ranks: int, oversubscription: float
) -> None:
    assert Backoff(ranks).oversubscription == oversubscription


def news_of(comm: Comm) -> list[bool]:
    """Wait for a batch, then for a table; return what `ready` answered in between."""
    transport = comm.transport()
    transport.post((comm.rank + 1) % comm.size, np.arange(5, dtype=np.uint8))
    while not transport.ready():
        time.sleep(1e-4)
    came = transport.collect()
    comm.barrier()
    ready = [len(came) == 1, transport.ready()]
    transport.begin_table(np.arange(3))
    while not transport.ready():
        time.sleep(1e-4)
    ready.append(transport.table() is not None)
    ready.append(transport.ready())
    transport.close()
    return ready


def test_there_is_news_until_it_is_taken(hosts: Any) -> None:
    assert hosts(3).run(news_of) == [[True, False, True, False]] * 3


class Late(Transport):
    """The transport of one of two ranks: a batch comes when it has been looked for so many times in vain."""

    size = 2

    def __init__(self, looks: list[int]) -> None:
        self.looks = looks

    def collect(self) -> list[tuple[int, np.ndarray]]:
        if self.looks[0]:
            self.looks[0] -= 1
            return []
        self.looks.pop(0)
        return [(1, np.array([SUMS if self.looks else VALUES, 0, 0, 0], np.int64).view(np.uint8))]


def test_waiting_for_a_batch_begins_anew_with_whatever_comes(slept: list[float]) -> None:
    streams = Streams(Late([FEW + 4, FEW + 1]), Backoff(3))
    streams.wait(VALUES, 0)  # the first look is before it waits
    assert slept == [0] * FEW + [SHORTEST, 2 * SHORTEST, 3 * SHORTEST] + [0] * FEW + [SHORTEST]


def test_nothing_is_lost_where_ranks_sleep(hosts: Any) -> None:
    answers = hosts(8).run(reaches)
    assert answers == [answers[0]] * 8
    assert answers[0] == 300


def reaches(comm: Comm) -> int:
    """Follow a chain from rank to rank: all but one of them sleep; return how far it came."""
    source = np.arange(300)
    graph = gl.Graph.from_edges(source, source + 1, comm=comm, strategy="random")
    result = gl.run(programs.Labels(), graph, engine="async")
    assert result.converged
    return int((result.vertices["part"] == 0).sum()) - 1
