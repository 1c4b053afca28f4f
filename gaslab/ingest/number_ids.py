"""User ids to global ids: the ids that occur on any rank, and their positions in sorted order.

Compact integers are merged as bits. All others go through a sample sort of the distinct ids: each rank
numbers one range of them and answers the requesting ranks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaslab._kernels import ids as kernels
from gaslab._kernels import names as name_kernels
from gaslab.ingest.ids import VertexIds
from gaslab.ingest.names import Names, concatenate
from gaslab.parallel.comm import Comm

SPARSE = 4  # up to this many ids per end, a bit per possible id is cheaper than sorting
SAMPLES = 64  # of each rank, per rank: ranges differ by about a tenth


def number_integers(
    parts: Sequence[np.ndarray], largest: int, comm: Comm, threads: int, least: int = 0
) -> VertexIds:
    """Replace the ids in *parts* (int64; this rank's) by global ids, in place (collective).

    *largest* is at least this rank's largest id, -1 if it has none; *least* is at most its smallest.
    """
    largest, least = (int(one) for one in comm.allreduce(np.array([largest, ~least]), "max"))
    least = ~least
    ends = int(comm.allreduce(sum(part.size for part in parts)))
    if least < 0:
        known = _by_sorting(parts, comm, threads)
        known.negative = True
        return known
    if largest < SPARSE * ends + (1 << 16):
        return _by_presence(parts, largest, comm, threads)
    return _by_sorting(parts, comm, threads)


def _by_presence(parts: Sequence[np.ndarray], largest: int, comm: Comm, threads: int) -> VertexIds:
    """One bit per possible id, merged over ranks; a global id is the number of bits below."""
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
    distinct = _intern_integers(parts)
    order = np.argsort(distinct)
    sorted_ids = distinct[order]
    sample = sorted_ids[_sample(sorted_ids.size, comm)]
    splitters = np.sort(np.concatenate(comm.allgather(sample)))
    cuts = np.searchsorted(sorted_ids, [splitters[i] for i in _quantiles(splitters.size, comm)])
    received = comm.alltoall(np.split(sorted_ids, cuts))
    mine = np.unique(np.concatenate(received))
    sizes = comm.allgather(mine.size)
    base = sum(sizes[: comm.rank])
    gids = np.empty(distinct.size, dtype=np.int64)
    gids[order] = np.concatenate(comm.alltoall([base + np.searchsorted(mine, ids) for ids in received]))
    for part in parts:
        kernels.translate(part, gids, threads)
    kept = comm.alltoall([mine[(p - base) % comm.size :: comm.size] for p in range(comm.size)])
    return VertexIds(comm, "int", sum(sizes), np.concatenate(kept))


def _intern_integers(parts: Sequence[np.ndarray]) -> np.ndarray:
    """Replace ids by their index among the distinct ones, in place; return those, in order of arrival."""
    places = 1 << 16
    distinct = np.empty(places // 2, dtype=np.int64)
    key, index = np.empty(places, dtype=np.int64), np.full(places, -1, dtype=np.int64)
    count = 0
    for part in parts:
        at = 0
        while at < part.size:
            at, count = kernels.intern_integers(part, at, key, index, distinct, count)
            if at < part.size:
                places *= 4
                known = distinct[:count]
                distinct = np.empty(places // 2, dtype=np.int64)
                key, index = np.empty(places, dtype=np.int64), np.full(places, -1, dtype=np.int64)
                kernels.intern_integers(known.copy(), 0, key, index, distinct, 0)
    return distinct[:count]


def number_names(names: Names, comm: Comm) -> tuple[np.ndarray, VertexIds]:
    """Return (global id of each of this rank's distinct *names*, the directory) (collective)."""
    order = names.order()
    names = names.take(order)
    sample = [names.bytes_at(i) for i in _sample(len(names), comm).tolist()]
    splitters = sorted(name for part in comm.allgather(sample) for name in part)
    cuts = [names.search(splitters[i]) for i in _quantiles(len(splitters), comm)]
    received = names.exchange(comm, np.array([0, *cuts, len(names)]))
    pool = concatenate(received)
    pool_order = pool.order()
    number, first = name_kernels.number_sorted(pool.arena, pool.start, pool_order)
    sizes = comm.allgather(first.size)
    base = sum(sizes[: comm.rank])
    ends = np.cumsum([len(part) for part in received])[:-1]
    gids = np.empty(len(names), dtype=np.int64)
    gids[order] = np.concatenate(comm.alltoall(np.split(base + number, ends)))
    # The directory: the distinct names again, those of rank p at every size-th position.
    where = [np.arange((p - base) % comm.size, first.size, comm.size) for p in range(comm.size)]
    kept = pool.take(pool_order[first[np.concatenate(where)]])
    limits = np.cumsum([0, *(part.size for part in where)])
    return gids, VertexIds(comm, "str", sum(sizes), concatenate(kept.exchange(comm, limits)))


def _sample(size: int, comm: Comm) -> np.ndarray:
    """Return positions that represent *size* sorted items."""
    return np.linspace(0, size - 1, min(size, SAMPLES * comm.size)).astype(np.int64)


def _quantiles(size: int, comm: Comm) -> list[int]:
    """Return the positions among *size* samples where one rank's range ends and the next begins."""
    return [p * size // comm.size for p in range(1, comm.size)]
