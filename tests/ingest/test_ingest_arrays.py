"""Arrays and other libraries' graphs: every kind of id, rows the same, in parts or on one rank."""

from __future__ import annotations

import logging
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from gaslab.errors import GaslabError, InputError, UsageError
from gaslab.ingest.arrays import edges_from_arrays
from gaslab.ingest.convert import edges_from_networkx, edges_from_pandas, edges_from_scipy
from gaslab.ingest.edges import EdgeList
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks


def content(comm: Comm, edges: EdgeList) -> dict[str, Any]:
    """Return all of a graph, in the order of ranks."""
    ends = [edges.ids.lookup(end).tolist() for end in (edges.src, edges.dst)]
    mine = list(zip(*ends, *(column.tolist() for column in edges.columns.values()), strict=True))
    return {
        "edges": [row for part in comm.allgather(mine) for row in part],
        "vertices": edges.ids.lookup(np.arange(edges.num_vertices)).tolist(),
        "columns": {name: column.dtype.name for name, column in edges.columns.items()},
        "directed": edges.directed,
        "kind": edges.ids.kind,
        "fingerprint": edges.fingerprint,
    }


def three_ways(comm: Comm, src: Any, dst: Any, options: dict[str, Any]) -> list[dict[str, Any]]:
    """The same edges passed whole by all, in parts, and by rank 0."""
    part = slice(len(src) * comm.rank // comm.size, len(src) * (comm.rank + 1) // comm.size)
    parts = {
        name: {k: v[part] for k, v in value.items()} for name, value in options.items() if name == "columns"
    }
    root = options if comm.rank == 0 else {}
    return [
        content(comm, edges_from_arrays(src, dst, comm, **options)),
        content(comm, edges_from_arrays(src[part], dst[part], comm, rows="parts", **{**options, **parts})),
        content(
            comm,
            edges_from_arrays(
                src if comm.rank == 0 else None, dst if comm.rank == 0 else None, comm, rows="root", **root
            ),
        ),
    ]


@pytest.mark.parametrize(
    ("src", "dst", "kind"),
    [
        ([5, 1, 5, 9], [1, 5, 9, 9], "int"),
        (np.array([5, 1, 5, 9], dtype=np.uint16), np.array([1, 5, 9, 9]), "int"),
        (["b", "a", "é", "b"], ["a", "é", "b", "b"], "str"),
        (np.array(["b", "a", "cc", "b"]), np.array([b"a", b"cc", b"b", b"b"]), "str"),
        (["b", 1, (2, 3), "b"], [1, (2, 3), "b", "b"], "object"),
    ],
)
def test_rows_same_in_parts_and_on_one_rank(ranks: Ranks, src: Any, dst: Any, kind: str) -> None:
    weight, flag = np.array([0.5, 1, 2, 3]), np.array([True, False, True, True])
    wanted = [
        (u if not isinstance(u, bytes) else u.decode(), v if not isinstance(v, bytes) else v.decode(), w, f)
        for u, v, w, f in zip(
            *(one.tolist() if isinstance(one, np.ndarray) else one for one in (src, dst)),
            weight.tolist(), flag.tolist(), strict=True,
        )
    ]  # fmt: skip
    for answer in ranks.run(three_ways, src, dst, {"columns": {"weight": weight, "flag": flag}}):
        for one in answer:
            assert one["edges"] == wanted
            assert (one["kind"], one["columns"]) == (kind, {"weight": "float64", "flag": "bool"})
            assert one["vertices"] == (
                sorted({end for row in wanted for end in row[:2]}) if kind != "object" else ["b", 1, (2, 3)]
            )
        assert len({one["fingerprint"] for one in answer}) == 1


def test_parts_agree_on_one_type_of_column_and_of_id() -> None:
    def parts(comm: Comm) -> dict[str, Any]:
        weight = [[1, 2], [0.5, 1.0], []][comm.rank]
        ids = [[1, 2], [3, 2], []][comm.rank]
        return content(comm, edges_from_arrays(ids, ids, comm, columns={"w": weight}, rows="parts"))

    for answer in run_ranks(3, parts):
        assert answer["edges"] == [(1, 1, 1.0), (2, 2, 2.0), (3, 3, 0.5), (2, 2, 1.0)]
        assert answer["columns"] == {"w": "float64"}


def test_vertices_add_those_without_edges() -> None:
    answer = content(Comm(), edges_from_arrays([3], [5], Comm(), vertices=[9, 3, 0]))
    assert (answer["vertices"], answer["edges"]) == ([0, 3, 5, 9], [(3, 5)])
    assert content(Comm(), edges_from_arrays([], [], Comm(), vertices=["b", "a"]))["vertices"] == ["a", "b"]
    assert content(Comm(), edges_from_arrays([], [], Comm()))["vertices"] == []


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("directed", [True, False])
def test_drops(size: int, directed: bool) -> None:
    src, dst = [1, 2, 2, 1, 3, 1, 3], [2, 1, 2, 2, 3, 2, 3]

    def dropped(comm: Comm) -> tuple[Any, ...]:
        options: dict[str, Any] = {"directed": directed, "columns": {"w": range(7)}}
        both = edges_from_arrays(src, dst, comm, drop_duplicates=True, drop_self_loops=True, **options)
        loops = edges_from_arrays(src, dst, comm, drop_self_loops=True, **options)
        again = edges_from_arrays(src, dst, comm, drop_duplicates=True, **options)
        plain = edges_from_arrays(src, dst, comm, **options)
        answer = [content(comm, one)["edges"] for one in (both, loops, again)]
        return (*answer, both.counts, both.num_vertices, again.counts, plain.counts)

    for both, loops, again, counts, n, dropped_counts, plain in run_ranks(size, dropped):
        reverse = [] if not directed else [(2, 1, 1)]
        assert both == [(1, 2, 0), *reverse]
        assert loops == [(1, 2, 0), (2, 1, 1), (1, 2, 3), (1, 2, 5)]
        assert again == [(1, 2, 0), *reverse, (2, 2, 2), (3, 3, 4)]
        assert n == 3
        repeated = 3 if directed else 4
        assert dropped_counts == {
            "edges_read": 7,
            "self_loops": 3,
            "duplicates": repeated,
            "edges": 7 - repeated,
        }
        assert counts == {"edges_read": 7, "self_loops": 3, "duplicates": repeated, "edges": len(both)}
        assert plain == {"edges_read": 7, "self_loops": 3, "edges": 7}


def test_fingerprints_differ_by_graph_and_not_by_order() -> None:
    def mark(src: Any, dst: Any, **options: Any) -> str:
        return edges_from_arrays(src, dst, Comm(), **options).fingerprint

    same = mark([1, 2], [2, 3], columns={"w": [5, 6]})
    assert mark([2, 1], [3, 2], columns={"w": [6, 5]}) == same
    others = [
        mark([1, 2], [2, 3], columns={"w": [6, 5]}),
        mark([1, 2], [2, 3], columns={"w": [5.0, 6.0]}),
        mark([1, 2], [2, 3], columns={"v": [5, 6]}),
        mark([1, 2], [2, 3]),
        mark([1, 2], [2, 3], columns={"w": [5, 6]}, directed=False),
        mark([1, 2], [2, 4], columns={"w": [5, 6]}),
        mark(["1", "2"], ["2", "3"], columns={"w": [5, 6]}),
        mark([1, 2], [2, 3], columns={"w": [5, 6]}, vertices=[9]),
    ]
    assert len({same, *others}) == 1 + len(others)


@pytest.mark.parametrize(
    ("arguments", "kind", "answer"),
    [
        (([1], np.array([2**63], dtype=np.uint64)), InputError,
         "target[0] is 9223372036854775808: integer ids are -2**63 to 2**63 - 1; pass such ids as strings"),
        *((([1, 2], [1, large][::way]), InputError,
           f"target[{int(way > 0)}] is {large}: integer ids are -2**63 to 2**63 - 1; "
           "pass such ids as strings")
          for large in (2**63, 2**64, -(2**70)) for way in (1, -1)),
        (([1, 1], [3, 3], {"w": [2**63, 1]}), UsageError,
         "column 'w' has the value 9223372036854775808: integers are from -2**63 to 2**63 - 1; pass the "
         "column as float64 if its last digits do not matter"),
        (([1, 1], [3, 3], {"w": [[1, 2], [-(2**64)]]}), UsageError,
         "column 'w' has the value -18446744073709551616: integers are from -2**63 to 2**63 - 1; pass the "
         "column as float64 if its last digits do not matter"),
        ((np.array([1.0]), [1]), UsageError,
         "source is float64: ids are integers or strings; convert it, for instance with .astype('int64')"),
        ((["a", None], ["b", "c"]), InputError, "source[1] is missing (None); leave its row out, or fill it"),
        ((["a", "b"], ["b", float("nan")]), InputError,
         "target[1] is missing (nan); leave its row out, or fill it"),
        ((["a"], [["b"]]), InputError, "target[0] is a list, which is not hashable"),
        ((["a", ""], ["b", "c"]), InputError, "source[1] is the empty string; leave its row out, or fill it"),
        ((["a\0"], ["b"]), InputError,
         "an id cannot be written as UTF-8 without NUL: a NUL character in an id"),
        (([1, 2], [3]), UsageError, "target has 1 values, source 2"),
        (([1], [3], {"w": [1, 2]}), UsageError, "w has 2 values, source 1"),
        (([1], [3], {"w": ["x"]}), InputError,
         "column 'w' at position 0 is 'x' (str): fields are numbers or bools; pandas.to_numeric makes "
         "numbers of text"),
        (([1, 1], [3, 3], {"w": [1, np.nan]}), InputError, "column 'w' is not a number (nan) at position 1"),
        (([1], [3], {"w": 1.0}), UsageError,
         "column 'w' has shape (); a number, a vector or a matrix for each row is needed"),
        (([1], [3], {"w": np.empty((1, 0))}), UsageError,
         "column 'w' has shape (1, 0); a number, a vector or a matrix for each row is needed"),
        (([1], [3], {"source": [1]}), UsageError, "a column cannot be named 'source'"),
        ((np.ones((2, 2), int), [3]), UsageError, "source has 2 dimensions; one is needed"),
    ],
)  # fmt: skip
def test_arrays_that_cannot_be(arguments: Any, kind: type[GaslabError], answer: str) -> None:
    columns = arguments[2] if len(arguments) > 2 else None
    with pytest.raises(kind) as caught:
        run_ranks(2, lambda comm: edges_from_arrays(*arguments[:2], comm, columns=columns))
    assert str(caught.value) == answer


@pytest.mark.parametrize(
    ("make", "answer"),
    [
        (lambda r: ([1, 2 + r], [3, 4], None), "the values of source differ between rank 0 and rank 1"),
        (lambda r: ([1] * (2 + r), [3] * (2 + r), None),
         "rank 0 passed 2 values of int64 as source, rank 1 3 of int64"),
        (lambda r: ([1], [3], {"wv"[r]: [1]}), "rank 0 passed the columns w, rank 1 v"),
    ],
)  # fmt: skip
def test_rows_that_are_not_the_same(make: Any, answer: str) -> None:
    with pytest.raises(UsageError) as caught:
        run_ranks(2, lambda comm: edges_from_arrays(*make(comm.rank)[:2], comm, columns=make(comm.rank)[2]))
    assert str(caught.value) == (
        f"rows='same' needs the same rows on every rank, but {answer}; pass each rank its own rows with "
        "rows='parts', or rank 0 all of them with rows='root'"
    )


def test_parts_have_the_same_columns_and_rows_is_one_of_three() -> None:
    with pytest.raises(UsageError, match=r"^rank 0 passed the columns w, rank 1 \(none\)$"):
        run_ranks(2, lambda comm: edges_from_arrays(
            [1], [2], comm, columns={} if comm.rank else {"w": [1]}, rows="parts"
        ))  # fmt: skip
    with pytest.raises(UsageError, match=r"^rows='all' is unknown; known: parts, root, same$"):
        edges_from_arrays([1], [2], Comm(), rows="all")


# ---- NetworkX --------------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("size", [1, 3])
def test_networkx_classes(cls: Any, size: int) -> None:
    graph = cls([(3, 1), (1, 1), (3, 7)])
    graph.add_edge(3, 1, weight=2.5)
    graph.add_node(0)
    for _, _, data in graph.edges(data=True):
        data.setdefault("weight", 1)
    wanted = [(u, v, float(data["weight"])) for u, v, data in graph.edges(data=True)]
    for answer in run_ranks(size, lambda comm: content(comm, edges_from_networkx(graph, comm))):
        assert answer["edges"] == wanted
        assert answer["vertices"] == [0, 1, 3, 7]
        assert answer["directed"] is graph.is_directed()


@pytest.mark.parametrize(
    ("nodes", "kind", "order"),
    [
        (["b", "a"], "str", ["a", "b"]),
        ([5, 2], "int", [2, 5]),
        ([5, -2], "int", [-2, 5]),
        ([1, "a"], "object", [1, "a"]),
        ([True, "a"], "object", [True, "a"]),
        ([(0, 1), frozenset([2])], "object", [(0, 1), frozenset([2])]),
        ([(1, "a"), (0, "b")], "object", [(0, "b"), (1, "a")]),
        ([2**70, 1], "object", [1, 2**70]),
        ([0.5, -2], "object", [-2, 0.5]),
        ([True, False], "object", [False, True]),
    ],
)
def test_networkx_nodes_of_any_kind(nodes: list[Any], kind: str, order: list[Any]) -> None:
    graph = nx.Graph([tuple(nodes)])
    for answer in run_ranks(2, lambda comm: content(comm, edges_from_networkx(graph, comm))):
        assert (answer["kind"], answer["vertices"], answer["edges"]) == (kind, order, [tuple(nodes)])


def test_networkx_attributes(caplog: pytest.LogCaptureFixture) -> None:
    graph = nx.Graph()
    graph.add_edge(0, 1, km=3, on=True, name="x", toll=1.5)
    graph.add_edge(1, 2, km=4, on=False, name="y")
    with caplog.at_level(logging.WARNING):
        edges = edges_from_networkx(graph, Comm())
    assert {name: column.tolist() for name, column in edges.columns.items()} == {
        "km": [3, 4],
        "on": [True, False],
    }
    assert caplog.messages == [
        "edge attributes left out: 'name' (str), 'toll' (a number on 1 of 2); a number on every edge becomes "
        "a column"
    ]


def test_networkx_on_one_rank_only() -> None:
    graph = nx.DiGraph([("a", "b")])
    for answer in run_ranks(3, lambda comm: content(
        comm, edges_from_networkx(None if comm.rank else graph, comm, rows="root")
    )):  # fmt: skip
        assert (answer["edges"], answer["directed"]) == ([("a", "b")], True)


# ---- SciPy and pandas ------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["coo", "csr", "csc", "lil"])
def test_scipy_matrices(form: str) -> None:
    matrix = sp.random(30, 30, 0.1, format=form, random_state=11)
    entries = matrix.tocoo()
    for size in (1, 3):
        for answer in run_ranks(size, lambda comm: content(comm, edges_from_scipy(matrix, comm))):
            assert answer["edges"] == list(
                zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True)
            )
            assert answer["vertices"] == list(range(30))


