"""What the pairs run on: graphs whose sizes follow one scale, each made when it is first asked for."""

from __future__ import annotations

from functools import cached_property

import numpy as np

import gaslab as gl

LENGTH = 150  # tokens of a document
THEMES = 40  # that the words of documents are drawn from


class Inputs:
    """The graphs at a scale; at 20 an R-MAT of 2**20 vertices, 3 M tokens, 2 M ratings."""

    def __init__(self, scale: int, edge_factor: int = 16) -> None:
        self.scale, self.edge_factor = scale, edge_factor

    def _size(self, at_20: int, least: int) -> int:
        return max(int(at_20 * 2.0 ** (self.scale - 20)), least)

    @cached_property
    def rmat(self) -> gl.Graph:
        """Directed, with weights."""
        return gl.Graph.generate(
            "rmat", scale=self.scale, edge_factor=self.edge_factor, seed=1, weights=255,
            drop_duplicates=True, drop_self_loops=True,
        )  # fmt: skip

    @cached_property
    def grid(self) -> gl.Graph:
        """As many vertices, each with an edge to the one below and to the right, with weights."""
        side = 1 << self.scale // 2
        return _directed(gl.Graph.generate("grid", rows=side, columns=side, weights=255))

    @cached_property
    def chain(self) -> gl.Graph:
        """As many vertices, each with an edge to the next, with weights."""
        return _directed(gl.Graph.generate("grid", rows=1, columns=1 << self.scale, weights=255))

    @cached_property
    def undirected_grid(self) -> gl.Graph:
        """As many vertices, each with the four around it."""
        side = 1 << self.scale // 2
        return gl.Graph.generate("grid", rows=side, columns=side)

    @cached_property
    def small_grid(self) -> gl.Graph:
        """Undirected, an eighth of the vertices: those of belief propagation have 32 numbers an edge."""
        side = max(int((1 << self.scale) ** 0.5 / 8**0.5), 4)
        return gl.Graph.generate("grid", rows=side, columns=side)

    @cached_property
    def undirected_rmat(self) -> gl.Graph:
        return gl.Graph.from_edges(*self.rmat.edges(), directed=False, drop_duplicates=True)

    @cached_property
    def weighted_rmat(self) -> gl.Graph:
        """Undirected, with weights."""
        columns = {"weight": self.rmat.edge_columns["weight"]}
        return gl.Graph.from_edges(*self.rmat.edges(), columns=columns, directed=False, drop_duplicates=True)

    @cached_property
    def uniform(self) -> gl.Graph:
        """Undirected, as many edges as the R-MAT has about, any two ends alike."""
        vertices = 1 << self.scale
        directed = gl.Graph.generate(
            "erdos-renyi", vertices=vertices, edges=self.edge_factor * vertices, seed=1
        )
        return gl.Graph.from_edges(
            *directed.edges(), directed=False, drop_duplicates=True, drop_self_loops=True
        )

    @cached_property
    def weighted_uniform(self) -> gl.Graph:
        """Undirected, with weights."""
        ends = self.uniform.edges()
        columns = {"weight": np.random.default_rng(1).integers(1, 256, ends[0].size)}
        return gl.Graph.from_edges(*ends, columns=columns, directed=False)

    @cached_property
    def weighted_grid(self) -> gl.Graph:
        """Undirected, with weights."""
        side = 1 << self.scale // 2
        return gl.Graph.generate("grid", rows=side, columns=side, weights=255)

    @cached_property
    def tokens(self) -> gl.Graph:
        """Documents and words, an edge for every token; a topic for each, drawn at random.

        A document has four themes. A theme is a Zipf distribution over the words in an order of its own.
        """
        rng = np.random.default_rng(1)
        documents, words = self._size(20_000, 40), self._size(30_000, 200)
        order = np.stack([rng.permutation(words) for _ in range(THEMES)])
        themes = rng.integers(THEMES, size=(documents, 4))
        document = np.repeat(np.arange(documents), LENGTH)
        theme = themes[document, rng.integers(4, size=document.size)]
        rank = (words ** rng.random(document.size)).astype(np.int64) - 1
        columns = {f"topic{k}": rng.integers(k, size=document.size) for k in (37, 100)}
        return gl.Graph.from_edges(document, order[theme, rank], columns=columns, bipartite=True)

    @cached_property
    def ratings(self) -> gl.Graph:
        """Users and items, some much more often rated than others; ratings of rank 4 with noise."""
        rng = np.random.default_rng(1)
        users, items, count = self._size(60_000, 60), self._size(10_000, 30), self._size(2_000_000, 1000)
        user = (users * rng.random(count) ** 1.5).astype(np.int64)
        item = (items * rng.random(count) ** 2).astype(np.int64)
        left, right = rng.normal(0, 0.7, (users, 4)), rng.normal(0, 0.7, (items, 4))
        rating = 3.5 + (left[user] * right[item]).sum(axis=1) + rng.normal(0, 0.3, count)
        return gl.Graph.from_edges(user, item, columns={"rating": rating}, bipartite=True)


def _directed(graph: gl.Graph) -> gl.Graph:
    """Return an undirected graph with each edge from its smaller end to its larger."""
    return gl.Graph.from_edges(*graph.edges(), columns={"weight": graph.edge_columns["weight"]})
