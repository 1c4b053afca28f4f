"""The same input on any number of ranks: headers behind comments, long lines, comments and bad lines."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest

from gaslab.errors import InputError, UsageError
from gaslab.ingest import files as module
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks

SIZES = (1, 2, 3, 4, 7)


def edges_of(comm: Comm, path: Any, options: dict[str, Any]) -> tuple[Any, ...]:
    edges = read_edges(path, comm, **options)
    ends = [edges.ids.lookup(end).tolist() for end in (edges.src, edges.dst)]
    columns = (column.tolist() for column in edges.columns.values())
    rows = sorted(row for part in comm.allgather(list(zip(*ends, *columns, strict=True))) for row in part)
    return rows, edges.counts["headers"], edges.counts["lines_rejected"], list(edges.columns), edges.ids.kind


def on_all(path: Any, **options: Any) -> tuple[Any, ...]:
    """Return what every rank of every size reads, which must be one thing."""
    found = [part for size in SIZES for part in run_ranks(size, lambda comm: edges_of(comm, path, options))]
    assert all(part == found[0] for part in found)
    return found[0]


# ---- headers -----------------------------------------------------------------------------------------

COMMENTS = ("# " + "-" * 63 + "\n") * 6
TEXT_EDGES = [(f"v{k}", f"v{k + 1}") for k in range(12)]


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
@pytest.mark.parametrize("header", ["source\ttarget", "FromNodeId\tToNodeId"])
def test_a_header_behind_comments_is_no_edge(tmp_path: Path, header: str, end: str, last: bool) -> None:
    body = "\n".join("\t".join(pair) for pair in TEXT_EDGES) + "\n" * last
    text = (COMMENTS + header + "\n" + body).replace("\n", end).encode()
    path, zipped = tmp_path / "g.tsv", tmp_path / "g.tsv.gz"
    path.write_bytes(text)
    zipped.write_bytes(gzip.compress(text))
    for one in (path, zipped):
        assert on_all(one) == (sorted(TEXT_EDGES), 1, 0, [], "str")
    rows, headers, *_ = on_all([path, zipped])  # both files begin with it
    assert (rows, headers) == (sorted(TEXT_EDGES * 2), 2)


def test_a_header_behind_more_comments_than_a_block(ranks: Ranks, tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("# comment\n" * 30000 + "\n \nsource,target,w\n" + "a,b,1\n" * 20)
    for rows, headers, _, columns, _ in ranks.run(edges_of, path, {}):
        assert (rows, headers, columns) == ([("a", "b", 1)] * 20, 1, ["w"])


def test_a_file_whose_only_line_is_a_header_holds_no_edge(tmp_path: Path) -> None:
    path = tmp_path / "g.tsv"
    path.write_text(COMMENTS + "source\ttarget\n")
    for size in SIZES:
        with pytest.raises(InputError, match=r"holds no edges \(7 lines: 1 header, 6 comments\)$"):
            run_ranks(size, lambda comm: read_edges(path, comm))


@pytest.mark.parametrize("header", ["source\ttarget\tw", "u\tv\tw"])
@pytest.mark.parametrize("zipped", [False, True])
def test_a_file_with_the_header_alone_decides_nothing_more(tmp_path: Path, header: str, zipped: bool) -> None:
    texts = [f"{header}\n", f"# c\n{header}\n", f"{header}\n1\t2\t0.5\n", f"{header}\n1\t3\t\n"]
    paths = [tmp_path / f"part-{k}.tsv" for k in range(4)]
    for path, text in zip(paths, texts, strict=True):
        path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    found = on_all(paths, delimiter="tab", on_bad_line="skip")
    assert found == ([(1, 2, 0.5)], 4, 1, ["w"], "int")


@pytest.mark.parametrize("bad", [b"1\0 2", b"a\rb c", b"\0", b"1\r2 3 4"])
def test_a_header_behind_a_line_that_is_no_text_is_no_edge(tmp_path: Path, bad: bytes) -> None:
    path, other = tmp_path / "g.tsv", tmp_path / "h.tsv"
    path.write_bytes(b"# c\n" + bad + b"\nsource target w\na b 1\n")
    other.write_bytes(bad + b"\n" + bad + b"\nsource target w\nb c 1.5\n")
    rows = [("a", "b", 1.0), ("b", "c", 1.5)]
    assert on_all([path, other], on_bad_line="skip") == (rows, 2, 3, ["w"], "str")


def test_a_mark_alone_is_no_line(tmp_path: Path) -> None:
    path, other, zipped = tmp_path / "g.txt", tmp_path / "h.txt", tmp_path / "h.txt.gz"
    path.write_text("1 2\n")
    other.write_bytes(module.BOM)
    zipped.write_bytes(gzip.compress(module.BOM))
    for size in SIZES:
        for counts in run_ranks(size, lambda comm: read_edges([path, other, zipped], comm).counts):
            assert (counts["lines"], counts["blanks"]) == (1, 0)


@pytest.mark.parametrize(
    ("text", "options", "expected"),
    [
        ("source,target,w,w\n1,2,3,4\n", {}, "two columns are called 'w'; name one by its position, for "
         "instance with --column w2=3 (columns={'w2': 3}), or leave one out"),
        ("source,target,w,w\n1,2,3,4\n", {"columns": ["w"]}, "two columns are called 'w'"),
        ("source,target,w,w\n1,2,3,4\n", {"columns": {"a": "w"}},
         "columns={'a': 'w'}: 2 columns are called 'w'; give the position of one, for instance 2"),
        ("source,target,source\n1,2,3\n", {}, "two columns are called 'source'"),
        ("source,target,a,b\n1,2,3,4\n", {"columns": {"x": 2, "y": 2}},
         "columns= gives column 2 two names, 'x' and 'y'"),
    ],
)  # fmt: skip
def test_two_columns_of_one_name(tmp_path: Path, text: str, options: dict[str, Any], expected: str) -> None:
    path = tmp_path / "g.csv"
    path.write_text(text)
    for size in (1, 3):
        with pytest.raises((InputError, UsageError), match=re.escape(expected)):
            run_ranks(size, lambda comm: read_edges(path, comm, **options))


def test_one_of_two_columns_of_one_name(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("source,target,w,w\n1,2,3,4\n")
    for columns, wanted in [
        ({"w2": 3}, {"w": [3], "w2": [4]}), ({"w": None}, {}), ({"w": None, "w2": 3}, {"w2": [4]}),
        ({"w": 3}, {"w": [4]}), ([], {}),
    ]:  # fmt: skip
        found = read_edges(path, Comm(), columns=columns).columns
        assert {name: values.tolist() for name, values in found.items()} == wanted


# ---- comments and leading zeros ----------------------------------------------------------------------


@pytest.mark.parametrize("comments", ["9", "90", "#9"])
@pytest.mark.parametrize("text", ["1 2\n9 3\n90 4\n 9 5\n3 9\n", "1 2 5\n9 3 5\n3 9 5\n", "a b\n9 3\nb 9\n"])
def test_a_digit_may_start_a_comment(tmp_path: Path, comments: str, text: str) -> None:
    path = tmp_path / "g.txt"
    path.write_text(text)
    kept = [line.split() for line in text.split("\n") if line.strip() and line.strip()[0] not in comments]
    rows, *_ = on_all(path, comments=comments, ids="str")
    assert [row[:2] for row in rows] == sorted((row[0], row[1]) for row in kept)
    if text[0] != "a":
        rows, *_ = on_all(path, comments=comments)
        assert [row[:2] for row in rows] == sorted((int(row[0]), int(row[1])) for row in kept)


@pytest.mark.parametrize(
    "bad", ["007 x", "x 007", "007", "007 -5-", "-x 007", "007 3 4", "007 99999999999999999999"]
)
def test_a_rejected_line_does_not_make_ids_text(tmp_path: Path, bad: str) -> None:
    path = tmp_path / "g.txt"
    path.write_text(f"1 2\n{bad}\n4 5\n")
    assert on_all(path, on_bad_line="skip") == ([(1, 2), (4, 5)], 0, 1, [], "int")
    for size in SIZES:
        with pytest.raises(InputError, match=f"^{re.escape(str(path))}:2: .*{re.escape(repr(bad))}"):
            run_ranks(size, lambda comm: read_edges(path, comm))
    path.write_text(f"1 2\n{bad}\n4 05\n")  # an edge with a leading zero does
    assert on_all(path, on_bad_line="skip")[4] == "str"


@pytest.mark.parametrize("zero", ["-0", "-05", "-007"])
def test_zeros_behind_a_minus_are_leading_ones(tmp_path: Path, zero: str) -> None:
    path = tmp_path / "g.txt"
    path.write_text(f"1 -2\n{zero} 1\n")
    assert on_all(path)[0] == [("-0" if zero == "-0" else zero, "1"), ("1", "-2")]
    assert on_all(path, ids="int")[0] == [*sorted([(int(zero), 1), (1, -2)])]


# ---- long lines --------------------------------------------------------------------------------------


def padded(first: str, size: int) -> bytes:
    return first.encode().ljust(size, b" ")


@pytest.mark.slow
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("end", [b"\n", b""])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_line_as_long_as_allowed_is_read_and_a_longer_one_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, zipped: bool, end: bytes, mark: bytes
) -> None:
    monkeypatch.setattr(module, "LONGEST_LINE", 1 << 12)
    monkeypatch.setattr(module.blocks, "__defaults__", (1 << 14, 1 << 12))
    path = tmp_path / ("g.txt.gz" if zipped else "g.txt")
    longest, short = 1 << 12, b"5 6\n" * 10
    write = (lambda data: path.write_bytes(gzip.compress(data))) if zipped else path.write_bytes
    for before, after in (
        (b"", b""),
        (short, b""),
        (b"", short),
        (short * 40, short * 3),
        (short * 900, short),
    ):
        if after and not end:
            continue
        write(mark + before + padded("1 2", longest) + end + after)
        rows, *_ = on_all(path)
        assert len(rows) == 1 + (len(before) + len(after)) // 4
        start = len(mark + before)
        expected = f"{path}: no line end in {longest} bytes from byte {start} on; is it a text file?"
        for size in (longest + 1, longest + 4, 3 * longest, 9 * longest):
            write(mark + before + padded("1 2", size) + end + after + padded("7 8", 20000))
            for number in SIZES:
                with pytest.raises(InputError) as error:
                    run_ranks(number, lambda comm: read_edges(path, comm))
                assert str(error.value) == expected


def test_a_line_over_a_mebibyte_is_refused_on_any_ranks(ranks: Ranks, tmp_path: Path) -> None:
    path = tmp_path / "g.txt"
    path.write_bytes(b"1 2\n" * 100 + padded("3 4", (1 << 20) + 1) + b"\n" + b"5 6\n" * 100)
    with pytest.raises(InputError) as error:
        ranks.run(edges_of, path, {})
    assert str(error.value) == f"{path}: no line end in 1048576 bytes from byte 400 on; is it a text file?"
    path.write_bytes(b"1 2\n" * 100 + padded("3 4", 1 << 20) + b"\n" + b"5 6\n" * 100)
    assert len(ranks.run(edges_of, path, {})[0][0]) == 201
