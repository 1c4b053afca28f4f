"""Columns of the user's data as arrays: bool, int64 or float64, or lists of them."""

from __future__ import annotations

import math
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import InputError, UsageError
from gaslab.ingest.integers import check_integers, check_python_integers
from gaslab.ingest.lists import agree_on_lists, lists_of
from gaslab.ingest.missing import WAY_OUT, is_missing, plain
from gaslab.ingest.rows import Arrays, object_array
from gaslab.parallel.comm import Comm
from gaslab.ragged import RaggedColumn

NUMBERS = (Real, Decimal, np.bool_)  # objects from which a column can be made, if none is missing
WAYS_OUT = {  # by the kind of numpy's dtype: how to convert it to numbers
    "c": "take its real part or its magnitude",
    "m": "divide it by numpy.timedelta64(1, 's')",
    "M": "subtract a date and divide by numpy.timedelta64(1, 'D')",
    "U": "pandas.to_numeric makes numbers of text",
    "S": "pandas.to_numeric makes numbers of text",
}


def edge_column(name: str, values: Any) -> Any:
    """Return a column as `column_of` does, or a column of lists; lists of equal length are vectors."""
    lists = lists_of(name, values)
    if lists is None:
        return column_of(name, values)
    lists = RaggedColumn(lists.lengths, column_of(name, lists.values))
    longest = int(lists.lengths.max(initial=0))
    if longest and (lists.lengths == longest).all():
        return lists.values.reshape(-1, longest)
    return lists


def column_of(name: str, values: Any) -> np.ndarray:
    """Return a column as bool, int64 or float64; its rows are numbers, vectors or matrices.

    Objects that are numbers are converted, including those of `decimal` and `fractions`. Raises InputError
    for the first row that is missing or not a number.
    """
    values = plain(values, lambda at: f"column {name!r} at position {at}")
    column = _array(name, values)
    if not 1 <= column.ndim <= 3 or 0 in column.shape[1:]:
        raise UsageError(
            f"column {name!r} has shape {column.shape}; a number, a vector or a matrix for each row is needed"
        )
    check_integers(name, values, column)
    if not column.size and column.dtype.kind not in "biuf":
        column = column.astype(np.int64)  # of an empty part: other ranks decide its type
    if column.dtype.kind == "O":
        column = _numbers(name, column)
    if column.dtype.kind not in "biuf":
        at = next(iter(np.argwhere(np.isnat(column)).tolist()), None) if column.dtype.kind in "mM" else None
        if at is not None:
            raise InputError(f"column {name!r} at position {at[0]} is missing (NaT){WAY_OUT}")
        kind, first = column.dtype.kind, column.flat[0]
        first = str(first) if kind in "mM" else first.item()  # numpy's own repr includes its type
        raise _no_number(name, 0, first, str(column.dtype), WAYS_OUT.get(kind))
    if column.dtype.itemsize > 8 and not np.array_equal(column.astype(np.float64), column, equal_nan=True):
        raise UsageError(f"column {name!r} is {column.dtype}, with values that float64 does not hold")
    if column.dtype.kind == "f":
        missing = np.argwhere(np.isnan(column))
        if missing.size:
            raise InputError(f"column {name!r} is not a number (nan) at position {missing[0][0]}")
        return column.astype(np.float64)
    return column.astype(bool if column.dtype.kind == "b" else np.int64)


def _array(name: str, values: Any) -> np.ndarray:
    """Return values as an array; an array of objects for a list that holds more than numbers."""
    try:
        column = np.asarray(values)
    except ValueError:
        raise UsageError(f"column {name!r} has rows of several shapes; one is needed") from None
    # numpy turns the 1 in [1, "a"] into text, which would hide which one is not a number.
    mixed = column.dtype.kind in "US" and column.ndim == 1 and not isinstance(values, np.ndarray)
    return object_array(list(values)) if mixed else column


