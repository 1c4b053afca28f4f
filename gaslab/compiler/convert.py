"""The four expression types and how values pass between them.

``bool`` widens to ``int`` and both to ``float``, as in Python; narrowing is written out by the
user (``int(x)``, ``x != 0``). A vertex id meets only other ids.
"""

from __future__ import annotations

from gaslab.compiler.tree import Cast, Const, Expr

_RANK = {"bool": 0, "int": 1, "float": 2}
NUMBERS = frozenset(_RANK)


def named(type: str) -> str:
    """Return a type as errors call it."""
    return "a vertex id" if type == "id" else type


def join(a: str, b: str) -> str | None:
    """Return the type that holds both *a* and *b*; None if there is none."""
    if a == b:
        return a
    if a in NUMBERS and b in NUMBERS:
        return max(a, b, key=lambda type: _RANK[type])
    return None


def widen(value: Expr, type: str) -> Expr | None:
    """Return *value* as *type* if that loses nothing but int's last bits in float; else None."""
    if value.type == type:
        return value
    if join(value.type, type) != type:
        return None
    if isinstance(value, Const):
        return Const(float(value.value) if type == "float" else int(value.value), type)
    return Cast(value, type)


def remedy(given: str, wanted: str) -> str:
    """Return what to write where a *given* type stands and *wanted* is needed."""
    if "id" in (given, wanted):
        return "vertex ids are only compared, copied and combined"
    return (
        "write ... != 0"
        if wanted == "bool"
        else "write int(...) to cut it off, math.floor(...) to round down"
    )
