"""Pending vertices by priority: a superstep runs only the lowest bucket that the whole graph has.

The buckets of a window are lists of vertices; all beyond it is one pile, which is looked through when the
window has run empty (Dhulipala, Blelloch, Shun: Julienne, SPAA 2017). A vertex whose priority falls is
listed again, and passed over where its entry is out of date.
"""

from __future__ import annotations

import numpy as np

from gaslab._kernels import frontier
from gaslab.engine.state import NEVER

WINDOW = 64


class Buckets:
    """This rank's pending masters; *priority* (int64 by local id) holds each vertex's smallest."""

    def __init__(self, priority: np.ndarray) -> None:
        self.priority = priority
        self._flags = np.zeros(priority.size, np.uint8)
        self._blocks = np.zeros((priority.size >> frontier.SIGNAL_BLOCK) + 1, np.uint8)
        self.clear()

    def clear(self) -> None:
        """Forget all that is pending."""
        self.priority[:] = NEVER
        self._first = 0  # the window's first bucket
        self._lists: list[list[np.ndarray]] = [[] for _ in range(WINDOW + 1)]  # the last is the pile

    def add(self, ids: np.ndarray) -> None:
        """Take in masters that were signalled, whose priorities are in place."""
        if ids.size == 0:
            return
        lowest = int(self.priority[ids].min())
        if lowest < self._first:
            self._refill([*(part for parts in self._lists for part in parts), ids])
        else:
            self._deal(ids)

    def lowest(self) -> tuple[int, np.ndarray]:
        """Return the lowest bucket of this rank and its vertices, ascending; they stay pending."""
        while True:
            for k in range(WINDOW):
                if self._lists[k]:
                    ids, _ = self._pending(self._lists[k], self._first + k, self._first + k + 1)
                    self._lists[k] = [ids] if ids.size else []
                    if ids.size:
                        return self._first + k, ids
            if not self._lists[WINDOW]:
                return NEVER, np.empty(0, np.int32)
            self._refill(self._lists[WINDOW])

    def take(self, ids: np.ndarray) -> None:
        """The masters *ids* run: they are not pending any more."""
        self.priority[ids] = NEVER

    def _refill(self, parts: list[np.ndarray]) -> None:
        """Put the window at the lowest of *parts*, which are all that is pending."""
        self._lists = [[] for _ in range(WINDOW + 1)]
        ids, self._first = self._pending(parts, 0, NEVER)
        if ids.size:
            self._deal(ids)

    def _pending(self, parts: list[np.ndarray], low: int, high: int) -> tuple[np.ndarray, int]:
        """Return whom *parts* list with a priority in [low, high), ascending, once each; and the smallest."""
        smallest = NEVER
        for ids in parts:
            first = frontier.mark(ids, self.priority, low, high, self._flags, self._blocks)
            smallest = min(smallest, first)
        return frontier.take_signalled(self._flags, self._blocks, 0, self._flags.size), smallest

    def _deal(self, ids: np.ndarray) -> None:
        grouped, bounds = frontier.group(ids, self.priority, self._first, WINDOW)
        edges = bounds.tolist()
        for k in range(WINDOW + 1):
            if edges[k] < edges[k + 1]:
                self._lists[k].append(grouped[edges[k] : edges[k + 1]])
