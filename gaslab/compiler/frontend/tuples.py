"""Lists of tuples, as messages may be: ``for a, b in message``, ``a, b = message[k]``, ``message[k][0]``."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import no_array

WHOLE = "this is a tuple, not a value; unpack it: a, b = message[k], or read message[k][0]"


def members_of(x: t.Expr) -> tuple[str, ...]:
    """Return the storage types of the members of the tuples in a list; none for other values."""
    return t.TUPLES.get(t.element_storage(x.type), ()) if t.is_list(x.type) else ()


def members_at(scope: Scope, x: t.Expr, index: t.Expr, node: ast.AST) -> tuple[t.Expr, ...]:
    """Return the members of the tuple at *index*; an index outside is a fault."""
    return tuple(
        t.ListWord("member", (t.Const(k, "int"), index, x), t.STORAGE[member][0], scope.site(node))
        for k, member in enumerate(members_of(x))
    )


def tuple_named(scope: Scope, node: ast.expr) -> tuple[t.Expr, ...]:
    """Return the members of ``message[k]``; none if it is not an element of a list of tuples."""
    if not isinstance(node, ast.Subscript) or not isinstance(node.value, ast.Name):
        return ()
    if node.value.id in scope.entities or not t.is_list(scope.types.get(node.value.id, "")):
        return ()
    x = value_of(scope, node.value)
    if not members_of(x) or isinstance(node.slice, ast.Slice):
        return ()
    return members_at(scope, x, scope.fit(value_of(scope, node.slice), "int", node.slice, "a position"), node)


def tuple_item(scope: Scope, node: ast.Subscript) -> t.Expr | None:
    """Return ``message[k][0]``, None for anything else."""
    members = tuple_named(scope, node.value)
    if not members:
        return None
    index = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if type(index) is not int or not 0 <= index < len(members):
        raise scope.error(node.slice, f"these tuples have [0] to [{len(members) - 1}]")
    return members[index]


def tuple_sent(scope: Scope, members: tuple[str, ...], node: ast.expr, before: str) -> tuple[t.Expr, ...]:
    """Return the members of a message written as a tuple, in their types."""
    if not isinstance(node, ast.Tuple) or len(node.elts) != len(members):
        names = ", ".join("abcd"[: len(members)])
        raise scope.error(node, f"a message is a tuple of {len(members)} here; write {before}({names}))")
    values: list[Any] = []
    for one, member in zip(node.elts, members, strict=True):
        value = value_of(scope, one)
        no_array(scope, value, one, "a member of a message")
        values.append(scope.fit(value, t.STORAGE[member][0], one, "the member"))
    return tuple(values)
