"""What every line means, with the exact texts of errors."""

from __future__ import annotations

import gzip
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gaslab.errors import InputError, UsageError
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.support.threadcomm import run_ranks

SKIP = "or leave bad lines out with --on-bad-line skip"


def rows(path: Path | list[Path] | str, comm: Comm | None = None, **options: Any) -> list[tuple[Any, ...]]:
    edges = read_edges(path, comm or Comm(), **options)
    ends = [edges.ids.lookup(end).tolist() for end in (edges.src, edges.dst)]
    return list(zip(*ends, *(column.tolist() for column in edges.columns.values()), strict=True))


def written(folder: Path, text: str | bytes, name: str = "g.txt") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


# ---- lines that are edges --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ("1 2\n", {}, [(1, 2)]),
        ("1\t2\n3   4 \n \t5 6", {}, [(1, 2), (3, 4), (5, 6)]),
        ("0 9223372036854775807\n", {}, [(0, 2**63 - 1)]),
        ("1,2\n3 , 4\n", {}, [(1, 2), (3, 4)]),
        ('"1","2"\n3,"4"\n', {}, [(1, 2), (3, 4)]),
        ("1;2;0.5\n", {"delimiter": "semicolon"}, [(1, 2, 0.5)]),
        ("New York\tLos Angeles\n", {"delimiter": "tab"}, [("New York", "Los Angeles")]),
        ('a,"b, ""c"""\n"a",d\n', {}, [("a", 'b, "c"'), ("a", "d")]),
        ("+5 1_000\n", {}, [("+5", "1_000")]),
        ("1 2\n007 3\n", {}, [("1", "2"), ("007", "3")]),
        ("1 2\n007 3\n", {"ids": "int"}, [(1, 2), (7, 3)]),
        ("1 2\n", {"ids": "str"}, [("1", "2")]),
        ("1.0 2\n", {}, [("1.0", "2")]),
        ("1 2\n0 00\n", {}, [("1", "2"), ("0", "00")]),
        ("é 日本\n", {}, [("é", "日本")]),
        ("#a b\n", {"comments": ""}, [("#a", "b")]),
        ("//x\n1 2\n", {"comments": "/"}, [(1, 2)]),
        ("1 2 -3\n4 5 +6\n", {}, [(1, 2, -3), (4, 5, 6)]),
        ("1 2 inf\n4 5 -Infinity\n", {}, [(1, 2, math.inf), (4, 5, -math.inf)]),
        ("1 2 9223372036854775807\n1 2 -9223372036854775808\n", {}, [(1, 2, 2**63 - 1), (1, 2, -(2**63))]),
        ("1 2 9223372036854775808\n", {}, [(1, 2, 2.0**63)]),
        ("1 2 .5 1e-3\n3 4 5. 1E5\n", {}, [(1, 2, 0.5, 1e-3), (3, 4, 5.0, 1e5)]),
    ],
)
def test_edges(tmp_path: Path, text: str, options: dict[str, Any], wanted: list[Any]) -> None:
    assert rows(written(tmp_path, text), **options) == wanted


def test_a_column_is_of_integers_only_if_all_its_values_are(tmp_path: Path) -> None:
    text = "".join(f"{i} {i + 1} {i} {i}\n" for i in range(1000)) + "1 2 0.5 7\n"
    for size in (1, 3):
        path = written(tmp_path, text)
        types = run_ranks(size, lambda comm, path=path: [
            (name, column.dtype.name) for name, column in read_edges(path, comm).columns.items()
        ])  # fmt: skip
        assert types == [[("weight", "float64"), ("column3", "int64")]] * size
    assert rows(path)[-2:] == [(999, 1000, 999.0, 999), (1, 2, 0.5, 7)]


def test_a_rejected_line_leaves_no_trace(tmp_path: Path) -> None:
    edges = read_edges(written(tmp_path, "a b 1\nc d 0.5 x\ne f junk\n"), Comm(), on_bad_line="skip")
    assert (edges.num_vertices, edges.columns["weight"].dtype) == (2, np.int64)