def test_symmetric_matrices_have_each_pair_once() -> None:
    matrix = sp.csr_array(np.array([[1, 2, 0], [2, 0, 3], [0, 3, 0]]))
    answer = content(Comm(), edges_from_scipy(matrix, Comm(), directed=False, weight="w"))
    assert (answer["edges"], answer["directed"]) == ([(0, 0, 1), (0, 1, 2), (1, 2, 3)], False)
    assert edges_from_scipy(matrix, Comm(), weight=None).columns == {}
    for bad, answer in [
        (sp.csr_array(np.array([[0, 1], [2, 0]])),
         "directed=False needs a symmetric matrix: the entry (0, 1) is 1, and (1, 0) is 2"),
        (sp.csr_array(np.array([[0, 0], [2, 0]])),
         "directed=False needs a symmetric matrix: the entry (1, 0) is 2, and (0, 1) is 0"),
        (sp.csr_array(np.ones((2, 3))),
         "a square matrix is needed, not one of shape (2, 3); or pass bipartite=True, and rows and columns "
         "are vertices of two kinds"),
        (np.ones((2, 2)), "matrix=array([[1., 1.], [1., 1.]]): a scipy.sparse matrix is needed, not ndarray"),
    ]:  # fmt: skip
        with pytest.raises(GaslabError) as caught:
            edges_from_scipy(bad, Comm(), directed=False)
        assert str(caught.value) == answer


