"""The examples of walks with traces: every step is an edge, as likely as it should be."""

from __future__ import annotations

import collections
import itertools
import re

import networkx as nx
import numpy as np
import pytest

import gaslab as gl
from examples.node2vec import Node2Vec
from examples.random_walks import RandomWalks
from tests.toolkit.test_examples import imports, on_ranks, output_of


@pytest.mark.slow
@on_ranks
def test_random_walks_script(ranks: int) -> None:
    head, *shown = output_of(ranks, "examples/random_walks.py").splitlines()
    assert head == "813 walks in 8 supersteps"
    graph = imports()
    for line in shown:
        module, _, walk = line.partition(" -> ")
        places = [module, *walk.removeprefix("-> ").split(" -> ")]
        assert all(graph.has_edge(*step) for step in itertools.pairwise(places) if step[1])
    assert len(shown) == 3


@pytest.mark.slow
@on_ranks
def test_node2vec_script(ranks: int) -> None:
    printed = output_of(ranks, "examples/node2vec.py")
    found = re.findall(r"p=(\S+) q=(\S+): (\S+) vertices in 20 steps, (\d+) supersteps", printed)
    assert [pq[:2] for pq in found] == [("1.0", "1.0"), ("0.25", "2.0"), ("4.0", "0.5")]
    plain, near, far = (float(one[2]) for one in found)
    assert near < plain < far
    assert int(found[0][3]) == 22
    graph = imports().to_undirected()
    for walk in re.findall(r"asyncio -> (.*)", printed):
        assert all(graph.has_edge(*step) for step in itertools.pairwise(["asyncio", *walk.split(" -> ")]))


def test_walks_take_every_edge_alike_and_end_where_none_leads_on() -> None:
    edges = [(0, 1), (0, 2), (0, 2), (1, 3), (2, 3), (2, 0)]
    starts = 600  # vertices from which an edge leads to vertex 0
    sources = [u for u, _ in edges] + [*range(10, 10 + starts)]
    graph = gl.Graph.from_edges(sources, [v for _, v in edges] + [0] * starts)
    trace = gl.run(RandomWalks(steps=4), graph, seed=3).vertices["trace"]
    assert trace[3].tolist() == [-1] * 4
    walks = trace[4:]
    assert (walks[:, 0] == 0).all()
    assert set(walks[:, 1]) == {1, 2}
    assert np.mean(walks[:, 1] == 2) == pytest.approx(2 / 3, abs=0.08)
    for a, b in itertools.pairwise(walks.T[1:]):
        steps = collections.Counter(zip(a.tolist(), b.tolist(), strict=True))
        assert set(steps) <= {*edges, (3, -1), (-1, -1)}


@pytest.mark.parametrize(("p", "q"), [(1.0, 1.0), (0.25, 2.0), (4.0, 0.5)])
def test_steps_of_node2vec_have_their_weights(p: float, q: float) -> None:
    """Walks in a small graph, started from many leaves of one vertex."""
    core = nx.Graph([(0, 1), (1, 2), (0, 2), (2, 3), (3, 4), (1, 4), (4, 0)])
    leaves = 3000
    edges = [*core.edges, *((0, 10 + k) for k in range(leaves))]
    graph = gl.Graph.from_edges([u for u, _ in edges], [v for _, v in edges], directed=False)
    trace = gl.run(Node2Vec(steps=4, p=p, q=q), graph, seed=2).vertices["trace"][5:]
    walks = [walk for walk in trace.tolist() if walk[1] < 10 and walk[2] < 10 and walk[3] < 10]
    seen = collections.Counter((walk[1], walk[2], walk[3]) for walk in walks)
    for came, here in ((1, 2), (4, 3), (1, 4)):
        weights = {
            there: 1 / p if there == came else 1.0 if core.has_edge(there, came) else 1 / q
            for there in core[here]
            if there != 0  # which has the leaves as neighbours too
        }
        counts = {there: seen[came, here, there] for there in weights}
        whole = sum(counts.values())
        if whole < 40:
            continue
        for there, weight in weights.items():
            expected = weight / sum(weights.values())
            assert counts[there] / whole == pytest.approx(expected, abs=4 * (0.25 / whole) ** 0.5)


def test_walks_are_the_same_in_every_execution() -> None:
    graph = gl.Graph.generate("rmat", scale=6, edge_factor=4, seed=2)
    undirected = graph.to_undirected()
    for program, on in ((RandomWalks(steps=5), graph), (Node2Vec(steps=5, p=0.5, q=2.0), undirected)):
        expected = gl.run(program, on, engine="reference", seed=7).vertices["trace"]
        for options in ({}, {"threads": 2}, {"compile": "never"}):
            found = gl.run(program, on, seed=7, **options).vertices["trace"]
            assert np.array_equal(found, expected)
