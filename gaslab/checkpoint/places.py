"""`Places`: how rows that lie on any ranks, in any order, travel into the order of a checkpoint and back.

In a checkpoint vertices are in the order of their global ids. Edges are in the order of a hash of their ends,
then of the ends, then of the input where they are parallel. Neither depends on the ranks or the cut, so that
any number of ranks can read what others have written: each takes a range of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gaslab.parallel.comm import Comm
from gaslab.partitioning.local_graph import LocalGraph
from gaslab.ragged import RaggedColumn, mixed

HALF = np.uint64(32)  # bits of a hash that choose a rank


class Places:
    """The plan of one order, made once for a run (collective).

    Parameters
    ----------
    owner : int array
        The rank to whose range each row of this rank belongs.
    keys : sequence of int array
        What orders rows within a range, the first key first.

    Attributes
    ----------
    low, high : int
        The range of rows of this rank.
    total : int
        Rows of all ranks.
    """

    def __init__(self, comm: Comm, owner: np.ndarray, keys: Sequence[np.ndarray]) -> None:
        self._comm = comm
        self._order = np.argsort(owner, kind="stable")
        self._cuts = np.searchsorted(owner[self._order], np.arange(1, comm.size))
        here = [np.concatenate(self._sent(key)) for key in keys]
        self._into = np.lexsort(here[::-1])
        self._from = np.cumsum([part.size for part in self._sent(keys[0])])[:-1]
        counts = comm.allgather(int(self._into.size))
        self.low, self.total = sum(counts[: comm.rank]), sum(counts)
        self.high = self.low + counts[comm.rank]

    @classmethod
    def of_vertices(cls, comm: Comm, local: LocalGraph, num_vertices: int) -> Places:
        """Return the plan of the values of masters."""
        gids = local.gid[: local.num_masters]
        return cls(comm, gids * comm.size // max(num_vertices, 1), [gids])

    @classmethod
    def of_edges(cls, comm: Comm, local: LocalGraph) -> Places:
        """Return the plan of the values of edges, which have slot order here."""
        source, target = local.gid[local.in_neighbor], local.gid[local.targets()]
        hashed = mixed(mixed(source.view(np.uint64)) + target.view(np.uint64))
        owner = ((hashed >> HALF) * np.uint64(comm.size) >> HALF).astype(np.int64)
        return cls(comm, owner, [hashed, source, target, _numbers(source, target)])

    def to_ranges(self, values: Any) -> Any:
        """Return this rank's range of rows, from the rows of all ranks (collective)."""
        if isinstance(values, RaggedColumn):
            parts = [values[rows] for rows in np.split(self._order, self._cuts)]
            return RaggedColumn.joined(RaggedColumn.exchange(self._comm, parts))[self._into]
        return np.concatenate(self._sent(values))[self._into]

    def from_ranges(self, values: Any) -> Any:
        """Return the values of this rank's rows, from the ranges of all ranks (collective)."""
        back = np.empty(self._into.size, np.int64)
        back[self._into] = np.arange(self._into.size)
        asked = np.split(back, self._from)
        home = np.empty(self._order.size, np.int64)
        home[self._order] = np.arange(self._order.size)
        if isinstance(values, RaggedColumn):
            parts = [values[rows] for rows in asked]
            return RaggedColumn.joined(RaggedColumn.exchange(self._comm, parts))[home]
        return np.concatenate(self._comm.alltoall([values[rows] for rows in asked]))[home]

    def _sent(self, values: np.ndarray) -> list[np.ndarray]:
        return self._comm.alltoall(np.split(values[self._order], self._cuts))


@dataclass(frozen=True)
class Order:
    """How the rows of vertices and of edges travel into a checkpoint."""

    vertices: Places
    edges: Places | None  # None: the program writes no edge field


def _numbers(source: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Return the number of each edge among its parallel edges, all of which are on this rank, in order."""
    place = np.lexsort((target, source))
    new = np.ones(place.size, bool)
    new[1:] = (np.diff(source[place]) != 0) | (np.diff(target[place]) != 0)
    first = np.flatnonzero(new)
    number = np.empty(place.size, np.int64)
    number[place] = np.arange(place.size) - np.repeat(first, np.diff(np.append(first, place.size)))
    return number
