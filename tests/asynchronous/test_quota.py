"""Limits of updates on several ranks: kept, reached, and no rank left without what it may do."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace

import numpy as np
import pytest

import gaslab as gl
from gaslab.engine.asynchronous.counts import Counts
from gaslab.engine.asynchronous.quota import Quota
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support import unordered_programs as programs
from tests.support.delays import slow
from tests.support.graphs import hubs


@dataclass
class Machine:
    updates: int = 0
    in_flight: int = 0


def table(offered: list[int], waiting: list[int]) -> Counts:
    return Counts(
        *[np.zeros(len(offered), np.int64)] * 4, waiting=np.array(waiting), updates=0, late=0,
        offered=np.array(offered),
    )  # fmt: skip


@pytest.mark.parametrize("waiting", [[1, 1, 1], [0, 5, 0], [3, 0, 1], [0, 0, 0]])
def test_permits_are_neither_lost_nor_made(waiting: list[int]) -> None:
    quotas, machines = [Quota(1000, rank, 3) for rank in range(3)], [Machine() for _ in range(3)]
    permits = sum(quota.left(machine) for quota, machine in zip(quotas, machines, strict=True))
    assert 1000 <= permits <= 1050 + 3 * 1000
    for _ in range(60):
        for quota, machine, some in zip(quotas, machines, waiting, strict=True):
            began = min(quota.left(machine), 7) * bool(some)
            machine.updates += began // 2
            machine.in_flight += began - began // 2
        given = table([q.offer(m) for q, m in zip(quotas, machines, strict=True)], waiting)
        for quota in quotas:
            quota.share(given)
        left = [quota.left(machine) for quota, machine in zip(quotas, machines, strict=True)]
        assert sum(left) + sum(m.updates + m.in_flight for m in machines) == permits
    for some, mine in zip(waiting, left, strict=True):
        assert any(waiting) <= ((mine > 0) == bool(some)), "they are where vertices wait"


def test_one_rank_has_exactly_so_many() -> None:
    assert Quota(50, 0, 1).left(Machine(updates=20, in_flight=5)) == 25
    assert Quota(0, 0, 1).left(Machine()) == Quota(0, 1, 3).left(Machine()) == 0


def updates(comm: Comm, engine: gl.Async, most: int, lonely: bool, delays: bool) -> tuple[int, bool]:
    """Run a program that never ends, on all ranks or with all its vertices on one."""
    drawn = hubs(300, 1500)
    strategy = "random" if not lonely else None
    edges = [(0, 0), (1, 0)] if lonely else drawn.edges
    graph = gl.Graph.from_edges([u for u, _ in edges], [w for _, w in edges], comm=comm, strategy=strategy)
    warned = pytest.warns(gl.ConvergenceWarning) if not comm.rank else contextlib.nullcontext()
    with warned, slow(comm, most) if delays else contextlib.nullcontext():
        result = gl.run(
            programs.Restless(), graph, engine=replace(engine, max_updates=most), timeout=50, threads=1
        )
    return result.metrics["updates"], result.converged


WAYS = [
    gl.Async(), gl.Async(scheduler="sweep"), gl.Async(consistency="serialisable"),
    gl.Async(consistency="serialisable", scheduler="random"),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("engine", WAYS, ids=str)
@pytest.mark.parametrize("most", [0, 1, 3000, 50_000])
def test_a_limit_of_updates_is_kept_and_reached(ranks: Ranks, engine: gl.Async, most: int) -> None:
    if engine.consistency == "serialisable":  # whose updates take longer
        most = min(most, 6000)
    for lonely in (False, True):
        for found, converged in ranks.run(updates, engine, most, lonely, most == 3000):
            assert not converged
            if ranks.size == 1:
                assert found == most
            assert most <= found <= 1.05 * most + 1000 * ranks.size
