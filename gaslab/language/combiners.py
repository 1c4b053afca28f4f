"""How values are combined: the marks behind ``Sum[float]`` and the like, and totals with named parts.

Words of the language, which `gaslab.program` exports. Each operation, its identity and its text in C and in
Python, is a row of `gaslab/compiler/tree/combiner_table.py`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, TypeVar
from typing import Any as Anything

from gaslab.language.fields import Storage

T = TypeVar("T")
K = TypeVar("K")
P = TypeVar("P")


class Combine:
    """The mark behind ``Sum[...]``, ``Min[...]`` and the like; `op` is a row of the table of operations."""

    def __init__(self, op: str) -> None:
        self.op = op

    def __repr__(self) -> str:
        return f"Combine({self.op!r})"


# For type checkers each is its plain content: Sum[float] is float.
Sum = Annotated[T, Combine("sum")]
Prod = Annotated[T, Combine("prod")]
BitOr = Annotated[T, Combine("bitor")]
Any = Annotated[T, Combine("any")]
All = Annotated[T, Combine("all")]
# Counts True values; the total is an int. At run time, gl.Count[bool] is the same.
if TYPE_CHECKING:
    Count = Annotated[int, Combine("count")]
else:
    Count = Annotated[T, Combine("count"), Storage("int64")]
Min = Annotated[T, Combine("min")]
Max = Annotated[T, Combine("max")]
# The (key, payload) with the smallest or largest key, on ties with the smallest payload.
ArgMin = Annotated[tuple[K, P], Combine("argmin")]
ArgMax = Annotated[tuple[K, P], Combine("argmax")]


class At:
    """The result of `at`; *written_at* is the file and line of the call, for faults."""

    def __init__(self, index: Anything, weight: Anything, written_at: tuple[str, int]) -> None:
        self.index, self.weight, self._written_at = index, weight, written_at


def _place_of_call() -> tuple[str, int]:
    """Return the file and line of the caller's caller."""
    user = sys._getframe(2)
    return user.f_code.co_filename, user.f_lineno


def at(index: Anything, weight: Anything = 1) -> Anything:
    """Add *weight* to one element of a vector part in a gather's result, as in a histogram.

    A negative *index* counts from the vector's end, as in ``x[-1]``; an index out of range ends the run. To
    leave a value out, return the accumulator without the part.

    >>> from gaslab import program as gl
    >>> class Colours(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         colour: int = 0
    ...         most: int = 0
    ...     class Total(gl.Accumulator):
    ...         seen: gl.Vector = gl.field(shape=8, dtype=int)
    ...     def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
    ...         return self.Total(seen=gl.at(nbr.colour))
    ...     def apply(self, v: Vertex, total: Total) -> None:
    ...         v.most = max(total.seen[0], total.seen[1])
    """
    return At(index, weight, _place_of_call())


class Accumulator:
    """Base of a class nested in a program: the total of a gather, with named parts.

    A numeric part is summed, unless its annotation names another combiner (``low: gl.Min[float]``); for a
    vector or matrix, `field` names it (``combine=gl.MAX``). A gather returns ``self.Total(low=..., ...)``,
    and a part that is left out contributes nothing; apply reads ``total.low``. See ``docs/values.md``.

    >>> from gaslab import program as gl
    >>> class Spread(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         x: float = 0.0
    ...         wide: float = 0.0
    ...     class Total(gl.Accumulator):
    ...         low: gl.Min[float]
    ...         high: gl.Max[float]
    ...     def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
    ...         return self.Total(low=nbr.x, high=nbr.x)
    ...     def apply(self, v: Vertex, total: Total) -> None:
    ...         v.wide = total.high - total.low

    Messages and aggregators may be accumulators too. If parts do not combine one by one, the program has a
    ``merge`` of two accumulators, which must not depend on the order; its parts start from their defaults:

    >>> class Mean(gl.VertexProgram):
    ...     class Vertex(gl.Vertex):
    ...         x: float = 1.0
    ...     class Part(gl.Accumulator):
    ...         n: int = 0
    ...         mean: float = 0.0
    ...     def merge(self, a: Part, b: Part) -> Part:
    ...         n = a.n + b.n
    ...         return a if n == 0 else self.Part(n=n, mean=(a.n * a.mean + b.n * b.mean) / n)
    ...     def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Part:
    ...         return self.Part(n=1, mean=nbr.x)
    ...     def apply(self, v: Vertex, total: Part) -> None:
    ...         v.x = total.mean
    """

    __slots__ = ("__dict__", "_written_at")  # the parts; the file and line of the call, for faults

    def __init__(self, **parts: Anything) -> None:
        vars(self).update(parts)
        self._written_at = _place_of_call()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={x!r}' for name, x in vars(self).items())})"
