"""Values made by operators of arithmetic and of bits."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gaslab.compiler.parse import lists
from gaslab.compiler.parse.arrays import ArrayValue
from gaslab.compiler.parse.conditions import Conditions
from gaslab.compiler.parse.convert import IDS
from gaslab.compiler.tree import (
    Binary,
    Call,
    Const,
    Expr,
    Global,
    Unary,
    element_of,
    is_list,
)

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip


class Operators(Conditions):
    """Adds operators to the values of one function."""

    def number(self, node: ast.expr, doing: str) -> Expr:
        """Return the value of *node*, which must be a number."""
        return self.as_number(self.value(node), node, doing)

    def as_number(self, value: Any, node: ast.expr, doing: str) -> Expr:
        """Return *value*, that of *node*; raises for what is no number."""
        self.no_array(value, node, doing.removesuffix(" of"))
        if value.type == "id":
            raise self.error(node, f"{doing} a vertex id; {IDS}")
        if is_list(value.type):
            raise lists.no_number(self, value, node)
        return value  # type: ignore[no-any-return]

    # ---- arithmetic

    def value_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if isinstance(node.op, ast.Not):
            return Unary("not", self.truth(node.operand), "bool")
        negative = isinstance(node.op, ast.USub)
        if negative and isinstance(node.operand, ast.Constant) and type(node.operand.value) is int:
            return self.const(-node.operand.value, node)  # -2**63 has no positive twin
        operand = self.value(node.operand)
        if negative and isinstance(operand, ArrayValue):
            return self.binary(ast.Mult(), operand, Const(-1, "int"), node)
        value = self.as_number(operand, node.operand, "a sign before")
        if value.type == "bool":
            value = self.widened(value, "int")
        if isinstance(node.op, ast.Invert):
            if value.type == "float":
                raise self.error(node, "`~` needs an int but this is float; write int(...)")
            return Unary("~", value, "int")
        if isinstance(value, Const) and negative:
            return self.const(-value.value, node)
        return Unary("-", value, element_of(value.type)) if negative else value

    def value_BinOp(self, node: ast.BinOp) -> Any:
        return self.binary(node.op, self.value(node.left), self.value(node.right), node)

    def binary(self, operator: ast.operator, left: Any, right: Any, node: ast.AST) -> Any:
        """Return ``left operator right``."""
        op = _OPERATORS.get(type(operator))
        if op is None:
            return self.product(left, right, node)
        if isinstance(left, ArrayValue) or isinstance(right, ArrayValue):
            return self.binary_of_arrays(operator, op, left, right, node)
        if "id" in (left.type, right.type):
            raise self.error(node, f"`{op}` on a vertex id; {IDS}")
        for value in (left, right):
            if is_list(value.type):
                raise lists.no_number(self, value, node)
        if op in ("&", "|", "^", "<<", ">>"):
            return self.bits(op, left, right, node)
        if op == "**":
            return self.power(left, right, node)
        wide = "float" if "float" in (left.type, right.type) or op == "/" else "int"
        # An int zero is a fault under `/` even if the other side is a float, as in Python.
        may_fault = op in ("/", "//", "%") and right.type != "float" and (wide == "int" or op == "/")
        if may_fault and isinstance(right, Const) and not right.value:
            raise self.error(node, f"`{op}` by the int 0; write 0.0 for inf or nan")
        may_fault = may_fault and not never_zero(right)
        left, right = self.widened(left, wide), self.widened(right, wide)
        return Binary(op, left, right, wide, self.site(node) if may_fault else -1, may_fault and op == "/")

    if TYPE_CHECKING:  # what `Linear` brings

        def product(self, left: Any, right: Any, node: ast.AST) -> Any:
            """``left @ right``."""

        def multiple_of_eye(self, n: int, number: Expr) -> ArrayValue:
            """Return the unit matrix times *number*."""

    def binary_of_arrays(self, operator: ast.operator, op: str, left: Any, right: Any, node: ast.AST) -> Any:
        """``left operator right`` of every element; a multiple of the unit matrix stays one."""
        for value in (left, right):
            if value.type == "id":
                raise self.error(node, f"`{op}` on a vertex id; {IDS}")
        eyes = [getattr(value, "eye", None) for value in (left, right)]
        if isinstance(right, ArrayValue) and not isinstance(left, ArrayValue) and eyes[1] and op == "*":
            left, right, eyes = right, left, eyes[::-1]
        if eyes[0] is not None and not isinstance(right, ArrayValue) and op in ("*", "/"):
            number = self.kept(self.binary(operator, eyes[0], right, node), node)
            return self.multiple_of_eye(left.type.shape[0], number)
        made = self.elementwise(
            lambda a, b: self.binary(operator, a, b, node), [left, right], node, f"`{op}` of"
        )
        if op == "+" and eyes[0] is not None and isinstance(right, ArrayValue):
            left, right, eyes = right, left, eyes[::-1]
        if op in "+-" and eyes[1] is not None and left.type == made.type:
            number = eyes[1] if op == "+" else Unary("-", eyes[1], "float")
            return replace(made, plus=(left, self.kept(number, node)))
        return made

    def bits(self, op: str, left: Expr, right: Expr, node: ast.AST) -> Expr:
        if "float" in (left.type, right.type):
            instead = {"&": "write `and` for truth", "|": "write `or` for truth"}.get(op, "write int(...)")
            raise self.error(node, f"`{op}` needs ints or bools but meets a float; {instead}")
        if left.type == right.type == "bool" and op in "&|^":
            return Binary(op, left, right, "bool")
        shift = op in ("<<", ">>")
        left, right = self.widened(left, "int"), self.widened(right, "int")
        return Binary(op, left, right, "int", self.site(node) if shift else -1)

    def power(self, left: Expr, right: Expr, node: ast.AST) -> Expr:
        if "float" in (left.type, right.type):
            return Binary("**", self.widened(left, "float"), self.widened(right, "float"), "float")
        if isinstance(right, Const) and right.value >= 0:
            return Binary("**", self.widened(left, "int"), self.widened(right, "int"), "int")
        raise self.error(
            node,
            "int ** int is an int or a float by the exponent's sign; write float(...) ** ... for a float",
        )


def never_zero(value: Expr) -> bool:
    """Return whether an int is seen to be other than zero, so that dividing by it needs no check."""
    if isinstance(value, Call) and value.function == "max":
        return any(isinstance(a, Const) and a.value > 0 for a in value.arguments)
    if isinstance(value, Global):
        return value.name == "num_vertices"  # code runs on a vertex, so there is one
    return isinstance(value, Const) and bool(value.value)
