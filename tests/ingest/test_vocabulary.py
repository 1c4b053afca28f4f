"""Bag-of-words graphs whose words are named by a vocabulary: integers on the left, text on the right."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.cli.job import read_rows, read_values
from gaslab.errors import UsageError, VertexNotFound
from gaslab.ingest.problems import TO_UTF8
from gaslab.ingest.read import read_edges
from gaslab.parallel.comm import Comm
from gaslab.results.writers import Target, write_table
from tests.ingest.test_bagofwords import DATASETS, ENTRY, written
from tests.ingest.test_matrixmarket import error_on_all, on_all
from tests.mpi.ranks import Ranks

BAG = "4\n3\n4\n1 1 2\n3 2 1\n1 3 5\n1 3 1\n"  # zebra apple État
ROWS = [(1, 0, 3), (2, 0, 0), (3, 0, 1), (4, 0, 0), ("apple", 1, 1), ("zebra", 1, 1), ("État", 1, 2)]


@pytest.fixture
def paths(tmp_path: Path) -> tuple[str, str]:
    return str(written(tmp_path, BAG)), str(written(tmp_path, "zebra\napple\nÉtat\n", "vocab.txt"))


def rows_of(table: Any) -> list[Any]:
    return list(zip(*(table[name].tolist() for name in (*table.keys, *table.columns)), strict=True))


WORDS = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\n\r"), min_size=1, max_size=5)
    .map(lambda word: word.strip(" \t"))
    .filter(bool),
    min_size=9, max_size=9, unique=True,
)  # fmt: skip


@pytest.mark.slow
@given(
    st.lists(ENTRY, max_size=25), WORDS, st.booleans(), st.booleans(), st.sampled_from(["\n", "\r\n", " \n"])
)
def test_words_are_the_ids_of_the_right(
    tmp_path_factory: pytest.TempPathFactory,
    entries: Any,
    words: list[str],
    zipped: bool,
    last: bool,
    end: str,
) -> None:
    folder = tmp_path_factory.getbasetemp()
    bag = written(folder, f"6\n9\n{len(entries)}\n" + "".join(f"{d} {w} {n}\n" for d, w, n in entries))
    text = end.join(words) + end * last
    vocabulary = written(folder, text, "vocab.txt" + ".gz" * zipped)
    found = on_all(bag, vocabulary=str(vocabulary))
    assert found[0] == sorted((d, words[w - 1], n) for d, w, n in entries)
    assert found[1] == 15
    edges = read_edges(bag, Comm(), vocabulary=vocabulary)
    assert edges.ids.marked(range(15)) == [*range(1, 7), *map(gl.right, sorted(words))]


def _through(comm: Comm, bag: str, vocabulary: str, folder: str) -> list[Any]:
    graph = gl.read_graph(bag, vocabulary=vocabulary, comm=comm)
    found: list[Any] = [graph.fingerprint, graph.num_left, graph.ids.kind]
    for on in ("all", "root", "local"):
        table = gl.degrees(graph, on=on).vertices.select("edges")
        found.append(rows_of(table))
        for ending in (".tsv", ".csv", ""):
            target = Target(f"{folder}/{on}{ending or '/'}", True)
            if on == "local":
                write_table(comm, target, table, graph.num_vertices)
    label = gl.components(graph, engine="sync").vertices
    assert label.to_dict() == gl.components(graph, engine="reference").vertices.to_dict()
    found.append(label.to_dict("component"))
    found.append(gl.bfs(graph.to_undirected(), source=gl.right("zebra")).vertices.to_dict("level"))
    found.append(graph.ids.find([3, gl.right("zebra"), gl.right("État")]).tolist())
    found.append(graph.ids.named(range(7)))
    found.append([graph.ids.from_text(text) for text in ("3", "left:3", "right:zebra", "right:3")])
    chosen = graph.vertices([1, gl.right("État")])
    found.append([repr(chosen), graph.subgraph(chosen).num_edges, list(graph.neighbors(chosen, gl.OUT))])
    found.append(graph.subgraph(chosen).ids.marked([0, 1]))
    cut = graph.partitioned("2d") if comm.size in (1, 4) else graph
    found.append(rows_of(gl.degrees(cut).vertices.select("edges")))
    return found


def test_every_answer_names_them(ranks: Ranks, paths: tuple[str, str], tmp_path: Path) -> None:
    alone = _through(Comm(), *paths, str(tmp_path))
    assert alone[1:3] == [4, "object"]
    assert alone[3] == alone[4] == alone[5] == alone[-1] == ROWS
    assert {one: level for one, level in alone[7].items() if level >= 0} == {
        ("zebra", 1): 0, (1, 0): 1, ("État", 1): 2}  # fmt: skip
    assert alone[8] == [2, 5, 6]
    assert alone[9][3:5] == ["4 (left)", "apple (right)"]
    assert alone[10] == [3, 3, gl.right("zebra"), gl.right("3")]
    assert alone[12] == [1, gl.right("État")]
    text = "".join(f"{one}\t{side}\t{count}\n" for one, side, count in ROWS)
    assert (tmp_path / "local.tsv").read_text() == text
    found = ranks.run(_through, *paths, str(tmp_path))
    for rank, answer in enumerate(found):
        assert answer[3] == ROWS
        assert answer[4] == (ROWS if rank == 0 else [])
        assert answer[:3] + answer[6:] == alone[:3] + alone[6:]
    assert sorted(map(str, ROWS)) == sorted(str(row) for answer in found for row in answer[5])
    assert (tmp_path / "local.tsv").read_text() == text
    assert (tmp_path / "local.csv").read_text() == "id,side,edges\n" + text.replace("\t", ",")
    parts = [(tmp_path / "local" / f"part-{rank:05d}.tsv").read_text() for rank in range(ranks.size)]
    assert sorted("".join(parts).splitlines()) == sorted(text.splitlines())


def test_tables_keep_the_kinds(paths: tuple[str, str]) -> None:
    table = gl.components(gl.read_graph(paths[0], vocabulary=paths[1])).vertices
    left, right = table.side(0), table.side(1)
    assert (left.ids.dtype.name, right.ids.dtype.name) == ("int64", "object")
    assert left.ids.tolist() == [1, 2, 3, 4]
    assert left.to_pandas().index.dtype.name == "int64"
    assert right.to_dict("component") == {"apple": 3, "zebra": 1, "État": 1}
    assert table.to_pandas()["component"].loc[("apple", 1)] == 3
    assert table.to_arrow()["id"].to_pylist() == ["1", "2", "3", "4", "apple", "zebra", "État"]
    assert left.to_arrow()["id"].to_pylist() == [1, 2, 3, 4]
    assert str(right.to_arrow()["id"].type) == "string"
    assert [line.split()[0] for line in repr(table).splitlines()[2:]] == [str(one) for one, *_ in ROWS]


def test_values_of_both_kinds_come_back(paths: tuple[str, str], tmp_path: Path) -> None:
    graph = gl.read_graph(paths[0], vocabulary=paths[1])
    values = tmp_path / "values.tsv"
    values.write_text("2\t0\t1.5\napple\t1\t2.5\n")
    assert read_values(str(values), graph) == {2: 1.5, gl.right("apple"): 2.5}
    assert read_rows(str(values), graph) == {2: [1.5], gl.right("apple"): [2.5]}
    table = tmp_path / "table.tsv"
    table.write_text("id\tside\tx\n2\t0\t1.5\napple\t1\t2.5\n")
    read = graph.with_vertices(str(table), default=0.0)
    same = graph.with_vertices({"id": [2, "apple"], "side": [0, 1], "x": [1.5, 2.5]}, default=0.0)
    again = graph.with_vertices(gl.degrees(graph).vertices)
    names = graph.ids.marked(graph.local.gid)
    for made, name, expected in (
        (read, "x", {2: 1.5, gl.right("apple"): 2.5}), (same, "x", {2: 1.5, gl.right("apple"): 2.5}),
        (again, "edges", {gl.right(one) if side else one: count for one, side, count in ROWS}),
    ):  # fmt: skip
        values = dict(zip(names, made.vertex_columns[name].tolist(), strict=True))
        assert values == dict.fromkeys(names, 0) | expected


def test_words_that_are_not_there(paths: tuple[str, str]) -> None:
    graph = gl.read_graph(paths[0], vocabulary=paths[1])
    for wanted, text in (
        (gl.right("aple"), "vertex 'aple' is not on the right side of the graph; did you mean 'apple'?"),
        (gl.right(1),
         "vertex 1 is not on the right side of the graph, whose ids are strings; the nearest id is 'apple'"),
        (
            "apple",
            "vertex 'apple' is not on the left side of the graph, whose ids are integers; gl.right(id)",
        ),
    ):
        with pytest.raises(VertexNotFound) as error:
            graph.ids.find(wanted)
        assert str(error.value).startswith(text)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (b"a\nb\n", ": the vocabulary has 2 words, a line each, and {} has 3"),
        (b"", ": the vocabulary has 0 words, a line each, and {} has 3"),
        (b"a\nb\nc\nd\n", ": the vocabulary has 4 words, a line each, and {} has 3"),
        (b"a\nb\nc\n\n", ":4: an empty line; each line of a vocabulary is a word"),
        (b"a\n \t\nc\n", ":2: an empty line; each line of a vocabulary is a word"),
        (b"a\nb\na", ":3: the word 'a' is in line 1 too; each is a vertex of its own"),
        (b"a\nb\r\n b\n", ":3: the word 'b' is in line 2 too; each is a vertex of its own"),
        (b"a\nb\xff\nc\n", ":2: the word is not UTF-8 (byte 0xff): 'b\ufffd'; " + TO_UTF8),
        (b"a\n\xe9t\xe9\n\n", ":2: the word is not UTF-8 (byte 0xe9): '\ufffdt\ufffd'; " + TO_UTF8),
        (b"a\nb\nc\0\n", ":3: a NUL byte: 'c\\x00'; is it a text file?"),
        (b"a\rb\rc", ":1: a carriage return inside the line: 'a\\rb\\rc'; is it a text file?"),
        (b"a\nb\0\n\xff\n\n", ":2: a NUL byte: 'b\\x00'; is it a text file?"),
    ],
)  # fmt: skip
def test_what_is_no_vocabulary(tmp_path: Path, words: bytes, expected: str) -> None:
    bag = written(tmp_path, BAG)
    for name in ("vocab.txt", "vocab.txt.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(words) if name.endswith(".gz") else words)
        found = error_on_all(bag, vocabulary=str(path))
        assert found.removeprefix(str(path)) == expected.format(bag)


def test_files_that_are_no_vocabulary(tmp_path: Path) -> None:
    bag = written(tmp_path, BAG)
    assert error_on_all(bag, vocabulary=str(tmp_path / "none")).endswith("none: no such file")
    assert "is a directory" in error_on_all(bag, vocabulary=str(tmp_path))
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"a\nb\nc\n")[:-3])
    assert error_on_all(bag, vocabulary=str(cut)).endswith(
        "the gzip data ends too early; the file is truncated"
    )
    with pytest.raises(UsageError, match=r"vocabulary=3: the path of a file is needed, not int"):
        read_edges(bag, Comm(), vocabulary=3)  # type: ignore[arg-type]


def test_only_a_bag_has_a_vocabulary(tmp_path: Path) -> None:
    words = written(tmp_path, "a\nb\nc\n", "vocab.txt")
    edges = written(tmp_path, "1 2\n", "edges.txt")
    mesh = written(tmp_path, "1 0\n\n", "mesh.graph")
    matrix = written(tmp_path, "%%MatrixMarket matrix coordinate pattern general\n2 2 0\n", "m.mtx")
    for path, name in ((edges, "edge list"), (mesh, "METIS"), (matrix, "MatrixMarket")):
        said = error_on_all(path, UsageError, vocabulary=str(words))
        assert said == (
            f"vocabulary={str(words)!r} names the words of a bag-of-words file, and the format of {path} is "
            f"{name}; pass format='bagofwords' (--format bagofwords) if it is one"
        )


def test_no_words_at_all(tmp_path: Path) -> None:
    bag, words = written(tmp_path, "3\n0\n0\n"), written(tmp_path, "", "vocab.txt")
    assert on_all(bag, vocabulary=str(words))[:2] == ([], 3)


def test_the_corpus(ranks: Ranks) -> None:
    bag = str(DATASETS / "docword.stdlib-docstrings.txt.gz")
    words = str(DATASETS / "vocab.stdlib-docstrings.txt")
    found = ranks.run(_common, bag, words)
    assert found == [_common(Comm(), bag, words)] * ranks.size


def _common(comm: Comm, bag: str, words: str) -> list[Any]:
    graph = gl.read_graph(bag, vocabulary=words, comm=comm)
    table = gl.degrees(graph).vertices.side(1)
    with open(words) as file:
        assert table.ids.tolist() == file.read().split()
    return [graph.fingerprint, graph.num_left, table["edges"].tolist()]
