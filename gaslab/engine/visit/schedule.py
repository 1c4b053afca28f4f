"""Which edges may be visited at once: blocks of vertices that meet at tables, in rounds.

Vertices fall into blocks by a hash of their global id. In a round two blocks sit at each table, every
block at one table only, and the edges between the two are visited there: tables share no vertex, so
they may be on different threads and ranks. After the last round every two blocks have met once. Where
no vertex is both a source and a target, the sources stay at their tables and the targets move on by one
(the strata of Gemulla, Nijkamp, Haas, Sismanis: Large-Scale Matrix Factorization with Distributed
Stochastic Gradient Descent. KDD 2011); else all move as in a round-robin tournament.

Nothing here knows of ranks or threads, so the answer does not depend on them.
"""

from __future__ import annotations

import numpy as np


class Schedule:
    """The rounds of *ways* tables; `seats` is int64 [rounds, blocks]: the table of each block.

    A bipartite graph has *ways* blocks of sources and then *ways* of targets.
    """

    def __init__(self, ways: int, bipartite: bool) -> None:
        self.ways, self.bipartite = ways, bipartite
        self.blocks = 2 * ways
        self.rounds = ways if bipartite else 2 * ways - 1
        table, turn = np.arange(ways), np.arange(self.rounds)[:, None]
        self.seats = np.empty((self.rounds, self.blocks), np.int64)
        if bipartite:
            self.seats[:, :ways] = table
            np.put_along_axis(self.seats, ways + (table + turn) % ways, table[None, :], axis=1)
        else:
            last = self.rounds  # the block that stays at table 0 while the others walk around
            self.seats[:, last] = 0
            np.put_along_axis(self.seats, (turn + table) % last, table[None, :], axis=1)
            np.put_along_axis(self.seats, (turn - table) % last, table[None, :], axis=1)

    def block_of(self, gid: np.ndarray, is_target: np.ndarray) -> np.ndarray:
        """Return the block of each vertex, as int32."""
        parts = self.ways if self.bipartite else self.blocks
        block = (_mix(gid) % np.uint64(parts)).astype(np.int32)
        return block + np.int32(self.ways) * is_target if self.bipartite else block  # type: ignore[no-any-return]

    def round_of(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return the round in which edges from block a to block b are visited, as int64."""
        a, b = a.astype(np.int64), b.astype(np.int64)
        if self.bipartite:
            return (b - a) % self.ways  # type: ignore[no-any-return]
        last = self.rounds
        met = (a + b) * self.ways % last  # half of a + b in a circle of an odd number of places
        met = np.where(a == last, b, np.where(b == last, a, met))
        return np.where(a == b, 0, met)


def _mix(gid: np.ndarray) -> np.ndarray:
    """Return the words of ``mix.h``: the finaliser of splitmix64."""
    z = gid.astype(np.uint64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))  # type: ignore[no-any-return]
