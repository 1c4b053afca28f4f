"""The directory: decisions and sums per vertex, at rank ``gid % size``."""

from __future__ import annotations

import numpy as np

import gaslab._kernels.partition as kernels
from gaslab.parallel.virtual import Peers


class Directory:
    """Moves values both ways between each rank's vertices and their places in the directory (collective).

    *gids* are this rank's vertices, ascending. At the directory, record i (of `slots.size`) is one rank's
    mention of the vertex ``slots[i] * size + rank``; records come in rank order.
    """

    def __init__(self, comm: Peers, gids: np.ndarray, num_vertices: int) -> None:
        self.comm = comm
        self.num_slots = (num_vertices - comm.rank + comm.size - 1) // comm.size
        home = (gids % comm.size).astype(np.uint16 if comm.size <= 1 << 16 else np.int64)
        self._order = np.argsort(home, kind="stable")
        self._bounds = np.concatenate([[0], np.cumsum(np.bincount(home, minlength=comm.size))])
        wire = np.int32 if num_vertices // comm.size < (1 << 31) - 1 else np.int64
        received = self._by_home((gids // comm.size).astype(wire))
        self.slots = np.concatenate(received)
        self.sizes = np.array([part.size for part in received])
        self.sender = np.repeat(np.arange(comm.size, dtype=np.int32), self.sizes)

    def _by_home(self, values: np.ndarray) -> list[np.ndarray]:
        grouped = values[self._order]
        bounds = self._bounds
        return self.comm.alltoall([grouped[bounds[p] : bounds[p + 1]] for p in range(self.comm.size)])

    def send(self, values: np.ndarray) -> np.ndarray:
        """Send one value per vertex from every rank to the directory: one per record (collective)."""
        return np.concatenate(self._by_home(values))

    def answer(self, values: np.ndarray) -> np.ndarray:
        """Send one value per record back to the record's rank: one per vertex (collective)."""
        parts = np.split(values, np.cumsum(self.sizes)[:-1])
        answer = np.empty(self._order.size, dtype=values.dtype)
        answer[self._order] = np.concatenate(self.comm.alltoall(parts))
        return answer

    def sums(self, values: np.ndarray) -> np.ndarray:
        """Return at the directory, per slot, the int64 sum of a value over all ranks (collective)."""
        totals = np.zeros(self.num_slots, dtype=np.int64)
        kernels.add_at(self.slots, self.send(values), totals)
        return totals
