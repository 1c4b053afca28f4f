"""lda-c and SVMlight files on any ranks, also scikit-learn's; what is wrong, at its line."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gaslab as gl
from gaslab._kernels import documents as kernels
from gaslab.errors import InputError, UsageError
from gaslab.ingest import matrix_entries
from gaslab.ingest.corpus import pieces
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.corpora import error_on_all, on_all, written

DOCUMENT = st.dictionaries(st.integers(0, 12), st.integers(1, 3000), max_size=6)


@pytest.mark.slow
@given(
    st.lists(DOCUMENT, min_size=1, max_size=12).filter(any), st.booleans(), st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["c.ldac", "c.ldac.gz", "c.svmlight", "c.svmlight.gz"]), st.integers(0, 1),
)  # fmt: skip
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    documents: list[dict[int, int]],
    last: bool,
    end: str,
    name: str,
    base: int,
) -> None:
    labels = "svmlight" in name
    base = base if labels else 0
    lines = [
        " ".join([str(len(one)) if not labels else "+1", *(f"{w + base}:{n}" for w, n in one.items())])
        for one in documents
    ]
    text = end.join(lines) + end * last
    rows, left, right, _ = on_all(written(tmp_path_factory.getbasetemp(), text, name))
    least = min(w + base for one in documents for w in one)
    first = int(labels and least > 0)
    assert rows == sorted((d, w + base, n) for d, one in enumerate(documents, 1) for w, n in one.items())
    assert left == list(range(1, len(documents) + 1))
    assert right == list(range(first, max(w for one in documents for w in one) + base + 1))


PAIR = re.compile(r"([0-9]{1,18}):([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")


def oracle(text: str, labels: bool) -> tuple[list[tuple[int, int, int]], int] | int:
    """Return (rows of document, word, count; the number of documents), or the first bad line."""
    rows: list[tuple[int, int, int]] = []
    documents = 0
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.removesuffix("\r")
        head, *pairs = re.findall(r"[^ \t]+", bare.split("#")[0] if labels else bare) or [""]
        if not head:
            continue
        documents += 1
        pairs = [head, *pairs] if labels and ":" in head else pairs
        if labels:
            pairs = [pair for pair in pairs if not re.fullmatch(r"qid:.+", pair)]
        elif not re.fullmatch(r"[0-9]{1,18}", head) or int(head) != len(pairs):
            return number
        for pair in pairs:
            found = PAIR.fullmatch(pair)
            if found is None or not float(found[2]).is_integer() or not 1 <= float(found[2]) < 2**31:
                return number
            rows.append((documents, int(found[1]), int(float(found[2]))))
    return sorted(rows), documents


PIECES = ["0", "1", "2", "13", ":", ":1", "3:2 ", " 1:1", " ", "\t", "\n", "\n", "\r", "#", "qid:", "-", "+",
          "x", ".5", ".0", "e1", "é", "\0", "1 4:1\n", "2 0:1 5:9\n"]  # fmt: skip


@pytest.mark.slow
@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join), st.booleans())
def test_hostile_lines(tmp_path_factory: pytest.TempPathFactory, text: str, labels: bool) -> None:
    path = written(tmp_path_factory.getbasetemp(), text, "hostile.txt")
    expected = oracle(text, labels)
    options = {"format": "svmlight" if labels else "ldac"}
    if isinstance(expected, int):
        assert error_on_all(path, **options).startswith(f":{expected}: ")
    elif not expected[1]:
        assert "has no documents" in error_on_all(path, **options)
    else:
        assume(max((word for _, word, _ in expected[0]), default=0) < 10**6)
        found = on_all(path, **options)
        assert (found[0], len(found[1])) == expected


@pytest.mark.slow
def test_lines_longer_than_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A document of 12 kB is in three blocks; documents are numbered through two files."""
    monkeypatch.setattr(pieces, "BLOCK_BYTES", 1 << 12)
    words = random.Random(1).sample(range(1_000_000), 1500)
    first = written(
        tmp_path, "1 5:1\n" + f"{len(words)} " + " ".join(f"{w}:1" for w in words) + "\n", "a.ldac"
    )
    second = written(tmp_path, "0\n2 1:2 0:7\n", "b.ldac.gz")
    rows, left, right, _ = on_all([first, second])
    assert rows == sorted([(1, 5, 1), *((2, w, 1) for w in words), (4, 0, 7), (4, 1, 2)])
    assert (left, len(right)) == ([1, 2, 3, 4], max(words) + 1)


def test_svmlight_has_labels_comments_and_queries(tmp_path: Path) -> None:
    text = "# a corpus\n-1.5 qid:3 1:2 4:1.0 # first\n\n 2,3 2:3e0\n1:1 2:1\n# end\n0\n"
    rows, left, right, _ = on_all(written(tmp_path, text, "c.svmlight"))
    assert rows == [(1, 1, 2), (1, 4, 1), (2, 2, 3), (3, 1, 1), (3, 2, 1)]
    assert (left, right) == ([1, 2, 3, 4], [1, 2, 3, 4])


def test_scikit_learn_s_files_are_read(tmp_path: Path) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    counts = np.random.default_rng(0).poisson(0.7, (20, 9))
    for zero_based in (True, False):
        path = tmp_path / f"{zero_based}.svmlight"
        datasets.dump_svmlight_file(counts, np.arange(20), str(path), zero_based=zero_based, comment="made")
        rows = on_all(path)[0]
        base = 0 if zero_based else 1
        assert rows == [(d + 1, w + base, int(n)) for (d, w), n in np.ndenumerate(counts) if n > 0]


