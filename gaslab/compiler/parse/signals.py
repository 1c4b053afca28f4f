"""Signals: whom a method may make run again, with which message, and how soon."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from gaslab.compiler.parse.convert import named
from gaslab.compiler.tree import Call, Expr, RecordCombiner, Signal

if TYPE_CHECKING:
    from gaslab.compiler.parse.statements import Statements

_PLAIN = ("nbr.signal()", "nbr.signal(message)")


def signal(frame: Statements, node: ast.Call, role: str) -> Signal:
    """Return ``nbr.signal(...)``, ``v.signal(...)`` or ``self.signal(id, ...)`` as it stands in a method."""
    assert isinstance(node.func, ast.Attribute)
    if frame.is_helper or frame.name not in ("apply", "scatter"):
        where = "a helper" if frame.is_helper else frame.name
        raise frame.name_error(node.func, f"{where} cannot signal; write nbr.signal() in scatter")
    if role == "e":
        raise frame.name_error(node.func, "only vertices are signalled; write nbr.signal() or v.signal()")
    combiner = frame.unit.declared.message
    to = addressee(frame, node) if role == "self" else None
    given, priority = arguments(frame, node, skip=int(role == "self"))
    message, target = None, "id" if role == "self" else role
    if given:
        at = given[0]
        if combiner is None:
            raise frame.error(at, "apply takes no message; write def apply(self, v, message: gl.Min[float])")
        if isinstance(combiner, RecordCombiner):
            before = f"{ast.unparse(node.func)}({'id, ' if role == 'self' else ''}"
            parts = frame.message_given(at, before)
            return Signal(None, frame.site(node), target, priority, to, parts)
        message = frame.fit(frame.value(at), combiner.type, at, "the message")
    return Signal(message, frame.site(node), target, priority, to)


def addressee(frame: Statements, node: ast.Call) -> Expr:
    """Return whom ``self.signal`` is for."""
    if not node.args or isinstance(node.args[0], ast.Starred):
        raise frame.error(node, "self.signal takes a vertex id first; write self.signal(id)")
    at = node.args[0]
    if (role := frame.role(at)) in ("v", "nbr"):
        name = ast.unparse(at)
        raise frame.error(at, f"self.signal takes a vertex id; write {name}.signal() or {name}.id")
    if role is not None:
        raise frame.error(at, "self.signal takes a vertex id; write v.id, a field or a parameter")
    value: Expr = frame.value(at)
    if value.type != "id":
        raise frame.error(
            at, f"self.signal takes a vertex id but this is {named(value.type)}; declare it gl.VertexId"
        )
    return value


def arguments(frame: Statements, node: ast.Call, skip: int) -> tuple[list[ast.expr], Expr | None]:
    """Return what stands between the brackets behind *skip*: the message if there is one, the priority."""
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
    if len(node.args) > 1 + skip:
        plain, write = ("self.signal(id)", "self.signal(id, message)") if skip else _PLAIN
        raise frame.error(node, f"signal takes one message at most; write {plain} or {write}")
    return node.args[skip:], priority


def bucket(frame: Statements, node: ast.expr) -> Expr:
    """Return a priority as an int; a float is rounded down."""
    value: Expr = frame.value(node)
    if value.type not in ("float", "int"):
        raise frame.error(node, f"a priority is a number from 0 on but this is {named(value.type)}")
    if value.type == "float":
        whole: Expr = frame.whole(Call("math.floor", (value,), "float"), node)
        return whole
    return value
