"""Talk between ranks: arrays of any length, in chunks, counted; errors heard by all; the same sums."""

from __future__ import annotations

import numpy as np
import pytest

from gaslab.errors import GaslabError, UsageError, VertexNotFound
from gaslab.parallel import comm as module
from gaslab.parallel.comm import Comm, as_comm
from tests.mpi.ranks import Ranks

LENGTHS = (0, 1, 6, 7, 8, 13, 14, 15, 70)
SMALL = 7  # bytes of a chunk: lengths around one, two and ten of them


def in_small_chunks(comm: Comm) -> None:
    module.CHUNK, kept = SMALL, module.CHUNK
    try:
        for length in LENGTHS:
            mine = [np.arange(length, dtype=np.uint8) + comm.rank * 16 + peer for peer in range(comm.size)]
            came = comm.alltoall(mine)
            for peer, part in enumerate(came):
                np.testing.assert_array_equal(part, np.arange(length, dtype=np.uint8) + peer * 16 + comm.rank)
    finally:
        module.CHUNK = kept


def test_messages_longer_than_a_chunk(ranks: Ranks) -> None:
    ranks.run(in_small_chunks)


def exchange(comm: Comm) -> tuple[list[list[float]], int, int]:
    """Send rank p an array of p + own rank float64s; return what came and what was counted."""
    bytes_before, messages_before = comm.bytes_sent, comm.messages_sent
    came = comm.alltoall([np.full(peer + comm.rank, comm.rank + 0.5) for peer in range(comm.size)])
    assert all(part.dtype == np.float64 for part in came)
    return (
        [part.tolist() for part in came],
        comm.bytes_sent - bytes_before,
        comm.messages_sent - messages_before,
    )


def test_all_to_all_is_counted(ranks: Ranks) -> None:
    n = ranks.size
    for rank, (came, sent, messages) in enumerate(ranks.run(exchange)):
        assert came == [[peer + 0.5] * (peer + rank) for peer in range(n)]
        assert sent == sum(8 * (peer + rank) for peer in range(n) if peer != rank)
        assert messages == n - 1


def gathers(comm: Comm) -> tuple[list[list[int]] | None, list[list[int]]]:
    mine = np.arange(comm.rank, dtype=np.int32)
    root = comm.gather_array(mine)
    return None if root is None else [p.tolist() for p in root], [
        p.tolist() for p in comm.allgather_array(mine)
    ]


def test_gathering(ranks: Ranks) -> None:
    whole = [list(range(rank)) for rank in range(ranks.size)]
    for rank, (root, everywhere) in enumerate(ranks.run(gathers)):
        assert root == (whole if rank == 0 else None)
        assert everywhere == whole


def reductions(comm: Comm) -> tuple[object, ...]:
    r = comm.rank
    flags = comm.allreduce(np.array([r == 1, False]), "or")
    assert flags.dtype == np.bool_
    array = comm.allreduce(np.array([[r, 1], [2, r]]), "sum")
    return (
        int(comm.allreduce(r, "sum")), int(comm.allreduce(r, "min")), int(comm.allreduce(r, "max")),
        array.tolist(), flags.tolist(), comm.allreduce(np.zeros(0)).tolist(),
    )  # fmt: skip


def test_reductions(ranks: Ranks) -> None:
    n = ranks.size
    s = n * (n - 1) // 2
    expected = (s, 0, n - 1, [[s, n], [2 * n, s]], [n > 1, False], [])
    assert ranks.run(reductions) == [expected] * n


def sum_of_bools(comm: Comm) -> None:
    comm.allreduce(np.ones(2, bool), "sum")


def test_bools_are_not_summed(hosts) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(UsageError, match=r"make them integers first"):
        hosts(2).run(sum_of_bools)


TERMS = (1e16, 1.0, -1e16, 3.0)


def summed(comm: Comm) -> float:
    return float(comm.allreduce(np.array([TERMS[comm.rank]]))[0])


def test_floats_are_added_in_rank_order(hosts) -> None:  # type: ignore[no-untyped-def]
    """A tree would give 4.0 or 3.0 here; the order of ranks gives ((1e16 + 1) - 1e16) + 3 = 3."""
    expected = ((TERMS[0] + TERMS[1]) + TERMS[2]) + TERMS[3]
    assert hosts(4).run(summed) == [expected] * 4


def long_sum(comm: Comm) -> bool:
    module.SUM_CHUNK, kept = 3, module.SUM_CHUNK
    try:
        total = comm.allreduce(np.arange(10.0) * (comm.rank + 1))
    finally:
        module.SUM_CHUNK = kept
    return bool((total == np.arange(10.0) * sum(range(1, comm.size + 1))).all())


def test_sums_longer_than_a_chunk(ranks: Ranks) -> None:
    assert all(ranks.run(long_sum))


class Unsendable(Exception):
    def __init__(self, text: str, extra: int) -> None:
        super().__init__(text)


def attempt(comm: Comm, culprits: tuple[int, ...], kind: str) -> object:
    def action() -> int:
        if comm.rank in culprits:
            if kind == "unsendable":
                raise Unsendable("cannot travel", 1)
            raise VertexNotFound(f"vertex {comm.rank} is not there")
        return comm.rank

    return comm.attempt(action)


def test_attempt_raises_the_lowest_ranks_error_everywhere(ranks: Ranks) -> None:
    assert ranks.run(attempt, (), "") == list(range(ranks.size))
    last = ranks.size - 1
    with pytest.raises(VertexNotFound) as caught:
        ranks.run(attempt, (last, last - 1), "")
    assert str(caught.value) == f"vertex {max(last - 1, 0)} is not there"


def raised_of(comm: Comm) -> str:
    try:
        attempt(comm, (0,), "unsendable")
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def test_an_error_that_cannot_be_sent_is_sent_as_text(hosts) -> None:  # type: ignore[no-untyped-def]
    assert hosts(2).run(raised_of) == ["Unsendable: cannot travel", "GaslabError: Unsendable: cannot travel"]


def on_root(comm: Comm, fails: bool) -> int:
    def action() -> int:
        assert comm.rank == 0
        if fails:
            raise GaslabError("the root is not well")
        return 42

    return comm.on_root(action)


def test_on_root(ranks: Ranks) -> None:
    assert ranks.run(on_root, False) == [42] * ranks.size
    with pytest.raises(GaslabError, match=r"^the root is not well$"):
        ranks.run(on_root, True)


def all_here(comm: Comm) -> bool:
    return comm.all_here(20.0)


def one_is_late(comm: Comm) -> bool:
    here = True if comm.rank == 0 else comm.all_here(0.2)
    comm.barrier()
    if comm.rank == 0:
        assert comm.all_here(20.0)  # so that the communicator is clean again
    comm.barrier()  # or the others make no progress in theirs
    return here


def wrapped(comm: Comm) -> list[bool]:
    from mpi4py import MPI

    mine = MPI.COMM_WORLD.Dup()
    return [as_comm(mine) is as_comm(mine), as_comm(mine.Dup()) is as_comm(mine), as_comm(comm) is comm]


def test_a_communicator_is_wrapped_once(hosts) -> None:  # type: ignore[no-untyped-def]
    assert hosts(2).run(wrapped) == [[True, False, True]] * 2


def test_all_here(ranks: Ranks) -> None:
    assert ranks.run(all_here) == [True] * ranks.size


def test_a_rank_that_does_not_come_is_missed(hosts) -> None:  # type: ignore[no-untyped-def]
    assert hosts(3).run(one_is_late) == [True, False, False]
