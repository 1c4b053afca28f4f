"""The built-in programs against a dense formula, NetworkX and SciPy, on ranks, threads and strategies."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components, dijkstra

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES, Drawn, graphs


def modes(ranks: int) -> list[tuple[str, int]]:
    """Return the cuts to try and their threads: the first with both, the others by turns.

    So each has both over all numbers of ranks.
    """
    by_turns = [(strategy, 1 + (k + ranks) % 2) for k, strategy in enumerate(STRATEGIES)]
    strategy, threads = by_turns[0]
    return [(strategy, 3 - threads), *by_turns]


def answers(comm: Comm, drawn: Drawn, function: str, field: str, options: dict[str, Any]) -> list[list[Any]]:
    """Return a field by sorted id, for every one of the modes, the first of them twice."""
    found = []
    built = {strategy: drawn.build(comm, strategy) for strategy in STRATEGIES}
    first, *others = modes(comm.size)
    for strategy, threads in [first, first, *others]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gl.ConvergenceWarning)  # the number of supersteps is given
            result = getattr(gl, function)(built[strategy], threads=threads, **options)
        assert list(result.vertices.ids) == drawn.ids
        found.append(list(result.vertices[field]))
    return found


def everywhere(ranks: Ranks, drawn: Drawn, function: str, field: str, **options: Any) -> list[list[Any]]:
    of_each_rank = ranks.run(answers, drawn, function, field, options)
    assert all(found == of_each_rank[0] for found in of_each_rank)
    once, again, *others = of_each_rank[0]
    assert np.array_equal(once, again), "the same run twice has other bits"
    return [once, *others]


def matrix(drawn: Drawn, column: str | None = None) -> np.ndarray:
    """Return the dense matrix of edge weights, parallel edges added up, an undirected self-loop once."""
    position = {vertex: k for k, vertex in enumerate(drawn.ids)}
    weights = drawn.columns[column] if column else [1.0] * len(drawn.edges)
    dense = np.zeros((len(drawn.ids), len(drawn.ids)))
    for (source, target), weight in zip(drawn.edges, weights, strict=True):
        dense[position[source], position[target]] += weight
        if not drawn.directed and source != target:
            dense[position[target], position[source]] += weight
    return dense


def power_iteration(dense: np.ndarray, iterations: int, damping: float = 0.85) -> np.ndarray:
    n = len(dense)
    out = dense.sum(axis=1)
    score = np.full(n, 1 / n)
    for _ in range(iterations):
        share = np.divide(score, out, out=np.zeros(n), where=out > 0)
        score = (1 - damping + damping * score[out == 0].sum()) / n + damping * (dense.T @ share)
    return score


@pytest.mark.slow
@given(drawn=graphs())
def test_pagerank_is_the_power_iteration(ranks: Ranks, drawn: Drawn) -> None:
    expected = power_iteration(matrix(drawn), 30)
    found = everywhere(ranks, drawn, "pagerank", "score", tolerance=0.0, max_iterations=30)
    for scores in found:
        assert np.abs(np.array(scores) - expected).max() < 1e-12
        assert math.fsum(scores) == pytest.approx(1, abs=1e-12)
    assert np.ptp(np.array(found), axis=0).max() < 1e-10


@pytest.mark.slow
@given(drawn=graphs(directed=True), data=st.data())
def test_pagerank_is_networkx_s(ranks: Ranks, drawn: Drawn, data: st.DataObject) -> None:
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(drawn.ids)
    for (source, target), weight in zip(drawn.edges, drawn.columns["weight"], strict=True):
        graph.add_edge(source, target, weight=weight)
    restarts = st.dictionaries(st.sampled_from(drawn.ids), st.integers(1, 5), min_size=1)
    table = data.draw(st.none() | restarts, label="personalization")
    weight = data.draw(st.sampled_from([None, "weight"]), label="weight")
    expected = nx.pagerank(graph, personalization=table, weight=weight, tol=1e-14, max_iter=2000)
    options = {"personalization": table, "weight": weight, "tolerance": 1e-13, "max_iterations": 2000}
    for scores in everywhere(ranks, drawn, "pagerank", "score", **options):
        assert dict(zip(drawn.ids, scores, strict=True)) == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@given(drawn=graphs())
def test_components_are_scipy_s(ranks: Ranks, drawn: Drawn) -> None:
    _, labels = connected_components(sp.csr_array(matrix(drawn)), directed=True, connection="weak")
    smallest = [drawn.ids[int(np.flatnonzero(labels == label)[0])] for label in labels]
    for found in everywhere(ranks, drawn, "components", "component"):
        assert found == smallest


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
@given(drawn=graphs(), data=st.data())
def test_distances_are_scipy_s(ranks: Ranks, weight: str | None, drawn: Drawn, data: st.DataObject) -> None:
    n, start = len(drawn.ids), data.draw(st.integers(0, len(drawn.ids) - 1), label="source")
    position = {vertex: k for k, vertex in enumerate(drawn.ids)}
    lengths = np.full((n, n), np.inf)  # of parallel edges the shortest counts; scipy would add them up
    for (source, target), length in zip(drawn.edges, drawn.columns["weight"], strict=True):
        ends = (position[source], position[target])
        for s, t in (ends,) if drawn.directed else (ends, ends[::-1]):
            lengths[s, t] = min(lengths[s, t], length if weight else 1.0)
    expected = dijkstra(sp.csr_array(np.where(np.isfinite(lengths), lengths, 0)), indices=start)
    source = {"source": drawn.ids[start], "weight": weight}
    more = data.draw(st.sampled_from([{}, {"delta": 2.0}]), label="more")
    for found in everywhere(ranks, drawn, "sssp", "distance", **source, **more):
        assert found == expected.tolist()


@pytest.mark.slow
@given(drawn=graphs(), data=st.data())
def test_levels_are_networkx_s(ranks: Ranks, drawn: Drawn, data: st.DataObject) -> None:
    source = data.draw(st.sampled_from(drawn.ids), label="source")
    graph = nx.MultiDiGraph() if drawn.directed else nx.MultiGraph()
    graph.add_nodes_from(drawn.ids)
    graph.add_edges_from(drawn.edges)
    levels = nx.single_source_shortest_path_length(graph, source)
    for found in everywhere(ranks, drawn, "bfs", "level", source=source):
        assert found == [levels.get(v, -1) for v in drawn.ids]
    before = graph.pred if drawn.directed else graph.adj
    nearer = {v: [u for u in before[v] if levels.get(u, -9) == levels.get(v, -1) - 1] for v in drawn.ids}
    nobody = -1 if isinstance(source, int) else None
    parents = [min(nearer[v], key=drawn.ids.index, default=nobody) for v in drawn.ids]
    for found in everywhere(ranks, drawn, "bfs", "parent", source=source, parents=True):
        assert found == parents


@pytest.mark.slow
@given(drawn=graphs())
def test_core_numbers_are_networkx_s(ranks: Ranks, drawn: Drawn) -> None:
    graph = nx.DiGraph() if drawn.directed else nx.Graph()
    graph.add_nodes_from(drawn.ids)
    graph.add_edges_from((a, b) for a, b in drawn.edges if a != b)
    cores = nx.core_number(graph)
    simple = dataclasses.replace(drawn, edges=list(graph.edges), columns={})
    for found in everywhere(ranks, simple, "kcore", "core"):
        assert found == [cores[v] for v in drawn.ids]


def test_core_numbers_count_parallel_edges_and_loops() -> None:
    graph = gl.Graph.from_edges([1, 1, 1, 2, 4, 5], [2, 2, 2, 3, 4, 4])
    assert gl.kcore(graph).vertices.to_dict("core") == {1: 3, 2: 3, 3: 1, 4: 2, 5: 1}


@pytest.mark.slow
@given(drawn=graphs())
def test_degrees_count_ends(ranks: Ranks, drawn: Drawn) -> None:
    counts = matrix(drawn)  # has an undirected self-loop once; it counts 2 in a degree
    ends = counts.sum(axis=0) + (counts.sum(axis=1) if drawn.directed else counts.diagonal())
    for found in everywhere(ranks, drawn, "degrees", "edges"):
        assert found == ends.tolist()
