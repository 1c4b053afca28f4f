"""Subscripts: elements, rows and slices of arrays, elements of lists and pairs."""

from __future__ import annotations

import ast
import operator
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend import keyed
from gaslab.compiler.frontend.arrays import kept_number
from gaslab.compiler.frontend.convert import INT_MAX
from gaslab.compiler.frontend.dispatch import reads, value_of
from gaslab.compiler.frontend.list_words import item
from gaslab.compiler.frontend.pairs import pair_item
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.tuples import tuple_item
from gaslab.compiler.frontend.value_checks import no_array
from gaslab.compiler.frontend.values import ArrayValue

Place = t.Expr | range  # of an element, or of a slice


@reads(ast.Subscript)
def subscript(scope: Scope, node: ast.Subscript) -> Any:
    item_of_pair = pair_item(scope, node)
    if item_of_pair is not None:
        return item_of_pair
    if (combiner := keyed.total_named(scope, node.value)) is not None:
        return keyed.item(scope, combiner, node)
    member = tuple_item(scope, node)
    if member is not None:
        return member
    base = value_of(scope, node.value)
    if t.is_list(base.type):
        return item(scope, base, node)
    if not isinstance(base, ArrayValue):
        raise scope.error(node, "only vectors, matrices and lists can be indexed; this is a number")
    places = places_of(scope, node, base.type)
    indices = tuple(x for x in places if not isinstance(x, range))
    if len(indices) == len(base.type.shape) and base.place is not None:
        return base.at(*indices)
    places = tuple(x if isinstance(x, range) else kept_number(scope, x, node) for x in places)
    return base.at(*places) if len(indices) == len(base.type.shape) else part_of(base, places)


def part_of(base: ArrayValue, places: tuple[Place, ...]) -> ArrayValue:
    """Return a row, or the elements of slices."""
    every = (*places, *(range(size) for size in base.type.shape[len(places) :]))
    taken = [index for index in every if isinstance(index, range)]

    def at(*indices: t.Expr) -> t.Expr:
        rest = iter(zip(taken, indices, strict=True))
        return base.at(*(further(*next(rest)) if isinstance(x, range) else x for x in every))

    kind = t.Array(base.type.element, tuple(map(len, taken)))
    aligned = base.aligned and len(base.type.shape) == 1 and not taken[0].start
    return ArrayValue(kind, at, base.roots, aligned=aligned, costly=base.costly)


def further(taken: range, place: t.Expr) -> t.Expr:
    """Return the index of the element at *place* in a slice."""
    first = t.Const(taken.start, "int")
    if isinstance(place, t.Const):
        return t.Const(place.value + taken.start, "int")
    return t.Binary("+", place, first, "int") if taken.start else place


def indices_of(scope: Scope, node: ast.Subscript, kind: t.Array) -> tuple[t.Expr, ...]:
    """Return the indices of an element that is written, each within its dimension."""
    for part in node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]:
        if isinstance(part, ast.Slice):
            raise scope.error(node, "a slice cannot be assigned as a whole; write a loop over its elements")
    return tuple(x for x in places_of(scope, node, kind) if not isinstance(x, range))


def places_of(scope: Scope, node: ast.Subscript, kind: t.Array) -> tuple[Place, ...]:
    """Return the indices and slices of a subscript, each within its dimension."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if len(parts) > len(kind.shape):
        raise scope.error(node, f"{len(parts)} indices but this is {t.named(kind)}; leave some out")
    return tuple(
        slice_of(scope, part, size) if isinstance(part, ast.Slice) else index_of(scope, part, size)
        for part, size in zip(parts, kind.shape, strict=False)
    )


def index_of(scope: Scope, node: ast.expr, size: int) -> t.Expr:
    value = value_of(scope, node)
    no_array(scope, value, node, "an index")
    if value.type == "bool":  # to numpy that is a mask
        raise scope.error(node, "an index is an int but this is bool; write int(...)")
    value = scope.fit(value, "int", node, "an index")
    if not isinstance(value, t.Const):
        return t.Index(value, size, scope.site(node))
    if not -size <= value.value < size:
        raise scope.error(node, f"index {value.value} is out of range; the length is {size}")
    return t.Const(int(value.value) % size, "int")


def slice_of(scope: Scope, node: ast.Slice, size: int) -> range:
    """Return the places in a slice, as in numpy: bounds beyond an end are that end."""
    if node.step is not None:
        raise scope.error(node.step, "a slice has no step here; write a loop over range(...)")
    bounds = [None if bound is None else known_int(scope, bound) for bound in (node.lower, node.upper)]
    taken = range(size)[slice(*bounds)]
    if not taken:
        at = node.lower or node.upper or node
        raise scope.error(at, f"this slice of {size} is empty; an array has at least 1 element")
    return taken


def known_int(scope: Scope, node: ast.expr) -> int:
    """Return an int known at compile time: a number, a length, or arithmetic of these."""
    found = folded(value_of(scope, node))
    if found is None or abs(found) > INT_MAX:
        raise scope.error(
            node, "a bound of a slice must be known when the program is compiled: an int, a parameter that a "
            "shape names, len(x), or arithmetic of these"
        )  # fmt: skip
    return found


def folded(value: Any) -> int | None:
    """Return the value of an int expression of constants, else None."""
    if isinstance(value, t.Const):
        return int(value.value) if value.type == "int" else None
    if isinstance(value, t.Unary) and value.op == "-":
        operand = folded(value.operand)
        return None if operand is None else -operand
    if not isinstance(value, t.Binary) or value.op not in _ARITHMETIC:
        return None
    left, right = folded(value.left), folded(value.right)
    if left is None or right is None or (value.op in ("//", "%") and not right):
        return None
    return int(_ARITHMETIC[value.op](left, right))


_ARITHMETIC: dict[str, Any] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip
