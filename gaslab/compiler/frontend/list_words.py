"""Operations on lists and sorted sets: ``len(x)``, ``x[i]``, ``y in x``, ``gl.mode(x)``."""

from __future__ import annotations

import ast
from typing import Any

from gaslab import program
from gaslab.compiler import tree as t
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.lists import EMPTY, element_type
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.tuples import WHOLE, members_of
from gaslab.compiler.frontend.value_checks import check_count, no_keywords

WORDS: dict[Any, str] = {program.common: "common", program.mode: "mode", program.mex: "mex"}


def length(x: t.Expr) -> t.Expr:
    """``len(x)``"""
    return t.ListWord("len", (x,), "int")


def item(scope: Scope, x: t.Expr, node: ast.Subscript) -> t.Expr:
    """``x[i]``"""
    if isinstance(node.slice, ast.Slice):
        raise scope.error(node.slice, "a list cannot be sliced; write for i in range(...) and x[i]")
    if members_of(x):
        raise scope.error(node, WHOLE)
    return at(scope, x, scope.fit(value_of(scope, node.slice), "int", node.slice, "a position"), node)


def at(scope: Scope, x: t.Expr, index: t.Expr, node: ast.AST) -> t.Expr:
    """Return the element of *x* at *index*; an index outside is a fault."""
    return t.ListWord("item", (index, x), element_type(x.type), scope.site(node))


def contains(scope: Scope, value: t.Expr, x: t.Expr, node: ast.AST) -> t.Expr:
    """``value in x``"""
    if members_of(x):
        raise scope.error(node, "a list cannot be searched for a tuple; write a loop: for a, b in message")
    wanted = scope.fit(value, element_type(x.type), node, f"an element of {t.named(x.type)}")
    return t.ListWord("in", (wanted, x), "bool")


def call(scope: Scope, node: ast.Call, word: str) -> t.Expr:
    """``gl.common(a, b)``, ``gl.mode(x)``, ``gl.mex(x)``"""
    name = f"gl.{word}"
    no_keywords(scope, node, name)
    check_count(scope, node, name, *((2, 2) if word == "common" else (1, 1)))
    values = [value_of(scope, argument) for argument in node.args]
    for value, argument in zip(values, node.args, strict=True):
        if not t.is_list(value.type) or value == EMPTY:
            raise scope.error(argument, f"{name} takes a list but this is {t.named(value.type)}")
        if word == "common" and not value.type.startswith("set:"):
            raise scope.error(argument, f"gl.common takes sorted sets but this is {t.named(value.type)}")
    kind = element_type(values[0].type)
    if word == "common":
        if values[0].type != values[1].type:
            text = f"cannot combine {t.named(values[0].type)} and {t.named(values[1].type)}; make them agree"
            raise scope.error(node, text)
        return t.ListWord("common", tuple(values), "int")
    if kind not in (("int",) if word == "mex" else ("int", "id")):
        of = "ints" if word == "mex" else "ints or vertex ids"
        raise scope.error(node.args[0], f"{name} takes a list of {of} but this is {t.named(values[0].type)}")
    return t.ListWord(word, (values[0],), kind, scope.site(node) if word == "mode" else -1)
