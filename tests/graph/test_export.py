"""Graphs to NetworkX, SciPy and pandas, and back: the same graph, on any ranks."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest

from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.storage.saved import kinds
from tests.support.graphs import described


def to_networkx_and_back(comm: Comm) -> list[str]:
    classes = []
    for kind, graph in kinds(comm).items():
        plain = {name: x for name, x in graph.edge_columns.items() if name not in ("pair", "some")}
        graph.edge_columns = plain  # NetworkX's attributes come back as numbers alone
        found = graph.to_networkx()
        classes.append(type(found).__name__)
        assert list(found.nodes) == graph.ids.lookup(np.arange(graph.num_vertices)).tolist()
        if kind == "empty":
            continue
        again = Graph.from_networkx(found, bipartite=graph.bipartite, comm=comm)
        before, after = described(graph), described(again)
        assert after["sizes"] == before["sizes"]
        if not graph.bipartite:
            assert after["edges"] == before["edges"] or not graph.directed
    return classes


def test_networkx_has_the_same_graph(ranks: Ranks) -> None:
    for classes in ranks.run(to_networkx_and_back):
        assert set(classes) <= {"Graph", "DiGraph", "MultiGraph", "MultiDiGraph"}
        assert "MultiGraph" in classes
        assert "MultiDiGraph" in classes


def compare_pandas_and_scipy(comm: Comm) -> None:
    for kind, graph in kinds(comm).items():
        frame = graph.to_pandas()
        src, dst = graph.edges("all")
        rows = zip(graph.ids.lookup(src).tolist(), graph.ids.lookup(dst).tolist(), strict=True)
        assert sorted(zip(frame["source"], frame["target"], strict=True), key=repr) == sorted(rows, key=repr)
        if kind == "columns":
            assert frame["pair[0]"].tolist() == frame["weight"].tolist()
            assert (frame["pair[1]"] == -frame["weight"]).all()
            assert graph.to_scipy("weight").sum() == pytest.approx(frame["weight"].sum())
        matrix = graph.to_scipy().toarray()
        dense = np.zeros((graph.num_vertices,) * 2, np.int64)
        np.add.at(dense, (src, dst), 1)
        if not graph.directed:
            dense = dense + dense.T - np.diag(np.diag(dense))
        left = graph.num_left if graph.bipartite else 0
        expected = dense[:left, left:] if graph.bipartite else dense
        assert matrix.dtype == np.int64
        assert (matrix == expected).all()


def test_pandas_and_scipy_have_the_same_graph(ranks: Ranks) -> None:
    ranks.run(compare_pandas_and_scipy)


@pytest.mark.parametrize("make", [nx.path_graph, nx.DiGraph, lambda n: nx.MultiGraph([(0, 1), (1, 0)])])
def test_a_networkx_graph_comes_back_as_it_was(make: Any) -> None:
    given = make(5) if make is not nx.DiGraph else nx.DiGraph([("a", "b"), ("b", "a"), ("c", "c")])
    nx.set_edge_attributes(given, 2.5, "km")
    nx.set_node_attributes(given, 7, "age")
    found = Graph.from_networkx(given).to_networkx()
    assert type(found) is type(given)
    assert dict(found.nodes(data=True)) == dict(given.nodes(data=True))
    assert sorted(map(str, found.edges(data=True))) == sorted(map(str, given.edges(data=True)))


def test_pandas_and_scipy_come_back_as_they_were() -> None:
    frame = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "km": [3, 4]})
    assert Graph.from_pandas(frame).to_pandas().equals(frame)
    matrix = Graph.from_edges([0, 1], [1, 2], columns={"weight": [0.5, 2.0]}).to_scipy("weight")
    again = Graph.from_scipy(matrix).to_scipy("weight")
    assert (matrix != again).nnz == 0


def test_what_other_libraries_cannot_hold() -> None:
    graph = Graph.from_edges([7, 8], [7, 9], bipartite=True, columns={"x": [[1.0, 2.0], [3.0, 4.0]]})
    with pytest.raises(UsageError, match="7 is on both sides, and NetworkX would take the two"):
        graph.to_networkx()
    with pytest.raises(UsageError, match="edge column 'x' has more than one number for an edge"):
        graph.to_scipy("x")
    with pytest.raises(UsageError, match="y"):
        graph.to_scipy("y")
    with pytest.raises(UsageError, match="an edge leads from right to left"):
        graph.reverse().to_scipy()
