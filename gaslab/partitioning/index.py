"""Compact ids: the vertices that have an edge here, numbered 0.. in the order of their global ids."""

from __future__ import annotations

import numpy as np

import gaslab._kernels.partition as kernels

# A bitmap costs 1/4 byte per vertex of the whole graph; beyond this many vertices per local edge end it would
# cost more than sorting the ends.
SPARSE = 64


class Index:
    """Numbers the distinct ids in *src* and *dst*; `gids` holds them, ascending.

    Memory is a quarter byte per vertex of the whole graph, or, for a small share of a huge graph,
    8 bytes per vertex held here.
    """

    def __init__(self, src: np.ndarray, dst: np.ndarray, num_vertices: int) -> None:
        self._ranked: np.ndarray | None = None
        if num_vertices > SPARSE * (src.size + dst.size):
            self.gids = np.union1d(src, dst).astype(np.int64, copy=False)
            return
        self._ranked = np.zeros((num_vertices // 64 + 1, 2), dtype=np.uint64)
        kernels.mark(src, self._ranked)
        kernels.mark(dst, self._ranked)
        self.gids = np.empty(kernels.rank_words(self._ranked), dtype=np.int64)
        kernels.list_marked(self._ranked, self.gids)

    def of(self, ids: np.ndarray, threads: int = 1) -> np.ndarray:
        """Return the int32 numbers of global ids, which must all have an edge here."""
        if self._ranked is None:
            return np.searchsorted(self.gids, ids).astype(np.int32)
        numbers = np.empty(ids.size, dtype=np.int32)
        kernels.ranks_of(ids, self._ranked, numbers, threads)
        return numbers
