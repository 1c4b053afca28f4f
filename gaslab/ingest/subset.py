"""The ids of some of a graph's vertices: a graph cut out of another keeps the user's ids."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from gaslab.errors import VertexNotFound
from gaslab.ingest.ids import VertexIds, listed
from gaslab.ingest.names import Names


class SubsetIds(VertexIds):
    """Ids through the graph they were cut from: *kept* maps its global ids to the new ones."""

    def __init__(self, whole: VertexIds, kept: VertexIds, num_left: int | None) -> None:
        super().__init__(whole.comm, whole.kind, kept.num_vertices)
        self.num_left, self.negative = num_left, whole.negative
        self._whole, self._kept = whole, kept

    def lookup(self, gids: Any) -> np.ndarray:
        """Return the user ids of *gids* (collective)."""
        return self._whole.lookup(self._kept.lookup(gids))

    def begin_lookup(self, gids: np.ndarray) -> Callable[[], np.ndarray]:
        """Exchange the data for `lookup` (collective); return a function for the rest."""
        return self._whole.begin_lookup(self._kept.begin_lookup(gids)())

    def begin_whole(self, everywhere: bool) -> Callable[[], np.ndarray]:
        """As `begin_lookup` of all global ids, on every rank or on rank 0; elsewhere of none."""
        return self._whole.begin_lookup(self._kept.begin_whole(everywhere)())

    def named(self, gids: Any) -> list[str]:
        """Return the names of *gids* in messages (collective)."""
        return self._whole.named(self._kept.lookup(gids))

    def marked(self, gids: Any) -> list[Any]:
        """Return *gids* as their owner would name them (collective)."""
        return self._whole.marked(self._kept.lookup(gids))

    def find(self, user_ids: Any, *, rows: str = "same") -> np.ndarray:
        """Return the global ids of *user_ids* (collective)."""
        wanted = listed(user_ids)
        before = self._whole.find(wanted, rows=rows)
        after = self._kept.locate(before.tolist(), rows=rows)
        absent = self.comm.allgather([wanted[k] for k in np.flatnonzero(after < 0)[:1]])
        first = next((part[0] for part in absent if part), None)
        if first is not None:
            raise VertexNotFound(f"vertex {first!r} is not in the subgraph")
        return after

    def locate(self, user_ids: list[Any], rows: str = "same") -> np.ndarray:
        """As `find`, with -1 for missing ids (collective)."""
        before = self._whole.locate(user_ids, rows)
        after = self._kept.locate(before.tolist(), rows)
        return np.where(before < 0, -1, after)

    def directories(self) -> list[VertexIds]:
        """Return directories of the same ids, independent of the graph they were cut from (collective)."""
        ends = [0, self.num_vertices] if self.num_left is None else [0, self.num_left, self.num_vertices]
        before = [0, self._whole.num_left or 0]
        return [
            self._directory(whole, lo, hi, first)
            for whole, (lo, hi), first in zip(self._whole.directories(), pairwise(ends), before, strict=False)
        ]

    def _directory(self, whole: VertexIds, lo: int, hi: int, first: int) -> VertexIds:
        """Return the directory of the global ids *lo* to *hi*, of a side whose ids were in *whole*."""
        comm, kind = self.comm, whole.kind
        everywhere = kind == "object"  # every rank keeps such ids
        gids = np.arange(lo, hi) if everywhere else np.arange(lo + comm.rank, hi, comm.size)
        found = whole.lookup(self._kept.lookup(gids) - first)
        if kind == "object":
            return VertexIds(comm, kind, hi - lo, objects=found.tolist())
        made = VertexIds(comm, kind, hi - lo, found if kind == "int" else Names.of(found.tolist()))
        made.negative = whole.negative
        return made

    def hash_here(self) -> int:
        """Return the sum of a hash of each user id in this rank's directory (not collective)."""
        return (self._whole.hash_here() + 7 * self._kept.hash_here()) % (1 << 64)

    def from_text(self, text: str) -> Any:
        """Return the user id that *text*, as typed at a command line, means in this graph."""
        return self._whole.from_text(text)
