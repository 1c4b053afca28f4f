"""The layout of edge lists: decided from whole first lines, checked on all of them, by every reader."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import gaslab as gl
from gaslab.cli import main
from gaslab.errors import InputError
from gaslab.ingest.layout import SAMPLE
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.threadcomm import run_ranks


def written(folder: Path, text: str | bytes, name: str = "g.txt") -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def _read(comm: Comm, path: Path, options: dict[str, Any]) -> list[tuple[Any, ...]]:
    edges = read_edges(path, comm, **options)
    ends = [edges.ids.lookup(end).tolist() for end in (edges.src, edges.dst)]
    columns = [column.tolist() for column in edges.columns.values()]
    return sorted(row for part in comm.allgather(list(zip(*ends, *columns, strict=True))) for row in part)


def rows(path: Path, **options: Any) -> list[tuple[Any, ...]]:
    """Return the edges, the same on 1 and on 3 ranks, kept columns or not."""
    found = [part for size in (1, 3) for part in run_ranks(size, lambda comm: _read(comm, path, options))]
    assert all(part == found[0] for part in found)
    if "columns" not in options:
        bare = run_ranks(1, lambda comm: _read(comm, path, {**options, "columns": []}))[0]
        assert bare == sorted(row[:2] for row in found[0])
    return found[0]


def refused(path: Path, **options: Any) -> str:
    """Return the error, the same on 1 and on 3 ranks, without the path."""
    found = set()
    for size in (1, 3):
        with pytest.raises(InputError) as caught:
            run_ranks(size, lambda comm: _read(comm, path, options))
        found.add(str(caught.value).removeprefix(str(path)))
    (message,) = found
    return message


def warned(path: Path, **options: Any) -> list[str]:
    """Return the warnings of one read, without the path."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        read_edges(path, Comm(), **options)
    return [str(one.message).removeprefix(str(path)) for one in caught if one.category is UserWarning]


# ---- delimiters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("John Smith\tMary Jones\n", [("John Smith", "Mary Jones")]),
        ("New York\tLos Angeles\nRome\tOslo\n", [("New York", "Los Angeles"), ("Rome", "Oslo")]),
        ("1\t2\n3   4\n \t5 6", [(1, 2), (3, 4), (5, 6)]),
        ("1\t2\t\n3\t4\n", [(1, 2), (3, 4)]),
        ("1\t2\t\n3\t4\t\n", [(1, 2), (3, 4)]),
        ("1;2\n3;4\n", [(1, 2), (3, 4)]),
        ("New York,Boston\nSan Jose,Miami\n", [("New York", "Boston"), ("San Jose", "Miami")]),
        ("a, b\nc, d\n", [("a", "b"), ("c", "d")]),
        ("u?x=1,2 v\nx y\n", [("u?x=1,2", "v"), ("x", "y")]),
        ("1::2::3\n", [(1, 2, 3)]),
        ("std::vector std::list\n", [("std::vector", "std::list")]),
    ],
)
def test_the_delimiter_divides_all_lines_alike(tmp_path: Path, text: str, wanted: list[Any]) -> None:
    assert rows(written(tmp_path, text)) == sorted(wanted)


@pytest.mark.parametrize("text", ["a;b;0,5\n", "1,2 3,4\n5,6 7,8\n", "a;b,c;d\n"])
def test_two_delimiters_that_fit_are_refused(tmp_path: Path, text: str) -> None:
    message = refused(written(tmp_path, text))
    assert re.match(r":1: comma and \w+ both fit all lines; name the delimiter, --deli", message)


@pytest.mark.parametrize("options", [{}, {"delimiter": ";"}, {"columns": ["weight"]}])
def test_decimal_commas_are_refused_where_they_stand(tmp_path: Path, options: dict[str, Any]) -> None:
    assert refused(written(tmp_path, "1;2;0,5\n3;4;1\n"), **options).startswith(
        ":1: weight has a decimal comma: '1;2;0,5'; write it with a point, or leave the column out with "
        "--column weight=none (columns={'weight': None})"
    )


