"""Whole vectors and matrices as values: functions of the indices, until a statement stores them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.convert import widen

Place = t.VertexField | t.EdgeField | t.Local | t.PartOf | t.Shared


@dataclass(frozen=True)
class ArrayValue:
    """A vector or a matrix: ``at(i)`` or ``at(i, j)`` is an element.

    `roots` are the places it reads; it is `aligned` if an element reads only the same element of these.
    `place` is its place in memory, if it merely names one. `eye` is (number, rest) of a multiple of the unit
    matrix: the values on and off the diagonal, the latter zero or nan. `plus` is (array, eye) if the value is
    *array* plus such a multiple. `square` is the vector whose outer product with itself it is.
    """

    type: t.Array
    at: Callable[..., t.Expr]
    roots: frozenset[Place] = frozenset()
    aligned: bool = True
    costly: bool = False  # an element needs a loop
    symmetric: bool = False
    place: Place | None = None
    eye: tuple[t.Expr, t.Expr] | None = None
    plus: tuple[ArrayValue, tuple[t.Expr, t.Expr]] | None = None
    square: ArrayValue | None = None

    def widened(self, kind: t.Array) -> ArrayValue:
        """Return the value with elements of another type, known to hold them."""

        def at(*indices: t.Expr) -> t.Expr:
            wide = widen(self.at(*indices), kind.element)
            assert wide is not None
            return wide

        return replace(self, type=kind, at=at, place=None, plus=None, square=None)


def flat(indices: tuple[t.Expr, ...], shape: tuple[int, ...]) -> t.Expr:
    """Return the position of an element, counted row by row."""
    if len(shape) == 1:
        return indices[0]
    row, column = indices
    if isinstance(row, t.Const) and isinstance(column, t.Const):
        return t.Const(row.value * shape[1] + column.value, "int")
    return t.Binary("+", t.Binary("*", row, t.Const(shape[1], "int"), "int"), column, "int")


def stored(place: Any) -> ArrayValue:
    """Return the array in *place* as a value."""
    kind = place.type

    def at(*indices: t.Expr) -> t.Expr:
        return t.Element(place, flat(indices, kind.shape), kind.element)

    return ArrayValue(kind, at, frozenset([place]), place=place)


def as_value(value: Any) -> Any:
    """Return an array in memory as an `ArrayValue`; anything else unchanged."""
    bare = isinstance(value, Place) and isinstance(value.type, t.Array)
    return stored(value) if bare else value
