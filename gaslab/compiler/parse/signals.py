"""Signals: whom a method may make run again, with which message, and how soon."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gaslab.compiler.parse.convert import named
from gaslab.compiler.tree import Call, Expr, Signal

if TYPE_CHECKING:
    from gaslab.compiler.parse.statements import Statements


def signal(frame: Statements, node: ast.Call, role: str) -> Signal:
    """Return ``nbr.signal(...)`` or ``v.signal(...)`` as it stands in a method."""
    assert isinstance(node.func, ast.Attribute)
    if frame.is_helper or frame.name not in ("apply", "scatter"):
        where = "a helper" if frame.is_helper else frame.name
        raise frame.name_error(node.func, f"{where} cannot signal; write nbr.signal() in scatter")
    if role == "e":
        raise frame.name_error(node.func, "only vertices are signalled; write nbr.signal() or v.signal()")
    combiner = frame.unit.declared.message
    given, priority = arguments(frame, node)
    message = None
    if given:
        at = given[0]
        if combiner is None:
            raise frame.error(
                at, "apply takes no message; write def apply(self, v, message: gl.Min[float])"
            )
        message = frame.fit(frame.value(at), combiner.type, at, "the message")
    return Signal(message, frame.site(node), role, priority)


def arguments(frame: Statements, node: ast.Call) -> tuple[list[ast.expr], Expr | None]:
    """Return what stands between the brackets: the message if there is one, and the priority."""
    priority = None
    for keyword in node.keywords:
        if keyword.arg != "priority":
            raise frame.error(keyword.value, "signal takes no other keyword than priority=")
        if "active" in frame.unit.declared.functions:
            raise frame.error(
                keyword.value, "a priority has no say beside active, which chooses who runs; remove it"
            )
        priority = bucket(frame, keyword.value)
    frame.no_keywords(ast.Call(node.func, node.args, []), "signal")  # `*` among the others
    if len(node.args) > 1:
        raise frame.error(
            node, "signal takes one message at most; write nbr.signal() or nbr.signal(message)"
        )
    return node.args, priority


def bucket(frame: Statements, node: ast.expr) -> Expr:
    """Return a priority as an int; a float is rounded down."""
    value: Expr = frame.value(node)
    if value.type not in ("float", "int"):
        raise frame.error(node, f"a priority is a number from 0 on but this is {named(value.type)}")
    if value.type == "float":
        whole: Expr = frame.whole(Call("math.floor", (value,), "float"), node)
        return whole
    return value
