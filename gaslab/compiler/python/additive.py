"""The additions of scatter to edges, interpreted: the twin of `c.additive`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from gaslab.compiler.python import numerics
from gaslab.compiler.tree import INTEGER_RANGE, EdgeField, Tree
from gaslab.compiler.tree.uses import contributed_at

Positions = Iterator[tuple[int, int]]


def phases(tree: Tree, namespace: dict[str, Any]) -> dict[str, Callable[[Any, Positions], None]]:
    """Return ``gl_join_ends``, ``gl_apply_deltas_in`` and ``_out`` of a program that adds to edges."""
    fields = [_Field(tree, k, namespace[f"combine_edge{k}"]) for k in tree.contributed_edges()]
    if not fields:
        return {}

    def join(c: Any, positions: Positions) -> None:
        for _, v in positions:
            for _, e in c.out_row(v):
                for field in fields:
                    forth, back = (delta[field.name] for delta in (c.delta_forth, c.delta_back))
                    back[e] = field.both(forth.item(e), back.item(e))
                    forth[e] = field.nothing

    def apply_deltas(c: Any, v: int, row: Iterator[tuple[int, int]]) -> None:
        c.at = v
        for _, e in row:
            for field in fields:
                values, back = c.edge[field.index], c.delta_back[field.name]
                values[e] = field.stored(field.both(values.item(e), back.item(e)))
                back[e] = field.nothing

    def apply_in(c: Any, positions: Positions) -> None:
        for _, v in positions:
            apply_deltas(c, v, c.in_row(v))

    def apply_out(c: Any, positions: Positions) -> None:
        for _, v in positions:
            apply_deltas(c, v, c.out_row(v))

    return {"gl_join_ends": join, "gl_apply_deltas_in": apply_in, "gl_apply_deltas_out": apply_out}


class _Field:
    """An additive field of edges."""

    def __init__(self, tree: Tree, k: int, both: Callable[[Any, Any], Any]) -> None:
        self.index, self.name, self.storage, self.both = k, f"d{k}", tree.edge_fields[k].storage, both
        self.nothing, self.site = tree.edge_fields[k].added.identity, contributed_at(tree, EdgeField, k)

    def stored(self, value: Any) -> Any:
        if self.storage in INTEGER_RANGE and self.storage != "int64":
            return numerics.within(value, *INTEGER_RANGE[self.storage], self.site)
        return value
