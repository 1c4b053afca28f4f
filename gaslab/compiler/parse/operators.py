"""Values made by operators: arithmetic, comparisons, conditions."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gaslab.compiler.parse import lists
from gaslab.compiler.parse.arrays import Arrays, ArrayValue, stored
from gaslab.compiler.parse.convert import IDS, NUMBERS, named
from gaslab.compiler.tree import (
    Array,
    Assign,
    Binary,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    Expr,
    Global,
    If,
    Logical,
    Unary,
    element_of,
    is_list,
)

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


class Operators(Arrays):
    """Adds operators to the values of one function."""

    def truth(self, node: ast.expr) -> Expr:
        """Return the tree of *node* where only its truth counts."""
        if isinstance(node, ast.BoolOp):
            return self.logical(node, self.at_once(node.values, self.truth))
        return self.as_bool(self.value(node), node)

    def as_bool(self, value: Expr, node: ast.expr) -> Expr:
        """Return whether *value* is true."""
        self.no_array(value, node, "truth")
        if value.type == "id":
            raise self.error(node, "a vertex id is neither true nor false; compare it with another id")
        if is_list(value.type):
            return Cast(lists.length(value), "bool")
        if isinstance(value, Const):
            return Const(bool(value.value), "bool")
        return value if value.type == "bool" else Cast(value, "bool")

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

    # ---- conditions

    def at_once(self, nodes: list[ast.expr], of: Callable[[ast.expr], Any]) -> list[Any]:
        """Return the values of operands of which only the first is sure to be computed."""
        values = [of(nodes[0])]
        for node in nodes[1:]:
            before = len(self.pending)
            values.append(of(node))
            if len(self.pending) > before:
                raise self.error(node, "this takes a loop of its own; assign it to a local before")
        return values

    def value_BoolOp(self, node: ast.BoolOp) -> Expr:
        """``a or b`` is one of its operands, as in Python: a bool only if all are."""
        values = self.at_once(node.values, self.value)
        if all(value.type == "bool" for value in values):
            return self.logical(node, values)
        result: Expr = values[-1]
        for value, operand in zip(reversed(values[:-1]), reversed(node.values[:-1]), strict=True):
            test = self.as_bool(self.once(value, operand), operand)
            value, result, kind = self.join(value, result, node)
            then, otherwise = (result, value) if isinstance(node.op, ast.And) else (value, result)
            result = Conditional(test, then, otherwise, kind)
        return result

    def logical(self, node: ast.BoolOp, operands: list[Expr]) -> Expr:
        return Logical("and" if isinstance(node.op, ast.And) else "or", tuple(operands))

    def value_IfExp(self, node: ast.IfExp) -> Any:
        test = self.truth(node.test)
        around = self.pending
        values, before = [], []
        for branch in (node.body, node.orelse):
            self.pending = []
            values.append(self.value(branch))
            before.append(self.pending)
        self.pending = around
        then, otherwise = values
        if isinstance(then, ArrayValue) and isinstance(otherwise, ArrayValue):
            kind: Any = self.joined(then, otherwise, node)
        else:
            then, otherwise, kind = self.join(then, otherwise, node)
        if isinstance(kind, str) and not any(before):
            return Conditional(test, then, otherwise, kind)
        target = self.new_local("_chosen", kind, node)
        branches = []
        for value, self.pending in zip((then, otherwise), before, strict=True):
            if isinstance(value, ArrayValue):
                self.pending += self.fill(target, value, node)
            else:
                self.pending.append(Assign(target, self.widened(value, target.type), self.site(node)))
            branches.append(tuple(self.pending))
        self.pending = around
        self.pending.append(If(test, branches[0], branches[1], self.site(node)))
        return stored(target) if isinstance(kind, Array) else target

    def value_Compare(self, node: ast.Compare) -> Expr:
        """A chain ``a < b < c`` becomes ``a < b and b < c``: expressions have no side effects."""
        parts = []
        left = self.value(node.left)
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.Is | ast.IsNot):
                raise self.error(right_node, "`is` is not in the language; write == or !=")
            if isinstance(op, ast.In | ast.NotIn):
                if len(node.ops) > 1:
                    raise self.error(
                        right_node, "`in` within a chain of comparisons; write the two with `and`"
                    )
                return self.membership(op, left, right_node)
            right = self.value(right_node)
            if right_node is not node.comparators[-1]:
                self.once(right, right_node)
            parts.append(self.comparison(op, left, right, right_node))
            left = right
        return parts[0] if len(parts) == 1 else Logical("and", tuple(parts))

    def comparison(self, op: ast.cmpop, left: Expr, right: Expr, node: ast.expr) -> Expr:
        self.no_array(left, node, "a comparison")
        self.no_array(right, node, "a comparison")
        for value in (left, right):
            if is_list(value.type):
                raise lists.no_number(self, value, node)
        if (left.type == "id") != (right.type == "id"):
            other = right if left.type == "id" else left
            raise self.error(
                node,
                f"a vertex id is compared with {named(other.type)}; declare the other side gl.VertexId, "
                "as a parameter or a field",
            )
        if left.type in NUMBERS:
            left, right, _ = self.join(left, right, node)
        return Compare(_COMPARISONS[type(op)], left, right)

    def membership(self, op: ast.cmpop, left: Expr, node: ast.expr) -> Expr:
        if not isinstance(node, ast.Tuple | ast.List | ast.Set):
            among = self.value(node)
            if is_list(among.type):
                found = lists.contains(self, left, among, node)
                return found if isinstance(op, ast.In) else Unary("not", found, "bool")
        if not isinstance(node, ast.Tuple | ast.List | ast.Set) or not node.elts:
            raise self.error(node, "`in` needs its choices written out; write x in (1, 2, 3)")
        if len(node.elts) > 1:
            self.once(left, node)
        parts = tuple(self.comparison(ast.Eq(), left, self.value(choice), choice) for choice in node.elts)
        one_of = parts[0] if len(parts) == 1 else Logical("or", parts)
        return one_of if isinstance(op, ast.In) else Unary("not", one_of, "bool")


def never_zero(value: Expr) -> bool:
    """Return whether an int is seen to be other than zero, so that dividing by it needs no check."""
    if isinstance(value, Call) and value.function == "max":
        return any(isinstance(a, Const) and a.value > 0 for a in value.arguments)
    if isinstance(value, Global):
        return value.name == "num_vertices"  # code runs on a vertex, so there is one
    return isinstance(value, Const) and bool(value.value)
