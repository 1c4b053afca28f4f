"""Five classes of graph, drawn by seed: the graphs of `gap.py`.

Every edge has a whole weight from 1 to 255, no edge stands twice, and none leads from a vertex to itself.
A grid, drawn once, is given twice: with ids in order and with ids shuffled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import gaslab as gl

CLIQUE = 8  # vertices
COMMUNITY = 256  # vertices
MISSING = 0.05  # of a grid's edges
AWAY = 0.1  # of the edges of a community


@dataclass
class Drawn:
    """A directed graph as arrays, and vertices from which searches begin."""

    n: int
    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    begin: np.ndarray  # vertices of the greatest out-degree, in falling order

    def pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the edges without direction, each once."""
        low, high = np.minimum(self.source, self.target), np.maximum(self.source, self.target)
        keys = distinct(low * self.n + high)
        return keys // self.n, keys % self.n

    def save(self, path: Path) -> None:
        """Write the graph to a file."""
        np.savez(path, **vars(self))

    @classmethod
    def load(cls, path: Path) -> Drawn:
        """Read a graph from a file."""
        with np.load(path) as arrays:
            return cls(n=int(arrays["n"]), **{name: arrays[name] for name in arrays.files if name != "n"})


def distinct(keys: np.ndarray) -> np.ndarray:
    """Return the sorted keys, which are 0 or more, each once; on millions much faster than ``np.unique``."""
    keys = np.sort(keys)
    return keys[np.diff(keys, prepend=-1) > 0]


def drawn(n: int, source: np.ndarray, target: np.ndarray, seed: int) -> Drawn:
    """Return the graph of these edges, without loops and repetitions, with weights."""
    keys = distinct((source * n + target)[source != target])
    source, target = keys // n, keys % n
    weight = np.random.default_rng(seed).integers(1, 256, keys.size)
    return Drawn(n, source, target, weight, _busiest(n, source, np.arange(n)))


def _busiest(n: int, source: np.ndarray, among: np.ndarray) -> np.ndarray:
    """Return the 32 vertices of the greatest out-degree *among* some; of equal ones the first."""
    degree = np.bincount(source, minlength=n)[among]
    return among[np.argsort(-degree, kind="stable")[:32]]


def both_ways(n: int, source: np.ndarray, target: np.ndarray, seed: int) -> Drawn:
    """Return the graph of these edges in both directions, which have the same weight."""
    weight = np.random.default_rng(seed).integers(1, 256, source.size)
    ends = np.concatenate([source, target]), np.concatenate([target, source])
    return Drawn(n, *ends, np.concatenate([weight, weight]), _busiest(n, ends[0], np.arange(n)))


def rmat(scale: int, factor: int) -> Drawn:
    """Return an R-MAT graph: a few hubs, short paths, no locality."""
    graph = gl.Graph.generate("rmat", scale=scale, edge_factor=factor, seed=1)
    source, target = (ends.astype(np.int64) for ends in graph.edges(on="all"))
    return drawn(1 << scale, source, target, seed=1)


def uniform(scale: int, factor: int) -> Drawn:
    """Return a graph whose edges have ends drawn alike: no hubs, no locality."""
    n = 1 << scale
    source, target = np.random.default_rng(2).integers(0, n, (2, factor << scale))
    return drawn(n, source, target, seed=2)


def grid(scale: int, factor: int) -> Drawn:
    """Return a grid, both directions of each edge, from which 5 % of the edges are missing: long paths.

    Searches begin in its middle row. From a corner of a large grid there are more shortest paths to the
    opposite corner than a float64 can count.
    """
    rows, columns = 1 << scale // 2, 1 << (scale + 1) // 2
    place = np.arange(rows * columns).reshape(rows, columns)
    source = np.concatenate([place[:, :-1].ravel(), place[:-1].ravel()])
    target = np.concatenate([place[:, 1:].ravel(), place[1:].ravel()])
    kept = np.random.default_rng(3).random(source.size) >= MISSING
    graph = both_ways(place.size, source[kept], target[kept], seed=3)
    graph.begin = _busiest(graph.n, graph.source, place[rows // 2, columns // 2 :])
    return graph


def shuffled(scale: int, factor: int) -> Drawn:
    """Return the same grid with other ids."""
    graph = grid(scale, factor)
    name = np.random.default_rng(4).permutation(graph.n)
    ends = name[graph.source], name[graph.target]
    return Drawn(graph.n, *ends, graph.weight, name[graph.begin])


def web(scale: int, factor: int) -> Drawn:
    """Return communities of 256 consecutive ids with hubs of their own, most edges within or to one near.

    The k-th vertex of a community is drawn as a target in proportion to k ** (-2/3). One edge in ten leads to
    another community, as often to one 2 to 4 away as to one 4 to 8 away.
    """
    n, edges = 1 << scale, factor << scale
    rng = np.random.default_rng(5)
    communities = max(n // COMMUNITY, 1)
    source = rng.integers(0, n, edges)
    distance = (communities ** rng.random(edges)).astype(np.int64) * rng.choice([-1, 1], edges)
    distance[rng.random(edges) >= AWAY] = 0
    community = (source // COMMUNITY + distance) % communities
    target = community * COMMUNITY + (min(COMMUNITY, n) * rng.random(edges) ** 3).astype(np.int64)
    return drawn(n, source, target, seed=5)


def chain(scale: int, factor: int) -> Drawn:
    """Return cliques of 8 vertices in a row, each joined to the next by one edge: very long paths."""
    n = 1 << scale
    first, second = np.triu_indices(CLIQUE, 1)
    begin = np.arange(0, n, CLIQUE)[:, None]
    source = np.append((begin + first).ravel(), np.arange(CLIQUE - 1, n - 1, CLIQUE))
    target = np.append((begin + second).ravel(), np.arange(CLIQUE, n, CLIQUE))
    return both_ways(n, source, target, seed=6)


CLASSES: dict[str, Callable[[int, int], Drawn]] = {
    "R-MAT": rmat,
    "uniform": uniform,
    "grid": grid,
    "grid, shuffled": shuffled,
    "web-like": web,
    "cliques": chain,
}
