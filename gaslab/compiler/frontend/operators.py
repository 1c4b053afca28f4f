"""Values made by operators of arithmetic and of bits."""

from __future__ import annotations

import ast
import contextlib
import math
from dataclasses import replace
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import elementwise, kept_number
from gaslab.compiler.frontend.conditions import truth
from gaslab.compiler.frontend.convert import IDS
from gaslab.compiler.frontend.dispatch import reads, value_of
from gaslab.compiler.frontend.linear import matrix_product, multiple_of_eye
from gaslab.compiler.frontend.names import const_of
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import as_number, no_ids, no_number
from gaslab.compiler.frontend.values import ArrayValue

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


def number_of(scope: Scope, node: ast.expr, doing: str) -> t.Expr:
    """Return the value of *node*, which must be a number."""
    return as_number(scope, value_of(scope, node), node, doing)


@reads(ast.UnaryOp)
def unary_operation(scope: Scope, node: ast.UnaryOp) -> Any:
    if isinstance(node.op, ast.Not):
        return t.Unary("not", truth(scope, node.operand), "bool")
    negative = isinstance(node.op, ast.USub)
    if negative and isinstance(node.operand, ast.Constant) and type(node.operand.value) is int:
        return const_of(scope, -node.operand.value, node)  # -2**63 has no positive twin
    operand = value_of(scope, node.operand)
    if negative and isinstance(operand, ArrayValue):
        return binary(scope, ast.Mult(), operand, t.Const(-1, "int"), node)
    if isinstance(operand, ArrayValue):
        return unary_of_array(scope, node.op, operand, node)
    value = as_number(scope, operand, node.operand, "a sign before")
    if value.type == "bool":
        value = scope.widened(value, "int")
    if isinstance(node.op, ast.Invert):
        return inverted(scope, value, node)
    if isinstance(value, t.Const) and negative:
        return const_of(scope, -value.value, node)
    return t.Unary("-", value, t.element_of(value.type)) if negative else value


def inverted(scope: Scope, value: t.Expr, node: ast.AST) -> t.Expr:
    """Return ``~value``."""
    if value.type == "float":
        raise scope.error(node, "`~` needs an int but this is float; write int(...)")
    return t.Unary("~", value, "int")


def unary_of_array(scope: Scope, operator: ast.unaryop, operand: ArrayValue, node: ast.AST) -> ArrayValue:
    """``~x`` or ``+x`` of every element; on bools ``~`` means not, as in numpy."""
    word = "~" if isinstance(operator, ast.Invert) else "+"
    no_ids(scope, operand, node, f"`{word}`")

    def of_element(a: t.Expr) -> t.Expr:
        if word == "~":
            return t.Unary("not", a, "bool") if a.type == "bool" else inverted(scope, a, node)
        return scope.widened(a, "int") if a.type == "bool" else a

    return elementwise(scope, of_element, [operand], node, f"`{word}` of")


@reads(ast.BinOp)
def binary_operation(scope: Scope, node: ast.BinOp) -> Any:
    if scope.unit.declared.precision != "float64" and isinstance(number := _folded(node), float):
        return const_of(scope, number, node)
    return binary(scope, node.op, value_of(scope, node.left), value_of(scope, node.right), node)


def _folded(node: ast.expr) -> Any:
    """Return an expression of numbers alone as Python folds it, in float64; else None."""
    parts = [n for n in ast.walk(node) if not isinstance(n, ast.operator | ast.unaryop)]
    known = (ast.BinOp, ast.UnaryOp, ast.Constant)
    if all(isinstance(n, known) and isinstance(getattr(n, "value", 0), int | float) for n in parts):
        with contextlib.suppress(ArithmeticError, TypeError):
            return eval(compile(ast.Expression(node), "", "eval"))
    return None


