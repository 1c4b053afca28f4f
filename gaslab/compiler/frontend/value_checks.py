"""Checks of values and of calls, which raise an error or return it."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.convert import IDS
from gaslab.compiler.frontend.lists import NO_VALUE
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.values import ArrayValue
from gaslab.errors import ProgramError


def no_array(scope: Scope, value: Any, node: ast.AST, doing: str) -> None:
    """Raise if *value* is an array where one number is needed."""
    if isinstance(value, ArrayValue):
        raise scope.error(
            node, f"{doing} needs one number but this is {t.named(value.type)}; "
            "write one of its elements, x[i]"
        )  # fmt: skip


def no_ids(scope: Scope, value: Any, node: ast.AST, doing: str) -> None:
    """Raise if *value* is an array of vertex ids where numbers are needed."""
    if isinstance(value, ArrayValue) and value.type.element == "id":
        raise scope.error(node, f"{doing} needs numbers but this is {t.named(value.type)}; {IDS}")


def no_record(scope: Scope, value: Any, node: ast.AST) -> None:
    """Raise if *value* is an accumulator, a pair or a total by key where a number is needed."""
    if value.type == t.RECORD:
        raise scope.error(node, "this is an accumulator, not a value; read one of its parts: total.part")
    if value.type == t.PAIR:
        raise scope.error(node, "this is a pair, not a value; unpack it: key, payload = total")
    if value.type == t.SUM_BY:
        words = "total[key], total.argmax() or for key, value in total.items()"
        raise scope.error(node, f"this is a total by key, not a value; write {words}")


def as_number(scope: Scope, value: Any, node: ast.expr, doing: str) -> t.Expr:
    """Return *value*, the value of *node*; raises if it is not a number."""
    no_array(scope, value, node, doing.removesuffix(" of"))
    if value.type == "id":
        raise scope.error(node, f"{doing} a vertex id; {IDS}")
    if t.is_list(value.type):
        raise no_number(scope, value, node)
    return value  # type: ignore[no-any-return]


def bits_of(scope: Scope, value: Any, node: ast.AST, word: str) -> t.Expr:
    """Return the number of 1 bits in an int's absolute value."""
    if value.type != "int":
        way_out = "np.bitwise_count(x)" if isinstance(value.type, t.Array) else "int(x)"
        raise scope.error(node, f"{word} takes ints but this is {t.named(value.type)}; write {way_out}")
    return t.Call("bit_count", (value,), "int")


def no_keywords(scope: Scope, node: ast.Call, name: str) -> None:
    """Raise if the call has keywords or a ``*``."""
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            raise scope.error(argument, "`*` cannot stand here; write the values one by one")
    for keyword in node.keywords:
        raise scope.error(keyword.value, f"{name} takes no keywords here; write the values in order")


def check_count(scope: Scope, node: ast.Call, name: str, low: int, high: int) -> None:
    """Raise unless the call has *low* to *high* arguments."""
    count = len(node.args)
    if not low <= count <= high:
        wanted = f"{low} argument{'s' * (low > 1)}" if low == high else f"{low} or {high} arguments"
        raise scope.error(node, f"{name} takes {wanted} but is given {count}")


def no_number(scope: Scope, value: t.Expr, node: ast.AST) -> ProgramError:
    """Return the error for a list where a number is needed."""
    return scope.error(node, f"this is {t.named(value.type)}; {NO_VALUE}")
