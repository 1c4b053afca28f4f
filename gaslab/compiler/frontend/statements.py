"""Every kind of statement except assignments, and the locals assigned after each."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gaslab import program
from gaslab.compiler import tree as t
from gaslab.compiler.frontend import keyed, list_words
from gaslab.compiler.frontend.assign import (
    annotated_assign,
    assign,
    augmented_assign,
    store_local,
    unpack_members,
)
from gaslab.compiler.frontend.caching import WORDS, post
from gaslab.compiler.frontend.conditions import truth
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.growing import append
from gaslab.compiler.frontend.nothing import as_number, is_nothing, may_be_nothing
from gaslab.compiler.frontend.records import contributed_parts
from gaslab.compiler.frontend.scope import Paths, Scope
from gaslab.compiler.frontend.signals import signal
from gaslab.compiler.frontend.tuples import members_at, members_of
from gaslab.compiler.frontend.value_checks import check_count, no_keywords

_NO_IMPORT = "import inside a method is not in the language; import at the top of the module"
_NO_EXCEPTION = "is not in the language; give a field a value that says so"
_NO_STATE = "is not in the language; use a field, an aggregator or a parameter"
_REFUSED: dict[str, str] = {
    "FunctionDef": "a def inside a method is not in the language; move it to the top of the module",
    "AsyncFunctionDef": "a def inside a method is not in the language; move it to the top of the module",
    "ClassDef": "a class inside a method is not in the language; move it to the top of the module",
    "Import": _NO_IMPORT,
    "ImportFrom": _NO_IMPORT,
    "Try": "try is not in the language; test the values beforehand",
    "TryStar": "try is not in the language; test the values beforehand",
    "Raise": f"raise {_NO_EXCEPTION}",
    "Assert": f"assert {_NO_EXCEPTION}",
    "With": "with is not in the language; write plain code",
    "AsyncWith": "with is not in the language; write plain code",
    "AsyncFor": "async is not in the language; write for i in range(...)",
    "Delete": "del is not in the language; locals end with the call",
    "Global": f"global {_NO_STATE}",
    "Nonlocal": f"nonlocal {_NO_STATE}",
    "Match": "match is not in the language; write if and elif",
    "TypeAlias": "a type alias inside a method is not in the language",
}


def block(scope: Scope, statements: list[ast.stmt]) -> tuple[t.Stmt, ...]:
    """Return the tree of *statements*, without unreachable ones."""
    found: list[t.Stmt] = []
    for statement in statements:
        if scope.assigned is None:
            break
        reader = _READERS.get(type(statement))
        if reader is None:
            kind = type(statement).__name__
            raise scope.error(statement, _REFUSED.get(kind, "this statement is not in the language"))
        around, scope.pending = scope.pending, []
        draws, scope.draws = scope.draws, 0
        made = reader(scope, statement)
        found += scope.pending + made
        scope.pending, scope.draws = around, draws
    return tuple(found)


def do_pass(scope: Scope, node: ast.Pass) -> list[t.Stmt]:
    return []


def do_expression(scope: Scope, node: ast.Expr) -> list[t.Stmt]:
    value = node.value
    if isinstance(value, ast.Constant) and (isinstance(value.value, str) or value.value is ...):
        return []  # a docstring, or a body still to be written
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "signal":
        role = scope.role(value.func.value)
        if role is not None:
            return [signal(scope, value, role)]
    if isinstance(value, ast.Call) and (appended := append(scope, value)) is not None:
        return [appended]
    if isinstance(value, ast.Call) and scope.lookup(value.func) is program.stop:
        return [stop_statement(scope, value)]
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in WORDS:
        role = scope.role(value.func.value)
        if role in ("v", "nbr"):
            return [post(scope, value, role)]
    if (
        scope.unit.debugging
        and isinstance(value, ast.Call)
        and scope.lookup(value.func) in (print, breakpoint)
    ):
        return []
    value_of(scope, value)
    raise scope.error(value, "this line has no effect; assign its value, or remove it")


def stop_statement(scope: Scope, node: ast.Call) -> t.Stop:
    """``gl.stop()``, if the skipped edges cannot change the total."""
    if scope.is_helper or scope.name != "gather":
        raise scope.error(node, f"{scope.name} cannot stop; gl.stop() is for gather")
    no_keywords(scope, node, "gl.stop")
    check_count(scope, node, "gl.stop", 0, 0)
    combiner = scope.unit.declared.gather
    combiners = {"": combiner} if combiner is not None else {}
    if isinstance(combiner, t.RecordCombiner) and not combiner.is_pair:
        combiners = {f" like part {part.name!r}": part.combiner for part in combiner.parts}
    for part, one in combiners.items():
        if not one.operation.stops:
            where = "for merge" if one.op == t.OWN else f"in a sum{part}"
            raise scope.error(node, f"every edge counts {where}; gl.stop() is for gl.Min and gl.Max")
    return t.Stop(scope.site(node))


def do_return(scope: Scope, node: ast.Return) -> list[t.Stmt]:
    name = scope.source.node.name
    contributes = scope.contributes
    if contributes is not None and may_be_nothing(node.value):
        in_memory = contributes.collects or isinstance(contributes, t.RecordCombiner)
        if in_memory and isinstance(node.value, ast.IfExp):
            return either_way(scope, node.value, node)
        if in_memory:
            scope.assigned = None
            return [t.Return(None, scope.site(node))]
        node = ast.copy_location(ast.Return(as_number(node.value, node)), node)
    if scope.returns in (t.RECORD, t.PAIR):
        if isinstance(node.value, ast.IfExp):
            return either_way(scope, node.value, node)
        contributions = contributed_parts(scope, node)
        scope.assigned = None
        return contributions
    if scope.returns == t.SUM_BY:
        if isinstance(node.value, ast.IfExp):
            return either_way(scope, node.value, node)
        added = keyed.contributed(scope, node)
        scope.assigned = None
        return added
    if scope.returns is None and not scope.is_helper:
        if node.value is not None and not is_nothing(node.value):
            raise scope.error(node.value, f"{name} returns nothing; write return alone")
        value = None
    elif node.value is None:
        raise scope.error(node, f"{name} returns a value elsewhere; write return with a value")
    else:
        value = scope.returned(value_of(scope, node.value), node.value)
    scope.assigned = None
    return [t.Return(value, scope.site(node))]


def either_way(scope: Scope, either: ast.IfExp, node: ast.Return) -> list[t.Stmt]:
    """``return a if test else b`` as two returns."""
    ways: list[list[ast.stmt]] = [
        [ast.copy_location(ast.Return(x), node)] for x in (either.body, either.orelse)
    ]
    return do_if(scope, ast.copy_location(ast.If(either.test, *ways), node))


def path_here(scope: Scope) -> set[str] | None:
    """Return a copy of the locals assigned here."""
    return None if scope.assigned is None else set(scope.assigned)


def do_if(scope: Scope, node: ast.If) -> list[t.Stmt]:
    test = truth(scope, node.test)
    before = path_here(scope)
    body = block(scope, node.body)
    after_body, scope.assigned = scope.assigned, before
    otherwise = block(scope, node.orelse)
    scope.assigned = meet([after_body, scope.assigned])
    return [t.If(test, body, otherwise, scope.site(node))]


def do_while(scope: Scope, node: ast.While) -> list[t.Stmt]:
    no_else(scope, node)
    test = truth(scope, node.test)
    if scope.pending:
        raise scope.error(
            node.test, "this needs a loop of its own; write while True and test it with if and break"
        )
    forever = isinstance(test, t.Const) and bool(test.value)
    before = path_here(scope)
    body, breaks = loop_body(scope, node.body)
    scope.assigned = meet(breaks if forever else [before, *breaks])
    return [t.While(test, body, scope.site(node))]


def do_for(scope: Scope, node: ast.For) -> list[t.Stmt]:
    no_else(scope, node)
    if (combiner := keyed.iterated(scope, node)) is not None:
        return for_items(scope, node, combiner)
    if (x := iterated(scope, node.iter)) is not None:
        return for_list(scope, node, x)
    start, stop, step = range_bounds(scope, node.iter)
    if not isinstance(node.target, ast.Name):
        raise scope.error(node.target, "a loop counts in one local; write for i in range(...)")
    before = path_here(scope)
    target = store_local(scope, node.target, t.Const(0, "int"), node, node.target).target
    assert isinstance(target, t.Local)
    lead: tuple[t.Stmt, ...] = ()
    if target.type != "int":  # the user's local holds floats elsewhere: count separately
        counter = scope.new_local("_count", "int", node)
        lead = (t.Assign(target, scope.widened(counter, target.type), scope.site(node)),)
        target = counter
    body, breaks = loop_body(scope, node.body)
    scope.assigned = meet([before, *breaks])
    return [t.ForRange(target, start, stop, step, (*lead, *body), scope.site(node))]


def iterated(scope: Scope, node: ast.expr) -> t.Expr | None:
    """Return the list that a loop runs over, None if it is not a list."""
    is_total = isinstance(node, ast.Name) and t.is_list(scope.types.get(node.id, ""))
    is_field = isinstance(node, ast.Attribute) and scope.role(node.value) in ("v", "nbr", "e")
    value = value_of(scope, node) if is_total or is_field else None
    return value if value is not None and t.is_list(value.type) else None


def for_list(scope: Scope, node: ast.For, x: t.Expr) -> list[t.Stmt]:
    """``for y in x``, ``for a, b in x``, by position."""
    members = members_of(x)
    if not members and not isinstance(node.target, ast.Name):
        raise scope.error(node.target, "a loop has one local; write for y in x")
    before = path_here(scope)
    position = scope.new_local("_position", "int", node)
    if members:
        tuples = members_at(scope, x, position, node)
        first = unpack_members(scope, node.target, tuples, node, node.target)
    else:
        assert isinstance(node.target, ast.Name)
        first = [store_local(scope, node.target, list_words.at(scope, x, position, node), node, node.target)]
    scope.looped.append(ast.unparse(node.iter))
    body, breaks = loop_body(scope, node.body)
    scope.looped.pop()
    scope.assigned = meet([before, *breaks])
    length = list_words.length(x)
    return [
        t.ForRange(position, t.Const(0, "int"), length, t.Const(1, "int"), (*first, *body), scope.site(node))
    ]


def for_items(scope: Scope, node: ast.For, combiner: t.KeyedCombiner) -> list[t.Stmt]:
    """``for key, value in total.items()``, by position."""
    targets = node.target.elts if isinstance(node.target, ast.Tuple | ast.List) else []
    names = [target for target in targets if isinstance(target, ast.Name)]
    if len(names) != 2 or len(targets) != 2:
        raise scope.error(node.target, f"the loop needs a key and a value; write {keyed.ITEMS}")
    before = path_here(scope)
    position = scope.new_local("_position", "int", node)
    kinds = {"key": combiner.key_type, "value": combiner.value_type}
    first = [
        store_local(scope, target, t.KeyedWord(word, (position,), kind), node, target)
        for target, (word, kind) in zip(names, kinds.items(), strict=True)
    ]
    body, breaks = loop_body(scope, node.body)
    scope.assigned = meet([before, *breaks])
    zero, one = t.Const(0, "int"), t.Const(1, "int")
    return [t.KeyedLoop(position, zero, keyed.length(), one, (*first, *body), scope.site(node))]


def range_bounds(scope: Scope, node: ast.expr) -> tuple[t.Expr, t.Expr, t.Expr]:
    """Return start, stop and step of ``range(...)``."""
    if not isinstance(node, ast.Call) or scope.lookup(node.func) is not range:
        raise scope.error(node, "a for loop runs over range(...) only; the engine visits the edges")
    no_keywords(scope, node, "range")
    if not 1 <= len(node.args) <= 3:
        raise scope.error(node, "range takes 1 to 3 ints: range(stop), range(start, stop, step)")
    bounds = [scope.fit(value_of(scope, bound), "int", bound, "a bound of range") for bound in node.args]
    if len(bounds) == 1:
        return t.Const(0, "int"), bounds[0], t.Const(1, "int")
    step = bounds[2] if len(bounds) == 3 else t.Const(1, "int")
    if step == t.Const(0, "int"):
        raise scope.error(node.args[2], "range with step 0 never ends; write another step")
    return bounds[0], bounds[1], step


def loop_body(scope: Scope, body: list[ast.stmt]) -> tuple[tuple[t.Stmt, ...], Paths]:
    """Return the tree of a loop's body, and the locals assigned at each of its breaks."""
    scope.breaks.append([])
    statements = block(scope, body)
    return statements, scope.breaks.pop()


def no_else(scope: Scope, node: ast.While | ast.For) -> None:
    if node.orelse:
        raise scope.error(
            node.orelse[0], "else after a loop is not in the language; set a local before break"
        )


def do_break(scope: Scope, node: ast.Break) -> list[t.Stmt]:
    scope.breaks[-1].append(scope.assigned)
    scope.assigned = None
    return [t.Break(scope.site(node))]


def do_continue(scope: Scope, node: ast.Continue) -> list[t.Stmt]:
    scope.assigned = None
    return [t.Continue(scope.site(node))]


def meet(paths: Paths) -> set[str] | None:
    """Return the locals assigned on every path that gets here; None if no path does."""
    arriving = [path for path in paths if path is not None]
    return set.intersection(*arriving) if arriving else None


_READERS: dict[type[ast.stmt], Callable[[Scope, Any], list[t.Stmt]]] = {
    ast.Assign: assign,
    ast.AugAssign: augmented_assign,
    ast.AnnAssign: annotated_assign,
    ast.Expr: do_expression,
    ast.If: do_if,
    ast.While: do_while,
    ast.For: do_for,
    ast.Break: do_break,
    ast.Continue: do_continue,
    ast.Return: do_return,
    ast.Pass: do_pass,
}
