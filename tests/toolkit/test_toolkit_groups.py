"""Strong components against NetworkX."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import world
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
