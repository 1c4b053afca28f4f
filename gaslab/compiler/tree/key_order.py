"""Loops over a total's items with the same result in any order of the keys, so that they need no sort.

A loop needs the order if its rounds do (`keyed_rounds`); all keys are sorted if one loop needs it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from gaslab.compiler.tree.declared import KeyedCombiner
from gaslab.compiler.tree.expressions import Local
from gaslab.compiler.tree.keyed_rounds import Rounds, reads
from gaslab.compiler.tree.program import Tree
from gaslab.compiler.tree.statements import (
    Assign,
    Break,
    Continue,
    ForRange,
    If,
    KeyedLoop,
    Return,
    Stmt,
    While,
)


def without_order(tree: Tree) -> Tree:
    """Return *tree* with its loops over a total in any order, if none needs ascending keys."""
    apply = tree.functions.get("apply")
    if not isinstance(tree.gather, KeyedCombiner) or apply is None:
        return tree
    loops = list(_outermost(apply.body))
    made, found = dict(apply.locals), dict[int, tuple[Stmt, ...]]()
    for loop in loops:
        others = [other for other in loops if other is not loop]
        lasting = _carried(loop.body) | _read_after(apply.body, loop, others)
        rounds = Rounds(tree, apply, loop, lasting, made)
        found[id(loop)] = rounds.result()
        if rounds.ordered:
            return tree
    body = _replaced(apply.body, found)
    return replace(tree, functions={**tree.functions, "apply": replace(apply, locals=made, body=body)})


def _outermost(body: tuple[Stmt, ...]) -> Iterator[KeyedLoop]:
    for s in body:
        if isinstance(s, KeyedLoop):
            yield s
        elif isinstance(s, If):
            yield from _outermost((*s.body, *s.otherwise))
        elif isinstance(s, While | ForRange):
            yield from _outermost(s.body)


def _replaced(body: tuple[Stmt, ...], found: dict[int, tuple[Stmt, ...]]) -> tuple[Stmt, ...]:
    """Return *body* with its loops replaced by the statements in *found*, by identity."""
    made: list[Stmt] = []
    for s in body:
        if isinstance(s, If):
            s = replace(s, body=_replaced(s.body, found), otherwise=_replaced(s.otherwise, found))
        elif isinstance(s, While | ForRange) and id(s) not in found:
            s = replace(s, body=_replaced(s.body, found))
        made += found.get(id(s), (s,))
    return tuple(made)


# ---- which locals live for a round -----------------------------------------------------------------


def _read_after(body: tuple[Stmt, ...], loop: KeyedLoop, others: list[KeyedLoop]) -> set[str]:
    """Return the locals that are read outside *loop*, except those that *others* assign first."""
    found = reads(body) - reads(loop)
    for other in others:
        carried = _carried(other.body)
        found -= Counter({name: count for name, count in reads(other).items() if name not in carried})
    return set(found)


def _carried(body: tuple[Stmt, ...]) -> set[str]:
    """Return the locals that a loop's *body* may read before assigning them."""
    found: set[str] = set()
    _assigned(body, set(), found)
    return found


def _assigned(body: tuple[Stmt, ...], known: set[str], found: set[str]) -> set[str] | None:
    """Return the locals assigned after *body*, None if it exits; put those read before in *found*."""
    for s in body:
        if isinstance(s, If):
            found |= reads(s.test).keys() - known
            ways = [_assigned(part, set(known), found) for part in (s.body, s.otherwise)]
            arriving = [way for way in ways if way is not None]
            if not arriving:
                return None
            known = set.intersection(*arriving)
        else:
            found |= reads(s).keys() - known
            if isinstance(s, Continue | Break | Return):
                return None
            if isinstance(s, Assign) and isinstance(s.target, Local):
                known = known | {s.target.name}
    return known
