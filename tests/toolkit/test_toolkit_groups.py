"""Strong components against NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csgraph

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support.graphs import Drawn, graphs
from tests.support.toolkit import answer, as_networkx


@given(drawn=graphs())
def test_strong_components_are_networkx_s(drawn: Drawn) -> None:
    graph = as_networkx(drawn)
    parts = nx.strongly_connected_components(graph) if drawn.directed else nx.connected_components(graph)
    position = {vertex: k for k, vertex in enumerate(drawn.ids)}
    expected = {vertex: min(part, key=position.__getitem__) for part in parts for vertex in part}
    assert answer(drawn, "strong_components", "component") == {"component": [expected[v] for v in drawn.ids]}


@given(data=st.data())
def test_nested_and_chained_components(data: st.DataObject) -> None:
    """Rings of several lengths, one leading to the next, under ids that are shuffled."""
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=8), label="rings")
    names = data.draw(st.permutations(range(sum(lengths))), label="names")
    sources, targets, expected, first = [], [], {}, 0
    for length in lengths:
        ring = names[first : first + length]
        sources += ring
        targets += [*ring[1:], ring[0]]
        if first:
            sources.append(names[first - 1])
            targets.append(ring[-1])
        expected.update(dict.fromkeys(ring, min(ring)))
        first += length
    graph = gl.Graph.from_edges(sources, targets, comm=world())
    assert gl.strong_components(graph).vertices.to_dict("component") == dict(sorted(expected.items()))


@pytest.mark.parametrize("scale", [10])
def test_a_power_law_graph(scale: int) -> None:
    graph = gl.Graph.generate("rmat", scale=scale, edge_factor=3, seed=3, comm=world())
    source, target = graph.edges()
    known = nx.DiGraph(zip(source.tolist(), target.tolist(), strict=True))
    known.add_nodes_from(range(graph.num_vertices))
    result = gl.strong_components(graph)
    found = dict(
        zip(range(graph.num_vertices), result.vertices.global_ids["component"].tolist(), strict=True)
    )
    assert found == {v: min(part) for part in nx.strongly_connected_components(known) for v in part}
    assert len(set(found.values())) < 0.9 * graph.num_vertices


# ---- graphs with long paths --------------------------------------------------------------------------

Ends = tuple[np.ndarray, np.ndarray]
COUNT = 3000


def path(ids: np.ndarray) -> Ends:
    return ids[:-1], ids[1:]


def ring(ids: np.ndarray) -> Ends:
    return ids, np.roll(ids, -1)


def joined(*parts: Ends) -> Ends:
    return np.concatenate([src for src, _ in parts]), np.concatenate([dst for _, dst in parts])


def one(source: int, target: int) -> Ends:
    return np.array([source]), np.array([target])


def grid(side: int) -> Ends:
    ids = np.arange(side * side).reshape(side, side)
    return joined((ids[:, :-1].ravel(), ids[:, 1:].ravel()), (ids[:-1].ravel(), ids[1:].ravel()))


def long_graphs() -> dict[str, Ends]:
    """Return graphs whose ids are shuffled, so that a smallest id is found late."""
    draws = np.random.default_rng(5)
    a, b, c = draws.permutation(COUNT).reshape(3, -1)
    parent = np.maximum(0, np.arange(1, COUNT) - draws.integers(1, 20, COUNT - 1))
    ids, dense = draws.permutation(COUNT), draws.integers(0, 200, (2, 2000))
    src, dst = grid(50)
    turned = draws.random(src.size) < 0.5
    return {
        "a path": path(ids),
        "a path in order": path(np.arange(COUNT)),
        "a ring": ring(ids),
        "a ring of 1024": ring(ids[:1024]),
        "three paths": joined(path(a), path(b), path(c)),
        "a path into a ring, and one out of it": joined(
            ring(a), path(b), path(c), one(b[-1], a[7]), one(a[500], c[0])
        ),
        "two rings and a way between": joined(ring(a), ring(b), path(c), one(a[3], c[0]), one(c[-1], b[5])),
        "a tree away from its root": (ids[parent], ids[1:]),
        "a tree to its root": (ids[1:], ids[parent]),
        "a knot with a tail": joined((dense[0], dense[1]), path(np.arange(199, COUNT))),
        "a grid": (np.where(turned, src, dst), np.where(turned, dst, src)),
        "a ring with loops and twice": joined(ring(a), ring(a), (a, a)),
    }


LONG_GRAPHS = long_graphs()


def grouped(comm: Comm, function: str, ends: Ends, strategy: str) -> tuple[list[int], int]:
    graph = gl.Graph.from_edges(*ends, vertices=np.arange(COUNT), strategy=strategy, comm=comm)
    result = getattr(gl, function)(graph)
    return result.vertices["component"].tolist(), result.iterations


@pytest.mark.parametrize("strategy", ["random", "chunk"])
@pytest.mark.parametrize("function", ["components", "strong_components"])
@pytest.mark.parametrize("name", LONG_GRAPHS)
def test_components_of_long_graphs_are_scipy_s(ranks: Ranks, name: str, function: str, strategy: str) -> None:
    src, dst = LONG_GRAPHS[name]
    matrix = sp.coo_array((np.ones(src.size), (src, dst)), shape=(COUNT, COUNT)).tocsr()
    kind = "strong" if function == "strong_components" else "weak"
    _, label = csgraph.connected_components(matrix, connection=kind)
    least = np.full(COUNT, COUNT)
    np.minimum.at(least, label, np.arange(COUNT))
    found: list[Any] = ranks.run(grouped, function, (src, dst), strategy)
    assert found == [found[0]] * ranks.size
    assert found[0][0] == least[label].tolist()
    if "grid" not in name and "knot" not in name:
        assert found[0][1] <= 120, "supersteps that grow with the length"
