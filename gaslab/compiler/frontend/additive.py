"""Contributions: scatter adds to the additive fields (``sync=gl.SUM``) of either end and of the edge."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import each_element, kept_number
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.draws import draws_in
from gaslab.compiler.frontend.linear import numpy_word
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.subscripts import indices_of
from gaslab.compiler.frontend.values import ArrayValue, flat
from gaslab.errors import ProgramError


def additive_field(scope: Scope, target: ast.expr) -> t.VertexField | t.EdgeField | None:
    """Return the additive field that *target* names in scatter, where both ends may contribute."""
    role = scope.role(target.value) if isinstance(target, ast.Attribute) else None
    if not isinstance(target, ast.Attribute) or role not in ("v", "nbr", "e") or scope.name != "scatter":
        return None
    declared = scope.unit.declared
    for k, field in enumerate(declared.edge_fields if role == "e" else declared.vertex_fields):
        if field.name == target.attr and field.sync is not None and not scope.is_helper:
            return t.EdgeField(k, field.type) if role == "e" else t.VertexField(role, k, field.type)
    return None


def field_of(scope: Scope, place: t.VertexField | t.EdgeField) -> t.Variable:
    """Return the declaration of a place."""
    declared = scope.unit.declared
    return (declared.edge_fields if isinstance(place, t.EdgeField) else declared.vertex_fields)[place.index]


def added(scope: Scope, node: ast.AugAssign) -> list[t.Stmt] | None:
    """Return ``nbr.x += d`` or ``nbr.x -= d`` as a contribution; None if it is not one."""
    place = additive_field(scope, whole(node.target))
    if place is None:
        return None
    field = field_of(scope, place)
    if t.OPERATIONS[str(field.sync)].sync != "+=" or not isinstance(node.op, ast.Add | ast.Sub):
        raise wrong_contribution(scope, node.target, field)
    return contributions_to(scope, place, node.target, node.value, isinstance(node.op, ast.Sub), node)


def chosen(scope: Scope, node: ast.Assign) -> list[t.Stmt] | None:
    """Return ``nbr.x = min(nbr.x, d)`` as a contribution; None if it is not one."""
    target, call = node.targets[0], node.value
    place = additive_field(scope, whole(target)) if len(node.targets) == 1 else None
    if place is None:
        return None
    field = field_of(scope, place)
    if (
        t.OPERATIONS[str(field.sync)].sync == "+="
        or not isinstance(call, ast.Call)
        or not chooses(scope, call, field, isinstance(target, ast.Attribute))
        or len(call.args) != 2
        or call.keywords
        or ast.unparse(call.args[0]) != ast.unparse(target)
    ):
        raise wrong_contribution(scope, target, field)
    return contributions_to(scope, place, target, call.args[1], False, node)


def chooses(scope: Scope, call: ast.Call, field: t.Variable, as_whole: bool) -> bool:
    """Return whether a call is ``min`` or ``max``; for whole arrays, numpy's function."""
    row = t.OPERATIONS[str(field.sync)]
    if field.shape and as_whole:
        return numpy_word(scope.lookup, call.func) == row.numpy
    return scope.lookup(call.func) is getattr(builtins, row.sync)


def contributions_to(
    scope: Scope,
    place: t.VertexField | t.EdgeField,
    target: ast.expr,
    amount: ast.expr,
    negative: bool,
    node: ast.stmt,
) -> list[t.Stmt]:
    """Return the statements that add *amount* to a field, to one of its elements or to all."""
    scope.writes.add(f"{getattr(place, 'role', 'e')}.{field_of(scope, place).name}")
    if isinstance(place, t.EdgeField):  # its two ends add in two places
        scope.reads.add("e.forward")
    kind, what, site = place.type, ast.unparse(target), scope.site(node)

    def one(at: t.VertexField | t.EdgeField | t.Element, value: t.Expr) -> t.Stmt:
        return t.Contribute(at, t.Unary("-", value, str(at.type)) if negative else value, site)

    if not isinstance(kind, t.Array):
        if isinstance(target, ast.Subscript):
            raise scope.error(target, "only vectors and matrices can be indexed; this is a number")
        return [one(place, scope.fit(value_of(scope, amount), kind, amount, what))]
    if isinstance(target, ast.Subscript):
        indices = indices_of(scope, target, kind)
        if len(indices) < len(kind.shape):
            raise scope.error(target, "a row cannot be added to as a whole; write a loop over its elements")
        if scope.final and isinstance(node, ast.Assign) and any(draws_in(scope, index) for index in indices):
            raise scope.error(target, "both indices are drawn and may differ; assign one to a local")
        at = t.Element(place, flat(indices, kind.shape), kind.element)
        value = scope.fit(value_of(scope, amount), kind.element, amount, what)
        return [one(at, value), t.Contribute(place, None, site)]
    found: Any = value_of(scope, amount)
    is_array = isinstance(found, ArrayValue)
    array: Any = scope.fit(found, kind if is_array else kind.element, amount, what)
    if not is_array:  # one number for all elements
        number = kept_number(scope, array, node)
        array = ArrayValue(kind, lambda *_: number)
    array = array if array.type == kind else array.widened(kind)

    def body(*indices: t.Expr) -> list[t.Stmt]:
        return [one(t.Element(place, flat(indices, kind.shape), kind.element), array.at(*indices))]

    return [*each_element(scope, kind.shape, body, node), t.Contribute(place, None, site)]


def wrong_contribution(scope: Scope, target: ast.expr, field: t.Variable) -> ProgramError:
    """Return the error for a write that is not a contribution."""
    text, target, row = ast.unparse(target), whole(target), t.OPERATIONS[str(field.sync)]
    word = f"np.{row.numpy}" if field.shape and text.endswith(field.name) else row.sync
    write = f"{text} += ..." if row.sync == "+=" else f"{text} = {word}({text}, ...)"
    return scope.name_error(
        target, f"{field.name!r} is declared sync=gl.{str(field.sync).upper()}; scatter writes {write}"
    )


def whole(target: ast.expr) -> ast.expr:
    """Return the field that *target* is an element of, or *target* itself."""
    return target.value if isinstance(target, ast.Subscript) else target
