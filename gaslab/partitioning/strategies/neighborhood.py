"""The expanding strategies: all pairs are sent to rank 0, where parts grow one after another.

`gaslab.partitioning.expand` has the sources. NE cuts all edges by expansion. In HEP hubs do not expand: the
less memory there is, the more vertices are hubs.
"""

from __future__ import annotations

import math

import numpy as np

from gaslab import arguments
from gaslab.partitioning import expand
from gaslab.partitioning.registry import strategy
from gaslab.partitioning.stateful import Block, Stateful, Stream

LEAST_TAU = 1.0  # below it hardly a vertex would expand


@strategy("ne")
class NE(Stateful):
    """Neighbourhood expansion under two caps, with refinement: the fewest mirrors.

    Parameters
    ----------
    vertex_balance : float
        Maximum number of replicas in a part, as a multiple of the mean.
    passes : int
        Number of refinement passes.
    memory : float
        Bytes that it may use on rank 0; 0 means the free memory there.
    """

    gathered = True
    tau = math.inf

    def __init__(self, *, vertex_balance: float = 1.1, passes: int = 2, memory: float = 0.0) -> None:
        self.vertex_balance = arguments.number("vertex_balance", vertex_balance, least=1)
        self.passes = arguments.whole("passes", passes, 0)
        self.memory = arguments.number("memory", memory, least=0)

    def bytes_needed(self, k: int, degree: np.ndarray, num_edges: int) -> int:
        beside = expand.bytes_needed(degree, num_edges, k, self.tau)
        return super().bytes_needed(k, degree, num_edges) + beside

    def begin(self, k: int, stream: Stream) -> None:
        self.k, self.cap, self.num_vertices = k, stream.cap, stream.num_vertices

    def assign(self, block: Block) -> np.ndarray:
        return expand.expand(
            block.low, block.high, block.multiplicity, self.num_vertices, self.k, cap=self.cap,
            vertex_balance=self.vertex_balance, tau=self.tau, passes=self.passes,
        )  # fmt: skip


@strategy("hep")
class HEP(NE):
    """NE in which hubs do not expand: faster, and with less memory.

    Parameters
    ----------
    tau : float
        Vertices with more than *tau* times the mean degree are hubs; lowered if memory is short.
    vertex_balance, passes, memory
        As in `NE`.
    """

    def __init__(
        self, *, tau: float = 30.0, vertex_balance: float = 1.1, passes: int = 2, memory: float = 0.0
    ) -> None:
        super().__init__(vertex_balance=vertex_balance, passes=passes, memory=memory)
        self.tau = arguments.number("tau", tau, above=0)

    def shrink(self) -> bool:
        if self.tau <= LEAST_TAU:
            return False
        self.tau = max(self.tau / 2, LEAST_TAU)
        return True
