"""Accumulators with named parts: a method's contributions to them."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from gaslab import program
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import each_element, new_counter
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.nothing import is_nothing
from gaslab.compiler.frontend.pairs import pair_written, record_named
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import check_count, no_array, no_keywords
from gaslab.compiler.frontend.values import ArrayValue, as_value, flat
from gaslab.errors import nearest


def is_accumulator(annotation: Any) -> bool:
    """Whether *annotation* is a class of accumulators."""
    return inspect.isclass(annotation) and issubclass(annotation, program.Accumulator)


def record_of(scope: Scope) -> t.RecordCombiner:
    """Return the accumulator that this function contributes to."""
    if scope.name == "merge":
        assert scope.unit.declared.own is not None
        return scope.unit.declared.own
    combiner = scope.unit.declared.aggregators.get(scope.name, scope.unit.declared.gather)
    assert isinstance(combiner, t.RecordCombiner)
    return combiner


def contributed_parts(scope: Scope, node: ast.Return) -> list[t.Stmt]:
    """``return self.Total(a=..., b=...)``: combine each part into the total in memory."""
    record = record_of(scope)
    if scope.name == "merge" and (named := node.value and record_named(scope, node.value)):
        return [*copied_record(scope, record, named[1], node), t.Return(None, scope.site(node))]
    write = "return key, payload" if record.is_pair else f"return self.{record.name}(...)"
    if not record.is_pair and not is_made(scope, node.value, record):
        at = node.value or node
        raise scope.error(at, f"{scope.source.node.name} gives its {record.name}; write {write}")
    return [
        *combined_into(scope, record, record_name(scope), node.value, node, write),
        t.Return(None, scope.site(node)),
    ]


def message_parts(scope: Scope, node: ast.expr, before: str) -> tuple[t.Stmt, ...]:
    """``nbr.signal(self.Total(a=..., b=...))``: combine each part into the message in memory."""
    record = scope.unit.declared.message
    assert isinstance(record, t.RecordCombiner)
    made = "(key, payload)" if record.is_pair else f"self.{record.name}(...)"
    write = f"{before}{made})"
    if not record.is_pair and not is_made(scope, node, record):
        raise scope.error(node, f"the message is a {record.name}; write {write}")
    return tuple(combined_into(scope, record, "sent", node, node, write))


def is_made(scope: Scope, node: ast.expr | None, record: t.RecordCombiner) -> bool:
    """Whether *node* makes an accumulator of that class."""
    return isinstance(node, ast.Call) and makes(scope, node.func, record.name)


def combined_into(
    scope: Scope, record: t.RecordCombiner, into: str, node: ast.expr | None, at: ast.AST, write: str
) -> list[t.Stmt]:
    """Return the statements that combine the value at *node* with the record *into*."""
    if record.is_pair:
        pair = pair_written(scope, record.parts, node, at, write)
        return [t.AddPair(t.PartOf(into, 0, record.parts[0].type), *pair, scope.site(at))]
    assert isinstance(node, ast.Call)
    if node.args:
        raise scope.error(node.args[0], f"pass the parts of {record.name} by name: part=value")
    if record.own and scope.name != "merge":
        return [t.Merge(into, tuple(parts_written(scope, record, "made", node, at)), scope.site(at))]
    return parts_written(scope, record, "made" if record.own else into, node, at)


def copied_record(scope: Scope, record: t.RecordCombiner, role: str, node: ast.AST) -> list[t.Stmt]:
    """Return the statements that copy all parts of an accumulator of *role* into the new one."""
    statements: list[t.Stmt] = []
    for k, part in enumerate(record.parts):
        value = as_value(t.PartOf(role, k, part.type))
        statements += part_assigned(scope, t.PartOf("made", k, part.type), value, node)
    return statements


def part_assigned(scope: Scope, place: t.PartOf, value: Any, node: ast.AST) -> list[t.Stmt]:
    """Return the statements that store a value of the part's type in a part of the new accumulator."""
    if not isinstance(value, ArrayValue):
        return [t.Assign(place, value, scope.site(node))]
    assert isinstance(place.type, t.Array)
    shape, element = place.type.shape, place.type.element

    def body(*indices: t.Expr) -> list[t.Stmt]:
        target = t.Element(place, flat(indices, shape), element)
        return [t.Assign(target, value.at(*indices), scope.site(node))]

    return each_element(scope, shape, body, node)


