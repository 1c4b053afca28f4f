"""Fields between two of the same character, ``::`` first of all, and the rating files of MovieLens."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.cli import main
from gaslab.errors import InputError, UsageError
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.ingest.test_ingest import read_back
from tests.ingest.test_matrixmarket import on_all
from tests.mpi.launcher import REAL
from tests.mpi.ranks import Ranks

ML100K = REAL / "ratings" / "ml-100k"

WORD = st.text("ab:,1 \t", max_size=4)
FIELD = st.one_of(st.integers(0, 99).map(str), WORD)


@given(
    st.sampled_from(["::", ",,", "||", ";;"]),
    st.lists(st.tuples(FIELD, FIELD, st.integers(-9, 9), WORD), min_size=1, max_size=9),
    st.sampled_from(["\n", "\r\n"]), st.booleans(), st.booleans(),
)  # fmt: skip
def test_fields_are_what_stands_between_two(
    tmp_path_factory: pytest.TempPathFactory, two: str, rows: Any, end: str, last: bool, text: bool
) -> None:
    """Against str.split; a line of which that makes no edge is left out."""
    lines = ["1" + two + "2" + two + "3" + two + "x", *(two.join(map(str, row)) for row in rows)]
    path = tmp_path_factory.getbasetemp() / "two.txt"
    path.write_bytes((end.join(lines) + end * last).encode())
    expected = []
    for line in lines:
        fields = [field.strip(" \t") for field in line.split(two)]
        integers = all(field.isdigit() and (field == "0" or field[0] != "0") for field in fields[:2])
        number = len(fields) == 4 and fields[2].lstrip("-").isdigit()
        if number and all(fields[:2]) and (text or integers):
            ends = fields[:2] if text else map(int, fields[:2])
            expected.append((*ends, int(fields[2])))
    options = {"ids": "str" if text else "int", "columns": ["weight"], "on_bad_line": "skip"}
    found = on_all(path, delimiter=two, **options)
    assert found[0] == sorted(expected)
    if two == "::" and not any(mark in lines[0] for mark in ", \t"):
        assert on_all(path, **options)[0] == found[0]


RATINGS = "1::1193::5::978300760\n1::661::3::978302109\n2::1193::4::978298413\n"


def _rated(comm: Comm, path: str, options: dict[str, Any]) -> tuple[Any, ...]:
    edges = read_edges(path, comm, bipartite=True, **options)
    columns = {name: column.dtype.name for name, column in edges.columns.items()}
    return read_back(comm, path, {"bipartite": True, **options})[0], columns, edges.ids.num_left


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("ratings.dat", RATINGS, ["weight", "column3"]),
        ("u.data", RATINGS.replace("::", "\t"), ["weight", "column3"]),
        ("ratings.csv", "userId,movieId,rating,timestamp\n" + RATINGS.replace("::", ","),
         ["rating", "timestamp"]),
        ("ratings.txt", "UserID::MovieID::Rating::Timestamp\n" + RATINGS, ["Rating", "Timestamp"]),
    ],
)  # fmt: skip
def test_ratings_of_movielens(ranks: Ranks, tmp_path: Path, name: str, text: str, columns: list[str]) -> None:
    rows = sorted(tuple(map(int, line.split("::"))) for line in RATINGS.splitlines())
    for zipped in (False, True):
        path = tmp_path / (name + ".gz" * zipped)
        path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
        for found in ranks.run(_rated, str(path), {}):
            assert found == (rows, dict.fromkeys(columns, "int64"), 2)
        bound = {"rating": columns[0], columns[1]: None}
        assert ranks.run(_rated, str(path), {"columns": bound})[0][1] == {"rating": "int64"}
    half = tmp_path / "half.dat"
    half.write_text(text.replace("3", "3.5").replace("119", "11"))
    assert ranks.run(_rated, str(half), {})[0][1][columns[0]] == "float64"


def test_a_command_reads_ratings(tmp_path: Path) -> None:
    path, out = tmp_path / "ratings.dat", tmp_path / "out.tsv"
    path.write_text(RATINGS)
    for more in ([], ["--delimiter", "::"]):
        assert main(["degrees", str(path), "--bipartite", "--quiet", "--force", "-o", str(out), *more]) == 0
        assert out.read_text() == "1\t0\t0\t2\t2\n2\t0\t0\t1\t1\n661\t1\t1\t0\t1\n1193\t1\t2\t0\t2\n"


@pytest.mark.parametrize(
    ("text", "options", "rows"),
    [
        ("std::vector std::list\n", {}, [("std::vector", "std::list")]),
        ("std::vector\tstd::list\t1\n", {}, [("std::vector", "std::list", 1)]),
        ("std::vector,std::list\n", {}, [("std::vector", "std::list")]),
        ("std::vector;std::list\n", {"delimiter": ";"}, [("std::vector", "std::list")]),
        ("a::b\n", {"delimiter": ":", "columns": [], "on_bad_line": "skip"}, None),
        ("a b\nc::d e\n", {}, [("a", "b"), ("c::d", "e")]),
        ("a::b\n", {}, [("a", "b")]),
        ("a::b:c\n", {}, [("a", "b:c")]),
        ("a:::b\n", {}, [("a", ":b")]),
        ('"a::b"::c\n"x"::"y ""z"""\n', {}, [("a::b", "c"), ("x", 'y "z"')]),
        ("# a::b\n\n1::2\n", {}, [(1, 2)]),
        (" 1 :: 2 \n", {"delimiter": "::"}, [(1, 2)]),
    ],
)  # fmt: skip
def test_what_two_colons_mean(tmp_path: Path, text: str, options: Any, rows: Any) -> None:
    path = tmp_path / "edges.txt"
    path.write_text(text)
    if rows is None:
        with pytest.raises(InputError):
            read_edges(path, Comm(), **options)
    else:
        assert on_all(path, **options)[0] == sorted(rows)


@pytest.mark.parametrize("delimiter", [":::", ":;", "--", "..", '""', "  ", "\t\t", "aa", "11", "::x", ""])
def test_what_cannot_stand_between(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "edges.txt"
    path.write_text("1 2\n")
    with pytest.raises(UsageError, match=f"delimiter={re.escape(repr(delimiter))} cannot be used; give "):
        read_edges(path, Comm(), delimiter=delimiter)


def test_a_bad_line_between_two_colons(tmp_path: Path) -> None:
    path = tmp_path / "ratings.dat"
    for wrong, what in (
        ("1::2:3::4", "3 fields where the first data line has 4"),
        ("1::2::3::4::5", "more than the 4 fields of the first data line"),
        ("1:: ::3::4", "the target id (column 2) is empty"),
        ('1::"2"x::3::4', "a double quote that does not close its field"),
        ("1::2::3:::4", "column3 is not a number"),
    ):
        path.write_text(RATINGS + wrong)
        with pytest.raises(InputError) as error:
            read_edges(path, Comm())
        assert str(error.value).startswith(f"{path}:4: {what}: {wrong!r}")


def test_movielens_100k() -> None:
    path = ML100K / "u.data.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    graph = gl.read_graph(str(path), bipartite=True)
    assert (graph.num_left, graph.num_vertices, graph.num_edges) == (943, 943 + 1682, 100_000)
    assert list(graph.edge_columns) == ["weight", "column3"]