# ---- headers and columns ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "names", "wanted"),
    [
        ("Source,Target,Type,Weight\na,b,Directed,2\n", {}, ["Weight"], [("a", "b", 2)]),
        ("id,source,target\n1,5,6\n2,7,8\n", {}, ["id"], [(5, 6, 1), (7, 8, 2)]),
        ("x,y\n1,2\n", {}, [], [(1, 2)]),
        ("x,y\na,b\n", {}, [], [("x", "y"), ("a", "b")]),
        ("x,y\na,b\n", {"header": True}, [], [("a", "b")]),
        ("n1,n2,cost\na,b,3\n", {"header": True}, ["cost"], [("a", "b", 3)]),
        ("source,target\n1,2\n", {"header": False}, [], [("source", "target"), ("1", "2")]),
        ("source target w\n1 2 3\n", {}, ["w"], [(1, 2, 3)]),
        ("1 2\n3 4\n", {"header": True}, [], [(3, 4)]),
        ("1 2 3 4 5\n", {}, ["weight", "column3", "column4"], [(1, 2, 3, 4, 5)]),
        ("1 2 3 4\n", {"columns": {"weight": 3}}, ["weight"], [(1, 2, 4)]),
        ("1 2 3 4\n", {"columns": {"weight": None}}, ["column3"], [(1, 2, 4)]),
        ("1 2 3 4\n", {"columns": ["column3"]}, ["column3"], [(1, 2, 4)]),
        ("1 2 3 4\n", {"columns": []}, [], [(1, 2)]),
        ("1 2 3 4\n", {"columns": {"source": 2, "target": 3}}, ["column0", "column1"], [(3, 4, 1, 2)]),
        ("s,t,a\n1,2,3\n", {"columns": {"weight": "a"}}, ["weight"], [(1, 2, 3)]),
        ("1 2 x\n", {"columns": {"weight": None}}, [], [(1, 2)]),
    ],
)
def test_columns(
    tmp_path: Path, text: str, options: dict[str, Any], names: list[str], wanted: list[Any]
) -> None:
    path = written(tmp_path, text)
    assert rows(path, **options) == wanted
    assert list(read_edges(path, Comm(), **options).columns) == names


