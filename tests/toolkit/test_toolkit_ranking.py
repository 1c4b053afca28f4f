"""HITS against a dense power iteration and NetworkX."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import world
from tests.support.graphs import Drawn, graphs
from tests.support.toolkit import answer
from tests.toolkit.test_programs import matrix


def iterate(dense: np.ndarray, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    hub, authority = np.full(len(dense), 1 / len(dense)), np.zeros(len(dense))
    for _ in range(rounds):
        authority = dense.T @ hub
        hub = dense @ authority
        hub, authority = hub / hub.sum(), authority / authority.sum()
    return hub, authority


@pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")
@pytest.mark.parametrize("weight", [None, "weight"])
@given(drawn=graphs(), rounds=st.integers(1, 9))
def test_hits_is_the_power_iteration(weight: str | None, drawn: Drawn, rounds: int) -> None:
    options = {"weight": weight, "tolerance": 0.0, "max_iterations": 3 * rounds}
    found = answer(drawn, "hits", "hub", "authority", **options)
    hub, authority = iterate(matrix(drawn, weight), rounds)
    np.testing.assert_allclose(found["hub"], hub, atol=1e-12)
    np.testing.assert_allclose(found["authority"], authority, atol=1e-12)


def test_hits_is_networkx_s() -> None:
    graph = nx.gnp_random_graph(60, 0.1, seed=5, directed=True)
    nx.set_edge_attributes(graph, {e: 1.0 + (e[0] + e[1]) % 3 for e in graph.edges}, "weight")
    hub, authority = nx.hits(graph, tol=1e-13, max_iter=10_000)
    built = gl.Graph.from_networkx(graph, comm=world())
    result = gl.hits(built, weight="weight", tolerance=1e-13)
    assert result.vertices.to_dict("hub") == pytest.approx(hub, abs=1e-9)
    assert result.vertices.to_dict("authority") == pytest.approx(authority, abs=1e-9)
    with pytest.raises(gl.UsageError, match="no edge column 'wieght'; did you mean 'weight'"):
        gl.hits(built, weight="wieght")
