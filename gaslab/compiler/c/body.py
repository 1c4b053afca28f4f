"""A method as C text while it is written.

A method sees `c` (the context: typed arrays, parameters, aggregates, the fault), `n` (the near
vertex, its values in registers), `x` (the far vertex, a local id) and `e` (the edge's slot).
"""

from __future__ import annotations

from gaslab.compiler import tree as t
from gaslab.compiler.c import derived, rng
from gaslab.compiler.c.names import field_name
from gaslab.compiler.c.prefetch import prefetch_drawn
from gaslab.compiler.c.ranges import drawn
from gaslab.compiler.tree.uses import marked_field


class Body:
    """One function of a tree on its way into C text; `statements` writes its lines.

    *near* is the role (``"v"`` or ``"nbr"``) whose values are in ``n``; *signal* is the C statement for a
    signal and *deliver*, for messages, the one before it, with ``{at}`` and ``{message}`` in them. *row* is
    ``"out"`` if ``q`` is the edge's place among its source's edges (see `by_source`).
    """

    def __init__(
        self, tree: t.Tree, function: t.Function, near: str = "v", signal: str = "", deliver: str = "",
        row: str = "",
    ) -> None:  # fmt: skip
        self.tree, self.function, self.near = tree, function, near
        self.signal, self.deliver, self.row = signal, deliver, row
        gather = tree.gather if function.name == "gather" else None
        self.collects = gather.storage if gather is not None and gather.op in t.LIST_KINDS else ""
        marked = marked_field(tree) if gather is not None and not gather.collects else None
        self.marked = None if marked is None else f"n->{field_name(tree, marked)}"
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0
        self.exits: list[str] = []  # how each loop around is left
        self.reductions = 0
        self.intervals = drawn(function)  # also of the variables of the loops around
        self.drawing = rng.drawing_helpers(tree)
        edges = near == "v" and function is tree.functions.get(function.name)
        self.divided = tree.near_vectors(function.name) if edges else None
        visits = function.name == "visit"
        self.derived = derived.vectors(tree) if visits else {}
        self.fetched = prefetch_drawn(tree) if visits else {}  # in a draw by this many weights

    def put(self, line: str) -> None:
        """Write a line."""
        self.lines.append("    " * self.depth + line + "\n")
