"""The part of each edge: a strategy's answer, checked before kernels use it.

A user may register a strategy, and kernels index arrays by the parts that it returns, unchecked. So every
array of parts is checked once here, even on a single rank.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gaslab.errors import GaslabError, UsageError
from gaslab.partitioning.answer import checked_parts
from gaslab.partitioning.context import Context, Strategy

WAIT = 1.0  # seconds that a rank with a failed strategy waits for the others, to raise with them


def parts_of(name: str, cut: Strategy, ends: list[np.ndarray], k: int, context: Context) -> np.ndarray:
    """Return the part of each edge by the strategy *name*, 0..k-1, as int32 (collective).

    *ends* are the sources and the targets; the strategy gets them read-only.

    Raises
    ------
    UsageError
        The strategy raised, or did not return a part for each edge; on every rank.
    """
    src, dst = (_read_only(end) for end in ends)
    error: Exception | None = None
    part: Any = None
    try:
        part = cut(src, dst, k, context)
    except Exception as caught:  # raised below, on every rank
        error = caught
    # A strategy may be collective. If it failed on some ranks, others may hang inside it.
    if not context.comm.all_here(WAIT if error is not None else math.inf):
        _checked(name, None, error, src, dst, k)
    found: np.ndarray = context.comm.attempt(lambda: _checked(name, part, error, src, dst, k))
    return found


def _read_only(ids: np.ndarray) -> np.ndarray:
    view: np.ndarray = ids.view()
    view.flags.writeable = False
    return view


def _checked(
    name: str, part: Any, error: Exception | None, src: np.ndarray, dst: np.ndarray, k: int
) -> np.ndarray:
    if isinstance(error, GaslabError):
        raise error
    if error is not None:
        raise UsageError(f"strategy {name!r} failed: {type(error).__name__}: {error}") from error
    what = f"strategy {name!r} returned"
    return checked_parts(what, part, src.size, k, lambda at: f"the edge {src[at]} -> {dst[at]}")
