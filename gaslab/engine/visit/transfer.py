"""Rows of arrays on their way between ranks."""

from __future__ import annotations

import numpy as np

from gaslab.parallel.comm import Comm


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
