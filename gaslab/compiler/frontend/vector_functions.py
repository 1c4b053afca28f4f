"""numpy functions of vectors: sorting, running sums, counting, concatenation."""

from __future__ import annotations

import ast
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.frontend import list_words
from gaslab.compiler.frontend.arrays import each_element, new_counter, temporary
from gaslab.compiler.frontend.convert import join
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.draws import put_before
from gaslab.compiler.frontend.lists import EMPTY, element_type
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import no_ids
from gaslab.compiler.frontend.values import ArrayValue, stored


def reordered(scope: Scope, node: ast.Call, word: str, value: ArrayValue) -> ArrayValue:
    """``np.cumsum(x)``, ``np.sort(x)``: in a copy, in place."""
    if len(value.type.shape) != 1:
        raise scope.error(node.args[0], f"np.{word} needs a vector but this is {t.named(value.type)}")
    if word == "cumsum" and value.type.element == "bool":
        value = value.widened(t.Array("int", value.type.shape))
    copy, site = temporary(scope, value, node), scope.site(node)
    if word == "sort":
        scope.pending.append(t.Sort(copy, site))
        return stored(copy)
    counter = new_counter(scope)
    following = t.Binary("+", counter, t.Const(1, "int"), "int")
    before, here = (t.Element(copy, index, value.type.element) for index in (counter, following))
    added = t.Assign(here, t.Binary("+", before, here, here.type), site)
    count = t.Const(value.type.size - 1, "int")
    scope.pending.append(t.Each(counter.name, count, (added,), site))
    return stored(copy)


def searched(scope: Scope, node: ast.Call) -> t.Expr:
    """``np.searchsorted(x, value)``, ``np.searchsorted(x, value, side="right")``."""
    further = [*node.args[2:], *(keyword.value for keyword in node.keywords)]
    wrong = [keyword for keyword in node.keywords if keyword.arg != "side"]
    if len(node.args) < 2 or len(further) > 1 or wrong:
        raise scope.error(node, 'np.searchsorted takes a vector, a number and side="left" or "right"')
    side: Any = "left"
    if further:
        side = further[0].value if isinstance(further[0], ast.Constant) else None
    if side not in ("left", "right"):
        raise scope.error(further[0], 'side of np.searchsorted must be "left" or "right"')
    array, value = (value_of(scope, argument) for argument in node.args[:2])
    if not isinstance(array, ArrayValue) or len(array.type.shape) != 1:
        raise scope.error(node.args[0], f"np.searchsorted needs a vector but this is {t.named(array.type)}")
    no_ids(scope, array, node.args[0], "np.searchsorted")
    if isinstance(value, ArrayValue) or value.type == "id":
        raise scope.error(node.args[1], f"np.searchsorted needs a number but this is {t.named(value.type)}")
    place = array.place or temporary(scope, array, node)
    return t.Search(place, scope.widened(value, "int") if value.type == "bool" else value, side == "right")


def counted(scope: Scope, node: ast.Call) -> ArrayValue:
    """``np.bincount(x, minlength=n)`` of a list or a vector of ints from 0 to n - 1."""
    if len(node.args) != 1 or [keyword.arg for keyword in node.keywords] != ["minlength"]:
        wanted = "np.bincount takes a list or a vector, and minlength=, the length of the result"
        raise scope.error(node, wanted)
    values, ints = value_of(scope, node.args[0]), False
    if isinstance(values, ArrayValue):
        ints = values.type.element == "int" and len(values.type.shape) == 1
    elif t.is_list(values.type) and values != EMPTY:
        ints = element_type(values.type) == "int"
    if not ints:
        what = "an empty list" if values == EMPTY else t.named(values.type)
        raise scope.error(node.args[0], f"np.bincount needs a list or a vector of ints but this is {what}")
    n = known_length(scope, node.keywords[0].value)
    counts, one = scope.new_local("_counts", t.Array("int", (n,)), node), scope.new_local("_one", "int", node)
    zero, site = t.Const(0, "int"), scope.site(node)
    scope.pending += each_element(
        scope, (n,), lambda i: [t.Assign(t.Element(counts, i, "int"), zero, site)], node
    )
    counter = new_counter(scope)
    length: t.Expr
    if isinstance(values, ArrayValue):
        length, value = t.Const(values.type.size, "int"), values.at(counter)
    else:
        length, value = list_words.length(values), list_words.at(scope, values, counter, node)
    count = t.Element(counts, one, "int")
    more = t.Binary("+", count, t.Const(1, "int"), "int")
    steps = ((one, t.Index(value, n, site, counted=True)), (count, more))
    body = tuple(t.Assign(target, x, site) for target, x in steps)
    scope.pending.append(t.Each(counter.name, length, body, site))
    return stored(counts)


def joined(scope: Scope, node: ast.Call) -> ArrayValue:
    """``np.concatenate((x, y))``, ``np.concatenate([x, y])``: vectors one after the other."""
    given = node.args[0] if len(node.args) == 1 and not node.keywords else None
    if not isinstance(given, ast.Tuple | ast.List) or not given.elts:
        raise scope.error(node, "np.concatenate takes its vectors in parentheses: np.concatenate((x, y))")
    parts = [(value_of(scope, part), part) for part in given.elts]
    element: Any = "bool"
    for value, part in parts:
        if not isinstance(value, ArrayValue) or len(value.type.shape) != 1:
            raise scope.error(part, f"np.concatenate needs vectors but this is {t.named(value.type)}")
        element = join(element, value.type.element)
    size, begin, site = sum(value.type.size for value, _ in parts), 0, scope.site(node)
    whole = scope.new_local("_joined", t.Array(element, (size,)), node)
    statements: list[t.Stmt] = []
    for value, _ in parts:
        wide = value.widened(t.Array(element, value.type.shape))

        def one(i: t.Expr, wide: ArrayValue = wide, begin: int = begin) -> list[t.Stmt]:
            at = t.Binary("+", i, t.Const(begin, "int"), "int") if begin else i
            return [t.Assign(t.Element(whole, at, element), wide.at(i), site)]

        statements += each_element(scope, value.type.shape, one, node)
        begin += value.type.size
    put_before(scope, statements, node)
    return stored(whole)


def known_length(scope: Scope, node: ast.expr) -> int:
    """Return a length known at compile time: a number, a parameter that shapes name, or len(x)."""
    value = value_of(scope, node)
    if not isinstance(value, t.Const) or value.type != "int" or value.value < 1:
        raise scope.error(
            node, "the length of an array must be known: an int, a parameter that a field's shape names, "
            "or len(x)"
        )  # fmt: skip
    return int(value.value)
