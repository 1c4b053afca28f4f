"""Places: where vertices' values are on a rank during visit; enough for the blocks of one round."""

from __future__ import annotations

import numpy as np

from gaslab.engine.visit.blocks import Blocks
from gaslab.engine.visit.schedule import Schedule
from gaslab.engine.visit.transfer import Arrays, copy_rows
from gaslab.parallel.comm import Comm

Moves = dict[int, list[slice]]  # runs of places, by the other's rank


class Walk:
    """Where blocks are in each round.

    `rank_at` is the rank of each block, and `first` the block's first place while it is on this rank, both
    int32 [rounds, blocks]; `leaves`, bool [rounds, ways], says whether a block moves from a table here to
    another rank after a round; `size` counts the places on this rank. Every block has as many places as the
    largest needs: an arriving block takes the places of one that has just left, and equal numbers leave and
    arrive.
    """

    def __init__(self, schedule: Schedule, rank_of_table: np.ndarray, sizes: np.ndarray, comm: Comm) -> None:
        self._sizes, self._rank = sizes, comm.rank
        self.rank_at = rank_of_table[schedule.seats]
        here = self.rank_at == comm.rank
        room, present = int(sizes.max()), int(here[0].sum())
        self.size = room * present
        self.first = np.zeros(here.shape, np.int32)
        self.first[0, here[0]] = np.arange(present) * room
        for turn in range(1, schedule.rounds):
            before, now = here[turn - 1], here[turn]
            self.first[turn, now] = self.first[turn - 1, now]
            self.first[turn, now & ~before] = self.first[turn - 1, before & ~now]
        self.leaves = np.zeros((schedule.rounds, schedule.ways), bool)
        turns, blocks = np.nonzero(here & ~np.roll(here, -1, axis=0))
        self.leaves[turns, schedule.seats[turns, blocks]] = True

    def moves(self, turn: int) -> tuple[Moves, Moves]:
        """Return the places that blocks leave after a round, and those that they take in the next."""
        after = (turn + 1) % len(self.first)
        start, end = self.rank_at[turn], self.rank_at[after]
        old, new = self.first[turn], self.first[after]
        mine = (start == self._rank) | (end == self._rank)
        leaving: Moves = {}
        coming: Moves = {}
        for block in np.flatnonzero(mine & ((start != end) | (old != new)) & (self._sizes > 0)).tolist():
            here, there, size = int(old[block]), int(new[block]), int(self._sizes[block])
            if start[block] == self._rank:
                leaving.setdefault(int(end[block]), []).append(slice(here, here + size))
            if end[block] == self._rank:
                coming.setdefault(int(start[block]), []).append(slice(there, there + size))
        return leaving, coming


class Places:
    """The places of masters' values in round 0, and the places to which blocks move after each round."""

    def __init__(self, blocks: Blocks, walk: Walk, comm: Comm) -> None:
        self.comm, self.size = comm, walk.size
        places = (walk.first[0, blocks.block] + blocks.position).astype(np.int32)
        self._places = np.split(places, np.cumsum(blocks.counts)[:-1])
        self._masters = [ids.astype(np.int32) for ids in blocks.masters]
        self.moves = [walk.moves(turn) for turn in range(len(walk.first))]

    def bring(self, pairs: Arrays) -> None:
        """Copy the values of masters, by local id, to the places of their blocks in round 0 (collective)."""
        copy_rows(self.comm, pairs, self._masters, self._places)

    def take_back(self, pairs: Arrays) -> None:
        """Copy values from the places of round 0 to the masters (collective)."""
        copy_rows(self.comm, pairs, self._places, self._masters)

    def memory_bytes(self) -> int:
        """The bytes of the arrays held here."""
        return sum(ids.nbytes for ids in (*self._masters, *self._places))
