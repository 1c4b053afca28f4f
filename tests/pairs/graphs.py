"""Drawn graphs: ids, edges and columns, by the features that a run is to have."""

from __future__ import annotations

import random
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from gaslab.graph.graph import Graph
    from gaslab.parallel.comm import Comm

NAMES = ("~", "a", "b b", "é", "zz", "日本", "a.b", "A", "0", "007", "#x", "ÿĀ")


@dataclass
class Drawn:
    """A graph as plain lists; of a bipartite one `right` are the ids on the right."""

    ids: list[Any]
    edges: list[tuple[Any, Any]]
    columns: dict[str, list[Any]] = field(default_factory=dict)
    vertex_columns: dict[str, list[Any]] = field(default_factory=dict)
    directed: bool = True
    right: list[Any] | None = None

    def build(self, comm: Comm | None = None, strategy: str | None = None) -> Graph:
        """Return it as a graph on the ranks of *comm* (collective)."""
        from gaslab.graph.graph import Graph

        # An empty list has no type: ids are ints unless an array says otherwise.
        src, dst = ([e[k] for e in self.edges] or np.zeros(0, np.int64) for k in (0, 1))
        if not self.edges and self.ids and isinstance(self.ids[0], str):
            src, dst = np.zeros(0, str), np.zeros(0, str)
        more: dict[str, Any] = {} if comm is None else {"comm": comm}
        if self.right is not None:
            more |= {"vertices": (self.ids, self.right), "bipartite": True}
        elif self.ids:
            more |= {"vertices": self.ids}
        columns = (
            self.columns
            if self.edges
            else {
                k: np.zeros((0, 2)[: 1 + (k == "place")])
                for k in self.columns
                if k not in ("tokens", "marks")
            }
        )
        graph = Graph.from_edges(src, dst, columns=columns, directed=self.directed, strategy=strategy, **more)
        if self.vertex_columns:
            graph = graph.with_vertices(self.vertex_table())
        return graph

    def vertex_table(self) -> dict[str, list[Any]]:
        """Return the columns of vertices with the ids that they belong to."""
        table = {"id": [*self.ids, *(self.right or [])], **self.vertex_columns}
        if self.right is not None:
            table["side"] = [0] * len(self.ids) + [1] * len(self.right)
        return table


def drawn_graph(draws: random.Random, features: Collection[str]) -> Drawn:
    """Return a graph that has *features*; hubs are likely, so that vertices get mirrors."""
    if "no vertices" in features:
        return Drawn(
            [],
            [],
            _columns(draws, features, 0),
            {},
            "undirected" not in features,
            [] if "bipartite" in features else None,
        )
    n = draws.randrange(1, 12) if draws.random() < 0.65 else draws.randrange(12, 60)
    if "large graph" in features:
        n = draws.choice([200, 500, 2000])
    count = draws.randrange(1, 4 * n + 2)
    ids = _ids(draws, features, n)
    bipartite, right = "bipartite" in features, None
    if bipartite:
        m = draws.randrange(1, n + 2)
        right = _ids(draws, features, m) if draws.random() < 0.5 else ids[:m]
    ends = (len(ids), len(right) if right is not None else len(ids))
    pairs = (
        []
        if "no edges" in features
        else [
            tuple(draws.randrange(k) if draws.random() < 0.6 else draws.randrange(min(3, k)) for k in ends)
            for _ in range(count)
        ]
    )
    if pairs and "parallel edges" in features:
        pairs += [pairs[0], draws.choice(pairs)]
    elif "parallel edges" not in features:
        pairs = list({(min(p), max(p)) if not bipartite else p: p for p in pairs}.values())
    if not bipartite:
        pairs = [p for p in pairs if p[0] != p[1]]
        if pairs and "self-loops" in features:
            pairs += [(k, k) for k in draws.choices(range(n), k=2)]
            pairs = pairs if "parallel edges" in features else list(dict.fromkeys(pairs))
    if "isolated vertices" not in features and pairs and not bipartite:
        used = sorted({k for p in pairs for k in p})
        place = {k: j for j, k in enumerate(used)}
        ids, pairs = [ids[k] for k in used], [(place[a], place[b]) for a, b in pairs]
    if not pairs and not {"no edges", "no vertices"} & {*features}:
        ids = ids if bipartite or len(ids) > 1 else _ids(draws, features, 2)
        pairs = [(0, 0 if bipartite else 1)]
    other = right if right is not None else ids
    edges = [(ids[a], other[b]) for a, b in pairs]
    vertices = len(ids) + len(right or [])
    columns = {"colour": [draws.randrange(9) for _ in range(vertices)]} if "vertex column" in features else {}
    return Drawn(
        ids, edges, _columns(draws, features, len(edges)), columns, "undirected" not in features, right
    )


def _ids(draws: random.Random, features: Collection[str], n: int) -> list[Any]:
    if "string ids" in features:
        return sorted(
            {NAMES[k % len(NAMES)] + (str(k) if k >= len(NAMES) else "") for k in range(n)}, key=str.encode
        )
    if "sparse ids" in features:
        return sorted((k * 0x9E3779B97F4A7C15 + 12345) % 2**63 for k in range(n))
    return list(range(n))


def _columns(draws: random.Random, features: Collection[str], m: int) -> dict[str, list[Any]]:
    made: dict[str, list[Any]] = {}
    if "edge column" in features:
        made["price" if "columns=" in features else "weight"] = [draws.randrange(1, 65) / 8 for _ in range(m)]
    if "edge default" in features and draws.random() < 0.5:
        made["cost"] = [draws.randrange(-9, 10) for _ in range(m)]
    if "edge vector" in features and draws.random() < 0.7:
        made["place"] = [[draws.randrange(16) / 4, draws.randrange(16) / 4] for _ in range(m)]
    for feature, name in (("edge list", "tokens"), ("edge set", "marks")):
        if feature in features:
            made[name] = [[draws.randrange(7) for _ in range(draws.randrange(5))] for _ in range(m)]
    return made