@pytest.mark.parametrize("dtype", ["object", "string", "category"])
def test_pandas_frames(dtype: str) -> None:
    frame = pd.DataFrame({"from": ["b", "a"], "to": ["a", "c"], "km": [1, 2], "x": ["p", "q"], "y": [0.5, 1]})
    frame = frame.astype({"from": dtype, "to": dtype})
    for answer in run_ranks(
        2, lambda comm: content(comm, edges_from_pandas(frame, comm, source="from", target="to"))
    ):
        assert answer["edges"] == [("b", "a", 1, 0.5), ("a", "c", 2, 1.0)]
        assert answer["columns"] == {"km": "int64", "y": "float64"}
    only = edges_from_pandas(frame, Comm(), source="from", target="to", columns=["y"])
    assert list(only.columns) == ["y"]
    text = r"^source='form': the frame has no such column; did you mean 'from'\?$"
    with pytest.raises(UsageError, match=text):
        edges_from_pandas(frame, Comm(), source="form", target="to")


def test_a_pandas_frame_on_one_rank_only() -> None:
    frame = pd.DataFrame({"source": [1, 2], "target": [2, 3], "w": [1.5, 2.5]})
    for answer in run_ranks(3, lambda comm: content(
        comm, edges_from_pandas(None if comm.rank else frame, comm, rows="root")
    )):  # fmt: skip
        assert answer["edges"] == [(1, 2, 1.5), (2, 3, 2.5)]


@pytest.mark.parametrize("empty", [np.empty(0, object), np.empty(0, "U3"), np.empty((0, 2), object)])
def test_a_column_of_an_empty_part_has_the_type_of_the_others(empty: np.ndarray) -> None:
    """Pandas makes columns of objects where a frame has no rows."""

    def read(comm: Any) -> Any:
        values = np.full((2, *empty.shape[1:]), 0.5) if comm.rank else empty
        ends = np.arange(len(values))
        edges = edges_from_arrays(ends, ends + 1, comm, columns={"w": values}, rows="parts")
        return edges.columns["w"].dtype, edges.columns["w"].shape[1:]

    assert run_ranks(3, read) == [(np.dtype(np.float64), empty.shape[1:])] * 3
    assert edges_from_arrays([], [], columns={"w": empty}).columns["w"].dtype == np.int64
