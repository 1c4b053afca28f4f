"""`Recorded`: the history of a run with its aggregates as rows of numbers, as a checkpoint holds it."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.checkpoint.snapshot import Snapshot
from gaslab.compiler.tree import Tree
from gaslab.engine.aggregates import Aggregates
from gaslab.engine.observe.observer import Observer

INITIAL, OF_ROWS = "initial aggregates", "aggregates of rows"


class Recorded:
    """Keeps the aggregates after init and at each row of the history."""

    def __init__(self, observe: Observer, tree: Tree, initial: np.ndarray) -> None:
        self._observe, self._names = observe, [aggregator.name for aggregator in tree.aggregators]
        self._initial, self._rows = initial, list[np.ndarray]()

    def begin(self, row: np.ndarray) -> None:
        """Note the aggregates after init."""
        self._initial = row.copy()

    def note(self, row: np.ndarray, count: int = 1) -> None:
        """Note the aggregates of the last *count* rows of the history."""
        self._rows += [row.copy()] * count

    def put(self, into: Snapshot) -> None:
        """Put the history into a snapshot."""
        into.whole[INITIAL] = self._initial
        into.whole[OF_ROWS] = np.array(self._rows, self._initial.dtype).reshape(-1, self._initial.size)
        names = set(self._names)
        into.history = [
            {name: value for name, value in row.items() if name not in names} for row in self._observe.history
        ]

    def take(self, found: Snapshot, aggregates: Aggregates) -> None:
        """Go on with the history of a snapshot (collective)."""
        self._initial, self._rows = found.whole[INITIAL], list(found.whole[OF_ROWS])
        self._observe.initial_aggregates = self._named(aggregates, self._initial)
        for row, of_row in zip(found.history, self._rows, strict=True):
            last = {"phase": row["phase"]} if "phase" in row else {}
            first = {name: value for name, value in row.items() if name != "phase"}
            self._observe.row({**first, **self._named(aggregates, of_row), **last})

    def _named(self, aggregates: Aggregates, row: np.ndarray) -> dict[str, Any]:
        return dict(zip(self._names, aggregates.values(row), strict=True))
