"""gl.LDA: scikit-learn's checks, its use in a pipeline, and the same answers on any ranks."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import gaslab as gl
from examples.lda import corpus
from gaslab.parallel import fingerprint
from gaslab.parallel.comm import Comm, world
from tests.mpi.ranks import Ranks

sklearn = pytest.importorskip("sklearn")

TOPICS = 4
DOCUMENT, WORD, _ = corpus(documents=60, words=40, length=20, topics=TOPICS)
COUNTS = np.zeros((60, 40), np.int64)
np.add.at(COUNTS, (DOCUMENT, WORD), 1)
FEW: dict[str, Any] = {"n_components": TOPICS, "max_iter": 5, "random_state": 3, "threads": 1}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:.*counts are not whole numbers")
def test_scikit_learn_s_own_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    from sklearn.utils.estimator_checks import check_estimator

    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # graphs this small are built faster by one
    done = check_estimator(gl.LDA(n_components=5, max_iter=1), on_fail="raise", on_skip=None)
    assert len(done) > 40


def test_it_is_gl_lda_and_the_model_s_fold_in() -> None:
    import pandas as pd

    names = [f"w{word:02d}" for word in range(40)]
    frame = pd.DataFrame(COUNTS, columns=names)
    made = gl.LDA(**FEW).fit(frame)
    seed = np.random.RandomState(3).randint((1 << 31) - 1)
    graph = gl.corpus_from(COUNTS, vocabulary=names)
    result = gl.lda(graph, topics=TOPICS, iterations=5, seed=seed, threads=1)
    topics = made.components_ / made.components_.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(topics.T, result.tables["topic_word"]["probability"], rtol=1e-12)
    mixes = made.transform(frame)
    assert np.array_equal(mixes, made.model_.transform(graph)["probability"])
    assert made.model_.words.tolist() == made.feature_names_in_.tolist() == names
    assert made.get_feature_names_out().tolist() == ["lda0", "lda1", "lda2", "lda3"]
    assert (made.n_iter_, made.n_features_in_) == (5, 40)
    score = (COUNTS * np.log(mixes @ topics)).sum()
    assert made.score(frame) == pytest.approx(score, rel=1e-12)
    assert made.perplexity(frame) == pytest.approx(np.exp(-score / COUNTS.sum()), rel=1e-12)


def test_columns_of_one_name_are_refused() -> None:
    import pandas as pd

    frame = pd.DataFrame(COUNTS[:, :5], columns=["a", "b", "a", "c", "c"])
    for method in ("fit", "fit_transform", "partial_fit"):
        with pytest.raises(gl.UsageError, match=r"several columns of X are named 'a', 'c'; each is a word"):
            getattr(gl.LDA(**FEW), method)(frame)
    made = gl.LDA(**FEW).fit(COUNTS[:, :5])
    with pytest.raises(gl.UsageError, match=r"named 'a', 'c'; "):
        made.transform(frame)


def test_a_pipeline_behind_a_vectorizer() -> None:
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.pipeline import make_pipeline

    texts = ["cat dog cat", "dog cat dog cat", "bond bank bank", "bank bond bank", "new"]
    made = make_pipeline(CountVectorizer(), gl.LDA(2, max_iter=30, random_state=1, threads=1))
    mixes = made.fit_transform(texts)
    assert mixes[:4].argmax(axis=1).tolist() in ([0, 0, 1, 1], [1, 1, 0, 0])
    assert np.array_equal(made.transform(texts[::-1])[::-1], mixes)


def test_further_documents_add_to_the_counts() -> None:
    made = gl.LDA(**FEW).partial_fit(COUNTS[:30])
    assert np.array_equal(made.components_, gl.LDA(**FEW).fit(COUNTS[:30]).components_)
    first = made.model_.counts
    made.partial_fit(COUNTS[30:])
    assert (made.model_.counts >= first).all()
    assert made.model_.counts.sum(axis=1).tolist() == COUNTS.sum(axis=0).tolist()
    assert made.model_.tokens == COUNTS.sum()


def test_what_the_first_documents_decided_stays() -> None:
    made = gl.LDA(**FEW, doc_topic_prior=[0.1, 0.2, 0.3, 0.7]).partial_fit(COUNTS[:30])
    for name, value, known in (
        ("n_components", 7, "4"), ("doc_topic_prior", 0.5, r"\[0.1, 0.2, 0.3, 0.7\]"),
        ("doc_topic_prior", [0.1, 0.2], r"\[0.1, 0.2, 0.3, 0.7\]"), ("topic_word_prior", "x", "0.01"),
    ):  # fmt: skip
        before = getattr(made, name)
        made.set_params(**{name: value})
        with pytest.raises(gl.UsageError, match=rf"{name}=.*: the model, .* goes on, has {known}; fit"):
            made.partial_fit(COUNTS[30:])
        made.set_params(**{name: before})
    made.set_params(max_iter=9).partial_fit(COUNTS[30:])
    assert made.set_params(n_components=7, doc_topic_prior=1).fit(COUNTS).components_.shape == (7, 40)


def test_counts_are_rounded_with_one_warning_and_bad_ones_refused() -> None:
    broken = COUNTS + 0.25
    with pytest.warns(UserWarning, match="^2,400 counts are not whole numbers and are rounded$") as said:
        made = gl.LDA(**FEW).fit(broken)
    assert len(said) == 1
    with pytest.warns(UserWarning, match="are rounded") as said:
        mixes = gl.LDA(**FEW).fit_transform(broken)
    assert len(said) == 1
    assert np.array_equal(mixes, made.transform(COUNTS))
    assert np.array_equal(made.components_, gl.LDA(**FEW).fit(COUNTS).components_)
    for value, text in ((-1.0, "Negative values"), (np.nan, "NaN"), (1e12, "counts are at most")):
        broken[3, 3] = value
        with pytest.raises(ValueError, match=text):
            gl.LDA(**FEW).fit(broken)
    for option, text in (
        ({"n_components": 0}, "n_components=0"), ({"rows": "root"}, "rows='root'"),
        ({"max_iter": 0}, "max_iter=0"), ({"random_state": "x"}, "'x' cannot be used to seed"),
        ({"doc_topic_prior": -1}, "doc_topic_prior=-1"), ({"topic_word_prior": "x"}, "topic_word_prior='x'"),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            gl.LDA(**{**FEW, **option}).fit(COUNTS)
    with pytest.raises(ValueError, match="no tokens"):
        gl.LDA(**FEW).fit(0 * COUNTS)


def fitted(comm: Comm) -> list[Any]:
    """Return what the estimator finds of rows that are the same on all ranks, and of parts of them."""
    share = slice(60 * comm.rank // comm.size, 60 * (comm.rank + 1) // comm.size)
    found = []
    for rows, part in (("same", slice(60)), ("parts", share)):
        made = gl.LDA(**FEW, sampler="metropolis-hastings", rows=rows, comm=comm).fit(COUNTS[part])
        mixes = made.fit_transform(COUNTS[part])
        assert np.array_equal(mixes, made.transform(COUNTS[part]))
        if rows == "parts":
            mixes = np.concatenate(comm.allgather(mixes))
        made.partial_fit(COUNTS[part])
        found.append([mixes.tolist(), made.components_.tolist(), made.score(COUNTS[part])])
    return found


@pytest.mark.slow
def test_ranks_with_the_same_rows_or_parts_of_them(ranks: Ranks) -> None:
    alone = fitted(world())
    assert alone[0] == alone[1]
    assert all(found == alone for found in ranks.run(fitted))


def compared(comm: Comm) -> list[int]:
    """Return how many numbers of the documents, which are the same on all ranks, `fit` compares."""
    sizes: list[int] = []
    checksum = fingerprint._array

    def counted(value: Any) -> Any:
        sizes.append(value.size)
        return checksum(value)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fingerprint, "_array", counted)
        gl.LDA(**FEW, comm=comm).fit(COUNTS)
    return [size for size in sizes if size == np.count_nonzero(COUNTS)]


def test_documents_are_compared_once(hosts: Any) -> None:
    assert [len(sizes) for sizes in hosts(2).run(compared)] == [2, 2]  # words and counts


def one_bad(comm: Comm) -> None:
    rows = COUNTS - (comm.rank == comm.size - 1)
    gl.LDA(**FEW, rows="parts", comm=comm).fit(rows)


def test_what_one_rank_s_rows_lack_all_ranks_raise(ranks: Ranks) -> None:
    with pytest.raises(ValueError, match="Negative values"):
        ranks.run(one_bad)


def with_none(comm: Comm) -> list[Any]:
    """Return what the estimator finds where all documents are on one rank."""
    part = COUNTS if comm.rank == comm.size - 1 else COUNTS[:0]
    made = gl.LDA(**FEW, sampler="metropolis-hastings", rows="parts", comm=comm).fit(part)
    mixes = np.concatenate(comm.allgather(made.transform(part)))
    made.partial_fit(part)
    return [mixes.tolist(), made.components_.tolist(), made.score(part)]


def none_at_all(comm: Comm) -> None:
    gl.LDA(**FEW, rows="parts", comm=comm).fit(COUNTS[:0])


def test_a_rank_with_parts_may_have_no_documents(hosts: Any) -> None:
    alone = fitted(world())[0]
    assert all(found == alone for found in hosts(3).run(with_none))
    with pytest.raises(gl.UsageError, match="no rank has a document"):
        hosts(2).run(none_at_all)


def disagreeing(comm: Comm, method: str, other: Any) -> None:
    made = gl.LDA(**FEW, comm=comm)
    if not method.startswith("fit"):
        made.fit(COUNTS)
    if comm.rank and isinstance(other, str):
        made.rows = other
    getattr(made, method)(other if comm.rank and not isinstance(other, str) else COUNTS)


@pytest.mark.parametrize("method", ["fit", "fit_transform", "partial_fit", "transform", "score"])
@pytest.mark.parametrize(("other", "name"), [("parts", "rows"), (COUNTS[:7], "X"), (0 * COUNTS, "X")])
def test_ranks_that_disagree_are_told(hosts: Any, method: str, other: Any, name: str) -> None:
    with pytest.raises(gl.UsageError, match=rf"ranks disagree on {name} of LDA\.{method}\(\)"):
        hosts(2).run(disagreeing, method, other)


def test_without_scikit_learn_the_error_says_so() -> None:
    check = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from gaslab import *\nimport gaslab as gl\n"
        "try: gl.LDA(5)\n"
        "except gl.UsageError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("gl.LDA needs scikit-learn 1.6 or newer: pip install scikit-learn; gl.lda")
