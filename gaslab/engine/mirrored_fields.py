"""Which mirrors need which field: the mirrors at whose edges a method reads it.

Which of these fields a superstep has changed, and sends, is in `mirrors`; for the asynchronous engine in
`asynchronous/make_machine`.
"""

from __future__ import annotations

from collections.abc import Iterator

from gaslab.compiler.tree import Tree
from gaslab.program import ALL, IN, OUT


def across(mask: int) -> int:
    """Return the role of the far ends of edges whose near ends have the role *mask*."""
    return {0: 0, IN: OUT, OUT: IN, ALL: ALL}[mask]


def reasons(tree: Tree, gather: int, scatter: int) -> Iterator[tuple[str, int, str]]:
    """Yield (field, the role of the mirrors that need it, the reason) for every use on a mirror.

    *gather* and *scatter* are the directions as they are on the graph.
    """
    for field in tree.vertex_fields:
        for phase, mask in (("gather", gather), ("scatter", scatter)):
            if mask and field.name in tree.reads(phase, "v"):
                yield field.name, mask, f"{phase} reads it of the vertex itself"
            if mask and field.name in tree.reads(phase, "nbr"):
                yield field.name, across(mask), f"{phase} reads it of the neighbour"
        for a in tree.aggregators:
            if a.over_edges and f"v.{field.name}" in a.function.reads:
                yield field.name, OUT, f"aggregator {a.name} reads it of an edge's source"
            if a.over_edges and f"nbr.{field.name}" in a.function.reads:
                yield field.name, IN, f"aggregator {a.name} reads it of an edge's target"


def field_roles(tree: Tree, gather: int, scatter: int) -> dict[str, int]:
    """Return, by vertex field, the role of the mirrors that need it; 0 is none."""
    roles = dict.fromkeys((field.name for field in tree.vertex_fields), 0)
    for name, mask, _ in reasons(tree, gather, scatter):
        roles[name] |= mask
    return roles
