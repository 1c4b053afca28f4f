"""Integers beyond int64, which NumPy turns into floats or objects."""

from __future__ import annotations

from typing import Any

import numpy as np

from gaslab.errors import UsageError

LEAST, LARGEST = -(1 << 63), (1 << 63) - 1


def check_integers(name: str, values: Any, column: np.ndarray) -> None:
    """Raise UsageError if *values*, which NumPy turned into *column*, are integers beyond int64."""
    beyond = _beyond(values, column)
    if beyond is not None:
        raise _too_large(name, beyond)


def check_python_integers(name: str, values: list[Any]) -> None:
    """Raise UsageError if a Python or numpy integer is beyond int64."""
    beyond = next((one for one in values if not LEAST <= one <= LARGEST), None)
    if beyond is not None:
        raise _too_large(name, int(beyond))


def _too_large(name: str, value: int) -> UsageError:
    return UsageError(
        f"column {name!r} has the value {value}: integers are from -2**63 to 2**63 - 1; pass the column "
        "as float64 if its last digits do not matter"
    )


def _beyond(values: Any, column: np.ndarray) -> int | None:
    if column.dtype.kind == "u" and column.size and column.max() > LARGEST:
        return int(column.max())
    if values is column or column.dtype.kind not in "fO":
        return None
    if column.dtype.kind == "f" and not (np.abs(column) >= 2.0**63).any():
        return None
    every = np.array(values, object).ravel().tolist()
    if set(map(type, every)) != {int}:
        return None
    return next((one for one in every if not LEAST <= one <= LARGEST), None)
