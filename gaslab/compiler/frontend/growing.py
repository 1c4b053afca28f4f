"""Lists that grow: fields that are appended to, or that take all of a vertex's messages."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import replace

from gaslab.compiler import tree as t
from gaslab.compiler.frontend.assign import writable
from gaslab.compiler.frontend.declare import Declared
from gaslab.compiler.frontend.dispatch import value_of
from gaslab.compiler.frontend.lists import element_type
from gaslab.compiler.frontend.scope import Scope
from gaslab.compiler.frontend.value_checks import check_count, no_keywords

_WRITERS = ("init", "init_message", "apply")
_SORTS = ("mode", "mex")  # functions that need room for a whole list, allocated before a method runs


def append(scope: Scope, node: ast.Call) -> t.Append | None:
    """Return the statement ``v.field.append(x)``, None for anything else."""
    target = node.func.value if isinstance(node.func, ast.Attribute) and node.func.attr == "append" else None
    if not isinstance(target, ast.Attribute) or scope.role(target.value) not in ("v", "nbr", "e"):
        return None
    place, text = writable(scope, target), ast.unparse(target)
    if not t.is_list(place.type) or scope.name not in _WRITERS:
        what = t.named(place.type)
        raise scope.error(node, f"append is for lists of v in init and apply, but this is {what}")
    if place.type.startswith("set:"):
        raise scope.error(node, f"{text} is a sorted set, which is gathered; declare it gl.List to append")
    if text in scope.looped:
        instead = "append to another list, or loop over range(...)"
        raise scope.error(node, f"{text} is looped over here; {instead}")
    assert isinstance(place, t.VertexField)
    no_keywords(scope, node, "append")
    check_count(scope, node, "append", 1, 1)
    at = node.args[0]
    value = scope.fit(value_of(scope, at), element_type(place.type), at, f"an element of {text}")
    name = scope.unit.declared.vertex_fields[place.index].name
    scope.writes.add(f"v.{name}")
    scope.reads.add(f"v.{name}")
    return t.Append(place, value, scope.site(node))


def with_growing(trees: tuple[t.Tree, ...], declared: Iterable[Declared]) -> tuple[t.Tree, ...]:
    """Return the phases of a program, each with its growing lists; raises if edges read them."""
    fields, found = trees[0].vertex_fields, set[str]()
    for _ in range(len(fields) + 1):  # as often as a list can be passed on
        for tree in trees:
            for name in _WRITERS:
                body = tree.functions[name].body if name in tree.functions else ()
                known = {k for k, field in enumerate(fields) if field.name in found}
                found |= {fields[k].name for k in _grown(body, known)}
    if not found:
        return trees
    for tree, one in zip(trees, declared, strict=True):
        _check_readers(tree, one, found)
        _check_words(tree, one, {k for k, field in enumerate(fields) if field.name in found})
    return tuple(replace(tree, growing=frozenset(found)) for tree in trees)


def _grown(body: tuple[t.Stmt, ...], known: set[int]) -> set[int]:
    """Return the fields that grow in a method's *body*, given that those *known* grow."""
    found = set()
    for one in t.statements(body):
        if isinstance(one, t.Append):
            found.add(one.target.index)
        if isinstance(one, t.Assign) and isinstance(one.target, t.VertexField) and t.is_list(one.target.type):
            messages = any(isinstance(x, t.Local) and x.name == "message" for x in t.nodes(one.value))
            read = {x.index for x in t.nodes(one.value) if isinstance(x, t.VertexField)}
            if messages or read & known:
                found.add(one.target.index)
    return found


def _check_words(tree: t.Tree, declared: Declared, growing: set[int]) -> None:
    of_aggregators = {a.name: a.function for a in tree.aggregators}
    for name, function in {**tree.functions, **of_aggregators}.items():
        for x in t.nodes(function.body):
            inner = t.nodes(tree.helpers[x.index].body) if isinstance(x, t.CallHelper) else (x,)
            words = [y.function for y in inner if isinstance(y, t.ListWord) and y.function in _SORTS]
            fields = [y for y in getattr(x, "arguments", ()) if isinstance(y, t.VertexField)]
            if words and any(y.index in growing and t.is_list(y.type) for y in fields):
                text = f"gl.{words[0]} has no room for a list that grows; apply it to the message, or count"
                raise declared.error(name, text)


def _check_readers(tree: t.Tree, declared: Declared, growing: set[str]) -> None:
    over_edges = {a.name: a.function for a in tree.aggregators if a.over_edges}
    for name, function in {**tree.functions, **over_edges}.items():
        if name not in ("gather", "scatter", "visit", *over_edges):
            continue
        for field in sorted(growing):
            if {f"v.{field}", f"nbr.{field}"} & function.reads:
                raise declared.error(
                    name,
                    f"{field!r} is a list that grows, which only its own vertex can read, in init, apply and "
                    f"active; copy what {name} needs into numbers or a vector of v",
                )
