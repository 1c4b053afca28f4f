"""``return None`` of a gather or an aggregator: the edge, or the vertex, contributes nothing.

For numbers, None is the combiner's identity, which changes no total. Otherwise the method returns without
adding anything.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.dispatch import reads
from gaslab.compiler.frontend.scope import Scope


class Nothing(ast.Constant):
    """``None`` as a contribution of numbers."""


def is_nothing(node: ast.expr | None) -> bool:
    """Return whether *node* is missing or ``None``."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def may_be_nothing(node: ast.expr | None) -> bool:
    """Return whether *node* is nothing, or chooses between nothing and something."""
    if isinstance(node, ast.IfExp):
        return may_be_nothing(node.body) or may_be_nothing(node.orelse)
    return is_nothing(node)


def as_number(node: ast.expr | None, at: ast.AST) -> ast.expr:
    """Return *node* with a `Nothing` in place of each ``None`` that it may evaluate to."""
    if isinstance(node, ast.IfExp):
        body, otherwise = as_number(node.body, at), as_number(node.orelse, at)
        return ast.copy_location(ast.IfExp(node.test, body, otherwise), node)
    if node is None or is_nothing(node):
        made: ast.expr = ast.copy_location(Nothing(None), node or at)
        return made
    return node


@reads(Nothing)
def identity(scope: Scope, node: Nothing) -> t.Expr:
    """Return the value that changes no total of this method; an aggregate is kept in eight bytes."""
    combiner = scope.contributes
    assert combiner is not None
    if scope.counts:
        return t.Const(False, "bool")
    if scope.name != "gather":
        combiner = replace(combiner, storage=t.WIDE[combiner.type])
    return t.Const(combiner.identity, combiner.type)


def misplaced(scope: Scope) -> str:
    """Return the error message for a None elsewhere."""
    if scope.contributes is not None:
        return "None can only be returned, where it contributes nothing; write gl.NOBODY for no vertex"
    return "None is not in the language; values are float, int and bool, and gl.NOBODY is no vertex"
