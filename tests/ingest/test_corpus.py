"""Corpora in files that are graphs, too, and how the format of a corpus is recognised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp

import gaslab as gl
from gaslab.errors import InputError, UsageError
from gaslab.ingest.corpus.formats import find_corpus_format
from gaslab.ingest.matrix_entries import WHOLE
from gaslab.parallel.comm import Comm
from tests.mpi.launcher import REAL
from tests.mpi.ranks import Ranks
from tests.support.corpora import error_on_all, on_all, written

ROWS = [(1, 1, 2), (1, 3, 1), (3, 2, 4)]
WORDS = "zoo\nape\nÄpfel\n"
BAG = "3\n3\n3\n1 1 2\n1 3 1\n3 2 4\n"
MATRIX = "%%MatrixMarket matrix coordinate {} general\n3 3 3\n1 1 {}\n1 3 {}\n3 2 {}\n"
FILES = {
    "docword.x.txt": BAG,
    "docword.x.txt.gz": BAG,
    "c.mtx": MATRIX.format("integer", 2, 1, 4),
    "real.mtx": MATRIX.format("real", 2.0, "1e0", "4.000"),
    "c.ldac": "2 0:2 2:1\n0\n1 1:4\n",
    "c.svmlight": "0 1:2 3:1\n1\n1 2:4\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_format_of_numbered_words_is_the_same_corpus(tmp_path: Path, name: str) -> None:
    path, words = written(tmp_path, FILES[name], name), written(tmp_path, WORDS, "vocab.txt")
    base = int(name != "c.ldac")
    rows, left, right, _ = on_all(path)
    assert (rows, left) == ([(d, w - 1 + base, n) for d, w, n in ROWS], [1, 2, 3])
    assert right == list(range(base, base + 3))
    rows, left, right, mark = on_all(path, vocabulary=words)
    assert rows == [(1, "zoo", 2), (1, "Äpfel", 1), (3, "ape", 4)]
    assert (left, right) == ([1, 2, 3], ["ape", "zoo", "Äpfel"])
    assert on_all(path, vocabulary=words, stop_words=["ape"], min_df=1)[2] == ["zoo", "Äpfel"]
    assert mark == on_all(written(tmp_path, BAG, "docword.y.txt"), vocabulary=words)[3]
    assert on_all(path, columns={"count": None})[0] == [(d, w, 1) for d, w, _ in on_all(path)[0]]
    few = written(tmp_path, "zoo\nape\n", "few.txt")
    assert "2" in error_on_all(path, vocabulary=few)


def test_matrices_of_scipy(tmp_path: Path) -> None:
    counts = sp.random_array(
        (30, 20), density=0.2, random_state=1, data_sampler=lambda size: 1 + np.arange(size) % 5
    )
    path = tmp_path / "c.mtx"
    scipy.io.mmwrite(path, counts)
    rows = list(zip(counts.row + 1, counts.col + 1, counts.data.astype(int), strict=True))
    assert on_all(path)[0] == sorted(rows)
    scipy.io.mmwrite(path, counts, field="pattern")
    assert on_all(path)[0] == sorted((d, w, 1) for d, w, _ in rows)


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("c.mtx", MATRIX.format("real", 2, 1.5, 0), ":4: the count is not a whole number: '1 3 1.5'"),
        ("c.mtx", MATRIX.format("real", 2, "inf", 0), ":4: the count is not a whole number: '1 3 inf'"),
        ("c.mtx", MATRIX.format("integer", 2, 1, 0), ":5: the count is less than 1: '3 2 0'"),
        ("c.mtx", MATRIX.format("integer", 2, -1, 0), ":4: the count is less than 1: '1 3 -1'"),
        ("c.mtx", "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 3\n",
         ":1: a symmetric matrix is not a corpus, which has a row for each document and a column for each "
         "word; write it as a general one"),
        ("c.mtx", "%%MatrixMarket matrix array integer general\n1 1\n3\n",
         ":1: a dense MatrixMarket array; read it with scipy.io.mmread and gl.corpus_from, or write it as "
         "scipy.sparse.coo_array with mmwrite"),
        ("c.mtx", MATRIX.format("complex", "1 0", "1 0", "1 0"),
         ":1: a matrix of complex values; counts are whole numbers"),
        *((name, text, f": holds no documents ({lines}); it needs a document a line (--format text, "
           "format='text'), or a line for each document and word (--format edges, format='edges')")
          for name, text, lines in (("a.txt", "", "0 lines"), ("a.csv", "# one\n", "1 line: 1 comment"))),
        ("docword.x", BAG.replace("3 2 4", "3 2 0"), ":6: the count is less than 1: '3 2 0'"),
        ("docword.x", BAG.replace("3 2 4", "3 2 2147483648"),
         ":6: the count is more than 2147483647: '3 2 2147483648'"),
        ("docword.x", BAG.replace("3 2 4", "3 2 4.5"), ":6: count is not a 64-bit integer: '3 2 4.5'"),
        ("docword.x", BAG.replace("3 2 4", "3 4 1"), ":6: the word is not from 1 to 3: '3 4 1'"),
        ("docword.x", "two words\n",
         ":1: a bag-of-words file begins with the numbers of its documents, words and entries, a line each, "
         "and 'two words' is not a number of documents; or pass --format edges (format='edges') if it is an "
         "edge list"),
    ],
)  # fmt: skip
def test_bad_counts_are_said_at_their_line(tmp_path: Path, name: str, text: str, said: str) -> None:
    way_out = f"; {WHOLE}" if "count is" in said else ""
    for suffix in ("", ".gz"):
        assert error_on_all(written(tmp_path, text, name + suffix)) == said + way_out


COUNTED = "d1 cat 2\nd2 dog 1\nd1 dog 3\n"
EDGES = [("d1", "cat", 2), ("d1", "dog", 3), ("d2", "dog", 1)]


def test_lines_of_document_word_count(tmp_path: Path) -> None:
    assert on_all(written(tmp_path, COUNTED))[:3] == (EDGES, ["d1", "d2"], ["cat", "dog"])
    csv = "doc,word,page,n\nd1,cat,8,2\nd2,dog,8,1\nd1,dog,9,3\n"
    path = written(tmp_path, csv, "c.csv")
    assert on_all(path, columns={"count": "n"})[0] == EDGES
    assert on_all(path, columns=["n"])[0] == EDGES
    assert on_all(path, columns={"count": None})[0] == [(d, w, 1) for d, w, _ in EDGES]
    assert error_on_all(path, UsageError) == (
        " has the fields page, n; say which is the count, --column count=NAME (columns={'count': NAME}), or "
        "that each line is one token, --column count=none"
    )
    assert on_all(written(tmp_path, "1 5\n2 5\n1 5\n"))[0] == [(1, 5, 1), (1, 5, 1), (2, 5, 1)]
    names = written(tmp_path, "d1 Cat 1\nd1 cat 1\nd1 dog 3\n")
    assert [on_all(names, stop_words=[word])[2] for word in ("Cat", "cat")] == [["dog"], ["Cat", "dog"]]
    assert on_all(written(tmp_path, COUNTED), max_df=1)[0] == [("d1", "cat", 2)]
    assert on_all(written(tmp_path, COUNTED + "d3 x\n"), on_bad_line="skip")[0] == EDGES
    assert on_all(written(tmp_path, "d1 cat x 2\nd2 cat y 1\n"), columns={"count": 3})[0] == [
        ("d1", "cat", 2), ("d2", "cat", 1)]  # fmt: skip
    assert error_on_all(written(tmp_path, COUNTED + "d3 dog x\n"), format="edges").startswith(
        ":4: count is not a number: 'd3 dog x'; leave the column out with --column count=none"
    )
    said = error_on_all(path, UsageError, vocabulary=path)
    assert "names the words of a file that numbers them, and this is an edge list" in said


def test_documents_of_an_edge_list_that_are_not_utf8(tmp_path: Path) -> None:
    for name, line in (("document", b"caf\xe9 cat 1\n"), ("word", b"d2 caf\xe9 1\n")):
        said = error_on_all(written(tmp_path, COUNTED.encode() + line))
        assert said.startswith(f":4: the {name} id is not UTF-8: ")


@pytest.mark.parametrize(
    ("value", "what"),
    [
        ("0", "less than 1"),
        ("-3", "less than 1"),
        ("2147483648", "more than 2147483647"),
        ("1" + "0" * 20, "more than 2147483647"),
        *((v, "not a whole number") for v in ("1.5", "inf", "0.5")),
    ],
)
def test_a_line_with_a_bad_count(tmp_path: Path, value: str, what: str) -> None:
    rest = f"; --column count=NAME names another field; {WHOLE}"
    first = written(tmp_path, COUNTED * 9, "a.txt")
    for head, name, said in (("", "b.txt", "count"), ("document word n\n", "b.txt.gz", "n")):
        text = head + COUNTED * 9 + f"\n# one\nd3 dog {value}\n" + COUNTED
        path = written(tmp_path, text, name)
        options = {"header": True, "columns": ["n"]} if head else {}
        message = error_on_all(path, format="edges", **options)
        assert message.startswith(f":{30 + bool(head)}: {said} is {what}: 'd3 dog {value}'{rest}")
    with pytest.raises(InputError, match=r"b.txt:30: count is"):
        gl.read_corpus(
            [first, written(tmp_path, COUNTED * 9 + f"\n# one\nd3 dog {value}\n", "b.txt")], format="edges"
        )


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("a.txt", COUNTED, "edges"),
        ("a.txt", "1 2\n", "edges"),
        ("a.txt", "# SNAP\n1\t2\n1\t3\n", "edges"),
        ("a.csv", "doc,word,n\nNew York,cat,3\nParis,dog,1\n", "edges"),
        ("a.csv", "doc,word,author\nNY,cat,Ann Lee\nParis,dog,Bob\n", "edges"),
        ("a.dat", "1::2::3\n", "edges"),
        ("a.tsv", "a b\tcat\t3\n", "edges"),
        ("a.txt", "d1 cat\nd1 dog\nd2 dog\nd2 fish\n", "edges"),
        ("a.txt", "".join(f"d{k} {w}\n" for w in ("cat", "dog") for k in range(300)), "edges"),
        ("a.txt", "".join(f"d{k % 300} w{k * 7 % 90}\n" for k in range(900)), "edges"),
        ("a.txt", COUNTED * 9 + "d3 fish\nd3 dog x\n", "edges"),
        ("a.csv", COUNTED.replace(" ", ",") * 9 + "d3,dog\n", "edges"),
        ("a.txt", "document word\n1 cat\n2 dog\n", "edges"),
        ("a.tsv", "d1\tcat\nd2\tdog\n", "edges"),
        ("a.txt", "cat dog\nbird fish\n", "text"),
        ("a.txt", "The Godfather\nThe Matrix\nPulp Fiction\nDie Hard\nTop Gun\n", "text"),
        ("a.txt", "cats, dogs\nred, blue\nup, down\n", "text"),
        ("a.txt", "good dog\ndog food\ngood food\ndog show\ngood show\n" * 9, "text"),
        ("a.txt", "The cat sat\n3 blind mice\n" * 9, "text"),
        ("a.txt", "7 samurai\nThe Matrix\n", "text"),
        ("a.txt", "The cat and the dog.\nA bank.\n", "text"),
        ("a.txt", "The cat and the dog.\n", "text"),
        ("a.txt", "Graphs are fun, and so are topics.\nTopics, too, are fun.\n", "text"),
        ("a.txt", "Graphs are fun, and so are topics.\n", "text"),
        ("a.txt", "one\ntwo words\nthree short words\n", "text"),
        ("a.txt", "word\n", "text"),
        ("a.txt", "3 blind mice\n4 white mice\n", "text"),
        ("a.txt", "", "edges"),
        ("ap.dat", "2 1:3 7:1\n0\n1 0:2\n", "ldac"),
        ("ap.dat", "1 1:3 7:1\n2 0:2\n", "svmlight"),
        ("a.txt", "-1 1:3 7:0.5 # x\n+1 qid:3 2:2\n", "svmlight"),
        ("a.txt.gz", "2 1:3 7:1\n", "ldac"),
        ("ap.dat", "2 1:3 7:1\n" * 50 + "3 1:3\n", "ldac"),
        ("a.libsvm", "2 1:3 7:1\n", "svmlight"),
        ("docword.nips.txt", "", "bagofwords"),
        ("a.txt", BAG, "bagofwords"),
        ("a.txt", FILES["c.mtx"], "matrixmarket"),
        ("a.txt", "at 10:30 noon\n12:45 it ended\n", "text"),
    ],
)  # fmt: skip
def test_how_a_format_is_recognised(name: str, text: str, format: str) -> None:
    assert find_corpus_format(name, text.encode()) == format
    assert find_corpus_format(name, b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode()) == format


def test_formats_are_not_mixed(tmp_path: Path) -> None:
    text, edges = (
        written(tmp_path, "The cat and the dog.\n", "a.txt"),
        written(tmp_path, "two words\n", "b.txt"),
    )
    assert on_all([text, edges])[1] == [1, 2]
    pairs = written(tmp_path, "1 0:1\n", "c.ldac")
    said = error_on_all([text, pairs], UsageError)
    assert said == (
        f"{text} is a plain text file and {pairs} a Blei lda-c file; a corpus has one format; "
        "choose it with --format NAME (format=NAME)"
    )
    bags = [written(tmp_path, BAG, f"docword.{k}") for k in range(2)]
    assert error_on_all(bags, UsageError).endswith(
        "a bag-of-words file is a corpus of its own, and 2 files were named; read it alone"
    )
    assert error_on_all(pairs, UsageError, format="lda").startswith(
        "format='lda' is unknown; did you mean 'ldac'"
    )
    assert "is a JSON file" in error_on_all(written(tmp_path, '{"a": 1}\n', "x.json"))
    assert "is a MatrixMarket file; --format text" in error_on_all(
        written(tmp_path, FILES["c.mtx"], "c.mtx"), format="text"
    )


def _of(comm: Comm, path: str, options: dict[str, Any]) -> Any:
    graph = gl.read_corpus(path, comm=comm, **options)
    result = gl.lda(graph, topics=3, iterations=2, seed=1)
    return graph.fingerprint, graph.num_left, result.metrics["figures"]["tokens"]


@pytest.mark.slow
def test_ranks_read_and_sample_the_same(ranks: Ranks, tmp_path: Path) -> None:
    words = written(tmp_path, WORDS, "vocab.txt")
    for name, text in (
        *FILES.items(),
        ("c.txt", "the cat\nand the dog\nno cat at all\n"),
        ("e.txt", COUNTED),
    ):
        path = str(written(tmp_path, text, name))
        options = {"vocabulary": str(words)} if name in FILES else {"stop_words": "english"}
        found = ranks.run(_of, path, options)
        assert found == [_of(Comm(), path, options)] * ranks.size


def test_kos(ranks: Ranks) -> None:
    path = REAL / "corpora" / "kos" / "docword.kos.txt.gz"
    if not path.exists():
        pytest.skip(f"{path} is not here")
    found = ranks.run(_kos, str(path))
    assert found == [_kos(Comm(), str(path))] * ranks.size
    assert found[0][:3] == (3430, 6906, 467714)
    assert found[0][3] < 6906


def _kos(comm: Comm, path: str) -> tuple[int, int, int, int]:
    graph = gl.read_corpus(path, comm=comm)
    few = gl.read_corpus(path, comm=comm, min_df=20, max_df=0.5)
    assert graph.num_left is not None
    return (
        graph.num_left,
        graph.num_vertices - graph.num_left,
        graph.counts["tokens"],
        few.num_vertices - graph.num_left,
    )
