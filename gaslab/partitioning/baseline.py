"""What a graph's degrees say about its cuts: the exact expectation of `random`, and the bound of a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

import gaslab._kernels.csr as kernels
from gaslab.ingest.duplicates import first_of_each
from gaslab.parallel.comm import Comm


@dataclass(frozen=True)
class Baseline:
    """The degrees of a graph, with which all its cuts are measured.

    Attributes
    ----------
    degree : int64 array of num_vertices
        Edges of each vertex, by global id; a self-loop counts twice.
    pairs : int64 array
        How many vertices have 0, 1, 2, ... neighbours, including themselves if they have a self-loop.
    """

    degree: np.ndarray
    pairs: np.ndarray

    @classmethod
    def of(cls, src: np.ndarray, dst: np.ndarray, num_vertices: int, comm: Comm, threads: int) -> Baseline:
        """Count the edges and neighbours of each vertex (collective); *src* and *dst* are global ids."""
        degree = _ends(src, dst, num_vertices, comm, threads)
        first = first_of_each(comm, src, dst, num_vertices, False, None, threads)
        src, dst = src[first], dst[first]
        pairs = _ends(src, dst, num_vertices, comm, threads)
        loops = np.bincount(src[src == dst], minlength=num_vertices)
        return cls(degree, np.bincount(pairs - comm.allreduce(loops)))

    def random_replication_factor(self, k: int) -> float:
        """Return the expectation of RF if each pair of neighbours goes to one of *k* parts at random.

        A vertex with d neighbours is expected in k (1 - (1 - 1/k)**d) parts. Parallel edges stay together,
        so only neighbours count.

        >>> from gaslab.parallel.comm import Comm
        >>> ends = np.array([0, 0, 0]), np.array([1, 2, 2])
        >>> Baseline.of(*ends, 4, Comm(), 1).random_replication_factor(2)  # of 1.5, 1 and 1
        1.1666666666666667
        """
        neighbours = np.arange(1, self.pairs.size)
        vertices = self.pairs[1:]
        if not vertices.any():
            return 1.0
        missed = np.zeros(neighbours.size) if k == 1 else np.exp(neighbours * math.log1p(-1 / k))
        return float((k * (1 - missed) * vertices).sum() / vertices.sum())


def grid_bound(k: int) -> float:
    """Return 2 sqrt(k): about the maximum replicas of a vertex in a cut onto a grid of parts."""
    return 2 * math.sqrt(k)


def _ends(src: np.ndarray, dst: np.ndarray, num_vertices: int, comm: Comm, threads: int) -> np.ndarray:
    out_count, in_count = np.zeros(num_vertices, np.int32), np.zeros(num_vertices, np.int32)
    kernels.count_ends(src, dst, out_count, in_count, threads)
    total: np.ndarray = comm.allreduce(np.add(out_count, in_count, dtype=np.int64))
    return total
