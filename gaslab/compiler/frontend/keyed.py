"""Totals by key, ``gl.SumBy[K, V]``: gather's contributions, and operations on apply's total.

Such a total is only read, and only by its own name: every use of it is a `KeyedWord`.
"""

from __future__ import annotations

import ast

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import no_array, no_keywords
from gaslab.errors import nearest

METHODS = ("items", "argmax")
ITEMS = "for key, value in total.items()"


# ---- what gather contributes -----------------------------------------------------------------------


def contributed(scope: Scope, node: ast.Return) -> list[t.Stmt]:
    """``return key, value``"""
    combiner = scope.unit.declared.gather
    assert isinstance(combiner, t.KeyedCombiner)
    given = node.value
    if not isinstance(given, ast.Tuple) or len(given.elts) != 2:
        at = given or node
        raise scope.error(at, "a key and its value are needed here; write return key, value, or return None")
    values: list[t.Expr] = []
    kinds = (combiner.key_type, combiner.value_type)
    for one, kind, what in zip(given.elts, kinds, ("the key", "the value"), strict=True):
        value = value_of(scope, one)
        no_array(scope, value, one, what)
        values.append(scope.fit(value, kind, one, what))
    site = scope.site(node)
    return [t.AddByKey(values[0], values[1], site), t.Return(None, site)]


# ---- operations ------------------------------------------------------------------------------------


def total_named(scope: Scope, node: ast.expr) -> t.KeyedCombiner | None:
    """Return the combiner of the total by key that *node* names, else None."""
    if not isinstance(node, ast.Name) or node.id in scope.entities or scope.is_helper:
        return None
    if scope.parameters.get(node.id) != t.SUM_BY:
        return None
    combiner = scope.unit.declared.gather
    assert isinstance(combiner, t.KeyedCombiner)
    return combiner


def length() -> t.Expr:
    """``len(total)``"""
    return t.KeyedWord("len", (), "int")


def of_key(scope: Scope, combiner: t.KeyedCombiner, word: str, key: t.Expr, node: ast.AST) -> t.Expr:
    """Return ``key in total`` or ``total[key]``."""
    no_array(scope, key, node, "a key")
    wanted = scope.fit(key, combiner.key_type, node, "a key of the total")
    return t.KeyedWord(word, (wanted,), "bool" if word == "in" else combiner.value_type)


def item(scope: Scope, combiner: t.KeyedCombiner, node: ast.Subscript) -> t.Expr:
    """``total[key]``"""
    if isinstance(node.slice, ast.Slice):
        raise scope.error(node.slice, f"a total by key cannot be sliced; write {ITEMS}")
    return of_key(scope, combiner, "at", value_of(scope, node.slice), node.slice)


def method(scope: Scope, combiner: t.KeyedCombiner, node: ast.Call, callee: ast.Attribute) -> t.Expr:
    """``total.argmax()``"""
    name = ast.unparse(callee.value)
    if callee.attr == "argmax":
        no_keywords(scope, node, f"{name}.argmax")
        if node.args:
            raise scope.error(node.args[0], f"argmax takes no argument here; write {name}.argmax()")
        return t.KeyedWord("argmax", (), combiner.key_type, scope.site(node))
    if callee.attr == "items":
        raise scope.name_error(callee, f"items() can only be looped over; write {ITEMS}")
    instead = {"get": f"{name}[key], which is 0 where the key is absent", "keys": ITEMS, "values": ITEMS}
    known = callee.attr in instead
    hint = f"; write {instead[callee.attr]}" if known else nearest(callee.attr, METHODS)
    raise scope.name_error(callee, f"a total by key has no {callee.attr!r}{hint}")


def iterated(scope: Scope, node: ast.For) -> t.KeyedCombiner | None:
    """Return the total whose items a loop runs over, None if it runs over something else."""
    over = node.iter
    if (total_named(scope, over)) is not None:
        raise scope.error(over, f"a loop over a total by key runs over its items; write {ITEMS}")
    if not isinstance(over, ast.Call) or not isinstance(over.func, ast.Attribute):
        return None
    combiner = total_named(scope, over.func.value)
    if combiner is None:
        return None
    if over.func.attr != "items":
        raise scope.name_error(over.func, f"a loop over a total by key runs over its items; write {ITEMS}")
    no_keywords(scope, over, "items")
    if over.args:
        raise scope.error(over.args[0], f"items takes no argument; write {ITEMS}")
    return combiner
