"""Arrays from outside while programs run: what is read when, by which engines, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from gaslab.compiler import build
from gaslab.compiler.c import emit
from gaslab.compiler.frontend import parse
from gaslab.engine.bind import shapes_of
from gaslab.errors import ExecutionError, UsageError
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.programs import shared_arrays as zoo
from tests.support.command_line import EDGES, Run, edges, gaslab, rows

__all__ = ["edges", "gaslab"]  # fixtures

pytestmark = pytest.mark.filterwarnings("ignore::gaslab.ConvergenceWarning")

WAYS: list[dict[str, Any]] = [
    {"compile": "require"}, {"compile": "require", "threads": 2}, {"compile": "never"},
    {"engine": "reference"}, {"engine": gl.Stale(0)},
]  # fmt: skip
IDS = ["compiled", "threads", "interpreted", "reference", "stale"]
TABLE = np.array([1.0, 2.0, 4.0])


class Reads(gl.VertexProgram):
    weights: gl.Matrix = gl.field(shape=(2, 3))
    gather_edges = gl.ALL

    class Vertex(gl.Vertex):
        x: float = 0.0
        y: float = 0.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Sum[float]:
        return TABLE[nbr.degree % 3] * self.weights[1, v.degree % 3]

    def apply(self, v: Vertex, total: float) -> None:
        v.x = total
        v.y = np.sum(self.weights @ TABLE)


class Spread(gl.VertexProgram):
    """One that runs by signals, for the asynchronous engine: the least label, weighed by an array."""

    costs: gl.Vector = gl.field(shape=4)
    gather_edges = gl.ALL
    scatter_edges = gl.ALL

    class Vertex(gl.Vertex):
        low: float = 100.0

    def init(self, v: Vertex) -> None:
        v.low = TABLE[v.degree % 3] * 8.0

    def gather(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> gl.Min[float]:
        return nbr.low + self.costs[nbr.degree % 4]

    def apply(self, v: Vertex, total: float) -> None:
        v.low = min(v.low, total)

    def scatter(self, v: Vertex, e: gl.Edge, nbr: Vertex) -> None:
        if v.low + self.costs[v.degree % 4] < nbr.low:
            nbr.signal()


class Beyond(Reads):
    def apply(self, v: Reads.Vertex, total: float) -> None:
        v.x = self.weights[v.degree, 0]


class BeyondTable(Reads):
    def apply(self, v: Reads.Vertex, total: float) -> None:
        row = TABLE[1:]
        v.x = row[v.degree - 5]


class Scales:
    TENTHS = np.array([0.1, 0.2, 0.3], dtype=np.float32)


class Through(gl.VertexProgram):
    """Reads arrays through another module and a class, of types narrower than what it computes in."""

    class Vertex(gl.Vertex):
        x: float = 0.0
        n: int = 0

    def apply(self, v: Vertex) -> None:
        v.x = np.sum(zoo.WEIGHTS[v.degree % 4] @ zoo.WEIGHTS) / 3 + Scales.TENTHS[v.degree % 3] / 3
        v.n = zoo.TABLE[v.in_degree % 4] * 2147483647 * zoo.Outside.PLACES[0]


def square(comm: Comm | None = None) -> gl.Graph:
    return gl.Graph.from_edges([0, 1, 2, 3, 0], [1, 2, 3, 0, 2], comm=comm)


W = np.array([[1.0, 2.0, 3.0], [0.5, 0.25, -1.0]])


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_every_engine_reads_them(way: dict[str, Any]) -> None:
    result = gl.run(Reads(weights=W), square(), max_iterations=1, **way)
    degree = [3, 2, 3, 2]
    near = [[2, 2, 3], [3, 3], [2, 2, 3], [3, 3]]
    x = [sum(TABLE[d % 3] for d in ds) * W[1, n % 3] for ds, n in zip(near, degree, strict=True)]
    assert result.vertices["x"].tolist() == x
    assert result.vertices["y"].tolist() == [(W @ TABLE).sum()] * 4


@pytest.mark.parametrize("way", WAYS, ids=IDS)
def test_arrays_of_modules_and_classes_are_read_by_their_names(way: dict[str, Any]) -> None:
    result = gl.run(Through(), square(), max_iterations=1, **way)
    for v, degree, arrived in ((0, 3, 1), (1, 2, 1), (2, 3, 2), (3, 2, 1)):
        tenth = float(Scales.TENTHS[degree % 3])
        expected = (zoo.WEIGHTS[degree % 4] @ zoo.WEIGHTS).sum() / 3 + tenth / 3
        assert result.vertices["x"][v] == pytest.approx(expected, rel=1e-15)
        assert result.vertices["n"][v] == int(zoo.TABLE[arrived]) * 2147483647 * 5


def low(comm: Comm, engine: Any) -> list[float]:
    result = gl.run(Spread(costs=[0.5, 1.0, 0.25, 2.0]), square(comm), engine=engine)
    return list(result.vertices["low"].tolist())


@pytest.mark.parametrize("engine", [gl.Async(), gl.Stale(2)], ids=["async", "stale"])
def test_without_supersteps(ranks: Ranks, engine: Any) -> None:
    assert ranks.run(low, engine) == [low(Comm(), "reference")] * ranks.size


@pytest.mark.parametrize("compile", ["require", "never"])
def test_a_changed_array_is_seen_by_the_next_run(compile: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And needs no other library: its content is not in the text."""
    before = gl.run(Reads(weights=W), square(), max_iterations=1, compile=compile).vertices["x"]
    text = emit(parse(Reads))
    monkeypatch.delattr(build, "find_or_compile")  # from here on there is the library of the first run
    TABLE[:] *= 2.0
    try:
        after = gl.run(Reads(weights=W), square(), max_iterations=1, compile=compile).vertices["x"]
        assert emit(parse(Reads)) == text
    finally:
        TABLE[:] /= 2.0
    assert (after == 2 * before).all()
    other = gl.run(Reads(weights=-W), square(), max_iterations=1, compile=compile).vertices["x"]
    assert (other == -before).all()


