"""Streaming greedy placement: a pair goes where its ends already are, the end of lower degree first.

References
----------
Petroni, Querzoni, Daudjee, Kamali, Iacoboni, "HDRF: Stream-based partitioning for power-law graphs" (CIKM
2015). Here degrees are exact, pairs come by rising degree of their lower end rather than in the order of the
file, and only parts that hold an end, or the least loaded one, are scored.
"""

from __future__ import annotations

import numpy as np

import gaslab._kernels.hdrf as kernels
from gaslab import arguments
from gaslab.parallel.comm import Comm
from gaslab.partitioning.registry import strategy
from gaslab.partitioning.stateful import Block, Stateful, Stream
from gaslab.partitioning.strategies.replicas import Replicas


@strategy("hdrf")
class HDRF(Stateful):
    """Replicate hubs first: few mirrors, with edges and vertices balanced.

    Parameters
    ----------
    balance : float
        The score of an empty part relative to the fullest. An end that a part holds scores 1 to 2.
    """

    def __init__(self, *, balance: float = 1.0) -> None:
        self.balance = arguments.number("balance", balance, least=0)

    def begin(self, k: int, stream: Stream) -> None:
        self.degree, self.ranks = stream.degree, stream.comm.size
        self.replicas = Replicas(k, stream)

    def assign(self, block: Block) -> np.ndarray:
        part = np.empty(block.low.size, dtype=np.int32)
        replicas = self.replicas
        fresh = replicas.open(block)
        made = kernels.assign(
            block.low, block.high, block.multiplicity, self.degree, self.balance, self.ranks, replicas.load,
            replicas.room, replicas.held, part, fresh,
        )  # fmt: skip
        replicas.close(made)
        return part

    def agree(self, comm: Comm) -> None:
        self.replicas.agree()
