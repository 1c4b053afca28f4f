"""Pairs of a key and its payload: what a program reads of them, and what it gives."""

from __future__ import annotations

import ast

from gaslab.compiler.parse.calls import Calls
from gaslab.compiler.tree import CHOICES, PAIR, RECORD, Expr, Part, PartOf, RecordCombiner


class Pairs(Calls):
    """Adds what is read of pairs."""

    def record_named(self, node: ast.expr) -> tuple[RecordCombiner, str] | None:
        """Return the accumulator that *node* names, and what it is called in the tree; None if it is none."""
        declared = self.unit.declared
        if isinstance(node, ast.Name):
            kind = self.parameters.get(node.id) if node.id not in self.entities else None
            if kind not in (RECORD, PAIR):
                return None
            role = self.canonical(node.id)
            record = declared.message if role == "message" else declared.gather
            if self.name == "merge" and not self.is_helper:
                record = declared.own
            assert isinstance(record, RecordCombiner)
            return record, role
        if isinstance(node, ast.Attribute) and self.role(node.value) == "self":
            found = declared.aggregators.get(node.attr)
            if isinstance(found, RecordCombiner):
                if self.is_helper:
                    raise self.error(
                        node, "a helper is given parts of an aggregate; pass it self.total.part"
                        if not found.is_pair else "a helper is given the key or the payload; unpack it before"
                    )  # fmt: skip
                self.of_program(node)
                return found, f"self {list(declared.aggregators).index(node.attr)}"
        return None

    def pair(self, node: ast.expr) -> tuple[PartOf, PartOf] | None:
        """Return the key and the payload of the pair that *node* names, None if it names none."""
        named = self.record_named(node)
        if named is not None and named[0].is_pair:
            return self.both(named[0], named[1], 0)
        if not isinstance(node, ast.Attribute):
            return None
        owner = self.record_named(node.value)
        if owner is not None:
            for k, part in enumerate(owner[0].parts):
                if part.name == node.attr and part.combiner.op in CHOICES:
                    return self.both(*owner, k)
        return None

    def both(self, record: RecordCombiner, role: str, k: int) -> tuple[PartOf, PartOf]:
        return PartOf(role, k, record.parts[k].type), PartOf(role, k + 1, record.parts[k + 1].type)

    def pair_item(self, node: ast.Subscript) -> PartOf | None:
        """Return ``total[0]`` or ``total[1]`` of a pair, None if it is of something else."""
        found = self.pair(node.value)
        if found is None:
            return None
        index = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if type(index) is not int or index not in (0, 1):
            raise self.error(node.slice, "a pair has [0], the key, and [1], the payload")
        return found[index]

    def pair_given(
        self, parts: tuple[Part, ...], node: ast.expr | None, at: ast.AST, write: str
    ) -> tuple[Expr, Expr]:
        """Return the key and the payload written at *node*, in the types of these *parts*."""
        if not isinstance(node, ast.Tuple) or len(node.elts) != 2:
            raise self.error(node or at, f"a key and its payload are needed here; write {write}")
        values: list[Expr] = []
        for part, one, word in zip(parts, node.elts, ("key", "payload"), strict=True):
            value = self.value(one)
            self.no_array(value, one, f"the {word}")
            values.append(self.fit(value, part.type, one, f"the {word}"))
        return values[0], values[1]
