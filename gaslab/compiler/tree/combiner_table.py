"""The operations that combine values: one row each, which frontend, backends and engine read.

A new scalar combiner is a row here, its word in `gaslab.language.combiners` and among those that
`gaslab.program` and `gaslab` list (for additive fields a constant in `gaslab.language.fields`, too), and its
place in `gaslab.reference`, which knows nothing of this table: in `combiners`, and for arrays in `records`.
An operation missing from the table is an error, never taken for another.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from gaslab.errors import unknown

BOOL, NUMBERS, SCALARS = ("bool",), ("int", "float"), ("int", "float", "bool", "id")


@dataclass(frozen=True)
class Operation:
    """How values of one expression type combine; texts have ``{0}`` and ``{1}`` for the operands.

    Parameters
    ----------
    word : str
        The name in the language, behind ``gl.``.
    types : tuple of str
        Its expression types; `instead` has the way out for others.
    same_as : str
        The row that does the work, if this word is only another name for it.
    empty : number or None
        The identity, 0 or 1, or ``-math.inf`` or ``math.inf`` for the least or the largest value of the
        storage type. None: only the program knows.
    c, python : mapping
        The text of two combined values by expression type, ``""`` for types without their own text; in C
        ``"double"`` for floats combined in float64, whatever the precision.
    numpy : str
        The equivalent ufunc.
    exact : bool
        Whether the order of floats does not change the result; then threads may combine in any order.
    stops : bool
        Whether a gather may skip edges that can change nothing any more.
    keeps : {"", "<", ">"}
        If the result is one of both values: the comparison in which the new value replaces the old.
    decides : bool or None
        The bool that no further value changes.
    cached : bool
        Whether totals may be cached and updated.
    sync : {"", "+=", "min", "max"}
        How scatter writes a contribution to a field with that ``sync=``; empty if there is none.

    Whatever a row leaves out is refused or done the slow way: no early stop, no cache, no ``sync=``, one
    order.
    """

    name: str
    word: str = ""
    types: tuple[str, ...] = SCALARS
    instead: Mapping[str, str] = field(default_factory=dict)
    same_as: str = ""
    empty: float | None = 0
    c: Mapping[str, str] = field(default_factory=dict)
    python: Mapping[str, str] = field(default_factory=dict)
    numpy: str = ""
    exact: bool = False
    stops: bool = False
    keeps: str = ""
    decides: bool | None = None
    cached: bool = False
    sync: str = ""

    @property
    def is_scalar(self) -> bool:
        """Whether it combines two numbers at a time."""
        return bool(self.c)

    @property
    def is_key(self) -> bool:
        """Whether it chooses a pair, by its key; the payload is another part."""
        return bool(self.keeps) and not self.is_scalar

    def identity(self, kind: str, low: int, high: int) -> float | int | bool:
        """Return the identity of expression type *kind*; ints are from *low* to *high*."""
        if self.empty is None:
            raise unknown("identity", self.name)
        if not math.isinf(self.empty):
            if kind == "id":
                return high  # gl.NOBODY
            return {"float": float, "bool": bool}.get(kind, int)(self.empty)
        if kind == "float":
            return self.empty
        if kind == "bool":
            return self.empty > 0
        return high if self.empty > 0 else low


def _of_others(types: tuple[str, ...], text: str) -> dict[str, str]:
    return {kind: text for kind in SCALARS if kind not in types}


def _chosen(name: str, word: str, sign: str) -> Operation:
    """Return the row of a minimum or a maximum."""
    return Operation(
        name, word, empty=math.inf if sign == "<" else -math.inf,
        c={
            **{kind: f"gl_{name}_{kind[:1] or 'i'}({{0}}, {{1}})" for kind in ("float", "double", "")},
            # gcc 12 compiles comparisons of floats to bools wrongly, and takes the larger of four
            "bool": "({0} & {1})" if sign == "<" else "({0} | {1})",
        },
        python={"": f"{name}({{0}}, {{1}})"}, numpy=f"{name}imum",
        exact=True, stops=True, keeps=sign, decides=sign == ">", cached=True, sync=name,
    )  # fmt: skip


_ROWS = (
    Operation(
        "sum", "Sum", NUMBERS,
        {
            "bool": "gl.Sum cannot add bools; write gl.Sum[int] to count, gl.Max[bool] for any, "
                    "gl.Min[bool] for all",
            "id": "gl.Sum cannot add vertex ids; write gl.Min[gl.VertexId] or gl.Max[gl.VertexId]",
        },
        c={"": "({0} + {1})", "bool": "({0} | {1})"},  # bools by hand-made trees alone
        python={"float": "({0} + {1})", "int": "wrap(({0} + {1}))", "bool": "bool({0} | {1})"}, numpy="add",
        cached=True, sync="+=",
    ),
    Operation(
        "prod", "Prod", NUMBERS, _of_others(NUMBERS, "gl.Prod is for numbers; write gl.Prod[float]"), empty=1,
        c={"": "({0} * {1})"}, python={"float": "({0} * {1})", "int": "wrap(({0} * {1}))"}, numpy="multiply",
        cached=True,
    ),
    Operation(
        "bitor", "BitOr", ("int",), _of_others(("int",), "gl.BitOr is for ints; write gl.BitOr[int]"),
        c={"": "({0} | {1})"}, python={"": "({0} | {1})"}, numpy="bitwise_or",
        exact=True, stops=True, cached=True,
    ),
    _chosen("min", "Min", "<"),
    _chosen("max", "Max", ">"),
    # words for the same of bools
    Operation("any", "Any", BOOL, _of_others(BOOL, "gl.Any is for bools; write gl.Any[bool]"), "max"),
    Operation("all", "All", BOOL, _of_others(BOOL, "gl.All is for bools; write gl.All[bool]"), "min"),
    Operation("count", "Count", same_as="sum"),
    # a key and the payload behind it
    Operation("argmin", "ArgMin", NUMBERS, empty=math.inf, stops=True, keeps="<"),
    Operation("argmax", "ArgMax", NUMBERS, empty=-math.inf, stops=True, keeps=">"),
    Operation("payload", stops=True),
    # collections, and accumulators with parts; these have no single value
    Operation("list", "List", empty=None),
    Operation("set", "SortedSet", empty=None),
    Operation("sum_by", "SumBy", empty=None),
    Operation("record", empty=None),
    Operation("own", empty=None),
)  # fmt: skip
OPERATIONS = {row.name: row for row in _ROWS}


def text_of(texts: Mapping[str, str], kind: str, left: str, right: str) -> str | None:
    """Return the text of two combined values, from the `c` or `python` of a row; None if it has none."""
    text = texts.get(kind, texts.get(""))
    return None if text is None else text.format(left, right)
