"""MatrixMarket files against scipy's reader, on any ranks; and what is wrong with a file, at its line."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.cli import main
from gaslab.errors import InputError, UsageError
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.mpi.launcher import REAL
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks

SAMPLES = REAL / "graphs"
SIZES = (1, 2, 3, 4, 9)


def entries(comm: Comm, path: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    """Return (sorted rows of source, target, values; vertices; directed; fingerprint; columns)."""
    edges = read_edges(path, comm, **options)
    ends = [edges.ids.lookup(end).tolist() for end in (edges.src, edges.dst)]
    mine = list(zip(*ends, *(column.tolist() for column in edges.columns.values()), strict=True))
    rows = sorted(row for part in comm.allgather(mine) for row in part)
    kinds = {name: column.dtype.name for name, column in edges.columns.items()}
    return rows, edges.num_vertices, edges.directed, edges.fingerprint, kinds


def on_all(path: Path, **options: Any) -> tuple[Any, ...]:
    found = [part for size in SIZES for part in run_ranks(size, lambda comm: entries(comm, path, options))]
    assert all(part == found[0] for part in found)
    return found[0]


def error_on_all(path: Path, kind: type[Exception] = InputError, **options: Any) -> str:
    """Return the message that every rank of every size raises."""
    texts = set()
    for size in SIZES:
        with pytest.raises(kind) as error:
            run_ranks(size, lambda comm: read_edges(path, comm, **options))
        texts.add(str(error.value))
    assert len(texts) == 1, texts
    return texts.pop().removeprefix(str(path))


def written(folder: Path, head: str, body: str, name: str = "m.mtx") -> Path:
    path = folder / name
    text = f"%%MatrixMarket matrix {head}\n{body}".encode()
    path.write_bytes(gzip.compress(text) if name.endswith(".gz") else text)
    return path


def oracle(path: Path) -> list[tuple[Any, ...]]:
    """Return the entries that scipy reads, both of a symmetric pair, with ids from 1."""
    matrix = scipy.io.mmread(path).tocoo()
    return sorted(
        zip((matrix.row + 1).tolist(), (matrix.col + 1).tolist(), matrix.data.tolist(), strict=True)
    )


@pytest.mark.parametrize("name", ["west0067.mtx", "karate.mtx", "cover.mtx"])
def test_samples(name: str) -> None:
    path = SAMPLES / name
    if not path.exists():
        pytest.skip(f"{path} is not here")
    rows, n, _, _, kinds = on_all(path, directed=True)
    assert n == scipy.io.mmread(path).shape[0]
    wanted = oracle(path)
    assert rows == (wanted if kinds else [row[:2] for row in wanted])


MATRICES = st.tuples(
    st.sampled_from(["general", "symmetric", "skew-symmetric"]),
    st.sampled_from(["real", "integer", "pattern"]),
    st.integers(1, 6), st.integers(1, 6),
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.integers(-9, 9)), max_size=20),
    st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans(), st.booleans(),
)  # fmt: skip


@pytest.mark.slow
@given(MATRICES)
def test_scipy_reads_the_same(tmp_path_factory: pytest.TempPathFactory, drawn: Any) -> None:
    symmetry, field, rows, columns, places, end, last, blank, zipped = drawn
    if symmetry == "skew-symmetric" and field == "pattern":
        field = "real"
    columns = columns if symmetry == "general" else rows
    found: dict[tuple[int, int], Any] = {}
    for i, j, value in places:
        i, j = i % rows, j % columns
        if symmetry == "general" or i > j or (i == j and symmetry == "symmetric"):
            found[i, j] = value / 4 if field == "real" else value
    lines = [f"{i + 1} {j + 1}" + (f" {v}" if field != "pattern" else "") for (i, j), v in found.items()]
    body = ["% made by hand", "", f"{rows} {columns} {len(lines)}", *lines, *([""] if blank else [])]
    text = end.join([f"%%MatrixMarket matrix coordinate {field} {symmetry}", *body]) + (end if last else "")
    path = tmp_path_factory.getbasetemp() / ("m.mtx.gz" if zipped else "m.mtx")
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    wanted = oracle(path)
    got = on_all(path, bipartite=True, directed=True)
    assert got[0] == (wanted if field != "pattern" else [row[:2] for row in wanted])
    assert got[1:3] == (rows + columns, True)
    assert got[4] == {"real": {"weight": "float64"}, "integer": {"weight": "int64"}, "pattern": {}}[field]
    if rows == columns:
        assert on_all(path, directed=True)[:3] == (got[0], rows, True)
        plain = on_all(path)
        assert plain[2] == (symmetry != "symmetric")
        if symmetry == "symmetric":
            assert sorted(row[:2] for row in plain[0]) == sorted((i + 1, j + 1) for i, j in found)


def test_what_scipy_writes(tmp_path: Path) -> None:
    rng = np.random.default_rng(5)
    dense = np.where(rng.random((30, 30)) < 0.1, rng.normal(size=(30, 30)), 0.0)
    for symmetry, matrix in (
        ("general", dense),
        ("symmetric", dense + dense.T),
        ("skew-symmetric", dense - dense.T),
    ):
        path = tmp_path / "m.mtx"
        scipy.io.mmwrite(path, sp.coo_array(matrix), symmetry=symmetry)
        rows, n, *_ = on_all(path, directed=True)
        back = np.zeros((30, 30))
        for i, j, value in rows:
            back[i - 1, j - 1] = value
        np.testing.assert_array_equal(back, matrix)
        assert n == 30
    scipy.io.mmwrite(path, sp.coo_array(np.array([[0, 3], [2, 0]], np.uint64)))
    assert on_all(path)[0] == [(1, 2, 3), (2, 1, 2)]


def graph_of(comm: Comm, path: str, options: dict[str, Any]) -> tuple[Any, ...]:
    graph = gl.read_graph(path, comm=comm, **options)
    label = gl.components(graph).vertices
    return graph.num_vertices, graph.num_edges, graph.directed, graph.fingerprint, label.to_dict("component")


def test_a_graph_with_vertices_without_edges(ranks: Ranks, tmp_path: Path) -> None:
    path = written(tmp_path, "coordinate pattern symmetric", "6 6 3\n3 1\n5 3\n2 2\n")
    alone = graph_of(Comm(), str(path), {})
    assert alone[:3] == (6, 3, False)
    assert [alone[4][v] for v in range(1, 7)] == [1, 2, 1, 4, 1, 6]
    assert ranks.run(graph_of, str(path), {}) == [alone] * ranks.size
    empty = written(tmp_path, "coordinate real general", "3 3 0\n", "e.mtx")
    assert ranks.run(graph_of, str(empty), {})[0][:3] == (3, 0, True)
    nothing = written(tmp_path, "coordinate real general", "0 0 0", "n.mtx")
    assert on_all(nothing)[:3] == ([], 0, True)


@pytest.mark.slow
def test_columns_and_drops(tmp_path: Path) -> None:
    path = written(tmp_path, "coordinate integer general", "3 3 4\n1 2 5\n1 2 6\n2 2 7\n2 1 8\n")
    assert on_all(path, columns={"cost": "weight"})[4] == {"cost": "int64"}
    assert on_all(path, columns={"cost": 2})[0][0] == (1, 2, 5)
    assert (
        on_all(path, columns=[])[0]
        == on_all(path, columns={"weight": None})[0]
        == [(1, 2), (1, 2), (2, 1), (2, 2)]
    )
    assert on_all(path, drop_duplicates=True, drop_self_loops=True)[0] == [(1, 2, 5), (2, 1, 8)]
    assert on_all(path, drop_duplicates=True, drop_self_loops=True, directed=False)[0] == [(1, 2, 5)]
    large = written(tmp_path, "coordinate integer skew-symmetric", f"2 2 1\n2 1 {-(2**63)}\n", "l.mtx")
    assert on_all(large)[0] == [(1, 2, 2.0**63), (2, 1, -(2.0**63))]


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("coordinate real general", "",
         ":1: the size of the matrix, 'rows columns entries', is missing; the file is cut short"),
        ("coordinate real general", "% c\n3 3\n",
         ":3: the size of the matrix, 'rows columns entries', is '3 3'"),
        ("coordinate real general", "3 -3 1\n",
         ":2: the size of the matrix, 'rows columns entries', is '3 -3 1'"),
        ("coordinate real general", "3 3 2\n1 2 3\n",
         ":2: the size line '3 3 2' says 2 entries, and the file has 1; it is cut short"),
        ("coordinate real general", "%\n3 3 1\n1 2 3\n\n% c\n2 1 4\n3 1 4\n",
         ":7: one entry more than the 1 of line 3: '2 1 4'"),
        ("coordinate real general", "3 3 1\n0 2 3\n", ":3: the row is not from 1 to 3: '0 2 3'"),
        ("coordinate real general", "3 3 1\n1 0 3\n", ":3: the column is not from 1 to 3: '1 0 3'"),
        ("coordinate real general", "3 3 2\n1 2 3\n\n4 2 3\n", ":5: the row is not from 1 to 3: '4 2 3'"),
        ("coordinate real general", "3 3 1\n1 4 3\n", ":3: the column is not from 1 to 3: '1 4 3'"),
        ("coordinate real general", "3 3 1\n1 99999999999999999999 3\n",
         ":3: the column id is larger than 2**63 - 1: '1 99999999999999999999 3'"),
        ("coordinate real general", "3 3 1\n1 -1 3\n", ":3: the column id is negative: '1 -1 3'"),
        ("coordinate real general", "3 3 1\n1.0 1 3\n", ":3: the row id is not an integer: '1.0 1 3'"),
        ("coordinate real general", "3 3 1\n1 2\n", ":3: 2 fields where an entry has 3: '1 2'"),
        ("coordinate pattern general", "3 3 1\n1 2 3\n", ":3: more than the 2 fields of an entry: '1 2 3'"),
        ("coordinate real general", "3 3 2\n1 2 e5\n1 2 x\n",
         ":3: weight is not a number: '1 2 e5' (1 more bad line)"),
        ("coordinate real general", "3 3 1\n1 2 nan\n", ":3: weight is not a number (nan): '1 2 nan'"),
        ("coordinate integer general", "3 3 3\n1 2 3\n1 3 3.0\n2 2 4.5\n",
         ":4: weight is not a 64-bit integer: '1 3 3.0'"),
        ("coordinate unsigned-integer general", "3 3 1\n1 2 18446744073709551615\n",
         ":3: weight is not a 64-bit integer: '1 2 18446744073709551615'"),
        ("coordinate real skew-symmetric", "3 3 2\n2 1 3\n2 2 3\n",
         ":4: a skew-symmetric matrix has no entries on its diagonal: '2 2 3'"),
        ("coordinate real symmetric", "3 4 1\n2 1 3\n", ":2: a symmetric matrix of 3 rows and 4 columns"),
        ("coordinate complex hermitian", "3 3 1\n2 1 3 1\n",
         ":1: a matrix of complex values, and those of edges are real; read it with scipy.io.mmread and "
         "gl.Graph.from_scipy (of abs(matrix))"),
        ("array real general", "2 2\n1\n2\n3\n4\n",
         ":1: a dense MatrixMarket array; read it with scipy.io.mmread and gl.Graph.from_scipy (of a "
         "scipy.sparse.coo_array)"),
        ("coordinate reel general", "2 2 0\n",
         ":1: 'reel' is none of real, double, integer, unsigned-integer, pattern"),
        ("coordinate real", "2 2 0\n",
         ":1: '%%MatrixMarket matrix coordinate real' is not '%%MatrixMarket matrix coordinate FIELD "
         "SYMMETRY'"),
        ("coordinate pattern skew-symmetric", "2 2 1\n2 1\n",
         ":1: a pattern has no values, so that it cannot be skew-symmetric; it is 'symmetric'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_line(tmp_path: Path, head: str, body: str, expected: str) -> None:
    for name in ("m.mtx", "m.mtx.gz"):
        assert error_on_all(written(tmp_path, head, body, name)) == expected
    crlf = written(tmp_path, head, "", "crlf.mtx")
    crlf.write_bytes(
        f"%%MatrixMarket matrix {head}\r\n{body}".replace("\n", "\r\n").replace("\r\r", "\r").encode()
    )
    assert error_on_all(crlf) == expected


def test_a_late_fault_is_found_by_the_rank_that_has_it(ranks: Ranks, tmp_path: Path) -> None:
    body = "50 50 3000\n" + "".join(f"{k % 50 + 1} {k * 7 % 50 + 1} {k}\n" for k in range(3000))
    lines = body.split("\n")
    for line in (2, 1500, 3000):
        wrong = [*lines]
        wrong[line] = "51 1 1"
        path = written(tmp_path, "coordinate real general", "\n".join(wrong))
        with pytest.raises(InputError) as error:
            ranks.run(entries, str(path), {})
        assert str(error.value) == f"{path}:{line + 2}: the row is not from 1 to 50: '51 1 1'"


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    path = written(tmp_path, "coordinate real general", "2 3 1\n1 3 5\n")
    assert "bipartite=True (--bipartite)" in error_on_all(path, UsageError)
    assert on_all(path, bipartite=True)[:2] == ([(1, 3, 5.0)], 5)
    for options in ({"comments": "#"}, {"delimiter": "tab"}, {"header": True}, {"on_bad_line": "skip"}):
        assert "is for edge lists, and this is a MatrixMarket file" in error_on_all(
            path, UsageError, **options
        )
    assert "ids='str'" in error_on_all(path, UsageError, ids="str")
    skew = written(tmp_path, "coordinate real skew-symmetric", "2 2 1\n2 1 5\n", "s.mtx")
    assert "directed=False (--undirected) for a skew-symmetric matrix" in error_on_all(
        skew, UsageError, directed=False
    )
    with pytest.raises(UsageError, match="a MatrixMarket file is a graph of its own, and 2 files were named"):
        read_edges([path, skew], Comm())
    assert error_on_all(skew, format="edges").endswith("--format edges (format='edges') is wrong")
    other = tmp_path / "g.txt"
    other.write_bytes(
        b"\xef\xbb\xbf" + skew.read_bytes().replace(b"%%MatrixMarket matrix", b"%%matrixmarket MATRIX")
    )
    assert on_all(other)[0] == [(1, 2, -5.0), (2, 1, 5.0)]
    plain = tmp_path / "plain.mtx"
    plain.write_text("1 2\n")
    assert re.match(
        ":1: a MatrixMarket file begins with %%MatrixMarket, not '1 2'; or pass", error_on_all(plain)
    )
    assert on_all(plain, format="edges")[0] == [(1, 2)]


def test_the_command_line_reads_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "coordinate real symmetric", "4 4 2\n2 1 0.5\n3 2 1.5\n")
    out = tmp_path / "d.tsv"
    assert (
        main(["sssp", str(path), "--source", "1", "--column", "weight=weight", "--quiet", "-o", str(out)])
        == 0
    )
    assert out.read_text() == "1\t0.0\n2\t0.5\n3\t2.0\n4\tinf\n"
    assert main(["info", str(path), "--quiet"]) == 0
    assert "2  (undirected)" in capsys.readouterr().out


@pytest.mark.parametrize("before", ["\n\n", "% a comment\n", " \n% one\n% two\n"])
def test_a_banner_that_is_not_the_first_line_is_no_edge(tmp_path: Path, before: str) -> None:
    path = tmp_path / "matrix.txt"
    path.write_text(before + "%%MatrixMarket matrix coordinate pattern general\n2 2 1\n1 2\n")
    with pytest.raises(InputError, match=r"matrix\.txt"):
        read_edges(path, Comm())
