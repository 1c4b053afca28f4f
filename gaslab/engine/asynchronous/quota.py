"""How many vertices a rank without supersteps may begin, where `max_updates` limits all ranks together.

Every update takes one of a fixed number of permits, so there are never more updates than permits. Each rank
has its part of them. With every row of counts a rank offers half of the permits that it has left, and the
ranks on which vertices wait share all that was offered. The table of counts says what is needed for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gaslab._kernels.machine import Machine
    from gaslab.engine.asynchronous.counts import Counts

SPARE = 1 / 40  # of `max_updates`: permits beyond it, so that the last need not be looked for one by one
SPARE_EACH = 500  # beside these, for every rank


class Quota:
    """The permits of one rank.

    Parameters
    ----------
    most : int or None
        Updates of all ranks after which no vertex begins; None: there is no limit.
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
        """Return how many vertices may still begin here."""
        return max(self._mine - int(machine.updates + machine.in_flight), 0)

    def offer(self, machine: Machine) -> int:
        """Give half of what is left away; return how many permits that is."""
        if not self.limited:
            return 0
        left = self.left(machine)
        offered = left - left // 2
        self._mine -= offered
        return offered

    def share(self, counts: Counts) -> None:
        """Take this rank's part of what all have offered."""
        waiting = counts.waiting > 0
        self._mine += self._part(int(counts.offered.sum()), waiting if waiting.any() else ~waiting)

    def _part(self, permits: int, of: np.ndarray) -> int:
        """Return this rank's part of permits for the ranks marked in *of*; the first have what is over."""
        if not of[self._rank]:
            return 0
        before, count = int(of[: self._rank].sum()), int(of.sum())
        return permits // count + (before < permits % count)
