"""Random numbers in a program: ``gl.uniform``, ``gl.normal`` and ``gl.integers``."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.scope import Scope
from gaslab.language import rng


def bound(scope: Scope, node: ast.Call, kind: str) -> dict[str, Any]:
    """Return the arguments of a call by parameter: syntax nodes, or defaults."""
    word = next(word for word, name in rng.WORDS.items() if name == kind)
    keywords = {str(keyword.arg): keyword.value for keyword in node.keywords}
    try:
        found = inspect.signature(word).bind(*node.args, **keywords)
    except TypeError as error:
        raise scope.error(node, f"gl.{kind} cannot be called like this: {error}") from None
    found.apply_defaults()
    return dict(found.arguments)


def call_draw(scope: Scope, node: ast.Call, kind: str) -> t.Expr:
    """Return a draw; its arguments are ordinary values."""
    type_, arguments = "int" if kind == "integers" else "float", list[t.Expr]()
    given = bound(scope, node, kind)
    for name, argument in given.items():
        if isinstance(argument, ast.expr):
            value = scope.fit(value_of(scope, argument), type_, argument, f"{name} of gl.{kind}")
        else:
            value = t.Const(argument, type_)
        if isinstance(value, t.Const) and (needed := rng.needed(kind, value.value)):
            raise scope.error(argument, f"{name} of gl.{kind} is {value.value}; {needed} is needed")
        arguments.append(value)
    if kind == "uniform" and all(isinstance(x, t.Const) for x in arguments):
        low, high = (x.value for x in arguments if isinstance(x, t.Const))
        if lack := rng.too_wide(low, high):
            raise scope.error(node, lack)
    if kind == "integers" and isinstance(arguments[0], t.Const) and arguments[0].value < 1:
        raise scope.error(node.args[0] if node.args else node, "gl.integers(n) draws from 0 .. n - 1; "
                         "write an n of at least 1")  # fmt: skip
    check_order(scope, node, given.values(), arguments)
    note_draw(scope, node)
    return t.Draw(kind, tuple(arguments), rng.TYPES[kind], scope.site(node))


def note_draw(scope: Scope, node: ast.AST) -> None:
    """Note that this function draws; raises if it may not."""
    if scope.name in scope.unit.declared.aggregators and not scope.is_helper:
        raise scope.error(node, "an aggregator cannot draw; draw in apply and keep the number in a field")
    if scope.name == "merge" and not scope.is_helper:
        raise scope.error(node, "merge cannot draw: in which order it is called depends on the ranks")
    scope.draws += 1
    scope.reads.add("self.draws")
    if not scope.is_helper:
        scope.reads |= {"v.#", "nbr.#"} if scope.name in rng.EDGE_PHASES else {"v.id"}


def draws_in(scope: Scope, value: Any) -> int:
    """Return the number of draws in *value*; known while the tree is made."""
    helpers = scope.unit.helpers.all()
    called = [helpers[n.index] for n in t.nodes(value) if isinstance(n, t.CallHelper) and n.index >= 0]
    drawn = sum(isinstance(n, t.Draw | t.Categorical | t.Dirichlet) for n in t.nodes(value))
    return drawn + sum("self.draws" in h.reads for h in called)


def put_before(scope: Scope, statements: list[t.Stmt], node: ast.AST) -> None:
    """Put *statements* before the current one; raises if that would change the order of draws."""
    scope.pending += statements
    if (
        scope.final
        and draws_in(scope, tuple(statements))
        and scope.draws > draws_in(scope, tuple(scope.pending))
    ):
        raise scope.error(node, "a draw stands before this, which draws too; assign them to locals first")


def check_order(scope: Scope, node: ast.Call, given: Iterable[Any], values: list[t.Expr]) -> None:
    """Raise if two arguments draw and keywords change their order; *given* is by parameter."""
    places = [(x.lineno, x.col_offset) for x in given if isinstance(x, ast.expr)]
    if scope.final and places != sorted(places) and sum(draws_in(scope, x) > 0 for x in values) > 1:
        raise scope.error(
            node, "two of these arguments draw, and are not in the order of the parameters; write them in "
            "it, or assign them to locals first"
        )  # fmt: skip
