"""The vertices that have edges, numbered by block: these numbers decide places and the order of edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gaslab.engine.visit.schedule import BUCKETS, Schedule
from gaslab.engine.visit.transfer import rows_to, split
from gaslab.replication.transfer import to_mirrors

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph


class Blocks:
    """The vertices of all blocks, numbered by block, then by global id (collective).

    Attributes
    ----------
    sizes : int64[blocks]
        Of the whole graph.
    masters : list of int64 arrays
        The local ids of the vertices here, by the rank of their block in round 0.
    block, position : int64 arrays
        Of the vertices whose block is on this rank in round 0, in order of arrival from their masters' ranks;
        a position is within the block.
    counts : int64[size]
        The number of these vertices with their master on each rank.
    number : int32 or int64[num_local]
        By local id, on mirrors too; 0 for vertices without edges, which are in no block.
    """

    def __init__(self, schedule: Schedule, rank_of_table: np.ndarray, graph: Graph) -> None:
        comm, local = graph.comm, graph.local
        met = np.flatnonzero(local.degree[: local.num_masters])
        bucket = schedule.bucket_of(local.gid[met], local.in_degree[met] > 0)
        ends = np.zeros(schedule.blocks * BUCKETS, np.int64)
        np.add.at(ends, bucket, local.degree[met])
        block = schedule.block_of_bucket(np.asarray(comm.allreduce(ends)))[bucket]

        rank = rank_of_table[schedule.seats[0, block]]
        self.masters = split(met, rank, comm.size)
        gids, self.counts = rows_to(comm, [local.gid[ids] for ids in self.masters])
        self.block = rows_to(comm, split(block, rank, comm.size))[0]
        here = np.bincount(self.block, minlength=schedule.blocks)
        self.sizes = np.asarray(comm.allreduce(here))
        self.position = np.empty(gids.size, np.int64)
        self.position[np.lexsort((gids, self.block))] = np.arange(gids.size)
        self.position -= (np.cumsum(here) - here)[self.block]

        self.first = np.cumsum(self.sizes) - self.sizes
        kind = np.int32 if self.sizes.sum() < 1 << 31 else np.int64
        numbers = np.zeros(local.num_masters, kind)
        back = np.split((self.first[self.block] + self.position).astype(kind), np.cumsum(self.counts)[:-1])
        numbers[np.concatenate(self.masters)] = rows_to(comm, back)[0]
        self.number = to_mirrors(comm, local, numbers)
