"""Ids and values that are marked as missing: never an id, never a number, and named where they stand."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.sparse as sp

import gaslab as gl
from gaslab.errors import GaslabError, InputError, UsageError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks

WAY_OUT = "; leave its row out, or fill it"
HIDDEN = [False, True, False]


def mixed(one: Any) -> list[Any]:
    return ["a", one, "c"]


IDS: list[tuple[Any, str]] = [
    (mixed(None), "None"),
    (mixed(float("nan")), "nan"),
    (mixed(np.float32("nan")), "nan"),
    (mixed(Decimal("NaN")), "NaN"),
    (mixed(complex("nan")), "(nan+0j)"),
    (mixed(pd.NA), "<NA>"),
    (mixed(pd.NaT), "NaT"),
    (mixed(np.datetime64("NaT")), "NaT"),
    (mixed(np.ma.masked), "--"),
    (np.array(mixed(pd.NA), dtype=object), "<NA>"),
    (pd.Series(mixed(pd.NA), dtype=object), "<NA>"),
    (pd.Series(mixed(None), dtype="string"), "NA of string"),
    (pd.Series(mixed(None), dtype="category"), "NA of category"),
    (pd.array([1, None, 2], dtype="Int64"), "NA of Int64"),
    (pd.Series([1, None, 2], dtype="Int64"), "NA of Int64"),
    (pd.Index([1, None, 2], dtype="Int64"), "NA of Int64"),
    (pd.Series([1, None, 2]), "nan"),
    (np.array([1, np.nan, 2]), "nan"),
    (pd.Series([1, None, 2], dtype="int64[pyarrow]"), "NA of int64[pyarrow]"),
    (pa.array([1, None, 2]), "null"),
    (pa.array(mixed(None)), "null"),
    (pa.chunked_array([["a"], [None, "c"]]), "null"),
    (np.ma.array([1, 2, 3], mask=HIDDEN), "masked"),
    (np.ma.array(["a", "b", "c"], mask=HIDDEN), "masked"),
    (np.ma.array(["a", "b", "c"], mask=HIDDEN, dtype=object), "masked"),
]


@pytest.mark.parametrize(("ids", "said"), IDS, ids=[f"{k} {said}" for k, (_, said) in enumerate(IDS)])
def test_a_missing_id_is_named_and_no_vertex(ids: Any, said: str) -> None:
    message = f"is missing ({said}){WAY_OUT}"
    for size in (1, 2):
        with pytest.raises(InputError) as caught:
            run_ranks(size, lambda comm: gl.Graph.from_edges(ids, [7, 8, 9], comm=comm))
        assert str(caught.value) == f"source[1] {message}"
        with pytest.raises(InputError) as caught:
            run_ranks(size, lambda comm: gl.Graph.from_edges(ids, [7, 8, 9], rows="root", comm=comm))
        assert str(caught.value) == f"source[1] {message}"
        with pytest.raises(InputError) as caught:
            run_ranks(size, lambda comm: gl.Graph.from_edges([7, 8, 9], ids, comm=comm))
        assert str(caught.value) == f"target[1] {message}"
        with pytest.raises(InputError) as caught:
            run_ranks(size, lambda comm: gl.Graph.from_edges([7], [8], vertices=ids, comm=comm))
        assert str(caught.value) == f"vertices[1] {message}"
    graph = gl.Graph.from_edges([1], [2])
    with pytest.raises(InputError) as caught:
        graph.with_vertices({"id": ids, "x": [1, 2, 3]}, default=0)
    assert str(caught.value) == f"id[1] {message}"


VALUES: list[tuple[Any, str]] = [
    ([1, None, 2], "None"),
    ([1, pd.NA, 2], "<NA>"),
    ([True, None, False], "None"),
    (np.array([1, pd.NaT, 2], dtype=object), "NaT"),
    (np.ma.array([1, 2, 3], mask=HIDDEN), "masked"),
    (np.ma.array([1.0, np.nan, 3.0], mask=HIDDEN), "masked"),
    (np.ma.array([[1, 2], [3, 4], [5, 6]], mask=[[0, 0], [1, 0], [0, 0]]), "masked"),
    (np.ma.array([True, False, True], mask=HIDDEN), "masked"),
    (pd.Series([1, None, 2], dtype="Int64"), "NA of Int64"),
    (pd.Series([1, None, 2], dtype="Float64"), "NA of Float64"),
    (pd.Series([True, None, False], dtype="boolean"), "NA of boolean"),
    (pd.Series([1, None, 2], dtype="int64[pyarrow]"), "NA of int64[pyarrow]"),
    (pd.Series([True, None, True], dtype="bool[pyarrow]"), "NA of bool[pyarrow]"),
    (pa.array([1, None, 2]), "null"),
    (pa.array([True, None, False]), "null"),
    (pa.chunked_array([[1.5], [None, 2.0]]), "null"),
]


@pytest.mark.parametrize(("values", "said"), VALUES, ids=[f"{k} {s}" for k, (_, s) in enumerate(VALUES)])
def test_a_missing_value_is_named_and_no_number(values: Any, said: str) -> None:
    message = f"column 'w' at position 1 is missing ({said}){WAY_OUT}"
    for size in (1, 2):
        with pytest.raises(InputError) as caught:
            run_ranks(
                size, lambda comm: gl.Graph.from_edges([1, 2, 3], [2, 3, 1], columns={"w": values}, comm=comm)
            )
        assert str(caught.value) == message
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    with pytest.raises(InputError) as caught:
        graph.with_vertices({"id": [1, 2, 3], "w": values})
    assert str(caught.value) == message


def test_a_mask_of_init_is_not_dropped() -> None:
    class Doubled(gl.VertexProgram):
        class Vertex(gl.Vertex):
            x: float = 0.0
            row: gl.Vector = gl.field(shape=2)

        def apply(self, v: Vertex) -> None:
            v.x = 2.0 * v.x

    graph = gl.Graph.from_edges([1, 2], [2, 3])
    wrong: dict[str, Any] = {
        "x": np.ma.array([1.0, 2.0, 3.0], mask=HIDDEN),
        "row": np.ma.array(np.ones((3, 2)), mask=[[0, 0], [0, 1], [0, 0]]),
    }
    for name, values in wrong.items():
        with pytest.raises(UsageError, match=rf"init={{'{name}': ...}} is masked at position 1; fill it"):
            gl.run(Doubled(), graph, init={name: values}, max_iterations=1)
    whole = gl.run(Doubled(), graph, init={"x": np.ma.array([1.0, 2.0, 3.0])}, max_iterations=1)
    assert whole.vertices["x"].tolist() == [2.0, 4.0, 6.0]


WHOLE_IDS: list[Any] = [
    pd.array([5, 1, 5], dtype="Int64"), pd.Series([5, 1, 5], dtype="int64[pyarrow]"), pa.array([5, 1, 5]),
    pa.chunked_array([[5], [1, 5]]), np.ma.array([5, 1, 5]), np.ma.array([5, 1, 5], mask=False),
    pd.Series([5, 1, 5], dtype="category"), pd.Index([5, 1, 5]), np.array([5, 1, 5], dtype=object),
]  # fmt: skip
WHOLE_TEXT: list[Any] = [
    pd.Series(["b", "a", "b"], dtype="string"), pd.Series(["b", "a", "b"], dtype="string[pyarrow]"),
    pa.array(["b", "a", "b"]), np.ma.array(["b", "a", "b"]), pd.Categorical(["b", "a", "b"]),
]  # fmt: skip
WHOLE_VALUES: list[Any] = [
    pd.array([1, 2, 3], dtype="Int64"), pd.Series([1, 2, 3], dtype="int8[pyarrow]"), pa.array([1, 2, 3]),
    np.ma.array([1, 2, 3]), pd.Series([1, 2, 3], dtype="Sparse[int]"), pd.Series([1, 2, 3], dtype="category"),
]  # fmt: skip


def test_what_has_nothing_missing_is_taken() -> None:
    for ids, wanted in [
        *((one, [5, 1, 5]) for one in WHOLE_IDS),
        *((one, ["b", "a", "b"]) for one in WHOLE_TEXT),
    ]:
        graph = gl.Graph.from_edges(ids, wanted)
        assert sorted(graph.ids.lookup(graph.edges()[0]).tolist()) == sorted(wanted)
    for values in WHOLE_VALUES:
        graph = gl.Graph.from_edges([1, 2, 3], [1, 2, 3], columns={"w": values})
        assert (graph.edge_columns["w"].tolist(), graph.edge_columns["w"].dtype.name) == ([1, 2, 3], "int64")
    for flags in (pd.array([True, False, True], dtype="boolean"), pa.array([True, False, True])):
        graph = gl.Graph.from_edges([1, 2, 3], [1, 2, 3], columns={"w": flags})
        assert graph.edge_columns["w"].tolist() == [True, False, True]


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(InputError, match=r"^source has bytes that are not UTF-8: b'\\xff'; decode them$"):
        gl.Graph.from_edges(np.array([b"a", b"\xff"]), [1, 2])


# ---- frames ----------------------------------------------------------------------------------------


def frame(*names: Any) -> pd.DataFrame:
    return pd.DataFrame([range(len(names)), range(len(names))], columns=list(names))


@pytest.mark.parametrize(
    ("names", "options", "twice"),
    [
        (["source", "source", "target"], {}, "'source'"),
        (["source", "target", "target"], {"columns": []}, "'target'"),
        (["source", "target", "w", "w"], {}, "'w'"),
        (["source", "target", "w", "w"], {"columns": ["w"]}, "'w'"),
        (["source", "target", 1, "1"], {}, "'1'"),
        (["source", "target", 1, 1], {"columns": [1]}, "1"),
    ],
)
@pytest.mark.parametrize("rows", ["same", "root"])
def test_two_columns_of_one_name_are_named(names: list[Any], options: Any, twice: str, rows: str) -> None:
    made = frame(*names)
    for size in (1, 2):
        with pytest.raises(UsageError) as caught:
            run_ranks(size, lambda comm: gl.Graph.from_pandas(made, rows=rows, comm=comm, **options))
        assert str(caught.value) == (
            f"the frame has 2 columns named {twice}; rename all but one, or leave them out"
        )


def test_two_columns_of_one_name_that_are_left_out_do_no_harm() -> None:
    graph = gl.Graph.from_pandas(frame("source", "target", "w", "w", "x"), columns=["x"])
    assert list(graph.edge_columns) == ["x"]


def test_two_columns_of_one_name_in_a_table_of_vertices() -> None:
    graph = gl.Graph.from_edges([0], [1])
    with pytest.raises(UsageError, match=r"^the frame has 2 columns named 'x'; rename all but one"):
        graph.with_vertices(pd.DataFrame([[0, 1, 2], [1, 3, 4]], columns=["id", "x", "x"]))


def test_a_frame_with_missing_ids_or_values_is_refused() -> None:
    ids = pd.DataFrame({"source": pd.array([1, None], dtype="Int64"), "target": [2, 3]})
    with pytest.raises(InputError, match=r"^source\[1\] is missing \(NA of Int64\)"):
        gl.Graph.from_pandas(ids)
    values = pd.DataFrame({"source": [1, 2], "target": [2, 3], "w": pd.array([1, None], dtype="Int64")})
    with pytest.raises(InputError, match=r"^column 'w' at position 1 is missing \(NA of Int64\)"):
        gl.Graph.from_pandas(values)
    assert gl.Graph.from_pandas(values, columns=[]).num_edges == 2


def test_a_frame_s_columns_that_are_no_numbers_are_named(caplog: pytest.LogCaptureFixture) -> None:
    made = pd.DataFrame({"source": [1], "target": [2], "w": [3], "note": ["x"], "when": [pd.Timestamp(0)]})
    with caplog.at_level("INFO", "gaslab"):
        gl.Graph.from_pandas(made)
        gl.Graph.from_pandas(made, columns=["w"])
    assert caplog.messages == [
        "columns left out: 'note' (text), 'when' (datetime64[ns]); those of numbers and bools become columns"
    ]


# ---- sparse matrices -------------------------------------------------------------------------------


def rank_of_duplicates(comm: Comm) -> list[Any]:
    """Return what entries stored twice make, in each form; the matrix is as it was."""
    rows, cols, values = [0, 2, 0, 1, 0], [1, 2, 1, 0, 1], [1.0, 5.0, 2.0, 7.0, 4.0]
    twice = sp.coo_array((values, (rows, cols)), shape=(3, 3))
    row_wise = sp.csr_array(([1.0, 2.0, 4.0, 7.0, 5.0], [1, 1, 1, 0, 2], [0, 3, 4, 5]), shape=(3, 3))
    message = []
    for matrix in (twice, twice.tocsr(), twice.tocsc(), row_wise):
        before = matrix.nnz
        graph = gl.Graph.from_scipy(matrix, comm=comm)
        ends = [graph.ids.lookup(end).tolist() for end in graph.edges()]
        mine = list(zip(*ends, graph.edge_columns["weight"].tolist(), strict=True))
        message.append(sorted(edge for part in comm.allgather(mine) for edge in part))
        assert matrix.nnz == before
    both = sp.coo_array(([1.0, 2.0, 3.0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    message.append(gl.Graph.from_scipy(both, directed=False, comm=comm).num_edges)
    return message


def test_entries_stored_twice_are_added(ranks: Ranks) -> None:
    edges = [(0, 1, 7.0), (1, 0, 7.0), (2, 2, 5.0)]
    assert ranks.run(rank_of_duplicates) == [[edges] * 4 + [1]] * ranks.size


def test_entries_that_are_zero_are_edges_and_nan_is_none() -> None:
    graph = gl.Graph.from_scipy(sp.coo_array(([0.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3)))
    assert (graph.num_edges, graph.edge_columns["weight"].tolist()) == (2, [0.0, 1.0])
    for directed in (True, False):
        matrix = sp.coo_array(([1.0, np.nan, np.nan], ([0, 2, 1], [0, 1, 2])), shape=(3, 3))
        with pytest.raises(InputError, match=r"^the entry \(2, 1\) of the matrix is nan; weight=None leaves"):
            gl.Graph.from_scipy(matrix, directed=directed)
    assert gl.Graph.from_scipy(matrix, weight=None).num_edges == 3
    with pytest.raises(GaslabError, match=r"position 0 is 1j \(complex128\): fields are numbers"):
        gl.Graph.from_scipy(sp.coo_array(([1j], ([0], [1])), shape=(2, 2)))


class Whole(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: gl.int8 = 0

    class Edge(gl.Edge):
        w: int = 0

    def apply(self, v: Vertex) -> None:
        v.n = v.n


def rank_of_values_that_do_not_fit(comm: Comm) -> list[str]:
    """One value of one rank does not fit; each rank says so."""
    ends = list(range(40))
    graph = gl.Graph.from_edges(ends, ends, columns={"w": [0.5] + [1.0] * 39}, comm=comm)
    vertices = graph.with_vertices({"id": ends, "n": [1000] + [1] * 39})
    calls: list[tuple[gl.Graph, dict[str, Any]]] = [
        (graph, {}),
        (vertices, {"columns": {"w": None}}),
        *((graph, {"columns": {"w": None}, "init": {"n": n}}) for n in (
            {3: None}, {3: pd.NA}, {3: 1000}, {3: 0.5}, {3: "x"}, [1000] + [1] * 39,
        )),
    ]  # fmt: skip
    said = []
    for on, options in calls:
        with pytest.raises(UsageError) as caught:
            gl.run(Whole(), on, max_iterations=1, **options)
        said.append(str(caught.value).split(";")[0][:48])
    return said


def test_a_value_that_does_not_fit_on_one_rank_is_an_error_on_all(ranks: Ranks) -> None:
    everywhere = ranks.run(rank_of_values_that_do_not_fit)
    assert everywhere == [everywhere[0]] * ranks.size
    assert everywhere[0][0] == "'w' has values that are not int64, as w needs"
    assert everywhere[0][2] == "init={'n': ...} has None for vertex 3"