def test_the_text_has_no_content_and_no_copy() -> None:
    """One pointer to each array, read in the loop over edges as it is."""
    text = emit(parse(Reads))
    assert "const double *restrict s0_TABLE;" in text
    assert "const double *restrict s1_weights;" in text
    assert "0.25" not in text.partition("gl_bind")[2]
    gather = text.partition("GL_INLINE gl_real gl_do_gather(")[2].partition("\n}")[0]
    assert "c->s0_TABLE[" in gather
    assert "[3];" not in gather


@pytest.mark.parametrize("way", WAYS[:4], ids=IDS[:4])
@pytest.mark.parametrize(
    ("program", "line", "vertex"),
    [(Beyond, "v.x = self.weights[v.degree, 0]", 0), (BeyondTable, "v.x = row[v.degree - 5]", 1)],
)
def test_an_index_beyond_names_vertex_and_line(
    program: Any, line: str, vertex: int, way: dict[str, Any]
) -> None:
    with pytest.raises(ExecutionError) as caught:
        gl.run(program(weights=W), square(), max_iterations=1, **way)
    first, _, text = str(caught.value).partition("\n")
    assert first.endswith(
        f"{program.__name__} failed at vertex {vertex} in superstep 0: an index outside the vector, matrix "
        "or list"
    )
    assert text.strip() == line


# ---- ranks -----------------------------------------------------------------------------------------


def with_other_weights(comm: Comm) -> None:
    gl.run(Reads(weights=W + comm.rank), square(comm), max_iterations=1)


def with_another_table(comm: Comm, engine: str) -> None:
    table = TABLE + comm.rank

    class Closed(gl.VertexProgram):
        class Vertex(gl.Vertex):
            x: float = 0.0

        def apply(self, v: Vertex) -> None:
            v.x = TABLE[0]

    Closed.apply.__globals__["TABLE"] = table
    try:
        gl.run(Closed(), square(comm), max_iterations=1, engine=engine)
    finally:
        Closed.apply.__globals__["TABLE"] = table - comm.rank


