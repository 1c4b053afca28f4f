"""A method as Python text while it is written: the twin of `c.body`.

A method is a function of ``c`` (the `Interpreter`'s view), ``n`` (the near vertex's field values), ``v`` and
``x`` (the near and the far vertex, local ids), ``e`` (the edge's slot) and, in apply and helpers, their
scalars.
"""

from __future__ import annotations

from gaslab.compiler import tree as t


class Body:
    """One function of a tree on its way into Python text; *near* is the role whose values are in ``n``."""

    def __init__(self, tree: t.Tree, function: t.Function, near: str = "v") -> None:
        self.tree, self.function, self.near = tree, function, near
        gather = tree.gather if function.name == "gather" else None
        self.collects = gather.storage if gather is not None and gather.op in t.LIST_KINDS else ""
        self.lines: list[str] = []
        self.depth = 1

    def put(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + line + "\n")
