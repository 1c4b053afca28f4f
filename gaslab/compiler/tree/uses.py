"""Uses of edges and lists in a program, for which backends and engines prepare; loops at each edge."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from gaslab.compiler.tree.declared import is_list
from gaslab.compiler.tree.expressions import (
    CallHelper,
    Categorical,
    Const,
    EdgeField,
    ListWord,
    Local,
    Reduce,
    VertexField,
    nodes,
)
from gaslab.compiler.tree.program import Tree
from gaslab.compiler.tree.statements import (
    AddOuter,
    ConjugateGradient,
    Contribute,
    Each,
    ForRange,
    Solve,
    Sort,
    Stmt,
    While,
)

ORDERLESS = ("len", "in", "mode", "mex")  # words that do not see the order of a list


def by_source(tree: Tree, *phases: str) -> tuple[int, ...]:
    """Return the edge fields that are kept a second time, in the order of the out-edges, for these *phases*.

    Gather or scatter reads them and nothing writes edges: a loop over the out-edges of a vertex finds them in
    a row.
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


def order_seen(tree: Tree) -> bool:
    """Return whether the result of apply may depend on the order of its list."""
    apply = tree.functions["apply"]
    blind = sum(
        isinstance(x, ListWord) and x.function in ORDERLESS and _is_total(x.arguments[-1])
        for x in nodes(apply.body)
    )
    return blind < sum(_is_total(x) for x in nodes(apply.body))


def _is_total(x: Any) -> bool:
    return isinstance(x, Local) and x.name == "total" and is_list(x.type)


def marked_field(tree: Tree) -> int | None:
    """Return the set of ids of ``v`` that gather compares with each neighbour's, so that marking pays."""
    gather = tree.functions.get("gather")
    for x in nodes(gather.body) if gather else ():
        if isinstance(x, ListWord) and x.function == "common" and x.arguments[0].type == "set:id":
            roles = {a.role: a.index for a in x.arguments if isinstance(a, VertexField)}
            if roles.keys() == {"v", "nbr"}:
                return roles["v"]
    return None


OVER_EDGES = ("gather", "scatter", "visit")
UNKNOWN = (While, Solve, ConjugateGradient, Sort)  # only a run knows how often they go round

Loops = dict[int, int | None]  # by site: how often its loop goes round for an edge; None where unknown


def edge_work(tree: Tree) -> dict[str, Loops]:
    """Return the loops of each method over edges that has any; those of its helpers are among them."""
    functions = [function for name, function in tree.functions.items() if name in OVER_EDGES]
    functions += [aggregator.function for aggregator in tree.aggregators if aggregator.over_edges]
    found: dict[str, Loops] = {}
    for function in functions:
        _find(tree, function.body, function.site, 1, found.setdefault(function.name, {}))
    return {name: loops for name, loops in found.items() if loops}


def _find(tree: Tree, node: Any, site: int, around: int | None, loops: Loops) -> None:
    """Add the loops in *node*, which itself is gone through *around* times; of a site the longest counts."""
    if isinstance(node, tuple):
        for item in node:
            _find(tree, item, site, around, loops)
    elif is_dataclass(node):
        own = getattr(node, "site", -1)
        site = own if own >= 0 else site
        if (count := _count(tree, node)) != 1:
            around = None if count is None or around is None else around * count
            longest = loops.get(site, 0)
            loops[site] = None if around is None or longest is None else max(around, longest)
        if isinstance(node, CallHelper):
            _find(tree, tree.helpers[node.index].body, site, around, loops)
        for field in fields(node):
            _find(tree, getattr(node, field.name), site, around, loops)


def _count(tree: Tree, node: Any) -> int | None:
    """Return how often a node goes through what is in it: 1 if it is no loop, None where a run decides."""
    if isinstance(node, (Reduce, Categorical)):
        return node.count
    if isinstance(node, AddOuter):
        length = tree.part(node.target).shape[0]
        return length * (length + 1) // 2
    if isinstance(node, Each):
        return int(node.count.value) if isinstance(node.count, Const) else None
    if isinstance(node, ForRange):
        bounds = [x.value for x in (node.start, node.stop, node.step) if isinstance(x, Const)]
        return len(range(*map(int, bounds))) if len(bounds) == 3 else None
    return None if isinstance(node, UNKNOWN) else 1
