"""Linear systems in a program: ``np.linalg.solve``, ``gl.solve_spd`` and ``gl.conjugate_gradient``."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler.frontend.arrays import temporary
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.draws import put_before
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import check_count, no_array, no_ids, no_keywords
from gaslab.compiler.frontend.values import ArrayValue, stored
from gaslab.compiler.tree import Array, ConjugateGradient, Local, Solve, named
from gaslab.language import solvers

WORDS = {solvers.solve_spd: "solve_spd", solvers.conjugate_gradient: "conjugate_gradient"}


def call(scope: Scope, node: ast.Call, word: str) -> ArrayValue:
    """Return the value of a call of ``gl.solve_spd`` or ``gl.conjugate_gradient``."""
    name, count = f"gl.{word}", 2 if word == "solve_spd" else 4
    no_keywords(scope, node, name)
    check_count(scope, node, name, count, count)
    values = [value_of(scope, argument) for argument in node.args]
    if word == "solve_spd":
        return solved(scope, node, name, "spd", values)
    return improved(scope, node, name, values)


def check_system(scope: Scope, node: ast.Call, name: str, values: list[Any]) -> None:
    """Raise unless the first two values are a square matrix and a right side with as many rows."""
    for value, argument in zip(values, node.args, strict=False):
        if not isinstance(value, ArrayValue):
            raise scope.error(argument, f"{name} needs a matrix and a vector but this is a number")
        no_ids(scope, value, argument, name)
    matrix, right = values
    shape = matrix.type.shape
    if len(shape) != 2 or shape[0] != shape[1]:
        raise scope.error(node.args[0], f"{name} needs a square matrix but this is {named(matrix.type)}")
    if right.type.shape[0] != shape[0]:
        raise scope.error(node.args[1], f"the matrix has {shape[0]} rows but this is {named(right.type)}")


def solved(scope: Scope, node: ast.Call, name: str, method: str, values: list[Any]) -> ArrayValue:
    """Solve in copies: the matrix is overwritten, the right side becomes the answer."""
    check_system(scope, node, name, values)
    work, answer = (temporary(scope, floats(value), node) for value in values)
    scope.pending.append(Solve(method, work, answer, scope.site(node)))
    return stored(answer)


def improved(scope: Scope, node: ast.Call, name: str, values: list[Any]) -> ArrayValue:
    """``gl.conjugate_gradient(matrix, right, start, steps)``: a copy of *start* becomes the answer."""
    matrix, right, start, steps = values
    check_system(scope, node, name, [matrix, right])
    for value, argument in ((right, node.args[1]), (start, node.args[2])):
        if getattr(value.type, "shape", None) != matrix.type.shape[:1]:
            length = matrix.type.shape[0]
            what = named(value.type) if isinstance(value, ArrayValue) else "a number"
            raise scope.error(argument, f"{name} needs a vector of {length} floats here but this is {what}")
    no_array(scope, steps, node.args[3], name)
    steps = scope.fit(steps, "int", node.args[3], f"the steps of {name}")
    matrix, right = in_local(scope, matrix, node), in_local(scope, right, node)
    answer = temporary(scope, floats(start), node)
    put_before(scope, [ConjugateGradient(matrix, right, answer, steps, scope.site(node))], node)
    return stored(answer)


def in_local(scope: Scope, value: ArrayValue, node: ast.AST) -> Local:
    """Return a local with the floats of *value*, only to be read."""
    value = floats(value)
    return value.place if isinstance(value.place, Local) else temporary(scope, value, node)


def floats(value: ArrayValue) -> ArrayValue:
    kind = Array("float", value.type.shape)
    return value if value.type == kind else value.widened(kind)
