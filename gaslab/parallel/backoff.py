"""How a rank waits for batches, which may arrive at once or much later."""

from __future__ import annotations

import os
import time

from gaslab.parallel import launch

POLLS = 1000  # empty ones before it sleeps, if every rank has a core; else FEW
FEW = 2
SHORTEST, LONGEST = 50e-6, 300e-6  # seconds


class Backoff:
    """Yields the core at first, then sleeps ever longer, until a batch arrives.

    Yielding alone does not help if ranks outnumber cores: the operating system passes the core from one
    waiting rank to the next, and the rank with work gets no larger share of it.

    Parameters
    ----------
    ranks : int
        On this machine.

    Attributes
    ----------
    oversubscription : float
        How many ranks share a core; at least 1.
    """

    def __init__(self, ranks: int) -> None:
        self.oversubscription = max(1.0, ranks / launch.usable_cores())
        self._polls = POLLS if self.oversubscription == 1 else FEW
        self._empty = 0

    def wait(self) -> None:
        """Yield or sleep, as nothing has arrived."""
        self._empty += 1
        if self._empty <= self._polls:
            os.sched_yield()
        else:
            time.sleep(min(SHORTEST * (self._empty - self._polls), LONGEST))

    def reset(self) -> None:
        """Yield again, as something has arrived."""
        self._empty = 0
