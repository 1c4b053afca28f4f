"""Files of reports about other systems: the right edges, or an error that names the line, read either way."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.command_line import Run, gaslab, on_ranks, rows
from tests.support.inputs import File, Refused, check_command, check_file

__all__ = ["gaslab"]  # a fixture
HEAD = b"%%MatrixMarket matrix coordinate real general\n"
SIZES = b"2 2 1\n1 2 0.5\n"
LINES = ["0\t1", "1\t2"]
LOST_PERCENT = Refused(":1: a MatrixMarket file begins with %%MatrixMarket")
STAR = b"%%MatrixMarket matrix coordinate pattern general\n5 5 4\n1 2\n1 3\n1 4\n1 5\n"
MEMBERS = b"".join(gzip.compress(part) for part in (b"0 1\n1", b" 2\n", b"2 3\n"))
WEIGHED = ["1\t2\t0.5", "1\t3\t0.0", "2\t3\t0.8"]
QUOTED = ["a\tb", "c\td"]

FILES = {
    "wide integers": File(
        "cugraph#488, graphia#74", "ids.txt", b"5 4294967297\n4294967297 9223372036854775807\n",
        ["5\t4294967297", "4294967297\t9223372036854775807"],
    ),
    "beyond 64 bits": File(
        "cugraph#488, graphia#74", "ids.txt", b"5 6\n5 9223372036854775808\n", Refused(":2: .*--ids str")
    ),
    "negative, as text": File(
        "cugraph#488, graphia#74", "ids.txt", b"-5 6\n", ["-5\t6"], {"ids": "str"}, ("--ids", "str")
    ),
    "negative": File("cugraph#488, graphia#74", "ids.txt", b"-5 6\n7 -5\n", ["-5\t6", "7\t-5"]),
    "minus zero": File("cugraph#488, graphia#74", "ids.txt", b"-0 6\n7 -5\n", ["-0\t6", "7\t-5"]),
    "leading zeros": File("Raphtory#1315", "names.txt", b"01 001\n1 01\n", ["01\t001", "1\t01"]),
    "a star": File("essentials#9", "star.mtx", STAR, ["1\t2", "1\t3", "1\t4", "1\t5"]),
    "an edge of length 0": File(
        "SimpleWeightedGraphs#24, KaHIP#58", "zero.txt", b"1 2 .5\n2 3 .8\n1 3 0.0\n", WEIGHED,
        {"directed": False}, ("--undirected",),
    ),
    "a zero that is stored": File(
        "SimpleWeightedGraphs#24, KaHIP#58", "zero.mtx",
        b"%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 .5\n3 2 .8\n3 1 0.0\n",
        ["2\t1\t0.5", "3\t1\t0.0", "3\t2\t0.8"],
    ),
    "one % of two": File(
        "MatrixMarket.jl#37, networkit#997", "one.mtx", HEAD[1:] + SIZES, LOST_PERCENT
    ),
    "one % of two, another name": File(
        "MatrixMarket.jl#37, networkit#997", "one.txt", HEAD[1:] + SIZES, LOST_PERCENT
    ),
    "upper-case words": File(
        "MatrixMarket.jl#37, networkit#997", "upper.mtx",
        b"%%MatrixMarket MATRIX COORDINATE REAL GENERAL\n" + SIZES, ["1\t2\t0.5"],
    ),
    "no line of sizes": File(
        "scipy#20099", "sizes.mtx", HEAD + b"1 2 0.5\n2 1 0.5\n", Refused(":2: the size of the matrix")
    ),
    "nothing but a header": File("scipy#20099", "cut.mtx", HEAD, Refused(":1: the size .* is missing")),
    "an entry in row 0": File(
        "gunrock#766", "zero.mtx", HEAD + b"2 2 1\n0 1 0.5\n", Refused(":3: the row is not from 1 to 2")
    ),
    "a blank first line": File("gunrock#292", "blank.mtx", b"\n" + HEAD + SIZES, Refused(":1: ")),
    "a byte-order mark": File("gephi#1814, nebula-importer#138", "bom.txt", b"\xef\xbb\xbf0 1\n1 2\n", LINES),
    "a byte-order mark, text": File(
        "gephi#1814, nebula-importer#138", "bom.csv", b"\xef\xbb\xbfa,b\nc,d\n", QUOTED
    ),
    "CRLF": File("glasgow-subgraph-solver#7", "crlf.txt", b"0 1\r\n1 2\r\n", LINES),
    "CRLF, weights": File(
        "glasgow-subgraph-solver#7", "crlf.csv", b"0,1,.5\r\n1,2,.8\r\n", ["0\t1\t0.5", "1\t2\t0.8"]
    ),
    "no newline at the end": File("snap-python#100", "cut.txt", b"0 1\n1 2", LINES),
    "blanks at the end of lines": File("kg-microbe#1041", "blanks.txt", b"0 1 \t\n1 2\t \n", LINES),
    "tabs at the end of lines": File("kg-microbe#1041", "tabs.tsv", b"0\t1\t\n1\t2\t\n", LINES),
    "quotes and semicolons": File("gephi#955", "quoted.csv", b'"a";"b"\n"c";"d"\n', QUOTED),
    "quotes and commas": File("gephi#955", "quoted.csv", b'"a","b"\n"c","d"\n', QUOTED),
    "a header with a blank": File("gephi#1461", "head.csv", b"source, target\na, b\nc, d\n", QUOTED),
    "ids with blanks": File(
        "networkx#5911", "towns.tsv", b"New York\tLos Angeles\n", ["New York\tLos Angeles"]
    ),
    "dl": File("socnetv#66", "dl.txt", b"dl b\nb c\n", ["dl\tb", "b\tc"]),
    "gzip members": File("polars#1126, polars#28787", "members.txt.gz", MEMBERS, ["0\t1", "1\t2", "2\t3"]),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_files(ranks: Ranks, name: str, tmp_path: Path) -> None:
    check_file(ranks, FILES[name], tmp_path)


@pytest.mark.parametrize("name", FILES)
def test_files_on_the_command_line(gaslab: Run, name: str, tmp_path: Path) -> None:
    check_command(gaslab, 1, FILES[name], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_files_on_the_command_line_of_three_ranks(gaslab: Run, name: str, tmp_path: Path) -> None:
    check_command(gaslab, 3, FILES[name], tmp_path)


# ---- more than reading -----------------------------------------------------------------------------


def negative_ids(comm: Comm, path: str) -> tuple[dict[int, int], dict[int, int]]:
    """Return the degrees and the components of a file with negative ids; for `Ranks.run`."""
    graph = gl.read_graph(path, comm=comm)
    edges = gl.degrees(graph).vertices.to_dict("edges")
    return edges, gl.components(graph).vertices.to_dict("component")


@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_a_negative_id_is_kept(ranks: Ranks, tmp_path: Path) -> None:
    path = tmp_path / "negative.txt"
    path.write_text("-5 6\n6 7\n-9223372036854775808 8\n")
    least = -(1 << 63)
    edges = {least: 1, -5: 1, 6: 2, 7: 1, 8: 1}
    component = {least: least, -5: -5, 6: -5, 7: -5, 8: least}
    assert ranks.run(negative_ids, str(path)) == [(edges, component)] * ranks.size


def distances(comm: Comm, path: str) -> list[float]:
    return gl.sssp(gl.read_graph(path, comm=comm), 1).vertices["distance"].tolist()


@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_paths_from_the_middle_of_a_star(ranks: Ranks, gaslab: Run, tmp_path: Path) -> None:
    """essentials#9: the run does not end there."""
    path, target = tmp_path / "star.mtx", tmp_path / "distances.tsv"
    path.write_bytes(STAR)
    expected = [0.0, 1.0, 1.0, 1.0, 1.0]
    assert ranks.run(distances, str(path)) == [expected] * ranks.size
    words = ("sssp", path, "--source", 1, "-q", "-o", target)
    done = gaslab(*words) if ranks.size == 1 else on_ranks(3, *words)
    assert done.code == 0, done.err
    assert rows(target.read_text()) == dict(enumerate(expected, 1))


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_negative_weight_names_the_edge(gaslab: Run, ranks: int, tmp_path: Path) -> None:
    """gapbs#32, CXXGraph#166, socnetv#277: a crash, or an answer."""
    path = tmp_path / "weights.txt"
    path.write_text("1 2 3\n2 3 -1\n")
    words = ("sssp", path, "--source", 1, "--column", "weight=weight", "-q")
    done = gaslab(*words) if ranks == 1 else on_ranks(ranks, *words)
    assert done.code in (1, 2)
    assert "is -1 on the edge 2 -> 3; at least 0 is needed" in done.err
    assert "Traceback" not in done.err