def binary(scope: Scope, operator: ast.operator, left: Any, right: Any, node: ast.AST) -> Any:
    """Return ``left operator right``."""
    op = _OPERATORS.get(type(operator))
    if op is None:
        return matrix_product(scope, left, right, node)
    if isinstance(left, ArrayValue) or isinstance(right, ArrayValue):
        return binary_of_arrays(scope, operator, op, left, right, node)
    if "id" in (left.type, right.type):
        raise scope.error(node, f"`{op}` on a vertex id; {IDS}")
    for value in (left, right):
        if t.is_list(value.type):
            raise no_number(scope, value, node)
    if op in ("&", "|", "^", "<<", ">>"):
        return bits_of(scope, op, left, right, node)
    if op == "**":
        return power_of(scope, left, right, node)
    wide = "float" if "float" in (left.type, right.type) or op == "/" else "int"
    # An int zero is a fault under `/` even if the other side is a float, as in Python.
    may_fault = op in ("/", "//", "%") and right.type != "float" and (wide == "int" or op == "/")
    if may_fault and isinstance(right, t.Const) and not right.value:
        raise scope.error(node, f"`{op}` by the int 0; write 0.0 for inf or nan")
    may_fault = may_fault and not never_zero(right)
    left, right = scope.widened(left, wide), scope.widened(right, wide)
    return t.Binary(op, left, right, wide, scope.site(node) if may_fault else -1, may_fault and op == "/")


def binary_of_arrays(
    scope: Scope, operator: ast.operator, op: str, left: Any, right: Any, node: ast.AST
) -> Any:
    """``left operator right`` of every element; a multiple of the unit matrix stays one."""
    for value in (left, right):
        if value.type == "id":
            raise scope.error(node, f"`{op}` on a vertex id; {IDS}")
        no_ids(scope, value, node, f"`{op}`")
    eyes = [getattr(value, "eye", None) for value in (left, right)]
    if isinstance(right, ArrayValue) and not isinstance(left, ArrayValue) and eyes[1] and op == "*":
        left, right, eyes = right, left, eyes[::-1]
    if eyes[0] is not None and not isinstance(right, ArrayValue) and op in ("*", "/"):
        right, (number, rest) = kept_number(scope, right, node), eyes[0]
        number = kept_number(scope, binary(scope, operator, number, right, node), node)
        if not (isinstance(rest, t.Const) and isinstance(right, t.Const) and math.isfinite(right.value)):
            rest = kept_number(scope, binary(scope, operator, rest, right, node), node)
        elif math.copysign(1.0, right.value) < 0:
            rest = t.Const(-rest.value, "float")
        return multiple_of_eye(left.type.shape[0], number, rest)
    made = elementwise(
        scope, lambda a, b: binary(scope, operator, a, b, node), [left, right], node, f"`{op}` of"
    )
    if op == "+" and eyes[0] is not None and isinstance(right, ArrayValue):
        left, right, eyes = right, left, eyes[::-1]
    if op in "+-" and eyes[1] is not None and left.type == made.type:
        number, rest = eyes[1] if op == "+" else [negative(x) for x in eyes[1]]
        return replace(made, plus=(left, (kept_number(scope, number, node), kept_number(scope, rest, node))))
    return made


def negative(x: t.Expr) -> t.Expr:
    return t.Const(-x.value, x.type) if isinstance(x, t.Const) else t.Unary("-", x, "float")


def bits_of(scope: Scope, op: str, left: t.Expr, right: t.Expr, node: ast.AST) -> t.Expr:
    if "float" in (left.type, right.type):
        instead = {"&": "write `and` for truth", "|": "write `or` for truth"}.get(op, "write int(...)")
        raise scope.error(node, f"`{op}` needs ints or bools, not a float; {instead}")
    if left.type == right.type == "bool" and op in "&|^":
        return t.Binary(op, left, right, "bool")
    shift = op in ("<<", ">>")
    left, right = scope.widened(left, "int"), scope.widened(right, "int")
    return t.Binary(op, left, right, "int", scope.site(node) if shift else -1)


def power_of(scope: Scope, left: t.Expr, right: t.Expr, node: ast.AST) -> t.Expr:
    if "float" in (left.type, right.type):
        return t.Binary("**", scope.widened(left, "float"), scope.widened(right, "float"), "float")
    if isinstance(right, t.Const) and right.value >= 0:
        return t.Binary("**", scope.widened(left, "int"), scope.widened(right, "int"), "int")
    raise scope.error(
        node,
        "int ** int is an int or a float, by the sign of the exponent; write float(...) ** ... for a float",
    )


def never_zero(value: t.Expr) -> bool:
    """Return whether an int is known to be nonzero, so that dividing by it needs no check."""
    if isinstance(value, t.Call) and value.function == "max":
        return any(isinstance(a, t.Const) and a.value > 0 for a in value.arguments)
    if isinstance(value, t.Global):
        return value.name == "num_vertices"  # code runs on a vertex, so at least one exists
    return isinstance(value, t.Const) and bool(value.value)
