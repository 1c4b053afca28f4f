"""Distances from several sources against NetworkX."""

from __future__ import annotations

import math

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.comm import world
from tests.graphs import Drawn, graphs
from tests.toolkit import answer, as_networkx


@pytest.mark.parametrize("weight", [None, "weight"])
@given(drawn=graphs(), data=st.data())
def test_distances_are_networkx_s(weight: str | None, drawn: Drawn, data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.sampled_from(drawn.ids), min_size=1, unique=True), label="sources")
    graph = as_networkx(drawn)
    each = {s: nx.single_source_dijkstra_path_length(graph, s, weight=weight) for s in sources}
    far, nobody = math.inf, None if isinstance(drawn.ids[0], str) else -1
    expected = [min(each[s].get(v, far) for s in sources) for v in drawn.ids]
    position = {vertex: k for k, vertex in enumerate(drawn.ids)}
    nearest = [
        min((s for s in sources if each[s].get(v) == d), key=position.__getitem__, default=nobody)
        for v, d in zip(drawn.ids, expected, strict=True)
    ]
    found = answer(drawn, "distances", "distance", "nearest", sources=sources, weight=weight)
    assert found == {"distance": expected, "nearest": nearest}


def test_edges_of_length_zero() -> None:
    """A source that another one reaches in no distance belongs to the smaller of them."""
    columns = {"weight": [0.0, 0.0, 0.0, 2.0]}
    graph = gl.Graph.from_edges([5, 7, 3, 9], [7, 3, 4, 4], columns=columns, comm=world())
    result = gl.distances(graph, [5, 7, 9])
    assert result.vertices.to_dict("nearest") == {3: 5, 4: 5, 5: 5, 7: 5, 9: 9}
    assert result.vertices.to_dict("distance") == {3: 0, 4: 0, 5: 0, 7: 0, 9: 0}


def test_what_distances_refuses() -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3], columns={"weight": [1.0, -1.0]}, comm=world())
    with pytest.raises(gl.UsageError, match="distances needs a source, and sources is empty"):
        gl.distances(graph, [])
    with pytest.raises(gl.UsageError, match=r"-1.0 on the edge 2 -> 3; at least 0 is needed"):
        gl.distances(graph, [1])
    with pytest.raises(gl.VertexNotFound):
        gl.distances(graph, [1, 8], weight=None)
