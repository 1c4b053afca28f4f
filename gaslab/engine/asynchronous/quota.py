"""Permits by which `max_updates` limits the updates of all ranks together, without supersteps.

Every update uses one of a fixed number of permits, so there are never more updates than permits. Each rank
holds a part of them. With every row of counts a rank offers half of the permits that it still holds, and the
ranks on which vertices wait share all permits offered. All ranks compute the shares from one table of counts.
"""

from __future__ import annotations

import numpy as np

from gaslab._kernels.machine import Machine
from gaslab.engine.asynchronous.counts import Counts

SPARE = 1 / 40  # of `max_updates`: extra permits, so that the last ones need not be found one by one
SPARE_EACH = 500  # in addition, for every rank


class Quota:
    """The permits of one rank.

    Parameters
    ----------
    most : int or None
        Updates of all ranks after which no vertex starts; None: no limit.
    rank, ranks : int
    """

    def __init__(self, most: int | None, rank: int, ranks: int) -> None:
        self.limited = most is not None
        self._rank, self._ranks = rank, ranks
        permits = most or 0
        if ranks > 1 and permits:
            permits += int(permits * SPARE) + SPARE_EACH * ranks
        self._mine = self._part(permits, np.ones(ranks, bool))

    def left(self, machine: Machine) -> int:
        """Return how many vertices may still start here."""
        return max(self._mine - int(machine.updates + machine.in_flight), 0)

    def offer(self, machine: Machine) -> int:
        """Give up half of the permits held; return their number."""
        if not self.limited:
            return 0
        left = self.left(machine)
        offered = left - left // 2
        self._mine -= offered
        return offered

    def share(self, counts: Counts) -> None:
        """Take this rank's share of the permits that all ranks have offered."""
        waiting = counts.waiting > 0
        self._mine += self._part(int(counts.offered.sum()), waiting if waiting.any() else ~waiting)

    def _part(self, permits: int, of: np.ndarray) -> int:
        """Return this rank's share of permits among the ranks marked in *of*; the first get one more."""
        if not of[self._rank]:
            return 0
        before, count = int(of[: self._rank].sum()), int(of.sum())
        return permits // count + (before < permits % count)
