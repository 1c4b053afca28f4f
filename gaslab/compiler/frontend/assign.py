"""Assignments: to locals, whose types widen as needed, and to the fields a phase may write."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.additive import added, additive_field, chosen, field_of, wrong_contribution
from gaslab.compiler.frontend.annotations import storage_of
from gaslab.compiler.frontend.arrays import filled, kept_number, made_in, temporary
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.live import added_live, live_total, wrong_write
from gaslab.compiler.frontend.names import ATTRIBUTES
from gaslab.compiler.frontend.operators import binary
from gaslab.compiler.frontend.pairs import pair_named
from gaslab.compiler.frontend.precision import storage_in, too_wide
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.subscripts import indices_of
from gaslab.compiler.frontend.tuples import tuple_named
from gaslab.compiler.frontend.values import ArrayValue, flat, stored
from gaslab.errors import ProgramError
from gaslab.language.annotations import Namespace, evaluate
from gaslab.language.arrays import dimensions_of, is_array

NO_WRITE = (
    "a list of an edge is read-only; write a number or a gl.Vector of the edge, or a list of the vertex"
)
_WRITES_VERTEX = ("init", "init_message", "apply", "visit")


def _calls(index: ast.expr) -> bool:
    """Return whether an index contains a call, which may draw: it is evaluated once, in Python's order."""
    return any(isinstance(part, ast.Call) for part in ast.walk(index))


def assign(scope: Scope, node: ast.Assign) -> list[t.Stmt]:
    contributed = chosen(scope, node)
    if contributed is not None:
        return contributed
    if len(node.targets) == 1:
        target = node.targets[0]
        if isinstance(target, ast.Tuple | ast.List):
            return unpack(scope, target, node)
        return stored_in(scope, target, value_of(scope, node.value), node, node.value)
    statements, kept = keep_value(scope, value_of(scope, node.value), node)
    for target in node.targets:
        statements += stored_in(scope, target, kept, node, node.value)
    return statements


def unpack(scope: Scope, targets: ast.Tuple | ast.List, node: ast.Assign) -> list[t.Stmt]:
    """``a, b = x, y``: every value is computed before any target is written."""
    values = node.value
    pair = pair_named(scope, values)
    if pair is not None:
        return unpack_pair(scope, targets, pair, node)
    if members := tuple_named(scope, values):
        return unpack_members(scope, targets, members, node, node.value)
    if not isinstance(values, ast.Tuple | ast.List):
        raise scope.error(values, "one value cannot be unpacked; write a, b = x, y")
    for part in (*targets.elts, *values.elts):
        if isinstance(part, ast.Starred):
            raise scope.error(part, "`*` cannot stand here; write the values one by one")
    if len(targets.elts) != len(values.elts):
        raise scope.error(
            values, f"{len(targets.elts)} targets but {len(values.elts)} values; give one to each"
        )
    before: list[t.Stmt] = []
    kept = []
    for value in values.elts:
        statements, one = keep_value(scope, value_of(scope, value), node)
        before += statements
        kept.append(one)
    for target, one, value in zip(targets.elts, kept, values.elts, strict=True):
        before += stored_in(scope, target, one, node, value)
    return before


def unpack_pair(
    scope: Scope, targets: ast.Tuple | ast.List, pair: tuple[t.Expr, t.Expr], node: ast.Assign
) -> list[t.Stmt]:
    """``key, payload = total``."""
    if len(targets.elts) != 2:
        raise scope.error(targets, f"{len(targets.elts)} targets but a pair has a key and a payload")
    statements: list[t.Stmt] = []
    for target, value in zip(targets.elts, pair, strict=True):
        statements += stored_in(scope, target, value, node, node.value)
    return statements


