"""Graphs drawn by hypothesis: small, with loops, parallel edges, isolated vertices and all kinds of ids.

`described` has all content of a graph, so that two can be compared.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from tests.support.strategies import STRATEGIES as STRATEGIES

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph
    from gaslab.parallel.comm import Comm

KINDS = ("dense", "sparse", "str")


@dataclass(frozen=True)
class Drawn:
    """A graph as plain lists; `ids` has every vertex once, sorted, isolated ones too."""

    ids: list[Any]
    edges: list[tuple[Any, Any]]
    columns: dict[str, list[Any]]
    directed: bool

    def build(self, comm: Comm, strategy: str | None = None) -> Graph:
        """Return it as a graph on the ranks of *comm* (collective)."""
        from gaslab.graph.graph import Graph

        return Graph.from_edges(
            [s for s, _ in self.edges],
            [t for _, t in self.edges],
            columns=self.columns,
            vertices=self.ids,
            directed=self.directed,
            strategy=strategy,
            comm=comm,
        )


def _ids(kind: str, n: int) -> list[Any]:
    if kind == "dense":
        return list(range(n))
    if kind == "sparse":
        return sorted((k * 0x9E3779B97F4A7C15 + 12345) % 2**63 for k in range(n))
    names = ("", "a", "b b", "é", "zz", "日本", "a.b", "A", "0", "007", "#x", "\u00ff\u0100")
    return sorted({names[k % len(names)] + "~" * (k // len(names) + 1) for k in range(n)}, key=str.encode)


@st.composite
def graphs(
    draw: st.DrawFn, *, directed: bool | None = None, most: int = 12, kinds: tuple[str, ...] = KINDS
) -> Drawn:
    """Draw a graph with at least one vertex and edge; hubs are likely, so that vertices get mirrors."""
    n = draw(st.integers(1, most))
    ids = _ids(draw(st.sampled_from(kinds)), n)
    position = st.integers(0, n - 1) | st.integers(0, min(2, n - 1))
    pairs = draw(st.lists(st.tuples(position, position), min_size=1, max_size=4 * most))
    count = len(pairs)
    eighths = st.integers(1, 64).map(lambda k: k / 8)
    columns: dict[str, list[Any]] = {
        "weight": draw(st.lists(eighths, min_size=count, max_size=count)),
        "cost": draw(st.lists(st.integers(-9, 9), min_size=count, max_size=count)),
    }
    edges = [(ids[s], ids[t]) for s, t in pairs]
    return Drawn(ids, edges, columns, draw(st.booleans()) if directed is None else directed)


def hubs(n: int = 60, edges: int = 400, seed: int = 3) -> Drawn:
    """Return a graph of which a few vertices have most of the edges."""
    rng = np.random.default_rng(seed)
    ends = np.stack([rng.integers(0, n, edges), rng.integers(0, n, edges) ** 3 // n**2])
    weights = rng.integers(1, 40, edges) / 4
    return Drawn(list(range(n)), list(map(tuple, ends.T.tolist())), {"weight": weights.tolist()}, True)


def with_lists(graph: Drawn) -> st.SearchStrategy[Drawn]:
    """Return the graph with columns of lists of different length."""
    few = st.integers(0, 6)
    values = {"tokens": few, "marks": few, "levels": few.map(lambda k: k / 4), "flags": st.booleans()}
    count = len(graph.edges)
    columns = {
        name: st.lists(st.lists(value, max_size=4), min_size=count, max_size=count)
        for name, value in values.items()
    }
    return st.fixed_dictionaries(columns).map(lambda more: replace(graph, columns={**graph.columns, **more}))


def scored() -> Graph:
    """Return three vertices and two edges from the first, with scores 1, 2 and 3."""
    from gaslab.graph.graph import Graph

    return Graph.from_edges([0, 0], [1, 2]).with_vertices({"id": [0, 1, 2], "score": [1, 2, 3]})


def described(graph: Graph) -> dict[str, Any]:
    """Return all of a graph in the user's ids, sorted, the same on every rank."""
    comm = graph.comm
    src, dst = graph.edges()
    rows = zip(
        graph.ids.marked(src), graph.ids.marked(dst), *(c.tolist() for c in graph.edge_columns.values()),
        strict=True,
    )  # fmt: skip
    masters = graph.ids.marked(graph.local.gid[: graph.local.num_masters])
    values = zip(masters, *(c.tolist() for c in graph.vertex_columns.values()), strict=True)
    return {
        "edges": sorted((row for part in comm.allgather(list(rows)) for row in part), key=repr),
        "vertices": sorted((row for part in comm.allgather(list(values)) for row in part), key=repr),
        "sizes": (graph.num_vertices, graph.num_edges, graph.directed),
    }
