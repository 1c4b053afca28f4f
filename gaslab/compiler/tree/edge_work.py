"""Loops that a program runs for each edge: work of more than a few instructions."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from gaslab.compiler.tree.expressions import CallHelper, Categorical, Const, Reduce
from gaslab.compiler.tree.program import Tree
from gaslab.compiler.tree.statements import AddOuter, ConjugateGradient, Each, ForRange, Solve, Sort, While

OVER_EDGES = ("gather", "scatter", "visit")
UNKNOWN = (While, Solve, ConjugateGradient, Sort)  # only a run knows their number of rounds

Loops = dict[int, int | None]  # by site: the rounds of its loop per edge; None if unknown


def edge_work(tree: Tree) -> dict[str, Loops]:
    """Return the loops of each method over edges that has any, including its helpers' loops."""
    functions = [function for name, function in tree.functions.items() if name in OVER_EDGES]
    functions += [aggregator.function for aggregator in tree.aggregators if aggregator.over_edges]
    found: dict[str, Loops] = {}
    for function in functions:
        _find(tree, tree.edge_body(function), function.site, 1, found.setdefault(function.name, {}))
    return {name: loops for name, loops in found.items() if loops}


def _find(tree: Tree, node: Any, site: int, around: int | None, loops: Loops) -> None:
    """Add the loops in *node*, which itself runs *around* times; the longest at a site counts."""
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
    """Return how often a node runs its content: 1 if it is not a loop, None if a run decides."""
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