def test_a_header_may_begin_every_file(tmp_path: Path) -> None:
    one = written(tmp_path, "source,target\n1,2\n", "a.csv")
    two = written(tmp_path, "# c\nsource,target\n3,4\n", "b.csv")
    zipped = tmp_path / "c.csv.gz"
    zipped.write_bytes(gzip.compress(b"source,target\r\n5,6\r\n"))
    assert rows([one, two, zipped]) == [(1, 2), (3, 4), (5, 6)]
    counts = read_edges(str(tmp_path / "*"), Comm()).counts
    assert {name: counts[name] for name in ("lines", "headers", "comments", "edges_read")} == {
        "lines": 7, "headers": 3, "comments": 1, "edges_read": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("1 2 3\n", {"columns": {"cost": "price"}},
         "columns={'cost': 'price'}: there is no column 'price'; known: source, target, weight"),
        ("1 2 3\n", {"columns": {"cost": 3}}, "columns={'cost': 3}: columns are 0 to 2"),
        ("1 2 3\n", {"columns": {"cost": 1}}, "columns={'cost': ...} names the column of the target"),
        ("1 2 3\n", {"columns": {"source": 1}},
         "source and target are both column 1; name two with columns={'source': .., 'target': ..}"),
        ("1 2 3\n", {"columns": ["wieght"]}, "columns=: there is no column 'wieght'; did you mean 'weight'?"),
        ("1 2\n", {"delimiter": "e"},
         "delimiter='e' cannot be used; give a punctuation character, the same one twice (::), or one of "
         "whitespace, tab, comma, "
         "semicolon, pipe, colon"),
        ("1 2\n", {"comments": "é"}, "comments='é': 'é' is not a visible ASCII character"),
        ("1 2\n", {"ids": "integer"}, "ids='integer' is unknown; did you mean 'int'?"),
        ("1 2\n", {"on_bad_line": "warn"}, "on_bad_line='warn' is unknown; known: error, skip"),
        ("1 2\n", {"max_bad_lines": 3}, "max_bad_lines needs on_bad_line='skip'"),
    ],
)  # fmt: skip
def test_options_that_cannot_be(tmp_path: Path, text: str, options: dict[str, Any], message: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(UsageError) as caught:
        run_ranks(2, lambda comm: read_edges(path, comm, **options))
    assert str(caught.value) == message


# ---- bad lines -------------------------------------------------------------------------------------

TEXT_IDS = "for ids that are text pass --ids str (ids='str')"


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        ("1 2", "3", "1 field where the first data line has 2: '3'; check the delimiter (--delimiter)"),
        ("1 2", "3 4 5",
         "more than the 2 fields of the first data line: '3 4 5'; check the delimiter (--delimiter)"),
        ("1,2", "3,4,",
         "more than the 2 fields of the first data line: '3,4,'; check the delimiter (--delimiter)"),
        ("1 2", "3 x", f"the target id is not an integer: '3 x'; {TEXT_IDS}"),
        ("1 2", "+3 4", f"the source id is not an integer: '+3 4'; {TEXT_IDS}"),
        ("1 2", "3 1_0", f"the target id is not an integer: '3 1_0'; {TEXT_IDS}"),
        ("1 2", "3 4.0", f"the target id is not an integer: '3 4.0'; {TEXT_IDS}"),
        ("1 2", "3 -4-", f"the target id is not an integer: '3 -4-'; {TEXT_IDS}"),
        ("1 2", "- 4", f"the source id is not an integer: '- 4'; {TEXT_IDS}"),
        ("1 2", "-9223372036854775809 4",
         f"the source id is less than -2**63: '-9223372036854775809 4'; {TEXT_IDS}"),
        ("1 2", "3 9223372036854775808",
         f"the target id is larger than 2**63 - 1: '3 9223372036854775808'; {TEXT_IDS}"),
        ("1 2", "3 99999999999999999999999",
         f"the target id is larger than 2**63 - 1: '3 99999999999999999999999'; {TEXT_IDS}"),
        ("1,2", "3,", "the target id (column 2) is empty: '3,'; fix the line"),
        ("a,b", ",c", "the source id (column 1) is empty: ',c'; fix the line"),
        ("1 2 3", "3 4 x", "weight is not a number: '3 4 x'; leave the column out with --column weight=none "
         "(columns={'weight': None})"),
        ("1 2 3", "3 4 0x1",
         "weight is not a number: '3 4 0x1'; leave the column out with --column weight=none "
         "(columns={'weight': None})"),
        ("1 2 3", "3 4 1_0",
         "weight is not a number: '3 4 1_0'; leave the column out with --column weight=none "
         "(columns={'weight': None})"),
        ("1,2,3", "3,4,", "weight is not a number: '3,4,'; leave the column out with --column weight=none "
         "(columns={'weight': None})"),
        ("1 2 3 4", "3 4 5 NaN",
         "column3 is not a number (nan): '3 4 5 NaN'; leave the column out with --column column3=none "
         "(columns={'column3': None})"),
        ("1 2 3", "3 4 1e999",
         "weight is outside float64's range: '3 4 1e999'; leave the column out with --column weight=none "
         "(columns={'weight': None})"),
        ("1 2", "3 4\0", "a NUL byte; is it a text file?: '3 4\\x00'; check the file"),
        ("1 2", "3 4\r5 6",
         "a carriage return inside the line (old Mac line ends?): '3 4\\r5 6'; "
         "convert the file with tr '\\r' '\\n'"),
        ("a,b", '"c,d',
         "a double quote that does not close its field: '\"c,d'; double a quote that is part of a name"),
        ("a,b", '"c"x,d',
         "a double quote that does not close its field: '\"c\"x,d'; double a quote that is part of a name"),
        ("a b", "c \udcff", "the target id is not UTF-8: 'c \ufffd'; convert the file from its own "
         "encoding, as by iconv -f latin1 -t utf-8"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 3])
def test_bad_lines(tmp_path: Path, good: str, bad: str, message: str, size: int) -> None:
    text = f"{good}\n# c\n\n{good}\r\n{bad}\n{good}\n"
    path = written(tmp_path, text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError) as caught:
        run_ranks(size, lambda comm: read_edges(path, comm))
    assert str(caught.value) == f"{path}:5: {message}, {SKIP}"
    counts = run_ranks(size, lambda comm: read_edges(path, comm, on_bad_line="skip").counts)
    assert counts == [counts[0]] * size
    assert counts[0] | {"self_loops": 0} == {
        "lines": 6, "headers": 0, "comments": 1, "blanks": 1, "lines_rejected": 1, "edges_read": 3,
        "edges": 3, "self_loops": 0,
    }  # fmt: skip


def test_a_leading_zero_rescues_lines_that_integers_would_reject(tmp_path: Path) -> None:
    path = written(tmp_path, "1 2\nx 3\n" + "4 5\n" * 50 + "007 8\n")
    assert run_ranks(3, lambda comm: read_edges(path, comm).ids.kind) == ["str"] * 3


def test_so_many_bad_lines_and_no_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = written(tmp_path, "1 2\nx\ny\n3 4\n")
    assert rows(path, on_bad_line="skip", max_bad_lines=2) == [(1, 2), (3, 4)]
    why = f"{path}:2: 1 field where the first data line has 2: 'x'; check the delimiter (--delimiter), {SKIP}"
    assert caplog.messages == [f"2 of 4 lines left out as bad; the first: {why} (1 more bad line)"]
    with pytest.raises(InputError) as caught:
        rows(path, on_bad_line="skip", max_bad_lines=1)
    assert str(caught.value) == f"2 bad lines are more than the 1 allowed; the first: {why} (1 more bad line)"


