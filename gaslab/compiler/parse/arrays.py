"""Whole vectors and matrices: an array value is what its elements are, until something stores it.

``v.x + e.rating * nbr.x`` becomes one loop over elements where it is assigned. What a loop could spoil
or would compute again and again (a product of matrices, a number) is put into a local before the
statement: `pending` has these statements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gaslab.compiler.parse.convert import join, named, remedy, widen
from gaslab.compiler.parse.draws import Draws
from gaslab.compiler.parse.lists import item
from gaslab.compiler.tree import (
    PAIR,
    RECORD,
    Array,
    Assign,
    Binary,
    Const,
    Each,
    EdgeField,
    Element,
    Expr,
    Global,
    Index,
    Local,
    Param,
    PartOf,
    Stmt,
    VertexField,
    is_list,
)

Place = VertexField | EdgeField | Local | PartOf


@dataclass(frozen=True)
class ArrayValue:
    """A vector or a matrix: ``at(i)`` or ``at(i, j)`` is an element.

    `roots` are the places it reads; it is `aligned` if an element reads only the same element of these.
    `place` is where it lies, if it is no more than a name for that. `plus` is (array, number) of a value
    that is *array* with *number* added to its diagonal.
    """

    type: Array
    at: Callable[..., Expr]
    roots: frozenset[Place] = frozenset()
    aligned: bool = True
    costly: bool = False  # an element takes a loop
    symmetric: bool = False
    place: Place | None = None
    eye: Expr | None = None  # the number on the diagonal of a multiple of the unit matrix
    plus: tuple[ArrayValue, Expr] | None = None

    def widened(self, kind: Array) -> ArrayValue:
        """Return the value with elements of another type, which is known to hold them."""

        def at(*indices: Expr) -> Expr:
            wide = widen(self.at(*indices), kind.element)
            assert wide is not None
            return wide

        return replace(self, type=kind, at=at, place=None, plus=None)


def flat(indices: tuple[Expr, ...], shape: tuple[int, ...]) -> Expr:
    """Return the position of an element, counted row by row."""
    if len(shape) == 1:
        return indices[0]
    row, column = indices
    if isinstance(row, Const) and isinstance(column, Const):
        return Const(row.value * shape[1] + column.value, "int")
    return Binary("+", Binary("*", row, Const(shape[1], "int"), "int"), column, "int")


def stored(place: Any) -> ArrayValue:
    """Return the array in *place* as a value."""
    kind = place.type

    def at(*indices: Expr) -> Expr:
        return Element(place, flat(indices, kind.shape), kind.element)

    return ArrayValue(kind, at, frozenset([place]), place=place)


class Arrays(Draws):
    """Adds indexing, element-wise operations, and arrays in memory."""

    pending: list[Stmt]  # to stand before the statement under way

    def value(self, node: ast.expr) -> Any:
        """Return the tree of expression *node*, or an `ArrayValue`."""
        value = super().value(node)
        self.no_record(value, node)
        return self.as_value(value)

    def as_value(self, value: Any) -> Any:
        """Return an array in memory as an `ArrayValue`; anything else as it is."""
        bare = isinstance(value, VertexField | EdgeField | Local | PartOf) and isinstance(value.type, Array)
        return stored(value) if bare else value

    # ---- locals of the parser's own

    def counter(self) -> Local:
        """Return a new counter for an `Each` or a `Reduce`."""
        name, k = "_i", 0
        while name in self.made or name in self.names:
            k += 1
            name = f"_i_{k}"
        self.made.add(name)
        return Local(name, "int")

    def kept(self, value: Expr, node: ast.AST) -> Expr:
        """Return a number that loops may use again and again, and that no store can change."""
        if isinstance(value, Const | Param | Global | Local):
            return value
        local = self.new_local("_number", value.type, node)
        self.put_before([Assign(local, self.widened(value, local.type), self.site(node))], node)
        return local

    def temporary(self, value: ArrayValue, node: ast.AST) -> Local:
        """Return a local of its own with a copy of *value*."""
        local = self.new_local("_array", value.type, node)
        self.put_before(self.fill(local, value, node), node)
        return local

    def simple(self, value: ArrayValue, node: ast.AST) -> ArrayValue:
        """Return *value* with elements that cost no more than reading them."""
        if value.place is not None or not value.costly:
            return value
        return stored(self.temporary(value, node))

    # ---- loops

    def each(self, shape: tuple[int, ...], body: Callable[..., list[Stmt]], node: ast.AST) -> list[Stmt]:
        """Return the loops over all elements; *body* makes the statements of one from its indices."""
        counters = tuple(self.counter() for _ in shape)
        statements = body(*counters)
        for counter, length in reversed(list(zip(counters, shape, strict=True))):
            statements = [Each(counter.name, Const(length, "int"), tuple(statements), self.site(node))]
        return statements

    def fill(self, place: Place, value: ArrayValue, node: ast.AST) -> list[Stmt]:
        """Return the statements that write *value* (of the same shape) to *place*."""
        kind = place.type
        assert isinstance(kind, Array)
        if value.plus is not None and isinstance(place, Local) and value.type == kind:
            return self.fill_plus(place, *value.plus, node)
        value = value if value.type == kind else value.widened(kind)
        if not value.aligned and place in value.roots:
            value = stored(self.temporary(value, node))

        def body(*indices: Expr) -> list[Stmt]:
            target = Element(place, flat(indices, kind.shape), kind.element)
            return [Assign(target, value.at(*indices), self.site(node))]

        return self.each(kind.shape, body, node)

    def fill_plus(self, place: Local, base: ArrayValue, number: Expr, node: ast.AST) -> list[Stmt]:
        """As `fill`, for *base* with *number* added to its diagonal."""
        statements = [] if base.place == place else self.fill(place, base, node)
        shape = base.type.shape

        def body(i: Expr) -> list[Stmt]:
            target = Element(place, flat((i, i), shape), base.type.element)
            return [Assign(target, Binary("+", target, number, target.type), self.site(node))]

        return statements + self.each(shape[:1], body, node)

    # ---- element by element

    def elementwise(
        self, make: Callable[..., Expr], values: list[Any], node: ast.AST, doing: str
    ) -> ArrayValue:
        """Return the array of ``make(elements...)``; numbers among *values* stand for every element."""
        arrays = [value for value in values if isinstance(value, ArrayValue)]
        shape = arrays[0].type.shape
        for array in arrays:
            if array.type.shape != shape:
                given, wanted = named(arrays[0].type), named(array.type)
                raise self.error(node, f"{doing} {given} and {wanted}; make the shapes agree")
        values = [x if isinstance(x, ArrayValue) else self.kept(x, node) for x in values]

        def at(*indices: Expr) -> Expr:
            return make(*(x.at(*indices) if isinstance(x, ArrayValue) else x for x in values))

        probe = at(*(Const(0, "int") for _ in shape))
        return ArrayValue(
            Array(str(probe.type), shape),
            at,
            frozenset().union(*(array.roots for array in arrays)),
            aligned=all(array.aligned for array in arrays),
            costly=any(array.costly for array in arrays),
            symmetric=all(array.symmetric for array in arrays),
        )

    def joined(self, then: Any, otherwise: Any, node: ast.AST) -> Array:
        """Return the type that holds two arrays."""
        kind = join(then.type, otherwise.type)
        if kind is None:
            raise self.error(
                node, f"{named(then.type)} meets {named(otherwise.type)}; {remedy(then.type, otherwise.type)}"
            )
        assert isinstance(kind, Array)
        return kind

    def no_array(self, value: Any, node: ast.AST, doing: str) -> None:
        """Raise if *value* is an array where one number is needed."""
        if isinstance(value, ArrayValue):
            raise self.error(
                node, f"{doing} needs one number but this is {named(value.type)}; "
                "write one of its elements, x[i]"
            )  # fmt: skip

    def no_record(self, value: Any, node: ast.AST) -> None:
        """Raise if *value* is an accumulator or a pair, which is no number."""
        if value.type == RECORD:
            raise self.error(node, "this is an accumulator, not a value; read one of its parts: total.part")
        if value.type == PAIR:
            raise self.error(node, "this is a pair, not a value; unpack it: key, payload = total")

    # ---- indices

    def value_Subscript(self, node: ast.Subscript) -> Any:
        item_of_pair = self.pair_item(node)
        if item_of_pair is not None:
            return item_of_pair
        base = self.value(node.value)
        if is_list(base.type):
            return item(self, base, node)
        if not isinstance(base, ArrayValue):
            raise self.error(node, "only vectors, matrices and lists are indexed; this is a number")
        indices = self.indices(node, base.type)
        if base.place is None:
            indices = tuple(self.kept(index, node) for index in indices)
        if len(indices) == len(base.type.shape):
            return base.at(*indices)
        row = self.kept(indices[0], node)
        return ArrayValue(
            Array(base.type.element, base.type.shape[1:]), lambda j: base.at(row, j), base.roots,
            aligned=False, costly=base.costly,
        )  # fmt: skip

    def indices(self, node: ast.Subscript, kind: Array) -> tuple[Expr, ...]:
        """Return the indices of a subscript, each within its dimension."""
        given = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(given) > len(kind.shape):
            raise self.error(node, f"{len(given)} indices but this is {named(kind)}; leave some out")
        return tuple(self.index_of(part, size) for part, size in zip(given, kind.shape, strict=False))

    def index_of(self, node: ast.expr, size: int) -> Expr:
        if isinstance(node, ast.Slice):
            raise self.error(node, "a slice is not in the language; write a for loop over range(...)")
        value = self.value(node)
        self.no_array(value, node, "an index")
        if value.type == "bool":  # to numpy that is a mask
            raise self.error(node, "an index is an int but this is bool; write int(...)")
        value = self.fit(value, "int", node, "an index")
        if not isinstance(value, Const):
            return Index(value, size, self.site(node))
        if not -size <= value.value < size:
            raise self.error(node, f"index {value.value} is out of range; there are {size}")
        return Const(int(value.value) % size, "int")
