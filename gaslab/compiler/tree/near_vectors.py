"""Vectors that gather and scatter compute from their own vertex alone: one serves all its edges."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from gaslab.compiler.tree.declared import Array, Type
from gaslab.compiler.tree.expressions import (
    Aggregate,
    Binary,
    Call,
    Cast,
    Compare,
    Conditional,
    Const,
    Element,
    Global,
    Index,
    ListWord,
    Local,
    Logical,
    Param,
    PartOf,
    Reduce,
    Search,
    Shared,
    Unary,
    VertexAttribute,
    VertexField,
    nodes,
)
from gaslab.compiler.tree.statements import Assign, Each, Sort, Stmt, is_elementwise

LEAST = 24  # work per edge, in elements, from which keeping vectors and pushing pay
MOST = 1 << 17  # elements of all such vectors of a method: they are on a thread's stack
_SETS = (Assign, Each, Sort)
_READS = (
    Aggregate, Binary, Call, Cast, Compare, Conditional, Const, Element, Global, Index, ListWord, Local,
    Logical, Param, PartOf, Reduce, Search, Shared, Unary, VertexAttribute, VertexField,
)  # fmt: skip


@dataclass(frozen=True)
class NearVectors:
    """A method's body in two: the work once per vertex, and the work for each of its edges.

    *before* computes the *vectors*, by name; *rest* is without the statements that do so.
    """

    before: tuple[Stmt, ...]
    vectors: dict[str, Array]
    rest: tuple[Stmt, ...]


def divided(
    body: tuple[Stmt, ...], locals_: Mapping[str, Type], changing: Collection[int]
) -> NearVectors | None:
    """Return the division of gather's or scatter's *body*; None if edges share nothing.

    Only the first statements of a method count, up to the first that reads more than ``v``, or a field of
    *changing*: so nothing is computed, and nothing faults, that the first edge would not reach. Short vectors
    are computed at each edge: that is as fast, and targets may run scatter.
    """
    known: set[str] = set()
    count = 0
    for s in body:
        if not _of_vertex(s, known, changing):
            break
        known |= _targets(s)
        count += 1
    before, after = body[:count], body[count:]
    changed = _targets(after)
    vectors = {x: kind for x in sorted(known - changed) if isinstance(kind := locals_.get(x), Array)}
    if not vectors or sum(kind.size for kind in vectors.values()) > MOST:
        return None
    once = [s for s in before if _targets(s) & vectors.keys()]
    if sum(map(_work, once)) < LEAST:
        return None
    rest = (*(s for s in before if s not in once), *after)
    counters = _targets(tuple(once)) - vectors.keys()  # and numbers that loops over elements set
    if counters & {x.name for x in nodes(rest) if isinstance(x, Local)}:
        return None
    return NearVectors(before, vectors, rest)


def _of_vertex(s: Stmt, known: set[str], changing: Collection[int]) -> bool:
    """Return whether a statement sets locals from ``v`` alone, before its edges."""
    made = known | _targets(s) | {x.counter for x in nodes(s) if isinstance(x, Each | Reduce)}

    def allowed(x: Any) -> bool:
        if isinstance(x, Local):
            return x.name in made
        if isinstance(x, VertexField):
            return x.role == "v" and x.index not in changing
        if isinstance(x, VertexAttribute):
            return x.role == "v"
        if isinstance(x, PartOf):
            return x.record.startswith("self ")
        if isinstance(x, Assign):
            place = x.target.array if isinstance(x.target, Element) else x.target
            return isinstance(place, Local)
        return isinstance(x, (Array, *_READS, *_SETS))

    return isinstance(s, _SETS) and all(map(allowed, nodes(s)))


def _work(s: Stmt) -> float:
    """Return a statement's work in elements of an unordered loop; one of an ordered loop counts four."""
    if isinstance(s, Sort):
        assert isinstance(s.array.type, Array)
        return 4 * s.array.type.size * s.array.type.size.bit_length()
    if not isinstance(s, Each):
        return 4 * sum(x.count for x in nodes(s) if isinstance(x, Reduce))
    if not isinstance(s.count, Const):  # a list's length
        return math.inf
    inner = sum(map(_work, s.body))
    return float(s.count.value) * (inner or (1 if is_elementwise(s) else 4))


def _targets(s: Any) -> set[str]:
    """Return the names of the locals that statements set, except counters of loops over elements."""
    found = set()
    for x in nodes(s):
        for place in (getattr(x, name, None) for name in ("target", "array", "matrix", "right", "answer")):
            place = place.array if isinstance(place, Element) else place
            if isinstance(place, Local) and isinstance(x, Stmt):
                found.add(place.name)
    return found
