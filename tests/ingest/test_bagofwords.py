"""Bag-of-words files against a parser in a few lines, on any ranks; what is wrong with one, at its line."""

from __future__ import annotations

import gzip
import itertools
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.cli import main
from gaslab.errors import InputError, UsageError
from gaslab.ingest import text as text_module
from gaslab.ingest.bagofwords import find_head
from gaslab.ingest.files import InputFile, Piece
from gaslab.ingest.layout import Layout, comment_table
from gaslab.ingest.read import read_edges
from gaslab.ingest.text import parse_pieces
from gaslab.parallel.comm import Comm
from tests.ingest.test_matrixmarket import error_on_all, on_all
from tests.mpi.launcher import REAL
from tests.mpi.ranks import Ranks

DATASETS = Path(__file__).parents[2] / "datasets"
KOS = REAL / "corpora" / "kos" / "docword.kos.txt.gz"


def written(folder: Path, text: str, name: str = "docword.t.txt") -> Path:
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def plain(path: Path) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Return what the head says and the entries, as a few lines of Python read them."""
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rows = [[int(word) for word in line.split()] for line in text.splitlines() if line.strip()]
    assert [len(row) for row in rows] == [1, 1, 1] + [3] * rows[2][0]
    return [row[0] for row in rows[:3]], sorted(tuple(row) for row in rows[3:])


ENTRY = st.tuples(st.integers(1, 6), st.integers(1, 9), st.integers(1, 12) | st.just((1 << 63) - 1))
BAGS = st.tuples(
    st.lists(ENTRY, max_size=25), st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans(),
    st.sampled_from([" ", "\t", "  "]), st.sampled_from(["", " "]), st.sampled_from([True, False, None]),
)  # fmt: skip


@pytest.mark.slow
@given(BAGS)
def test_a_plain_parser_reads_the_same(tmp_path_factory: pytest.TempPathFactory, drawn: Any) -> None:
    entries, end, last, zipped, blank, after, directed = drawn
    lines = [f"{after}{blank.join(map(str, entry))}{after}" for entry in entries]
    text = end.join([f"6{after}", "9", str(len(lines)), *lines]) + (end if last or not lines else "")
    path = written(tmp_path_factory.getbasetemp(), text, "docword.t.txt" + ".gz" * zipped)
    head, expected = plain(path)
    found = on_all(path, directed=directed)
    assert (found[0], found[1], found[2]) == (expected, head[0] + head[1], directed is not False)
    assert found[4] == {"count": "int64"}
    assert on_all(path, directed=directed, bipartite=True) == found


@given(entries=st.lists(ENTRY, max_size=25), cuts=st.lists(st.integers(0, 250), max_size=4), data=st.data())
def test_any_ranges_blocks_and_threads_read_the_same(
    tmp_path_factory: pytest.TempPathFactory, entries: list[tuple[int, int, int]], cuts: list[int], data: Any
) -> None:
    blank = data.draw(st.sampled_from(["", "\n", " \t\n"]))
    text = f"{blank}6\n{blank}9\n{len(entries)}\n" + "".join(f"{d} {w} {n}\n{blank}" for d, w, n in entries)
    path = written(tmp_path_factory.getbasetemp(), text)
    file = InputFile(str(path), len(text), False, "bagofwords")
    role = np.array([-1, -2, 0], np.int32)
    layout = Layout(0, comment_table(""), role, [], ["count"], False, head=find_head(file).at)
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    block, threads = data.draw(st.sampled_from([30, 100, 4000])), data.draw(st.sampled_from([1, 2]))
    rows, counts = [], np.zeros(4, int)
    for lo, hi in itertools.pairwise(bounds):
        pieces = [Piece(0, lo, hi)] if lo < hi else []
        with mock.patch.object(text_module, "RUN_BYTES", 8):  # so that two threads share a small file
            part = parse_pieces([file], pieces, layout, threads, block)
        rows += list(zip(part.src.tolist(), part.dst.tolist(), part.columns[0].tolist(), strict=True))
        counts += [part.counts[name] for name in ("headers", "blanks", "rejected", "lines")]
    assert rows == entries
    assert counts.tolist()[:1] + counts.tolist()[2:] == [3, 0, text.count("\n")]


HEAD = "a bag-of-words file begins with the numbers of its documents, words and entries, a line each, and"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2\n", f": {HEAD} this ends before the number of words; it is cut short"),
        ("2\n3\n", f": {HEAD} this ends before the number of entries; it is cut short"),
        ("2\n3 1\n1\n", f":2: {HEAD} '3 1' is not a number of words; or pass --format edges (format='edges') "
         "if it is an edge list"),
        ("2\n3\n\n-1\n", f":4: {HEAD} '-1' is not a number of entries; or pass --format edges "
         "(format='edges') if it is an edge list"),
        ("2\n3\n1 1 1\n", f":3: {HEAD} '1 1 1' is not a number of entries; or pass --format edges "
         "(format='edges') if it is an edge list"),
        ("2\n3\n2\n1 1 1\n", ":3: the head says 2 entries, and the file has 1; it is cut short"),
        ("2\n3\n2\n", ":3: the head says 2 entries, and the file has 0; it is cut short"),
        ("2\n3\n1\n1 1 1\n\n1 2 1\n", ":6: one entry more than the 1 of line 3: '1 2 1'"),
        ("2\n3\n0\n1 1 1\n", ":4: one entry more than the 0 of line 3: '1 1 1'"),
        ("2\n3\n1\n0 1 1\n", ":4: the document is not from 1 to 2: '0 1 1'"),
        ("2\n3\n2\n1 1 1\n3 1 1\n", ":5: the document is not from 1 to 2: '3 1 1'"),
        ("2\n3\n1\n1 4 1\n", ":4: the word is not from 1 to 3: '1 4 1'"),
        ("2\n3\n1\n1 -1 1\n", ":4: the word id is negative: '1 -1 1'"),
        ("2\n3\n1\n1 x 1\n", ":4: the word id is not an integer: '1 x 1'"),
        ("2\n3\n1\n1 1.0 1\n", ":4: the word id is not an integer: '1 1.0 1'"),
        ("2\n3\n1\n1 2 0\n", ":4: the count is less than 1: '1 2 0'"),
        ("2\n3\n3\n1 2 1\n1 2 -3\n1 3 0\n", ":5: the count is less than 1: '1 2 -3'"),
        ("2\n3\n2\n1 2 1\n1 2 1.5\n", ":5: count is not a 64-bit integer: '1 2 1.5'"),
        ("2\n3\n2\n1 2 0\n1 2 1.5\n", ":4: the count is less than 1: '1 2 0'"),
        ("2\n3\n2\n1 2 3.0\n1 2 0\n", ":4: count is not a 64-bit integer: '1 2 3.0'"),
        ("2\n3\n1\n1 2 9223372036854775808\n",
         ":4: count is not a 64-bit integer: '1 2 9223372036854775808'"),
        ("2\n3\n1\n1 2 x\n", ":4: count is not a number: '1 2 x'"),
        ("2\n3\n1\n1 2 nan\n", ":4: count is not a number (nan): '1 2 nan'"),
        ("2\n3\n2\n1 2\n1 1\n", ":4: 2 fields where an entry has 3: '1 2' (1 more bad line)"),
        ("2\n3\n1\n1 2 1 1\n", ":4: more than the 3 fields of an entry: '1 2 1 1'"),
        ("2\n3\n1\n# one\n", ":4: 2 fields where an entry has 3: '# one'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_line(tmp_path: Path, text: str, expected: str) -> None:
    for name in ("docword.t.txt", "docword.t.txt.gz", "other.tsv"):
        path = written(tmp_path, text, name)
        assert error_on_all(path, format="auto" if name.startswith("docword") else "bagofwords") == expected
    assert error_on_all(written(tmp_path, text.replace("\n", "\r\n"))) == expected
    assert error_on_all(written(tmp_path, "\ufeff" + text)) == expected


def test_other_files_are_no_bags(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    assert error_on_all(path, format="bagofwords").startswith(f": {HEAD} this ends before the number of doc")
    assert "is cut short" in error_on_all(written(tmp_path, "\n\n"), format="bagofwords")
    assert f":1: {HEAD} '1 2' is not a number of documents; or pass" in error_on_all(
        written(tmp_path, "1 2\n2 3\n"), format="bagofwords"
    )
    whole = gzip.compress(b"2\n3\n2\n" + b"1 2 1\n" * 2)
    path = tmp_path / "docword.cut.txt.gz"
    path.write_bytes(whole[:-9])
    assert error_on_all(path) == ": the gzip data ends too early; the file is truncated"
    many = 10**17
    path = written(tmp_path, f"{many}\n3\n1\n1 2 1\n")
    with pytest.raises(InputError, match=r"docword.t.txt: 100000000000000000 vertices are more than the "):
        read_edges(path, Comm())


def test_a_late_fault_is_found_by_the_rank_that_has_it(ranks: Ranks, tmp_path: Path) -> None:
    lines = ["50", "60", "3000", *(f"{k % 50 + 1} {k * 7 % 60 + 1} {k + 1}" for k in range(3000))]
    for line, wrong, what in (
        (4, "51 1 1", "the document is not from 1 to 50"), (1500, "1 1 0", "the count is less than 1"),
        (3003, "1 1 1.5", "count is not a 64-bit integer"),
    ):  # fmt: skip
        text = "\n".join([*lines[: line - 1], wrong, *lines[line:]])
        path = written(tmp_path, text)
        with pytest.raises(InputError) as error:
            ranks.run(graph_of, str(path), {})
        assert str(error.value) == f"{path}:{line}: {what}: {wrong!r}"


def graph_of(comm: Comm, path: str, options: dict[str, Any]) -> tuple[Any, ...]:
    graph = gl.read_graph(path, comm=comm, **options)
    degrees = gl.degrees(graph).vertices.to_dict("edges")
    return graph.bipartite, graph.num_left, graph.num_vertices, graph.fingerprint, degrees


def test_vertices_without_entries_are_there(ranks: Ranks, tmp_path: Path) -> None:
    path = written(tmp_path, "4\n3\n4\n1 1 2\n3 2 1\n1 3 5\n1 3 5\n")
    alone = graph_of(Comm(), str(path), {})
    assert alone[:3] == (True, 4, 7)
    documents = {(1, 0): 3, (2, 0): 0, (3, 0): 1, (4, 0): 0}
    assert alone[4] == {**documents, (1, 1): 1, (2, 1): 1, (3, 1): 2}
    assert ranks.run(graph_of, str(path), {}) == [alone] * ranks.size
    nothing = written(tmp_path, "2\n1\n0\n", "docword.n.txt")
    assert ranks.run(graph_of, str(nothing), {})[0][4] == {(1, 0): 0, (2, 0): 0, (1, 1): 0}
    assert on_all(written(tmp_path, "0\n0\n0"))[:3] == ([], 0, True)


@pytest.mark.slow
def test_columns_and_drops(tmp_path: Path) -> None:
    path = written(tmp_path, "2\n2\n4\n1 2 5\n1 2 6\n2 2 7\n2 1 8\n")
    assert on_all(path, columns={"tokens": "count"})[4] == on_all(path, columns={"tokens": 2})[4]
    assert on_all(path, columns={"tokens": "count"})[4] == {"tokens": "int64"}
    assert on_all(path, columns=[])[0] == on_all(path, columns={"count": None})[0]
    assert on_all(path, columns=["count"]) == on_all(path)
    dropped = on_all(path, drop_duplicates=True, drop_self_loops=True)
    assert dropped[0] == [(1, 2, 5), (2, 1, 8), (2, 2, 7)]
    assert "there is no column 'weight'" in error_on_all(path, UsageError, columns={"tokens": "weight"})
    for options in ({"source": 1, "target": 0}, {"source": 2}):
        assert error_on_all(path, UsageError, columns=options).endswith(
            "the source is the document and the target the word in a bag-of-words file; the reverse() of a "
            "graph has its edges reversed"
        )


def test_options_that_do_not_fit(tmp_path: Path) -> None:
    path = written(tmp_path, "2\n3\n1\n1 3 5\n")
    for options in ({"comments": "#"}, {"delimiter": "tab"}, {"header": True}, {"on_bad_line": "skip"}):
        assert error_on_all(path, UsageError, **options).endswith(
            "is for edge lists, and this is a bag-of-words file"
        )
    assert "ids='str'" in error_on_all(path, UsageError, ids="str")
    with pytest.raises(UsageError, match="a bag-of-words file is a graph of its own, and 2 files were named"):
        read_edges([path, path], Comm())


@pytest.mark.parametrize(
    ("name", "text", "options", "bag"),
    [
        ("counts.txt", "2\n3\n1\n1 3 5\n", {}, True),
        ("counts.txt", "\ufeff 2 \r\n\r\n3\t\r\n1\r\n\r\n1\t3\t5", {}, True),
        ("DOCWORD.NIPS.TXT", "2\n3\n0\n", {}, True),
        ("docword.txt", "2\n3\n0\n", {"format": "bagofwords"}, True),
        ("docword.txt", "2 3\n3 1\n", {}, False),
        ("docword.csv", "source,target\n1,2\n", {}, False),
        ("docword.txt", "# 2\n# 3\n# 1\n1 3 5\n", {}, False),
        ("edges.txt", "2 3\n4 5\n6 7\n1 3 5\n", {"on_bad_line": "skip"}, False),
        ("edges.txt", "1 3 5\n2\n3\n1\n1 3 6\n", {"on_bad_line": "skip"}, False),
    ],
)
def test_what_is_taken_for_one(
    tmp_path: Path, name: str, text: str, options: dict[str, Any], bag: bool
) -> None:
    path = written(tmp_path, text, name)
    assert (read_edges(path, Comm(), **options).ids.num_left is not None) == bag
    with pytest.raises(InputError, match=r"1 field|holds no edges" if bag else "bag-of-words file begins"):
        read_edges(path, Comm(), format="edges" if bag else "bagofwords")


def test_the_commands_read_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, "2\n2\n3\n1 1 2\n1 2 1\n1 2 4\n", "counts.tsv")
    out = tmp_path / "d.tsv"
    assert main(["degrees", str(path), "--quiet", "-o", str(out)]) == 0
    assert out.read_text() == "1\t0\t0\t3\t3\n2\t0\t0\t0\t0\n1\t1\t1\t0\t1\n2\t1\t2\t0\t2\n"
    assert main(["info", str(path), "--format", "bagofwords", "--quiet"]) == 0
    shown = capsys.readouterr().out
    assert "2 left, 2 right" in shown
    assert "column count  int64, 1 to 4" in shown
    edges = tmp_path / "edges.tsv"
    assert main(["convert", str(path), "-o", str(edges)]) == 0
    assert edges.read_text() == "1\t1\t2\n1\t2\t1\n1\t2\t4\n"
    said = capsys.readouterr().err
    assert "warning: 1 vertex without edges is left out" in said
    assert "the graph is bipartite; read the edge list with --bipartite" in said


@pytest.mark.slow
def test_the_samples() -> None:
    path = DATASETS / "docword.stdlib-docstrings.txt.gz"
    for sample in [path, *([KOS] if KOS.exists() else [])]:
        head, expected = plain(sample)
        edges = read_edges(sample, Comm(), threads=2)
        assert edges.num_vertices == head[0] + head[1]
        ends = [edges.src + 1, edges.dst - head[0] + 1, edges.columns["count"]]
        assert sorted(zip(*(end.tolist() for end in ends), strict=True)) == expected
