"""Bipartite graphs: two id spaces, from every source, through every engine, named in every answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.cli import main
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.graphs import STRATEGIES

INF = float("inf")


class Sides(gl.VertexProgram):
    """Reads the side at both ends, in a helper and in a test of scatter; keeps a vertex of the other side."""

    source: gl.VertexId
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        own: int = -1
        across: int = 0
        met: gl.VertexId
        hops: int = 99

    def init(self, v: Vertex) -> None:
        v.own = side_of(v)
        v.met = v.id
        v.hops = 0 if v.id == self.source else 99

    def start(self, v: Vertex) -> bool:
        return v.id == self.source

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[int]:
        return 10 * nbr.side + 1 - v.side

    def apply(self, v: Vertex, total: int, message: gl.Min[int]) -> None:
        v.across = total
        v.hops = min(v.hops, message)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if nbr.side != v.side and v.hops + 1 < nbr.hops:
            nbr.signal(v.hops + 1)


def side_of(v: Any) -> int:
    return v.side


Pairs = list[tuple[Any, Any]]


def _on_ranks(comm: Comm, pairs: Pairs, more: Any, directed: bool, strategy: str, source: Any) -> list[Any]:
    graph = gl.Graph.from_edges(
        [a for a, _ in pairs], [b for _, b in pairs],
        vertices=more, bipartite=True, directed=directed, strategy=strategy, comm=comm,
    )  # fmt: skip
    results = []
    for options in ({"threads": 1}, {"threads": 2}, {"compile": "never"}, {"engine": "reference"}):
        table = gl.run(Sides(source=source), graph, max_iterations=20, **options).vertices  # type: ignore[arg-type]
        results.append([table[name].tolist() for name in (*table.keys, *table.columns)])
    return [graph.num_left, *results]


@pytest.mark.slow
@given(data=st.data())
def test_every_engine_knows_the_sides(ranks: Ranks, data: st.DataObject) -> None:
    words = st.sampled_from(["a", "b", "c", "é"]) if data.draw(st.booleans()) else st.integers(0, 5)
    pairs = data.draw(st.lists(st.tuples(words, st.integers(3, 8)), min_size=1, max_size=15))
    more = (data.draw(st.lists(words, max_size=2)), data.draw(st.lists(st.integers(0, 20), max_size=2)))
    left, right = (sorted({pair[k] for pair in pairs} | set(more[k])) for k in (0, 1))
    at_right = data.draw(st.booleans())
    start = data.draw(st.sampled_from(right if at_right else left))
    directed, strategy = data.draw(st.booleans()), data.draw(st.sampled_from(STRATEGIES))
    answers = ranks.run(_on_ranks, pairs, more, directed, strategy, gl.right(start) if at_right else start)
    net = nx.MultiGraph()
    net.add_nodes_from([(0, one) for one in left] + [(1, one) for one in right])
    net.add_edges_from(((0, a), (1, b)) for a, b in pairs)
    far = nx.single_source_shortest_path_length(net, (int(at_right), start))
    rows = [(0, one) for one in left] + [(1, one) for one in right]
    reached = [far.get(row, 99) for row in rows]
    expected = [
        [one for _, one in rows],
        [side for side, _ in rows],
        [side for side, _ in rows],
        [0 if hops == 99 else (1 - side) * 11 * net.degree((side, one))
         for hops, (side, one) in zip(reached, rows, strict=True)],
        [one for _, one in rows],
        [side for side, _ in rows],
        reached,
    ]  # fmt: skip
    for num_left, *tables in answers:
        assert num_left == len(left)
        for found in tables:
            assert found == expected


def _sources(comm: Comm, folder: str) -> list[Any]:
    net = nx.Graph()
    net.add_nodes_from(["ann", "bob"], bipartite=0)
    net.add_nodes_from([3, 4], bipartite=1)
    net.add_edges_from([("ann", 3), (4, "bob"), ("ann", 4)])
    frame = pd.DataFrame({"source": ["b", "a", "b"], "target": [9, 7, 7], "stars": [5, 4, 3]})
    graphs = [
        gl.Graph.from_networkx(net, bipartite=True, comm=comm),
        gl.Graph.from_scipy(sp.coo_array(([2.0, 3.0], ([0, 1], [4, 0])), (2, 5)), bipartite=True, comm=comm),
        gl.Graph.from_pandas(frame, bipartite=True, comm=comm),
        gl.read_graph(f"{folder}/words.tsv", bipartite=True, comm=comm),
        gl.read_graph(f"{folder}/numbers.tsv", bipartite=True, directed=False, comm=comm),
        gl.Graph.generate("bipartite", left=5, right=900, edges=7, seed=3, comm=comm),
    ]
    results: list[Any] = []
    for graph in graphs:
        src, dst = graph.edges(on="all")
        named = list(zip(graph.ids.marked(src), graph.ids.marked(dst), strict=True))
        values = [x for part in comm.allgather(list(graph.edge_columns.values())) for x in part]
        listed = np.sort(np.concatenate(values)).tolist() if values else []
        size = (graph.num_left, graph.num_vertices, graph.directed)
        results.append((*size, sorted(map(repr, named)), listed, graph.fingerprint))
    return results


def test_every_source_makes_them(ranks: Ranks, tmp_path: Path) -> None:
    (tmp_path / "words.tsv").write_text("x\ty\ny\tx\nx\tx\nz\ty\n")
    (tmp_path / "numbers.tsv").write_text("10 10 1.5\n7 3 2\n7 10 0.5\n")
    results = ranks.run(_sources, str(tmp_path))
    assert all(one == results[0] for one in results)
    alone = _sources(Comm(), str(tmp_path))
    assert results[0] == alone
    assert [row[:5] for row in alone[:5]] == [
        (2, 4, False, ["('ann', right(3))", "('ann', right(4))", "('bob', right(4))"], []),
        (2, 7, True, ["(0, right(4))", "(1, right(0))"], [2.0, 3.0]),
        (2, 4, True, ["('a', right(7))", "('b', right(7))", "('b', right(9))"], [3, 4, 5]),
        (3, 5, True, [f"({a!r}, right({b!r}))" for a, b in ("xx", "xy", "yx", "zy")], []),
        (2, 4, False, ["(10, right(10))", "(7, right(10))", "(7, right(3))"], [0.5, 1.5, 2.0]),
    ]
    assert alone[5][:2] == (5, 905)


def test_graphs_of_other_sides_have_other_fingerprints() -> None:
    plain = gl.Graph.from_edges([0, 1], [0, 1])
    assert gl.Graph.from_edges([0, 1], [0, 1], bipartite=True).fingerprint != plain.fingerprint


def test_a_result_has_sides() -> None:
    graph = gl.Graph.from_edges([3, 4], [3, 9], bipartite=True, directed=False)
    table = gl.components(graph).vertices
    assert table.keys == ["id", "side"]
    assert table.to_dict("component") == {(3, 0): 3, (4, 0): 4, (3, 1): 3, (9, 1): 4}
    assert table.side(1).to_dict("component") == {3: 3, 9: 4}
    assert table.side(1).to_dict() == {
        3: {"component": 3, "component_side": 0}, 9: {"component": 4, "component_side": 0}}  # fmt: skip
    assert table.to_pandas().loc[(9, 1)].tolist() == [4, 0]
    assert table.to_arrow().column_names == ["id", "side", "component", "component_side"]
    shown = [line.split() for line in repr(table.side(0)).splitlines()[1:]]
    assert shown == [["id", "component", "component_side"], ["3", "3", "0"], ["4", "4", "0"]]


def test_a_run_starts_from_values_of_both_sides() -> None:
    graph = gl.Graph.from_edges([3, 4], [3, 9], bipartite=True)

    class Keep(gl.VertexProgram):
        class Vertex(gl.Vertex):
            x: int = 0

        def apply(self, v: Vertex) -> None:
            v.x = v.x + 1

    first = gl.run(Keep(), graph, max_iterations=1, init={"x": {3: 5, gl.right(3): 7}})
    assert first.vertices["x"].tolist() == [6, 1, 8, 1]
    assert gl.run(Keep(), graph, max_iterations=1, init=first).vertices["x"].tolist() == [7, 2, 9, 2]
    smaller = gl.Graph.from_edges([4], [9], bipartite=True, vertices=((3,), (3,)), directed=False)
    assert gl.run(Keep(), smaller, max_iterations=1, init=first).vertices["x"].tolist() == [7, 2, 9, 2]


class Divide(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: int = 0

    def apply(self, v: Vertex) -> None:
        v.x = 1 // (1 - v.side)


def test_a_fault_names_the_side() -> None:
    graph = gl.Graph.from_edges([3], [3], bipartite=True)
    with pytest.raises(gl.ExecutionError, match=r"Divide failed at vertex 3 \(right\) in superstep 0: "):
        gl.run(Divide(), graph, max_iterations=1)


def bad_network(**sides: Any) -> Any:
    net = nx.DiGraph()
    net.add_nodes_from((name, {} if side is None else {"bipartite": side}) for name, side in sides.items())
    net.add_edge("u", "v")
    return net


ERRORS = [
    (lambda: gl.Graph.from_networkx(bad_network(u=0, v=None), bipartite=True),
     "node 'v' has bipartite=None; bipartite=True needs the node attribute bipartite, 0 or 1, on every node"),
    (lambda: gl.Graph.from_networkx(bad_network(u=1, v=1), bipartite=True),
     "the edge 'u' -> 'v' joins two nodes with bipartite=1"),
    (lambda: gl.Graph.from_networkx(bad_network(u=1, v=0), bipartite=True),
     "the edge 'u' -> 'v' leads from right to left; reverse it"),
    (lambda: gl.Graph.from_scipy(sp.csr_array(np.ones((2, 3)))),
     "a square matrix is needed, not one of shape (2, 3); or pass bipartite=True, and rows and columns are "
     "vertices of two kinds"),
    (lambda: gl.Graph.from_edges([1], [2], vertices=[1, 2, 3], bipartite=True),
     "for a bipartite graph, vertices= must be a pair: the left and the right ids"),
    (lambda: gl.run(Divide(), gl.Graph.from_edges([1], [2]), max_iterations=1),
     "Divide reads v.side, and the graph is not bipartite; make it with bipartite=True (--bipartite)"),
    (lambda: gl.run(Divide(), gl.Graph.from_edges([1], [2]), max_iterations=1, engine="reference"),
     "Divide reads v.side, and the graph is not bipartite; make it with bipartite=True (--bipartite)"),
    (lambda: gl.Graph.from_edges([1], [2]).num_left,
     "num_left was read, and the graph is not bipartite; make it with bipartite=True (--bipartite)"),
    (lambda: gl.run(Sides(source=9), gl.Graph.from_edges([3], [9], bipartite=True)),
     "vertex 9 is not on the left side of the graph; the nearest id is 3; gl.right(id) names one of the "
     "right side"),
    (lambda: gl.run(Sides(source=gl.right(3)), gl.Graph.from_edges([3], [9], bipartite=True)),
     "vertex 3 is not on the right side of the graph; the nearest id is 9"),
    (lambda: gl.components(gl.Graph.from_edges([3], [9])).vertices.side(0),
     "the table has no sides: it is not of the vertices of a bipartite graph"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "text"), ERRORS, ids=[text[:30] for _, text in ERRORS])
def test_errors(act: Any, text: str) -> None:
    with pytest.raises(gl.GaslabError) as error:
        act()
    assert str(error.value) == text


KEEP = """
import gaslab as gl


