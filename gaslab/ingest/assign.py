"""User ids to global ids: who occurs anywhere, and everyone's position in the sorted order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaslab._kernels import ids as kernels
from gaslab.comm import Comm
from gaslab.ingest.ids import VertexIds

SPARSE = 4  # a bit per possible id is cheaper than sorting while there are at most so many ids per end


def number_integers(parts: Sequence[np.ndarray], largest: int, comm: Comm, threads: int) -> VertexIds:
    """Replace the ids in *parts* (int64, >= 0; this rank's) by global ids, in place (collective).

    *largest* is at least this rank's largest id; -1 when it has none.
    """
    largest = int(comm.allreduce(largest, "max"))
    ends = int(comm.allreduce(sum(part.size for part in parts)))
    if largest < SPARSE * ends + (1 << 16):
        return _by_presence(parts, largest, comm, threads)
    return _by_sorting(parts, comm, threads)


def _by_presence(parts: Sequence[np.ndarray], largest: int, comm: Comm, threads: int) -> VertexIds:
    """One bit per possible id, united over ranks; a global id is the number of bits below."""
    present = np.zeros((largest + 64) // 64 * 64, dtype=np.uint8)
    for part in parts:
        kernels.mark(part, present, threads)
    words = comm.allreduce(kernels.pack(present, threads), "or")
    del present
    before = kernels.prefix(words)
    n = int(before[-1])
    if n == largest + 1:
        return VertexIds(comm, "int", n)
    for part in parts:
        kernels.rank_in_bits(part, words, before, threads)
    return VertexIds(comm, "int", n, kernels.every_nth_bit(words, before, comm.size, comm.rank))


def _by_sorting(parts: Sequence[np.ndarray], comm: Comm, threads: int) -> VertexIds:
    """Sample sort of the distinct ids: each range of ids is numbered by one rank, which tells those who asked."""
    distinct = np.unique(np.concatenate(parts))
    sample = (
        distinct[np.linspace(0, distinct.size - 1, 64 * comm.size).astype(np.int64)]
        if distinct.size
        else distinct
    )
    splitters = np.sort(np.concatenate(comm.allgather(sample)))
    splitters = splitters[np.arange(1, comm.size) * splitters.size // comm.size]
    bounds = np.concatenate([[0], np.searchsorted(distinct, splitters), [distinct.size]])
    came = comm.alltoall([distinct[bounds[p] : bounds[p + 1]] for p in range(comm.size)])
    mine = np.unique(np.concatenate(came))
    sizes = comm.allgather(mine.size)
    base = sum(sizes[: comm.rank])
    told = np.concatenate(comm.alltoall([base + np.searchsorted(mine, ids) for ids in came]))
    for part in parts:
        part[:] = np.searchsorted(distinct, part)
        kernels.translate(part, told, threads)
    kept = comm.alltoall([mine[(p - base) % comm.size :: comm.size] for p in range(comm.size)])
    return VertexIds(comm, "int", sum(sizes), np.concatenate(kept))
