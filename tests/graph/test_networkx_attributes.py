"""Attributes of NetworkX: numbers on every edge or node become columns, the others are named once."""

from __future__ import annotations

import logging
from typing import Any

import networkx as nx
import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks

NODES = {"b": (30, 1.5, True), "a": (31, 2.5, False), "c": (28, -1.0, True)}


def people(cls: Any = nx.DiGraph, names: dict[str, Any] | None = None) -> Any:
    graph = cls()
    names = names or {name: name for name in NODES}
    for name, (age, height, member) in NODES.items():
        graph.add_node(names[name], age=age, height=height, member=member, label=f"is {name}", pos=(1, 2))
    graph.nodes[names["a"]]["only"] = 7
    graph.nodes[names["c"]]["gap"] = float("nan")
    graph.add_edge(names["a"], names["b"], w=1.5)
    graph.add_edge(names["b"], names["c"], w=2.5)
    return graph


def columns_of(graph: gl.Graph) -> dict[Any, tuple[Any, ...]]:
    """Return the vertex columns of all ranks by id."""
    masters = graph.ids.lookup(graph.local.gid[: graph.local.num_masters]).tolist()
    rows = list(zip(masters, *(values.tolist() for values in graph.vertex_columns.values()), strict=True))
    return {row[0]: row[1:] for part in graph.comm.allgather(rows) for row in part}


def rank_of_attributes(comm: Comm, strategy: str) -> None:
    kinds: list[dict[str, Any]] = [
        {name: name for name in NODES}, {"a": 5, "b": 3, "c": 9}, {"a": (0, 1), "b": -3, "c": "x"},
    ]  # fmt: skip
    for cls in (nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph):
        for names in kinds:
            made = people(cls, names)
            wanted = {names[name]: row for name, row in NODES.items()}
            for rows in ("same", "root"):
                passed = made if rows == "same" or comm.rank == 0 else None
                graph = gl.Graph.from_networkx(passed, rows=rows, strategy=strategy, comm=comm)
                assert list(graph.vertex_columns) == ["age", "height", "member"]
                assert [c.dtype.name for c in graph.vertex_columns.values()] == ["int64", "float64", "bool"]
                assert columns_of(graph) == wanted
    parts = gl.Graph.from_networkx(people(), rows="parts", comm=comm)
    assert parts.vertex_columns == {}


@pytest.mark.slow
@pytest.mark.parametrize("strategy", ["1d", "random"])
def test_numbers_on_every_node_are_vertex_columns(ranks: Ranks, strategy: str) -> None:
    ranks.run(rank_of_attributes, strategy)


def rank_of_sides(comm: Comm) -> None:
    made = nx.Graph()
    made.add_node("ann", bipartite=0, seen=3)
    made.add_node("bob", bipartite=0, seen=4)
    made.add_node("Alien", bipartite=1, seen=5)
    made.add_edge("Alien", "ann")
    for rows in ("same", "root"):
        passed = made if rows == "same" or comm.rank == 0 else None
        graph = gl.Graph.from_networkx(passed, bipartite=True, rows=rows, comm=comm)
        assert list(graph.vertex_columns) == ["seen"]
        assert columns_of(graph) == {"ann": (3,), "bob": (4,), "Alien": (5,)}
    plain = gl.Graph.from_networkx(made, comm=comm)
    assert columns_of(plain) == {"ann": (0, 3), "bob": (0, 4), "Alien": (1, 5)}


def test_nodes_of_two_sides(ranks: Ranks) -> None:
    ranks.run(rank_of_sides)


def test_attributes_that_are_left_out_are_named_once(caplog: pytest.LogCaptureFixture) -> None:
    made = people()
    nx.set_node_attributes(made, dict.fromkeys(made, 2**70), "huge")
    nx.set_node_attributes(made, dict.fromkeys(made, 1), "id")
    nx.set_edge_attributes(made, {("a", "b"): 1}, "toll")
    nx.set_edge_attributes(made, "x", "name")
    nx.set_edge_attributes(made, None, "empty")
    with caplog.at_level(logging.WARNING):
        graph = gl.Graph.from_networkx(made, comm=world())
    assert list(graph.vertex_columns) == ["age", "height", "member"]
    assert caplog.messages == [
        "edge attributes left out: 'name' (str), 'empty' (None), 'toll' (a number on 1 of 2); a number on "
        "every edge becomes a column",
        "node attributes left out: 'label' (str), 'pos' (tuple), 'only' (a number on 1 of 3), "
        "'gap' (a number on 1 of 3), 'huge' (column 'huge' has the value 1180591620717411303424: integers "
        "are from -2**63 to 2**63 - 1; pass the column as float64 if its last digits do not matter), "
        "'id' (its name is taken); a number on every node becomes a column",
    ]
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        gl.Graph.from_networkx(nx.path_graph(3), comm=world())
        gl.Graph.from_networkx(nx.Graph(), comm=world())
    assert caplog.messages == []
    nan = nx.path_graph(2)
    nx.set_node_attributes(nan, {0: 1.0, 1: float("nan")}, "x")
    with caplog.at_level(logging.WARNING):
        assert gl.Graph.from_networkx(nan, comm=world()).vertex_columns == {}
    assert "'x' (column 'x' is not a number (nan) at position 1)" in caplog.messages[0]
    with caplog.at_level(logging.WARNING):
        gl.Graph.from_networkx(people(), rows="parts", comm=world())
    assert "'age' (rows='parts'; use with_vertices)" in caplog.messages[-1]


def test_keys_of_parallel_edges_are_left_out_and_their_order_is_kept() -> None:
    made = nx.MultiDiGraph()
    for key, w in ((7, 1.0), (3, 2.0), ("x", 4.0)):
        made.add_edge(0, 1, key=key, w=w)
    graph = gl.Graph.from_networkx(made, comm=world())
    assert {name: values.tolist() for name, values in graph.edge_columns.items()} == {"w": [1.0, 2.0, 4.0]}


def test_programs_start_from_node_attributes() -> None:
    class Older(gl.VertexProgram):
        class Vertex(gl.Vertex):
            age: int

        def apply(self, v: Vertex) -> None:
            v.age += 1

    result = gl.run(Older(), gl.Graph.from_networkx(people(), comm=world()), max_iterations=1)
    assert result.vertices.to_dict("age") == {"a": 32, "b": 31, "c": 29}
    # The toolkit does not: an attribute may have the name of a field by accident.
    made = nx.path_graph(4)
    before = gl.bfs(gl.Graph.from_networkx(made, comm=world()), 0).vertices["level"]
    nx.set_node_attributes(made, 9, "level")
    after = gl.bfs(gl.Graph.from_networkx(made, comm=world()), 0).vertices["level"]
    assert np.array_equal(before, after)
