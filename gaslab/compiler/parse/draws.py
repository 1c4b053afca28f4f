"""Random numbers in a program: ``gl.uniform``, ``gl.normal`` and ``gl.integers``."""

from __future__ import annotations

import ast
import inspect
from typing import Any

from gaslab import chance
from gaslab.compiler.parse.names import Names
from gaslab.compiler.tree import CallHelper, Const, Draw, Expr, Stmt, nodes


class Draws(Names):
    """Adds draws to the values of one function."""

    def call_draw(self, node: ast.Call, kind: str) -> Expr:
        """Return a draw; its arguments are values like any."""
        word = next(word for word, name in chance.WORDS.items() if name == kind)
        keywords = {str(keyword.arg): keyword.value for keyword in node.keywords}
        try:
            bound = inspect.signature(word).bind(*node.args, **keywords)
        except TypeError as error:
            raise self.error(node, f"gl.{kind} cannot be called like this: {error}") from None
        bound.apply_defaults()
        type_ = chance.TYPES[kind]
        arguments = []
        for name, argument in bound.arguments.items():
            if isinstance(argument, ast.expr):
                value = self.fit(self.value(argument), type_, argument, f"{name} of gl.{kind}")
            else:
                value = Const(argument, type_)
            arguments.append(value)
        if kind == "integers" and isinstance(arguments[0], Const) and arguments[0].value < 1:
            raise self.error(node.args[0] if node.args else node, "gl.integers(n) draws from 0 .. n - 1; "
                             "write an n of at least 1")  # fmt: skip
        if len(keywords) > 1:
            self.check_order(node, arguments)
        self.note_draw(node)
        return Draw(kind, tuple(arguments), type_, self.site(node))

    def note_draw(self, node: ast.AST) -> None:
        """Note that this function draws; raises where it may not."""
        if self.name in self.unit.declared.aggregators and not self.is_helper:
            raise self.error(node, "an aggregator cannot draw; draw in apply and keep the number in a field")
        if self.name == "merge" and not self.is_helper:
            raise self.error(node, "merge cannot draw: in which order it is called depends on the ranks")
        self.drawn += 1
        self.reads.add("self.draws")
        if not self.is_helper:
            self.reads |= {"v.#", "nbr.#"} if self.name in chance.EDGE_PHASES else {"v.id"}

    def draws(self, value: Any) -> int:
        """Return how many draws stand in *value*; known while the tree is made."""
        helpers = self.unit.helpers.all()
        called = [helpers[n.index] for n in nodes(value) if isinstance(n, CallHelper) and n.index >= 0]
        return sum("self.draws" in h.reads for h in called) + sum(isinstance(n, Draw) for n in nodes(value))

    def put_before(self, statements: list[Stmt], node: ast.AST) -> None:
        """Let *statements* stand before the one under way; raises if that brings a draw before an earlier."""
        self.pending += statements
        if self.final and self.draws(tuple(statements)) and self.drawn > self.draws(tuple(self.pending)):
            raise self.error(node, "a draw stands before this, which draws too; assign them to locals first")

    def check_order(self, node: ast.Call, arguments: list[Expr]) -> None:
        """Raise where two arguments draw and keywords may have changed their order."""
        if self.final and sum(self.draws(x) > 0 for x in arguments) > 1:
            raise self.error(node, "two of these arguments draw; assign them to locals first")
