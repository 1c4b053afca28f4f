"""METIS, which cuts vertices, through pymetis.

References
----------
Karypis, Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs" (SIAM Journal on
Scientific Computing 20, 1998).
"""

from __future__ import annotations

import numpy as np

from gaslab.partitioning.registry import strategy
from gaslab.partitioning.rows import rows_by_target
from gaslab.partitioning.stateful import Block, Stateful, Stream
from gaslab.system.extras import need_pymetis


@strategy("metis")
class Metis(Stateful):
    """Cut the vertices into parts, on rank 0: an edge goes to the part of its target.

    The target of an undirected edge is the end of lower degree. A vertex is weighted by the edges that go
    with it, and METIS balances these weights as well as it can: no cap holds.
    """

    gathered = True

    def __init__(self) -> None:
        need_pymetis("strategy 'metis'")

    def begin(self, k: int, stream: Stream) -> None:
        self.k, self.directed, self.threads = k, stream.directed, stream.threads
        self.first = int(np.searchsorted(stream.degree, 1))  # the vertices before it have no edge
        self.vertices = stream.degree.size - self.first

    def assign(self, block: Block) -> np.ndarray:
        low, high = block.low - self.first, block.high - self.first
        target = np.where(block.reverse, low, high) if self.directed else low
        if not low.size or self.vertices <= self.k:  # METIS rejects so few
            return target
        weight = np.bincount(target, block.multiplicity, self.vertices).astype(np.int64)
        return self._part_of_vertex(low, high, weight)[target]

    def _part_of_vertex(self, low: np.ndarray, high: np.ndarray, weight: np.ndarray) -> np.ndarray:
        import pymetis

        # An edge and its reverse, adjacent pairs, are one edge there; loops are dropped.
        distinct = np.concatenate([[True], (low[1:] != low[:-1]) | (high[1:] != high[:-1])]) & (low != high)
        low, high = low[distinct], high[distinct]
        begin = np.zeros(self.vertices + 1, np.int64)
        for end in (low, high):
            begin[1:] += np.bincount(end, minlength=self.vertices)
        np.cumsum(begin, out=begin)
        ends = [np.concatenate([low, high]), np.concatenate([high, low])]
        local = np.arange(self.vertices, dtype=np.int32)
        neighbor, _ = rows_by_target(ends, local, begin, begin, False, self.threads)
        graph = pymetis.CSRAdjacency(*(x.astype(pymetis.zero_copy_dtype()) for x in (begin, neighbor)))
        cut = pymetis.part_graph(self.k, graph, vweights=weight.astype(pymetis.zero_copy_dtype()))
        return np.array(cut.vertex_part)
