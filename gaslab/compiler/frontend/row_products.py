"""The product of a vector with a matrix, row by row of the matrix, as in memory.

Column by column it would read one number from each row in turn: four times slower at 64 rows and columns.
Every element of the product adds its terms as a `Reduce` does, so the bits are the same.
"""

from __future__ import annotations

import ast

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import each_element, new_counter
from gaslab.compiler.frontend.draws import put_before
from gaslab.compiler.frontend.field_declarations import MAX_ELEMENTS
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.values import ArrayValue

LEAST = (16, 4)  # rows and columns from which it pays


def by_rows(scope: Scope, left: ArrayValue, right: ArrayValue, node: ast.AST) -> ArrayValue | None:
    """Return ``left @ right``, None if column by column is better."""
    (rows, columns), site = right.type.shape, scope.site(node)
    floats = "float" in (left.type.element, right.type.element)
    kind, ways = ("float", t.WAYS[scope.unit.declared.precision]) if floats else ("int", 1)
    if rows < LEAST[0] or columns < LEAST[1] or ways * columns > MAX_ELEMENTS:
        return None
    sums = scope.new_local("_sums", t.Array(kind, (ways * columns,)), node)
    factor = scope.new_local("_factor", kind, node)

    def sum_at(way: t.Expr, j: t.Expr) -> t.Element:
        if way == t.Const(0, "int"):
            return t.Element(sums, j, kind)
        return t.Element(sums, plus(times(way, columns), j), kind)

    def row(i: t.Expr, way: t.Expr) -> list[t.Stmt]:
        """Return the statements that add row *i* times its factor to the sums of a *way*."""

        def add(j: t.Expr) -> list[t.Stmt]:
            term = t.Binary("*", factor, scope.widened(right.at(i, j), kind), kind)
            return [t.Assign(sum_at(way, j), t.Binary("+", sum_at(way, j), term, kind), site)]

        first = t.Assign(factor, scope.widened(left.at(i), kind), site)
        return [first, *each_element(scope, (columns,), add, node)]

    zero = t.Const(0.0 if floats else 0, kind)
    steps = each_element(
        scope, (ways * columns,), lambda k: [t.Assign(t.Element(sums, k, kind), zero, site)], node
    )
    turn, way = new_counter(scope), new_counter(scope)
    in_turn = t.Each(way.name, t.Const(ways, "int"), tuple(row(plus(times(turn, ways), way), way)), site)
    steps.append(t.Each(turn.name, t.Const(rows // ways, "int"), (in_turn,), site))
    for i in range(rows - rows % ways, rows):
        steps += row(t.Const(i, "int"), t.Const(0, "int"))
    put_before(scope, steps, node)

    def at(j: t.Expr) -> t.Expr:
        parts: list[t.Expr] = [sum_at(t.Const(w, "int"), j) for w in range(ways)]
        while len(parts) > 1:
            parts = [t.Binary("+", *pair, kind) for pair in zip(parts[::2], parts[1::2], strict=True)]
        return parts[0]

    return ArrayValue(t.Array(kind, (columns,)), at, frozenset([sums]), aligned=False)


def plus(left: t.Expr, right: t.Expr) -> t.Expr:
    return t.Binary("+", left, right, "int")


def times(left: t.Expr, n: int) -> t.Expr:
    if isinstance(left, t.Const):
        return t.Const(left.value * n, "int")
    return left if n == 1 else t.Binary("*", left, t.Const(n, "int"), "int")
