"""`Recorded`: the history of a run as arrays, as a checkpoint holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.checkpoint.history import packed, unpacked
from gaslab.checkpoint.snapshot import Snapshot
from gaslab.compiler.tree import Tree
from gaslab.engine.aggregates import Aggregates
from gaslab.engine.observe.observer import Observer

INITIAL, OF_ROWS = "initial aggregates", "aggregates of rows"
LAST = "phase"  # the key of a row that follows the aggregates


class Recorded:
    """Keeps the aggregates after init and at each row of the history, as numbers."""

    def __init__(self, observe: Observer, tree: Tree, initial: np.ndarray) -> None:
        self._observe, self._names = observe, [aggregator.name for aggregator in tree.aggregators]
        self._initial, self._rows = initial, list[np.ndarray]()

    def begin(self, row: np.ndarray) -> None:
        """Note the aggregates after init."""
        self._initial = row.copy()

    def note(self, row: np.ndarray, count: int = 1) -> None:
        """Note the aggregates of the last *count* rows of the history."""
        if row.size:
            self._rows += [row.copy()] * count

    def put(self, into: Snapshot) -> None:
        """Put the history into a snapshot."""
        into.whole[INITIAL] = self._initial
        into.whole[OF_ROWS] = np.array(self._rows, self._initial.dtype).reshape(-1, self._initial.size)
        into.history = packed(self._observe.history, self._names)

    def take(self, found: Snapshot, aggregates: Aggregates) -> None:
        """Go on with the history of a snapshot (collective)."""
        self._initial, self._rows = found.whole[INITIAL], list(found.whole[OF_ROWS])
        self._observe.initial_aggregates = self._named(aggregates, self._initial)
        for k, row in enumerate(unpacked(found.history)):
            last = {LAST: row.pop(LAST)} if LAST in row else {}
            named = self._named(aggregates, self._rows[k]) if self._rows else {}
            self._observe.row({**row, **named, **last})

    def _named(self, aggregates: Aggregates, row: np.ndarray) -> dict[str, Any]:
        return dict(zip(self._names, aggregates.values(row), strict=True))