def test_a_long_line_is_cut_in_messages(tmp_path: Path) -> None:
    path = written(tmp_path, "1 2\n" + "x" * 500 + " 1\n")
    with pytest.raises(InputError, match=re.escape(f"not an integer: '{'x' * 80}...; for")):
        rows(path)


# ---- files -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.txt", b"", "holds no edges (0 lines)"),
        ("g.txt", b"# a\n\n# b", "holds no edges (3 lines: 2 comments, 1 blank)"),
        ("g.csv", b"source,target\n", "holds no edges (1 line: 1 header)"),
        ("g.gz", b"1 2\n", "is named .gz but is not gzip data"),
        ("g.txt.gz", gzip.compress(b"1 2\n" * 1000, mtime=0)[:-20],
         "the gzip data ends too early; the file is truncated"),
        ("g.txt", b"PK\x03\x04xxxx", "is a zip archive; unpack it first (unzip)"),
        ("g.txt", b"BZh91AY", "is bzip2 data; decompress it first (bunzip2)"),
        ("g.txt", b"\xff\xfe1\x00 \x002\x00",
         "is UTF-16 text; convert it first (iconv -f utf-16 -t utf-8)"),
        ("g.txt", b"1" * (3 << 20), "no line end in 1048576 bytes from byte 0 on; is it a text file?"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("size", [1, 2])
def test_unreadable_files(tmp_path: Path, name: str, content: bytes, message: str, size: int) -> None:
    path = written(tmp_path, content, name)
    with pytest.raises(InputError) as caught:
        run_ranks(size, lambda comm: read_edges(path, comm))
    assert str(caught.value) == f"{path}: {message}"


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    for path, message in [
        (tmp_path / "absent.txt", "no such file"),
        (tmp_path, "is an empty folder"),
        (tmp_path / "*.csv", "no file matches"),
    ]:
        with pytest.raises(InputError) as caught:
            run_ranks(2, lambda comm, path=path: read_edges(path, comm))
        assert str(caught.value) == f"{path}: {message}"
    with pytest.raises(UsageError, match=r"^path=\[\]: at least one input file is needed$"):
        read_edges([], Comm())


def test_damaged_gzip_data_names_the_file(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(bytes(str(list(range(5000))), "ascii") + b"\n"))
    content[len(content) // 2] ^= 0xFF
    path = written(tmp_path, bytes(content), "g.gz")
    with pytest.raises(InputError, match=f"^{re.escape(str(path))}: the gzip data is damaged: "):
        rows(path)


def test_several_files_are_one_input_and_the_bad_line_is_in_the_first(tmp_path: Path) -> None:
    text = [f"{10 * k} {10 * k + 1}\n" * 40 for k in range(4)]
    paths = [written(tmp_path, part, f"{k}.txt") for k, part in enumerate(text)]
    zipped = tmp_path / "z.gz"
    # Two members, as concatenated gzip files are.
    zipped.write_bytes(gzip.compress(b"90 91\n") + gzip.compress(b"92 93"))
    every = sorted(row for part in run_ranks(3, lambda comm: rows([*paths, zipped], comm)) for row in part)
    assert every == sorted([(10 * k, 10 * k + 1) for k in range(4) for _ in range(40)] + [(90, 91), (92, 93)])
    paths[1].write_text(text[1] + "bad\n")
    paths[2].write_text("bad\n" + text[2])
    with pytest.raises(
        InputError, match=f"^{re.escape(str(paths[1]))}:41: 1 field .*; .* \\(1 more bad line\\)$"
    ):
        run_ranks(3, lambda comm: read_edges(paths, comm))


def test_the_first_of_duplicates_is_the_first_in_the_files(tmp_path: Path) -> None:
    """The large gzip file comes second and goes to rank 0: ranks are not in the order of files."""
    paths = [tmp_path / name for name in ("a.gz", "b.gz", "c.txt")]
    paths[0].write_bytes(gzip.compress(b"1 2 10\n"))
    paths[1].write_bytes(
        gzip.compress(b"1 2 20\n" + b"".join(b"%d 3 0\n" % (i * i % 7919) for i in range(5000)))
    )
    paths[2].write_bytes(b"1 2 30\n4 4 40\n")
    kept = run_ranks(2, lambda comm: rows(paths, comm, drop_duplicates=True))
    assert [row for part in kept for row in part if row[:2] == (1, 2)] == [(1, 2, 10)]
