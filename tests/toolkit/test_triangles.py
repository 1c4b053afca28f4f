"""Triangles, clustering and label propagation against NetworkX and against their definitions spelt out."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm
from gaslab.programs import _loops
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES, Drawn, graphs


def answers(comm: Comm, drawn: Drawn, strategy: str) -> dict[str, Any]:
    """Return all that these programs say of a graph, as plain values; for `Ranks.run`."""
    graph = gl.Graph.from_edges(
        [s for s, _ in drawn.edges], [t for _, t in drawn.edges], vertices=drawn.ids,
        directed=drawn.directed, drop_duplicates=True, strategy=strategy, comm=comm,
    )  # fmt: skip
    found: dict[str, Any] = {}
    counted = gl.triangles(graph, threads=2)
    for name in counted.vertices.columns:
        found[name] = counted.vertices[name].tolist()
    found["clustering"] = gl.clustering(graph, threads=1).vertices["clustering"].tolist()
    found["graphalytics"] = gl.clustering(graph, definition="graphalytics").vertices["clustering"].tolist()
    if not drawn.directed:
        found["total"] = gl.triangles(graph, per_vertex=False, threads=2).metrics["triangles"]
        found["metric"] = counted.metrics["triangles"]
        found["transitivity"] = gl.transitivity(graph)
    found["labels"] = list(gl.cdlp(graph, iterations=4).vertices["label"])
    return found


@pytest.mark.slow
@given(drawn=graphs(), strategy=st.sampled_from(STRATEGIES))
def test_they_are_what_networkx_says(ranks: Ranks, drawn: Drawn, strategy: str) -> None:
    of_each = ranks.run(answers, drawn, strategy)
    found = of_each[0]
    assert all(other == found for other in of_each)
    plain: Any = nx.DiGraph() if drawn.directed else nx.Graph()
    plain.add_nodes_from(drawn.ids)
    plain.add_edges_from(drawn.edges)
    assert found["labels"] == propagated(drawn.ids, plain, 4)
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    expected = nx.clustering(plain)
    assert found["clustering"] == pytest.approx([expected[v] for v in drawn.ids])
    assert found["graphalytics"] == pytest.approx([between(plain, v) for v in drawn.ids])
    if drawn.directed:
        for name, count in directed(plain).items():
            assert found[name] == [count[v] for v in drawn.ids], name
    else:
        triangles = nx.triangles(plain)
        assert found["triangles"] == [triangles[v] for v in drawn.ids]
        assert found["total"] == found["metric"] == sum(triangles.values()) // 3
        assert found["transitivity"] == pytest.approx(nx.transitivity(plain))


def propagated(ids: list[Any], graph: Any, rounds: int) -> list[Any]:
    """LDBC Graphalytics' CDLP, as its specification has it; a self-loop is an edge from and to oneself."""
    around: dict[Any, list[Any]] = {v: [] for v in ids}
    for s, t in graph.edges():
        around[s].append(t)
        around[t].append(s)
    label = {v: v for v in ids}
    for _ in range(rounds):
        counts = {v: Counter(label[u] for u in around[v]) for v in ids if around[v]}
        label |= {v: min(y for y, n in c.items() if n == max(c.values())) for v, c in counts.items()}
    return [label[v] for v in ids]


def between(graph: Any, v: Any) -> float:
    """LDBC Graphalytics' local clustering coefficient, as its specification has it."""
    around = {*nx.all_neighbors(graph, v)}
    if len(around) < 2:
        return 0.0
    return sum(graph.has_edge(u, w) for u, w in itertools.permutations(around, 2)) / (
        len(around) * (len(around) - 1)
    )


