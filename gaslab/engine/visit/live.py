"""Live totals: the aggregators that visit adds to."""

from __future__ import annotations

import numpy as np

from gaslab.engine.state import RunState
from gaslab.parallel.comm import Comm

LINE = 8  # eight-byte scalars of a cache line, not shared by threads


class LiveTotals:
    """The live totals of one round on one rank.

    Every table begins with the totals from the round's start, and sees only its own additions. At the end
    of the round the additions of all tables are summed, so the totals do not depend on threads or ranks.
    """

    def __init__(self, state: RunState, comm: Comm) -> None:
        tree, self._state, self._comm = state.tree, state, comm
        begins = [(tree.slot(k), tree.aggregators[k].combiner.slots) for k in tree.live]
        self._slots = np.concatenate([np.arange(begin, begin + count) for begin, count in begins])
        self._rows: list[np.ndarray] = []  # of the tables of this round

    def rows(self, tables: int) -> np.ndarray:
        """Return each table's initial aggregates, int64 [tables, scalars]."""
        row = self._state.aggregate_row
        made = np.empty((tables, -(-row.size // LINE) * LINE), np.int64)
        made[:, : row.size] = row
        self._rows.append(made)
        return made

    def agree(self) -> None:
        """Add the additions of the round's tables, on all ranks, to the aggregates (collective)."""
        row, slots = self._state.aggregate_row, self._slots
        before = row[slots]
        added = sum((made[:, slots].sum(axis=0) - len(made) * before for made in self._rows), 0 * before)
        row[slots] = before + np.asarray(self._comm.allreduce(added))
        self._rows = []
