"""Lists and sorted sets as types; the operations on them are in `list_words`.

A program can only read a list: no operators, no methods, no locals. So every use is a `ListWord`, or the
assignment of a whole list to a field.
"""

from __future__ import annotations

from typing import Any, get_origin

from gaslab import program
from gaslab.compiler import tree as t
from gaslab.language.annotations import mark_of

EMPTY = t.NoList("list:")
NO_VALUE = "a list is only read through x[i], len(x), y in x, for y in x, gl.mode(x)"


def list_storage(annotation: Any, storage: str | None) -> str | None:
    """Return the list type of an annotation with elements of *storage*; *storage* if it is not a list."""
    mark = mark_of(annotation, program.Ragged)
    if mark is None:
        return storage
    if storage is None or t.is_list(storage):
        return None
    return f"{mark.kind}:{'id32' if storage == 'id' else storage}"


def tuples_storage(annotation: Any, members: list[str | None]) -> str | None:
    """Return the type of a list of tuples with these members, None if the language has none."""
    mark = mark_of(annotation, program.Ragged)
    name = "_".join("id32" if member == "id" else str(member) for member in members)
    return f"{mark.kind}:{name}" if mark is not None and name in t.TUPLES else None


def refused_elements(storage: str) -> str | None:
    """Return why a list type is not allowed, None if it is."""
    if storage.startswith("set:") and t.STORAGE[t.element_storage(storage)][0] not in ("int", "id"):
        return "a sorted set holds ints or vertex ids; write gl.List[...]"
    return None


def of_tuples(annotation: Any) -> str | None:
    """Return why an annotation of a list of tuples is refused, None for others."""
    if mark_of(annotation, program.Ragged) is None or get_origin(annotation.__origin__) is not tuple:
        return None
    return "a list of tuples, and lists hold numbers or ids; in gather, gl.SumBy[int, float] sums by key"


def element_type(kind: t.Type) -> str:
    """Return the expression type of the elements of a list type."""
    return t.STORAGE[t.element_storage(kind)][0]


def fits(value: t.Expr, kind: t.Type) -> t.Expr | None:
    """Return *value* as the list type *kind*: a set is also a list, and ``[]`` fits any; else None."""
    if value == EMPTY:
        return t.NoList(str(kind))
    same = t.is_list(value.type) and t.element_storage(value.type) == t.element_storage(kind)
    return value if same and kind in (value.type, f"list:{t.element_storage(kind)}") else None
