"""Python's graph libraries as peers of `gap.py`: scipy.sparse.csgraph, igraph and networkit.

Each is a function that builds the library's own graphs and returns the kernels that the library has. A kernel
returns the seconds of its call and the answer, in the form of `gap_kernels.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from classes import Drawn
from common import installed, timed

Side = Callable[[], tuple[float, Any]]  # seconds, answer
ITERATIONS = 20  # of PageRank
DAMPING = 0.85


def measured(call: Callable[[], Any], read: Callable[[Any], Any]) -> Side:
    """Return a kernel: *call* is timed, and *read* makes the answer of what it returns."""

    def side() -> tuple[float, Any]:
        found: list[Any] = []
        seconds = timed(lambda: found.append(call()))
        return seconds, read(found[0])

    return side


def smallest(labels: Any) -> np.ndarray:
    """Return of every vertex the smallest vertex that has its label."""
    labels = np.asarray(labels, np.int64)
    first = np.full(labels.max() + 1, labels.size)
    np.minimum.at(first, labels, np.arange(labels.size))
    return first[labels]


# ---- scipy -----------------------------------------------------------------------------------------


def scipy_kernels(graph: Drawn, threads: int, sources: int) -> dict[str, Side]:
    """One thread; PageRank is 20 products with the sparse matrix."""
    from scipy.sparse import csgraph, csr_matrix

    n, begin = graph.n, int(graph.begin[0])
    matrix = csr_matrix((graph.weight.astype(float), (graph.source, graph.target)), shape=(n, n))
    transposed = csr_matrix((np.ones(graph.source.size), (graph.target, graph.source)), shape=(n, n))
    degree = np.bincount(graph.source, minlength=n)

    def pagerank() -> np.ndarray:
        score, dangling = np.full(n, 1.0 / n), degree == 0
        for _ in range(ITERATIONS):
            total = transposed @ (score / np.maximum(degree, 1))
            score = (1 - DAMPING + DAMPING * score[dangling].sum()) / n + DAMPING * total
        return score

    def levels(found: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
        order, parents = found
        level = [-1] * n
        level[begin] = 0
        for vertex, parent in zip(order[1:].tolist(), parents[order[1:]].tolist(), strict=True):
            level[vertex] = level[parent] + 1
        return np.array(level)

    return {
        "pagerank": measured(pagerank, np.asarray),
        "bfs": measured(lambda: csgraph.breadth_first_order(matrix, begin), levels),
        "components": measured(
            lambda: csgraph.connected_components(matrix, connection="weak")[1], smallest
        ),
        "sssp": measured(lambda: csgraph.dijkstra(matrix, indices=begin), np.asarray),
    }  # fmt: skip


# ---- igraph ----------------------------------------------------------------------------------------


def igraph_kernels(graph: Drawn, threads: int, sources: int) -> dict[str, Side]:
    """One thread; its PageRank ends at no number of iterations, and is left out."""
    import igraph

    n, begin, pairs = graph.n, int(graph.begin[0]), graph.pairs()
    directed = igraph.Graph(n, np.column_stack([graph.source, graph.target]), directed=True)
    simple = igraph.Graph(n, np.column_stack(pairs))
    weights, chosen = graph.weight.tolist(), graph.begin[:sources].tolist()
    degree = np.bincount(np.concatenate(pairs), minlength=n)
    paths = int((degree * (degree - 1) // 2).sum())  # of two edges; each triangle closes three

    def levels(found: tuple[list[int], list[int], list[int]]) -> np.ndarray:
        order, starts, _ = found
        level, sizes = np.full(n, -1), np.diff(starts)
        level[order] = np.repeat(np.arange(sizes.size), sizes)
        return level

    def component(labels: list[int]) -> np.ndarray:
        directed.delete_edges([])  # else igraph remembers, once asked, that the graph is connected
        return smallest(labels)

    return {
        "bfs": measured(lambda: directed.bfs(begin, mode="out"), levels),
        "components": measured(lambda: directed.connected_components(mode="weak").membership, component),
        "sssp": measured(lambda: directed.distances(begin, weights=weights)[0], np.asarray),
        "betweenness": measured(lambda: directed.betweenness(sources=chosen), np.asarray),
        "triangles": measured(simple.transitivity_undirected, lambda share: round(share * paths / 3)),
    }  # fmt: skip


# ---- networkit -------------------------------------------------------------------------------------


def networkit_kernels(graph: Drawn, threads: int, sources: int) -> dict[str, Side]:
    """PageRank, components and triangles (of every edge) use threads, search and shortest paths one.

    Its betweenness takes no sources, and is left out.
    """
    import networkit

    networkit.setNumberOfThreads(threads)
    n, begin = graph.n, int(graph.begin[0])
    ends = graph.source, graph.target
    directed = networkit.GraphFromCoo(ends, n=n, directed=True)
    weighted = networkit.GraphFromCoo((graph.weight.astype(float), ends), n=n, directed=True, weighted=True)
    simple = networkit.GraphFromCoo(graph.pairs(), n=n)
    simple.indexEdges()

    def pagerank() -> np.ndarray:
        sinks = networkit.centrality.SinkHandling.DistributeSinks
        run = networkit.centrality.PageRank(directed, damp=DAMPING, tol=1e-300, distributeSinks=sinks)
        run.maxIterations = ITERATIONS
        return np.array(run.run().scores())

    def bfs() -> np.ndarray:
        return np.array(networkit.distance.BFS(directed, begin, storePaths=False).run().getDistances())

    def sssp() -> np.ndarray:
        return np.array(networkit.distance.Dijkstra(weighted, begin, storePaths=False).run().getDistances())

    return {
        "pagerank": measured(pagerank, np.asarray),
        "bfs": measured(bfs, lambda found: np.where(found > n, -1, found)),
        "components": measured(
            lambda: networkit.components.ParallelConnectedComponents(simple).run().getPartition(),
            lambda found: smallest(found.getVector()),
        ),
        "sssp": measured(sssp, lambda found: np.where(found > 1e300, np.inf, found)),
        "triangles": measured(
            lambda: networkit.sparsification.TriangleEdgeScore(simple).run().scores(),
            lambda scores: round(sum(scores)) // 3,
        ),
    }


MAKERS = {"networkit": networkit_kernels, "igraph": igraph_kernels, "scipy": scipy_kernels}


def peers(graph: Drawn, threads: int, sources: int) -> dict[str, dict[str, Side]]:
    """Return the kernels of every library that is installed, by its name."""
    return {name: make(graph, threads, sources) for name, make in MAKERS.items() if installed(name)}
