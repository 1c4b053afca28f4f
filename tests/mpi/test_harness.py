"""The harness itself: what ranks return, raise, and how it reports a hang or a death of one."""

from __future__ import annotations

import os
import time

import numpy as np
import pytest

from gaslab.errors import InputError, VertexNotFound
from gaslab.parallel.comm import Comm
from tests.conftest import Hosts
from tests.mpi.launcher import run_script
from tests.mpi.ranks import Ranks, RanksError

pytestmark = pytest.mark.timed


def pid_and_sum(comm: Comm, number: int) -> tuple[int, int, int, str]:
    return comm.rank, os.getpid(), int(comm.allreduce(comm.rank + number)), os.environ["OMP_NUM_THREADS"]


def all_raise(comm: Comm, message: str) -> None:
    raise VertexNotFound(message)


def each_raises_its_own(comm: Comm) -> None:
    raise InputError(f"rank {comm.rank}")


def one_raises_one_hangs(comm: Comm) -> None:
    if comm.rank == 0:
        raise InputError("a line of nonsense")
    comm.barrier()


def leave_a_message(comm: Comm) -> None:
    comm.begin({(comm.rank + 1) % comm.size: np.zeros(3, np.uint8)}, [])
    raise InputError("left in the middle")


def exchange(comm: Comm) -> list[list[int]]:
    return [part.tolist() for part in comm.alltoall([np.array([comm.rank, p]) for p in range(comm.size)])]


def sleep_on_rank_1(comm: Comm) -> None:
    if comm.rank == 1:
        time.sleep(30)


def die_on_rank_1(comm: Comm) -> None:
    if comm.rank == 1:
        os._exit(3)
    comm.barrier()


def test_results_come_in_rank_order_and_processes_stay(ranks: Ranks) -> None:
    once, again = (ranks.run(pid_and_sum, 10, threads=threads) for threads in (1, 2))
    assert [rank for rank, *_ in once] == list(range(ranks.size))
    assert [pid for _, pid, *_ in once] == [pid for _, pid, *_ in again]
    assert {total for *_, total, _ in once} == {sum(range(ranks.size)) + 10 * ranks.size}
    assert {threads for *_, threads in once} == {"1"}
    assert {threads for *_, threads in again} == {"2"}


def test_an_error_on_all_ranks_is_raised_as_it_was(ranks: Ranks) -> None:
    with pytest.raises(VertexNotFound, match="no vertex 7"):
        ranks.run(all_raise, "no vertex 7")


def test_messages_of_a_failed_task_do_not_reach_the_next(ranks: Ranks) -> None:
    before = ranks.run(pid_and_sum, 0)
    with pytest.raises(InputError, match="left in the middle"):
        ranks.run(leave_a_message)
    assert ranks.run(exchange) == [[[p, r] for p in range(ranks.size)] for r in range(ranks.size)]
    assert ranks.run(pid_and_sum, 0) == before


def test_different_errors_are_a_fault_of_their_own(hosts: Hosts) -> None:
    with pytest.raises(RanksError, match=r"(?s)did not all raise the same.*rank 0 raised.*rank 1 raised"):
        hosts(2).run(each_raises_its_own)


def test_a_rank_left_behind_is_shown_with_its_stack(hosts: Hosts) -> None:
    with pytest.raises(RanksError, match=r"(?s)rank 0 raised:.*nonsense.*rank 1 .*one_raises_one_hangs"):
        hosts(2).run(one_raises_one_hangs)


@pytest.mark.slow
def test_a_hang_ends_at_the_timeout_with_stacks_and_a_new_host_starts(hosts: Hosts) -> None:
    hosts(2).run(pid_and_sum, 0)  # started, and this module imported, before the clock runs
    start = time.monotonic()
    with pytest.raises(RanksError, match=r"(?s)no answer within 1 s.*rank 1 did not answer.*sleep_on_rank_1"):
        hosts(2).run(sleep_on_rank_1, timeout=1)
    assert time.monotonic() - start < 10
    assert len(hosts(2).run(pid_and_sum, 0)) == 2


def test_a_death_is_reported(hosts: Hosts) -> None:
    with pytest.raises(RanksError, match="rank 1 died"):
        hosts(2).run(die_on_rank_1)


@pytest.mark.slow
def test_scripts_run_under_mpiexec() -> None:
    done = run_script(2, ["-c", "from gaslab.parallel.comm import world; print(world().size, flush=True)"])
    assert (done.returncode, "".join(done.stdout.split())) == (0, "22"), done.stderr