@pytest.mark.parametrize("command", ["components", "degrees", "pagerank", "bfs"])
def test_commands_read_ids_with_spaces_whole(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ["--source", "John Smith"] if command == "bfs" else []
    path = written(tmp_path, "John Smith\tMary Jones\n")
    assert main([command, str(path), "--quiet", *more]) == 0
    assert ("John Smith" if command == "components" else "Mary Jones") in capsys.readouterr().out
    path = written(tmp_path, "John Smith Mary Jones\n")
    more = ["--source", "John"] if command == "bfs" else []
    assert main([command, str(path), "--quiet", *more]) == 1
    assert f"{path}:1: weight is not a number: 'John Smith Mary Jones'" in capsys.readouterr().err


def test_between_blanks_a_further_field_is_a_number_kept_or_not(tmp_path: Path) -> None:
    path = written(tmp_path, "a b 1\n" * 300 + "c d e\n")
    for options in ({}, {"columns": []}):
        assert refused(path, **options).startswith(":301: weight is not a number: 'c d e'; ")
    assert len(rows(path, columns={"weight": None})) == 301


# ---- quotes and empty ids --------------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["\t", " ", ",", ";", "::"])
def test_quotes_are_no_part_of_a_field(tmp_path: Path, cut: str) -> None:
    lines = [cut.join(['"a"', '"b c"']), cut.join(["d", '"e ""f"""'])]
    assert rows(written(tmp_path, "\n".join(lines))) == [("a", "b c"), ("d", 'e "f"')]
    message = refused(written(tmp_path, f'a{cut}b\nc{cut}"d\n'))
    assert message.startswith(":2: a double quote that does not close its field: ")


@pytest.mark.parametrize(
    ("text", "where"),
    [("a,b\n,c\n", ":2: the source id (column 1)"), (",c\n", ":1: the source id (column 1)"),
     ('a b\nb ""\n', ":2: the target id (column 2)"), ("a\tb\nc\t\n", ":2: the target id (column 2)")],
)  # fmt: skip
def test_an_empty_id_is_an_error_with_its_place(tmp_path: Path, text: str, where: str) -> None:
    assert refused(written(tmp_path, text), delimiter="tab" if "\t" in text else None).startswith(
        f"{where} is empty: "
    )


# ---- columns ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", ["NA", "", "null", "-"])
@pytest.mark.parametrize("at", [0, 1, 5, 2 * SAMPLE])
def test_the_first_row_without_a_number_is_an_error(tmp_path: Path, bad: str, at: int) -> None:
    lines = [f"{k},{k + 1},0.5" for k in range(3 * SAMPLE)]
    lines[at] = f"7,8,{bad}"
    path = written(tmp_path, "\n".join(lines))
    message = refused(path)
    assert message.startswith(f":{at + 1}: weight is not a number: '7,8,{bad}'; leave the column out with ")
    assert "--column weight=none (columns={'weight': None})" in message
    assert len(rows(path, columns={"weight": None})) == 3 * SAMPLE
    assert main(["sssp", str(path), "--source", "0", "--quiet"]) == 1


def test_a_column_of_text_is_left_out_with_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, "1,2,x\n3,4,y\n")
    what = (
        ": column 'weight' is text and left out; columns={'weight': None} (--column weight=none) leaves "
        "'weight' out silently"
    )
    assert warned(path) == [what]
    assert warned(path, columns={"weight": None}) == warned(path, columns=[]) == []
    assert rows(path) == [(1, 2), (3, 4)]
    assert main(["convert", str(path)]) == 0
    assert f"warning: {path}{what}" in capsys.readouterr().err
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for size in (1, 3):  # every rank raises, none waits
            with pytest.raises(UserWarning, match="is text and left out"):
                run_ranks(size, lambda comm: _read(comm, path, {}))
    for columns, name in ((["weight"], "weight"), ({"w": 2}, "w"), ({"w": "weight"}, "w")):
        assert refused(path, columns=columns).startswith(f":1: {name} is not a number: '1,2,x'; ")
    path = written(tmp_path, "1,2,x\n" * 300 + "3,4,5\n")
    assert refused(path).startswith(":301: weight is a number, and text in the first lines: '3,4,5'; ")


# ---- headers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Node1 Node2\n1 2\n3 4\n", [(1, 2), (3, 4)]),
        ("from_id;to_id\n1;2\n", [(1, 2)]),
        ("source, target\na, b\n", [("a", "b")]),
        ("target\tsource\na\tb\n", [("b", "a")]),
        ("userId,movieId,rating\n1,2,3.5\n", [(1, 2, 3.5)]),
    ],
)
def test_a_plain_header_is_no_edge(tmp_path: Path, text: str, wanted: list[Any]) -> None:
    path = written(tmp_path, text)
    assert rows(path) == wanted
    assert warned(path) == []


