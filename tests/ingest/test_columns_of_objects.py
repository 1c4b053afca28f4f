"""Columns that are not numpy's numbers: what is converted, left out, or an error at its row."""

from __future__ import annotations

import warnings
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import InputError, UsageError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks

CONVERTED: list[tuple[Any, list[Any]]] = [
    (pd.Series([1.0, 5.0, 1.5]).astype("category"), [1.0, 5.0, 1.5]),
    (pd.Series([1, 5, 1]).astype("category"), [1, 5, 1]),
    (pd.Series([1, 5, 1], dtype=object), [1, 5, 1]),
    (pd.Series([True, False, True], dtype=object), [True, False, True]),
    ([Decimal("1"), Decimal("5"), Decimal("1.5")], [1.0, 5.0, 1.5]),
    ([Fraction(1, 2), 5, 1.0], [0.5, 5.0, 1.0]),
]
TEXT = "fields are numbers or bools; pandas.to_numeric makes numbers of text"
FAULTS: list[tuple[list[Any], str]] = [
    (["x", 5, 1], f"column 'weight' at position 0 is 'x' (str): {TEXT}"),
    ([5, 1, "x"], f"column 'weight' at position 2 is 'x' (str): {TEXT}"),
    ([1, None, "x"], "column 'weight' at position 1 is missing (None); leave its row out, or fill it"),
    ([1, Decimal("1e400"), 1], "column 'weight' at position 1 is Decimal('1E+400'), too large for float64"),
]
LEFT_OUT: list[tuple[Any, str, str]] = [
    (pd.to_timedelta([1, 5, 1], unit="s"), "timedelta64", "divide it by numpy.timedelta64"),
    (pd.to_datetime(["2020-01-01"] * 3), "datetime64", "subtract a date"),
    (["1", "5", "1"], "text", "pandas.to_numeric makes numbers of text"),
    (pd.Series(["a", "b", "a"]).astype("category"), "text", "pandas.to_numeric"),
    ([1j] * 3, "complex128", "take its real part"),
]


def frame(weight: Any) -> pd.DataFrame:
    return pd.DataFrame({"source": [0, 0, 1], "target": [1, 2, 2], "weight": weight})


def column(comm: Comm, weight: Any, rows: str) -> list[Any]:
    graph = gl.Graph.from_pandas(frame(weight), rows=rows, comm=comm)
    parts = comm.allgather(graph.edge_columns["weight"].tolist())
    return sorted(one for part in parts for one in part)


@pytest.mark.parametrize("rows", ["same", "root"])
@pytest.mark.parametrize(("weight", "values"), CONVERTED)
def test_objects_that_are_numbers_are_converted(rows: str, weight: Any, values: list[Any]) -> None:
    for size in (1, 3):
        assert run_ranks(size, lambda comm: column(comm, weight, rows)) == [sorted(values)] * size
    graph = gl.Graph.from_edges([0, 0, 1], [1, 2, 2], columns={"weight": weight})
    assert graph.edge_columns["weight"].tolist() == values


@pytest.mark.parametrize(("weight", "message"), FAULTS)
def test_the_first_row_that_is_no_number_is_an_error(weight: list[Any], message: str) -> None:
    def make(comm: Comm) -> None:
        gl.Graph.from_pandas(frame(weight), comm=comm)

    for size in (1, 3):
        with pytest.raises(InputError) as caught:
            run_ranks(size, make)
        assert str(caught.value) == message
    with pytest.raises(InputError) as caught:
        gl.Graph.from_edges([0, 0, 1], [1, 2, 2], columns={"weight": weight})
    assert str(caught.value) == message


def defaults(comm: Comm, weight: Any) -> list[Any]:
    """Return the distances by default, the warnings of it, and the error where the weight is named."""
    graph = gl.Graph.from_pandas(frame(weight), comm=comm).reverse().reverse().partitioned("random")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        distance = gl.sssp(graph, 0).vertices["distance"].tolist()
    named = []
    for function in (gl.sssp, gl.pagerank):
        with pytest.raises(UsageError) as caught:
            function(graph, *([0] if function is gl.sssp else []), weight="weight")
        named.append(str(caught.value))
    return [distance, [str(one.message) for one in seen], named]


