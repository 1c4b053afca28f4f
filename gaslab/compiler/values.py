"""Expressions: Python's syntax tree to the typed tree."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler.convert import NUMBERS, named
from gaslab.compiler.declare import PHASES, constant, type_of
from gaslab.compiler.frame import MISSING, Frame
from gaslab.compiler.tree import (
    Aggregate,
    Binary,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    EdgeField,
    Expr,
    Global,
    Logical,
    Param,
    Unary,
    VertexAttribute,
    VertexField,
)
from gaslab.errors import nearest

ATTRIBUTES = {"id": "id", "degree": "int", "in_degree": "int", "out_degree": "int"}
GLOBALS = ("num_vertices", "num_edges", "superstep")
OPERATORS: dict[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**", ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
REFUSED: dict[type[ast.expr], str] = {
    ast.List: "a list is not in the language; use scalar fields and locals",
    ast.Tuple: "a tuple is not a value; assign its parts: a, b = x, y",
    ast.Set: "a set is not in the language; use scalar fields and locals",
    ast.Dict: "a dict is not in the language; use scalar fields and locals",
    ast.ListComp: "a comprehension is not in the language; write a for loop over range(...)",
    ast.SetComp: "a comprehension is not in the language; write a for loop over range(...)",
    ast.DictComp: "a comprehension is not in the language; write a for loop over range(...)",
    ast.GeneratorExp: "a generator is not in the language; write a for loop over range(...)",
    ast.JoinedStr: "text is not in the language; use numbers",
    ast.Lambda: "a lambda is not in the language; write a def at the top of the module",
    ast.Subscript: "indexing is not in the language; use scalar fields and locals",
    ast.NamedExpr: "`:=` is not in the language; assign on a line of its own",
    ast.Starred: "`*` cannot stand here; write the values one by one",
    ast.Await: "await is not in the language; write plain code",
    ast.Yield: "yield is not in the language; use return",
    ast.YieldFrom: "yield is not in the language; use return",
}
INT_MAX = (1 << 63) - 1


class Values(Frame):
    """Builds the values of one function; `Calls` adds calls."""

    def value(self, node: ast.expr) -> Expr:
        """Return the tree of expression *node*."""
        method = getattr(self, f"value_{type(node).__name__}", None)
        if method is None:
            raise self.error(node, REFUSED.get(type(node), "this expression is not in the language"))
        result: Expr = method(node)
        return result

    def truth(self, node: ast.expr) -> Expr:
        """Return the tree of *node* where only its truth counts."""
        if isinstance(node, ast.BoolOp):
            return self.logical(node, [self.truth(operand) for operand in node.values])
        return self.as_bool(self.value(node), node)

    def as_bool(self, value: Expr, node: ast.expr) -> Expr:
        if value.type == "id":
            raise self.error(node, "a vertex id is neither true nor false; compare it with another id")
        if isinstance(value, Const):
            return Const(bool(value.value), "bool")
        return value if value.type == "bool" else Cast(value, "bool")

    def number(self, node: ast.expr, doing: str) -> Expr:
        """Return the value of *node*, which must not be a vertex id."""
        value = self.value(node)
        if value.type == "id":
            raise self.error(node, f"{doing} a vertex id; {_IDS}")
        return value

    # ---- leaves

    def value_Constant(self, node: ast.Constant) -> Expr:
        if isinstance(node.value, str | bytes):
            raise self.error(node, "text is not in the language; use numbers")
        number = constant(node.value)
        if number is None:
            raise self.error(node, f"{node.value!r} is not in the language; values are float, int and bool")
        return self.const(number, node)

    def const(self, number: float | int | bool, node: ast.AST) -> Const:
        if type(number) is int and not -INT_MAX - 1 <= number <= INT_MAX:
            raise self.error(node, f"{number} does not fit 64 bits; write it as a float: {float(number)!r}")
        return Const(number, type_of(number))

    def value_Name(self, node: ast.Name) -> Expr:
        name = node.id
        if name in self.entities:
            what = {"self": "the program", "e": "an edge"}.get(self.entities[name], "a vertex")
            raise self.error(node, f"{name!r} is {what}, not a value; read one of its fields: {name}.<field>")
        if name in self.names:
            if self.assigned is not None and name not in self.assigned:
                raise self.error(
                    node, f"{name!r} may have no value here; assign it on every path that leads to this line"
                )
            return self.local(name)
        return self.static(node, name)

    def static(self, node: ast.expr, name: str) -> Expr:
        """Return the number behind a name of the module, of an enclosing function or of a class."""
        value = self.lookup(node)
        if value is MISSING:
            raise self.error(node, f"unknown name {name!r}" + near(name, self.known_names()))
        number = constant(value)
        if number is None:
            kind = type(value).__name__
            raise self.error(
                node, f"{name!r} is of type {kind}; only float, int and bool from outside can be used here"
            )
        return self.const(number, node)

    def value_Attribute(self, node: ast.Attribute) -> Expr:
        role = self.entities.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if role == "self":
            return self.of_program(node)
        if role == "e":
            return self.of_edge(node)
        if role is not None:
            return self.of_vertex(node, role)
        if self.lookup(node.value) is MISSING and not isinstance(node.value, ast.Attribute):
            self.value(node.value)  # an unknown name is reported as such
            raise self.error(node, f"a number has no {node.attr!r}; only v, nbr, e and self have attributes")
        return self.static(node, ast.unparse(node))

    def of_program(self, node: ast.Attribute) -> Expr:
        declared, name = self.unit.declared, node.attr
        for k, param in enumerate(declared.params):
            if param.name == name:
                return self.access(Param(k, name, param.type))
        for k, (aggregator, combiner) in enumerate(declared.aggregators.items()):
            if aggregator == name:
                self.check_aggregate(node)
                return self.access(Aggregate(k, name, combiner.type))
        if name in GLOBALS:
            return self.access(Global(name))
        if name in declared.functions:
            raise self.error(node, f"self.{name} is a method, not a value" + self.call_advice(name))
        number = constant(getattr(declared.cls, name, None))
        if number is not None:
            return self.const(number, node)
        known = [p.name for p in declared.params] + list(declared.aggregators) + list(GLOBALS)
        raise self.error(
            node, f"{declared.cls.__name__} has no parameter or aggregator {name!r}" + near(name, known)
        )

    def call_advice(self, name: str) -> str:
        if name in PHASES:
            return "; the engine calls it, a program does not"
        return f"; call it: self.{name}(...)"

    def check_aggregate(self, node: ast.Attribute) -> None:
        """Raise where aggregates have no value yet."""
        if self.name == "init":
            raise self.error(
                node, f"self.{node.attr} has no value in init; it is computed after init, read it later"
            )
        if self.name in self.unit.declared.aggregators:
            raise self.error(
                node,
                f"an aggregator cannot read aggregator {node.attr!r}; compute what it needs from v's fields",
            )

    def of_vertex(self, node: ast.Attribute, role: str) -> Expr:
        name = node.attr
        for k, variable in enumerate(self.unit.declared.vertex_fields):
            if variable.name == name:
                return self.access(VertexField(role, k, variable.type))
        if name in ATTRIBUTES:
            return self.access(VertexAttribute(role, name, ATTRIBUTES[name]))
        raise self.no_field(
            node, "Vertex", [*(f.name for f in self.unit.declared.vertex_fields), *ATTRIBUTES]
        )

    def of_edge(self, node: ast.Attribute) -> Expr:
        for k, variable in enumerate(self.unit.declared.edge_fields):
            if variable.name == node.attr:
                return self.access(EdgeField(k, variable.type))
        raise self.no_field(node, "Edge", [f.name for f in self.unit.declared.edge_fields])

    def no_field(self, node: ast.Attribute, kind: str, known: list[str]) -> Exception:
        if node.attr == "signal":
            return self.error(node, "signal is called, and only on the neighbour in scatter: nbr.signal()")
        return self.error(node, f"{kind} has no field {node.attr!r}" + nearest(node.attr, known))

    # ---- operators

    def value_UnaryOp(self, node: ast.UnaryOp) -> Expr:
        if isinstance(node.op, ast.Not):
            return Unary("not", self.truth(node.operand), "bool")
        negative = isinstance(node.op, ast.USub)
        if negative and isinstance(node.operand, ast.Constant) and type(node.operand.value) is int:
            return self.const(-node.operand.value, node)  # -2**63 has no positive twin
        value = self.number(node.operand, "a sign before")
        if isinstance(node.op, ast.Invert):
            if value.type == "float":
                raise self.error(node, "`~` needs an int but this is float; write int(...)")
            return Unary("~", self.widened(value, "int"), "int")
        if value.type == "bool":
            value = self.widened(value, "int")
        if isinstance(value, Const) and negative:
            return self.const(-value.value, node)
        return Unary("-", value, value.type) if negative else value

    def value_BinOp(self, node: ast.BinOp) -> Expr:
        return self.binary(node.op, self.value(node.left), self.value(node.right), node)

    def binary(self, operator: ast.operator, left: Expr, right: Expr, node: ast.AST) -> Expr:
        """Return ``left operator right``."""
        op = OPERATORS.get(type(operator))
        if op is None:
            raise self.error(node, "`@` is not in the language; fields are scalars")
        if "id" in (left.type, right.type):
            raise self.error(node, f"`{op}` on a vertex id; {_IDS}")
        if op in ("&", "|", "^", "<<", ">>"):
            return self.bits(op, left, right, node)
        if op == "**":
            return self.power(left, right, node)
        if op == "/":
            zero = right.type != "float" and not never_zero(right)
            left, right = self.widened(left, "float"), self.widened(right, "float")
            return Binary(op, left, right, "float", self.site(node) if zero else -1, zero)
        wide = "float" if "float" in (left.type, right.type) else "int"
        faults = op in ("//", "%") and wide == "int" and not never_zero(right)
        left, right = self.widened(left, wide), self.widened(right, wide)
        return Binary(op, left, right, wide, self.site(node) if faults else -1)

    def bits(self, op: str, left: Expr, right: Expr, node: ast.AST) -> Expr:
        if "float" in (left.type, right.type):
            word = {"&": "; for truth write `and`", "|": "; for truth write `or`"}.get(op, "; write int(...)")
            raise self.error(node, f"`{op}` needs ints or bools but meets a float{word}")
        if left.type == right.type == "bool" and op in "&|^":
            return Binary(op, left, right, "bool")
        shift = op in ("<<", ">>")
        left, right = self.widened(left, "int"), self.widened(right, "int")
        return Binary(op, left, right, "int", self.site(node) if shift else -1)

    def power(self, left: Expr, right: Expr, node: ast.AST) -> Expr:
        if left.type != "float" and right.type != "float":
            if not isinstance(right, Const):
                raise self.error(
                    node,
                    "int ** int is an int or a float by the sign of the exponent; write float(...) ** ...",
                )
            if right.value >= 0:
                return Binary("**", self.widened(left, "int"), self.widened(right, "int"), "int")
        return Binary("**", self.widened(left, "float"), self.widened(right, "float"), "float")

    def value_BoolOp(self, node: ast.BoolOp) -> Expr:
        """``a or b`` is one of its operands, as in Python: a bool only if all are."""
        values = [self.value(operand) for operand in node.values]
        if all(v.type == "bool" for v in values):
            return self.logical(node, values)
        result = values[-1]
        for value, operand in zip(reversed(values[:-1]), reversed(node.values[:-1]), strict=True):
            test = self.as_bool(value, operand)
            value, result, type = self.join(value, result, node)
            then, otherwise = (result, value) if isinstance(node.op, ast.And) else (value, result)
            result = Conditional(test, then, otherwise, type)
        return result

    def logical(self, node: ast.BoolOp, operands: list[Expr]) -> Expr:
        return Logical("and" if isinstance(node.op, ast.And) else "or", tuple(operands))

    def value_Compare(self, node: ast.Compare) -> Expr:
        """A chain ``a < b < c`` becomes ``a < b and b < c``: expressions have no side effects."""
        parts = []
        left, at = self.leaf(node.left, node.ops[0]), node.left
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            if isinstance(op, ast.In | ast.NotIn):
                parts.append(self.membership(op, left, at, right_node))
            else:
                right = self.leaf(right_node, op)
                parts.append(self.comparison(op, left, right, right_node))
                left = right
            at = right_node
        return parts[0] if len(parts) == 1 else Logical("and", tuple(parts))

    def leaf(self, node: ast.expr, op: ast.cmpop) -> Expr:
        if isinstance(op, ast.Is | ast.IsNot):
            raise self.error(node, "`is` is not in the language; write == or !=")
        return self.value(node)

    def comparison(self, op: ast.cmpop, left: Expr, right: Expr, node: ast.expr) -> Expr:
        if (left.type == "id") != (right.type == "id"):
            other = right if left.type == "id" else left
            raise self.error(
                node,
                f"a vertex id is compared with {named(other.type)}; compare it with an id, "
                "such as a parameter declared source: gl.VertexId",
            )
        if left.type in NUMBERS:
            left, right, _ = self.join(left, right, node)
        return Compare(COMPARISONS[type(op)], left, right)

    def membership(self, op: ast.cmpop, left: Expr, at: ast.AST, node: ast.expr) -> Expr:
        if not isinstance(node, ast.Tuple | ast.List | ast.Set) or not node.elts:
            raise self.error(node, "`in` needs its choices written out: x in (1, 2, 3)")
        parts = tuple(self.comparison(ast.Eq(), left, self.value(e), e) for e in node.elts)
        found = parts[0] if len(parts) == 1 else Logical("or", parts)
        return found if isinstance(op, ast.In) else Unary("not", found, "bool")

    def value_IfExp(self, node: ast.IfExp) -> Expr:
        test = self.truth(node.test)
        then, otherwise, type = self.join(self.value(node.body), self.value(node.orelse), node)
        return Conditional(test, then, otherwise, type)


def never_zero(value: Expr) -> bool:
    """Return whether an int is seen to be other than zero, so that dividing by it needs no check."""
    if isinstance(value, Call) and value.function == "max":
        return any(isinstance(a, Const) and a.value > 0 for a in value.arguments)
    if isinstance(value, Global):
        return value.name == "num_vertices"  # code runs on a vertex, so there is one
    return isinstance(value, Const) and bool(value.value)


_IDS = "ids are only compared, copied and combined"


def near(name: str, known: Any) -> str:
    """Return the nearest known names, without listing all when none is near."""
    return nearest(name, known) if "mean" in nearest(name, known) else ""