OPTIONS = "; pass header=True (--header) if it names the columns, header=False (--no-header) if it is an edge"


@pytest.mark.parametrize(
    ("text", "what", "wanted"),
    [
        ("x y\n1 2\n3 4\n", "is taken as a header, since its ids are text above numbers: 'x y'",
         [(1, 2), (3, 4)]),
        ("user,item\nann,Alien\n", "is taken as a header because of its words: 'user,item'",
         [("ann", "Alien")]),
        ("from to\nfrom x\n",
         "has words of a header and is taken as an edge, since 'from' is an id below it: 'from to'",
         [("from", "to"), ("from", "x")]),
        ("Node1 Node2\nNode3 Node4\n",
         "has words of a header and is taken as an edge, since 'Node3' is an id below it: 'Node1 Node2'",
         [("Node1", "Node2"), ("Node3", "Node4")]),
        ("a 2\n1 3\n4 5\n", "has an id that is text, and all below it are numbers; all ids are text: 'a 2'",
         [("1", "3"), ("4", "5"), ("a", "2")]),
    ],
)  # fmt: skip
def test_a_doubtful_first_line_is_warned_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, what: str, wanted: list[Any]
) -> None:
    path = written(tmp_path, text)
    assert rows(path) == wanted
    assert warned(path) == [f":1: the first line {what}{OPTIONS}"]
    assert main(["degrees", str(path)]) == 0
    assert f"warning: {path}:1: the first line {what}" in capsys.readouterr().err
    for header in (True, False):
        assert warned(path, header=header, ids="str") == []


def test_a_line_with_number_ids_is_no_header(tmp_path: Path) -> None:
    path = written(tmp_path, "1::2::3::x\n0::0::0::1\n")
    for options in ({}, {"delimiter": "::"}):
        message = refused(path, **options)
        assert message.startswith(":1: column3 is not a number: '1::2::3::x'; leave the column out with ")
        assert "pass --header (header=True) if the line names the columns" in message
    assert rows(path, columns={"column3": None}) == [(0, 0, 0), (1, 2, 3)]
    assert refused(written(tmp_path, "n1,n2,cost\na,b,3\n")).startswith(":1: weight is not a number: ")


def test_joined_files_may_repeat_a_header_in_the_middle(tmp_path: Path) -> None:
    path = written(tmp_path, "source,target\n1,2\nsource,target\n3,4\n")
    assert refused(path).startswith(":3: the source id is not an integer: 'source,target'; ")


# ---- other formats ---------------------------------------------------------------------------------


@pytest.mark.parametrize("banner", ["%MatrixMarket", "%% MatrixMarket", "% matrixmarket", "%%%MatrixMarket"])
def test_a_line_that_is_nearly_a_banner_is_no_comment(tmp_path: Path, banner: str) -> None:
    path = written(tmp_path, f"{banner} matrix coordinate real general\n2 2 1\n1 2 3\n")
    assert refused(path).startswith(f":1: a MatrixMarket file begins with %%MatrixMarket, not '{banner} ")
    assert main(["degrees", str(path), "--quiet"]) == 1
    assert rows(path, format="edges", columns=[]) == [(1, 2), (2, 2)]


def paths_of_text(comm: Comm, path: str) -> tuple[dict[str, str], list[float], list[str], str]:
    """Return what a file's column of text leads to: as a graph, by default, and where it is named."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        graph = gl.read_graph(path, comm=comm)
        seen.clear()
        distances = gl.sssp(graph, 1).vertices["distance"].tolist()
        said = [str(one.message) for one in seen]
    with pytest.raises(gl.UsageError) as caught:
        gl.sssp(graph, 1, weight="weight")
    return graph.left_out, distances, said, str(caught.value)


def test_a_default_in_place_of_a_column_of_text_is_a_warning(ranks: Ranks, tmp_path: Path) -> None:
    path = tmp_path / "roads.csv"
    path.write_text("1,2,far\n2,3,near\n")
    why = "the graph has no edge column 'weight': it was left out of the input (text)"
    why += "; make it numbers on every edge"
    for rank, found in enumerate(ranks.run(paths_of_text, str(path))):
        left_out, distances, said, error = found
        assert (left_out, distances, error) == ({"weight": "text"}, [0.0, 1.0, 2.0], why)
        assert said == [f"every edge has length 1, as {why}"] * (rank == 0)
