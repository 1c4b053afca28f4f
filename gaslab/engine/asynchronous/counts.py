"""Tables of counts that ranks without supersteps exchange repeatedly: one row of int64 a rank."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np


@dataclass
class Counts:
    """The figures of one rank; or those of all ranks, each an array by rank."""

    sent: Any  # batches so far
    received: Any
    passive: Any  # nothing waits or is left to send
    in_flight: Any
    waiting: Any  # in the scheduler
    updates: Any
    late: Any  # whether its time is up
    wanted: Any = 0  # a checkpoint: see `gaslab.checkpoint.requests`
    writing: Any = 0  # whether its thread still writes one
    lock_waits: Any = 0
    bytes_sent: Any = 0
    offered: Any = 0  # permits to start vertices: see `Quota`
    code: Any = 0  # its fault, 0 if none: see `Executor.raise_faults`
    gid: Any = 0
    site: Any = 0
    turn: Any = 0

    def row(self, more: np.ndarray) -> np.ndarray:
        """Return this rank's row: the figures, then *more* (int64)."""
        return np.concatenate([np.array([getattr(self, f.name) for f in fields(self)], np.int64), more])

    @classmethod
    def of_table(cls, table: np.ndarray) -> tuple[Counts, np.ndarray]:
        """Split a table of all ranks' rows into the figures and the columns after them."""
        width = len(fields(cls))
        return cls(*table[:, :width].T), table[:, width:]

    def faults(self) -> np.ndarray:
        """Return all ranks' faults: int64 [ranks, 4], with code 0 for none."""
        return np.stack([self.code, self.gid, self.site, self.turn], axis=1)

    def end(self, before: Counts | None) -> bool:
        """Return whether the run had ended at these counts; *before* are the previous table's."""
        if before is None or not (before.passive.all() and self.passive.all()):
            return False
        if before.received.sum() != self.sent.sum():
            return False
        assert not self.in_flight.any(), "vertices wait for each other, and no record is under way"
        return True
