"""The rows of a run's history as columns: numbers as arrays, other values as the bytes of their JSON."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

FIGURES = ("seconds", "bytes_sent")  # numbers in every row


def packed(rows: Sequence[Mapping[str, Any]], but: Collection[str]) -> dict[str, np.ndarray]:
    """Return the columns of rows, which have the same keys, without the keys *but*."""
    names = [name for name in (rows[0] if rows else ()) if name not in but]
    return {name: _packed([row[name] for row in rows]) for name in names}


def unpacked(columns: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Return the rows; raises ValueError where the columns make none."""
    lists = {name: _unpacked(column) for name, column in columns.items()}
    if lists and not all(lists.get(name) and type(lists[name][0]) in (int, float) for name in FIGURES):
        raise ValueError("the history has rows without figures")
    return [dict(zip(lists, row, strict=True)) for row in zip(*lists.values(), strict=True)]


def _packed(values: list[Any]) -> np.ndarray:
    for kind, dtype in ((int, np.int64), (float, np.float64)):
        if all(type(value) is kind for value in values):
            return np.array(values, dtype)
    return np.frombuffer(json.dumps(values).encode(), np.uint8)


def _unpacked(column: np.ndarray) -> list[Any]:
    if column.ndim != 1:
        raise ValueError("a column of the history has rows that are no values")
    if column.dtype in (np.int64, np.float64):
        numbers: list[Any] = column.tolist()
        return numbers
    try:
        values = json.loads(column.tobytes())
    except RecursionError as error:
        raise ValueError(str(error)) from None
    if not isinstance(values, list):
        raise ValueError("a column of the history is no list")
    return values
