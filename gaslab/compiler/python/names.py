"""Values of types, and their storage, as Python text."""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.errors import unknown

ZERO = {"float": "0.0", "int": "0", "bool": "False", "id": "0"}
ZERO |= {kind: "[]" for kind in t.STORAGE if t.is_list(kind)}


def zero(kind: t.Type) -> str:
    """Return a value of that type."""
    return f"[{ZERO[kind.element]}] * {kind.size}" if isinstance(kind, t.Array) else ZERO[kind]


def narrowed(storage: str, expression: str, site: int) -> str:
    """Return the Python expression of *expression* after a round trip through storage; it may fault."""
    if storage in t.INTEGER_RANGE and storage != "int64":
        lo, hi = t.INTEGER_RANGE[storage]
        return f"within({expression}, {lo}, {hi}, {site})"
    if storage not in t.STORAGE:
        raise unknown("interpret", storage)
    return f"float32({expression})" if storage == "float32" else expression
