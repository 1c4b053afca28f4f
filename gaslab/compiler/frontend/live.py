"""Live totals: aggregators with ``live=True``, which visit reads and adds to."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.additive import whole
from gaslab.compiler.frontend.declare import Declared
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.subscripts import indices_of
from gaslab.compiler.frontend.value_checks import no_array
from gaslab.compiler.frontend.values import ArrayValue, flat
from gaslab.errors import ProgramError


def check_live(declared: Declared, name: str) -> None:
    """Raise if visit cannot add to live aggregator *name*."""
    mark, combiner = declared.marks[name], declared.aggregators[name]
    parts = combiner.parts if isinstance(combiner, t.RecordCombiner) else ()
    of = [part.combiner for part in parts] or [combiner]
    problem = None
    if "visit" not in declared.functions:
        problem = "needs a visit to add to it; write one, or remove live=True"
    elif mark.every != 1:
        problem = "is computed only after init; remove every="
    elif mark.finalizer is not None:
        problem = "cannot have a finaliser, since visit adds to it; remove it, or live=True"
    elif any(one.op != "sum" or one.type != "int" for one in of):
        problem = "must be a sum of ints; write -> gl.Sum[int], or an accumulator of such parts"
    if problem is not None:
        raise declared.error(name, f"the live total {name!r} {problem}")


def live_total(scope: Scope, target: ast.expr) -> str | None:
    """Return the live aggregator that *target* names, whole or in part; else None."""
    place = whole(target)
    for node in (place, getattr(place, "value", None)):
        if isinstance(node, ast.Attribute) and scope.role(node.value) == "self":
            mark = scope.unit.declared.marks.get(node.attr)
            return node.attr if mark is not None and mark.live else None
    return None


def wrong_write(scope: Scope, target: ast.expr, name: str) -> ProgramError:
    """Return the error for a write to a live total that is not an addition in visit."""
    text = ast.unparse(target)
    if scope.is_helper:
        return scope.error(target, f"a helper only reads; let visit write {text} += ...")
    if scope.name != "visit":
        return scope.error(target, f"{scope.name} cannot write the live total {name!r}; visit adds to it")
    return scope.error(target, f"visit adds to the live total {name!r}; write {text} += ... or {text} -= ...")


def added_live(scope: Scope, node: ast.AugAssign) -> list[t.Stmt] | None:
    """Return ``self.total.part[k] += d`` as an addition; None if it is not to a live total."""
    target, name = node.target, live_total(scope, node.target)
    if name is None:
        return None
    if scope.name != "visit" or scope.is_helper or not isinstance(node.op, ast.Add | ast.Sub):
        raise wrong_write(scope, target, name)
    found: Any = value_of(scope, whole(target))
    place: Any = found.place if isinstance(found, ArrayValue) else found
    if isinstance(place.type, t.Array):
        indices = indices_of(scope, target, place.type) if isinstance(target, ast.Subscript) else ()
        if len(indices) < len(place.type.shape):
            raise scope.error(target, "a live total is added to element by element; write a loop")
        place = t.Element(place, flat(indices, place.type.shape), place.type.element)
    elif isinstance(target, ast.Subscript):
        raise scope.error(target, "only vectors and matrices can be indexed; this is a number")
    value = value_of(scope, node.value)
    no_array(scope, value, node.value, "an element of a live total")
    value = scope.fit(value, "int", node.value, target)
    value = t.Unary("-", value, "int") if isinstance(node.op, ast.Sub) else value
    return [t.AddLive(place, value, scope.site(node))]
