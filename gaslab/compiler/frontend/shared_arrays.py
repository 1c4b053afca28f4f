"""Arrays from outside: vectors and matrices among the parameters, and arrays in the user's Python.

Their shapes and dtypes are part of the program, but not their content: it is read when a run begins.
"""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.precision import storage_in
from gaslab.compiler.frontend.scope import Scope
from gaslab.language.arrays import is_masked

_WIDER = {"float16": "float32"}  # storage types of other dtypes


def parameter(scope: Scope, variable: t.Variable, node: ast.AST) -> t.Expr:
    """Return an array parameter."""
    index = scope.unit.arrays.index(variable.name, variable)
    return scope.access(t.Shared(index, variable.name, variable.type), node)


def outside(scope: Scope, value: Any, node: ast.expr) -> t.Expr:
    """Return the array *value*, which *node* names; raises if it does not hold numbers."""
    text, lengths, dtype = ast.unparse(node), value.shape, value.dtype
    what = f"{text!r} is an array"
    if is_masked(value):
        raise scope.error(node, f"{text!r} is a masked array; fill it: {text}.filled(0)")
    if len(lengths) > 2:
        raise scope.error(node, f"{what} of {len(lengths)} dimensions; write one of 1 or 2")
    if 0 in lengths:
        raise scope.error(node, f"{what} without elements; write one of a length from 1 on")
    storage = _WIDER.get(dtype.name, dtype.name)
    if dtype.kind not in "biuf" or storage not in t.STORAGE:
        raise scope.error(node, f"{what} of {dtype}; write one of numbers, such as float64")
    storage = storage_in(storage, scope.unit.declared.precision)
    variable = t.Variable(text, storage, t.REQUIRED, scope.source.file.site(node), lengths)
    index = scope.unit.arrays.index(id(value), variable, value)
    return scope.access(t.Shared(index, text, variable.type), node)
