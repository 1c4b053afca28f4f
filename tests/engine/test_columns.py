"""Columns whose rows are vectors and matrices: they bind to fields of that shape, on vertices and edges."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES

SOURCES, TARGETS = [3, 0, 1, 2, 3, 5, 3], [0, 2, 3, 3, 0, 1, 3]
FLOW = np.arange(14).reshape(7, 2) / 4
TURN = np.arange(28).reshape(7, 2, 2)
PLACE = np.array([[k, k * k, -k] for k in range(5)])
ENGINES = ["sync", "reference"]


class Sums(gl.VertexProgram):
    """Adds up what the columns say; writes the edges' vectors once more, doubled."""

    k: int = 3

    class Vertex(gl.Vertex):
        place: gl.Vector = gl.field(shape="k", dtype=gl.float32)
        total: gl.Vector = gl.field(shape=2)
        turned: int = 0
        near: float = 0.0

    class Edge(gl.Edge):
        flow: gl.Vector = gl.field(shape=2)
        turn: gl.Matrix = gl.field(shape=(2, 2), dtype=gl.int16)

    class Total(gl.Accumulator):
        flow: gl.Vector = gl.field(shape=2)
        turned: int
        near: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(flow=e.flow, turned=e.turn[0, 1] - e.turn[1, 0], near=nbr.place[1])

    def apply(self, v: Vertex, total: Total) -> None:
        v.total, v.turned, v.near = total.flow, total.turned, total.near

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.flow = 2.0 * e.flow


def made(comm: Comm, rows: str, **options: Any) -> gl.Graph:
    """Return the graph, its rows passed by every rank, by rank 0 or each by one of the ranks."""
    columns = {"flow": FLOW, "turn": TURN}
    table = {"id": [5, 3, 2, 1, 0], "place": PLACE[::-1]}
    chosen = slice(comm.rank, None, comm.size) if rows == "parts" else slice(None)
    if rows == "root" and comm.rank:
        chosen = slice(0, 0)
    columns = {name: values[chosen] for name, values in columns.items()}
    graph = gl.Graph.from_edges(
        SOURCES[chosen], TARGETS[chosen], columns=columns, comm=comm, rows=rows, **options
    )
    return graph.with_vertices({name: values[chosen] for name, values in table.items()}, rows=rows)


def sums(comm: Comm, rows: str, strategy: str, engine: str) -> list[Any]:
    graph = made(comm, rows).partitioned(strategy)
    result = gl.run(Sums(), graph, max_iterations=1, engine=engine, edges=True)
    edges = sorted(zip(*result.edges.ids, result.edges["flow"].tolist(), strict=True))
    assert np.array_equal(FLOW, np.arange(14).reshape(7, 2) / 4), "a run never changes the graph"
    return [{name: result.vertices[name].tolist() for name in result.vertices}, edges, graph.fingerprint]


def expected() -> dict[str, Any]:
    ids = [0, 1, 2, 3, 5]
    into = {v: [k for k, target in enumerate(TARGETS) if target == v] for v in ids}
    place = dict(zip(ids, PLACE.tolist(), strict=True))
    return {
        "place": [place[v] for v in ids],
        "total": [FLOW[into[v]].sum(axis=0).tolist() for v in ids],
        "turned": [int((TURN[into[v], 0, 1] - TURN[into[v], 1, 0]).sum()) for v in ids],
        "near": [sum(place[SOURCES[k]][1] for k in into[v]) for v in ids],
    }


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", ["same", "root", "parts"])
def test_columns_of_vectors_and_matrices(ranks: Ranks, rows: str, engine: str) -> None:
    strategies = STRATEGIES if rows == "same" else STRATEGIES[:1]
    found = [one for strategy in strategies for one in ranks.run(sums, rows, strategy, engine)]
    doubled = [
        (s, t, [2 * x for x in row]) for s, t, row in zip(SOURCES, TARGETS, FLOW.tolist(), strict=True)
    ]
    for vertices, edges, mark in found:
        assert vertices == expected()
        if rows != "parts":  # which changes the order of parallel edges
            assert edges == sorted(doubled, key=lambda edge: edge[:2])
        assert mark == found[0][2]


