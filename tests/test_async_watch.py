"""Runs without supersteps as their users see them: what is refused, warned of, counted and drawn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.comm import Comm
from gaslab.engine.counts import Counts
from tests import unordered_programs as programs
from tests.mpi.ranks import Ranks
from tests.zoo import additive


class Weary(programs.Restless):
    """Its done has a fault of its own."""

    def done(self) -> bool:
        if self.most >= 3:
            raise RuntimeError("tired")
        return False


def test_sums_on_edges_are_refused() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns={"weight": [1.0, 2.0], "cost": [1, 2]})
    with pytest.raises(gl.errors.UsageError, match=r"Tolls cannot run .*its scatter adds to fields declared"):
        gl.run(additive.Tolls(), graph, engine="async")


def test_threads_that_stand_idle_are_warned_of_once() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    with pytest.warns(gl.PerformanceWarning, match="of threads=2 only init and the aggregators") as found:
        gl.run(programs.Labels(), graph, engine="async", threads=2)
    assert [one.filename for one in found] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gl.run(programs.Labels(), graph, engine="async", threads=1)
        gl.run(programs.Labels(), graph, engine="async")


def told(**given: Any) -> tuple[Counts, np.ndarray]:
    """Return what two ranks may have told: unless *given* else, all is over."""
    usual = {"sent": 3, "received": 3, "passive": 1, "in_flight": 0, "waiting": 0, "updates": 9, "late": 0}
    rows = [Counts(**usual | {k: v[p] for k, v in given.items()}).row(np.array([p + 10])) for p in (0, 1)]
    return Counts.told(np.stack(rows))


def counts(**given: Any) -> Counts:
    return told(**given)[0]


def test_counts_come_back_as_they_were_told() -> None:
    found, more = told(sent=(1, 2), code=(0, 2), gid=(0, 7), site=(0, 1), turn=(0, 4))
    assert found.sent.tolist() == [1, 2]
    assert found.faults() == [(2, 7, 1, 4)]
    assert more.tolist() == [[10], [11]]


def test_the_end_needs_two_rounds_that_agree() -> None:
    over = counts()
    assert over.end(over)
    assert not over.end(None)
    assert not over.end(counts(passive=(1, 0)))
    assert not counts(passive=(0, 1)).end(over)
    assert not counts(sent=(3, 4)).end(over)  # a batch on the road
    assert not over.end(counts(received=(3, 2)))


def wearily(comm: Comm) -> list[int]:
    """Let done raise with batches on the road; return what a later run finds."""
    source = np.arange(60)
    graph = gl.Graph.from_edges(source, (source * 7 + 1) % 60, comm=comm)
    with pytest.raises(RuntimeError, match="tired"):
        gl.run(Weary(), graph, engine="async")
    got: list[int] = gl.run(programs.Parcels(), graph, engine="async").vertices["got"].tolist()
    return got


def test_a_done_that_raises_leaves_nothing_on_the_road(ranks: Ranks) -> None:
    expected = np.bincount((np.arange(60) * 7 + 1) % 60, minlength=60).tolist()
    assert ranks.run(wearily) == [expected] * ranks.size
