"""Assignments: to locals, whose types widen as needed, and to the fields a phase may write."""

from __future__ import annotations

import ast

from gaslab.annotations import Namespace, evaluate
from gaslab.compiler.parse.calls import Calls
from gaslab.compiler.parse.convert import named
from gaslab.compiler.parse.fields import storage_of
from gaslab.compiler.parse.names import ATTRIBUTES
from gaslab.compiler.tree import STORAGE, Assign, Const, EdgeField, Expr, Stmt, VertexField
from gaslab.errors import ProgramError

_WRITES_VERTEX = ("init", "apply", "visit")


class Assignments(Calls):
    """Adds the statements that assign."""

    def do_Assign(self, node: ast.Assign) -> list[Stmt]:
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Tuple | ast.List):
                return self.unpack(target, node)
            return [self.store(target, self.value(node.value), node, node.value)]
        before, kept = self.keep(self.value(node.value), node)
        return [*before, *(self.store(target, kept, node, node.value) for target in node.targets)]

    def unpack(self, targets: ast.Tuple | ast.List, node: ast.Assign) -> list[Stmt]:
        """``a, b = x, y``: every value is computed before any target is written."""
        values = node.value
        if not isinstance(values, ast.Tuple | ast.List):
            raise self.error(values, "one value cannot be unpacked; write a, b = x, y")
        for part in (*targets.elts, *values.elts):
            if isinstance(part, ast.Starred):
                raise self.error(part, "`*` cannot stand here; write the values one by one")
        if len(targets.elts) != len(values.elts):
            raise self.error(
                values, f"{len(targets.elts)} targets but {len(values.elts)} values; give one to each"
            )
        before: list[Stmt] = []
        kept = []
        for value in values.elts:
            statements, one = self.keep(self.value(value), node)
            before += statements
            kept.append(one)
        parts = zip(targets.elts, kept, values.elts, strict=True)
        return before + [self.store(target, one, node, value) for target, one, value in parts]

    def keep(self, value: Expr, node: ast.AST) -> tuple[list[Stmt], Expr]:
        """Return *value* by way of a local of its own, so that later writes leave it alone."""
        if isinstance(value, Const):
            return [], value
        local = self.new_local("_value", value.type, node)
        return [Assign(local, self.widened(value, local.type), self.site(node))], local

    def do_AugAssign(self, node: ast.AugAssign) -> list[Stmt]:
        if not isinstance(node.target, ast.Name):
            self.writable(node.target)  # a rule broken by the write comes before one broken by the read
        value = self.binary(node.op, self.value(node.target), self.value(node.value), node)
        return [self.store(node.target, value, node, node.value)]

    def do_AnnAssign(self, node: ast.AnnAssign) -> list[Stmt]:
        if not isinstance(node.target, ast.Name):
            raise self.error(
                node.target, "a field has its type in class Vertex or Edge; assign it without one"
            )
        name, text = node.target.id, ast.unparse(node.annotation)
        storage = storage_of(evaluate(text, Namespace(self.closure, self.source.function.__globals__)))
        if storage is None:
            raise self.error(node.annotation, f"type {text} is not in the language; write float, int or bool")
        kind = STORAGE[storage][0]
        if self.annotated.setdefault(name, kind) != kind:
            raise self.error(
                node, f"{name!r} is declared {named(self.annotated[name])} elsewhere; use two names"
            )
        self.settle(name, kind, node)
        return [self.store(node.target, self.value(node.value), node, node.value)] if node.value else []

    # ---- targets

    def store(self, target: ast.expr, value: Expr, node: ast.stmt, at: ast.AST) -> Stmt:
        """Return the assignment of *value*, written at *at*, to a local or a field."""
        if isinstance(target, ast.Name):
            return self.store_local(target, value, node, at)
        place = self.writable(target)
        is_edge = isinstance(place, EdgeField)
        field = (self.unit.declared.edge_fields if is_edge else self.unit.declared.vertex_fields)[place.index]
        self.writes.add(f"{getattr(place, 'role', 'e')}.{field.name}")
        return Assign(place, self.fit(value, field.type, at, ast.unparse(target)), self.site(node))

    def store_local(self, target: ast.Name, value: Expr, node: ast.stmt, at: ast.AST) -> Assign:
        name = target.id
        if name in self.entities:
            raise self.error(target, f"{name!r} cannot be assigned; use another name")
        if name in self.annotated:
            value = self.fit(value, self.annotated[name], at, repr(name))
        kind = self.settle(name, value.type, at)
        if self.assigned is not None:
            self.assigned.add(name)
        return Assign(self.local(name), self.widened(value, kind), self.site(node))

    def writable(self, target: ast.expr) -> VertexField | EdgeField:
        """Return the field that *target* names; raises if this function may not write it."""
        role = self.role(target.value) if isinstance(target, ast.Attribute) else None
        if not isinstance(target, ast.Attribute) or role is None:
            if isinstance(target, ast.Tuple | ast.List):
                raise self.error(target, "one value cannot be unpacked; write a, b = x, y")
            raise self.error(target, "only locals and fields of v and e can be assigned")
        problem = self.refused_write(target, role)
        if problem is not None:
            raise problem
        reads = set(self.reads)
        place = self.value(target)
        self.reads = reads  # a field that is written is not read by that
        assert isinstance(place, VertexField | EdgeField)
        return place

    def refused_write(self, target: ast.Attribute, role: str) -> ProgramError | None:
        """Return why this function may not write *target*, None if it may."""
        owner = ast.unparse(target.value)
        if role == "self":
            return self.name_error(
                target, "a program is immutable; use a vertex field, or an aggregator for a total"
            )
        if self.is_helper:
            return self.name_error(
                target, "a helper only reads; return the value and assign it where it is called"
            )
        if role == "nbr" and self.name != "visit":
            return self.name_error(
                target, f"{owner} is the neighbour, which writes itself; signal it and write in apply"
            )
        if role == "e":
            if self.name == "visit":
                return None
            if self.name != "scatter":
                return self.name_error(target, f"{self.name} cannot write an edge; write it in scatter")
            return None
        if target.attr in ATTRIBUTES:
            return self.name_error(
                target, f"{owner}.{target.attr} belongs to the graph; write to a field of your own"
            )
        if self.name in _WRITES_VERTEX:
            return None
        where = "apply" if self.name in ("gather", "scatter") else "init or apply"
        return self.name_error(target, f"{self.name} cannot write a vertex; write it in {where}")
