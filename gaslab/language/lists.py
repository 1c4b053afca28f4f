"""Lists and sorted sets: their types, and operations on them in plain Python, for the reference engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import count
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

T = TypeVar("T")


class Ragged:
    """The mark behind ``List[...]`` and ``SortedSet[...]``; `kind` is list or set."""

    def __init__(self, kind: str) -> None:
        self.kind = kind

    def __repr__(self) -> str:
        return f"Ragged({self.kind!r})"


# On a field or a total a list of values, on gather's result one edge's contribution (or None). For type
# checkers it is both: indexed, looped over and measured, and returned by gather.
if TYPE_CHECKING:
    List = Annotated[Any | Sequence[T], Ragged("list")]
    SortedSet = Annotated[Any | Sequence[T], Ragged("set")]
else:
    List = Annotated[T, Ragged("list")]
    SortedSet = Annotated[T, Ragged("set")]


def common(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Return the number of values that two sorted sets have in common.

    >>> from gaslab import program as gl
    >>> gl.common([1, 3, 5], [3, 4, 5])
    2
    """
    return len({*a} & {*b})


def mode(x: Sequence[T]) -> T:
    """Return the most frequent value of a list of ints or ids, the smallest if several are.

    An empty list has no mode, and ends the run.

    >>> from gaslab import program as gl
    >>> gl.mode([7, 2, 7, 2, 9])
    2
    """
    if not x:
        raise IndexError("mode of an empty list")
    counts = Counter(x)
    most = max(counts.values())
    return min(value for value, count in counts.items() if count == most)  # type: ignore[type-var]


def mex(x: Sequence[int]) -> int:
    """Return the smallest non-negative int that is not in a list.

    >>> from gaslab import program as gl
    >>> gl.mex([0, 1, 3, 3])
    2
    """
    known = {*x}
    return next(k for k in count() if k not in known)
