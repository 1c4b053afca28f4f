"""The answer of a user's strategy, checked before kernels index arrays with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gaslab.errors import UsageError
from gaslab.ingest.missing import masked_at


def checked_parts(
    what: str, part: Any, size: int, k: int, item: Callable[[int], str], items: str = "edges"
) -> np.ndarray:
    """Return *part* as int32 if it is a part, 0..k-1, of each of *size* items; else raise a UsageError.

    *what* begins the message, and *item* names one of the items by its position, in global ids.
    """
    need = f"an integer array with the part, 0 to {k - 1}, of each of the {size} {items} is needed"
    if part is None:
        raise UsageError(f"{what} None; {need}")
    hidden = masked_at(part)
    if hidden is not None:
        raise UsageError(f"{what} a masked value at position {hidden[0]}; {need}")
    try:
        values = np.asarray(part)
    except Exception as error:
        kind = type(part).__name__
        raise UsageError(f"{what} a {kind}, which is not an array ({error}); {need}") from error
    if values.ndim != 1:
        raise UsageError(f"{what} a {type(part).__name__} of shape {values.shape}; {need}")
    if values.size != size:
        raise UsageError(f"{what} {values.size} parts; {need}")
    if values.size == 0:
        return np.empty(0, np.int32)  # without edges, an empty list, which numpy makes float64
    if values.dtype.kind not in "iu":
        raise UsageError(f"{what} {values.dtype}; {need} (convert it with .astype('int32'))")
    if int(values.min()) < 0 or int(values.max()) >= k:
        at = int(np.argmax((values < 0) | (values >= k)))
        raise UsageError(f"{what} part {values[at]} for {item(at)} (global ids); {need}")
    return np.ascontiguousarray(values, np.int32)
