"""All pairs on one rank: whether they fit there."""

from __future__ import annotations

import logging

import numpy as np

from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm
from gaslab.partitioning.stateful import Stateful
from gaslab.system.memory import available_memory, human

log = logging.getLogger("gaslab")


def make_room(strategy: Stateful, k: int, degree: np.ndarray, num_edges: int, comm: Comm) -> None:
    """Make a gathered strategy fit the memory of rank 0 (collective).

    Raises
    ------
    UsageError
        It needs more than the free memory, or than its `memory`.
    """
    free = int(comm.bcast(available_memory()))
    room = min(free, int(strategy.memory)) if strategy.memory else free
    asked = strategy.bytes_needed(k, degree, num_edges)
    needed = _least(strategy, k, degree, num_edges, room)
    if needed > room:
        has = f"its memory= is {human(room)}" if room < free else f"{human(room)} are free there"
        raise UsageError(
            f"the strategy needs {human(needed)} on rank 0 to cut {num_edges:,} edges into {k} parts, and "
            f"{has}; hdrf leaves the edges on their ranks, and hep takes less than ne"
        )
    if comm.rank == 0 and comm.size > 1:
        less = f" rather than {human(asked)}: more hubs are placed apart" if needed < asked else ""
        log.info("cuts on rank 0, where %s edges take up to %s", f"{num_edges:,}", human(needed) + less)


def fits(strategy: Stateful, k: int, degree: np.ndarray, num_edges: int, comm: Comm) -> bool:
    """Return whether a gathered strategy can fit the memory of rank 0 (collective)."""
    room = int(comm.bcast(available_memory()))
    return _least(strategy, k, degree, num_edges, room) <= room


def _least(strategy: Stateful, k: int, degree: np.ndarray, num_edges: int, room: int) -> int:
    """Return the bytes that a strategy takes after fitting *room* as well as it can."""
    needed = strategy.bytes_needed(k, degree, num_edges)
    while needed > room and strategy.shrink():
        needed = strategy.bytes_needed(k, degree, num_edges)
    return needed
