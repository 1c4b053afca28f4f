"""From which ends of an edge a scatter writes and reads the edge's fields.

If both ends of an edge scatter over it (gl.ALL, or an undirected graph), only one of them may write a field:
all writes must be under ``if e.forward:``, or all under its else. An end that reads the field in the same
sweep must be the end that writes it, since the order of the two ends is undefined.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gaslab.compiler.tree.expressions import EdgeField, Forward, Logical, Unary, nodes
from gaslab.compiler.tree.program import Tree
from gaslab.compiler.tree.statements import Assign, If, Stmt

End = bool | None  # the end with this e.forward, None for both
WRITTEN, READ = "written", "read"


def conflict(tree: Tree) -> tuple[int, str] | None:
    """Return an edge field that both ends would write, or one writes and the other reads, and which case."""
    if "scatter" not in tree.functions:
        return None
    uses = list(_uses(tree.functions["scatter"].body, None))
    for index, _ in enumerate(tree.edge_fields):
        writes = {end for k, how, end in uses if k == index and how == WRITTEN}
        reads = {end for k, how, end in uses if k == index and how == READ}
        if writes and writes not in ({True}, {False}):
            return index, WRITTEN
        if writes and reads - writes:
            return index, READ
    return None


def _uses(body: tuple[Stmt, ...], end: End) -> Iterator[tuple[int, str, End]]:
    """Yield each use of an edge field: the field, how, and by which end."""
    for statement in body:
        parts = dict(vars(statement))
        if isinstance(statement, If):
            body_end, other_end = _split(statement.test)
            yield from _uses(parts.pop("body"), end if body_end is None else body_end)
            yield from _uses(parts.pop("otherwise"), end if other_end is None else other_end)
        elif isinstance(statement, Assign) and isinstance(statement.target, EdgeField):
            parts.pop("target")
            yield statement.target.index, WRITTEN, end
        for part in parts.values():
            if isinstance(part, tuple):
                yield from _uses(part, end)
            else:
                yield from ((x.index, READ, end) for x in nodes(part) if isinstance(x, EdgeField))


def _split(test: Any) -> tuple[End, End]:
    """Return the end for which the body under *test* runs, and the end for its else."""
    if isinstance(test, Forward):
        return True, False
    if isinstance(test, Unary) and test.op == "not":
        first, second = _split(test.operand)
        return second, first
    if isinstance(test, Logical) and test.op == "and":
        return next((s for s, _ in map(_split, test.operands) if s is not None), None), None
    return None, None