def _numbers(name: str, column: np.ndarray) -> np.ndarray:
    """Return an array of objects as bools, integers or reals; raises InputError for any other object."""
    row = math.prod(column.shape[1:])
    flat = column.ravel().tolist()
    for at, one in enumerate(flat):
        if is_missing(one):
            raise InputError(f"column {name!r} at position {at // row} is missing ({one}){WAY_OUT}")
        if not isinstance(one, NUMBERS):
            way_out = WAYS_OUT["U"] if isinstance(one, (str, bytes)) else None
            raise _no_number(name, at // row, one, type(one).__name__, way_out)
    kinds = set(map(type, flat))
    if kinds <= {bool, np.bool_}:
        return column.astype(bool)
    if all(issubclass(kind, (int, np.integer, np.bool_)) for kind in kinds):
        check_python_integers(name, flat)
        return np.array(list(map(int, flat)), np.int64).reshape(column.shape)
    return np.array([_real(name, at // row, one) for at, one in enumerate(flat)]).reshape(column.shape)


def _real(name: str, at: int, one: Any) -> float:
    try:
        found = float(one)
    except OverflowError:
        found = math.inf
    if math.isinf(found) and -math.inf < one < math.inf:
        raise InputError(f"column {name!r} at position {at} is {arguments.shown(one)}, too large for float64")
    return found


def _no_number(name: str, at: int, one: Any, kind: str, way_out: str | None) -> InputError:
    return InputError(
        f"column {name!r} at position {at} is {arguments.shown(one)} ({kind}): fields are numbers or bools; "
        f"{way_out or 'convert the column, or leave it out'}"
    )


def not_numbers(values: Any) -> str | None:
    """Return the content of a Series if none of its values is a number, else None."""
    kind = values.dtype.kind
    if kind in "biuf":
        return None
    if kind in "mMc":
        return str(values.dtype)
    # Also categories, and Arrow's decimals: as objects they become their values.
    objects = values.to_numpy(dtype=object).tolist()
    numeric = tuple(kind for kind in set(map(type, objects)) if issubclass(kind, NUMBERS))
    if numeric and any(isinstance(one, numeric) and not is_missing(one) for one in objects):
        return None
    found = sorted({type(one).__name__ for one in objects if not is_missing(one)})
    return "text" if found == ["str"] else ", ".join(found) or "missing values alone"


def no_numbers(values: Any) -> str | None:
    """Return the content of a column if no value is a number, else None; without a Series only text."""
    if hasattr(values, "dtype") and hasattr(values, "isna"):
        return not_numbers(values)
    if isinstance(values, np.ndarray) and values.dtype.kind != "O":
        return "text" if values.dtype.kind in "US" and values.size else None
    plain = isinstance(values, (list, tuple, np.ndarray)) and len(values)
    return "text" if plain and all(isinstance(one, str) for one in values) else None


def one_type_each(columns: Arrays, comm: Comm) -> Arrays:
    """Return columns with the same dtype on every rank: the widest (collective)."""
    columns = agree_on_lists(columns, comm)
    lists = {name: column for name, column in columns.items() if isinstance(column, RaggedColumn)}
    columns = {name: column for name, column in columns.items() if name not in lists}
    seen = comm.allgather({name: (column.dtype, column.size) for name, column in columns.items()})
    types = {}
    for name in columns:  # without any values, all ranks' types count
        of_ranks = [part[name] for part in seen]
        types[name] = [dtype for dtype, size in of_ranks if size] or [dtype for dtype, _ in of_ranks]
    rows = comm.allgather({name: column.shape[1:] for name, column in columns.items() if column.size})
    found = {}
    for name, column in columns.items():
        shapes = {part[name] for part in rows if name in part} or {column.shape[1:]}
        if len(shapes) > 1:
            raise UsageError(f"column {name!r} has rows of several shapes: {sorted(shapes)}")
        values = column if column.size else column.reshape(0, *shapes.pop())
        found[name] = np.ascontiguousarray(values, np.result_type(*types[name]))
    return found | lists
