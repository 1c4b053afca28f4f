"""`format_table`: columns to text, one line per row."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gaslab._kernels import format as kernels
from gaslab._kernels import names as name_kernels

BLOCK_ROWS = 1 << 16


def format_table(columns: Sequence[np.ndarray], delimiter: str = "\t") -> bytes:
    """Return the rows of *columns* (1-D, one length) as UTF-8 text, one line each.

    Reals are the shortest decimals that read back as the same float64 (float32 columns: the same float32),
    written as Python's repr; bools are 0 and 1; anything else is its ``str``, in double quotes if it contains
    *delimiter*, a quote or a line end.
    """
    rows = columns[0].size if columns else 0
    ready = [_ready(values) for values in columns]
    parts = []
    room = np.empty(0, dtype=np.uint8)
    for lo in range(0, rows, BLOCK_ROWS):
        hi = min(lo + BLOCK_ROWS, rows)
        need = kernels.room_for(ready, lo, hi)
        if need > room.size:
            room = np.empty(need, dtype=np.uint8)
        parts.append(room[: kernels.write_rows(ready, lo, hi, ord(delimiter), room)].tobytes())
    return b"".join(parts)


def _ready(values: np.ndarray) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """Return a column in the kernel's form."""
    if values.dtype.kind == "f":
        return np.ascontiguousarray(values, values.dtype if values.dtype.itemsize == 4 else np.float64)
    if values.dtype.kind == "b":
        return np.ascontiguousarray(values)
    if values.dtype.kind == "i" or (values.dtype.kind == "u" and values.dtype.itemsize < 8):
        return np.ascontiguousarray(values, np.int64)
    strings = values.tolist()
    if set(map(type, strings)) != {str}:
        strings = list(map(str, strings))
    return name_kernels.encode(strings)  # type: ignore[no-any-return]
