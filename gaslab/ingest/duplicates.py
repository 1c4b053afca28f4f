"""Parallel edges: which edge is the first with its ends, over all ranks."""

from __future__ import annotations

import numpy as np

from gaslab._kernels import duplicates as kernels
from gaslab.errors import UsageError
from gaslab.parallel.comm import Comm


def first_of_each(
    comm: Comm,
    src: np.ndarray,
    dst: np.ndarray,
    num_vertices: int,
    directed: bool,
    position: np.ndarray | None,
    threads: int,
) -> np.ndarray:
    """Return bool marks: True for the first edge of each (source, target), else False (collective).

    Without direction (u, v) and (v, u) are the same edge. First is the smallest *position*, int64 and
    different for every edge of the input; by default, edges are in order of rank and index.
    """
    if num_vertices > 1 << 32:
        raise UsageError(f"duplicates are found among at most 2**32 vertices, not {num_vertices}")
    key, origin, bounds = kernels.group(kernels.keys(src, dst, directed, threads), comm.size, True, threads)
    parts = [slice(bounds[p], bounds[p + 1]) for p in range(comm.size)]
    received = comm.alltoall([key[part] for part in parts])
    places = np.empty(0, dtype=np.int64)
    if position is not None:
        moved = position[origin]
        places = np.concatenate(comm.alltoall([moved[part] for part in parts]))
    here = np.concatenate(received)
    groups = max(1, here.size // kernels.GROUP)
    kept = kernels.first_of_each(*kernels.group(here, groups, False, threads), places, threads)
    verdicts = comm.alltoall(np.split(kept, np.cumsum([part.size for part in received])[:-1]))
    marks = np.empty(src.size, dtype=bool)
    marks[origin] = np.concatenate(verdicts).view(bool)
    return marks
