"""The function for each kind of expression; all of them call `value_of` for their operands."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import no_record
from gaslab.compiler.frontend.values import as_value

NO_TEXT = (
    "text is not in the language; use numbers, or a parameter of type gl.VertexId for the id of a vertex"
)
SCALARS = "is not in the language; use scalar fields and locals"
_NO_COMPREHENSION = "a comprehension is not in the language; write a for loop over range(...)"
_REFUSED: dict[type[ast.expr], str] = {
    ast.Tuple: "a tuple is not a value; assign its parts: a, b = x, y",
    ast.Set: f"a set {SCALARS}",
    ast.Dict: f"a dict {SCALARS}",
    ast.ListComp: _NO_COMPREHENSION,
    ast.SetComp: _NO_COMPREHENSION,
    ast.DictComp: _NO_COMPREHENSION,
    ast.GeneratorExp: _NO_COMPREHENSION,
    ast.JoinedStr: NO_TEXT,
    ast.Lambda: "a lambda is not in the language; write a def at the top of the module",
    ast.NamedExpr: "`:=` is not in the language; assign on a line of its own",
    ast.Starred: "`*` cannot stand here; write the values one by one",
    ast.Await: "await is not in the language; write plain code",
    ast.Yield: "yield is not in the language; use return",
    ast.YieldFrom: "yield is not in the language; use return",
}
Reader = Callable[[Scope, Any], Any]
_READERS: dict[type[ast.expr], Reader] = {}


def reads(kind: type[ast.expr]) -> Callable[[Reader], Reader]:
    """Register a function as the reader of this kind of expression."""

    def known(reader: Reader) -> Reader:
        _READERS[kind] = reader
        return reader

    return known


def value_of(scope: Scope, node: ast.expr) -> Any:
    """Return the tree of expression *node*, or an `ArrayValue`."""
    reader = _READERS.get(type(node))
    if reader is None:
        raise scope.error(node, _REFUSED.get(type(node), "this expression is not in the language"))
    value = reader(scope, node)
    no_record(scope, value, node)
    return as_value(value)
