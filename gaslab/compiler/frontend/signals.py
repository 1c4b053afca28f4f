"""Signals: their targets, messages and priorities."""

from __future__ import annotations

import ast

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.calls import cut_to_int
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.nothing import is_nothing
from gaslab.compiler.frontend.records import message_parts
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.tuples import tuple_sent
from gaslab.compiler.frontend.value_checks import no_keywords

_PLAIN = ("nbr.signal()", "nbr.signal(message)")


def signal(scope: Scope, node: ast.Call, role: str) -> t.Signal:
    """Return the statement ``nbr.signal(...)``, ``v.signal(...)`` or ``self.signal(id, ...)``."""
    assert isinstance(node.func, ast.Attribute)
    if scope.is_helper or scope.name not in ("apply", "scatter"):
        where = "a helper" if scope.is_helper else scope.name
        raise scope.name_error(node.func, f"{where} cannot signal; write nbr.signal() in scatter")
    if role == "e":
        raise scope.name_error(node.func, "only vertices are signalled; write nbr.signal() or v.signal()")
    combiner = scope.unit.declared.message
    to = addressee(scope, node) if role == "self" else None
    message_nodes, priority = arguments(scope, node, skip=int(role == "self"))
    message, target = None, "id" if role == "self" else role
    if message_nodes:
        at = message_nodes[0]
        if combiner is None:
            raise scope.error(at, "apply takes no message; write def apply(self, v, message: gl.Min[float])")
        if is_nothing(at):
            without = f"{ast.unparse(node.func)}({'id' if role == 'self' else ''})"
            raise scope.error(at, f"None is not a message; {without} signals without one")
        if isinstance(combiner, t.RecordCombiner):
            before = f"{ast.unparse(node.func)}({'id, ' if role == 'self' else ''}"
            parts = message_parts(scope, at, before)
            return t.Signal(None, scope.site(node), target, priority, to, parts)
        if combiner.storage in t.TUPLES:
            before = f"{ast.unparse(node.func)}({'id, ' if role == 'self' else ''}"
            members = tuple_sent(scope, t.TUPLES[combiner.storage], at, before)
            return t.Signal(None, scope.site(node), target, priority, to, members=members)
        message = scope.fit(value_of(scope, at), combiner.type, at, "the message")
    return t.Signal(message, scope.site(node), target, priority, to)


def addressee(scope: Scope, node: ast.Call) -> t.Expr:
    """Return the id of the vertex that ``self.signal`` signals."""
    if not node.args or isinstance(node.args[0], ast.Starred):
        raise scope.error(node, "self.signal takes a vertex id first; write self.signal(id)")
    at = node.args[0]
    if (role := scope.role(at)) in ("v", "nbr"):
        name = ast.unparse(at)
        raise scope.error(at, f"self.signal takes a vertex id; write {name}.signal() or {name}.id")
    if role is not None:
        raise scope.error(at, "self.signal takes a vertex id; write v.id, a field or a parameter")
    value: t.Expr = value_of(scope, at)
    if value.type != "id":
        raise scope.error(
            at, f"self.signal takes a vertex id but this is {t.named(value.type)}; declare it gl.VertexId"
        )
    return value


def arguments(scope: Scope, node: ast.Call, skip: int) -> tuple[list[ast.expr], t.Expr | None]:
    """Return the arguments of a signal after *skip*: the message, if any, and the priority."""
    priority = None
    for keyword in node.keywords:
        if keyword.arg != "priority":
            raise scope.error(keyword.value, "signal takes no other keyword than priority=")
        if "active" in scope.unit.declared.functions:
            raise scope.error(
                keyword.value, "a priority has no effect with active, which chooses the vertices; remove it"
            )
        priority = bucket(scope, keyword.value)
    no_keywords(scope, ast.Call(node.func, node.args, []), "signal")  # `*` among the others
    if len(node.args) > 1 + skip:
        plain, write = ("self.signal(id)", "self.signal(id, message)") if skip else _PLAIN
        raise scope.error(node, f"signal takes one message at most; write {plain} or {write}")
    return node.args[skip:], priority


def bucket(scope: Scope, node: ast.expr) -> t.Expr:
    """Return a priority as an int; a float is rounded down."""
    value: t.Expr = value_of(scope, node)
    if value.type not in ("float", "int"):
        raise scope.error(node, f"a priority is a number from 0 on but this is {t.named(value.type)}")
    if value.type == "float":
        whole: t.Expr = cut_to_int(scope, t.Call("math.floor", (value,), "float"), node)
        return whole
    return value
