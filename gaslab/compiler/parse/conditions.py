"""Values made by conditions: comparisons, ``and`` and ``or``, ``in``, ``a if c else b``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gaslab.compiler.parse import lists
from gaslab.compiler.parse.arrays import Arrays, ArrayValue, stored
from gaslab.compiler.parse.convert import NUMBERS, named
from gaslab.compiler.tree import (
    Aggregate,
    Array,
    Assign,
    Bound,
    Cast,
    Compare,
    Conditional,
    Const,
    EdgeField,
    Expr,
    Forward,
    Global,
    If,
    Let,
    Local,
    Logical,
    NoList,
    Param,
    PartOf,
    Stmt,
    Unary,
    VertexAttribute,
    VertexField,
    is_list,
)

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
Lets = list[tuple[int, Expr]]  # numbers and values, see `Let`
Skippable = tuple[Any, list[Stmt]]  # a value, and the statements that it takes
_READ = (Aggregate, Bound, Const, EdgeField, Forward, Global, Local, NoList, Param, PartOf, VertexAttribute,
         VertexField)  # fmt: skip


class Conditions(Arrays):
    """Adds conditions to the values of one function."""

    def truth(self, node: ast.expr) -> Expr:
        """Return the tree of *node* where only its truth counts."""
        if isinstance(node, ast.BoolOp):
            return self.logical(node, self.in_turn(node.values, self.truth))
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

    def in_turn(self, nodes: list[ast.expr], of: Callable[[ast.expr], Any]) -> list[Skippable]:
        """Return the values of operands of which only the first is sure to be computed."""
        return [(of(nodes[0]), []), *(self.skippable(node, of) for node in nodes[1:])]

    def skippable(self, node: ast.expr, of: Callable[[ast.expr], Any]) -> Skippable:
        """Return the value of an operand that may not be computed, and what stands before it if it is."""
        around, self.pending = self.pending, []
        drawn, self.drawn = self.drawn, 0
        value = of(node)
        before, self.pending = self.pending, around
        self.drawn += drawn
        return value, before

    def value_BoolOp(self, node: ast.BoolOp) -> Expr:
        """``a or b`` is one of its operands, as in Python: a bool only if all are."""
        operands = self.in_turn(node.values, self.value)
        values = [value for value, _ in operands]
        if all(value.type == "bool" for value in values):
            return self.logical(node, operands)
        for (_, before), operand in zip(operands, node.values, strict=True):
            if before:
                raise self.error(operand, "this takes a loop of its own; assign it to a local before")
        result: Expr = values[-1]
        for value, operand in zip(reversed(values[:-1]), reversed(node.values[:-1]), strict=True):
            lets: Lets = []
            value = self.reusable(value, lets)
            test = self.as_bool(value, operand)
            value, result, kind = self.join(value, result, node)
            then, otherwise = (result, value) if isinstance(node.op, ast.And) else (value, result)
            result = let(lets, Conditional(test, then, otherwise, kind))
        return result

    def reusable(self, value: Any, lets: Lets) -> Any:
        """Return what may stand for *value* more than once: itself if it is only read, else a new name.

        The name and its value are added to *lets*.
        """
        inner = value.operand if isinstance(value, Cast) else value
        if isinstance(inner, (*_READ, ArrayValue)):
            return value
        self.bound += 1
        lets.append((self.bound, value))
        return Bound(self.bound, value.type)

    def logical(self, node: ast.expr, operands: list[Skippable], word: str = "") -> Expr:
        """Return ``and`` or ``or`` of truths; what stands before one is skipped with it."""
        if isinstance(node, ast.BoolOp):
            word = "and" if isinstance(node.op, ast.And) else "or"
        if not any(before for _, before in operands):
            return Logical(word, tuple(value for value, _ in operands))
        so_far, site = self.new_local("_so_far", "bool", node), self.site(node)
        opened: Expr = so_far if word == "and" else Unary("not", so_far, "bool")
        (first, certain), *others = operands
        statements: list[Stmt] = [*certain, Assign(so_far, first, site)]
        for value, before in others:
            statements.append(If(opened, (*before, Assign(so_far, value, site)), (), site))
        self.put_before(statements, node)
        return so_far

    def value_IfExp(self, node: ast.IfExp) -> Any:
        test = self.truth(node.test)
        (then, before_then), (otherwise, before_otherwise) = (
            self.skippable(branch, self.value) for branch in (node.body, node.orelse)
        )
        if isinstance(then, ArrayValue) and isinstance(otherwise, ArrayValue):
            kind: Any = self.joined(then, otherwise, node)
        else:
            then, otherwise, kind = self.join(then, otherwise, node)
        if isinstance(kind, str) and not before_then and not before_otherwise:
            return Conditional(test, then, otherwise, kind)
        target = self.new_local("_chosen", kind, node)
        around, branches = self.pending, []
        for value, self.pending in ((then, before_then), (otherwise, before_otherwise)):
            if isinstance(value, ArrayValue):
                self.pending += self.fill(target, value, node)
            else:
                self.pending.append(Assign(target, self.widened(value, target.type), self.site(node)))
            branches.append(tuple(self.pending))
        self.pending = around
        self.put_before([If(test, branches[0], branches[1], self.site(node))], node)
        return stored(target) if isinstance(kind, Array) else target

    def value_Compare(self, node: ast.Compare) -> Expr:
        """A chain ``a < b < c`` becomes ``a < b and b < c`` with one evaluation of b, after that of a."""
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
        rights = self.in_turn(node.comparators, self.value)
        if any(before for _, before in rights):
            return self.chain_in_turn(node, left, rights)
        parts: list[tuple[Lets, Expr]] = []
        for op, right_node, (right, _) in zip(node.ops, node.comparators, rights, strict=True):
            lets: Lets = []
            if right_node is not node.comparators[-1]:
                again = self.reusable(right, lets)
                if lets:
                    before: Lets = []
                    left = self.reusable(left, before)
                    lets, right = before + lets, again
            parts.append((lets, self.comparison(op, left, right, right_node)))
            left = right
        lets, result = parts.pop()
        for lets, test in reversed(parts):
            rest = result.operands if isinstance(result, Logical) else (result,)
            result = let(lets, Logical("and", (test, *rest)))
        return result

    def chain_in_turn(self, node: ast.Compare, left: Expr, rights: list[Skippable]) -> Expr:
        """Return a chain of which some comparison takes statements: what two comparisons read is a local."""
        tests: list[Skippable] = []
        for op, right_node, (right, before) in zip(node.ops, node.comparators, rights, strict=True):
            self.no_array(right, right_node, "a comparison")
            if right_node is not node.comparators[-1]:
                middle = self.new_local("_middle", right.type, right_node)
                kept: Stmt = Assign(middle, self.widened(right, middle.type), self.site(right_node))
                if self.final and not tests and self.draws(left) and self.draws(kept):
                    raise self.error(right_node, "two of these operands draw; assign them to locals first")
                before.append(kept)
                right = middle
            tests.append((self.comparison(op, left, right, right_node), before))
            left = right
        return self.logical(node, tests, "and")

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
        if len(node.elts) == 1:
            one_of = self.comparison(ast.Eq(), left, self.value(node.elts[0]), node.elts[0])
        else:  # Python evaluates all choices, then compares
            lets: Lets = []
            left, parts = self.reusable(left, lets), []
            for choice in node.elts:
                value = self.reusable(self.value(choice), lets)
                parts.append(self.comparison(ast.Eq(), left, value, choice))
            one_of = let(lets, Logical("or", tuple(parts)))
        return one_of if isinstance(op, ast.In) else Unary("not", one_of, "bool")


def let(lets: Lets, body: Any) -> Expr:
    """Return *body* under the values that it names."""
    for number, value in reversed(lets):
        body = Let(number, value, body, body.type)
    return body  # type: ignore[no-any-return]
