"""Vectors, matrices and totals with parts, from what a run is given to the files it writes; their faults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gaslab as gl
from gaslab.compiler.faults import FAULTS as FAULT
from gaslab.errors import ExecutionError, UsageError
from gaslab.parallel.comm import Comm
from tests.conftest import Hosts
from tests.support.command_line import EDGES, Run, edges, gaslab

__all__ = ["edges", "gaslab"]  # fixtures

MODES = ("require", "never")


class Shift(gl.VertexProgram):
    """Adds one to the first element of what it starts from."""

    k: int = 3

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", init=0.5)
        m: gl.Matrix = gl.field(shape=(2, "k"), dtype=gl.float32)
        n: gl.Vector = gl.field(shape=2, dtype=gl.int8)
        b: gl.Vector = gl.field(shape=2, dtype=bool)

    def apply(self, v: Vertex) -> None:
        v.x[0] += 1.0
        v.m[1, -1] = 0.25
        v.b[1] = True


def square() -> gl.Graph:
    return gl.Graph.from_edges([1, 1, 2, 3], [2, 3, 4, 4])


def shifted(init: object = None, graph: gl.Graph | None = None) -> gl.Result:
    return gl.run(Shift(), graph or square(), max_iterations=1, init=init)  # type: ignore[arg-type]


pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")


# ---- starting values -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("init", "rows"),
    [
        ({2: [1, 2, 3]}, [[1.5, 0.5, 0.5], [2.0, 2.0, 3.0], [1.5, 0.5, 0.5], [1.5, 0.5, 0.5]]),
        (np.arange(12.0).reshape(4, 3), [[1, 1, 2], [4, 4, 5], [7, 7, 8], [10, 10, 11]]),
        ([7, 8, 9], [[8, 8, 9]] * 4),
        (2.0, [[3, 2, 2]] * 4),
        ({}, [[1.5, 0.5, 0.5]] * 4),
    ],
    ids=["dict", "rows", "row", "number", "nothing"],
)
def test_init_takes_arrays(init: object, rows: list[list[float]]) -> None:
    assert shifted({"x": init}).vertices["x"].tolist() == rows


def test_init_takes_an_earlier_result() -> None:
    first = shifted({"n": {3: [4, 5]}})
    for again in (shifted(first), shifted({"x": first, "n": first, "m": first})):
        assert again.vertices["x"].tolist() == [[2.5, 0.5, 0.5]] * 4
        assert again.vertices["n"].tolist() == [[0, 0], [0, 0], [4, 5], [0, 0]]
    other = gl.Graph.from_edges([1, 1, 9], [2, 3, 4])
    assert shifted({"x": first}, other).vertices.to_dict("x")[9] == [1.5, 0.5, 0.5]
    assert shifted({"n": first}, other).vertices.to_dict("n")[3] == [4, 5]


@pytest.mark.parametrize(
    ("name", "init", "said"),
    [
        ("x", {1: [1, 2], 2: [1, 2, 3]}, "init={'x': ...} has rows of several shapes; (3,) is needed"),
        ("x", [[1, 2, 3], [1]], "init={'x': ...} has rows of several shapes; (3,) is needed"),
        ("x", {1: [1, 2]}, "init={'x': ...} has values of shape (2,); (3,) is needed"),
        ("x", {1: 1}, "init={'x': ...} has values of shape (); (3,) is needed"),
        (
            "x",
            np.ones((4, 2)),
            "init={'x': ...} has shape (4, 2); rows of shape (3,), one value per vertex, 4, in the order of "
            "the sorted ids is needed (or a dict by id)",
        ),
        ("n", {1: [0.5, 1.0]}, "init={'n': ...} has [0.5, 1.0] for vertex 1; the field needs int8"),
        ("n", {1: [1, 200]}, "init={'n': ...} has [1, 200] for vertex 1; the field needs int8"),
    ],
)
def test_init_that_does_not_fit(name: str, init: object, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        shifted({name: init})
    assert str(caught.value) == said


# ---- results ---------------------------------------------------------------------------------------

NAMES = ["x[0]", "x[1]", "x[2]", "m[0,0]", "m[0,1]", "m[0,2]", "m[1,0]", "m[1,1]", "m[1,2]",
         "n[0]", "n[1]", "b[0]", "b[1]"]  # fmt: skip
ROW = [1.5, 0.5, 0.5, 0, 0, 0, 0, 0, 0.25, 0, 0, False, True]


def test_arrays_leave_a_result_in_every_form() -> None:
    table = shifted().vertices
    assert table["m"].shape == (4, 2, 3)
    assert [table[name].dtype for name in "xmnb"] == [np.float64, np.float32, np.int8, np.bool_]
    assert list(table.flat()) == NAMES
    assert [values[2] for values in table.flat().values()] == ROW
    frame = table.to_pandas()
    assert list(frame.columns) == NAMES
    assert frame.loc[4].tolist() == ROW
    arrow = table.to_arrow()
    assert arrow.column_names == ["id", "x", "m", "n", "b"]
    assert arrow["m"].to_pylist() == [[[0, 0, 0], [0, 0, 0.25]]] * 4
    assert arrow["b"].to_pylist() == [[False, True]] * 4
    assert table.to_dict("x")[3] == [1.5, 0.5, 0.5]


COMMAND = """
import gaslab as gl

