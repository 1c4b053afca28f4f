"""Sends values of vertices: from masters to mirrors and back, and between two cuts of one graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gaslab.parallel.comm import Comm
from gaslab.partitioning.local_graph import LocalGraph


def to_mirrors(comm: Comm, local: LocalGraph, masters: np.ndarray) -> np.ndarray:
    """Return the values of all vertices here, from the masters' (collective)."""
    values = np.empty((local.num_local, *masters.shape[1:]), masters.dtype)
    values[: local.num_masters] = masters
    if comm.size > 1:
        received = comm.alltoall([masters[rows] for rows in local.send_list])
        for bounds, part in zip(local.mirror_bounds, received, strict=True):
            values[bounds[0] : bounds[3]] = part
    return values


def any_to_masters(comm: Comm, local: LocalGraph, flags: np.ndarray) -> np.ndarray:
    """Return, for every master here, whether any replica of it is flagged (collective)."""
    marked = flags[: local.num_masters].copy()
    if comm.size > 1:
        received = comm.alltoall([flags[b[0] : b[3]] for b in local.mirror_bounds])
        for rows, part in zip(local.send_list, received, strict=True):
            marked[rows] |= part
    return np.asarray(marked)


def deliver_columns(
    comm: Comm, gids: np.ndarray, columns: Mapping[str, np.ndarray], wanted: np.ndarray
) -> dict[str, np.ndarray]:
    """As `deliver`, for columns by name, possibly none (collective)."""
    found = deliver(comm, gids, list(columns.values()), wanted) if columns else []
    return dict(zip(columns, found, strict=True))


def deliver(
    comm: Comm, gids: np.ndarray, values: Sequence[np.ndarray], wanted: np.ndarray
) -> list[np.ndarray]:
    """Return each of *values* for the vertices *wanted* here (collective).

    All ranks together have one row for every wanted vertex; rows go to rank ``gid % size``, which sends them
    to the ranks that want them.
    """
    if comm.size > 1:
        order, cuts = _by_owner(comm, gids)
        gids = np.concatenate(comm.alltoall(np.split(gids[order], cuts)))
        values = [np.concatenate(comm.alltoall(np.split(part[order], cuts))) for part in values]
    sorted_rows = np.argsort(gids)
    if comm.size == 1:
        rows = sorted_rows[np.searchsorted(gids, wanted, sorter=sorted_rows)]
        return [part[rows] for part in values]
    asking, cuts = _by_owner(comm, wanted)
    asked = comm.alltoall(np.split(wanted[asking], cuts))
    rows_of = [sorted_rows[np.searchsorted(gids, part, sorter=sorted_rows)] for part in asked]
    answers = []
    for part in values:
        answer = np.empty((wanted.size, *part.shape[1:]), part.dtype)
        answer[asking] = np.concatenate(comm.alltoall([part[rows] for rows in rows_of]))
        answers.append(answer)
    return answers


def _by_owner(comm: Comm, gids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    owner = gids % comm.size
    order = np.argsort(owner, kind="stable")
    return order, np.searchsorted(owner[order], np.arange(1, comm.size))
