"""Expressions of the typed tree; every one has .type."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from gaslab.compiler.tree.declared import Type


@dataclass(frozen=True)
class Const:
    value: float | int | bool
    type: str


@dataclass(frozen=True)
class Param:
    index: int
    name: str
    type: str


@dataclass(frozen=True)
class Shared:
    """An array from outside, the same for all vertices and only read: an index into `Tree.shared`."""

    index: int
    name: str
    type: Type


@dataclass(frozen=True)
class Aggregate:
    """``self.<aggregator>``: the value after init or after the previous apply phase."""

    index: int
    name: str
    type: str


@dataclass(frozen=True)
class Global:
    """``num_vertices``, ``num_edges``, one of `STEPS`, or ``num_left``: the first global id of side 1."""

    name: str
    type: str = "int"


STEPS = ("superstep", "phase_step")  # those that change; the second counts from the start of the phase


@dataclass(frozen=True)
class VertexField:
    """A field of ``v`` or of the neighbour. role: ``"v"`` or ``"nbr"``."""

    role: str
    index: int
    type: Type


@dataclass(frozen=True)
class VertexAttribute:
    """``id``, ``degree``, ``in_degree`` or ``out_degree`` of ``v`` or of the neighbour."""

    role: str
    name: str
    type: str


@dataclass(frozen=True)
class EdgeField:
    index: int
    type: Type


@dataclass(frozen=True)
class Forward:
    """``e.forward``: whether ``v`` is the edge's source; known for every loop over edges."""

    type: str = "bool"


@dataclass(frozen=True)
class Local:
    """A local, or a parameter of apply or a helper; always an ASCII identifier (maybe a word of C).

    A helper takes an array by reference; *storage* is then the storage type of its elements.
    """

    name: str
    type: Type
    storage: str = ""


@dataclass(frozen=True)
class PartOf:
    """A part of a record.

    The record is ``"total"`` or ``"message"``, parameters of apply; ``"into"``, to which gather contributes;
    ``"sent"``, a message to be sent; ``"self 2"``, the value of aggregator 2; ``"into 2"``, to which that
    aggregator's method contributes; for the program's merge, ``"a"`` and ``"b"``, which it takes, and
    ``"made"``, which it returns or will take.
    """

    record: str
    index: int
    type: Type


@dataclass(frozen=True)
class Element:
    """One number of an array in memory; *index* counts row by row and is within its size."""

    array: VertexField | EdgeField | Local | PartOf | Shared
    index: Expr
    type: str


@dataclass(frozen=True)
class Index:
    """An index into a dimension of *size*, from its end if negative; out of range is a fault.

    A value *counted* by np.bincount has its own fault, which includes negative values.
    """

    value: Expr
    size: int
    site: int
    counted: bool = False
    type: str = "int"


@dataclass(frozen=True)
class Reduce:
    """*value* at ``counter = 0 .. count - 1``, combined; op: ``sum prod min max argmin argmax``.

    A sum of 8 or more floats goes to four sums in turn, as in a gather: element k to sum k % 4, the remaining
    elements to the first; then (0 + 1) + (2 + 3). Float32 has eight sums, see `WAYS`. ``argmin`` is the first
    position (an int).
    """

    op: str
    counter: str
    count: int
    value: Expr
    type: str


@dataclass(frozen=True)
class Search:
    """``np.searchsorted``: how many elements of an ascending vector come before *value*.

    With *right*, equal elements do too. nan comes last.
    """

    array: VertexField | EdgeField | Local | PartOf | Shared
    value: Expr
    right: bool
    type: str = "int"


@dataclass(frozen=True)
class Categorical:
    """``gl.categorical``: an index drawn by weights, *value* at ``counter = 0 .. count - 1``.

    The weights go to `SUMS` running sums in turn, element k to sum k % 8. The ends of the first four sums are
    added up in order, and likewise those of the last four, which come on top. For a uniform number times the
    whole, the first sum that ends above it is chosen, and in it the first element at which the sum is above
    the rest. A weight below 0 or nan, and a whole of 0 or infinity, are faults.
    """

    counter: str
    count: int
    value: Expr
    site: int
    type: str = "int"


SUMS = 8  # of a `Categorical`
# Sums of a `Reduce` of floats by precision (32 bytes of them), used from this many elements.
WAYS, WIDE_SUM = {"float64": 4, "float32": 8}, 8


@dataclass(frozen=True)
class Unary:
    """op: ``-`` ``+`` ``~`` ``not``."""

    op: str
    operand: Expr
    type: str


@dataclass(frozen=True)
class Binary:
    """op: ``+ - * / // % ** & | ^ << >>``; both operands have the same type (bool for ``& | ^`` too).

    ``/`` always yields float (its operands are cast to float; `int_divisor` says that the right one
    was an int before, and then zero is a fault). ``**`` is float ** float, or int ** a constant
    int >= 0. Operations that may fault (``/`` with `int_divisor`, ``// %`` of ints, shifts) have a site.
    """

    op: str
    left: Expr
    right: Expr
    type: str
    site: int = -1
    int_divisor: bool = False


ARITHMETIC = {
    ("//", "int"): "floor_divide_i", ("%", "int"): "modulo_i",
    ("//", "float"): "floor_divide_f", ("%", "float"): "modulo_f",
    ("<<", "int"): "shift_left", (">>", "int"): "shift_right",
}  # fmt: skip  # functions of both backends where C's operators differ from Python's