@pytest.mark.parametrize(("weight", "what", "way_out"), LEFT_OUT)
def test_a_default_for_a_column_left_out_warns(ranks: Ranks, weight: Any, what: str, way_out: str) -> None:
    for rank, (distance, warned, named) in enumerate(ranks.run(defaults, weight)):
        assert distance == [0.0, 1.0, 1.0]
        assert len(warned) == (rank == 0)
        for text in warned:
            assert text.startswith(
                "every edge has length 1, as the graph has no edge column 'weight': it was left"
            )
            assert what in text
        assert named[0] == named[1]
        assert f"left out of the input ({what}" in named[0]
    with pytest.raises(InputError, match=r"column 'weight' at position 0 .*" + way_out):
        gl.Graph.from_pandas(frame(weight), columns=["weight"])


def test_a_name_must_be_there_and_other_letters_are_offered() -> None:
    graph = gl.Graph.from_edges([0, 0, 1], [1, 2, 2], columns={"WEIGHT": [1.0, 5.0, 1.0]})
    for call in (
        lambda: gl.sssp(graph, 0, weight="weight"),
        lambda: gl.distances(graph, [0], weight="weight"),
    ):
        with pytest.raises(UsageError, match=r"no edge column 'weight'; did you mean 'WEIGHT'\?"):
            call()
    with pytest.warns(UserWarning, match=r"every edge has length 1, .* did you mean 'WEIGHT'\?"):
        gl.sssp(graph, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gl.sssp(graph, 0, weight=None).vertices["distance"].tolist() == [0.0, 1.0, 1.0]


def test_parts_agree_on_what_is_left_out() -> None:
    def left(comm: Comm, parts: list[Any]) -> tuple[Any, ...]:
        part = frame([1, 1, 1])[:0].astype({"weight": object}) if comm.rank == 2 else frame(parts[comm.rank])
        graph = gl.Graph.from_pandas(part, rows="parts", comm=comm)
        return graph.left_out, list(graph.edge_columns)

    assert run_ranks(3, lambda comm: left(comm, [["a"] * 3, ["b"] * 3])) == [({"weight": "text"}, [])] * 3
    assert run_ranks(3, lambda comm: left(comm, [[1, 2, 3], [1, 2, 3]])) == [({}, ["weight"])] * 3
    with pytest.raises(InputError, match="column 'weight' at position 0 is 'a'"):
        run_ranks(3, lambda comm: left(comm, [[1, 2, 3], ["a"] * 3]))


def test_empty_parts_of_several_types_agree_on_one() -> None:
    def empty(comm: Comm) -> str:
        nothing = np.empty(0, ["int8", "float32", "bool"][comm.rank])
        graph = gl.Graph.from_edges([], [], columns={"w": nothing}, rows="parts", comm=comm)
        return str(graph.edge_columns["w"].dtype)

    assert run_ranks(3, empty) == ["float64"] * 3


def test_an_attribute_that_is_a_number_on_some_edges() -> None:
    graph = nx.DiGraph()
    graph.add_edge(0, 1, weight=1.0)
    graph.add_edge(1, 2)
    made = gl.Graph.from_networkx(graph)
    assert made.left_out == {"weight": "a number on 1 of 2"}
    with pytest.warns(UserWarning, match="every edge has length 1"):
        gl.sssp(made, 0)
    graph.add_edge(2, 3, weight="x")
    for size in (1, 3):
        with pytest.raises(InputError, match="'weight' of the edge 2 -> 3 is 'x'"):
            run_ranks(size, lambda comm: gl.Graph.from_networkx(graph, comm=comm))


class Plain(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: float = 0.0

    class Edge(gl.Edge):
        weight: float = 1.0

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.weight

    def apply(self, v: Vertex, total: float) -> None:
        v.x = total


def test_a_program_of_ones_own_warns_too() -> None:
    graph = gl.Graph.from_pandas(frame(["a", "b", "c"]))
    with pytest.warns(
        UserWarning, match=r"^Plain: weight = 1.0 on every edge, as the graph has no edge column"
    ):
        gl.run(Plain(), graph, max_iterations=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gl.run(Plain(), graph, max_iterations=1, columns={"weight": None})


# ---- matrices --------------------------------------------------------------------------------------


@given(st.sampled_from(["int8", "uint8", "int64", "uint64"]), st.data())
def test_sums_of_entries_are_exact_or_refused(dtype: str, data: Any) -> None:
    limits = np.iinfo(dtype)
    values = data.draw(st.lists(st.integers(int(limits.min), int(limits.max)), min_size=2, max_size=6))
    where = [0] * len(values)
    matrix = sp.coo_array((np.array(values, dtype), (where, where)), shape=(1, 1))
    if -(2**63) <= sum(values) < 2**63:
        assert gl.Graph.from_scipy(matrix).edge_columns["weight"].tolist() == [sum(values)]
    else:
        with pytest.raises(
            InputError, match=r"entry \(0, 0\) of the matrix is stored more than once, .* int64"
        ):
            gl.Graph.from_scipy(matrix)


def test_sums_of_reals() -> None:
    def made(values: Any) -> list[float]:
        matrix = sp.coo_array((values, ([0, 0], [1, 1])), shape=(2, 2))
        return gl.Graph.from_scipy(matrix).edge_columns["weight"].tolist()  # type: ignore[no-any-return]

    assert made(np.array([3e38, 3e38], np.float32)) == [2 * float(np.float32(3e38))]
    assert made(np.array([np.inf, 1.0])) == [np.inf]
    assert made(np.array([True, True])) == [True]
    with pytest.raises(InputError, match="the sum does not fit float64"):
        made(np.array([1e308, 1e308]))


def from_matrix(matrix: Any, rows: str, comm: Comm) -> None:
    gl.Graph.from_scipy(matrix, rows=rows, comm=comm)


def corrupt(form: str, **changes: Any) -> Any:
    matrix = sp.csr_array(([1.0, 2.0, 3.0], [1, 2, 0], [0, 1, 2, 3]), shape=(3, 3)).asformat(form)
    for name, values in changes.items():
        setattr(matrix, name, np.array(values))
    return matrix


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"indices": [1, 7, 0]}, "indices[1] is 7, not 0 to 2"),
        ({"indices": [1, -1, 0]}, "indices[1] is -1, not 0 to 2"),
        ({"indptr": [0, 2, 1, 3]}, "indptr falls from 2 to 1 at position 2"),
        ({"indptr": [0, 1, 3]}, "indptr has 3 values, but 4 are needed"),
        ({"indptr": [1, 1, 2, 3]}, "indptr[0] is 1, not 0"),
        ({"indptr": [0, 1, 2, 9]}, "indptr ends with 9, but it has 3 indices"),
        ({"data": [1.0, 2.0]}, "it has 3 indices and 2 values"),
    ],
)
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_a_matrix_that_contradicts_itself_is_refused(form: str, changes: Any, message: str) -> None:
    for size, rows in ((1, "same"), (3, "same"), (1, "root"), (3, "root")):
        matrix = corrupt(form, **changes)
        with pytest.raises(InputError) as caught:
            run_ranks(size, partial(from_matrix, matrix, rows))
        assert str(caught.value) == f"the matrix in {form.upper()} form is inconsistent: {message}"