def directed(graph: Any) -> dict[str, Counter[Any]]:
    """Count every triangle v, u -> w by the ways that v stands to u and w."""
    names = ("in_triangles", "out_triangles", "through_triangles", "cycle_triangles")
    counts: dict[str, Counter[Any]] = {name: Counter() for name in names}
    for v, (u, w) in itertools.product(graph, graph.edges()):
        if v in (u, w):
            continue
        has = graph.has_edge
        counts["in_triangles"][v] += has(u, v) and has(w, v)
        counts["out_triangles"][v] += has(v, u) and has(v, w)
        counts["through_triangles"][v] += has(u, v) and has(v, w)
        counts["cycle_triangles"][v] += has(v, u) and has(w, v)
    return counts


def test_parallel_edges_are_refused() -> None:
    twice = gl.Graph.from_edges([1, 2, 1], [2, 3, 2], directed=False)
    message = (
        "triangle counting needs a simple graph, and this one has parallel edges; read it with "
        "drop_duplicates=True"
    )
    for count in (gl.triangles, gl.clustering, gl.transitivity):
        with pytest.raises(gl.UsageError) as caught:
            count(twice)
        assert str(caught.value) == message
    with pytest.raises(gl.UsageError, match="parallel edges"):
        gl.triangles(twice, per_vertex=False)
    with pytest.raises(gl.UsageError, match="parallel edges"):
        gl.clustering(gl.Graph.from_edges([1, 1], [2, 2]), definition="graphalytics")


@pytest.mark.parametrize("directed", [False, True])
def test_self_loops_are_no_parallel_edges(directed: bool) -> None:
    """Nor do they hide any: an undirected self-loop leaves two ends over, and is counted once."""
    ends = [1, 2, 1, 3, 3], [2, 3, 3, 3, 1] if directed else [2, 3, 3, 3, 4]
    loops = gl.Graph.from_edges(*ends, directed=directed)
    gl.triangles(loops)
    gl.clustering(loops, definition="graphalytics")
    for more in ([1, 2], [2, 1]) if not directed else ([1, 2],):
        hidden = gl.Graph.from_edges(ends[0] + more[:1], ends[1] + more[1:], directed=directed)
        with pytest.raises(gl.UsageError, match="parallel edges"):
            gl.triangles(hidden)


def test_self_loops_are_counted_a_few_vertices_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_loops, "CHUNK", 2)
    for loops in ([0], [1], [2], [4], [0, 1, 3, 4]):
        gl.triangles(gl.Graph.from_edges([0, 1, 2, 3, *loops], [1, 2, 3, 4, *loops], directed=False))


@pytest.mark.parametrize("supersteps", [1, 2])
def test_a_run_that_ends_early_has_no_parallel_edges(supersteps: int) -> None:
    for directed in (False, True):
        graph = gl.Graph.from_edges([1, 1, 2], [2, 3, 3], directed=directed)
        with pytest.warns(gl.ConvergenceWarning):
            gl.triangles(graph, max_iterations=supersteps)


def test_what_is_defined_for_undirected_graphs_alone() -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    with pytest.raises(gl.UsageError, match="per_vertex=False needs an undirected graph"):
        gl.triangles(graph, per_vertex=False)
    with pytest.raises(gl.UsageError, match="transitivity is defined only for undirected graphs"):
        gl.transitivity(graph)
    with pytest.raises(gl.UsageError, match="definition='graphalytic' is unknown; did you mean"):
        gl.clustering(graph, definition="graphalytic")


def test_a_large_graph_has_as_many_as_its_matrix_says() -> None:
    graph = gl.Graph.generate("rmat", scale=10, edge_factor=16, seed=3)
    source, target = graph.edges()
    graph = gl.Graph.from_edges(source, target, directed=False, drop_duplicates=True, drop_self_loops=True)
    plain = nx.Graph(zip(source.tolist(), target.tolist(), strict=True))
    plain.remove_edges_from(list(nx.selfloop_edges(plain)))
    expected = nx.triangles(plain)
    assert gl.triangles(graph, threads=2).vertices.to_dict("triangles") == expected
    total = gl.triangles(graph, threads=2, per_vertex=False).metrics["triangles"]
    assert total == sum(expected.values()) // 3
