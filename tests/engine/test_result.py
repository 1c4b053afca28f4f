"""Answers: the same table on every rank, in the user's own ids, sorted; refused where it would not fit."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from gaslab.errors import UsageError
from gaslab.graph.graph import Graph
from gaslab.parallel.comm import Comm
from gaslab.results import collect as module
from gaslab.results.result import Result
from gaslab.results.tables import Table, objects, render
from gaslab.system.memory import human
from tests.mpi.ranks import Ranks

# Ids whose order as numbers, as text and in the file all differ; two edges are parallel, one is a loop.
SOURCES = [30, 100, 9, 30, 100, 9, 9]
TARGETS = [100, 9, 30, 9, 9, 100, 9]
IDS = {"int": lambda n: n, "str": lambda n: f"v{n}", "object": lambda n: (n, "x")}
NOWHERE = np.iinfo(np.int64).max  # what gl.Min[gl.VertexId] has where nothing came

STORAGE = {"half": "float32", "flag": "bool", "next": "id", "worth": "float64"}


def build(comm: Comm, kind: str) -> Graph:
    to = IDS[kind]
    return Graph.from_edges(list(map(to, SOURCES)), list(map(to, TARGETS)), strategy="random", comm=comm)


def collect(comm: Comm, kind: str, on: str) -> Result:
    """Make a result of which every value can be known from the global ids."""
    graph = build(comm, kind)
    masters = graph.local.gid[: graph.local.num_masters]
    source, target = graph.edges()
    return Result.collect(
        graph,
        STORAGE,
        {
            "half": (masters * 0.5).astype(np.float32),
            "flag": (masters % 2).astype(np.uint8),
            "next": np.where(masters == 2, NOWHERE, masters + 1),
        },
        {"worth": source * 10.0 + target},
        {"program": "Test", "answer": 42},
        [{"superstep": 0}],
        True,
        1,
        on,
        edges=True,
    )


def tables(comm: Comm, kind: str, on: str) -> tuple[Any, ...]:
    result = collect(comm, kind, on)
    vertices, edges = result.vertices, result.edges
    return (
        vertices.ids.tolist(), vertices["half"].tolist(), vertices["flag"].tolist(),
        vertices["next"].tolist(),
        edges["source"].tolist(), edges["target"].tolist(), edges["worth"].tolist(),
        [str(vertices["half"].dtype), str(vertices["flag"].dtype)],
    )  # fmt: skip


def expected(kind: str) -> tuple[Any, ...]:
    to = IDS[kind]
    ids = sorted({to(n) for n in (9, 30, 100)})
    place = {user: gid for gid, user in enumerate(ids)}
    pairs = sorted((place[to(s)], place[to(t)]) for s, t in zip(SOURCES, TARGETS, strict=True))
    outside = -1 if kind == "int" else None
    return (
        ids, [0.0, 0.5, 1.0], [False, True, False], [ids[1], ids[2], outside],
        [ids[s] for s, _ in pairs], [ids[t] for _, t in pairs], [s * 10.0 + t for s, t in pairs],
        ["float32", "bool"],
    )  # fmt: skip


@pytest.mark.parametrize("kind", IDS)
def test_the_whole_answer_is_on_every_rank(ranks: Ranks, kind: str) -> None:
    assert ranks.run(tables, kind, "all") == [expected(kind)] * ranks.size


@pytest.mark.parametrize("kind", IDS)
def test_the_whole_answer_on_the_root_alone(ranks: Ranks, kind: str) -> None:
    first, *others = ranks.run(tables, kind, "root")
    assert first == expected(kind)
    for other in others:
        assert [len(values) for values in other[:-1]] == [0] * 7


@pytest.mark.parametrize("kind", IDS)
def test_the_local_answers_make_up_the_whole(ranks: Ranks, kind: str) -> None:
    ids, half, flag, following, source, target, worth, _ = expected(kind)
    parts = ranks.run(tables, kind, "local")
    found: dict[Any, Any] = {}
    for part in parts:
        assert [ids.index(user) for user in part[0]] == sorted(ids.index(user) for user in part[0])
        found.update(zip(part[0], zip(part[1], part[2], part[3], strict=True), strict=True))
    assert sum(len(part[0]) for part in parts) == 3
    assert found == dict(zip(ids, zip(half, flag, following, strict=True), strict=True))
    edges = [edge for part in parts for edge in zip(part[4], part[5], part[6], strict=True)]
    assert sorted(edges, key=repr) == sorted(zip(source, target, worth, strict=True), key=repr)


def attributes(comm: Comm) -> tuple[Any, ...]:
    result = collect(comm, "int", "all")
    changed = result.replaced(converged=False, iterations=7)
    return (
        result.metrics, result.history, result.converged, result.iterations, result.on,
        changed.converged, changed.iterations, changed.vertices is result.vertices, repr(result),
    )  # fmt: skip


def test_what_a_result_knows(hosts: Any) -> None:
    known = (
        {"program": "Test", "answer": 42}, [{"superstep": 0}], True, 1, "all", False, 7, True,
        "<Result of Test: 3 vertices, 1 superstep, converged; fields: half, flag, next, worth>",
    )  # fmt: skip
    assert hosts(2).run(attributes) == [known] * 2


def without_room(comm: Comm, on: str, room: int) -> Any:
    with patch.object(module, "available_memory", lambda: room + comm.rank), patch.object(module, "SMALL", 0):
        return len(collect(comm, "int", on).vertices)


def test_a_copy_that_does_not_fit_is_refused_with_its_size(hosts: Any) -> None:
    # A row of vertices has 8 + 4 + 1 + 8 bytes, one of edges 8 + 8 + 8: 3 * 21 = 63 and 7 * 24 = 168.
    with pytest.raises(UsageError) as caught:
        hosts(3).run(without_room, "all", 377)
    assert str(caught.value) == (
        "the whole answer takes 63 B, times 3 ranks of one machine, twice while it is sorted, and 377 B of "
        "memory are free; ask for on='root' (one copy), for on='local' (each rank its own part), or write it "
        "with --output"
    )
    for room in (378, 1007):
        with pytest.raises(UsageError, match=r"the table of edges takes 168 B, times 3 ranks of one machine"):
            hosts(3).run(without_room, "all", room)
    assert hosts(3).run(without_room, "all", 1008) == [3, 3, 3]
    with pytest.raises(UsageError, match=r"takes 168 B, times 1 rank of one machine"):
        hosts(3).run(without_room, "root", 335)
    assert hosts(3).run(without_room, "root", 336) == [3, 0, 0]
    assert sum(hosts(3).run(without_room, "local", 0)) == 3


def nothing(comm: Comm) -> tuple[int, int, list[str]]:
    graph = build(comm, "int")
    result = Result.collect(graph, {}, {}, {}, {}, [], True, 0, edges=True)
    return len(result.vertices), len(result.edges), result.vertices.columns


def test_a_result_without_fields(ranks: Ranks) -> None:
    assert ranks.run(nothing) == [(3, 7, [])] * ranks.size


# ---- tables ----------------------------------------------------------------------------------------


@pytest.fixture
def vertices() -> Table:
    gids = np.arange(3)
    ids = objects(["a", "b", "c"])
    return Table(
        {"id": ids}, {"score": np.array([0.5, 0.25, 0.125]), "n": np.array([1, 20, 3])}, {"id": gids}
    )


@pytest.fixture
def edges() -> Table:
    keys = {"source": np.array([7, 7, 8]), "target": np.array([8, 9, 9])}
    return Table(keys, {"flow": np.array([1.0, 2.0, 3.0])}, keys)


def test_columns_are_read_by_name(vertices: Table) -> None:
    assert vertices.columns == ["score", "n"]
    assert list(vertices) == ["score", "n"]
    assert len(vertices) == 3
    assert "score" in vertices
    assert "id" in vertices
    assert "share" not in vertices
    assert vertices["id"] is vertices.ids
    with pytest.raises(UsageError) as caught:
        vertices["scor"]
    assert str(caught.value) == "the table has no column 'scor'; did you mean 'score'?"


def test_to_dict(vertices: Table, edges: Table) -> None:
    assert vertices.to_dict("n") == {"a": 1, "b": 20, "c": 3}
    assert type(vertices.to_dict("n")["a"]) is int
    assert vertices.to_dict()["b"] == {"score": 0.25, "n": 20}
    assert edges.to_dict("flow") == {(7, 8): 1.0, (7, 9): 2.0, (8, 9): 3.0}
    assert vertices.select().to_dict() == {"a": {}, "b": {}, "c": {}}


def test_to_pandas(vertices: Table, edges: Table) -> None:
    frame = vertices.to_pandas()
    assert frame.loc["b"].to_dict() == {"score": 0.25, "n": 20.0}
    assert (frame.index.name, list(frame.columns)) == ("id", ["score", "n"])
    both = edges.to_pandas()
    assert list(both.columns) == ["source", "target", "flow"]
    assert both.set_index(["source", "target"]).loc[(7, 9), "flow"] == 2.0
    assert both.index.tolist() == [0, 1, 2]
    assert isinstance(both, pd.DataFrame)


def test_to_arrow(vertices: Table, edges: Table) -> None:
    assert vertices.to_arrow().to_pydict() == {
        "id": ["a", "b", "c"],
        "score": [0.5, 0.25, 0.125],
        "n": [1, 20, 3],
    }
    assert edges.to_arrow().schema.names == ["source", "target", "flow"]
    assert isinstance(edges.to_arrow(), pa.Table)


def test_edges_have_two_ids(edges: Table) -> None:
    source, target = edges.ids
    assert (source.tolist(), target.tolist()) == ([7, 7, 8], [8, 9, 9])


def test_select_and_take(vertices: Table) -> None:
    assert vertices.select("n").columns == ["n"]
    assert vertices.take(np.array([2, 0])).to_dict("n") == {"c": 3, "a": 1}
    assert vertices.take(np.array([False, True, False])).global_ids["id"].tolist() == [1]


def test_a_table_shows_its_first_rows(vertices: Table) -> None:
    assert repr(vertices).splitlines() == [
        "<Table: 3 rows; columns: score, n>",
        "id     score   n",
        "a   0.500000   1",
        "b   0.250000  20",
        "c   0.125000   3",
    ]
    many = Table({"id": np.arange(1000)}, {}, {"id": np.arange(1000)})
    assert repr(many).splitlines()[0] == "<Table: 1,000 rows; columns: none>"
    assert repr(many).splitlines()[-1] == "… and 990 more"
    assert len(repr(many).splitlines()) == 13


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([0.0046, 0.12345678, 1.0], ["0.00460", "0.12346", "1.00000"]),
        ([1.0, 20.0, np.inf], ["1", "20", "inf"]),
        ([1e-12, 2.5e-9], ["1e-12", "2.5e-09"]),
        ([1.5e15, 2.0], ["1.5e+15", "2"]),
        ([np.nan, 0.5], ["nan", "0.500000"]),
        ([1234567.5, 0.25], ["1234568", "0"]),
    ],
)
def test_decimals_stand_in_line(values: list[float], shown: list[str]) -> None:
    table = Table({"id": np.arange(len(values))}, {"x": np.array(values)}, {"id": np.arange(len(values))})
    assert [line.split()[1] for line in render(table)[1:]] == shown


def test_an_object_array_of_tuples_has_one_dimension() -> None:
    assert objects([(1, 2), (3, 4)]).shape == (2,)
    assert objects([]).shape == (0,)


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (1000, "1.0 KB"), (2_500_000, "2.5 MB"), (3e13, "30.0 TB")],
)
def test_human_sizes(count: float, text: str) -> None:
    assert human(count) == text


def test_this_machine_says_what_memory_is_free() -> None:
    assert 1 << 20 < module.available_memory() < 1 << 50
