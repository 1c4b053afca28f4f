"""Vectors that visit derives from aggregates, kept instead of recomputed at every edge.

In ``gl.categorical(... * (1.0 / (self.tokens.counts + rest)))`` an expression of live totals alone changes
only where visit adds to them. `gl_visit` computes it once for its block, and each addition recomputes one
element by the same expression: the bits are those of the program as written, without a division for each
topic and token. Other aggregates do not change during a sweep, so expressions of them are kept too: in single
precision even a plain element, which is stored in double.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.tree.harmless import harmless

MOST = 1 << 17  # elements of all derived vectors: they lie on the stack of a thread
_CONSTANT = (t.Const, t.Param, t.Global, t.Aggregate)
_INNER = (t.Unary, t.Binary, t.Cast)


@dataclass(frozen=True)
class Derived:
    """A vector: *value*, without locals, at ``counter``; *sources* are the aggregates that it reads.

    Additions to the live ones update it.
    """

    counter: str
    size: int
    value: t.Expr
    sources: frozenset[t.PartOf]


def vectors(tree: t.Tree) -> dict[t.Expr, Derived]:
    """Return the derived vectors of visit, by the expression of an element, in program order."""
    if "visit" not in tree.functions:
        return {}
    body, found = tree.functions["visit"].body, dict[t.Expr, Derived]()
    known = _constants(tree, body)
    for x in t.nodes(body):
        if isinstance(x, t.Categorical | t.Reduce):
            _collect(tree, x.value, x, known, found)
    return found


def _collect(tree: t.Tree, x: Any, loop: Any, known: dict[str, t.Expr], found: dict[t.Expr, Derived]) -> None:
    if not is_dataclass(x):
        return
    sources = _sources(tree, x, loop.counter, known)
    if sources and getattr(x, "type", "") == "float" and not _lies_so(tree, x):
        element: Any = x
        if loop.count + sum(one.size for one in found.values()) <= MOST:
            made = Derived(loop.counter, loop.count, _inlined(x, known), frozenset(sources))
            found.setdefault(element, made)
        return
    if isinstance(x, t.Element):
        return
    for field in fields(x):
        part = getattr(x, field.name)
        for one in part if isinstance(part, tuple) else (part,):
            _collect(tree, one, loop, known, found)


def _sources(tree: t.Tree, x: Any, counter: str, known: dict[str, t.Expr]) -> list[t.PartOf] | None:
    """Return the aggregates whose element at *counter* *x* reads; None if it reads anything else."""
    if isinstance(x, t.Element):
        part = x.array
        if isinstance(part, t.PartOf) and _of_aggregate(part) and x.index == t.Local(counter, "int"):
            return [part]
        return None
    if isinstance(x, t.Local):
        return [] if x.name in known else None
    if _is_constant(tree, x):
        return []
    if not isinstance(x, _INNER) or not harmless(x):
        return None
    parts = [_sources(tree, getattr(x, name), counter, known) for name in _operands(x)]
    return None if None in parts else [one for part in parts for one in part or ()]


def _constants(tree: t.Tree, body: tuple[t.Stmt, ...]) -> dict[str, t.Expr]:
    """Return the locals assigned once whose value is the same in every call of visit."""
    assigned = Counter(s.target.name for s in t.nodes(body) if _sets_local(s))
    assigned += Counter(x.target.name for x in t.nodes(body) if isinstance(x, t.ForRange))
    known: dict[str, t.Expr] = {}
    for s in t.nodes(body):
        if _sets_local(s) and assigned[s.target.name] == 1 and _sources(tree, s.value, "", known) == []:
            known[s.target.name] = _inlined(s.value, known)
    return known


def _sets_local(s: Any) -> bool:
    return isinstance(s, t.Assign) and isinstance(s.target, t.Local) and isinstance(s.target.type, str)


def _inlined(x: Any, known: dict[str, t.Expr]) -> Any:
    if isinstance(x, t.Local):
        return known.get(x.name, x)
    if isinstance(x, _INNER):
        return replace(x, **{name: _inlined(getattr(x, name), known) for name in _operands(x)})
    return x


def _operands(x: Any) -> tuple[str, ...]:
    return ("left", "right") if isinstance(x, t.Binary) else ("operand",)


def _is_constant(tree: t.Tree, x: Any) -> bool:
    if isinstance(x, t.Aggregate):
        return x.index not in tree.live
    return isinstance(x, _CONSTANT)


def _lies_so(tree: t.Tree, x: Any) -> bool:
    """Return whether *x* is already in memory, in the class's precision."""
    return isinstance(x, t.Element) and tree.storage_of(x.array) == tree.precision


def _of_aggregate(part: t.PartOf) -> bool:
    return part.record.startswith("self ")
