"""Rows of arrays on their way between ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaslab._kernels import pack
from gaslab.parallel.comm import Comm
from gaslab.parallel.tags import Tag
from gaslab.replication.message import Message, padded, values_at

Arrays = Sequence[tuple[np.ndarray, np.ndarray]]  # each is copied to the other


def split(values: np.ndarray, rank: np.ndarray, size: int) -> list[np.ndarray]:
    """Return *values* by rank, in stable order."""
    if size == 1:
        return [values]
    order = np.argsort(rank.astype(np.uint16), kind="stable")  # a radix sort
    bounds = np.cumsum(np.bincount(rank, minlength=size))
    return np.split(values[order], bounds[:-1])


def rows_to(comm: Comm, parts: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Send ``parts[p]`` to rank p; return the rows received, in rank order, and the number from each."""
    row = parts[0].shape[1:]
    received = [part.reshape(-1, *row) for part in comm.alltoall([part.reshape(-1) for part in parts])]
    whole = received[0] if len(received) == 1 else np.concatenate(received)
    return whole, np.array([part.shape[0] for part in received])


def copy_rows(comm: Comm, pairs: Arrays, rows: list[np.ndarray], places: list[np.ndarray]) -> None:
    """Copy rows ``rows[p]`` of arrays to rank p; store those from rank p at ``places[p]`` of others.

    The pairs are arrays to copy from and to, both C-contiguous and of the same dtype; rows and places are
    int32.
    """
    size = sum(padded(pack.row_bytes(values)) for values, _ in pairs)
    outgoing = {}
    for p, ids in enumerate(rows):
        if p != comm.rank:
            message = Message(ids.size * size)
            for values, _ in pairs:
                message.add_values(ids, values)
            outgoing[p] = message.bytes
    sent = comm.begin(outgoing, sorted(outgoing), Tag.PLACED_VERTICES)
    for values, into in pairs:
        pack.move(values, rows[comm.rank], into, places[comm.rank])
    for p, data in sent.end().items():
        offset = 0
        for _, into in pairs:
            offset = values_at(data, offset, places[p], None, into)
