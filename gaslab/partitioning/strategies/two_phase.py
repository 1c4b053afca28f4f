"""Two-phase streaming: vertices are clustered first, and pairs then go where their clusters are.

References ---------- Mayer, Orujzade, Jacobsen, "Out-of-core edge partitioning at linear run-time" (ICDE
2022). Here clusters are smaller, so that parts have equal numbers of vertices, and the pairs between them go
where `hdrf` puts them, which looks at all parts that hold an end, not only at the two clusters' parts.
"""

from __future__ import annotations

import numpy as np

import gaslab._kernels.cluster as kernels
import gaslab._kernels.hdrf as hdrf
from gaslab import arguments
from gaslab.partitioning.registry import strategy
from gaslab.partitioning.stateful import Block, Stateful, Stream


@strategy("2ps")
class TwoPhase(Stateful):
    """Keep clusters of vertices whole, and place the rest as `hdrf` does.

    Parameters
    ----------
    passes : int
        Number of clustering passes.
    volume : float
        Maximum sum of degrees in a cluster, as a multiple of that of a part.
    balance : float
        As for `hdrf`, for the pairs between clusters.
    """

    gathered = True

    def __init__(self, *, passes: int = 1, volume: float = 0.25, balance: float = 1.0) -> None:
        self.passes = arguments.whole("passes", passes, 1)
        self.volume = arguments.number("volume", volume, above=0)
        self.balance = arguments.number("balance", balance, least=0)

    def bytes_needed(self, k: int, degree: np.ndarray, num_edges: int) -> int:
        own = (48 + 8 * -(-k // 64)) * degree.size + 36 * num_edges
        return super().bytes_needed(k, degree, num_edges) + own

    def begin(self, k: int, stream: Stream) -> None:
        self.k, self.degree, self.cap = k, stream.degree, stream.cap

    def assign(self, block: Block) -> np.ndarray:
        low, high, weight, k = block.low, block.high, block.multiplicity, self.k
        n = self.degree.size
        of, volume = np.arange(n, dtype=np.int32), self.degree.astype(np.int64)
        most = max(int(self.volume * self.degree.sum() / k), 1)
        for _ in range(self.passes):
            if not kernels.cluster(low, high, self.degree, most, of, volume):
                break
        part_of = self._packed(volume)
        part = np.empty(low.size, np.int32)
        room, held = np.full(k, self.cap), np.zeros((n, -(-k // 64)), np.uint64)
        if kernels.place_within(low, high, weight, of, part_of, room, part, held):
            rest = np.flatnonzero(part < 0)
            placed = np.empty(rest.size, np.int32)
            hdrf.assign(
                low[rest], high[rest], weight[rest], self.degree, self.balance, 1.0,
                (self.cap - room).astype(float), room, held, placed, np.empty(2 * rest.size, np.int64),
            )  # fmt: skip
            part[rest] = placed
        return part

    def _packed(self, volume: np.ndarray) -> np.ndarray:
        """Return the part of each cluster: the largest first, each to the least loaded part so far."""
        part = np.zeros(volume.size, np.int32)
        clusters = np.flatnonzero(volume)
        order = clusters[np.argsort(-volume[clusters], kind="stable")]
        kernels.pack(order, volume, np.zeros(self.k, np.int64), np.arange(self.k, dtype=np.int32), part)
        return part
