"""Loops over the elements of vectors and matrices, and the locals that they need.

``v.x + e.rating * nbr.x`` becomes one loop over elements where it is assigned. A value that the loop could
overwrite or would recompute (a product of matrices, a number) is assigned to a local before the statement:
`pending` holds these assignments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.convert import join, remedy
from gaslab.compiler.frontend.draws import put_before
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.values import ArrayValue, Place, flat, stored


def new_counter(scope: Scope) -> t.Local:
    """Return a new counter for an `Each` or a `Reduce`."""
    name, k = "_i", 0
    while name in scope.made or name in scope.names:
        k += 1
        name = f"_i_{k}"
    scope.made.add(name)
    return t.Local(name, "int")


def kept_number(scope: Scope, value: t.Expr, node: ast.AST) -> t.Expr:
    """Return a number in a form that loops may re-evaluate and no store can change."""
    if isinstance(value, t.Const | t.Param | t.Global | t.Local):
        return value
    local = scope.new_local("_number", value.type, node)
    put_before(scope, [t.Assign(local, scope.widened(value, local.type), scope.site(node))], node)
    return local


def temporary(scope: Scope, value: ArrayValue, node: ast.AST) -> t.Local:
    """Return a new local with a copy of *value*."""
    local = scope.new_local("_array", value.type, node)
    put_before(scope, filled(scope, local, value, node), node)
    return local


def simple(scope: Scope, value: ArrayValue, node: ast.AST) -> ArrayValue:
    """Return *value* with elements that are read, not computed."""
    if value.place is not None or not value.costly:
        return value
    return stored(temporary(scope, value, node))


def each_element(
    scope: Scope, shape: tuple[int, ...], body: Callable[..., list[t.Stmt]], node: ast.AST
) -> list[t.Stmt]:
    """Return the loops over all elements; *body* makes an element's statements from its indices."""
    counters = tuple(new_counter(scope) for _ in shape)
    statements = body(*counters)
    for counter, length in reversed(list(zip(counters, shape, strict=True))):
        statements = [t.Each(counter.name, t.Const(length, "int"), tuple(statements), scope.site(node))]
    return statements


def filled(scope: Scope, place: Place, value: ArrayValue, node: ast.AST) -> list[t.Stmt]:
    """Return the statements that write *value* (of the same shape) to *place*."""
    kind = place.type
    assert isinstance(kind, t.Array)
    if value.plus is not None and isinstance(place, t.Local) and value.type == kind:
        return filled_plus(scope, place, *value.plus, node)
    value = value if value.type == kind else value.widened(kind)
    if not value.aligned and place in value.roots:
        value = stored(temporary(scope, value, node))

    def body(*indices: t.Expr) -> list[t.Stmt]:
        target = t.Element(place, flat(indices, kind.shape), kind.element)
        return [t.Assign(target, value.at(*indices), scope.site(node))]

    return each_element(scope, kind.shape, body, node)


def made_in(scope: Scope, place: t.Local, value: ArrayValue) -> bool:
    """Let the pending statements that compute *value* in a frontend local compute it in *place*.

    Return False if none do, or if they read *place* meanwhile.
    """
    made, steps = value.place, tuple(scope.pending)
    if not isinstance(made, t.Local) or made.name not in scope.made or made.type != place.type:
        return False
    if place in t.nodes(steps) or made not in t.nodes(steps):
        return False
    scope.pending = [t.renamed(one, made, place) for one in steps]
    return True


def filled_plus(
    scope: Scope, place: t.Local, base: ArrayValue, eye: tuple[t.Expr, t.Expr], node: ast.AST
) -> list[t.Stmt]:
    """As `filled`, for *base* plus a multiple of the unit matrix: off its diagonal only nan is added."""
    statements = [] if base.place == place else filled(scope, place, base, node)
    shape, site, (number, rest) = base.type.shape, scope.site(node), eye

    def added(i: t.Expr, j: t.Expr, value: t.Expr) -> list[t.Stmt]:
        target = t.Element(place, flat((i, j), shape), base.type.element)
        return [t.Assign(target, t.Binary("+", target, value, target.type), site)]

    def beside(i: t.Expr, j: t.Expr) -> list[t.Stmt]:
        return [t.If(t.Compare("!=", i, j), tuple(added(i, j, rest)), (), site)]

    statements += each_element(scope, shape[:1], lambda i: added(i, i, number), node)
    if not isinstance(rest, t.Const):
        statements.append(
            t.If(t.Compare("!=", rest, rest), tuple(each_element(scope, shape, beside, node)), (), site)
        )
    return statements


def elementwise(
    scope: Scope, make: Callable[..., t.Expr], values: list[Any], node: ast.AST, doing: str
) -> ArrayValue:
    """Return the array of ``make(elements...)``; a number among *values* is used for every element."""
    arrays = [value for value in values if isinstance(value, ArrayValue)]
    shape = arrays[0].type.shape
    for array in arrays:
        if array.type.shape != shape:
            first, second = t.named(arrays[0].type), t.named(array.type)
            raise scope.error(node, f"{doing} {first} and {second}; make the shapes agree")
    values = [x if isinstance(x, ArrayValue) else kept_number(scope, x, node) for x in values]

    def at(*indices: t.Expr) -> t.Expr:
        return make(*(x.at(*indices) if isinstance(x, ArrayValue) else x for x in values))

    probe = at(*(t.Const(0, "int") for _ in shape))
    return ArrayValue(
        t.Array(str(probe.type), shape),
        at,
        frozenset().union(*(array.roots for array in arrays)),
        aligned=all(array.aligned for array in arrays),
        costly=any(array.costly for array in arrays),
        symmetric=all(array.symmetric for array in arrays),
    )


def joined_type(scope: Scope, then: Any, otherwise: Any, node: ast.AST) -> t.Array:
    """Return the type that holds two arrays."""
    kind = join(then.type, otherwise.type)
    if kind is None:
        raise scope.error(
            node,
            f"cannot combine {t.named(then.type)} and {t.named(otherwise.type)}; "
            f"{remedy(then.type, otherwise.type)}",
        )
    assert isinstance(kind, t.Array)
    return kind
