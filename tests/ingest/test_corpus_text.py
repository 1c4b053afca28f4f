"""Plain text as a corpus: the words of lines and files, beside Python's and scikit-learn's, on any ranks."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gaslab as gl
from gaslab.errors import InputError, UsageError
from gaslab.ingest.corpus.stopwords import ENGLISH
from gaslab.ingest.problems import TO_UTF8
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.corpora import error_on_all, on_all, written

WORD = re.compile(r"\b\w\w+\b")  # scikit-learn's token_pattern
TEXT = "The cat, the dog -- and a CAT!\n\nEin Ärger, naïve_2 x 33\r\nthe bank"


def bags(texts: list[str]) -> list[tuple[int, str, int]]:
    return sorted(
        (d, word, n)
        for d, text in enumerate(texts, 1)
        for word, n in Counter(WORD.findall(text.lower())).items()
    )


def test_lines_are_documents(tmp_path: Path) -> None:
    for name in ("corpus.txt", "corpus.txt.gz"):
        rows, left, right, _ = on_all(written(tmp_path, TEXT, name), format="text")
        assert rows == bags(TEXT.split("\n"))
        assert left == [1, 2, 3, 4]
        assert right == sorted({word for _, word, _ in rows})
    assert (1, "cat", 2) in rows
    assert (3, "naïve_2", 1) in rows
    two = [written(tmp_path, TEXT, "a.txt"), written(tmp_path, TEXT + "\n", "b.txt")]
    assert on_all(two, format="text")[0] == bags(TEXT.split("\n") * 2)


LINES = st.lists(
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n\0"), max_size=30), max_size=9
)


@pytest.mark.slow
@given(LINES)
def test_words_are_python_s(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    lines = ["two words", *lines, "end"]
    path = written(tmp_path_factory.getbasetemp(), "\n".join(lines))
    assert on_all(path, format="text")[0] == bags(lines)


def test_every_character_is_of_a_word_as_python_has_it(tmp_path: Path) -> None:
    every = [chr(c) for c in range(1, 0x11000) if not 0xD800 <= c < 0xE000 and c != 10]
    text = "".join(f"a{c}b " for c in every)
    path = written(tmp_path, text + "\nend")
    assert gl.read_corpus(path, format="text").num_vertices == 2 + len({w for _, w, _ in bags([text, "end"])})


def test_count_vectorizer_counts_the_same(tmp_path: Path) -> None:
    text = pytest.importorskip("sklearn.feature_extraction.text")
    lines = TEXT.split("\n")
    model = text.CountVectorizer(min_df=2)
    counts = model.fit_transform([*lines, *lines[2:]])
    graph = gl.read_corpus(written(tmp_path, "\n".join([*lines, *lines[2:]])), format="text", min_df=2)
    same = gl.corpus_from(counts, vocabulary=model.vocabulary_)
    assert graph.num_edges == same.num_edges
    words = range(6, graph.num_vertices)
    assert graph.ids.marked(words) == same.ids.marked(words)


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    (folder / "b" / ".git").mkdir(parents=True)
    written(folder, "The cat\nand the dog\n", "b/one.txt")
    written(folder, "the bank", "b/two.txt.gz")
    written(folder, "", "empty")
    written(folder, "\ufeffÄrger the", "Ä.txt")
    written(folder, "hidden words", ".hidden")
    written(folder, "hidden words", "b/.git/config")
    return folder


def test_files_of_a_folder_are_documents(tmp_path: Path) -> None:
    rows, left, right, _ = on_all(folder_of(tmp_path))
    assert left == ["b/one.txt", "b/two.txt.gz", "empty", "Ä.txt"]
    assert right == ["and", "bank", "cat", "dog", "the", "ärger"]
    assert rows == [
        ("b/one.txt", "and", 1), ("b/one.txt", "cat", 1), ("b/one.txt", "dog", 1), ("b/one.txt", "the", 2),
        ("b/two.txt.gz", "bank", 1), ("b/two.txt.gz", "the", 1), ("Ä.txt", "the", 1), ("Ä.txt", "ärger", 1),
    ]  # fmt: skip
    assert on_all(str(tmp_path / "texts"), format="text", min_df=2, max_df=3)[2] == ["the"]


def test_many_files_are_more_than_a_block(tmp_path: Path) -> None:
    for k in range(30):
        written(tmp_path, f"word{k % 3} " * (1 << 13), f"{k:02}.txt")
    rows = on_all(tmp_path)[0]
    assert rows == [(f"{k:02}.txt", f"word{k % 3}", 1 << 13) for k in range(30)]


def test_words_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, TEXT)
    assert on_all(path, format="text", stop_words="english")[2] == [
        "33", "bank", "cat", "dog", "ein", "naïve_2", "ärger"]  # fmt: skip
    assert on_all(path, format="text", stop_words=["the", "cat", "none"])[0][0] == (1, "and", 1)
    words = written(tmp_path, "the\n\n cat \nand\n", "stop.txt")
    assert on_all(path, format="text", stop_words=str(words))[0][0] == (1, "dog", 1)
    assert on_all(path, format="text", stop_words=words)[2][:2] == ["33", "bank"]
    marked = written(tmp_path, "\ufeffcat\n", "mark.txt")
    assert "cat" not in on_all(path, format="text", stop_words=marked)[2]
    latin = tmp_path / "latin1.txt"
    latin.write_bytes(b"the\ncaf\xe9\n")
    said = error_on_all(path, format="text", stop_words=str(latin))
    assert said == f"{latin}:2: the text is not UTF-8 (byte 0xe9): 'caf\ufffd'; {TO_UTF8}"
    capitals = written(tmp_path, "The\nÄRGER\nBank\n", "capitals.txt")
    for listed in (capitals, ["The", "ÄRGER", "Bank"], ("the", "ärger", "bank")):
        assert on_all(path, format="text", stop_words=listed)[2] == [
            "33", "and", "cat", "dog", "ein", "naïve_2"]  # fmt: skip
    assert len(set(ENGLISH.split())) == len(ENGLISH.split()) > 100


def test_words_by_their_documents(tmp_path: Path) -> None:
    """``all`` is in 4 of 5 documents, ``two`` in 2, ``one`` in 1; the last is empty."""
    path = written(tmp_path, "all two one one\nall two\nall all\nall\n\n")
    for low, high, expected in (
        (0, 1.0, ["all", "one", "two"]), (2, 1.0, ["all", "two"]), (0, 3, ["one", "two"]),
        (0.3, 0.5, ["two"]),
        (1, 1, ["one"]), (0.8, 0.8, ["all"]), (0.0, 5, ["all", "one", "two"]),
    ):  # fmt: skip
        rows, left, right, _ = on_all(path, format="text", min_df=low, max_df=high)
        assert (left, right) == ([1, 2, 3, 4, 5], expected)
        assert {word for _, word, _ in rows} == set(expected)
    for low, high, said in (
        (3, 2, "min_df=3 (--min-df) is above max_df=2 (--max-df): of 5 documents at least 3 and at most 2"),
        (0.5, 0.1, "min_df=0.5 (--min-df) is above max_df=0.1"),
        (5, 1.0, "0 of 3 words are kept; left out: 3 in fewer than 5 documents; choose other stop_words="),
        (-1, 1.0, "min_df=-1: a whole number of at least 0 is needed"),
        (0, 1.5, "max_df=1.5: a number from 0.0 to 1.0 is needed; a share of the documents, or a whole"),
        ("2", 1.0, "min_df='2': a number is needed, not str; a share"),
        (True, 1.0, "min_df=True: a whole number is needed, not bool"),
    ):
        assert said in error_on_all(path, UsageError, format="text", min_df=low, max_df=high)


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"caf\xe9 au lait",
         ": the text is not UTF-8 (byte 0xe9): 'caf\ufffd au lait'; convert the file from its own "
         "encoding, as by iconv -f latin1 -t utf-8"),
        (b"a\0b", ": a NUL byte: 'a\\x00b'; is it a text file?"),
    ],
)  # fmt: skip
def test_what_is_no_text(tmp_path: Path, data: bytes, what: str) -> None:
    text = b"fine words\n\n" * 20 + data + b"\n" + b"fine words\n" * 20 + b"\xff\0\n"
    for name in ("corpus.txt", "corpus.txt.gz"):
        assert error_on_all(written(tmp_path, text, name), format="text") == ":41" + what
    folder = tmp_path / "texts"
    folder.mkdir()
    written(folder, "fine words", "a")
    written(folder, text, "b")
    written(folder, b"\xff", "c")
    assert error_on_all(folder) == "/b:41" + what


def test_documents_without_words_alone(tmp_path: Path) -> None:
    path = written(tmp_path, "a b c\n\n!\n")
    assert on_all(path, format="text")[:3] == ([], [1, 2, 3], [])
    blank, lines = written(tmp_path, " \n\n", "blank.txt"), written(tmp_path, "d1 cat 1\n", "lines.txt")
    assert on_all(blank)[:3] == ([], [1, 2], [])
    assert on_all([lines, blank])[0] == [("d1", "cat", 1)]


def test_what_is_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert error_on_all(tmp_path / "empty") == ": no files are below this folder; each is a document"
    assert error_on_all(tmp_path / "none") == ": no such file"
    path = written(tmp_path, "fine words\n")
    assert error_on_all(written(tmp_path, "", "no"), format="text") == ": the corpus has no documents"
    damaged = tmp_path / "empty" / "x.gz"
    damaged.write_bytes(gzip.compress(b"words")[:-4])
    assert "x.gz: the gzip data ends too early; the file is truncated" in error_on_all(tmp_path / "empty")
    said = error_on_all(tmp_path / "empty", UsageError, format="ldac")
    assert said.startswith(": format='ldac' (--format ldac) is for files, and this is a folder")
    words = written(tmp_path, "a\n", "vocab")
    for one, what in ((path, "plain text"), (tmp_path / "empty", "a folder of texts")):
        said = error_on_all(one, UsageError, format="text", vocabulary=words)
        assert said.startswith(
            f": vocabulary={str(words)!r} (--vocabulary) names words that are numbers, and this is"
        )
        assert f" this is {what}, which has words; leave it out" in said
    said = error_on_all(path, UsageError, format="text", stop_words="englisch")
    assert said == (
        "stop_words='englisch' (--stop-words) is neither english nor a file; name a file with a word a line"
    )


def _read(comm: Comm, path: str) -> Any:
    graph = gl.read_corpus(path, stop_words="english", max_df=0.9, comm=comm)
    return graph.num_left, graph.num_edges, graph.counts["empty_documents"], graph.fingerprint


def test_ranks_read_the_same(ranks: Ranks, tmp_path: Path) -> None:
    path = str(folder_of(tmp_path))
    found = ranks.run(_read, path)
    assert found == [_read(Comm(), path)] * ranks.size
    assert found[0][:3] == (4, 4, 1)
    (Path(path) / "z").write_bytes(b"\xff")
    with pytest.raises(InputError, match=r"z:1: the text is not UTF-8 \(byte 0xff\)"):
        ranks.run(_read, path)
