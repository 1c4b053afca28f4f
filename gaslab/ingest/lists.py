"""Columns of lists: rows of different length, from Python sequences, object arrays and Arrow lists."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence, Set
from itertools import chain
from typing import Any

import numpy as np

from gaslab.errors import InputError, UsageError
from gaslab.ingest.integers import check_integers
from gaslab.ingest.missing import plain
from gaslab.parallel.comm import Comm
from gaslab.ragged import RaggedColumn

_NUMBERS = (bool, int, float, np.bool_, np.integer, np.floating)


def lists_of(name: str, values: Any) -> RaggedColumn | None:
    """Return a column of lists with the given values, None if the rows are not lists."""
    if isinstance(values, RaggedColumn):
        return values
    if hasattr(values, "combine_chunks"):  # of Arrow
        values = values.combine_chunks()
    if hasattr(values, "value_lengths") and hasattr(values, "flatten"):
        if values.null_count:
            row = values.is_null().to_pylist().index(True)
            raise InputError(f"column {name!r} is missing in row {row}; write an empty list")
        rows = values.to_pylist()
    else:
        values = plain(values, lambda at: f"column {name!r} at position {at}")
        if isinstance(values, np.ndarray):
            if values.dtype != object or values.ndim != 1:
                return None
            values = values.tolist()
        if not isinstance(values, Sequence) or not any(map(_is_list, values)):
            return None
        rows = list(values)
    for k, row in enumerate(rows):
        if not _is_list(row):
            raise InputError(f"column {name!r} is {row!r} in row {k}, but other rows are lists; write [...]")
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    in_order = [sorted(row) if isinstance(row, Set) else row for row in rows]
    listed = list(
        chain.from_iterable(row.tolist() if isinstance(row, np.ndarray) else row for row in in_order)
    )
    return RaggedColumn(lengths, _numbers(name, listed, lengths))


def _is_list(row: Any) -> bool:
    if isinstance(row, np.ndarray):
        return row.ndim > 0
    return isinstance(row, (Sequence, Set)) and not isinstance(row, (str, bytes))


def _numbers(name: str, listed: list[Any], lengths: np.ndarray) -> np.ndarray:
    """Return the values of all rows as an array; raises if one is not a number."""
    values = None
    with contextlib.suppress(ValueError):  # of lists within lists
        values = np.array(listed)
    if values is not None:
        check_integers(name, listed, values)
        if values.dtype.kind in "biuf" and values.ndim == 1 and not (values != values).any():
            return values if values.size else values.astype(np.int64)
    for at, value in enumerate(listed):
        row = int(np.searchsorted(np.cumsum(lengths), at, "right"))
        if not isinstance(value, _NUMBERS):
            raise InputError(f"column {name!r} has {value!r} in row {row}; lists hold numbers or bools")
        if value != value:
            raise InputError(f"column {name!r} is not a number (nan) at position {row}")
    return np.array(listed)


def agree_on_lists(columns: dict[str, Any], comm: Comm) -> dict[str, Any]:
    """Return columns, each with lists on every rank or on none (collective).

    Rows of equal length are also lists if other ranks have lists or rows of a different length.
    """
    by_rank = comm.allgather({name: _shape(column) for name, column in columns.items() if len(column)})
    found = dict(columns)
    for name, column in columns.items():
        shapes = {part[name] for part in by_rank if name in part}
        of_rows = {shape for shape in shapes if shape is None or len(shape) == 1}
        if None not in shapes and not (len(shapes) > 1 and of_rows == shapes):
            continue
        if of_rows != shapes:
            raise UsageError(f"column {name!r} has lists on some ranks and other rows on others")
        if not isinstance(column, RaggedColumn):
            empty = RaggedColumn(np.empty(0, np.int64), np.empty(0, np.int64))
            found[name] = RaggedColumn.of(column) if len(column) else empty
        dtypes = comm.allgather(found[name].dtype if found[name].values.size else None)
        known = [dtype for dtype in dtypes if dtype is not None]
        found[name] = found[name].astype(np.result_type(*known) if known else np.int64)
    return found


def _shape(column: Any) -> tuple[int, ...] | None:
    return None if isinstance(column, RaggedColumn) else column.shape[1:]