def unpack_members(
    scope: Scope, targets: ast.expr, members: tuple[t.Expr, ...], node: ast.stmt, at: ast.AST
) -> list[t.Stmt]:
    """``a, b = message[k]``, and the start of each round of ``for a, b in message``."""
    if not isinstance(targets, ast.Tuple | ast.List) or len(targets.elts) != len(members):
        names = ", ".join("abcd"[: len(members)])
        raise scope.error(targets, f"a message is a tuple of {len(members)} here; unpack it: {names}")
    statements: list[t.Stmt] = []
    for target, value in zip(targets.elts, members, strict=True):
        statements += stored_in(scope, target, value, node, at)
    return statements


def keep_value(scope: Scope, value: Any, node: ast.AST) -> tuple[list[t.Stmt], Any]:
    """Return *value* in a new local, which later writes do not change."""
    if isinstance(value, ArrayValue):
        return [], stored(temporary(scope, value, node))
    if isinstance(value, t.Const):
        return [], value
    local = scope.new_local("_value", value.type, node)
    return [t.Assign(local, scope.widened(value, local.type), scope.site(node))], local


def augmented_assign(scope: Scope, node: ast.AugAssign) -> list[t.Stmt]:
    target = indexed_once(scope, node.target)
    node = ast.copy_location(ast.AugAssign(target, node.op, node.value), node)
    contributed = added(scope, node)
    if contributed is None:
        contributed = added_live(scope, node)
    if contributed is not None:
        return contributed
    if isinstance(target, ast.Attribute):
        writable(scope, target)  # errors of the write come before errors of the read
    value = binary(scope, node.op, value_of(scope, target), value_of(scope, node.value), node)
    return stored_in(scope, target, value, node, node.value)


def indexed_once(
    scope: Scope, target: ast.Name | ast.Attribute | ast.Subscript
) -> ast.Name | ast.Attribute | ast.Subscript:
    """Return *target*, which is read and written, with each index that contains a call in a local."""
    if not isinstance(target, ast.Subscript) or not _calls(target.slice):
        return target
    indices: list[ast.expr] = []
    for index in target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]:
        if _calls(index):
            text = ast.unparse(index) + " " * len(indices)
            scope.stand_ins[text] = kept_number(scope, value_of(scope, index), index)
            index = ast.copy_location(ast.Name(text), index)
        indices.append(index)
    place = ast.copy_location(ast.Tuple(indices), target.slice) if len(indices) > 1 else indices[0]
    return ast.copy_location(ast.Subscript(target.value, place), target)


def annotated_assign(scope: Scope, node: ast.AnnAssign) -> list[t.Stmt]:
    if not isinstance(node.target, ast.Name):
        raise scope.error(node.target, "a field's type stands in class Vertex or Edge; assign it without one")
    name, text = node.target.id, ast.unparse(node.annotation)
    meant = evaluate(text, Namespace(scope.closure, scope.source.function.__globals__))
    if dimensions_of(meant) and node.value:
        return stored_in(scope, node.target, value_of(scope, node.value), node, node.value)
    storage = storage_of(meant)
    if storage is None:
        raise scope.error(node.annotation, f"type {text} is not in the language; write float, int or bool")
    declared = scope.unit.declared
    if (wide := too_wide(declared.cls, [meant], f"{name!r}")) is not None:
        raise scope.error(node.annotation, wide)
    kind = t.STORAGE[storage_in(storage, declared.precision)][0]
    if scope.annotated.setdefault(name, kind) != kind:
        raise scope.error(
            node, f"{name!r} is declared {t.named(scope.annotated[name])} elsewhere; use two names"
        )
    scope.infer(name, kind, node)
    return stored_in(scope, node.target, value_of(scope, node.value), node, node.value) if node.value else []


def stored_in(scope: Scope, target: ast.expr, value: Any, node: ast.stmt, at: ast.AST) -> list[t.Stmt]:
    """Return the assignment of *value*, written at *at*, to a local, a field or an element."""
    if isinstance(target, ast.Name):
        if isinstance(value, ArrayValue):
            return store_array(scope, target, value, node, at)
        return [store_local(scope, target, value, node, at)]
    if isinstance(target, ast.Subscript):
        return store_element(scope, target, value, node, at)
    place = writable(scope, target)
    is_edge = isinstance(place, t.EdgeField)
    field = (scope.unit.declared.edge_fields if is_edge else scope.unit.declared.vertex_fields)[place.index]
    scope.writes.add(f"{getattr(place, 'role', 'e')}.{field.name}")
    value = scope.fit(value, field.type, at, target)
    if isinstance(value, ArrayValue):
        return filled(scope, place, value, node)
    return [t.Assign(place, value, scope.site(node))]