class Stretch(gl.VertexProgram):
    k: int = 2

    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape="k", init=0.5)
        n: gl.Matrix = gl.field(shape=(1, "k"), dtype=int)

    def apply(self, v: Vertex) -> None:
        v.n[0, self.k - 1] = v.degree
"""


def test_the_command_line_writes_a_column_per_element(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    program = tmp_path / "stretch.py"
    program.write_text(COMMAND)
    for name in ("out.tsv", "out.csv"):
        gaslab(
            "run", f"{program}:Stretch", edges, "--max-iterations", "1", "-p", "k=3", "-o", tmp_path / name
        )
    rows = [line.split("\t") for line in (tmp_path / "out.tsv").read_text().splitlines()]
    head, *lines = (tmp_path / "out.csv").read_text().splitlines()
    assert [line.split(",") for line in lines] == rows
    assert head == 'id,x[0],x[1],x[2],"n[0,0]","n[0,1]","n[0,2]"'
    ends = [str(end) for edge in EDGES for end in edge[:2]]
    assert {row[0]: row[1:] for row in rows} == {
        end: ["0.5", "0.5", "0.5", "0", "0", str(ends.count(end))] for end in set(ends)
    }


# ---- faults ----------------------------------------------------------------------------------------


class Beyond(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=2)

    def apply(self, v: Vertex) -> None:
        v.x[v.in_degree] = 1.0


class Bins(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=2)

    class Total(gl.Accumulator):
        bins: gl.Vector = gl.field(shape=2)

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> Total:
        return self.Total(bins=gl.at(v.in_degree))

    def apply(self, v: Vertex, total: Total) -> None:
        v.x = total.bins


class Singular(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=2, init=1.0)

    def apply(self, v: Vertex) -> None:
        a = np.outer(v.x, v.x)
        if v.in_degree < 2:
            a = a + np.eye(2)
        v.x = np.linalg.solve(a, v.x)


class Indefinite(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=2, init=1.0)

    def apply(self, v: Vertex) -> None:
        v.x = gl.solve_spd((1.5 - v.in_degree) * np.eye(2), v.x)


class Saddle(gl.VertexProgram):
    class Vertex(gl.Vertex):
        x: gl.Vector = gl.field(shape=2, init=1.0)

    def apply(self, v: Vertex) -> None:
        v.x = gl.conjugate_gradient((1.5 - v.in_degree) * np.eye(2), v.x, np.zeros(2), 1)


class Narrow(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: gl.Vector = gl.field(shape=2, dtype=gl.int8, init=100)

    def apply(self, v: Vertex) -> None:
        v.n = v.n + 14 * v.in_degree


FAULTS = {
    Beyond: (FAULT[5], "v.x[v.in_degree] = 1.0"),
    Bins: (FAULT[5], "return self.Total(bins=gl.at(v.in_degree))"),
    Singular: (FAULT[6], "v.x = np.linalg.solve(a, v.x)"),
    Indefinite: (FAULT[6], "v.x = gl.solve_spd((1.5 - v.in_degree) * np.eye(2), v.x)"),
    Saddle: (FAULT[6], "v.x = gl.conjugate_gradient((1.5 - v.in_degree) * np.eye(2), v.x, np.zeros(2), 1)"),
    Narrow: (FAULT[2], "v.n = v.n + 14 * v.in_degree"),
}


def fault(comm: Comm, program: type[gl.VertexProgram], mode: str) -> str:
    graph = gl.Graph.from_edges([1, 1, 2, 3], [2, 3, 4, 4], comm=comm)  # only 4 has two in-edges
    try:
        gl.run(program(), graph, max_iterations=1, compile=mode)
    except ExecutionError as error:
        return str(error)
    return "no fault"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("program", FAULTS)
def test_a_fault_names_the_vertex_and_the_line(
    program: type[gl.VertexProgram], mode: str, hosts: Hosts
) -> None:
    what, line = FAULTS[program]
    lines = Path(__file__).read_text().splitlines()
    number = next(k for k, text in enumerate(lines, 1) if text.strip() == line)
    expected = (
        f"{__file__}:{number}: {program.__name__} failed at vertex 4 in superstep 0: {what}\n    {line}"
    )
    for size in (1, 2):
        assert hosts(size).run(fault, program, mode) == [expected] * size


# ---- linear algebra --------------------------------------------------------------------------------


class Algebra(gl.VertexProgram):
    """Everything that has a counterpart in numpy, of one matrix and two vectors."""

    n: int = 3

    class Vertex(gl.Vertex):
        a: gl.Matrix = gl.field(shape=("n", "n"))
        x: gl.Vector = gl.field(shape="n")
        y: gl.Vector = gl.field(shape="n")
        solved: gl.Vector = gl.field(shape="n")
        spd: gl.Vector = gl.field(shape="n")
        gradient: gl.Vector = gl.field(shape="n")
        nearer: gl.Vector = gl.field(shape="n")
        inverse: gl.Matrix = gl.field(shape=("n", "n"))
        square: gl.Matrix = gl.field(shape=("n", "n"))
        outer: gl.Matrix = gl.field(shape=("n", "n"))
        rows: gl.Vector = gl.field(shape="n")
        columns: gl.Vector = gl.field(shape="n")
        numbers: gl.Vector = gl.field(shape=9)
        places: gl.Vector = gl.field(shape=2, dtype=int)

    def apply(self, v: Vertex) -> None:
        shifted = v.a + 50.0 * np.eye(self.n)
        v.solved = np.linalg.solve(shifted, v.x)
        v.inverse = np.linalg.solve(shifted, np.eye(self.n))
        v.spd = gl.solve_spd(np.outer(v.x, v.x) + np.outer(v.y, v.y) + np.eye(self.n), v.y)
        positive = np.outer(v.x, v.x) + np.outer(v.y, v.y) + np.eye(self.n)
        v.gradient = gl.conjugate_gradient(positive, v.y, v.x, 3 * self.n)
        v.nearer = gl.conjugate_gradient(positive, v.y, v.x, 2)
        v.square = v.a @ v.a
        v.outer = np.outer(v.x, v.y)
        v.rows = v.a @ v.x
        v.columns = v.x @ v.a
        v.numbers[0] = v.x @ v.y
        v.numbers[1] = np.linalg.norm(v.x)
        v.numbers[2] = np.linalg.norm(v.a - v.outer)
        v.numbers[3] = np.sum(v.a @ v.a)
        v.numbers[4] = np.prod(v.x)
        v.numbers[5] = np.max(v.a) - np.min(v.a @ v.a)
        v.numbers[6] = np.mean(np.abs(v.a))
        v.numbers[7] = np.sum(np.maximum(v.x, v.y) * np.minimum(v.x, 0.5))
        v.numbers[8] = np.dot(v.x, v.a @ v.y)
        v.places[0] = np.argmax(v.x)
        v.places[1] = np.argmin(v.a)


NUMBERS = st.floats(-8, 8, width=16)
VERTICES = 3


@pytest.mark.parametrize("mode", MODES)
@settings(max_examples=max(settings.default.max_examples // 4, 2), deadline=None)
@given(data=st.data())
def test_linear_algebra_is_that_of_numpy(mode: str, data: st.DataObject) -> None:
    def draw(*shape: int) -> np.ndarray:
        size = int(np.prod(shape))
        return np.array(data.draw(st.lists(NUMBERS, min_size=size, max_size=size))).reshape(shape)

    n = data.draw(st.sampled_from([1, 2, 5]), label="n")
    all_a, all_x, all_y = draw(VERTICES, n, n), draw(VERTICES, n), draw(VERTICES, n)
    graph = gl.Graph.from_edges([0, 1], [1, 2])
    init = {"a": all_a, "x": all_x, "y": all_y}
    table = gl.run(Algebra(n=n), graph, max_iterations=1, init=init, compile=mode).vertices
    for k, (a, x, y) in enumerate(zip(all_a, all_x, all_y, strict=True)):
        moved, positive = a + 50.0 * np.eye(n), np.outer(x, x) + np.outer(y, y) + np.eye(n)
        outer = np.outer(x, y)
        expected = {
            "solved": np.linalg.solve(moved, x),
            "inverse": np.linalg.inv(moved),
            "spd": np.linalg.solve(positive, y),
            "gradient": np.linalg.solve(positive, y),
            "nearer": gl.conjugate_gradient(positive, y, x, 2),
            "square": a @ a,
            "outer": outer,
            "rows": a @ x,
            "columns": x @ a,
            "numbers": [
                x @ y, np.linalg.norm(x), np.linalg.norm(a - outer), np.sum(a @ a), np.prod(x),
                np.max(a) - np.min(a @ a), np.mean(np.abs(a)),
                np.sum(np.maximum(x, y) * np.minimum(x, 0.5)), x @ a @ y,
            ],
            "places": [np.argmax(x), np.argmin(a)],
        }  # fmt: skip
        for name, wanted in expected.items():
            np.testing.assert_allclose(table[name][k], wanted, rtol=1e-7, atol=1e-9, err_msg=name)


# ---- small traps -----------------------------------------------------------------------------------


def drawn(n: int) -> gl.Vector:
    x = np.zeros(2)
    for i in range(2):
        x[i] = gl.uniform(0.0, 1.0 * n)
    return x


class Products(gl.VertexProgram):
    """The outer product of two vectors that are drawn alike, and of one with itself."""

    class Vertex(gl.Vertex):
        two: gl.Matrix = gl.field(shape=(2, 2))
        one: gl.Matrix = gl.field(shape=(2, 2))

    def apply(self, v: Vertex) -> None:
        v.two = np.outer(drawn(1), drawn(1))
        x = drawn(1)
        v.one = np.outer(x, x)


def test_two_draws_are_two_vectors() -> None:
    ways: list[dict[str, str]] = [{"compile": "require"}, {"compile": "never"}, {"engine": "reference"}]
    for how in ways:
        table = gl.run(Products(), square(), max_iterations=1, seed=3, **how).vertices  # type: ignore[call-overload]
        assert (table["two"] != table["two"].transpose(0, 2, 1)).any()
        assert (table["one"] == table["one"].transpose(0, 2, 1)).all()
        np.testing.assert_allclose(np.linalg.det(table["two"]), 0.0, atol=1e-12)


class Truths(gl.VertexProgram):
    class Vertex(gl.Vertex):
        n: int = 0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Count[bool]:  # type: ignore[type-arg]
        return nbr.in_degree == 0

    def apply(self, v: Vertex, total: int) -> None:
        v.n = total


def test_a_count_may_say_of_what() -> None:
    for how in ("require", "never"):
        assert gl.run(Truths(), square(), max_iterations=1, compile=how).vertices["n"].tolist() == [
            0,
            1,
            1,
            0,
        ]


@pytest.mark.parametrize("k", [0, -2])
def test_a_length_that_is_not_positive_names_its_parameter(k: int) -> None:
    with pytest.raises(gl.ProgramError) as caught:
        gl.run(Shift(k=k), square(), max_iterations=1)
    assert f"Vertex field 'x' has the length k = {k}; give k a value from 1 on" in str(caught.value)
    assert str(caught.value).endswith("^")