def derived(comm: Comm) -> list[Any]:
    graph = made(comm, "same")
    back = gl.run(Sums(), graph.reverse(), max_iterations=1).vertices["total"].tolist()

    again = gl.run(Sums(), graph.reverse().reverse(), max_iterations=1).vertices["total"].tolist()
    return [back, again]


def test_graphs_made_of_it_keep_them(ranks: Ranks) -> None:
    out = {v: [k for k, source in enumerate(SOURCES) if source == v] for v in (0, 1, 2, 3, 5)}
    back = [FLOW[rows].sum(axis=0).tolist() for rows in out.values()]
    assert ranks.run(derived) == [[back, expected()["total"]]] * ranks.size


@pytest.mark.parametrize("engine", ENGINES)
def test_shapes_that_do_not_fit_are_refused(engine: str) -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2], columns={"flow": [[1, 2, 3], [4, 5, 6]], "turn": [1, 2]})
    for columns, message in (
        (
            None,
            "Sums's field 'flow' is a vector of 2 floats, but the column 'flow' has rows of shape .3,.; colu",
        ),
        (
            {"flow": None},
            "field 'turn' is a matrix of 2 x 2 ints, but the column 'turn' has one number for each",
        ),
    ):
        with pytest.raises(gl.UsageError, match=message):
            gl.run(Sums(), graph, columns=columns, max_iterations=1, engine=engine)
    table = graph.with_vertices({"id": [0, 1, 2], "place": [[1, 2]] * 3})
    with pytest.raises(
        gl.UsageError, match="field 'place' is a vector of 3 floats, but the column 'place' has rows"
    ):
        gl.run(Sums(), table, columns={"flow": None, "turn": None}, max_iterations=1, engine=engine)
    fits = gl.run(Sums(k=2), table, columns={"flow": None, "turn": None}, max_iterations=1, engine=engine)
    assert fits.vertices["near"].tolist() == [0, 2, 2]
    with pytest.raises(
        gl.UsageError, match="field 'heat' is a number, but the column 'place' has rows of shape"
    ):
        gl.run(Heat(), table, columns={"heat": "place"}, max_iterations=1, engine=engine)


class Heat(gl.VertexProgram):
    class Vertex(gl.Vertex):
        heat: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.heat += 1.0


def test_missing_rows_get_the_default_everywhere() -> None:
    graph = gl.Graph.from_edges([0, 1], [1, 2]).with_vertices({"id": [1], "place": [[1, 2, 3]]}, default=7)
    assert sorted(graph.vertex_columns["place"].tolist()) == [[1, 2, 3], [7, 7, 7], [7, 7, 7]]


def test_numbers_in_rows_are_checked() -> None:
    with pytest.raises(gl.InputError, match=r"column 'w' is not a number \(nan\) at position 1"):
        gl.Graph.from_edges([0, 1], [1, 2], columns={"w": [[1.0, 2.0], [3.0, np.nan]]})
    with pytest.raises(gl.UsageError, match="w has 1 values, source 2"):
        gl.Graph.from_edges([0, 1], [1, 2], columns={"w": [[1.0, 2.0]]})


class Counted(gl.VertexProgram):
    class Vertex(gl.Vertex):
        turns: int = 0

    class Edge(gl.Edge):
        cost: int

    def apply(self, v: Vertex) -> None:
        v.turns += 1

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.cost += 1


def counted(comm: Comm, engine: str) -> list[Any]:
    """Run twice on a graph with an array that was pickled: its type is int64, and not the same object."""
    graph = gl.Graph.from_edges([0, 1, 2], [1, 2, 0], columns={"cost": np.zeros(3, np.int64)}, comm=comm)
    graph.edge_columns["cost"] = pickle.loads(pickle.dumps(graph.edge_columns["cost"]))
    results = [gl.run(Counted(), graph, engine=engine, max_iterations=1, edges=True) for _ in range(2)]
    return [result.edges["cost"].tolist() for result in results]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_run_leaves_the_graph_s_columns_as_they_are(ranks: Ranks, engine: str) -> None:
    assert ranks.run(counted, engine)[0] == [[1, 1, 1], [1, 1, 1]]
