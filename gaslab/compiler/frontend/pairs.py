"""Pairs of a key and its payload, and parts of accumulators, as a program reads and writes them."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import no_array
from gaslab.compiler.frontend.values import as_value
from gaslab.errors import nearest


def record_named(scope: Scope, node: ast.expr) -> tuple[t.RecordCombiner, str] | None:
    """Return the accumulator that *node* names, and its name in the tree; None if it is not one."""
    declared = scope.unit.declared
    if isinstance(node, ast.Name):
        kind = scope.parameters.get(node.id) if node.id not in scope.entities else None
        if kind not in (t.RECORD, t.PAIR):
            return None
        role = scope.canonical(node.id)
        record = declared.message if role == "message" else declared.gather
        if scope.name == "merge" and not scope.is_helper:
            record = declared.own
        assert isinstance(record, t.RecordCombiner)
        return record, role
    if isinstance(node, ast.Attribute) and scope.role(node.value) == "self":
        found = declared.aggregators.get(node.attr)
        if isinstance(found, t.RecordCombiner):
            return found, f"self {list(declared.aggregators).index(node.attr)}"
    return None


def pair_named(scope: Scope, node: ast.expr) -> tuple[t.Expr, t.Expr] | None:
    """Return the key and the payload of the pair that *node* names, else None."""
    named = record_named(scope, node)
    if named is not None and named[0].is_pair:
        return key_and_payload(scope, *named, 0, node)
    if not isinstance(node, ast.Attribute):
        return None
    owner = record_named(scope, node.value)
    if owner is not None:
        for k, part in enumerate(owner[0].parts):
            if part.name == node.attr and part.combiner.is_key:
                return key_and_payload(scope, *owner, k, node)
    return None


def key_and_payload(
    scope: Scope, record: t.RecordCombiner, role: str, k: int, node: ast.AST
) -> tuple[t.Expr, t.Expr]:
    key, payload = (scope.access(t.PartOf(role, n, record.parts[n].type), node) for n in (k, k + 1))
    return key, payload


def pair_item(scope: Scope, node: ast.Subscript) -> t.Expr | None:
    """Return ``total[0]`` or ``total[1]`` of a pair, None for anything else."""
    found = pair_named(scope, node.value)
    if found is None:
        return None
    index = node.slice.value if isinstance(node.slice, ast.Constant) else None
    if type(index) is not int or index not in (0, 1):
        raise scope.error(node.slice, "a pair has [0], the key, and [1], the payload")
    return found[index]


def pair_written(
    scope: Scope, parts: tuple[t.Part, ...], node: ast.expr | None, at: ast.AST, write: str
) -> tuple[t.Expr, t.Expr]:
    """Return the key and the payload written at *node*, in the types of these *parts*."""
    named = None if node is None else pair_named(scope, node)
    if named is not None and node is not None:
        read = [(value, node) for value in named]
    elif isinstance(node, ast.Tuple) and len(node.elts) == 2:
        read = [(value_of(scope, one), one) for one in node.elts]
    else:
        raise scope.error(node or at, f"a key and its payload are needed here; write {write}")
    values: list[t.Expr] = []
    for part, (value, one), word in zip(parts, read, ("key", "payload"), strict=True):
        no_array(scope, value, one, f"the {word}")
        values.append(scope.fit(value, part.type, one, f"the {word}"))
    return values[0], values[1]


def part_read(scope: Scope, node: ast.Attribute, record: t.RecordCombiner, role: str) -> Any:
    """Return ``total.part``."""
    text = ast.unparse(node)
    if record.is_pair:
        raise scope.name_error(node, f"a pair has no parts by name; unpack it: key, payload = {role}")
    for k, part in enumerate(record.parts):
        if part.name == node.attr and part.combiner.is_key:
            raise scope.name_error(node, f"{text} is a pair; unpack it: key, payload = {text}")
        if part.name == node.attr:
            return as_value(scope.access(t.PartOf(role, k, part.type), node))
    known = nearest(node.attr, [p.name for p in record.parts if p.combiner.op != t.PAYLOAD])
    raise scope.name_error(node, f"{record.name} has no part {node.attr!r}{known}")
