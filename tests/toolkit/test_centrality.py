"""Betweenness, closeness and harmonic centrality against NetworkX."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from gaslab.programs.closeness import ones
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES, Drawn, graphs, hubs
from tests.support.scores import Scores, close, of_vertices
from tests.support.toolkit import as_networkx

Edges = list[tuple[Any, float]]


def of_edges(graph: gl.Graph, result: gl.Result) -> Edges:
    """Return the ends and score of each edge, sorted; ends of no direction in the order of ids."""
    table = result.edges
    source, target = (ends.tolist() for ends in table.ids)
    rows = zip(source, target, table["betweenness"].tolist(), strict=True)
    return in_order([((s, t), x) for s, t, x in rows], graph.directed)


def in_order(rows: Edges, directed: bool) -> Edges:
    ends = [(e if directed else tuple(sorted(e, key=str)), x) for e, x in rows]
    return sorted(ends, key=lambda row: (str(row[0]), row[1]))


def assert_edges(found: Edges, expected: Edges) -> None:
    assert [ends for ends, _ in found] == [ends for ends, _ in expected]
    np.testing.assert_allclose([x for _, x in found], [x for _, x in expected], rtol=1e-9, atol=1e-12)


class Chosen(random.Random):
    """A generator for NetworkX whose sample is what the test says."""

    def __init__(self, sources: list[Any]) -> None:
        super().__init__()
        self.sources = sources

    def sample(self, population: Any, k: int, *, counts: Any = None) -> list[Any]:
        return self.sources


# ---- on drawn graphs, on any ranks and cuts ---------------------------------------------------------


def ask_betweenness(comm: Comm, drawn: Drawn, strategy: str, weight: str | None) -> dict[str, Any]:
    graph = drawn.build(comm, strategy)
    some = drawn.ids[::2]
    calls: dict[str, dict[str, Any]] = {
        "normalized": {}, "raw": {"normalized": False}, "endpoints": {"endpoints": True},
        "raw endpoints": {"endpoints": True, "normalized": False}, "some": {"sources": some},
        "raw some": {"sources": some, "normalized": False}, "one": {"sources": drawn.ids[:1]},
        "endpoints some": {"sources": some, "endpoints": True},
    }  # fmt: skip
    found: dict[str, Any] = {
        name: of_vertices(gl.betweenness(graph, weight=weight, **how), "betweenness")
        for name, how in calls.items()
    }
    more: dict[str, dict[str, Any]] = {
        "edges": {},
        "raw edges": {"normalized": False},
        "some edges": {"sources": some},
    }
    for name, how in more.items():
        result = gl.betweenness(graph, weight=weight, edges=True, **how)
        found[name] = of_edges(graph, result)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
@given(drawn=graphs(), strategy=st.sampled_from(STRATEGIES))
def test_betweenness_is_networkx_s(ranks: Ranks, weight: str | None, drawn: Drawn, strategy: str) -> None:
    found, *others = ranks.run(ask_betweenness, drawn, strategy, weight)
    assert all(repr(other) == repr(found) for other in others)
    graph, some = as_networkx(drawn), drawn.ids[::2]
    sample: dict[str, Any] = {"k": len(some), "seed": Chosen(some), "weight": weight}
    one: dict[str, Any] = {"k": 1, "seed": Chosen(drawn.ids[:1]), "weight": weight}
    of = nx.betweenness_centrality
    expected = {
        "normalized": of(graph, weight=weight),
        "raw": of(graph, weight=weight, normalized=False),
        "endpoints": of(graph, weight=weight, endpoints=True),
        "raw endpoints": of(graph, weight=weight, endpoints=True, normalized=False),
        "some": of(graph, **sample),
        "raw some": of(graph, normalized=False, **sample),
        "endpoints some": of(graph, endpoints=True, **sample),
        "one": of(graph, **one),
    }
    for name, scores in expected.items():
        assert found[name] == close(scores), name
    of = nx.edge_betweenness_centrality
    for name, edges in {
        "edges": of(graph, weight=weight),
        "raw edges": of(graph, weight=weight, normalized=False),
        "some edges": of(graph, **sample),
    }.items():
        rows = [(key[:2], score) for key, score in edges.items()]
        assert_edges(found[name], in_order(rows, drawn.directed))


def ask_nearness(comm: Comm, drawn: Drawn, strategy: str, weight: str | None) -> dict[str, Scores]:
    graph, some = drawn.build(comm, strategy), drawn.ids[::2]
    return {
        "improved": of_vertices(gl.closeness(graph, weight=weight), "closeness"),
        "plain": of_vertices(gl.closeness(graph, weight=weight, wf_improved=False), "closeness"),
        "some": of_vertices(gl.closeness(graph, weight=weight, sources=some), "closeness"),
        "harmonic": of_vertices(gl.harmonic(graph, weight=weight), "harmonic"),
        "harmonic some": of_vertices(gl.harmonic(graph, weight=weight, sources=some), "harmonic"),
    }


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
@given(drawn=graphs(), strategy=st.sampled_from(STRATEGIES))
def test_closeness_and_harmonic_are_networkx_s(
    ranks: Ranks, weight: str | None, drawn: Drawn, strategy: str
) -> None:
    found, *others = ranks.run(ask_nearness, drawn, strategy, weight)
    assert all(repr(other) == repr(found) for other in others)
    graph, some = as_networkx(drawn), drawn.ids[::2]
    assert found["improved"] == close(nx.closeness_centrality(graph, distance=weight))
    assert found["plain"] == close(nx.closeness_centrality(graph, distance=weight, wf_improved=False))
    assert found["harmonic"] == close(nx.harmonic_centrality(graph, distance=weight))
    assert found["harmonic some"] == close(nx.harmonic_centrality(graph, distance=weight, sources=some))
    assert found["some"] == close(closeness_from(graph, some, weight))


def closeness_from(graph: Any, sources: list[Any], weight: str | None) -> Scores:
    """Return closeness by its definition, of distances from *sources* alone."""
    scores = dict.fromkeys(graph, 0.0)
    away: dict[Any, list[float]] = {v: [] for v in graph}
    for s in sources:
        for v, d in nx.single_source_dijkstra_path_length(graph, s, weight=weight).items():
            if v != s:
                away[v].append(d)
    for v, all_of_them in away.items():
        if all_of_them:
            reached, others = len(all_of_them), len(sources) - (v in sources)
            scores[v] = reached / sum(all_of_them) * reached / others
    return scores


# ---- several rounds ----------------------------------------------------------------------------------


@pytest.mark.parametrize("directed", [True, False], ids=["directed", "undirected"])
@pytest.mark.parametrize("weight", [None, "weight"])
def test_more_sources_than_lanes(weight: str | None, directed: bool) -> None:
    drawn = replace(hubs(n=70, edges=150), directed=directed)
    graph, theirs = drawn.build(world()), as_networkx(drawn)
    assert of_vertices(gl.betweenness(graph, weight=weight), "betweenness") == close(
        nx.betweenness_centrality(theirs, weight=weight)
    )
    result = gl.betweenness(graph, weight=weight, edges=True)
    expected = nx.edge_betweenness_centrality(theirs, weight=weight)
    assert_edges(of_edges(graph, result), in_order([(k[:2], x) for k, x in expected.items()], directed))
    assert of_vertices(gl.closeness(graph, weight=weight), "closeness") == close(
        nx.closeness_centrality(theirs, distance=weight)
    )


@pytest.mark.parametrize("lanes", [1, 3, 62])
def test_any_number_of_lanes(lanes: int) -> None:
    drawn = hubs(n=70, edges=150)
    graph = drawn.build(world())
    turn = {"_turn": np.arange(70)}
    expected = of_vertices(gl.betweenness(graph, normalized=False), "betweenness")
    for kind in (gl.programs.ParallelBetweenness, gl.programs.WeightedBetweenness):
        columns = {"length": None} if kind is gl.programs.WeightedBetweenness else None
        simple = gl.Graph.from_edges(*zip(*sorted(set(drawn.edges)), strict=True), vertices=range(70))
        result = gl.run(kind(lanes=lanes), simple, init=turn, columns=columns)
        assert of_vertices(result, "betweenness") == close(expected)


def test_rounds_are_smaller_where_paths_are_long() -> None:
    side, chosen = 70, [0, 69, 2450, 4899, 4830, 35]
    at = np.arange(side**2).reshape(side, side)
    below = np.concatenate([at[1:].ravel(), at[:, 1:].ravel()])
    roads = gl.Graph.from_edges(below, np.concatenate([at[:-1].ravel(), at[:, :-1].ravel()]), directed=False)
    found = gl.betweenness(roads, sources=chosen, normalized=False)
    assert found.metrics["parameters"]["lanes"] == 4
    turn = {"_turn": {vertex: k for k, vertex in enumerate(chosen)}}
    whole = gl.run(gl.programs.Betweenness(lanes=16), roads, init=turn).vertices["betweenness"]
    others = np.setdiff1d(at, chosen)
    share = (side**2 - 1) / (2 * len(chosen))  # of a sample, and each pair counts from both ends
    np.testing.assert_allclose(found.vertices["betweenness"][others], share * whole[others])
    ends = np.random.default_rng(2).integers(0, side**2, (2, 40_000))
    near = gl.Graph.from_edges(*ends, vertices=at.ravel(), drop_duplicates=True)
    assert gl.betweenness(near, sources=chosen).metrics["parameters"]["lanes"] == 16


def test_more_sources_than_bits() -> None:
    rng = np.random.default_rng(5)
    ends = rng.integers(0, 700, (2, 1400)).tolist()
    graph = gl.Graph.from_edges(*ends, vertices=range(700), comm=world())
    theirs = graph.to_networkx()
    expected = nx.closeness_centrality(theirs)
    assert of_vertices(gl.closeness(graph), "closeness") == close(expected)
    assert of_vertices(gl.harmonic(graph), "harmonic") == close(nx.harmonic_centrality(theirs))
    one_word = gl.programs.Closeness(words=1, sources=700)
    assert of_vertices(gl.run(one_word, graph, init={"_turn": np.arange(700)}), "closeness") == close(
        expected
    )


@pytest.mark.parametrize("word", [-1, 0, 1, 2**63 - 1, -(2**63), 0x0123456789ABCDEF, -0x0123456789ABCDEF])
def test_ones(word: int) -> None:
    class Ones(gl.VertexProgram):
        word: int

        class Vertex(gl.Vertex):
            count: int = 0

        def apply(self, v: Vertex) -> None:
            v.count = ones(self.word)

    graph = gl.Graph.from_edges([0], [1], comm=world())
    found = gl.run(Ones(word=word), graph, max_iterations=1).vertices["count"][0]
    assert found == (word % 2**64).bit_count()


# ---- samples -----------------------------------------------------------------------------------------


def sampled(comm: Comm, drawn: Drawn, count: int, seed: int) -> list[Scores]:
    graph = drawn.build(comm)
    return [
        of_vertices(gl.betweenness(graph, sources=count, seed=seed), "betweenness"),
        of_vertices(gl.closeness(graph, sources=count, seed=seed), "closeness"),
        of_vertices(gl.harmonic(graph, sources=count, seed=seed), "harmonic"),
    ]


def test_a_sample_is_that_of_the_seed(ranks: Ranks) -> None:
    drawn = hubs()
    alone = sampled(world(), drawn, 20, 1)
    for found in ranks.run(sampled, drawn, 20, 1):
        for mine, theirs in zip(found, alone, strict=True):
            assert mine == close(theirs)
    assert sampled(world(), drawn, 20, 2) != alone
    every = [gl.betweenness, gl.closeness, gl.harmonic]
    graph = drawn.build(world())
    for function, found in zip(every, sampled(world(), drawn, 60, 1), strict=True):
        assert found == close(of_vertices(function(graph), function.__name__))


def test_a_sample_estimates_all() -> None:
    graph = gl.Graph.generate("erdos-renyi", vertices=300, edges=1500, seed=2).to_undirected()
    exact = gl.betweenness(graph).vertices["betweenness"]
    estimate = gl.betweenness(graph, sources=150, seed=3).vertices["betweenness"]
    assert np.corrcoef(exact, estimate)[0, 1] > 0.95
    assert estimate.sum() == pytest.approx(exact.sum(), rel=0.05)


# ---- what is refused ---------------------------------------------------------------------------------


def diamonds(count: int) -> gl.Graph:
    """Return a chain in which every diamond doubles the number of shortest paths."""
    top = np.arange(count) * 3
    source = np.concatenate([top, top, top + 1, top + 2])
    target = np.concatenate([top + 1, top + 2, top + 3, top + 3])
    return gl.Graph.from_edges(source, target, comm=world())


def test_more_paths_than_a_float_can_count() -> None:
    assert np.isfinite(gl.betweenness(diamonds(900), sources=[0, 1]).vertices["betweenness"]).all()
    with pytest.raises(gl.UsageError, match="more shortest paths than a float64 can count"):
        gl.betweenness(diamonds(1100), sources=[0, 1])


def test_lengths_that_a_sum_does_not_hold() -> None:
    columns = {"km": [1.0, 1e-20], "zero": [1.0, 0.0], "below": [1.0, -1.0]}
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns=columns, directed=False, comm=world())
    with pytest.raises(gl.UsageError, match="some edges are so short beside the paths that lead to them"):
        gl.betweenness(graph, weight="km")
    with pytest.raises(gl.UsageError, match=r"edge column 'zero' has a length of 0, .* lengths above 0 are"):
        gl.betweenness(graph, weight="zero")
    for function in (gl.betweenness, gl.closeness, gl.harmonic):
        with pytest.raises(gl.UsageError, match=r"edge column 'below' .*-1\.0"):
            function(graph, weight="below")
        with pytest.raises(gl.UsageError, match="no edge column 'kn'; known: below, km, zero"):
            function(graph, weight="kn")


def test_an_infinite_length_leads_nowhere() -> None:
    columns = {"km": [1.0, np.inf, 2.0]}
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 3], columns=columns, comm=world())
    assert not gl.betweenness(graph, weight="km").vertices["betweenness"].any()
    assert gl.harmonic(graph, weight="km").vertices["harmonic"].tolist() == [0.0, 1.0, 0.0, 0.5]


@pytest.mark.parametrize("function", [gl.betweenness, gl.closeness, gl.harmonic])
def test_sources_that_there_are_not(function: Any) -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=world())
    for sources, message in [
        ([], "sources is empty; without sources= every vertex is one"),
        (4, r"sources=4: a whole number from 1 to 3 is needed"),
        (0, r"sources=0: a whole number from 1 to 3 is needed"),
        (1.5, "sources=1.5: a whole number is needed, not float"),
        ("all", "sources='all': a whole number or an iterable of vertex ids is needed, not str"),
    ]:
        with pytest.raises(gl.UsageError, match=message):
            function(graph, sources=sources)
    with pytest.raises(gl.VertexNotFound, match="vertex 9 is not in the graph"):
        function(graph, sources=[0, 9])
    with pytest.raises(gl.UsageError, match="sets init itself"):
        function(graph, init={})


def test_endpoints_of_edges() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], comm=world())
    with pytest.raises(gl.UsageError, match="endpoints=True counts paths at vertices; edges=True has no use"):
        gl.betweenness(graph, edges=True, endpoints=True)


def test_columns_of_the_same_names_are_not_taken() -> None:
    columns = {"betweenness": [5.0, 5.0], "share": [9.0, 9.0], "length": [7.0, 1.0]}
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns=columns, comm=world())
    result = gl.betweenness(graph, edges=True, normalized=False)
    assert result.edges["betweenness"].tolist() == [2.0, 2.0]
