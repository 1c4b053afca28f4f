"""Eigenvector and Katz centrality against NetworkX."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES, Drawn, graphs
from tests.support.scores import Scores, close, of_vertices
from tests.support.toolkit import as_networkx


def single(drawn: Drawn) -> Drawn:
    """Return the graph without parallel edges, of which eigenvectors in NetworkX know nothing."""
    rank = {v: k for k, v in enumerate(drawn.ids)}
    first: dict[Any, int] = {}
    for k, (s, t) in enumerate(drawn.edges):
        first.setdefault((s, t) if drawn.directed else tuple(sorted((s, t), key=rank.__getitem__)), k)
    kept = sorted(first.values())
    columns = {name: [values[k] for k in kept] for name, values in drawn.columns.items()}
    return replace(drawn, edges=[drawn.edges[k] for k in kept], columns=columns)


def ask_spectral(comm: Comm, drawn: Drawn, strategy: str, weight: str | None) -> dict[str, Scores]:
    graph = drawn.build(comm, strategy)
    exact: dict[str, Any] = {"weight": weight, "tolerance": 1e-13, "max_iterations": 2000}
    beta = {v: 1.0 + k for k, v in enumerate(drawn.ids)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gl.ConvergenceWarning)
        return {
            "eigenvector": of_vertices(gl.eigenvector(graph, **exact), "eigenvector"),
            "usual": of_vertices(gl.eigenvector(graph, weight=weight), "eigenvector"),
            "katz": of_vertices(gl.katz(graph, 0.001, 2.0, **exact), "katz"),
            "raw katz": of_vertices(gl.katz(graph, 0.001, beta, normalized=False, **exact), "katz"),
        }


@pytest.mark.slow
@pytest.mark.parametrize("weight", [None, "weight"])
@given(drawn=graphs().map(single), strategy=st.sampled_from(STRATEGIES))
def test_eigenvector_and_katz_are_networkx_s(
    ranks: Ranks, weight: str | None, drawn: Drawn, strategy: str
) -> None:
    found, *others = ranks.run(ask_spectral, drawn, strategy, weight)
    assert all(repr(other) == repr(found) for other in others)
    multi = as_networkx(drawn)
    graph = (nx.DiGraph if drawn.directed else nx.Graph)(multi)
    for name, how in {"eigenvector": {"tol": 1e-13, "max_iter": 1000}, "usual": {}}.items():
        try:
            scores = nx.eigenvector_centrality(graph, weight=weight, **how)
        except nx.PowerIterationFailedConvergence:
            continue
        assert found[name] == close(scores), name
    beta = {v: 1.0 + k for k, v in enumerate(drawn.ids)}
    katz: dict[str, Any] = {"tol": 1e-13, "weight": weight}
    assert found["katz"] == close(nx.katz_centrality(graph, 0.001, 2.0, **katz))
    assert found["raw katz"] == close(nx.katz_centrality(graph, 0.001, beta, normalized=False, **katz))


def refused(comm: Comm, drawn: Drawn, name: str) -> str:
    try:
        getattr(gl, name)(drawn.build(comm))
    except gl.UsageError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", ["eigenvector", "katz"])
def test_parallel_edges_are_refused(ranks: Ranks, name: str) -> None:
    edges = [(0, 1), (1, 2), (2, 0), (1, 0)]
    for directed, expected in ((False, "has parallel edges; read it with drop_duplicates=True"), (True, "")):
        drawn = Drawn([0, 1, 2], edges, {}, directed)
        for message in ranks.run(refused, drawn, name):
            assert (expected in message, bool(message)) == (True, bool(expected))


def test_limits_and_betas() -> None:
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0], comm=world())
    with pytest.warns(gl.ConvergenceWarning):
        gl.katz(graph, 1.5, max_iterations=40)
    with pytest.warns(gl.ConvergenceWarning):
        gl.eigenvector(gl.Graph.from_edges([0, 1], [1, 2], comm=world()), tolerance=1e-12, max_iterations=8)
    with pytest.raises(gl.UsageError, match="beta has 1 of the 3 vertices; a number for each is needed"):
        gl.katz(graph, 0.1, {0: 1.0})
    with pytest.raises(gl.UsageError, match="beta=None: a number is needed, not NoneType, or a mapping"):
        gl.katz(graph, 0.1, None)  # type: ignore[arg-type]
    with pytest.raises(gl.VertexNotFound, match="vertex 7 is not in the graph"):
        gl.katz(graph, 0.1, {0: 1.0, 1: 1.0, 7: 1.0})


def test_eigenvector_starts_where_it_is_told() -> None:
    graph = gl.Graph.from_edges([0, 1, 2, 2], [1, 2, 3, 0], directed=False, comm=world())
    first = gl.eigenvector(graph, tolerance=1e-12)
    again = gl.eigenvector(graph, tolerance=1e-9, init=first)
    assert again.iterations < first.iterations
    assert of_vertices(again, "eigenvector") == pytest.approx(of_vertices(first, "eigenvector"), abs=1e-9)
