"""Lists and sorted sets for interpreted programs, as Python lists."""

from __future__ import annotations

import math
from collections import Counter
from itertools import count
from typing import Any

from gaslab.compiler.python.numerics import Fault
from gaslab.compiler.tree import TUPLES

NOBODY = (1 << 63) - 1  # gl.NOBODY as a global id
NOBODY_32 = (1 << 32) - 1  # in lists
INDEX, EMPTY = 5, 7  # GL_FAULT_INDEX, GL_FAULT_EMPTY


def listed_id(vertex: int) -> int:
    """Return a global id as in a list, where no vertex is always gl.NOBODY."""
    return vertex if vertex >= 0 else NOBODY


def ordered(values: list[Any], kind: str) -> list[Any]:
    """Return values in ascending order; in a set, each once."""
    if kind == "set":
        return sorted(set(values))
    if any(isinstance(x, tuple) for x in values):
        return sorted(values, key=lambda x: [_place(y) for y in x])
    return sorted(values, key=_place) if any(isinstance(x, float) for x in values) else sorted(values)


def _place(x: float) -> tuple[bool, float, bool]:
    """Return a sort key: ints, which floats could not tell apart, stay ints."""
    if isinstance(x, int):
        return False, x, True
    return (True, 0.0, False) if math.isnan(x) else (False, x, math.copysign(1.0, x) > 0)


def widened(values: list[Any], storage: str) -> list[Any]:
    """Return stored elements with the ids in tuples as a program sees them."""
    ids = [k for k, one in enumerate(TUPLES.get(storage, ())) if one == "id32"]
    if not ids:
        return values
    return [tuple(NOBODY if k in ids and y == NOBODY_32 else y for k, y in enumerate(x)) for x in values]


def stored(value: Any, storage: str) -> Any:
    """Return an element of a list as rows store it."""
    if storage in TUPLES:
        return tuple(stored(y, one) for y, one in zip(value, TUPLES[storage], strict=True))
    return (min(value, NOBODY_32) if value >= 0 else NOBODY_32) if storage == "id32" else value


def item(i: int, x: list[Any], site: int) -> Any:
    if not -len(x) <= i < len(x):
        raise Fault(INDEX, site)
    return x[i]


def member(k: int, i: int, x: list[Any], site: int) -> Any:
    return item(i, x, site)[k]


def mode(x: list[Any], site: int) -> Any:
    if not x:
        raise Fault(EMPTY, site)
    counts = Counter(x)
    most = max(counts.values())
    return min(y for y, n in counts.items() if n == most)


def mex(x: list[int]) -> int:
    known = set(x)
    return next(k for k in count() if k not in known)


WORDS = {
    "len": len,
    "item": item,
    "member": member,
    "in": lambda y, x: any(y == z for z in x),  # `in` would find the nan that is the same object
    "common": lambda a, b: len(set(a) & set(b)),
    "mode": mode,
    "mex": mex,
}
