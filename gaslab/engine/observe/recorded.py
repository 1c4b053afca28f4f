"""`Recorded`: the history of a run as arrays, as a checkpoint holds it."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from gaslab.checkpoint.snapshot import Snapshot
from gaslab.compiler.tree import Tree
from gaslab.engine.aggregates import Aggregates
from gaslab.engine.observe.observer import Observer

INITIAL, OF_ROWS, COLUMN = "initial aggregates", "aggregates of rows", "history "
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
        history, names = self._observe.history, set(self._names)
        for name in history[0] if history else ():
            if name not in names:
                into.whole[COLUMN + name] = _column([row[name] for row in history])

    def take(self, found: Snapshot, aggregates: Aggregates) -> None:
        """Go on with the history of a snapshot (collective)."""
        self._initial, self._rows = found.whole[INITIAL], list(found.whole[OF_ROWS])
        self._observe.initial_aggregates = self._named(aggregates, self._initial)
        columns = {
            name.removeprefix(COLUMN): _values(column)
            for name, column in found.whole.items()
            if name.startswith(COLUMN)
        }
        last = columns.pop(LAST, None)
        for k, values in enumerate(zip(*columns.values(), strict=True)):
            row = dict(zip(columns, values, strict=True))
            if self._rows:
                row |= self._named(aggregates, self._rows[k])
            self._observe.row(row if last is None else {**row, LAST: last[k]})

    def _named(self, aggregates: Aggregates, row: np.ndarray) -> dict[str, Any]:
        return dict(zip(self._names, aggregates.values(row), strict=True))


def _column(values: list[Any]) -> np.ndarray:
    """Return numbers as an array; other values as the bytes of their JSON."""
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        if all(type(value) is kind for value in values):
            return np.array(values, dtype)
    return np.frombuffer(json.dumps(values).encode(), np.uint8)


def _values(column: np.ndarray) -> list[Any]:
    found: list[Any] = json.loads(column.tobytes()) if column.dtype == np.uint8 else column.tolist()
    return found
