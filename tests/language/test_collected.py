"""Messages in lists, vectors of ids and lists that grow: engines, results, states, many of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.ragged import GrowingRows


class Heard(gl.VertexProgram):
    class Vertex(gl.Vertex):
        heard: gl.List[gl.VertexId]

    def apply(self, v: Vertex, message: gl.List[gl.VertexId]) -> None:
        v.heard = message

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        nbr.signal(v.id)


class Long(gl.VertexProgram):
    """Rows that grow by different steps in every superstep."""

    class Vertex(gl.Vertex):
        numbers: gl.List[gl.int32]
        ids: gl.List[gl.VertexId]

    def init(self, v: Vertex) -> None:
        for k in range(v.degree % 3):
            v.numbers.append(k)

    def apply(self, v: Vertex) -> None:
        for k in range((v.degree + self.superstep) % 7):
            v.numbers.append(k * self.superstep)
            v.ids.append(v.id)
        if len(v.ids) > 60:
            v.ids = []


class Ends(gl.VertexProgram):
    class Vertex(gl.Vertex):
        ends: gl.Vector = gl.field(shape=2, dtype=gl.VertexId)
        table: gl.Matrix = gl.field(shape=(1, 2), dtype=gl.VertexId)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Max[gl.VertexId]:
        return nbr.id

    def apply(self, v: Vertex, total: gl.VertexId) -> None:
        if v.in_degree > 0:
            v.ends[1] = total
        v.ends[0] = v.id
        v.table[0, 1] = v.ends[1]


@pytest.fixture
def graph() -> gl.Graph:
    return gl.Graph.from_edges(["a", "a", "b", "c"], ["b", "c", "c", "b"])


def test_what_is_refused_by_name(graph: gl.Graph) -> None:
    for engine in ("async", gl.Stale(0)):
        name = engine if isinstance(engine, str) else "stale"
        text = f"Heard cannot run with engine='{name}': its messages are lists; use engine='sync'"
        with pytest.raises(gl.UsageError, match=f"^{re.escape(text)}$"):
            gl.run(Heard(), graph, engine=engine, max_iterations=None if name == "async" else 2)
    text = (
        "start= has messages, but those of Heard are lists, which only its methods send; give only the "
        "ids, and let apply do the messages' work in superstep 0"
    )
    with pytest.raises(gl.UsageError, match=f"^{re.escape(text)}$"):
        gl.run(Heard(), graph, start={"a": ["b"]}, max_iterations=2)


def test_messages_wait_and_go_with_a_state(graph: gl.Graph) -> None:
    one, two = (gl.run(Heard(), graph, max_iterations=n).vertices.to_dict("heard") for n in (1, 2))
    assert one == {"a": [], "b": [], "c": []}
    assert two == {"a": [], "b": ["a", "c"], "c": ["a", "b"]}


def test_a_superstep_says_who_heard_what(graph: gl.Graph) -> None:
    rows = gl.run(Heard(), graph, max_iterations=2, trace=["b"]).trace
    assert rows is not None
    assert "['a', 'c']" in str(rows) or "a, c" in str(rows)


@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 2}, {"compile": "never"}], ids=str)
def test_rows_grow_by_any_steps(options: dict[str, Any]) -> None:
    wide = gl.Graph.generate("rmat", scale=7, edge_factor=5, seed=3)
    expected = gl.run(Long(), wide, engine="reference", max_iterations=23)
    found = gl.run(Long(), wide, max_iterations=23, **options)
    for name in ("numbers", "ids"):
        assert found.vertices[name].tolist() == expected.vertices[name].tolist()
    again = gl.run(Long(), wide, max_iterations=5, init=found, **options).vertices
    more = gl.run(Long(), wide, max_iterations=5, init=expected, engine="reference").vertices
    assert again["numbers"].tolist() == more["numbers"].tolist()


def test_growing_rows_keep_what_they_have() -> None:
    draws, rows, plain = np.random.default_rng(4), GrowingRows(np.zeros(50, np.int64), np.dtype(np.int32)), {}
    for _ in range(400):
        v, values = int(draws.integers(50)), draws.integers(99, size=draws.integers(40)).tolist()
        rows[v] = plain[v] = values
    assert all(rows.item(v) == values for v, values in plain.items())
    assert rows.data.size < 50 * 64 * 3


def test_vectors_of_ids_are_the_users_own(graph: gl.Graph, tmp_path: Path) -> None:
    result = gl.run(Ends(), graph, max_iterations=1)
    assert result.vertices.to_dict("ends") == {"a": ["a", None], "b": ["b", "c"], "c": ["c", "b"]}
    assert result.vertices["table"].shape == (3, 1, 2)
    assert result.vertices.global_ids["ends"].tolist() == [[0, 2**63 - 1], [1, 2], [2, 1]]
    assert list(result.vertices.flat()) == ["ends[0]", "ends[1]", "table[0,0]", "table[0,1]"]
    arrow = result.vertices.to_arrow()
    assert arrow["ends"].to_pylist() == [["a", None], ["b", "c"], ["c", "b"]]
    earlier = gl.run(Ends(), graph, max_iterations=0, init=result).vertices
    assert earlier.to_dict() == result.vertices.to_dict()
    given = gl.run(Ends(), graph, max_iterations=0, init={"ends": {"b": ["a", gl.NOBODY]}}).vertices
    assert given.to_dict("ends") == {"a": [None, None], "b": ["a", None], "c": [None, None]}
    with pytest.raises(gl.UsageError, match=r"'ends': ...\} has values of shape \(1,\); \(2,\) is needed"):
        gl.run(Ends(), graph, max_iterations=0, init={"ends": {"b": ["a"]}})
    for name in ("table.npz", "table.parquet", "table.tsv"):
        result.save(tmp_path / name)


def test_vectors_of_integer_ids_show_minus_one_for_nobody() -> None:
    graph = gl.Graph.from_edges([7, 7, 9], [9, 11, 11])
    found = gl.run(Ends(), graph, max_iterations=1).vertices
    assert found["ends"].tolist() == [[7, -1], [9, 7], [11, 9]]
    assert found["ends"].dtype == np.int64
    same = gl.run(Ends(), graph, max_iterations=1, engine="reference").vertices
    assert same["ends"].tolist() == found["ends"].tolist()


def test_vectors_of_ids_of_two_sides() -> None:
    graph = gl.Graph.from_edges(["u", "u"], ["x", "y"], bipartite=True)
    found = gl.run(Ends(), graph, max_iterations=1).vertices
    assert found.to_dict("ends") == {("u", 0): ["u", None], ("x", 1): ["x", "u"], ("y", 1): ["y", "u"]}
    assert found["ends_side"].tolist() == [[0, -1], [1, 0], [1, 0]]


def test_explain_says_what_travels() -> None:
    lines = str(gl.explain(Heard))
    assert "messages" in lines
    assert "one by one" in lines
