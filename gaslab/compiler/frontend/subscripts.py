"""Subscripts: elements and rows of arrays, elements of lists and pairs."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import kept_number
from gaslab.compiler.frontend.dispatch import reads, value_of
from gaslab.compiler.frontend.list_words import item
from gaslab.compiler.frontend.pairs import pair_item
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.tuples import tuple_item
from gaslab.compiler.frontend.value_checks import no_array
from gaslab.compiler.frontend.values import ArrayValue


@reads(ast.Subscript)
def subscript(scope: Scope, node: ast.Subscript) -> Any:
    item_of_pair = pair_item(scope, node)
    if item_of_pair is not None:
        return item_of_pair
    member = tuple_item(scope, node)
    if member is not None:
        return member
    base = value_of(scope, node.value)
    if t.is_list(base.type):
        return item(scope, base, node)
    if not isinstance(base, ArrayValue):
        raise scope.error(node, "only vectors, matrices and lists are indexed; this is a number")
    indices = indices_of(scope, node, base.type)
    if base.place is None:
        indices = tuple(kept_number(scope, index, node) for index in indices)
    if len(indices) == len(base.type.shape):
        return base.at(*indices)
    row = kept_number(scope, indices[0], node)
    return ArrayValue(
        t.Array(base.type.element, base.type.shape[1:]), lambda j: base.at(row, j), base.roots,
        aligned=False, costly=base.costly,
    )  # fmt: skip


def indices_of(scope: Scope, node: ast.Subscript, kind: t.Array) -> tuple[t.Expr, ...]:
    """Return the indices of a subscript, each within its dimension."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) > len(kind.shape):
        raise scope.error(node, f"{len(parts)} indices but this is {t.named(kind)}; leave some out")
    return tuple(index_of(scope, part, size) for part, size in zip(parts, kind.shape, strict=False))


def index_of(scope: Scope, node: ast.expr, size: int) -> t.Expr:
    if isinstance(node, ast.Slice):
        raise scope.error(node, "a slice is not in the language; write a for loop over range(...)")
    value = value_of(scope, node)
    no_array(scope, value, node, "an index")
    if value.type == "bool":  # to numpy that is a mask
        raise scope.error(node, "an index is an int but this is bool; write int(...)")
    value = scope.fit(value, "int", node, "an index")
    if not isinstance(value, t.Const):
        return t.Index(value, size, scope.site(node))
    if not -size <= value.value < size:
        raise scope.error(node, f"index {value.value} is out of range; there are {size}")
    return t.Const(int(value.value) % size, "int")