def test_ranks_that_pass_different_arrays_disagree(ranks: Ranks) -> None:
    if ranks.size == 1:
        assert ranks.run(with_other_weights) == [None]
        return
    with pytest.raises(UsageError) as caught:
        ranks.run(with_other_weights)
    assert (
        "ranks disagree on program of run(): the content of Reads(weights=<float64 array of 2 x 3>)"
        in str(caught.value)
    )


@pytest.mark.parametrize("engine", ["sync", "reference"])
def test_ranks_that_read_different_arrays_disagree(ranks: Ranks, engine: str) -> None:
    if ranks.size == 1:
        assert ranks.run(with_another_table, engine) == [None]
        return
    with pytest.raises(UsageError) as caught:
        ranks.run(with_another_table, engine)
    assert str(caught.value) == (
        "Closed reads the array 'TABLE', whose content is not the same on all ranks; every rank must have "
        "the same"
    )


# ---- what is said of them --------------------------------------------------------------------------


def test_metrics_have_shape_and_dtype() -> None:
    result = gl.run(Reads(weights=W), square(), max_iterations=1)
    assert result.metrics["parameters"] == {"weights": {"dtype": "float64", "shape": (2, 3)}}


def test_explain_takes_an_instance() -> None:
    class Sized(gl.VertexProgram):
        n: int
        table: gl.Vector = gl.field(shape="n")

        class Vertex(gl.Vertex):
            x: float = 0.0

        def apply(self, v: Vertex) -> None:
            v.x = self.table[v.degree % self.n]

    assert "s0_table" in str(gl.explain(Sized(table=[1, 2])))
    assert shapes_of(Sized(table=[1, 2])) == {"n": 2}
    with pytest.raises(gl.ProgramError, match="has the shape 'n', a parameter without a value"):
        gl.explain(Sized)


PROGRAM = """
import gaslab as gl

class Weighed(gl.VertexProgram):
    n: int
    weights: gl.Vector = gl.field(shape="n", dtype=gl.float32)
    scale: float = 1.0

    class Vertex(gl.Vertex):
        x: float = 0.0

    def apply(self, v: Vertex) -> None:
        v.x = self.weights[v.degree % self.n] * self.scale
"""


def test_the_command_line_reads_files(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    (tmp_path / "weighed.py").write_text(PROGRAM)
    np.save(tmp_path / "w.npy", np.array([0.5, 1.5]))
    where = f"{tmp_path}/weighed.py:Weighed"
    document = tmp_path / "run.json"
    done = gaslab(
        "run", where, edges, "-p", f"weights={tmp_path}/w.npy", "--max-iterations", "1", "--json", document,
        "-o", tmp_path / "out.tsv", "--fields", "x",
    )  # fmt: skip
    assert done.code == 0, done.err
    said = json.loads(document.read_text())["parameters"]
    assert said["weights"] == {"dtype": "float32", "shape": [2]}
    assert said["n"] == 2
    ends = [end for edge in EDGES for end in edge]
    expected = {v: [0.5, 1.5][ends.count(v) % 2] for v in ends}
    assert rows((tmp_path / "out.tsv").read_text()) == expected


def test_what_no_file_of_an_array_is(gaslab: Run, edges: Path, tmp_path: Path) -> None:
    (tmp_path / "weighed.py").write_text(PROGRAM)
    (tmp_path / "text.npy").write_text("1 2 3")
    np.save(tmp_path / "objects.npy", np.array([1, "a"], dtype=object), allow_pickle=True)
    where = f"{tmp_path}/weighed.py:Weighed"
    absent, text, objects = (tmp_path / name for name in ("absent.npy", "text.npy", "objects.npy"))
    no_array = "holds no plain array of numbers; write it by np.save("
    for words, message in (
        ([], "Weighed needs -p weights=FILE.npy: the parameter has no default"),
        (["-p", "weights=3"], "-p weights=3: Weighed.weights is an array; give a file that np.save wrote"),
        (["-p", f"weights={absent}"], f"cannot read {absent}: No such file or directory"),
        (["-p", f"weights={text}"], f"{text} {no_array}"),
        (["-p", f"weights={objects}"], f"{objects} {no_array}"),
    ):
        done = gaslab("run", where, edges, "--max-iterations", "1", *words)
        assert done.code == 2, done.err
        assert message in done.err