@pytest.mark.parametrize(
    ("name", "text", "words", "expected"),
    [
        ("c.ldac", "2 0:1 2:3\n0\n", "z\na\nm\n", [(1, "m", 3), (1, "z", 1)]),
        ("c.svmlight", "1 1:1 3:3\n0\n", "z\na\nm\n", [(1, "m", 3), (1, "z", 1)]),
        ("c.svmlight", "1 0:1 2:3\n0\n", "z\na\nm\n", [(1, "m", 3), (1, "z", 1)]),
    ],
)
def test_a_vocabulary_names_words(
    tmp_path: Path, name: str, text: str, words: str, expected: list[Any]
) -> None:
    vocabulary = written(tmp_path, words, "vocab.txt")
    rows, left, right, _ = on_all(written(tmp_path, text, name), vocabulary=vocabulary)
    assert (rows, left, right) == (expected, [1, 2], ["a", "m", "z"])


WHOLE = f"; {matrix_entries.WHOLE}"
NUMBER = " is not a number from 0 on; words are numbers, which a vocabulary may name"
SVM = "is it an SVMlight file (--format svmlight, format='svmlight')?"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("1 3", ": '3' is not a pair word:count" + WHOLE),
        ("1 a:1", ": the word of 'a:1'" + NUMBER), ("1 -1:1", ": the word of '-1:1'" + NUMBER),
        ("1 :1", ": the word of ':1'" + NUMBER),
        ("1 3:", ": the count of '3:' is not a number" + WHOLE),
        ("1 3:x", ": the count of '3:x' is not a number" + WHOLE),
        ("1 3:nan", ": the count of '3:nan' is not a number" + WHOLE),
        ("1 3:1:2", ": the count of '3:1:2' is not a number" + WHOLE),
        ("1 3:1.5", ": the count of '3:1.5' is not a whole number" + WHOLE),
        ("1 3:0", ": the count of '3:0' is less than 1; leave the pair out"),
        ("1 3:-2", ": the count of '3:-2' is less than 1; leave the pair out"),
        ("1 3:-2e99", ": the count of '3:-2e99' is less than 1; leave the pair out"),
        ("1 3:inf", ": the count of '3:inf' is more than 2147483647" + WHOLE),
        ("1 3:2147483648", ": the count of '3:2147483648' is more than 2147483647" + WHOLE),
        ("1 3:1 4:1", ": the number of pairs differs from the first field, '1'; is the line cut short, or an "
         "SVMlight file (--format svmlight, format='svmlight')?"),
        ("+1 3:1", ": the line begins with '+1', not with its number of pairs; " + SVM),
        ("\xa0", ": the line begins with '\\xa0', not with its number of pairs; " + SVM),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_at_its_line(tmp_path: Path, line: str, what: str) -> None:
    text = "1 3:1\n" * 40 + f"\n{line}\n" + "1 2:1\n" * 9 + "oh\n" + "1 2:1\n" * 9
    for name in ("c.ldac", "c.ldac.gz"):
        assert error_on_all(written(tmp_path, text, name)) == ":42" + what
    if "SVMlight" not in what:
        assert error_on_all(written(tmp_path, text, "c.svmlight")) == ":42" + what


def test_words_beyond_the_vocabulary(tmp_path: Path) -> None:
    words = written(tmp_path, "a\nb\nc\n", "vocab.txt")
    for name, text, word, last in (
        ("c.ldac", "1 2:1\n1 3:1\n", 3, 2),
        ("c.svmlight", "1 3:1\n1 4:1\n", 4, 3),
        ("c.svmlight", "1 0:1\n1 3:1\n", 3, 2),
    ):
        said = error_on_all(written(tmp_path, text, name), vocabulary=words)
        assert said == (
            f":2: the word of '{word}:1' is beyond the vocabulary {words}, whose last is {last}; is "
            "it the vocabulary of this corpus?"
        )


def test_a_corpus_without_tokens_or_documents(tmp_path: Path) -> None:
    assert on_all(written(tmp_path, "0\n0\n", "c.ldac"), format="ldac")[:2] == ([], [1, 2])
    said = error_on_all(written(tmp_path, "", "c.ldac"), format="ldac")
    assert said == ": the corpus has no documents"


def test_options_of_edge_lists_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "1 2:1\n", "c.ldac")
    said = error_on_all(path, UsageError, delimiter=",")
    assert said == ": delimiter=',' is for edge lists, and this is a Blei lda-c file"
    said = error_on_all(path, UsageError, columns=["count"])
    assert said.startswith(
        ": columns=['count'] (--column) is for edge lists, and this is a Blei lda-c file; its count"
    )
    assert on_all(path, columns={"count": None})[0] == [(1, 2, 1)]


def _lines(comm: Comm, path: str) -> tuple[int, int, str]:
    graph = gl.read_corpus(path, comm=comm)
    return graph.num_left, graph.counts["tokens"], graph.fingerprint


def test_ranks_read_the_same(ranks: Ranks, tmp_path: Path) -> None:
    text = "".join(f"2 {k % 7}:{k % 5 + 1} 9:1\n" for k in range(500))
    path = str(written(tmp_path, text, "c.ldac"))
    found = ranks.run(_lines, path)
    assert found == [_lines(Comm(), path)] * ranks.size
    assert found[0][:2] == (500, 2000)
    bad = str(written(tmp_path, text + "1 x\n" + text, "bad.ldac"))
    with pytest.raises(InputError, match=r"bad.ldac:501: 'x' is not a pair word:count"):
        ranks.run(_lines, bad)


def test_the_kernel_refuses_what_is_no_block() -> None:
    text = np.zeros(100, np.uint8)
    with pytest.raises(ValueError, match="whole lines with padding"):
        kernels.pairs(text, 0, 10, False, 5)
    with pytest.raises(ValueError, match="does not end with a newline"):
        kernels.words(text)
