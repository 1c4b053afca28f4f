"""Values made by operators: arithmetic, comparisons, conditions."""

from __future__ import annotations

import ast

from gaslab.compiler.parse.convert import IDS, NUMBERS, named
from gaslab.compiler.parse.draws import Draws
from gaslab.compiler.tree import Binary, Call, Cast, Compare, Conditional, Const, Expr, Global, Logical, Unary

_OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip


class Operators(Draws):
    """Adds operators to the values of one function."""

    def truth(self, node: ast.expr) -> Expr:
        """Return the tree of *node* where only its truth counts."""
        if isinstance(node, ast.BoolOp):
            return self.logical(node, [self.truth(operand) for operand in node.values])
        return self.as_bool(self.value(node), node)

    def as_bool(self, value: Expr, node: ast.expr) -> Expr:
        """Return whether *value* is true."""
        if value.type == "id":
            raise self.error(node, "a vertex id is neither true nor false; compare it with another id")
        if isinstance(value, Const):
            return Const(bool(value.value), "bool")
        return value if value.type == "bool" else Cast(value, "bool")

    def number(self, node: ast.expr, doing: str) -> Expr:
        """Return the value of *node*, which must not be a vertex id."""
        value = self.value(node)
        if value.type == "id":
            raise self.error(node, f"{doing} a vertex id; {IDS}")
        return value

    # ---- arithmetic

    def value_UnaryOp(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.Not):
            return Unary("not", self.truth(node.operand), "bool")
        negative = isinstance(node.op, ast.USub)
        if negative and isinstance(node.operand, ast.Constant) and type(node.operand.value) is int:
            return self.const(-node.operand.value, node)  # -2**63 has no positive twin
        value = self.number(node.operand, "a sign before")
        if value.type == "bool":
            value = self.widened(value, "int")
        if isinstance(node.op, ast.Invert):
            if value.type == "float":
                raise self.error(node, "`~` needs an int but this is float; write int(...)")
            return Unary("~", value, "int")
        if isinstance(value, Const) and negative:
            return self.const(-value.value, node)
        return Unary("-", value, value.type) if negative else value

    def value_BinOp(self, node: ast.BinOp) -> Expr:
        return self.binary(node.op, self.value(node.left), self.value(node.right), node)

    def binary(self, operator: ast.operator, left: Expr, right: Expr, node: ast.AST) -> Expr:
        """Return ``left operator right``."""
        op = _OPERATORS.get(type(operator))
        if op is None:
            raise self.error(node, "`@` is not in the language; use scalar fields and locals")
        if "id" in (left.type, right.type):
            raise self.error(node, f"`{op}` on a vertex id; {IDS}")
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

    def value_BoolOp(self, node: ast.BoolOp) -> Expr:
        """``a or b`` is one of its operands, as in Python: a bool only if all are."""
        values = [self.value(operand) for operand in node.values]
        if all(value.type == "bool" for value in values):
            return self.logical(node, values)
        result = values[-1]
        for value, operand in zip(reversed(values[:-1]), reversed(node.values[:-1]), strict=True):
            test = self.as_bool(self.once(value, operand), operand)
            value, result, kind = self.join(value, result, node)
            then, otherwise = (result, value) if isinstance(node.op, ast.And) else (value, result)
            result = Conditional(test, then, otherwise, kind)
        return result

    def logical(self, node: ast.BoolOp, operands: list[Expr]) -> Expr:
        return Logical("and" if isinstance(node.op, ast.And) else "or", tuple(operands))

    def value_IfExp(self, node: ast.IfExp) -> Expr:
        test = self.truth(node.test)
        then, otherwise, kind = self.join(self.value(node.body), self.value(node.orelse), node)
        return Conditional(test, then, otherwise, kind)

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
        if not isinstance(node, ast.Tuple | ast.List | ast.Set) or not node.elts:
            raise self.error(node, "`in` needs its choices written out; write x in (1, 2, 3)")
        if len(node.elts) > 1:
            self.once(left, node)
        parts = tuple(self.comparison(ast.Eq(), left, self.value(choice), choice) for choice in node.elts)
        found = parts[0] if len(parts) == 1 else Logical("or", parts)
        return found if isinstance(op, ast.In) else Unary("not", found, "bool")


def never_zero(value: Expr) -> bool:
    """Return whether an int is seen to be other than zero, so that dividing by it needs no check."""
    if isinstance(value, Call) and value.function == "max":
        return any(isinstance(a, Const) and a.value > 0 for a in value.arguments)
    if isinstance(value, Global):
        return value.name == "num_vertices"  # code runs on a vertex, so there is one
    return isinstance(value, Const) and bool(value.value)
