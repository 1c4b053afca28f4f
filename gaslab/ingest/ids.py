"""User ids and global ids: a directory spread over the ranks.

A vertex's global id is its position in the sorted order of the distinct user ids: numeric, or
bytewise (which for UTF-8 is the order of code points, and of Python's strings). Rank r keeps the
user ids of the global ids g with g % size == r, at position g // size; since positions ascend with
ids, each rank's table is itself sorted. Ids that are exactly 0 .. n-1 need no table.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from gaslab.comm import Comm
from gaslab.errors import VertexNotFound

Kind = Literal["int", "str", "object"]


class VertexIds:
    """The ids of a graph's vertices.

    Attributes
    ----------
    kind : "int", "str" or "object"
    num_vertices : int
    """

    def __init__(self, comm: Comm, kind: Kind, num_vertices: int, table: np.ndarray | None = None) -> None:
        self.kind = kind
        self.num_vertices = num_vertices
        self._comm = comm
        self._table = table  # this rank's part of the directory; None when ids are 0 .. n-1

    def lookup(self, gids: np.ndarray) -> np.ndarray:
        """Return the user ids of *gids*, any on any rank (collective)."""
        gids = np.asarray(gids, dtype=np.int64)
        if self._table is None:
            return gids.copy()
        comm = self._comm
        owner = gids % comm.size
        order = np.argsort(owner, kind="stable")
        bounds = np.searchsorted(owner[order], np.arange(comm.size + 1))
        asked = comm.alltoall([gids[order[bounds[p] : bounds[p + 1]]] // comm.size for p in range(comm.size)])
        told = comm.alltoall([self._table[positions] for positions in asked])
        found = np.empty(gids.size, dtype=self._table.dtype)
        found[order] = np.concatenate(told)
        return found

    def find(self, user_ids: Any) -> np.ndarray:
        """Return the global ids of *user_ids*, the same on every rank (collective).

        Raises VertexNotFound for the first that is not in the graph, naming the nearest that are.
        """
        wanted = np.atleast_1d(np.asarray(user_ids))
        if not np.issubdtype(wanted.dtype, np.integer):
            raise VertexNotFound(f"vertex {wanted.flat[0]!r} is not in the graph, whose ids are integers")
        if self._table is None:
            found = np.where((wanted >= 0) & (wanted < self.num_vertices), wanted, -1).astype(np.int64)
        else:
            at = np.searchsorted(self._table, wanted)
            here = at < self._table.size
            here[here] = self._table[at[here]] == wanted[here]
            found = self._comm.allreduce(np.where(here, at * self._comm.size + self._comm.rank, -1), "max")
        absent = np.flatnonzero(found < 0)
        if absent.size:
            raise VertexNotFound(self._not_found(int(wanted[absent[0]])))
        return found

    def _not_found(self, wanted: int) -> str:
        """Name the nearest known ids (collective)."""
        if self._table is None:
            return f"vertex {wanted} is not in the graph, whose ids are 0 to {self.num_vertices - 1}"
        at = int(np.searchsorted(self._table, wanted))
        near = self._table[max(at - 1, 0) : at + 1].tolist()
        known = sorted(
            {v for part in self._comm.allgather(near) for v in part}, key=lambda v: (abs(v - wanted), v)
        )
        return f"vertex {wanted} is not in the graph; the nearest ids are {' and '.join(map(str, sorted(known[:2])))}"
