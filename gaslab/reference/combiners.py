"""Fields and combiners of single values in the reference engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gaslab.errors import unknown
from gaslab.language.nobody import Nobody
from gaslab.program import NOBODY
from gaslab.reference.arithmetic import LIMITS, narrow, number

_FIRST, _LAST = Nobody(last=False), NOBODY  # the identities of Max and Min over vertex ids


@dataclass(frozen=True)
class Field:
    """A declared vertex or edge field."""

    storage: str
    default: Any
    required: bool
    shape: tuple[int, ...] = ()
    lookup: tuple[str, ...] = ()  # the field that names another vertex, and the other's field
    nobody: Any = 0  # its value if the id is gl.NOBODY


@dataclass(frozen=True)
class Combiner:
    """``Sum``, ``Min``, ``Max``, ``List`` or ``SortedSet`` over one storage type."""

    op: str
    storage: str

    @property
    def identity(self) -> Any:
        """The identity."""
        if self.op in ("list", "set"):
            return []
        if self.op in ("sum", "count", "bitor", "prod"):
            return narrow(self.storage, int(self.op == "prod"))
        if self.op in ("any", "all"):
            return self.op == "all"
        if self.op not in ("min", "max"):
            raise unknown("the reference", self)
        low = self.op == "max"
        if self.storage == "id":
            return _FIRST if low else _LAST
        if self.storage == "bool":
            return not low
        if self.storage in LIMITS:
            return number(LIMITS[self.storage][0 if low else 1])
        return number(-math.inf if low else math.inf)

    def from_caller(self, value: Any) -> Any:
        """Return a caller's value."""
        return narrow(self.storage, value)

    def add(self, a: Any, b: Any) -> Any:
        """Combine the total *a* with one more value."""
        if self.op in ("list", "set"):
            more = self._element(b)
            return in_order({*a, more} if self.op == "set" else [*a, more])
        b = narrow(self.storage, b)
        if self.op in ("sum", "count"):
            return narrow(self.storage, float(a) + float(b) if isinstance(b, float) else a + b)
        if self.op in ("any", "all"):
            return (a or b) if self.op == "any" else (a and b)
        if self.op in ("bitor", "prod"):
            if isinstance(b, float):
                return narrow(self.storage, float(a) * float(b))
            return narrow(self.storage, a | b if self.op == "bitor" else a * b)
        if self.op not in ("min", "max"):
            raise unknown("the reference", self)
        return (b if b < a else a) if self.op == "min" else (b if b > a else a)


    def _element(self, value: Any) -> Any:
        """Return a value as in lists: of the two values for no vertex, only the last."""
        if "," in self.storage:
            members = zip(self.storage.split(","), value, strict=True)
            return tuple(Combiner(self.op, storage)._element(one) for storage, one in members)
        return narrow(self.storage, NOBODY if isinstance(value, Nobody) else value)


class Listed(list[Any]):
    """A list field in a method; it may be appended to if its vertex may be written."""

    def __init__(self, storage: str, values: list[Any], may_write: Callable[[], bool]) -> None:
        super().__init__(values)
        self._storage, self._may_write = storage.partition(":")[2], may_write

    def append(self, value: Any) -> None:
        if self._may_write():
            super().append(narrow(self._storage, NOBODY if isinstance(value, Nobody) else value))


def in_order(values: Any) -> list[Any]:
    """Return values in ascending order: nan last, -0.0 before 0.0; tuples by the first that differs."""
    if any(isinstance(x, tuple) for x in values):
        return sorted(values, key=lambda x: [_place(y) for y in x])
    return sorted(values, key=_place if any(isinstance(x, float) for x in values) else None)


def _place(x: Any) -> Any:
    return (x != x, x, math.copysign(1, x)) if isinstance(x, float) else (False, x, 1)
