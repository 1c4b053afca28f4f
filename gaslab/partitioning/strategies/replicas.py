"""Which parts hold which vertices, and how full they are, while ranks place pairs concurrently."""

from __future__ import annotations

import numpy as np

import gaslab._kernels.hdrf as kernels
from gaslab.partitioning.stateful import Block, Stream


class Replicas:
    """The state of a streaming strategy: n * ceil(k / 64) * 8 bytes on each rank.

    Within a round a rank sees its own replicas and those of earlier rounds. It counts each of its own edges
    once per rank, and may use its share of the parts' room.

    Attributes
    ----------
    held : uint64 array of (num_vertices, ceil(k / 64))
        A bit for each part that holds the vertex.
    load : float64 array of k
        Edges of each part, estimated within a round.
    room : int64 array of k
        Edges that this rank may still put into each part in this round.
    """

    def __init__(self, k: int, stream: Stream) -> None:
        self.k, self.cap, self.comm = k, stream.cap, stream.comm
        self.held = np.zeros((stream.num_vertices, -(-k // 64)), dtype=np.uint64)
        self.edges = np.zeros(k, dtype=np.int64)  # of all ranks, in the rounds before
        self.load, self.room = np.zeros(k), np.zeros(k, dtype=np.int64)
        self._own = np.zeros(k, dtype=np.int64)
        self._fresh = np.empty(0, dtype=np.int64)

    def open(self, block: Block) -> np.ndarray:
        """Start a round with this block: set `room` and `load`; return where to list new replicas."""
        total = max(int(block.totals.sum()), 1)
        ends = np.concatenate([[0], np.cumsum(block.totals)])[[self.comm.rank, self.comm.rank + 1]]
        free = np.maximum(self.cap - self.edges, 0)
        turn = np.arange(self.k) * total // self.k  # the remainder goes to a different rank in each part
        upto = [(free * (int(end) / total) + turn / total).astype(np.int64) for end in ends]
        self.room[:] = upto[1] - upto[0] if self.comm.size > 1 else free
        self.load[:] = self.edges
        self._before = self.room.copy()
        self._fresh = np.empty(2 * block.low.size, dtype=np.int64)
        return self._fresh

    def close(self, fresh: int) -> None:
        """End this rank's block, which made this many new replicas."""
        self._own = self._before - self.room
        self._fresh = self._fresh[:fresh]

    def agree(self) -> None:
        """Merge the new replicas and the edges of all ranks (collective)."""
        self.edges += self.comm.allreduce(self._own)
        if self.comm.size > 1:
            kernels.mark(np.concatenate(self.comm.allgather_array(self._fresh)), self.k, self.held)
        self._fresh = self._fresh[:0].copy()
