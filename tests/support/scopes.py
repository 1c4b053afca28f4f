"""The times of scopes from `Serialisable.locks`: did two neighbours ever run at once?"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gaslab.partitioning.local_graph import LocalGraph

ID, LOCK, RELEASE, BEGIN = range(4)  # the columns


def overlaps(local: LocalGraph, locks: np.ndarray) -> int:
    """Count the edges here both of whose ends were at work at once, by the machine's own clock.

    A replica is at work while it holds its scope. Only between two masters of this rank, which may both hold
    theirs, it is so from when it begins to gather here.
    """
    held: dict[int, list[Any]] = {}
    for row in locks.tolist():
        held.setdefault(row[ID], []).append(row)
    count = 0
    for v, u in zip(local.targets().tolist(), local.in_neighbor.tolist(), strict=True):
        since = BEGIN if max(u, v) < local.num_masters else LOCK
        for a, b in itertools.product(held.get(u, ()), held.get(v, ())):
            count += u != v and a[since] < b[RELEASE] and b[since] < a[RELEASE]
    return count
