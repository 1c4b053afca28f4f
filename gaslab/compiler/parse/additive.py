"""Contributions: what scatter adds to the additive fields (``sync=gl.SUM``) of either end and of the edge."""

from __future__ import annotations

import ast
import builtins
from typing import Any

from gaslab.compiler.parse.arrays import ArrayValue, flat
from gaslab.compiler.parse.linear import numpy_word
from gaslab.compiler.parse.records import Records
from gaslab.compiler.tree import (
    OPERATIONS,
    Array,
    Contribute,
    EdgeField,
    Element,
    Expr,
    Stmt,
    Unary,
    Variable,
    VertexField,
)
from gaslab.errors import ProgramError


class Additive(Records):
    """Adds the statements that contribute: ``nbr.x += d``, ``nbr.x = min(nbr.x, d)``."""

    def additive(self, target: ast.expr) -> VertexField | EdgeField | None:
        """Return the additive field that *target* names, if this is scatter, where any end may add to it."""
        role = self.role(target.value) if isinstance(target, ast.Attribute) else None
        if not isinstance(target, ast.Attribute) or role not in ("v", "nbr", "e") or self.name != "scatter":
            return None
        declared = self.unit.declared
        for k, field in enumerate(declared.edge_fields if role == "e" else declared.vertex_fields):
            if field.name == target.attr and field.sync is not None and not self.is_helper:
                return EdgeField(k, field.type) if role == "e" else VertexField(role, k, field.type)
        return None

    def field_of(self, place: VertexField | EdgeField) -> Variable:
        """Return what a place was declared as."""
        declared = self.unit.declared
        return (declared.edge_fields if isinstance(place, EdgeField) else declared.vertex_fields)[place.index]

    def added(self, node: ast.AugAssign) -> list[Stmt] | None:
        """Return ``nbr.x += d`` or ``nbr.x -= d`` as a contribution; None if it is none."""
        place = self.additive(whole(node.target))
        if place is None:
            return None
        field = self.field_of(place)
        if OPERATIONS[str(field.sync)].sync != "+=" or not isinstance(node.op, ast.Add | ast.Sub):
            raise self.wrong_contribution(node.target, field)
        return self.contributions_to(place, node.target, node.value, isinstance(node.op, ast.Sub), node)

    def chosen(self, node: ast.Assign) -> list[Stmt] | None:
        """Return ``nbr.x = min(nbr.x, d)`` as a contribution; None if it is none."""
        target, call = node.targets[0], node.value
        place = self.additive(whole(target)) if len(node.targets) == 1 else None
        if place is None:
            return None
        field = self.field_of(place)
        if (
            OPERATIONS[str(field.sync)].sync == "+="
            or not isinstance(call, ast.Call)
            or not self.chooses(call, field, isinstance(target, ast.Attribute))
            or len(call.args) != 2
            or call.keywords
            or ast.unparse(call.args[0]) != ast.unparse(target)
        ):
            raise self.wrong_contribution(target, field)
        return self.contributions_to(place, target, call.args[1], False, node)

    def chooses(self, call: ast.Call, field: Variable, as_whole: bool) -> bool:
        """Return whether a call is of ``min`` or ``max``, for whole arrays of numpy's functions."""
        row = OPERATIONS[str(field.sync)]
        if field.shape and as_whole:
            return numpy_word(self.lookup, call.func) == row.numpy
        return self.lookup(call.func) is getattr(builtins, row.sync)

    def contributions_to(
        self,
        place: VertexField | EdgeField,
        target: ast.expr,
        given: ast.expr,
        negative: bool,
        node: ast.stmt,
    ) -> list[Stmt]:
        """Return the statements that add *given* to a field, to an element of it or to all elements."""
        self.writes.add(f"{getattr(place, 'role', 'e')}.{self.field_of(place).name}")
        if isinstance(place, EdgeField):  # what its two ends give is kept apart
            self.reads.add("e.forward")
        kind, what, site = place.type, ast.unparse(target), self.site(node)

        def one(at: VertexField | EdgeField | Element, value: Expr) -> Stmt:
            return Contribute(at, Unary("-", value, str(at.type)) if negative else value, site)

        if not isinstance(kind, Array):
            if isinstance(target, ast.Subscript):
                raise self.error(target, "only vectors and matrices are indexed; this is a number")
            return [one(place, self.fit(self.value(given), kind, given, what))]
        if isinstance(target, ast.Subscript):
            indices = self.indices(target, kind)
            if len(indices) < len(kind.shape):
                raise self.error(target, "a row is not added to at once; write a loop over its elements")
            if self.final and isinstance(node, ast.Assign) and any(map(self.draws, indices)):
                raise self.error(target, "both indices are drawn and may differ; assign one to a local")
            at = Element(place, flat(indices, kind.shape), kind.element)
            value = self.fit(self.value(given), kind.element, given, what)
            return [one(at, value), Contribute(place, None, site)]
        found: Any = self.value(given)
        is_array = isinstance(found, ArrayValue)
        array: Any = self.fit(found, kind if is_array else kind.element, given, what)
        if not is_array:  # one number for all elements
            number = self.kept(array, node)
            array = ArrayValue(kind, lambda *_: number)
        array = array if array.type == kind else array.widened(kind)

        def body(*indices: Expr) -> list[Stmt]:
            return [one(Element(place, flat(indices, kind.shape), kind.element), array.at(*indices))]

        return [*self.each(kind.shape, body, node), Contribute(place, None, site)]

    def wrong_contribution(self, target: ast.expr, field: Variable) -> ProgramError:
        """Return the error for a write that is no contribution."""
        text, target, row = ast.unparse(target), whole(target), OPERATIONS[str(field.sync)]
        word = f"np.{row.numpy}" if field.shape and text.endswith(field.name) else row.sync
        write = f"{text} += ..." if row.sync == "+=" else f"{text} = {word}({text}, ...)"
        return self.name_error(
            target, f"{field.name!r} is declared sync=gl.{str(field.sync).upper()}; scatter writes {write}"
        )


def whole(target: ast.expr) -> ast.expr:
    """Return the field of which *target* is an element, or *target* itself."""
    return target.value if isinstance(target, ast.Subscript) else target
