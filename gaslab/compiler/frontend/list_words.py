"""The words that are asked of lists and sorted sets: ``len(x)``, ``x[i]``, ``y in x``, ``gl.mode(x)``."""

from __future__ import annotations

import ast
from typing import Any

from gaslab import program
from gaslab.compiler.frontend.checks import check_count, no_keywords
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.lists import EMPTY, element_type
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.tree import Expr, ListWord, is_list, named

WORDS: dict[Any, str] = {program.common: "common", program.mode: "mode", program.mex: "mex"}


def length(x: Expr) -> Expr:
    """``len(x)``"""
    return ListWord("len", (x,), "int")


def item(scope: Scope, x: Expr, node: ast.Subscript) -> Expr:
    """``x[i]``"""
    if isinstance(node.slice, ast.Slice):
        raise scope.error(node.slice, "a list is not cut; write for i in range(...) and x[i]")
    return at(scope, x, scope.fit(value_of(scope, node.slice), "int", node.slice, "a position"), node)


def at(scope: Scope, x: Expr, index: Expr, node: ast.AST) -> Expr:
    """Return the element of *x* at *index*; outside of it is a fault."""
    return ListWord("item", (index, x), element_type(x.type), scope.site(node))


def contains(scope: Scope, value: Expr, x: Expr, node: ast.AST) -> Expr:
    """``value in x``"""
    wanted = scope.fit(value, element_type(x.type), node, f"an element of {named(x.type)}")
    return ListWord("in", (wanted, x), "bool")


def call(scope: Scope, node: ast.Call, word: str) -> Expr:
    """``gl.common(a, b)``, ``gl.mode(x)``, ``gl.mex(x)``"""
    name = f"gl.{word}"
    no_keywords(scope, node, name)
    check_count(scope, node, name, *((2, 2) if word == "common" else (1, 1)))
    values = [value_of(scope, argument) for argument in node.args]
    for value, argument in zip(values, node.args, strict=True):
        if not is_list(value.type) or value == EMPTY:
            raise scope.error(argument, f"{name} takes a list but this is {named(value.type)}")
        if word == "common" and not value.type.startswith("set:"):
            raise scope.error(argument, f"gl.common takes sorted sets but this is {named(value.type)}")
    kind = element_type(values[0].type)
    if word == "common":
        if values[0].type != values[1].type:
            raise scope.error(node, f"{named(values[0].type)} meets {named(values[1].type)}; make them agree")
        return ListWord("common", tuple(values), "int")
    if kind not in (("int",) if word == "mex" else ("int", "id")):
        of = "ints" if word == "mex" else "ints or vertex ids"
        raise scope.error(node.args[0], f"{name} takes a list of {of} but this is {named(values[0].type)}")
    return ListWord(word, (values[0],), kind, scope.site(node) if word == "mode" else -1)
