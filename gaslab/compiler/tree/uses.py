"""Uses of edges and lists in a program, for which backends and engines prepare."""

from __future__ import annotations

from typing import Any

from gaslab.compiler.tree.declared import is_list
from gaslab.compiler.tree.expressions import (
    Binary,
    CallHelper,
    Cast,
    Compare,
    Conditional,
    Const,
    EdgeField,
    Expr,
    KeyedWord,
    ListWord,
    Local,
    Logical,
    Param,
    Unary,
    VertexAttribute,
    VertexField,
    nodes,
)
from gaslab.compiler.tree.harmless import harmless
from gaslab.compiler.tree.program import Tree
from gaslab.compiler.tree.statements import Assign, Contribute, If, KeyedLoop, Return, Stmt

ORDERLESS = ("len", "in", "mode", "mex")  # functions that do not depend on a list's order


def by_source(tree: Tree, *phases: str) -> tuple[int, ...]:
    """Return the edge fields kept a second time, in the order of the out-edges, for these *phases*.

    Gather or scatter reads them and nothing writes edges: a loop over a vertex's out-edges finds them
    contiguous.
    """
    if any(tree.writes(name, "e") for name in tree.functions):
        return ()
    read = frozenset().union(*(tree.reads(phase, "e") for phase in phases))
    return tuple(
        k
        for k, field in enumerate(tree.edge_fields)
        if field.name in read and not field.shape and not is_list(field.storage)
    )


def contributed_at(tree: Tree, kind: type[VertexField] | type[EdgeField], k: int) -> int:
    """Return the site of the first contribution to field *k* of vertices or edges."""
    pending: list[Stmt] = list(tree.functions["scatter"].body)
    while pending:
        statement = pending.pop(0)
        if isinstance(statement, Contribute):
            place = statement.place
            if isinstance(place, kind) and place.index == k:
                return statement.site
        for name in ("body", "otherwise"):
            pending += getattr(statement, name, ())
    raise AssertionError(k)


def words(tree: Tree) -> frozenset[str]:
    """Return the operations on lists that a program uses."""
    functions = [*tree.functions.values(), *tree.helpers, *(a.function for a in tree.aggregators)]
    return frozenset(
        x.function for f in functions for x in nodes(f.body) if isinstance(x, ListWord)
    )  # fmt: skip


def keyed_words(tree: Tree) -> frozenset[str]:
    """Return the operations on the total by key that apply uses."""
    return frozenset(x.function for x in nodes(tree.functions["apply"].body) if isinstance(x, KeyedWord))


def keys_sorted(tree: Tree) -> bool:
    """Return whether apply's total by key has ascending keys."""
    return any(isinstance(x, KeyedLoop) and x.ascending for x in nodes(tree.functions["apply"].body))


def order_seen(tree: Tree) -> bool:
    """Return whether apply's result may depend on the order of its list."""
    apply = tree.functions["apply"]
    blind = sum(
        isinstance(x, ListWord) and x.function in ORDERLESS and _is_total(x.arguments[-1])
        for x in nodes(apply.body)
    )
    return blind < sum(_is_total(x) for x in nodes(apply.body))


def _is_total(x: Any) -> bool:
    return isinstance(x, Local) and x.name == "total" and is_list(x.type)


def field_of_total(tree: Tree) -> int | None:
    """Return the list field in whose rows a gather may collect: apply begins with ``v.field = total``.

    Gather does not read the field, so nothing sees its rows before that; and apply assigns it once, so the
    total does not change.
    """
    apply = tree.functions["apply"]
    first = apply.body[0] if apply.body else None
    if not isinstance(first, Assign) or not isinstance(first.target, VertexField):
        return None
    k, field = first.target.index, tree.vertex_fields[first.target.index]
    if not _is_total(first.value) or first.value.type != field.storage or field.name in tree.growing:
        return None
    targets = [x.target for x in nodes(apply.body) if isinstance(x, Assign)]
    if sum(isinstance(x, VertexField) and x.index == k for x in targets) > 1:
        return None
    return None if field.name in tree.reads("gather", "v") | tree.reads("gather", "nbr") else k


def marked_field(tree: Tree) -> int | None:
    """Return the set of ids of ``v`` that gather compares with each neighbour's: marking it pays."""
    gather = tree.functions.get("gather")
    for x in nodes(gather.body) if gather else ():
        if isinstance(x, ListWord) and x.function == "common" and x.arguments[0].type == "set:id32":
            roles = {a.role: a.index for a in x.arguments if isinstance(a, VertexField)}
            if roles.keys() == {"v", "nbr"}:
                return roles["v"]
    return None


_READ = (Const, Param, VertexField, VertexAttribute, Local)
_OPERATIONS = (Unary, Binary, Compare, Logical, Conditional, Cast, Return, If)


def guard_of_lists(tree: Tree) -> Expr | None:
    """Return the test of both ends' numbers that gather must pass to read a neighbour's list, if any.

    It may be evaluated early and again: it cannot fault, and has no loops.
    """
    body = tree.functions["gather"].body
    value = body[0].value if len(body) == 1 and isinstance(body[0], Return) else None
    if not isinstance(value, Conditional) or not _reads_list(value.then) or _reads_list(value.otherwise):
        return None
    return value.test if _is_plain(tree, value.test) else None


def _reads_list(x: Expr) -> bool:
    fields = (node for node in nodes(x) if isinstance(node, VertexField))
    return any(field.role == "nbr" and is_list(field.type) for field in fields)


def _is_plain(tree: Tree, x: Any) -> bool:
    for node in nodes(x):
        if isinstance(node, CallHelper):
            plain = _is_plain(tree, tree.helpers[node.index].body)
        elif isinstance(node, _READ):
            plain = isinstance(node.type, str) and not is_list(node.type)
        else:
            plain = isinstance(node, _OPERATIONS) and harmless(node)
        if not plain:
            return False
    return True