class Keep(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.x = v.x + 1.0
"""


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    graph = tmp_path / "ratings.tsv"
    graph.write_text("3\t3\t4.5\n4\t9\t1\n3\t9\t2\n")
    out = tmp_path / "out.tsv"
    argv = ["sssp", str(graph), "--bipartite", "--undirected", "--source", "right:3", "--quiet"]
    assert main([*argv, "-o", str(out)]) == 0
    assert out.read_text() == "3\t0\t4.5\n4\t0\t7.5\n3\t1\t0.0\n9\t1\t6.5\n"
    program = tmp_path / "keep.py"
    program.write_text(KEEP)
    again = ["run", f"{program}:Keep", str(graph), "--bipartite", "--init", f"x={out}", "--quiet"]
    later = tmp_path / "later.tsv"
    assert main([*again, "--max-iterations", "1", "-o", str(later)]) == 0
    assert later.read_text() == "3\t0\t5.5\n4\t0\t8.5\n3\t1\t1.0\n9\t1\t7.5\n"
    assert main(["info", str(graph), "--bipartite"]) == 0
    assert "sides          2 left, 2 right" in capsys.readouterr().out
    out.write_text("3 2 4.5\n")
    assert main([*again, "--max-iterations", "1"]) == 1
    assert "line 1: '2' is not a side; write id, side (0 or 1), value" in capsys.readouterr().err


class Named(gl.VertexProgram):
    """Has vertex ids in aggregators of all kinds and in lists, and fails where it is asked to."""

    fails: bool = False

    class Vertex(gl.Vertex):
        near: gl.SortedSet[gl.VertexId]
        n: int = 0

    class Both(gl.Accumulator):
        last: gl.Max[gl.VertexId]
        most: gl.ArgMax[int, gl.VertexId]
        edges: int

    @gl.aggregator
    def first(self, v: Vertex) -> gl.Min[gl.VertexId]:
        return v.id if v.out_degree == 0 else gl.NOBODY

    @gl.aggregator
    def busiest(self, v: Vertex) -> gl.ArgMax[int, gl.VertexId]:
        return v.degree, v.id

    @gl.aggregator
    def both(self, v: Vertex) -> Both:
        return self.Both(last=v.id, most=(v.in_degree, v.id), edges=v.degree)

    @gl.aggregator
    def nobody(self, v: Vertex) -> gl.Min[gl.VertexId]:
        return gl.NOBODY

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.SortedSet[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.SortedSet[gl.VertexId]) -> None:
        v.near = total
        v.n = 1 // (1 - v.in_degree) if self.fails else 0


def names_of(graph: gl.Graph, engine: str) -> Any:
    """Return all in which a run names vertices."""
    result = gl.run(Named(), graph, engine=engine, max_iterations=1)
    both = vars(result.aggregates["both"])
    rows = [{**row, "both": vars(row["both"])} for row in result.history]
    results = [{name: row[name] for name in ("first", "busiest", "both", "nobody")} for row in rows]
    with pytest.raises(gl.ExecutionError) as failed:
        gl.run(Named(fails=True), graph, engine=engine, max_iterations=1)
    where = str(failed.value).split(" at vertex ")[1].split(":")[0]
    return {**result.aggregates, "both": both}, results, result.vertices["near"].tolist(), where


def named_by_both(comm: Comm, strange: bool) -> list[Any]:
    if strange:
        a, b, c = (1, "x"), (2, "y"), (3, "z")
        graph = gl.Graph.from_edges([a, a, b, c], [b, c, a, a], comm=comm)
    else:
        graph = gl.Graph.from_edges([5, 5, 7], [9, 5, 9], bipartite=True, comm=comm)
    return [names_of(graph, engine) for engine in ("sync", "reference")]


@pytest.mark.parametrize("strange", [False, True])
def test_the_reference_names_vertices_as_their_user_does(ranks: Ranks, strange: bool) -> None:
    """Where a program sees positions (two sides, ids of any kind), the answer has the user's ids."""
    for ours, plain in ranks.run(named_by_both, strange):
        assert plain == ours
        assert ours[0]["nobody"] is None
        assert ours[3] in ("5 (right) in superstep 0", "(2, 'y') in superstep 0")