def test_zeros_stored_on_one_side_of_a_symmetric_matrix_are_edges() -> None:
    matrix = sp.coo_array(([0.5, 0.8, 0.5, 0.8, 0.0], ([0, 1, 1, 2, 2], [1, 2, 0, 1, 0])), shape=(3, 3))
    graph = gl.Graph.from_scipy(matrix, directed=False)
    assert graph.num_edges == 3
    assert gl.sssp(graph, 0).vertices["distance"].tolist() == [0.0, 0.5, 0.0]


def bipartite_init(comm: Comm) -> list[str]:
    two = gl.run(Plain(), gl.Graph.from_edges([0, 1], [0, 7], bipartite=True, comm=comm), max_iterations=1)
    one = gl.Graph.from_edges([0, 1], [0, 7], comm=comm)
    said = []
    for init in (two, {"x": two}):
        with pytest.raises(UsageError) as caught:
            gl.run(Plain(), one, init=init, max_iterations=1)
        said.append(str(caught.value))
    return said


def test_a_bipartite_result_starts_no_run_on_another_graph(ranks: Ranks) -> None:
    text = (
        "init= is the result of a bipartite graph, but this graph is not bipartite; for one side pass "
        "init={field: result.vertices.side(0).to_dict(field)}"
    )
    assert ranks.run(bipartite_init) == [[text] * 2] * ranks.size
