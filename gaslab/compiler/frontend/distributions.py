"""Draws from a vector: ``gl.categorical`` and ``gl.dirichlet``; `draws` has all others."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.arrays import new_counter, temporary
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.draws import bound, call_draw, note_draw, put_before
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import no_ids
from gaslab.compiler.frontend.values import ArrayValue, stored
from gaslab.language import rng


def call(scope: Scope, node: ast.Call, kind: str) -> Any:
    """Return the value of a call that draws."""
    if kind not in rng.OF_VECTORS:
        return call_draw(scope, node, kind)
    [(name, argument)] = bound(scope, node, kind).items()
    value = value_of(scope, argument)
    if not isinstance(value, ArrayValue) or len(value.type.shape) != 1:
        raise scope.error(argument, f"{name} of gl.{kind} is a vector but this is {t.named(value.type)}")
    no_ids(scope, value, argument, f"gl.{kind}")
    value = value.widened(t.Array("float", value.type.shape))
    if kind == "dirichlet":
        copy = temporary(scope, value, node)
        note_draw(scope, node)
        put_before(scope, [t.Dirichlet(copy, scope.site(node))], node)
        return stored(copy)
    note_draw(scope, node)
    counter = new_counter(scope)
    return t.Categorical(counter.name, value.type.size, value.at(counter), scope.site(node))
