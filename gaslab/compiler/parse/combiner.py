"""Combiners: how gathered values, messages and aggregates add up, read from annotations."""

from __future__ import annotations

import ast
from typing import Any

from gaslab import program
from gaslab.annotations import Namespace, closure_of, evaluate, namespace_of
from gaslab.compiler.parse.fields import storage_of
from gaslab.compiler.parse.source import FunctionSource
from gaslab.compiler.tree import STORAGE, Combiner

_CHOICES = "gl.Sum[...], gl.Min[...] or gl.Max[...]"
_INSTEAD_OF_SUM = {
    "bool": "gl.Sum cannot add bools; write gl.Sum[int] to count, gl.Max[bool] for any, gl.Min[bool] for all",
    "id": "gl.Sum cannot add vertex ids; write gl.Min[gl.VertexId] or gl.Max[gl.VertexId]",
}


def combiner(cls: type, source: FunctionSource, name: str) -> Combiner:
    """Return the combiner that annotates parameter *name* of a method, or its ``"return"``."""
    method, arguments = source.node.name, source.node.args.args
    if name == "return":
        at: ast.AST = source.node
        node, what, example = source.node.returns, f"{method}'s value", "-> gl.Sum[float]"
    else:
        at = argument = next(a for a in arguments if a.arg == name)
        node, what, example = argument.annotation, f"{method}'s {name}", f"{name}: gl.Min[float]"
    if node is None:
        raise source.error(at, f"{what} has no combiner; annotate it with {_CHOICES}, as in {example}")
    annotation = annotation_value(cls, source, name, node)
    marks = [m for m in getattr(annotation, "__metadata__", ()) if isinstance(m, program.Combine)]
    if not marks:
        raise source.error(node, f"{what} has no combiner; write {_CHOICES}, as in {example}")
    storage = storage_of(annotation)
    if storage is None:
        raise source.error(
            node, f"{what} combines no scalar of the language; write {_CHOICES}, as in {example}"
        )
    if marks[0].op == "sum" and STORAGE[storage][0] in _INSTEAD_OF_SUM:
        raise source.error(node, _INSTEAD_OF_SUM[STORAGE[storage][0]])
    return Combiner(marks[0].op, storage)


def annotation_value(cls: type, source: FunctionSource, name: str, node: ast.expr) -> Any:
    """Return what the annotation *node* of parameter *name* (or ``"return"``) of a method means."""
    function = source.function
    try:
        written = function.__annotations__.get(name)
    except NameError:  # Python 3.14 evaluates it only now, and fails for a name it does not know
        written = None
    if written is not None and not isinstance(written, str):
        return written
    scopes = [closure_of(function), *map(vars, cls.__mro__), function.__globals__]
    return evaluate(written or ast.unparse(node), Namespace(*scopes, namespace_of(cls)))
