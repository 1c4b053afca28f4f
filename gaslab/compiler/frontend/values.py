"""Whole vectors and matrices as values: a function of the indices, until something stores it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gaslab.compiler.frontend.convert import widen
from gaslab.compiler.tree import Array, Binary, Const, EdgeField, Element, Expr, Local, PartOf, VertexField

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


def as_value(value: Any) -> Any:
    """Return an array in memory as an `ArrayValue`; anything else as it is."""
    bare = isinstance(value, VertexField | EdgeField | Local | PartOf) and isinstance(value.type, Array)
    return stored(value) if bare else value
