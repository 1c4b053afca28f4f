"""Corpora of matrices, frames and texts in memory: counts, words, rounding, parts; what cannot be one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import gaslab as gl
from gaslab.errors import InputError, UsageError
from gaslab.ingest.corpus.memory import corpus_edges_from
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.corpora import contents, error_on_every_size, on_every_size

COUNTS = np.array([[2, 0, 1], [0, 0, 0], [0, 3, 1], [1, 0, 0]])
ROWS = [(0, 0, 2), (0, 2, 1), (2, 1, 3), (2, 2, 1), (3, 0, 1)]
WORDS = ["zoo", "ape", "Äpfel"]
NAMED = sorted((d, WORDS[w], n) for d, w, n in ROWS)


def of(data: Any, **options: Any) -> tuple[Any, ...]:
    return on_every_size(lambda comm: contents(corpus_edges_from(data, comm, **options), comm))


def refused(data: Any, kind: type[Exception] = UsageError, **options: Any) -> str:
    return error_on_every_size(lambda comm: corpus_edges_from(data, comm, **options), kind)


MATRICES = {
    "dense": COUNTS,
    "csr": sp.csr_array(COUNTS),
    "csc": sp.csc_matrix(COUNTS),
    "float": sp.coo_array(COUNTS.astype(np.float32)),
    "bytes": sp.csr_array(COUNTS.astype(np.int8)),
    "zeros": sp.coo_array(([2, 1, 3, 1, 1, 0], ([0, 0, 2, 2, 3, 3], [0, 2, 1, 2, 0, 1])), shape=(4, 3)),
    "twice": sp.coo_array(([1, 1, 1, 3, 1, 1], ([0, 0, 0, 2, 2, 3], [0, 0, 2, 1, 2, 0])), shape=(4, 3)),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MATRICES)
def test_matrices(name: str) -> None:
    rows, left, right, mark = of(MATRICES[name])
    assert (rows, left, right) == (ROWS, [0, 1, 2, 3], [0, 1, 2])
    assert mark == of(COUNTS)[3]
    for vocabulary in (
        WORDS,
        np.array(WORDS),
        np.array(WORDS, object),
        {"Äpfel": 2, "zoo": 0, "ape": np.int64(1)},
    ):
        assert of(MATRICES[name], vocabulary=vocabulary)[:3] == (NAMED, [0, 1, 2, 3], ["ape", "zoo", "Äpfel"])


def test_words_are_chosen_and_stay_without_documents() -> None:
    wide = np.pad(COUNTS, ((0, 0), (0, 1)))
    assert of(wide)[2] == [0, 1, 2, 3]
    assert of(wide, min_df=1)[2] == [0, 1, 2]
    assert of(wide, min_df=2)[:3] == ([row for row in ROWS if row[1] != 1], [0, 1, 2, 3], [0, 2])
    assert of(COUNTS, vocabulary=WORDS, stop_words=["zoo"])[2] == ["ape", "Äpfel"]
    said = refused(COUNTS, stop_words="english")
    assert said == (
        "stop_words= (--stop-words): the words of matrix are numbers; name them with vocabulary= "
        "(--vocabulary)"
    )


FRAME = pd.DataFrame(
    {"document": [7, 7, 9, 7], "word": ["b", "a", "b", "b"], "count": [1, 2, 3, 4], "page": 0}
)


def test_frames() -> None:
    expected = [(7, "a", 2), (7, "b", 1), (7, "b", 4), (9, "b", 3)]
    assert of(FRAME)[:3] == (expected, [7, 9], ["a", "b"])
    assert of(FRAME, count=None)[0] == [(7, "a", 1), (7, "b", 1), (7, "b", 1), (9, "b", 1)]
    assert of(FRAME.drop(columns="count"))[0] == of(FRAME, count=None)[0]
    other = FRAME.rename(columns={"document": "d", "word": "w", "count": "n"})
    assert of(other, document="d", word="w", count="n")[0] == expected
    assert of(FRAME, min_df=2)[2] == ["b"]  # though b is twice in one document
    assert of(FRAME, max_df=1)[2] == ["a"]
    assert refused(other).startswith("document='document': the frame has no such column")
    assert refused(FRAME, count="n").startswith("columns='n': the frame has no such column")
    gap = pd.DataFrame({"document": [1, 2], "word": ["a", None]})
    assert refused(gap, InputError).startswith("word[1] is missing")


def test_texts() -> None:
    texts = ["The cat and\nthe dog", "", "CAT!"]
    rows, left, right, _ = of(texts, stop_words="english")
    assert (rows, left, right) == ([(0, "cat", 1), (0, "dog", 1), (2, "cat", 1)], [0, 1, 2], ["cat", "dog"])
    assert of(np.array(texts), stop_words="english")[0] == rows
    assert of(pd.Series(texts), stop_words="english")[0] == rows
    for gap in (None, float("nan"), pd.NA):
        said = refused(["a", gap], InputError)
        assert said == f"data[1] is missing ({gap!r}); leave its row out, or fill it"
    said = refused(["aa", "bb", "cc \udcff"], InputError)
    assert said.startswith("the text of document 2 has half of a surrogate pair, '\\udcff', and")
    assert refused(["a", 3]) == "data[1] is of type int; each text is a str"
    assert of(["a", "\n"])[:3] == ([], [0, 1], [])
    assert refused([], InputError) == "texts: the corpus has no documents"


@pytest.mark.filterwarnings("error")
def test_counts_that_are_not_whole_are_rounded_with_one_warning() -> None:
    values = COUNTS * 1.0
    assert of(values)[0] == ROWS
    values[0, 0], values[3, 0] = 2.4, 0.4
    with pytest.warns(
        UserWarning, match=r"^2 counts are not whole numbers and are rounded, the first 2\.4 at \(0, 0\)"
    ):
        graph = gl.corpus_from(values)
    assert sorted(graph.edge_columns["count"].tolist()) == [1, 1, 2, 3]
    assert graph.num_left == 4
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert gl.corpus_from(FRAME.assign(count=[1.2, 2, 3, 4])).counts["tokens"] == 10
    assert [str(one.message)[:48] for one in caught] == ["1 counts are not whole numbers and are rounded, "]
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="rounded"):
        assert gl.corpus_from(np.full((2, 2), 0.3)).counts["tokens"] == 0


@pytest.mark.parametrize("value", [-1, -0.5, np.nan, np.inf, 2**31])
def test_bad_counts(value: float) -> None:
    values = COUNTS * 1.0
    values[2, 1] = value
    limit = "; counts are whole numbers from 0 to 2147483647"
    assert refused(values, InputError) == f"the count at (2, 1) is {np.float64(value)!s}{limit}"
    if not np.isnan(value):
        said = refused(FRAME.assign(count=[1, 2, value, 4]), InputError)
        assert said == f"the count at row 2 is {np.float64(value)!s}{limit}" or isinstance(value, int)
        assert said.startswith("the count at row 2 is ")


NEEDED = "a sparse or dense matrix, a data frame or a sequence of texts is needed"


@pytest.mark.parametrize(
    ("data", "options", "said"),
    [
        ("text", {}, f"data='text': {NEEDED}, not str"),
        (3, {}, f"data=3: {NEEDED}, not int"),
        ({}, {}, f"data={{}}: {NEEDED}, not dict"),
        (COUNTS * 1j, {}, "the matrix has dtype complex128; counts are whole numbers"),
        (COUNTS, {"vocabulary": ["a", "b"]}, "vocabulary has 2 words, and the matrix 3 columns"),
        (COUNTS, {"vocabulary": ["a", "b", "a"]},
         "vocabulary='a' names column 0 and column 2; words are distinct"),
        (COUNTS, {"vocabulary": ["a", "", "c"]}, "vocabulary[1] is empty; each is a word"),
        (COUNTS, {"vocabulary": {"a": 1, "b": 2, "c": 3}},
         "vocabulary maps 3 words to columns that are not 0 to 2, each once"),
        (FRAME, {"vocabulary": WORDS},
         "vocabulary= names the columns of a matrix, and the corpus is from pandas; leave it out"),
        (COUNTS, {"rows": "each"}, "rows='each' is unknown; known: parts, root, same"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_corpus(data: Any, options: dict[str, Any], said: str) -> None:
    assert refused(data, **options) == said


def test_a_matrix_without_tokens() -> None:
    for matrix in (np.zeros((2, 3)), sp.csr_array((2, 0))):
        graph = gl.corpus_from(matrix)
        assert (graph.num_left, graph.num_edges, graph.counts["empty_documents"]) == (2, 0, 2)
    assert "the corpus has no documents" in refused(np.zeros((0, 0)), InputError)


def _by_parts(comm: Comm) -> list[Any]:
    """Return what each way of handing out the same corpus makes of it."""
    lo, hi = 4 * comm.rank // comm.size, 4 * (comm.rank + 1) // comm.size
    texts = ["the cat", "", "a dog, a cat", "bank"]
    some = FRAME.iloc[lo:hi]
    found = []
    for whole, part, options in (
        (COUNTS, COUNTS[lo:hi], {}),
        (sp.csr_array(COUNTS), sp.csr_array(COUNTS)[lo:hi], {"vocabulary": WORDS}),
        (texts, texts[lo:hi], {}), (FRAME, some, {}),
    ):  # fmt: skip
        same = gl.corpus_from(whole, comm=comm, **options)
        parts = gl.corpus_from(part, comm=comm, rows="parts", **options)
        root = gl.corpus_from(whole if comm.rank == 0 else None, comm=comm, rows="root", **options)
        found.append((same.fingerprint, parts.fingerprint, root.fingerprint))
    return found


def _unlike(comm: Comm) -> list[str]:
    said = []
    for data, rows in (
        (COUNTS[: comm.rank + 1], "same"), (COUNTS[:, : comm.rank + 1], "parts"),
        (COUNTS if comm.rank else FRAME, "same"), (COUNTS + comm.rank, "same"),
    ):  # fmt: skip
        with pytest.raises(UsageError) as error:
            gl.corpus_from(data, comm=comm, rows=rows)
        said.append(str(error.value))
    return said


def test_ranks_have_the_same_or_parts(ranks: Ranks) -> None:
    alone = _by_parts(Comm())
    for found in ranks.run(_by_parts):
        assert found == alone
    for one in alone:
        assert len(set(one)) == 1
    if ranks.size > 1:
        for said in ranks.run(_unlike):
            assert said[0].startswith(
                "rank 0 passed a matrix of shape (1, 3), rank 1 one of (2, 3); all have the"
            )
            assert said[1].startswith(
                "rank 0 passed a matrix of shape (4, 1), rank 1 one of (4, 2); all have the"
            )
            assert said[2] == "rank 0 passed a corpus from pandas, rank 1 one from matrix"
            assert "differ between rank 0 and rank 1" in said[3] or "rows='same' needs" in said[3]
