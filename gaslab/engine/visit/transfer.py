"""Rows of arrays on their way between ranks."""

from __future__ import annotations

import numpy as np

from gaslab._kernels import pack
from gaslab.parallel.comm import Comm
from gaslab.parallel.tags import Tag

CACHED = 1 << 18  # bytes that stay in a core's cache between two copies


def split(values: np.ndarray, rank: np.ndarray, size: int) -> list[np.ndarray]:
    """Return *values* by the rank each belongs to, their order kept."""
    if size == 1:
        return [values]
    order = np.argsort(rank.astype(np.uint16), kind="stable")  # a radix sort
    bounds = np.cumsum(np.bincount(rank, minlength=size))
    return np.split(values[order], bounds[:-1])


def rows_to(comm: Comm, parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Send ``parts[p]`` to rank p; return the rows received, in rank order, and how many are of each."""
    row = parts[0].shape[1:]
    received = [part.reshape(-1, *row) for part in comm.alltoall([part.reshape(-1) for part in parts])]
    whole = received[0] if len(received) == 1 else np.concatenate(received)
    return whole, np.array([part.shape[0] for part in received])


def copy_rows(
    comm: Comm, values: np.ndarray, rows: list[np.ndarray], into: np.ndarray, places: list[np.ndarray]
) -> None:
    """Copy rows ``rows[p]`` of *values* to rank p; store what comes from rank p at ``places[p]`` of *into*.

    Both are C-contiguous arrays of one dtype, rows and places int32.
    """
    size = pack.row_bytes(values)
    outgoing = {p: np.empty(ids.size * size, np.uint8) for p, ids in enumerate(rows) if p != comm.rank}
    for p, packed in outgoing.items():
        pack.take(values, rows[p], packed)
    sent = comm.begin(outgoing, sorted(outgoing), Tag.PLACED_VERTICES)
    mine, there, length = rows[comm.rank], places[comm.rank], max(CACHED // size, 1)
    for begin in range(0, mine.size, length):
        ids = mine[begin : begin + length]
        packed = np.empty(ids.size * size, np.uint8)
        pack.take(values, ids, packed)
        pack.put(into, there[begin : begin + length], packed)
    for p, packed in sent.end().items():
        pack.put(into, places[p], packed)
