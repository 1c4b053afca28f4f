"""Lists and sorted sets as types; their words are in `list_words`.

A list stands only where it is read: it has no operators, no methods and no locals. So what is
written about one is a `ListWord`, or the assignment of a whole list to a field.
"""

from __future__ import annotations

from typing import Any

from gaslab import program
from gaslab.compiler.tree import (
    STORAGE,
    Expr,
    NoList,
    Type,
    element_storage,
    is_list,
)

EMPTY = NoList("list:")
NO_VALUE = "a list is read by its words: x[i], len(x), y in x, for y in x, gl.mode(x)"


def list_storage(annotation: Any, storage: str | None) -> str | None:
    """Return the list type of an annotation whose elements are of *storage*; *storage* if it is no list."""
    marks = [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, program.Ragged)]
    if not marks or storage is None or is_list(storage):
        return None if marks else storage
    return f"{marks[0].kind}:{storage}"


def refused_elements(storage: str) -> str | None:
    """Return why a list type cannot be, None if it can."""
    if storage.startswith("set:") and STORAGE[element_storage(storage)][0] not in ("int", "id"):
        return "a sorted set holds ints or vertex ids; write gl.List[...]"
    return None


def element_type(kind: Type) -> str:
    """Return the expression type of the elements of a list type."""
    return STORAGE[element_storage(kind)][0]


def fits(value: Expr, kind: Type) -> Expr | None:
    """Return *value* as the list type *kind*: a set is a list too, and ``[]`` is anything; else None."""
    if value == EMPTY:
        return NoList(str(kind))
    same = is_list(value.type) and element_storage(value.type) == element_storage(kind)
    return value if same and kind in (value.type, f"list:{element_storage(kind)}") else None