def parts_written(
    scope: Scope, record: t.RecordCombiner, into: str, node: ast.Call, at: ast.AST
) -> list[t.Stmt]:
    """Return the statements that combine, or store, the parts named in a call."""
    known = ["" if part.combiner.op == t.PAYLOAD else part.name for part in record.parts]
    made: list[t.Stmt] = []
    for keyword in node.keywords:
        if keyword.arg not in known:
            hint = nearest(str(keyword.arg), filter(None, known))
            raise scope.error(keyword.value, f"{record.name} has no part {keyword.arg!r}{hint}")
        k = known.index(keyword.arg)
        if record.parts[k].combiner.is_key:
            text = f"{known[k]}=(key, payload)"
            pair = pair_written(scope, record.parts[k : k + 2], keyword.value, keyword.value, text)
            made.append(t.AddPair(t.PartOf(into, k, record.parts[k].type), *pair, scope.site(at)))
            continue
        made += part_written(scope, k, record.parts[k], keyword.value, into)
    return made


def record_name(scope: Scope) -> str:
    """Return the tree's name of the accumulator that this function contributes to."""
    aggregators = list(scope.unit.declared.aggregators)
    return f"into {aggregators.index(scope.name)}" if scope.name in aggregators else "into"


def makes(scope: Scope, callee: ast.expr, name: str) -> bool:
    """Whether *callee* is the accumulator's class."""
    if isinstance(callee, ast.Attribute) and scope.role(callee.value) == "self":
        return callee.attr == name
    return is_accumulator(scope.lookup(callee)) and ast.unparse(callee).endswith(name)


def part_written(scope: Scope, k: int, part: t.Part, node: ast.expr, into: str) -> list[t.Stmt]:
    """Return the statements that combine the value at *node* into part *k*."""
    place = t.PartOf(into, k, part.type)
    if is_nothing(node):
        raise scope.error(node, f"part {part.name!r} is None; leave it out, and it contributes nothing")
    if isinstance(node, ast.Call) and scope.lookup(node.func) is program.at:
        return contribution_at(scope, place, part, node)
    value = scope.fit(value_of(scope, node), part.type, node, f"part {part.name!r}")
    if part.combiner.op == t.OWN:
        return part_assigned(scope, place, value, node)
    if not isinstance(value, ArrayValue):
        return [t.AddPart(place, value, scope.site(node))]
    if not part.shape:
        no_array(scope, value, node, f"part {part.name!r}")
    half = value.symmetric and part.combiner.op == "sum" and len(set(part.shape)) == 1 < len(part.shape)
    half = half and into == "into"
    whole = (part.name, "whole")
    if not half and into == "into":  # of gather: aggregators and messages may also fill such accumulators
        scope.unit.parts.add(whole)

    def body(*indices: t.Expr) -> list[t.Stmt]:
        target = t.Element(place, flat(indices, part.shape), part.combiner.type)
        return [t.AddPart(target, value.at(*indices), scope.site(node))]

    if half and whole not in scope.unit.parts:
        scope.unit.parts.add((part.name, "half"))
        i, j = new_counter(scope), new_counter(scope)
        if value.square is not None and part.combiner.type == "float":
            return [t.AddOuter(place, i.name, value.square.at(i), scope.site(node))]
        columns = t.Each(
            j.name, t.Binary("+", i, t.Const(1, "int"), "int"), tuple(body(i, j)), scope.site(node)
        )
        return [t.Each(i.name, t.Const(part.shape[0], "int"), (columns,), scope.site(node))]
    return each_element(scope, part.shape, body, node)


def contribution_at(scope: Scope, place: t.PartOf, part: t.Part, node: ast.Call) -> list[t.Stmt]:
    if len(part.shape) != 1:
        raise scope.error(node, f"part {part.name!r} is {t.named(part.type)}; gl.at is for a vector")
    no_keywords(scope, node, "gl.at")
    check_count(scope, node, "gl.at", 1, 2)
    index = value_of(scope, node.args[0])
    no_array(scope, index, node.args[0], "gl.at")
    index = scope.fit(index, "int", node.args[0], "the place in gl.at")
    weight = value_of(scope, node.args[1]) if len(node.args) == 2 else t.Const(1, "int")
    weight = scope.fit(weight, part.combiner.type, node, f"the weight for part {part.name!r}")
    element = t.Element(place, t.Index(index, part.shape[0], scope.site(node)), part.combiner.type)
    return [(t.Assign if part.combiner.op == t.OWN else t.AddPart)(element, weight, scope.site(node))]
