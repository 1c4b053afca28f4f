"""Totals by key for interpreted programs: a dict from keys to sums, which apply sees as a `Total`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from gaslab.compiler.python.lists import listed_id
from gaslab.compiler.python.numerics import Fault
from gaslab.compiler.tree import KeyedCombiner

NO_KEYS = 16  # GL_FAULT_NO_KEYS


class Total:
    """The sums of a vertex, by key; any other key has the sum `nothing`."""

    def __init__(self, sums: dict[Any, Any], combiner: KeyedCombiner) -> None:
        self.sums, self.nothing, self.keys = sums, nothing(combiner), sorted(sums)


def nothing(combiner: KeyedCombiner) -> Any:
    """Return the sum of an absent key."""
    return 0.0 if combiner.value_type == "float" else 0


def adder(combiner: KeyedCombiner, combine: Callable[[Any, Any], Any]) -> Callable[..., None]:
    """Return the function that adds a value to the sum of a key; *combine* adds two sums."""
    start = nothing(combiner)
    of_ids = combiner.key_type == "id"

    def add_by_key(sums: dict[Any, Any], key: Any, value: Any) -> None:
        key = listed_id(key) if of_ids else key
        sums[key] = combine(sums.get(key, start), value)

    return add_by_key


def total_argmax(total: Total, site: int) -> Any:
    if not total.sums:
        raise Fault(NO_KEYS, site)
    return max(total.keys, key=lambda key: _place(total.sums[key]))  # the first of several


def _place(x: Any) -> tuple[bool, Any]:
    return (False, 0.0) if math.isnan(x) else (True, x)


KEYED_WORDS: dict[str, Callable[..., Any]] = {
    "len": lambda total: len(total.keys),
    "in": lambda total, key: key in total.sums,
    "at": lambda total, key: total.sums.get(key, total.nothing),
    "key": lambda total, i: total.keys[i],
    "value": lambda total, i: total.sums[total.keys[i]],
    "argmax": total_argmax,
}
