"""Tables joined to vertices as columns, however they are passed, and the fields that start from columns."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import gaslab as gl
from gaslab.cli import main
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.graphs import described, scored


@pytest.mark.parametrize("rows", ["same", "parts", "root"])
def test_tables_are_joined_however_they_are_passed(ranks: Ranks, rows: str) -> None:
    assert ranks.run(_join, rows) == [[("a", 1.5, True), ("b", 2.5, False), ("c", 0.0, False)]] * ranks.size


def _join(comm: Comm, rows: str) -> Any:
    graph = gl.Graph.from_edges(["a", "b"], ["b", "c"], comm=comm)
    whole = {"id": ["b", "zz", "a"], "x": [2.5, 9.5, 1.5], "y": [False, True, True]}
    mine = slice(comm.rank, None, comm.size) if rows == "parts" else slice(None)
    here = rows != "root" or not comm.rank
    table = {name: values[mine] for name, values in whole.items()} if here else None
    return described(graph.with_vertices(table, default={"x": 0.0, "y": False}, rows=rows))["vertices"]


def test_tables_of_other_kinds(tmp_path: Path) -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    frame = pd.DataFrame({"age": [5, 6, 7]}, index=[3, 2, 1])
    assert graph.with_vertices(frame).vertex_columns["age"][np.argsort(graph.local.gid)].tolist() == [7, 6, 5]
    table = gl.degrees(graph).vertices
    made = graph.with_vertices(table).vertex_columns
    assert list(made) == ["in_edges", "out_edges", "edges"]
    path = tmp_path / "t.tsv"
    path.write_text("# people\nid\tage\trate\tnew\n3\t5\t0.5\ttrue\n1\t6\t1\tfalse\n2\t7\t2\tFalse\n")
    read = graph.with_vertices(path)
    assert {name: str(values.dtype) for name, values in read.vertex_columns.items()} == {
        "age": "int64", "rate": "float64", "new": "bool"}  # fmt: skip
    assert described(read)["vertices"] == [(1, 6, 1.0, False), (2, 7, 2.0, False), (3, 5, 0.5, True)]


class Grow(gl.VertexProgram):
    class Vertex(gl.Vertex):
        size: float = 1.0
        kept: int = 3
        made: int = 4

    def init(self, v: Vertex) -> None:
        v.made = 5

    def apply(self, v: Vertex) -> None:
        v.size = v.size * 2.0


def test_fields_bind_to_columns(caplog: pytest.LogCaptureFixture) -> None:
    graph = gl.Graph.from_edges([0], [1]).with_vertices({"id": [0, 1], "size": [3, 4], "made": [9, 9]})
    for engine in ("sync", "reference"):
        with caplog.at_level("INFO", "gaslab"):
            table = gl.run(Grow(), graph, max_iterations=1, engine=engine).vertices
        assert "Grow: size = vertex column 'size'; made = vertex column 'made'" in caplog.text
        assert [table[name].tolist() for name in ("size", "kept", "made")] == [[6, 8], [3, 3], [5, 5]]
    options: Any = {"max_iterations": 1, "columns": {"kept": "size", "size": None}}
    table = gl.run(Grow(), graph, **options).vertices
    assert (table["size"].tolist(), table["kept"].tolist()) == ([2.0, 2.0], [3, 4])
    assert gl.run(Grow(), graph, init={"size": {1: 0.5}}, **options).vertices["size"].tolist() == [2.0, 1.0]


def test_the_command_line_reads_a_table(tmp_path: Path) -> None:
    (tmp_path / "g.tsv").write_text("0 1\n")
    (tmp_path / "v.csv").write_text("id,size\n0,3\n1,4\n")
    out = tmp_path / "out.tsv"
    program = f"{__file__}:Grow"
    argv = ["run", program, str(tmp_path / "g.tsv"), "--vertices", str(tmp_path / "v.csv")]
    assert main([*argv, "--fields", "size", "--max-iterations", "1", "-o", str(out), "--quiet"]) == 0
    assert out.read_text() == "0\t6.0\n1\t8.0\n"


G = scored()
ERRORS: list[tuple[Any, str]] = [
    (lambda: G.with_vertices({"id": [0, 1], "x": [1, 2]}),
     "the table has no row for 1 of 3 vertices, such as 2; add them, or pass default="),
    (lambda: G.with_vertices({"id": [0, 1, 1], "x": [1, 2, 3]}), "the table has vertex 1 twice"),
    (lambda: G.with_vertices({"id": [0, 1], "x": [1]}), "column 'x' has 1 values, id 2"),
    (lambda: G.with_vertices({"x": [1]}), "the table has no column 'id' to join by"),
    (lambda: G.with_vertices(5), "a table is needed, not int: a mapping with 'id', or a DataFrame"),
    (lambda: G.with_vertices({"id": [0], "x": [1]}, default={"y": 1}),
     "default= has no value for column 'x'"),
    (lambda: gl.read_vertices("absent.tsv"), "cannot read absent.tsv: "),
    (lambda: gl.run(Grow(), G, max_iterations=1, columns={"size": "scor"}),
     "the graph has no vertex column 'scor'; did you mean 'score'?"),
]  # fmt: skip


@pytest.mark.parametrize(("act", "text"), ERRORS, ids=[text[:40] for _, text in ERRORS])
def test_errors(act: Any, text: str) -> None:
    with pytest.raises(gl.GaslabError, match=re.escape(text)) as error:
        act()
    assert "\n" not in str(error.value)


# ---- columns of text ---------------------------------------------------------------------------------

PEOPLE = {"id": [1, 2, 3], "name": ["ann", "bob", "cid"], "age": [31, 28, 40], "rate": [0.5, 1.0, 2.0]}
FILES = ["people.csv", "people.tsv", "people.parquet"]
LEFT_OUT = "left out column 'name' of text; read_vertices(columns=[...]) names those to keep"


def people_file(folder: Path, name: str) -> Path:
    frame, path = pd.DataFrame(PEOPLE), folder / name
    if name.endswith(".parquet"):
        frame.to_parquet(path)
    else:
        frame.to_csv(path, sep="," if name.endswith(".csv") else "\t", index=False)
    return path


@pytest.mark.parametrize("name", FILES)
def test_text_in_a_file_is_left_out_with_a_warning(
    tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    path = people_file(tmp_path, name)
    made = gl.Graph.from_edges([1, 2], [2, 3]).with_vertices(path)
    assert sorted(made.vertex_columns) == ["age", "rate"]
    assert [record.getMessage() for record in caplog.records] == [f"{path}: {LEFT_OUT}"]


@pytest.mark.parametrize("name", FILES)
def test_chosen_columns_of_a_file(tmp_path: Path, name: str, caplog: pytest.LogCaptureFixture) -> None:
    path, graph = people_file(tmp_path, name), gl.Graph.from_edges([1, 2], [2, 3])
    assert list(graph.with_vertices(path, columns=["rate"]).vertex_columns) == ["rate"]
    assert list(gl.read_vertices(path, columns=["age"])) == ["id", "age"]
    assert not caplog.records
    with pytest.raises(gl.InputError, match="column 'name' is not all numbers, or all true and false"):
        gl.read_vertices(path, columns=["name"])
    with pytest.raises(gl.UsageError, match=r"columns='aeg': .* has no such column; did you mean 'age'"):
        gl.read_vertices(path, columns=["aeg"])


def _leave_out(comm: Comm, rows: str, columns: Any) -> Any:
    graph = gl.Graph.from_edges([1, 2], [2, 3], comm=comm)
    mine = slice(comm.rank, None, comm.size) if rows == "parts" else slice(None)
    here = rows != "root" or not comm.rank
    frame = pd.DataFrame(PEOPLE).iloc[mine]
    table = {name: values[mine] for name, values in PEOPLE.items()}
    found = [graph.with_vertices(one if here else None, columns=columns, rows=rows) for one in (frame, table)]
    return [(list(one.vertex_columns), described(one)["vertices"]) for one in found]


@pytest.mark.parametrize("rows", ["same", "parts", "root"])
def test_text_in_a_table_is_left_out(ranks: Ranks, rows: str) -> None:
    both = (["age", "rate"], [(1, 31, 0.5), (2, 28, 1.0), (3, 40, 2.0)])
    assert ranks.run(_leave_out, rows, None) == [[both] * 2] * ranks.size
    one = (["age"], [(1, 31), (2, 28), (3, 40)])
    assert ranks.run(_leave_out, rows, ["age"]) == [[one] * 2] * ranks.size


def test_text_that_is_chosen_or_says_the_side_is_an_error() -> None:
    graph = gl.Graph.from_edges([1, 2], [2, 3])
    with pytest.raises(gl.InputError, match=r"column 'name' at position 0 is 'ann' \(str\)"):
        graph.with_vertices(PEOPLE, columns=["name"])
    with pytest.raises(gl.UsageError, match="columns='nam': the table has no such column; did you mean"):
        graph.with_vertices(pd.DataFrame(PEOPLE), columns=["nam"])
    mixed = {**PEOPLE, "name": ["ann", 2, "cid"]}
    with pytest.raises(gl.InputError, match="column 'name' at position 0 is 'ann'"):
        graph.with_vertices(mixed)
    sides = gl.Graph.from_edges([1], [1], bipartite=True)
    with pytest.raises(gl.InputError, match="column 'side' at position 0 is 'left'"):
        sides.with_vertices({"id": [1, 1], "side": ["left", "right"], "x": [1, 2]})