@dataclass(frozen=True)
class Compare:
    """op: ``== != < <= > >=``; in a chain, each is an operand of a `Logical`, under a `Let`."""

    op: str
    left: Expr
    right: Expr
    type: str = "bool"


@dataclass(frozen=True)
class Logical:
    """op: ``and`` or ``or``; short-circuit."""

    op: str
    operands: tuple[Expr, ...]
    type: str = "bool"


@dataclass(frozen=True)
class Conditional:
    test: Expr
    then: Expr
    otherwise: Expr
    type: str


@dataclass(frozen=True)
class Let:
    """*body*, in which `Bound` of the same *number* stands for *value*, evaluated once before it."""

    number: int
    value: Expr
    body: Expr
    type: str


@dataclass(frozen=True)
class Bound:
    """The value that an enclosing `Let` has evaluated."""

    number: int
    type: str


@dataclass(frozen=True)
class Cast:
    """int/bool -> float, bool -> int, float -> int (truncates; fault when out of range), any -> bool."""

    operand: Expr
    type: str
    site: int = -1


_ONE = (
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh degrees erf erfc exp exp2 expm1 fabs floor gamma "
    "isfinite isinf isnan lgamma log10 log1p log2 radians sin sinh sqrt tan tanh trunc"
)
MATH_ARITY = {
    **dict.fromkeys(_ONE.split(), (1, 1)),
    **dict.fromkeys(["atan2", "copysign", "fmod", "hypot", "ldexp", "nextafter", "pow", "remainder"], (2, 2)),
    "fma": (3, 3),
    "log": (1, 2),
}  # of math functions that C also has: fewest and most arguments


@dataclass(frozen=True)
class Call:
    """A built-in: ``abs``, ``min`` or ``max`` of two (type of the operands), or ``math.<name>``.

    ``bit_count`` is the number of 1 bits in an int's absolute value.

    math functions take and return float, except ``math.isnan isinf isfinite`` (bool) and ``math.ldexp``
    (float, int); ``math.floor ceil trunc`` return float here, under a `Cast` to int.
    """

    function: str
    arguments: tuple[Expr, ...]
    type: str
    site: int = -1


@dataclass(frozen=True)
class CallHelper:
    """A helper function of the user's module, already specialised: an index into Tree.helpers.

    Arguments that are arrays are places. A call that returns an array is the value of an `Assign` to a Local.
    """

    index: int
    arguments: tuple[Expr, ...]
    type: Type


@dataclass(frozen=True)
class Draw:
    """``gl.uniform(low, high)``, ``gl.normal(scale)``, ``gl.integers(n)``, …: the next draw of this call.

    Draws are numbered in the order in which Python evaluates them, from 0 in every call of a method; see
    ``philox.h`` for what a draw depends on, and ``distributions.h`` for draws of several numbers. `integers`
    with n < 1 is a fault, and so is an out-of-range parameter of another distribution.
    """

    kind: str
    arguments: tuple[Expr, ...]
    type: str
    site: int = -1


@dataclass(frozen=True)
class NoList:
    """``[]``, of any list type."""

    type: str


@dataclass(frozen=True)
class ListWord:
    """An operation on a list, its last argument, or on two.

    function: ``len(x)``, ``item(i, x)`` (may fault), ``in(value, x)``, ``common(a, b)``, ``mode(x)``
    (may fault) and ``mex(x)``; of a list of tuples ``member(k, i, x)``, number k of tuple i (may fault).
    """

    function: str
    arguments: tuple[Expr, ...]
    type: str
    site: int = -1


@dataclass(frozen=True)
class KeyedWord:
    """An operation on apply's total by key.

    function: ``len``, ``in(key)``, ``at(key)``, the sum of a key or 0, and ``argmax`` (may fault). In a
    `KeyedLoop`, ``key(i)`` and ``value(i)`` of an existing item.
    """

    function: str
    arguments: tuple[Expr, ...]
    type: str
    site: int = -1


Expr = (
    Const | Param | Shared | Aggregate | Global | VertexField | VertexAttribute | EdgeField | Forward | Local
    | Unary | Binary | Compare | Logical | Conditional | Cast | Call | CallHelper | Draw | Element | Index
    | Reduce | Search | Categorical | PartOf | NoList | ListWord | KeyedWord | Let | Bound
)  # fmt: skip


def nodes(x: Any) -> Iterator[Any]:
    """Yield the nodes of an expression, a statement, or a tuple of them, from the top down."""
    if isinstance(x, tuple):
        for item in x:
            yield from nodes(item)
    else:
        names = _parts(x.__class__)
        if names is not None:
            yield x
            for name in names:
                yield from nodes(getattr(x, name))


def renamed(x: Any, before: Local, after: Local) -> Any:
    """Return an expression, a statement, or a tuple of them with another local in place of *before*."""
    if x == before:
        return after
    if isinstance(x, tuple):
        return tuple(renamed(item, before, after) for item in x)
    names = _parts(x.__class__)
    return x if names is None else replace(x, **{n: renamed(getattr(x, n), before, after) for n in names})


@functools.cache
def _parts(kind: Any) -> tuple[str, ...] | None:
    """Return the names of a node's fields, None for anything else."""
    return tuple(field.name for field in fields(kind)) if is_dataclass(kind) else None
