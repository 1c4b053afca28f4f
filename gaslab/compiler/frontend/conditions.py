"""Values made by conditions: comparisons, ``and`` and ``or``, ``in``, ``a if c else b``."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend import keyed, list_words
from gaslab.compiler.frontend.arrays import filled, joined_type
from gaslab.compiler.frontend.convert import NUMBERS
from gaslab.compiler.frontend.dispatch import reads, value_of
from gaslab.compiler.frontend.draws import draws_in, put_before
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import no_array, no_number
from gaslab.compiler.frontend.values import ArrayValue, stored

_COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=",
}  # fmt: skip
Lets = list[tuple[int, t.Expr]]  # numbers and values, see `Let`
Skippable = tuple[Any, list[t.Stmt]]  # a value, and the statements that it needs
_READ = (
    t.Aggregate, t.Bound, t.Const, t.EdgeField, t.Forward, t.Global, t.Local, t.NoList, t.Param, t.PartOf,
    t.VertexAttribute, t.VertexField,
)  # fmt: skip


def truth(scope: Scope, node: ast.expr) -> t.Expr:
    """Return the tree of *node* where only its truth matters."""
    if isinstance(node, ast.BoolOp):
        return logical(scope, node, in_turn(scope, node.values, truth))
    if keyed.total_named(scope, node) is not None:
        return t.Cast(keyed.length(), "bool")
    return as_bool(scope, value_of(scope, node), node)


def as_bool(scope: Scope, value: t.Expr, node: ast.expr) -> t.Expr:
    """Return whether *value* is true."""
    no_array(scope, value, node, "truth")
    if value.type == "id":
        raise scope.error(node, "a vertex id is neither true nor false; compare it with another id")
    if t.is_list(value.type):
        return t.Cast(list_words.length(value), "bool")
    if isinstance(value, t.Const):
        return t.Const(bool(value.value), "bool")
    return value if value.type == "bool" else t.Cast(value, "bool")


def in_turn(scope: Scope, nodes: list[ast.expr], of: Callable[[Scope, ast.expr], Any]) -> list[Skippable]:
    """Return the values of operands; all but the first may be skipped."""
    return [(of(scope, nodes[0]), []), *(skippable(scope, node, of) for node in nodes[1:])]


def skippable(scope: Scope, node: ast.expr, of: Callable[[Scope, ast.expr], Any]) -> Skippable:
    """Return the value of an operand that may be skipped, and the statements before it."""
    around, scope.pending = scope.pending, []
    draws, scope.draws = scope.draws, 0
    value = of(scope, node)
    before, scope.pending = scope.pending, around
    scope.draws += draws
    return value, before


@reads(ast.BoolOp)
def bool_operation(scope: Scope, node: ast.BoolOp) -> t.Expr:
    """``a or b`` is one of its operands, as in Python: a bool only if all are."""
    operands = in_turn(scope, node.values, value_of)
    values = [value for value, _ in operands]
    if all(value.type == "bool" for value in values):
        return logical(scope, node, operands)
    if any(before for _, before in operands):
        return chosen_in_turn(scope, node, operands)
    result: t.Expr = values[-1]
    for value, operand in zip(reversed(values[:-1]), reversed(node.values[:-1]), strict=True):
        lets: Lets = []
        value = reusable(scope, value, lets)
        test = as_bool(scope, value, operand)
        value, result, kind = scope.join(value, result, node)
        then, otherwise = (result, value) if isinstance(node.op, ast.And) else (value, result)
        result = let(lets, t.Conditional(test, then, otherwise, kind))
    return result


def chosen_in_turn(scope: Scope, node: ast.BoolOp, operands: list[Skippable]) -> t.Expr:
    """Return an operand of ``and`` or ``or``; the statements before it are skipped with it."""
    kind = operands[0][0].type
    for (value, _), operand in zip(operands, node.values, strict=True):
        no_array(scope, value, operand, "`and` and `or`")
        kind = scope.join(t.Local("", kind), value, node)[2]
        if t.is_list(kind):
            raise scope.error(operand, "`and` and `or` cannot choose a list here; write if and else")
    chosen, site = scope.new_local("_chosen", kind, node), scope.site(node)
    test = as_bool(scope, chosen, node)
    statements: list[t.Stmt] = []
    for value, before in operands:
        taken = (*before, t.Assign(chosen, scope.widened(value, kind), site))
        goes_on = test if isinstance(node.op, ast.And) else t.Unary("not", test, "bool")
        statements += [t.If(goes_on, taken, (), site)] if statements else taken
    put_before(scope, statements, node)
    return chosen


def reusable(scope: Scope, value: Any, lets: Lets) -> Any:
    """Return an expression that may repeat *value*: *value* if it is only read, else a new name.

    The name and its value are added to *lets*.
    """
    inner = value.operand if isinstance(value, t.Cast) else value
    if isinstance(inner, (*_READ, ArrayValue)):
        return value
    scope.bound += 1
    lets.append((scope.bound, value))
    return t.Bound(scope.bound, value.type)


def logical(scope: Scope, node: ast.expr, operands: list[Skippable], word: str = "") -> t.Expr:
    """Return ``and`` or ``or`` of truths; the statements before an operand are skipped with it."""
    if isinstance(node, ast.BoolOp):
        word = "and" if isinstance(node.op, ast.And) else "or"
    if not any(before for _, before in operands):
        return t.Logical(word, tuple(value for value, _ in operands))
    so_far, site = scope.new_local("_so_far", "bool", node), scope.site(node)
    opened: t.Expr = so_far if word == "and" else t.Unary("not", so_far, "bool")
    (first, certain), *others = operands
    statements: list[t.Stmt] = [*certain, t.Assign(so_far, first, site)]
    for value, before in others:
        statements.append(t.If(opened, (*before, t.Assign(so_far, value, site)), (), site))
    put_before(scope, statements, node)
    return so_far


@reads(ast.IfExp)
def conditional(scope: Scope, node: ast.IfExp) -> Any:
    test = truth(scope, node.test)
    (then, before_then), (otherwise, before_otherwise) = (
        skippable(scope, branch, value_of) for branch in (node.body, node.orelse)
    )
    if isinstance(then, ArrayValue) and isinstance(otherwise, ArrayValue):
        kind: Any = joined_type(scope, then, otherwise, node)
    else:
        then, otherwise, kind = scope.join(then, otherwise, node)
    if isinstance(kind, str) and not before_then and not before_otherwise:
        return t.Conditional(test, then, otherwise, kind)
    target = scope.new_local("_chosen", kind, node)
    around, branches = scope.pending, []
    for value, scope.pending in ((then, before_then), (otherwise, before_otherwise)):
        if isinstance(value, ArrayValue):
            scope.pending += filled(scope, target, value, node)
        else:
            scope.pending.append(t.Assign(target, scope.widened(value, target.type), scope.site(node)))
        branches.append(tuple(scope.pending))
    scope.pending = around
    put_before(scope, [t.If(test, branches[0], branches[1], scope.site(node))], node)
    return stored(target) if isinstance(kind, t.Array) else target


@reads(ast.Compare)
def comparisons(scope: Scope, node: ast.Compare) -> t.Expr:
    """A chain ``a < b < c`` becomes ``a < b and b < c`` with one evaluation of b, after a."""
    left = value_of(scope, node.left)
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        if isinstance(op, ast.Is | ast.IsNot):
            raise scope.error(right_node, "`is` is not in the language; write == or !=")
        if isinstance(op, ast.In | ast.NotIn):
            if len(node.ops) > 1:
                raise scope.error(right_node, "`in` within a chain of comparisons; write the two with `and`")
            return membership(scope, op, left, right_node)
    rights = in_turn(scope, node.comparators, value_of)
    if any(before for _, before in rights):
        return chain_in_turn(scope, node, left, rights)
    parts: list[tuple[Lets, t.Expr]] = []
    for op, right_node, (right, _) in zip(node.ops, node.comparators, rights, strict=True):
        lets: Lets = []
        if right_node is not node.comparators[-1]:
            again = reusable(scope, right, lets)
            if lets:
                before: Lets = []
                left = reusable(scope, left, before)
                lets, right = before + lets, again
        parts.append((lets, comparison(scope, op, left, right, right_node)))
        left = right
    lets, result = parts.pop()
    for lets, test in reversed(parts):
        rest = result.operands if isinstance(result, t.Logical) else (result,)
        result = let(lets, t.Logical("and", (test, *rest)))
    return result


def chain_in_turn(scope: Scope, node: ast.Compare, left: t.Expr, rights: list[Skippable]) -> t.Expr:
    """Return a chain with a comparison that needs statements; a value read by two comparisons is a local."""
    tests: list[Skippable] = []
    for op, right_node, (right, before) in zip(node.ops, node.comparators, rights, strict=True):
        no_array(scope, right, right_node, "a comparison")
        if right_node is not node.comparators[-1]:
            middle = scope.new_local("_middle", right.type, right_node)
            kept: t.Stmt = t.Assign(middle, scope.widened(right, middle.type), scope.site(right_node))
            if scope.final and not tests and draws_in(scope, left) and draws_in(scope, kept):
                raise scope.error(right_node, "two of these operands draw; assign them to locals first")
            before.append(kept)
            right = middle
        tests.append((comparison(scope, op, left, right, right_node), before))
        left = right
    return logical(scope, node, tests, "and")


def comparison(scope: Scope, op: ast.cmpop, left: t.Expr, right: t.Expr, node: ast.expr) -> t.Expr:
    no_array(scope, left, node, "a comparison")
    no_array(scope, right, node, "a comparison")
    for value in (left, right):
        if t.is_list(value.type):
            raise no_number(scope, value, node)
    if (left.type == "id") != (right.type == "id"):
        other = right if left.type == "id" else left
        raise scope.error(
            node,
            f"a vertex id cannot be compared with {t.named(other.type)}; declare the other side gl.VertexId, "
            "as a parameter or a field",
        )
    if left.type in NUMBERS:
        left, right, _ = scope.join(left, right, node)
    return t.Compare(_COMPARISONS[type(op)], left, right)


def membership(scope: Scope, op: ast.cmpop, left: t.Expr, node: ast.expr) -> t.Expr:
    if (combiner := keyed.total_named(scope, node)) is not None:
        found = keyed.of_key(scope, combiner, "in", left, node)
        return found if isinstance(op, ast.In) else t.Unary("not", found, "bool")
    if not isinstance(node, ast.Tuple | ast.List | ast.Set):
        among = value_of(scope, node)
        if t.is_list(among.type):
            found = list_words.contains(scope, left, among, node)
            return found if isinstance(op, ast.In) else t.Unary("not", found, "bool")
    if not isinstance(node, ast.Tuple | ast.List | ast.Set) or not node.elts:
        raise scope.error(node, "`in` needs its choices written out; write x in (1, 2, 3)")
    if len(node.elts) == 1:
        one_of = comparison(scope, ast.Eq(), left, value_of(scope, node.elts[0]), node.elts[0])
    else:  # Python evaluates all members, then compares
        lets: Lets = []
        left, parts = reusable(scope, left, lets), []
        for member in node.elts:
            value = reusable(scope, value_of(scope, member), lets)
            parts.append(comparison(scope, ast.Eq(), left, value, member))
        one_of = let(lets, t.Logical("or", tuple(parts)))
    return one_of if isinstance(op, ast.In) else t.Unary("not", one_of, "bool")


def let(lets: Lets, body: Any) -> t.Expr:
    """Return *body* under the values that it names."""
    for number, value in reversed(lets):
        body = t.Let(number, value, body, body.type)
    return body  # type: ignore[no-any-return]
