"""The four expression types and conversions between them.

``bool`` widens to ``int`` and both to ``float``, as in Python; narrowing is written out by the user
(``int(x)``, ``x != 0``). A vertex id combines only with ids.
"""

from __future__ import annotations

from typing import Any

from gaslab.compiler import tree as t

_RANK = {"bool": 0, "int": 1, "float": 2}
NUMBERS = frozenset(_RANK)
INT_MIN, INT_MAX = -(1 << 63), (1 << 63) - 1
IDS = "ids are only compared, copied and combined"


def join(a: t.Type, b: t.Type) -> Any:
    """Return the type that holds both *a* and *b*; None if none does."""
    if a == b:
        return a
    if isinstance(a, t.Array) or isinstance(b, t.Array):
        if isinstance(a, t.Array) and isinstance(b, t.Array) and a.shape == b.shape:
            element = join(a.element, b.element)
            return None if element is None else t.Array(element, a.shape)
        return None
    if a in NUMBERS and b in NUMBERS:
        return max(a, b, key=lambda kind: _RANK[kind])
    return None


def widen(value: t.Expr, kind: t.Type) -> t.Expr | None:
    """Return *value* as *kind* if that loses at most an int's last bits in a float; else None."""
    if value.type == kind:
        return value
    if join(value.type, kind) != kind:
        return None
    if isinstance(kind, t.Array):
        return value.widened(kind)  # type: ignore[union-attr, no-any-return]
    if isinstance(value, t.Const):
        return t.Const(float(value.value) if kind == "float" else int(value.value), kind)
    return t.Cast(value, kind)


def remedy(found: t.Type, wanted: t.Type) -> str:
    """Return the remedy for a *found* type where *wanted* is needed."""
    if isinstance(found, t.Array) and isinstance(wanted, t.Array):
        if found.shape == wanted.shape and "id" in (found.element, wanted.element):
            return IDS
        return "make the shapes agree" if found.shape != wanted.shape else "write a value of that type"
    if isinstance(found, t.Array):
        return "write one of its elements, x[i], or np.sum(x)"
    if isinstance(wanted, t.Array):
        return "write np.zeros(n) + x for a vector with one number everywhere"
    if t.RECORD in (found, wanted):
        return "read one of its parts: total.part"
    if t.PAIR in (found, wanted):
        return "unpack it: key, payload = total"
    if t.is_list(found) or t.is_list(wanted):
        return "lists combine only with lists of the same kind and type"
    if "id" in (found, wanted):
        return IDS
    return "write ... != 0" if wanted == "bool" else "write int(...) or math.floor(...)"


def constant(value: Any) -> float | int | bool | None:
    """Return a Python or numpy number as a plain one; None for anything else."""
    if getattr(value, "shape", None) == () and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, int):  # includes members of an IntEnum
        return int(value)
    return float(value) if isinstance(value, float) else None


def type_of(number: float | int | bool) -> str:
    """Return the expression type of a plain number."""
    return "bool" if isinstance(number, bool) else "int" if isinstance(number, int) else "float"
