"""Helper functions: one copy for each combination of argument types they are called with."""

from __future__ import annotations

import ast
from types import FunctionType

from gaslab.annotations import Namespace, evaluate
from gaslab.compiler.body import Body
from gaslab.compiler.convert import join, named
from gaslab.compiler.declare import storage_of
from gaslab.compiler.frame import Frame, Unit, label_of
from gaslab.compiler.source import function_source
from gaslab.compiler.tree import Expr, Function, Local


class Helper(Body):
    """A helper for one combination of argument types."""

    is_helper = True
    index = -1  # in Tree.helpers; -1 until the first call that stays

    def access(self, value: Expr) -> Expr:
        """Return a parameter at the end: the caller reads the vertex, the edge or the program."""
        label = label_of(value, self.unit.declared)
        if label:
            self.reads.add(label)
        if value not in self.hidden:
            stem = (label or "self." + value.name).replace(".", "_")  # type: ignore[union-attr]
            if not stem.isascii():
                stem = "read"
            self.hidden[value] = Local(self.fresh(stem, {h.name for h in self.hidden.values()}), value.type)
        return self.hidden[value]

    def returned(self, value: Expr, node: ast.AST) -> Expr:
        """Return *value* in the type that holds all values this helper returns."""
        wide = join(self.result or value.type, value.type)
        if wide is None:
            raise self.error(
                node, f"{self.name} returns {named(str(self.result))} elsewhere and {named(value.type)} here"
            )
        if wide != self.result:
            self.result = wide
            self.unsettled = True
        return self.widened(value, wide)

    def must_return(self) -> bool:
        return True


class Helpers:
    """The helpers of a program, made as calls to them are met."""

    def __init__(self) -> None:
        self.unit: Unit
        self._special: dict[object, Helper] = {}
        self._under_way: list[FunctionType] = []
        self._placed: list[Function | None] = []

    def special(
        self, function: FunctionType, given: dict[str, Expr | str], caller: Frame, node: ast.AST
    ) -> Helper:
        """Return *function* for the types (or entities) *given*, called at *node* of *caller*."""
        types = {n: v if isinstance(v, str) else "=" + v.type for n, v in given.items()}
        key = (function, tuple(types.items()))
        if key not in self._special:
            if function in self._under_way:
                raise caller.error(
                    node, f"{function.__name__} calls itself; write a loop, recursion is not in the language"
                )
            entities = {n: v for n, v in given.items() if isinstance(v, str)}
            parameters = {n: v.type for n, v in given.items() if not isinstance(v, str)}
            helper = Helper(
                self.unit, function_source(function), function.__name__, entities, parameters, None
            )
            self._under_way.append(function)
            helper.settle_types()
            self._under_way.pop()
            self._special[key] = helper
        return self._special[key]

    def place(self, helper: Helper) -> int:
        """Return the index of *helper* in the tree; what it calls comes before it."""
        if helper.index < 0:
            function = helper.build()
            helper.index = len(self._placed)
            self._placed.append(function)
        return helper.index

    def all(self) -> tuple[Function, ...]:
        return tuple(f for f in self._placed if f is not None)

    def local_storage(self, frame: Frame, annotation: ast.expr) -> str | None:
        """Return the storage type that annotates a local."""
        scope = Namespace(frame.closure, frame.source.function.__globals__)
        return storage_of(evaluate(ast.unparse(annotation), scope))
