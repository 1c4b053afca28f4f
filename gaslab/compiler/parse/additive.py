"""Contributions: what scatter adds to the additive fields (``sync=gl.SUM``) of either end and of the edge."""

from __future__ import annotations

import ast

from gaslab.compiler.parse.records import Records
from gaslab.compiler.tree import Contribute, EdgeField, Expr, Stmt, Unary, Variable, VertexField
from gaslab.errors import ProgramError

_BUILTIN = {"min": min, "max": max}


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
        place = self.additive(node.target)
        if place is None:
            return None
        field = self.field_of(place)
        if field.sync != "sum" or not isinstance(node.op, ast.Add | ast.Sub):
            raise self.wrong_contribution(node.target, field)
        value = self.fit(self.value(node.value), field.type, node.value, ast.unparse(node.target))
        if isinstance(node.op, ast.Sub):
            value = Unary("-", value, str(field.type))
        return [self.contribution(place, field, value, node)]

    def chosen(self, node: ast.Assign) -> list[Stmt] | None:
        """Return ``nbr.x = min(nbr.x, d)`` as a contribution; None if it is none."""
        target, call = node.targets[0], node.value
        place = self.additive(target) if len(node.targets) == 1 else None
        if place is None:
            return None
        field = self.field_of(place)
        if (
            field.sync not in _BUILTIN
            or not isinstance(call, ast.Call)
            or self.lookup(call.func) is not _BUILTIN[field.sync]
            or len(call.args) != 2
            or call.keywords
            or ast.unparse(call.args[0]) != ast.unparse(target)
        ):
            raise self.wrong_contribution(target, field)
        value = self.fit(self.value(call.args[1]), field.type, call.args[1], ast.unparse(target))
        return [self.contribution(place, field, value, node)]

    def contribution(
        self, place: VertexField | EdgeField, field: Variable, value: Expr, node: ast.stmt
    ) -> Contribute:
        self.writes.add(f"{getattr(place, 'role', 'e')}.{field.name}")
        if isinstance(place, EdgeField):  # what its two ends give is kept apart
            self.reads.add("e.forward")
        return Contribute(place, value, self.site(node))

    def wrong_contribution(self, target: ast.expr, field: Variable) -> ProgramError:
        """Return the error for a write that is no contribution."""
        text = ast.unparse(target)
        write = f"{text} += ..." if field.sync == "sum" else f"{text} = {field.sync}({text}, ...)"
        return self.name_error(
            target, f"{field.name!r} is declared sync=gl.{str(field.sync).upper()}; scatter writes {write}"
        )
