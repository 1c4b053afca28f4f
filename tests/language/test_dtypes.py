"""Every numeric dtype: as the storage of a field, and as a column that a field starts from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

NUMBERS = [
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "longdouble", "bool"),
]
SOURCES, TARGETS = [0, 0, 1, 2, 3], [1, 2, 3, 3, 0]


class Wide(gl.VertexProgram):
    """uint64 in fields, vectors, totals, messages, aggregates and parameters."""

    step: gl.uint64 = 3

    class Vertex(gl.Vertex):
        x: gl.uint64 = 5
        least: gl.uint64 = 0
        both: gl.Vector = gl.field(shape=2, dtype=gl.uint64, init=7)

    class Edge(gl.Edge):
        count: gl.uint64 = 1

    @gl.aggregator
    def largest(self, v: Vertex) -> gl.Max[gl.uint64]:
        return v.x

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[gl.uint64]:
        return nbr.x * e.count

    def apply(self, v: Vertex, total: int, message: gl.Min[gl.uint64]) -> None:
        v.least = message
        v.x = total - total // 2 + self.step
        v.both[1] = v.both[1] + v.x + self.largest

    def scatter(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        e.count = e.count + 1
        nbr.signal(v.x)


def wide(comm: Comm, mode: dict[str, Any]) -> list[Any]:
    graph = gl.Graph.from_edges(SOURCES, TARGETS, comm=comm)
    result = gl.run(Wide(), graph, max_iterations=3, edges=True, **mode)
    table = result.vertices
    types = [str(table[name].dtype) for name in ("x", "least", "both")] + [str(result.edges["count"].dtype)]
    values = [table[name].tolist() for name in ("x", "least", "both")] + [result.edges["count"].tolist()]
    return [types, values, result.aggregates["largest"]]


def test_uint64_in_every_place(ranks: Ranks) -> None:
    modes = [
        {"threads": 1}, {"threads": 2}, {"compile": "never"}, {"engine": "reference"},
    ]  # fmt: skip
    found = [one for mode in modes for one in ranks.run(wide, mode)]
    assert all(one == found[0] for one in found)
    assert found[0][0] == ["uint64"] * 4
    assert found[0][1][3] == [4] * 5


class Alone(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.uint64 = 0
        low: gl.uint64 = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[gl.uint64]:
        return nbr.x

    def apply(self, v: Vertex, total: int) -> None:
        v.low = total


@pytest.mark.parametrize("mode", [{}, {"compile": "never"}, {"engine": "reference"}], ids=str)
def test_the_least_of_nobody_is_the_largest_that_can_be_read(mode: dict[str, Any]) -> None:
    result = gl.run(Alone(), gl.Graph.from_edges([0], [1]), max_iterations=1, **mode)
    assert result.vertices["low"].tolist() == [2**63 - 1, 0]


class Below(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.uint64 = 1

    def apply(self, v: Vertex) -> None:
        v.x = v.x - 2 * v.degree


@pytest.mark.parametrize("mode", [{}, {"compile": "never"}, {"engine": "reference"}], ids=str)
def test_nothing_negative_is_stored(mode: dict[str, Any]) -> None:
    graph = gl.Graph.from_edges([7], [8], vertices=[6])
    with pytest.raises(gl.ExecutionError, match=r"dtypes.py:\d+: Below failed at vertex 7 in superstep 0"):
        gl.run(Below(), graph, max_iterations=1, **mode)


class Full(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: int = 100

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[gl.uint8]:
        return nbr.x

    def apply(self, v: Vertex, total: int) -> None:
        v.x = total


@pytest.mark.parametrize("mode", [{}, {"compile": "never"}, {"engine": "reference"}], ids=str)
def test_a_total_that_does_not_fit_is_a_fault_at_gather(mode: dict[str, Any]) -> None:
    line = Full.gather.__code__.co_firstlineno
    graph = gl.Graph.from_edges([0, 1, 2], [3, 3, 3])
    with pytest.raises(gl.ExecutionError, match=rf"dtypes.py:{line}: Full failed at vertex 3 in superstep 0"):
        gl.run(Full(), graph, max_iterations=1, **mode)


def test_values_beyond_int64_are_refused_where_they_come_in() -> None:
    large = np.array([1, 2**63], np.uint64)
    with pytest.raises(gl.UsageError, match=r"'x' has the value 9223372036854775808: integers are from"):
        gl.Graph.from_edges([0, 1], [1, 0], columns={"x": large})
    graph = gl.Graph.from_edges([0, 1], [1, 0])
    with pytest.raises(gl.UsageError, match="outside the range of x's uint64, 0 to 9223372036854775807"):
        gl.run(Below(), graph, init={"x": large}, max_iterations=1)
    with pytest.raises(gl.UsageError, match=r"step=9223372036854775808\): a whole number from 0 to 9"):
        gl.run(Wide(step=2**63), graph, max_iterations=1)


class Kept(gl.VertexProgram):
    class Vertex(gl.Vertex):
        a: float = 0.0
        seen: float = 0.0

    class Edge(gl.Edge):
        c: float

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return e.c + nbr.a

    def apply(self, v: Vertex, total: float) -> None:
        v.seen = total


@pytest.mark.parametrize("given", NUMBERS)
def test_columns_of_every_dtype_bind_to_a_float(given: str) -> None:
    values = np.array([0, 1, 1, 0, 1]).astype(given)
    graph = gl.Graph.from_edges(SOURCES, TARGETS, columns={"c": values})
    graph = graph.with_vertices({"id": range(4), "a": values[:4]})
    assert gl.run(Kept(), graph, max_iterations=1).vertices["seen"].tolist() == [1, 0, 1, 3]


class Counts(gl.VertexProgram):
    class Vertex(gl.Vertex):
        small: gl.int8 = 0
        seen: int = 0

    class Edge(gl.Edge):
        c: gl.uint16
        flag: bool = False

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[int]:
        return e.c + nbr.small + (100 if e.flag else 0)

    def apply(self, v: Vertex, total: int) -> None:
        v.seen = total


@pytest.mark.parametrize("given", NUMBERS)
def test_columns_of_every_dtype_bind_to_small_integers(given: str) -> None:
    values = np.array([0, 1, 1, 0, 1]).astype(given)
    graph = gl.Graph.from_edges(SOURCES, TARGETS, columns={"c": values, "flag": values})
    graph = graph.with_vertices({"id": range(4), "small": values[:4]})
    assert gl.run(Counts(), graph, max_iterations=1).vertices["seen"].tolist() == [101, 0, 101, 103]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"c": [0, 1, 2, 3, -1]}, "'c' has values outside the range of c's uint16, 0 to 65535"),
        ({"c": [0, 1, 2, 3, 65536]}, "'c' has values outside the range of c's uint16, 0 to 65535"),
        ({"c": [0.0, 0.5, 1.0, 1.0, 1.0]}, "'c' has values that are not uint16, as c needs"),
        ({"c": [0.0, np.inf, 1.0, 1.0, 1.0]}, "'c' has values that are not uint16, as c needs"),
        ({"c": [1e20, 0.0, 1.0, 1.0, 1.0]}, "'c' has values that are not uint16, as c needs"),
        ({"c": [1] * 5, "flag": [0, 1, 2, 1, 0]}, "'flag' has values that are not bool, as flag needs"),
        ({"c": [1] * 5, "flag": [0.0, 0.5, 1.0, 1.0, 0.0]}, "'flag' has values that are not bool"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(column: dict[str, Any], message: str) -> None:
    graph = gl.Graph.from_edges(SOURCES, TARGETS, columns=column)
    with pytest.raises(gl.UsageError, match=message):
        gl.run(Counts(), graph, max_iterations=1)


def test_columns_that_are_no_numbers_are_refused() -> None:
    for values, message in (
        (np.array([1j]), r"column 'c' at position 0 is 1j \(complex128\): fields are numbers or bools"),
        (np.array(["a"]), r"column 'c' at position 0 is 'a' \(<U1\): fields are numbers or bools"),
        (
            np.array([np.longdouble(1) + np.finfo(np.longdouble).eps]),
            "with values that float64 does not hold",
        ),
    ):
        with pytest.raises((gl.UsageError, gl.InputError), match=message):
            gl.Graph.from_edges([0], [1], columns={"c": values})


def test_half_floats_are_no_storage() -> None:
    with pytest.raises(AttributeError, match="no attribute 'float16'; did you mean 'float"):
        _ = gl.float16  # type: ignore[attr-defined]

    class Half(gl.VertexProgram):
        class Vertex(gl.Vertex):
            x: gl.Vector = gl.field(shape=2, dtype=np.float16)

        def apply(self, v: Vertex) -> None:
            v.x[0] = 1.0

    with pytest.raises(gl.ProgramError, match=r"has the dtype .*float16.*; write dtype=float, int, bool"):
        gl.run(Half(), gl.Graph.from_edges([0], [1]), max_iterations=1)
