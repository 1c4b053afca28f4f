"""Tests in scatter that read only one end of the edge: evaluated once per vertex, before its edges.

``if nbr.level < 0: nbr.signal()`` does nothing for a target that has a level, so a pull skips that target and
all its edges; ``if v.left and …`` does the same for a source that pushes.
"""

from __future__ import annotations

from typing import Any

from gaslab.compiler import tree as t
from gaslab.compiler.tree.harmless import harmless

_LEAVES = (t.Const, t.Param, t.Aggregate, t.Global, t.Bound)
_INNER = (t.Unary, t.Binary, t.Compare, t.Logical, t.Conditional, t.Cast, t.Call, t.Let)


def guard(tree: t.Tree, role: str) -> tuple[t.Expr, ...]:
    """Return the tests of the vertex *role* (``"v"`` or ``"nbr"``) alone that scatter must pass to act.

    They may be evaluated once and early: neither they nor earlier tests can fault.
    """
    body = tree.functions["scatter"].body
    if len(body) != 1 or not isinstance(body[0], t.If) or body[0].otherwise:
        return ()
    test, found = body[0].test, []
    for operand in test.operands if isinstance(test, t.Logical) and test.op == "and" else (test,):
        parts = list(t.nodes(operand))
        if not all(map(harmless, parts)):
            break
        if all(isinstance(x, (*_LEAVES, *_INNER)) or _of(role, x) for x in parts):
            found.append(operand)
    return tuple(found)


def names(tests: tuple[t.Expr, ...], tree: t.Tree) -> frozenset[str]:
    """Return the fields and attributes of the vertex that *tests* read."""
    parts = [x for test in tests for x in t.nodes(test)]
    return frozenset(
        tree.vertex_fields[x.index].name for x in parts if isinstance(x, t.VertexField)
    ) | frozenset(x.name for x in parts if isinstance(x, t.VertexAttribute))


def _of(role: str, node: Any) -> bool:
    return isinstance(node, (t.VertexField, t.VertexAttribute)) and node.role == role
