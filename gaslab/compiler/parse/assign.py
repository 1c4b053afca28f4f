"""Assignments: to locals, whose types widen as needed, and to the fields a phase may write."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.annotations import Namespace, evaluate
from gaslab.compiler.parse.additive import Additive
from gaslab.compiler.parse.arrays import ArrayValue, flat, stored
from gaslab.compiler.parse.convert import named
from gaslab.compiler.parse.fields import dimensions_of, storage_of
from gaslab.compiler.parse.names import ATTRIBUTES
from gaslab.compiler.tree import (
    STORAGE,
    Array,
    Assign,
    Const,
    EdgeField,
    Element,
    Expr,
    PartOf,
    Stmt,
    VertexField,
    is_list,
)
from gaslab.errors import ProgramError

NO_WRITE = (
    "a list of an edge is only read; write a number or a gl.Vector of the edge, or a list of the vertex"
)
_WRITES_VERTEX = ("init", "init_message", "apply", "visit")


def _calls(index: ast.expr) -> bool:
    """Return whether an index calls something, which may draw: it is evaluated once, in Python's order."""
    return any(isinstance(part, ast.Call) for part in ast.walk(index))


class Assignments(Additive):
    """Adds the statements that assign."""

    def do_Assign(self, node: ast.Assign) -> list[Stmt]:
        contributed = self.chosen(node)
        if contributed is not None:
            return contributed
        if len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Tuple | ast.List):
                return self.unpack(target, node)
            return self.store(target, self.value(node.value), node, node.value)
        statements, kept = self.keep(self.value(node.value), node)
        for target in node.targets:
            statements += self.store(target, kept, node, node.value)
        return statements

    def unpack(self, targets: ast.Tuple | ast.List, node: ast.Assign) -> list[Stmt]:
        """``a, b = x, y``: every value is computed before any target is written."""
        values = node.value
        pair = self.pair(values)
        if pair is not None:
            return self.unpack_pair(targets, pair, node)
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
        for target, one, value in zip(targets.elts, kept, values.elts, strict=True):
            before += self.store(target, one, node, value)
        return before

    def unpack_pair(
        self, targets: ast.Tuple | ast.List, pair: tuple[PartOf, PartOf], node: ast.Assign
    ) -> list[Stmt]:
        """``key, payload = total``."""
        if len(targets.elts) != 2:
            raise self.error(targets, f"{len(targets.elts)} targets but a pair has a key and a payload")
        statements: list[Stmt] = []
        for target, value in zip(targets.elts, pair, strict=True):
            statements += self.store(target, value, node, node.value)
        return statements

    def keep(self, value: Any, node: ast.AST) -> tuple[list[Stmt], Any]:
        """Return *value* by way of a local of its own, so that later writes leave it alone."""
        if isinstance(value, ArrayValue):
            return [], stored(self.temporary(value, node))
        if isinstance(value, Const):
            return [], value
        local = self.new_local("_value", value.type, node)
        return [Assign(local, self.widened(value, local.type), self.site(node))], local

    def do_AugAssign(self, node: ast.AugAssign) -> list[Stmt]:
        target = self.indexed_once(node.target)
        node = ast.copy_location(ast.AugAssign(target, node.op, node.value), node)
        contributed = self.added(node)
        if contributed is not None:
            return contributed
        if isinstance(target, ast.Attribute):
            self.writable(target)  # a rule broken by the write comes before one broken by the read
        value = self.binary(node.op, self.value(target), self.value(node.value), node)
        return self.store(target, value, node, node.value)

    def indexed_once(
        self, target: ast.Name | ast.Attribute | ast.Subscript
    ) -> ast.Name | ast.Attribute | ast.Subscript:
        """Return *target*, which is read and written, with each index that calls something in a local."""
        if not isinstance(target, ast.Subscript) or not _calls(target.slice):
            return target
        indices: list[ast.expr] = []
        for index in target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]:
            if _calls(index):
                text = ast.unparse(index) + " " * len(indices)
                self.stand_ins[text] = self.kept(self.value(index), index)
                index = ast.copy_location(ast.Name(text), index)
            indices.append(index)
        place = ast.copy_location(ast.Tuple(indices), target.slice) if len(indices) > 1 else indices[0]
        return ast.copy_location(ast.Subscript(target.value, place), target)

    def do_AnnAssign(self, node: ast.AnnAssign) -> list[Stmt]:
        if not isinstance(node.target, ast.Name):
            raise self.error(
                node.target, "a field has its type in class Vertex or Edge; assign it without one"
            )
        name, text = node.target.id, ast.unparse(node.annotation)
        meant = evaluate(text, Namespace(self.closure, self.source.function.__globals__))
        if dimensions_of(meant) and node.value:
            return self.store(node.target, self.value(node.value), node, node.value)
        storage = storage_of(meant)
        if storage is None:
            raise self.error(node.annotation, f"type {text} is not in the language; write float, int or bool")
        kind = STORAGE[storage][0]
        if self.annotated.setdefault(name, kind) != kind:
            raise self.error(
                node, f"{name!r} is declared {named(self.annotated[name])} elsewhere; use two names"
            )
        self.settle(name, kind, node)
        return self.store(node.target, self.value(node.value), node, node.value) if node.value else []

    # ---- targets

    def store(self, target: ast.expr, value: Any, node: ast.stmt, at: ast.AST) -> list[Stmt]:
        """Return the assignment of *value*, written at *at*, to a local, a field or an element of one."""
        if isinstance(target, ast.Name):
            if isinstance(value, ArrayValue):
                return self.store_array(target, value, node, at)
            return [self.store_local(target, value, node, at)]
        if isinstance(target, ast.Subscript):
            return self.store_element(target, value, node, at)
        place = self.writable(target)
        is_edge = isinstance(place, EdgeField)
        field = (self.unit.declared.edge_fields if is_edge else self.unit.declared.vertex_fields)[place.index]
        self.writes.add(f"{getattr(place, 'role', 'e')}.{field.name}")
        value = self.fit(value, field.type, at, target)
        if isinstance(value, ArrayValue):
            return self.fill(place, value, node)
        return [Assign(place, value, self.site(node))]

    def store_array(self, target: ast.Name, value: ArrayValue, node: ast.stmt, at: ast.AST) -> list[Stmt]:
        """Assign a whole array to a local."""
        name = target.id
        if name in self.entities or name in self.parameters:
            raise self.error(target, f"{name!r} cannot be assigned; use another name")
        if value.place is not None and isinstance(at, ast.Name | ast.Attribute | ast.IfExp):
            self.aliases[name] = ast.unparse(at)
        self.settle(name, value.type, at)
        if self.assigned is not None:
            self.assigned.add(name)
        return self.fill(self.local(name), value, node)

    def store_element(self, target: ast.Subscript, value: Any, node: ast.stmt, at: ast.AST) -> list[Stmt]:
        """``v.x[i] = value``."""
        owner = target.value
        if isinstance(owner, ast.Name) and owner.id in self.names and owner.id not in self.entities:
            base = self.value(owner)
            if isinstance(base, ArrayValue) and owner.id in self.parameters:
                raise self.error(target, f"{owner.id!r} is the caller's; copy it before: np.copy({owner.id})")
            if isinstance(base, ArrayValue) and owner.id in self.aliases:
                text = self.aliases[owner.id]
                raise self.error(
                    target, f"{owner.id!r} is another name of {text}; write {owner.id} = np.copy({text})"
                )
            place: Any = base.place if isinstance(base, ArrayValue) else None
        else:
            place = self.writable(owner)
            if is_list(place.type):
                raise self.error(target, "a list is assigned as a whole; gather it anew")
            if isinstance(place.type, Array):
                kind = "e" if isinstance(place, EdgeField) else place.role
                fields = self.unit.declared.edge_fields if kind == "e" else self.unit.declared.vertex_fields
                self.writes.add(f"{kind}.{fields[place.index].name}")
                text = ast.unparse(owner)
                other = next((name for name, of in self.aliases.items() if of == text), None)
                if other is not None:
                    raise self.error(
                        target, f"{text} has another name here, {other!r}; write {other} = np.copy({text})"
                    )
        if place is None or not isinstance(place.type, Array):
            raise self.error(owner, "only vectors and matrices are indexed; this is a number")
        indices = self.indices(target, place.type)
        if len(indices) < len(place.type.shape):
            raise self.error(target, "a row is not assigned at once; write a loop over its elements")
        value = self.fit(value, place.type.element, at, target)
        before: list[Stmt] = []
        if _calls(target.slice):  # after the value
            before, value = self.keep(value, node)
        element = Element(place, flat(indices, place.type.shape), place.type.element)
        return [*before, Assign(element, value, self.site(node))]

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
        place = place.place if isinstance(place, ArrayValue) else place
        self.reads = reads  # a field that is written is not read by that
        if not isinstance(place, VertexField | EdgeField):
            raise self.of_graph(target)
        return place

    def of_graph(self, target: ast.Attribute) -> ProgramError:
        return self.name_error(
            target, f"{ast.unparse(target)} belongs to the graph; write to a field of your own"
        )

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
        additive = self.additive(target)
        if additive is not None:
            return self.wrong_contribution(target, self.field_of(additive))
        if role == "nbr" and self.name != "visit":
            return self.name_error(
                target, f"{owner} is the neighbour, which writes itself; signal it and write in apply"
            )
        if role == "e":
            fields = self.unit.declared.edge_fields
            if any(field.name == target.attr and is_list(field.storage) for field in fields):
                return self.name_error(target, NO_WRITE)
            if self.name == "visit":
                return None
            if self.name != "scatter":
                return self.name_error(target, f"{self.name} cannot write an edge; write it in scatter")
            return None
        if target.attr in (*ATTRIBUTES, "side"):
            return self.of_graph(target)
        if self.name in _WRITES_VERTEX:
            return None
        where = "apply" if self.name in ("gather", "scatter") else "init or apply"
        return self.name_error(target, f"{self.name} cannot write a vertex; write it in {where}")
