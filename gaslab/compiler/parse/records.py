"""Accumulators with named parts: what a nested class declares, and contributions to it."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from gaslab import program
from gaslab.compiler.parse.arrays import ArrayValue, flat
from gaslab.compiler.parse.convert import named
from gaslab.compiler.parse.pairs import Pairs
from gaslab.compiler.tree import (
    CHOICES,
    OWN,
    PAYLOAD,
    AddPair,
    AddPart,
    Array,
    Assign,
    Binary,
    Const,
    Each,
    Element,
    Expr,
    Index,
    Merge,
    Part,
    PartOf,
    RecordCombiner,
    Return,
    Stmt,
)
from gaslab.errors import nearest


def is_accumulator(annotation: Any) -> bool:
    """Whether *annotation* is a class of accumulators."""
    return inspect.isclass(annotation) and issubclass(annotation, program.Accumulator)


class Records(Pairs):
    """Adds contributions to the value of a function that returns an accumulator."""

    def record(self) -> RecordCombiner:
        """Return the accumulator that this function contributes to."""
        if self.name == "merge":
            assert self.unit.declared.own is not None
            return self.unit.declared.own
        combiner = self.unit.declared.aggregators.get(self.name, self.unit.declared.gather)
        assert isinstance(combiner, RecordCombiner)
        return combiner

    def contributions(self, node: ast.Return) -> list[Stmt]:
        """``return self.Total(a=..., b=...)``: combine each part into the total in memory."""
        record = self.record()
        if self.name == "merge" and (named := node.value and self.record_named(node.value)):
            return [*self.copied(record, named[1], node), Return(None, self.site(node))]
        write = "return key, payload" if record.is_pair else f"return self.{record.name}(...)"
        if not record.is_pair and not self.is_made(node.value, record):
            at = node.value or node
            raise self.error(at, f"{self.source.node.name} gives its {record.name}; write {write}")
        return [*self.given(record, self.into(), node.value, node, write), Return(None, self.site(node))]

    def message_given(self, node: ast.expr, before: str) -> tuple[Stmt, ...]:
        """``nbr.signal(self.Total(a=..., b=...))``: combine each part into the message in memory."""
        record = self.unit.declared.message
        assert isinstance(record, RecordCombiner)
        made = "(key, payload)" if record.is_pair else f"self.{record.name}(...)"
        write = f"{before}{made})"
        if not record.is_pair and not self.is_made(node, record):
            raise self.error(node, f"the message is a {record.name}; write {write}")
        return tuple(self.given(record, "sent", node, node, write))

    def is_made(self, node: ast.expr | None, record: RecordCombiner) -> bool:
        """Whether *node* makes an accumulator of that class."""
        return isinstance(node, ast.Call) and self.makes(node.func, record.name)

    def given(
        self, record: RecordCombiner, into: str, node: ast.expr | None, at: ast.AST, write: str
    ) -> list[Stmt]:
        """Return the statements that combine what is written at *node* with the record *into*."""
        if record.is_pair:
            pair = self.pair_given(record.parts, node, at, write)
            return [AddPair(PartOf(into, 0, record.parts[0].type), *pair, self.site(at))]
        assert isinstance(node, ast.Call)
        if node.args:
            raise self.error(node.args[0], f"the parts of {record.name} are given by name: part=value")
        if record.own and self.name != "merge":
            return [Merge(into, tuple(self.parts_given(record, "made", node, at)), self.site(at))]
        return self.parts_given(record, "made" if record.own else into, node, at)

    def copied(self, record: RecordCombiner, role: str, node: ast.AST) -> list[Stmt]:
        """Return the statements that give all parts of an accumulator of *role* to the one that is made."""
        statements: list[Stmt] = []
        for k, part in enumerate(record.parts):
            value = self.as_value(PartOf(role, k, part.type))
            statements += self.part_assigned(PartOf("made", k, part.type), value, node)
        return statements

    def part_assigned(self, place: PartOf, value: Any, node: ast.AST) -> list[Stmt]:
        """Return the statements that store a value, of the part's type, in a part of what is made."""
        if not isinstance(value, ArrayValue):
            return [Assign(place, value, self.site(node))]
        assert isinstance(place.type, Array)
        shape, element = place.type.shape, place.type.element

        def body(*indices: Expr) -> list[Stmt]:
            target = Element(place, flat(indices, shape), element)
            return [Assign(target, value.at(*indices), self.site(node))]

        return self.each(shape, body, node)

    def parts_given(self, record: RecordCombiner, into: str, node: ast.Call, at: ast.AST) -> list[Stmt]:
        """Return the statements that combine, or store, the parts named in a call."""
        known = ["" if part.combiner.op == PAYLOAD else part.name for part in record.parts]
        made: list[Stmt] = []
        for keyword in node.keywords:
            if keyword.arg not in known:
                hint = nearest(str(keyword.arg), filter(None, known))
                raise self.error(keyword.value, f"{record.name} has no part {keyword.arg!r}{hint}")
            k = known.index(keyword.arg)
            if record.parts[k].combiner.op in CHOICES:
                text = f"{known[k]}=(key, payload)"
                pair = self.pair_given(record.parts[k : k + 2], keyword.value, keyword.value, text)
                made.append(AddPair(PartOf(into, k, record.parts[k].type), *pair, self.site(at)))
                continue
            made += self.part_given(k, record.parts[k], keyword.value, into)
        return made

    def into(self) -> str:
        """Return what the tree calls the accumulator that this function contributes to."""
        aggregators = list(self.unit.declared.aggregators)
        return f"into {aggregators.index(self.name)}" if self.name in aggregators else "into"

    def makes(self, callee: ast.expr, name: str) -> bool:
        """Whether *callee* is the accumulator's class."""
        if isinstance(callee, ast.Attribute) and self.role(callee.value) == "self":
            return callee.attr == name
        return is_accumulator(self.lookup(callee)) and ast.unparse(callee).endswith(name)

    def part_given(self, k: int, part: Part, node: ast.expr, into: str) -> list[Stmt]:
        """Return the statements that combine the value at *node* into part *k*."""
        place = PartOf(into, k, part.type)
        if isinstance(node, ast.Call) and self.lookup(node.func) is program.at:
            return self.contribution_at(place, part, node)
        value = self.fit(self.value(node), part.type, node, f"part {part.name!r}")
        if part.combiner.op == OWN:
            return self.part_assigned(place, value, node)
        if not isinstance(value, ArrayValue):
            return [AddPart(place, value, self.site(node))]
        if not part.shape:
            self.no_array(value, node, f"part {part.name!r}")
        half = value.symmetric and part.combiner.op == "sum" and len(set(part.shape)) == 1 < len(part.shape)
        half = half and into == "into"
        whole = (part.name, "whole")
        if not half:
            self.unit.parts.add(whole)

        def body(*indices: Expr) -> list[Stmt]:
            target = Element(place, flat(indices, part.shape), part.combiner.type)
            return [AddPart(target, value.at(*indices), self.site(node))]

        if half and whole not in self.unit.parts:
            self.unit.parts.add((part.name, "half"))
            i, j = self.counter(), self.counter()
            columns = Each(j.name, Binary("+", i, Const(1, "int"), "int"), tuple(body(i, j)), self.site(node))
            return [Each(i.name, Const(part.shape[0], "int"), (columns,), self.site(node))]
        return self.each(part.shape, body, node)

    def contribution_at(self, place: PartOf, part: Part, node: ast.Call) -> list[Stmt]:
        if len(part.shape) != 1:
            raise self.error(node, f"part {part.name!r} is {named(part.type)}; gl.at is for a vector")
        self.no_keywords(node, "gl.at")
        self.count(node, "gl.at", 1, 2)
        index = self.value(node.args[0])
        self.no_array(index, node.args[0], "gl.at")
        index = self.fit(index, "int", node.args[0], "the place in gl.at")
        weight = self.value(node.args[1]) if len(node.args) == 2 else Const(1, "int")
        weight = self.fit(weight, part.combiner.type, node, f"the weight for part {part.name!r}")
        element = Element(place, Index(index, part.shape[0], self.site(node)), part.combiner.type)
        return [(Assign if part.combiner.op == OWN else AddPart)(element, weight, self.site(node))]

    def part(self, node: ast.Attribute, record: RecordCombiner, role: str) -> Any:
        """Return ``total.part``."""
        text = ast.unparse(node)
        if record.is_pair:
            raise self.name_error(node, f"a pair has no parts by name; unpack it: key, payload = {role}")
        for k, part in enumerate(record.parts):
            if part.name == node.attr and part.combiner.op in CHOICES:
                raise self.name_error(node, f"{text} is a pair; unpack it: key, payload = {text}")
            if part.name == node.attr:
                return self.as_value(PartOf(role, k, part.type))
        known = nearest(node.attr, [p.name for p in record.parts if p.combiner.op != PAYLOAD])
        raise self.name_error(node, f"{record.name} has no part {node.attr!r}{known}")
