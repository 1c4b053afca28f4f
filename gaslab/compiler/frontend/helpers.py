"""Helpers: functions and methods the program calls, one copy per combination of argument types."""

from __future__ import annotations

import ast
from types import FunctionType
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import temporary
from gaslab.compiler.frontend.body import build_function, infer_types
from gaslab.compiler.frontend.convert import join
from gaslab.compiler.frontend.scope import Scope, Unit, ascii_name
from gaslab.compiler.frontend.source import function_source
from gaslab.compiler.frontend.values import ArrayValue


class HelperScope(Scope):
    """A helper for one combination of argument types.

    It is emitted with scalars alone: each value that it reads from a vertex, an edge or the program becomes
    an extra parameter, listed in `hidden`, and the caller reads it.
    """

    is_helper = True
    index = -1  # in Tree.helpers; -1 until a call that is kept asks for it
    _result: t.Type | None = None

    @property
    def result(self) -> t.Type | None:
        """The type that holds all values returned so far."""
        return self._result

    def access(self, value: t.Expr, node: ast.AST) -> t.Expr:
        """Return the hidden parameter for *value*."""
        super().access(value, node)
        if isinstance(value, t.Shared):
            return value  # known everywhere
        if value not in self.hidden:
            assert self.label(value) or isinstance(value, t.Param | t.Aggregate | t.Global | t.PartOf)
            stem = self.label(value) or f"self.{getattr(value, 'name', 'part')}"
            used = {*self.names, *(local.name for local in self.hidden.values())}
            name, k = ascii_name(stem.replace(".", "_")), 0
            while name in used:
                k += 1
                name = f"{stem.replace('.', '_')}_{k}"
            storage = self.storage(value) if isinstance(value.type, t.Array) else ""
            self.hidden[value] = t.Local(name, value.type, storage)
        return self.hidden[value]

    def returned(self, value: t.Expr, node: ast.AST) -> t.Expr:
        """Return *value* in the type that holds all values that this helper returns."""
        wide = join(self._result or value.type, value.type)
        if wide is None:
            raise self.error(
                node, f"{self.name} returns {t.named(self._result)} elsewhere but {t.named(value.type)} here"
            )
        if wide != self._result:
            self._result = wide
            self.types_changed = True
        made: Any = self.widened(value, wide)
        return temporary(self, made, node) if isinstance(made, ArrayValue) else made


class Helpers:
    """The helpers of a program, made when first called."""

    unit: Unit

    def __init__(self) -> None:
        self._special: dict[object, HelperScope] = {}
        self._under_way: list[FunctionType] = []
        self._placed: list[t.Function] = []

    def special(
        self, function: FunctionType, arguments: dict[str, t.Expr | str], caller: Scope, node: ast.AST
    ) -> HelperScope:
        """Return *function* for the types and roles of *arguments*, by parameter."""
        entities = {name: value for name, value in arguments.items() if isinstance(value, str)}
        parameters = {name: value.type for name, value in arguments.items() if not isinstance(value, str)}
        storages = {
            name: caller.storage(value)
            for name, value in arguments.items()
            if not isinstance(value, str) and isinstance(value.type, t.Array)
        }
        key = (function, *(tuple(part.items()) for part in (entities, parameters, storages)))
        if key not in self._special:
            name = function.__name__
            if function in self._under_way:
                raise caller.error(
                    node, f"{name} calls itself, and recursion is not in the language; write a loop"
                )
            helper = HelperScope(self.unit, function_source(function), name, entities, parameters, None)
            helper.storages = storages
            self._under_way.append(function)
            try:
                infer_types(helper)
            finally:
                self._under_way.pop()
            self._special[key] = helper
        return self._special[key]

    def place(self, helper: HelperScope) -> int:
        """Return the index of *helper* in the tree, after the helpers that it calls."""
        if helper.index < 0:
            function = build_function(helper)
            helper.index = len(self._placed)
            self._placed.append(function)
        return helper.index

    def all(self) -> tuple[t.Function, ...]:
        """Return the helpers of the tree."""
        return tuple(self._placed)
