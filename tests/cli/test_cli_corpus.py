"""``gaslab lda`` on every format of corpora, with the options that choose words; generated corpora."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.command_line import Run, gaslab, on_ranks
from tests.support.corpora import written

__all__ = ["gaslab"]

TEXT = "the cat, the dog\n\nthe bank\nbond of the bank\n"
FEW = ("--topics", 2, "--iterations", 2)


def folder_of(tmp_path: Path) -> Path:
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, line in enumerate(TEXT.splitlines()):
        written(folder, line, f"{number}.txt")
    return folder


CORPORA: dict[str, Any] = {
    "docword.c.txt": "4\n4\n5\n1 1 1\n1 2 1\n3 3 1\n4 4 1\n4 3 1\n",
    "c.mtx": "%%MatrixMarket matrix coordinate pattern general\n4 4 5\n1 1\n1 2\n3 3\n4 4\n4 3\n",
    "c.ldac": "2 0:1 1:1\n0\n1 2:1\n2 3:1 2:1\n",
    "c.svmlight.gz": "0 1:1 2:1\n0\n0 3:1\n0 4:1 3:1\n",
    "c.txt": TEXT,
    "c.tsv": "1\tcat\n1\tdog\n3\tbank\n4\tbond\n4\tbank\n",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CORPORA, "texts"])
def test_every_format_has_topics(gaslab: Run, tmp_path: Path, name: str) -> None:
    path = folder_of(tmp_path) if name == "texts" else written(tmp_path, CORPORA[name], name)
    words = ["cat", "dog", "bank", "bond"]
    numbered = name not in ("c.txt", "c.tsv", "texts")
    options = ["--vocabulary", written(tmp_path, "\n".join(words), "vocab")] if numbered else []
    done = gaslab(
        "lda", path, *FEW, *options, "--stop-words", "english", "--topic-word", tmp_path / "words.tsv"
    )
    assert done.code == 0, done.err
    assert "tokens: 5" in gaslab("lda", path, *FEW, *options, "--stop-words", "english").out
    found = [line.split("\t")[0] for line in (tmp_path / "words.tsv").read_text().splitlines()]
    assert found == sorted(words)
    assert ("1 of 4 documents are empty" in done.err) == (name != "c.tsv")
    again = gaslab("lda", path, *FEW, *options, "--min-df", 2, "--max-df", 2, "--topic-word",
                   tmp_path / "words.tsv", "--force")  # fmt: skip
    assert again.code == 0, again.err
    assert (tmp_path / "words.tsv").read_text().split("\t")[0] == "bank"
    if numbered:
        bare = gaslab("lda", path, *FEW)
        assert bare.code == 0
        assert set(bare.out.split()[-3:]) <= set("01234")


@pytest.mark.slow
def test_two_ranks_print_the_same_topics(gaslab: Run, tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    words = ("lda", folder, *FEW, "--stop-words", "english", "--seed", 2, "--quiet")
    alone, both = gaslab(*words), on_ranks(2, *words)
    topics = [line for line in alone.out.splitlines() if line.startswith("topic")]
    assert (both.code, [line for line in both.out.splitlines() if line.startswith("topic")]) == (0, topics)
    (folder / "3.txt").write_bytes(b"caf\xe9")
    refused = on_ranks(2, *words)
    assert (refused.code, refused.err.count("3.txt:1: the text is not UTF-8")) == (1, 1)


def test_the_old_name_of_the_vocabulary(gaslab: Run, tmp_path: Path) -> None:
    path = written(tmp_path, CORPORA["c.ldac"], "c.ldac")
    done = gaslab("lda", path, *FEW, "--vocab", written(tmp_path, "cat\ndog\nbank\nbond\n", "vocab"))
    assert (done.code, "bond" in done.out) == (0, True)


def test_what_cannot_be_is_said(gaslab: Run, tmp_path: Path) -> None:
    text, bad = written(tmp_path, TEXT, "c.txt"), written(tmp_path, "1 1:1.5\n", "c.ldac")
    for words, code, message in (
        ([bad], 1, "c.ldac:1: the count of '1:1.5' is not a whole number; counts are whole numbers"),
        ([text, "--format", "lda"], 2, "argument --format: 'lda' is unknown; did you mean 'ldac'"),
        ([text, "--min-df", "x"], 2, "'x' is neither a number nor a share of documents"),
        ([text, "--max-df", "1.5"], 2, "1.5: give a number of documents (5) or a share from 0.0 to 1.0"),
        ([text, "--min-df", "-1"], 2, "--min-df"),
        *(([text, "--max-df", x], 2, f"{x}: give a number of documents (5)") for x in ("nan", "1e1")),
        ([text, "--min-df", "4"], 2, "0 of 6 words are kept; left out: 6 in fewer than 4 documents"),
        (
            [text, "--stop-words", "german"],
            2,
            "is neither english nor a file; name a file with a word a line",
        ),
        (
            [text, "--vocabulary", text],
            2,
            "names words that are numbers, and this is plain text, which has",
        ),
        (
            [tmp_path, "--topic-word", tmp_path / "x.tsv"],
            2,
            f"lies in {tmp_path}, which is read; write elsewhere",
        ),
        ([text, "--directed"], 2, "there is no option '--directed'"),
        ([text, "--stop-words", bad, "--json", bad, "--force"], 2, "is read too; write to another file"),
        ([tmp_path / "none"], 1, "none: no such file"),
    ):
        done = gaslab("lda", *words)
        assert (done.code, message in done.err) == (code, True), (words, done.err)


def test_a_share_of_the_documents_in_any_notation(gaslab: Run, tmp_path: Path) -> None:
    text = written(tmp_path, TEXT, "c.txt")
    for share in ("0.5", "5e-1", "+.5", "05E-1"):
        done = gaslab("lda", text, *FEW, "--max-df", share)
        assert (done.code, "1 in more than 2" in done.err) == (0, True), done.err


def test_the_format_that_is_found_is_logged(gaslab: Run, tmp_path: Path) -> None:
    titles = written(tmp_path, "Pulp Fiction\nDie Hard\nTop Gun\n", "titles.txt")
    done = gaslab("lda", titles, *FEW)
    assert f"{titles}: its name and first lines look like text; --format NAME" in done.err
    assert "tokens: 6" in done.out
    done = gaslab("lda", titles, *FEW, "--format", "edges")
    assert "--format NAME" not in done.err
    assert "tokens: 3" in done.out


def test_generated_corpora_are_read_again(gaslab: Run, tmp_path: Path) -> None:
    made = gaslab("generate", "corpus", "--documents", 300, "--words", 50, "--topics", 3, "--min-length", 5,
                  "--max-length", 20, "--alpha", 0.1, "--beta", 0.1, "--seed", 4,
                  "-o", tmp_path / "c.tsv")  # fmt: skip
    assert made.code == 0, made.err
    rows = [list(map(int, line.split("\t"))) for line in (tmp_path / "c.tsv").read_text().splitlines()]
    done = gaslab("lda", tmp_path / "c.tsv", *FEW)
    assert f"tokens: {sum(count for *_, count in rows)}" in done.out
    assert gaslab("generate", "corpus", "--documents", 3).err.count("corpus needs words") == 1