def store_array(
    scope: Scope, target: ast.Name, value: ArrayValue, node: ast.stmt, at: ast.AST
) -> list[t.Stmt]:
    """Assign a whole array to a local."""
    name = target.id
    if name in scope.entities or name in scope.parameters:
        raise scope.error(target, f"{name!r} cannot be assigned; use another name")
    whole = at
    while isinstance(whole, ast.Subscript):  # a row, or a slice
        whole = whole.value
    named = isinstance(at, ast.IfExp) or isinstance(whole, ast.Name | ast.Attribute)
    if named and (value.place is not None or whole is not at):
        scope.aliases[name] = ast.unparse(at)
    scope.infer(name, value.type, at)
    if scope.assigned is not None:
        scope.assigned.add(name)
    alone = isinstance(node, ast.Assign) and node.targets == [target]
    if alone and made_in(scope, scope.local(name), value):
        return []
    return filled(scope, scope.local(name), value, node)


def store_element(
    scope: Scope, target: ast.Subscript, value: Any, node: ast.stmt, at: ast.AST
) -> list[t.Stmt]:
    """``v.x[i] = value``."""
    owner = target.value
    if isinstance(owner, ast.Name) and owner.id in scope.names and owner.id not in scope.entities:
        base = value_of(scope, owner)
        if isinstance(base, ArrayValue) and owner.id in scope.parameters:
            raise scope.error(target, f"{owner.id!r} belongs to the caller; copy it: np.copy({owner.id})")
        if isinstance(base, ArrayValue) and owner.id in scope.aliases:
            text = scope.aliases[owner.id]
            raise scope.error(
                target, f"{owner.id!r} is another name for {text}; write {owner.id} = np.copy({text})"
            )
        refuse_part(scope, target, owner.id)
        place: Any = base.place if isinstance(base, ArrayValue) else None
    else:
        place = writable(scope, owner)
        if t.is_list(place.type):
            raise scope.error(target, "a list is assigned as a whole; gather it again")
        if isinstance(place.type, t.Array):
            kind = "e" if isinstance(place, t.EdgeField) else place.role
            fields = scope.unit.declared.edge_fields if kind == "e" else scope.unit.declared.vertex_fields
            scope.writes.add(f"{kind}.{fields[place.index].name}")
            text = ast.unparse(owner)
            other = next((name for name, of in scope.aliases.items() if of == text), None)
            if other is not None:
                raise scope.error(
                    target, f"{text} has another name here, {other!r}; write {other} = np.copy({text})"
                )
            refuse_part(scope, target, text)
    if place is None or not isinstance(place.type, t.Array):
        raise scope.error(owner, "only vectors and matrices can be indexed; this is a number")
    indices = indices_of(scope, target, place.type)
    if len(indices) < len(place.type.shape):
        raise scope.error(target, "a row cannot be assigned as a whole; write a loop over its elements")
    value = scope.fit(value, place.type.element, at, target)
    before: list[t.Stmt] = []
    if _calls(target.slice):  # after the value
        before, value = keep_value(scope, value, node)
    element = t.Element(place, flat(indices, place.type.shape), place.type.element)
    return [*before, t.Assign(element, value, scope.site(node))]


def refuse_part(scope: Scope, target: ast.Subscript, text: str) -> None:
    """Raise if a local is a row or a slice of the array *text*, one of whose elements is written."""
    for name, of in scope.aliases.items():
        if of.startswith(f"{text}["):
            raise scope.error(target, f"{name!r} is a part of {text} here; write {name} = np.copy({of})")


