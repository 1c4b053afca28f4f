"""Statements other than assignments, and which locals are sure to have a value after each."""

from __future__ import annotations

import ast

from gaslab import program
from gaslab.compiler.parse import lists
from gaslab.compiler.parse.assign import Assignments
from gaslab.compiler.parse.caching import WORDS, post
from gaslab.compiler.parse.signals import signal
from gaslab.compiler.tree import (
    OWN,
    PAIR,
    RECORD,
    Assign,
    Break,
    Const,
    Continue,
    Expr,
    ForRange,
    If,
    Local,
    RecordCombiner,
    Return,
    Stmt,
    Stop,
    While,
    is_list,
)

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
Paths = list["set[str] | None"]


class Statements(Assignments):
    """Adds control flow; `assigned` follows every path."""

    breaks: list[Paths]  # of each loop around, what is assigned at its breaks

    def block(self, statements: list[ast.stmt]) -> tuple[Stmt, ...]:
        """Return the tree of *statements*; what is never reached is left out."""
        found: list[Stmt] = []
        for statement in statements:
            if self.assigned is None:
                break
            kind = type(statement).__name__
            method = getattr(self, f"do_{kind}", None)
            if method is None:
                raise self.error(statement, _REFUSED.get(kind, "this statement is not in the language"))
            around, self.pending = self.pending, []
            drawn, self.drawn = self.drawn, 0
            made: list[Stmt] = method(statement)
            found += self.pending + made
            self.pending, self.drawn = around, drawn
        return tuple(found)

    def do_Pass(self, node: ast.Pass) -> list[Stmt]:
        return []

    def do_Expr(self, node: ast.Expr) -> list[Stmt]:
        value = node.value
        if isinstance(value, ast.Constant) and (isinstance(value.value, str) or value.value is ...):
            return []  # a docstring, or a body still to be written
        if (
            isinstance(value, ast.Call)
            and isinstance(value.func, ast.Attribute)
            and value.func.attr == "signal"
        ):
            role = self.role(value.func.value)
            if role is not None:
                return [signal(self, value, role)]
        if isinstance(value, ast.Call) and self.lookup(value.func) is program.stop:
            return [self.stop(value)]
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in WORDS:
            role = self.role(value.func.value)
            if role in ("v", "nbr"):
                return [post(self, value, role)]
        if (
            self.unit.debugging
            and isinstance(value, ast.Call)
            and self.lookup(value.func) in (print, breakpoint)
        ):
            return []
        self.value(value)
        raise self.error(value, "this line has no effect; assign its value, or remove it")

    def stop(self, node: ast.Call) -> Stop:
        """``gl.stop()``, where what is left out cannot matter."""
        if self.is_helper or self.name != "gather":
            raise self.error(node, f"{self.name} cannot stop; gl.stop() is for gather")
        self.no_keywords(node, "gl.stop")
        self.count(node, "gl.stop", 0, 0)
        combiner = self.unit.declared.gather
        combiners = {"": combiner} if combiner is not None else {}
        if isinstance(combiner, RecordCombiner) and not combiner.is_pair:
            combiners = {f" like part {part.name!r}": part.combiner for part in combiner.parts}
        for part, one in combiners.items():
            if not one.operation.stops:
                where = "for merge" if one.op == OWN else f"in a sum{part}"
                raise self.error(node, f"every edge counts {where}; gl.stop() is for gl.Min and gl.Max")
        return Stop(self.site(node))

    def do_Return(self, node: ast.Return) -> list[Stmt]:
        name = self.source.node.name
        if self.returns in (RECORD, PAIR):
            if isinstance(node.value, ast.IfExp):
                return self.either_way(node.value, node)
            contributions = self.contributions(node)
            self.assigned = None
            return contributions
        gather = self.unit.declared.gather if self.name == "gather" and not self.is_helper else None
        if gather is not None and gather.collects:
            if is_nothing(node.value):  # the edge adds nothing to the list
                self.assigned = None
                return [Return(None, self.site(node))]
            if isinstance(either := node.value, ast.IfExp) and (
                is_nothing(either.body) or is_nothing(either.orelse)
            ):
                return self.either_way(either, node)
        if self.returns is None and not self.is_helper:
            if node.value is not None and not (
                isinstance(node.value, ast.Constant) and node.value.value is None
            ):
                raise self.error(node.value, f"{name} returns nothing; write return alone")
            value = None
        elif node.value is None:
            raise self.error(node, f"{name} returns a value elsewhere; write return with a value")
        else:
            value = self.returned(self.value(node.value), node.value)
        self.assigned = None
        return [Return(value, self.site(node))]

    def either_way(self, either: ast.IfExp, node: ast.Return) -> list[Stmt]:
        """``return a if test else b`` as two returns."""
        ways: list[list[ast.stmt]] = [
            [ast.copy_location(ast.Return(x), node)] for x in (either.body, either.orelse)
        ]
        return self.do_If(ast.copy_location(ast.If(either.test, *ways), node))

    def returned(self, value: Expr, node: ast.AST) -> Expr:
        """Return *value* in the type that this function returns."""
        assert self.returns is not None
        return self.fit(value, self.returns, node, f"{self.source.node.name}'s value")

    # ---- branches and loops

    def path(self) -> set[str] | None:
        """Return a copy of what is assigned here."""
        return None if self.assigned is None else set(self.assigned)

    def do_If(self, node: ast.If) -> list[Stmt]:
        test = self.truth(node.test)
        before = self.path()
        body = self.block(node.body)
        after_body, self.assigned = self.assigned, before
        otherwise = self.block(node.orelse)
        self.assigned = meet([after_body, self.assigned])
        return [If(test, body, otherwise, self.site(node))]

    def do_While(self, node: ast.While) -> list[Stmt]:
        self.no_else(node)
        test = self.truth(node.test)
        if self.pending:
            raise self.error(
                node.test, "this takes a loop of its own; write while True and test it with if and break"
            )
        forever = isinstance(test, Const) and bool(test.value)
        before = self.path()
        body, breaks = self.loop(node.body)
        self.assigned = meet(breaks if forever else [before, *breaks])
        return [While(test, body, self.site(node))]

    def do_For(self, node: ast.For) -> list[Stmt]:
        self.no_else(node)
        if (x := self.iterated(node.iter)) is not None:
            return self.for_list(node, x)
        start, stop, step = self.bounds(node.iter)
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "a loop counts in one local; write for i in range(...)")
        before = self.path()
        target = self.store_local(node.target, Const(0, "int"), node, node.target).target
        assert isinstance(target, Local)
        lead: tuple[Stmt, ...] = ()
        if target.type != "int":  # the user's local holds floats elsewhere: count apart from it
            counter = self.new_local("_count", "int", node)
            lead = (Assign(target, self.widened(counter, target.type), self.site(node)),)
            target = counter
        body, breaks = self.loop(node.body)
        self.assigned = meet([before, *breaks])
        return [ForRange(target, start, stop, step, (*lead, *body), self.site(node))]

    def iterated(self, node: ast.expr) -> Expr | None:
        """Return the list that a loop runs over, None if it is none."""
        is_total = isinstance(node, ast.Name) and is_list(self.types.get(node.id, ""))
        is_field = isinstance(node, ast.Attribute) and self.role(node.value) in ("v", "nbr", "e")
        value = self.value(node) if is_total or is_field else None
        return value if value is not None and is_list(value.type) else None

    def for_list(self, node: ast.For, x: Expr) -> list[Stmt]:
        """``for y in x``, by position."""
        if not isinstance(node.target, ast.Name):
            raise self.error(node.target, "a loop has one local; write for y in x")
        before = self.path()
        position = self.new_local("_position", "int", node)
        first = self.store_local(node.target, lists.at(self, x, position, node), node, node.target)
        body, breaks = self.loop(node.body)
        self.assigned = meet([before, *breaks])
        length = lists.length(x)
        return [ForRange(position, Const(0, "int"), length, Const(1, "int"), (first, *body), self.site(node))]

    def bounds(self, node: ast.expr) -> tuple[Expr, Expr, Expr]:
        """Return start, stop and step of ``range(...)``."""
        if not isinstance(node, ast.Call) or self.lookup(node.func) is not range:
            raise self.error(node, "a for loop runs over range(...) alone; the engine visits the edges")
        self.no_keywords(node, "range")
        if not 1 <= len(node.args) <= 3:
            raise self.error(node, "range takes 1 to 3 ints: range(stop), range(start, stop, step)")
        given = [self.fit(self.value(bound), "int", bound, "a bound of range") for bound in node.args]
        if len(given) == 1:
            return Const(0, "int"), given[0], Const(1, "int")
        step = given[2] if len(given) == 3 else Const(1, "int")
        if step == Const(0, "int"):
            raise self.error(node.args[2], "range with step 0 never ends; write another step")
        return given[0], given[1], step

    def loop(self, body: list[ast.stmt]) -> tuple[tuple[Stmt, ...], Paths]:
        """Return the tree of a loop's body, and what is assigned at each of its breaks."""
        self.breaks.append([])
        statements = self.block(body)
        return statements, self.breaks.pop()

    def no_else(self, node: ast.While | ast.For) -> None:
        if node.orelse:
            raise self.error(
                node.orelse[0], "else after a loop is not in the language; set a local before break"
            )

    def do_Break(self, node: ast.Break) -> list[Stmt]:
        self.breaks[-1].append(self.assigned)
        self.assigned = None
        return [Break(self.site(node))]

    def do_Continue(self, node: ast.Continue) -> list[Stmt]:
        self.assigned = None
        return [Continue(self.site(node))]


def is_nothing(node: ast.expr | None) -> bool:
    """Return whether *node* is left out, or is ``None``."""
    return node is None or (isinstance(node, ast.Constant) and node.value is None)


def meet(paths: Paths) -> set[str] | None:
    """Return what is assigned on every path that arrives; None if none does."""
    arriving = [path for path in paths if path is not None]
    return set.intersection(*arriving) if arriving else None