def store_local(scope: Scope, target: ast.Name, value: t.Expr, node: ast.stmt, at: ast.AST) -> t.Assign:
    name = target.id
    if name in scope.entities:
        raise scope.error(target, f"{name!r} cannot be assigned; use another name")
    if name in scope.annotated:
        value = scope.fit(value, scope.annotated[name], at, repr(name))
    kind = scope.infer(name, value.type, at)
    if scope.assigned is not None:
        scope.assigned.add(name)
    return t.Assign(scope.local(name), scope.widened(value, kind), scope.site(node))


def writable(scope: Scope, target: ast.expr) -> t.VertexField | t.EdgeField:
    """Return the field that *target* names; raises if this function may not write it."""
    total = live_total(scope, target)
    if total is not None:
        raise wrong_write(scope, target, total)
    role = scope.role(target.value) if isinstance(target, ast.Attribute) else None
    if role is None and isinstance(target, ast.Name | ast.Attribute) and is_array(scope.lookup(target)):
        raise only_read(scope, target)
    if not isinstance(target, ast.Attribute) or role is None:
        if isinstance(target, ast.Tuple | ast.List):
            raise scope.error(target, "one value cannot be unpacked; write a, b = x, y")
        raise scope.error(target, "only locals and fields of v and e can be assigned")
    problem = refused_write(scope, target, role)
    if problem is not None:
        raise problem
    reads = set(scope.reads)
    place = value_of(scope, target)
    place = place.place if isinstance(place, ArrayValue) else place
    scope.reads = reads  # writing a field does not read it
    if not isinstance(place, t.VertexField | t.EdgeField):
        raise of_graph(scope, target)
    return place


def of_graph(scope: Scope, target: ast.Attribute) -> ProgramError:
    return scope.name_error(
        target, f"{ast.unparse(target)} belongs to the graph; write to a field of your own"
    )


def only_read(scope: Scope, target: ast.Name | ast.Attribute) -> ProgramError:
    """Return the error for writing to an array from outside."""
    text = ast.unparse(target)
    return scope.error(
        target, f"{text} is one read-only array for all vertices; write to a field, or to a copy: "
        f"x = np.copy({text})"
    )  # fmt: skip


def shared_array(scope: Scope, target: ast.Attribute) -> bool:
    """Return whether an attribute of the program is an array."""
    declared = scope.unit.declared
    return is_array(getattr(declared.cls, target.attr, None)) or any(
        param.name == target.attr for param in declared.array_params
    )


def refused_write(scope: Scope, target: ast.Attribute, role: str) -> ProgramError | None:
    """Return an error message if this function may not write *target*, else None."""
    owner = ast.unparse(target.value)
    if role == "self" and shared_array(scope, target):
        return only_read(scope, target)
    if role == "self":
        return scope.name_error(
            target, "a program is immutable; use a vertex field, or an aggregator for a total"
        )
    if scope.is_helper:
        return scope.name_error(
            target, "a helper only reads; return the value and assign it where it is called"
        )
    additive = additive_field(scope, target)
    if additive is not None:
        return wrong_contribution(scope, target, field_of(scope, additive))
    if role == "nbr" and scope.name != "visit":
        return scope.name_error(
            target, f"{owner} is the neighbour, which writes its own fields; signal it and write in apply"
        )
    if role == "e":
        fields = scope.unit.declared.edge_fields
        if any(field.name == target.attr and t.is_list(field.storage) for field in fields):
            return scope.name_error(target, NO_WRITE)
        if scope.name == "visit":
            return None
        if scope.name != "scatter":
            return scope.name_error(target, f"{scope.name} cannot write an edge; write it in scatter")
        return None
    if target.attr in (*ATTRIBUTES, "side"):
        return of_graph(scope, target)
    if any(field.name == target.attr and field.lookup for field in scope.unit.declared.vertex_fields):
        return scope.name_error(target, f"{ast.unparse(target)} is looked up; write to a field of your own")
    if scope.name in _WRITES_VERTEX:
        return None
    where = "apply" if scope.name in ("gather", "scatter") else "init or apply"
    return scope.name_error(target, f"{scope.name} cannot write a vertex; write it in {where}")
