"""gl.topics.coherence against the papers' formulas over plain sets, on any ranks, from any corpus."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import scipy.sparse

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks

RNG = np.random.default_rng(0)
WORDS = [f"w{k:02}" for k in range(20)]
TEXTS = [[WORDS[k] for k in RNG.integers(0, 18, length)] for length in [*RNG.integers(1, 40, 50), 0]]
TOP = np.array([RNG.permutation(19)[:5] for _ in range(4)])  # w18 is in no document
NAMED = np.array(WORDS)[TOP]
TINY = 1e-12


def windows(size: int | None) -> list[set[str]]:
    if size is None:
        return [set(text) for text in TEXTS]
    return [set(text[at : at + size]) for text in TEXTS for at in range(max(len(text) - size + 1, 1))]


def together(documents: list[set[str]], *words: str) -> int:
    return sum(document.issuperset(words) for document in documents)


def npmi(documents: list[set[str]], one: str, other: str) -> float | None:
    apart = [together(documents, word) / len(documents) for word in (one, other)]
    pair = together(documents, one, other) / len(documents) + TINY
    return math.log(pair / math.prod(apart)) / -math.log(pair) if all(apart) else None


def mean(values: Sequence[float | None]) -> float:
    return float(np.mean([x for x in values if x is not None]))


def plain(measure: str, words: Sequence[str], window: int | None) -> float:
    """The coherence of one topic, pair by pair."""
    documents = windows(window)
    if measure == "npmi":
        return mean([npmi(documents, *pair) for pair in itertools.combinations(words, 2)])
    if measure == "umass":
        alone = {word: together(documents, word) for word in words}
        return mean([
            math.log((together(documents, a, b) + 1) / alone[a]) if alone[a] * alone[b] else None
            for a, b in itertools.combinations(words, 2)
        ])  # fmt: skip
    vectors = np.array([[npmi(documents, a, b) or 0.0 for b in words] for a in words])
    cosines = [
        vector @ vectors.sum(axis=0) / np.linalg.norm(vector) / np.linalg.norm(vectors.sum(axis=0))
        for vector in vectors
        if vector.any()
    ]
    return float(np.mean(cosines))


def matrix() -> np.ndarray:
    counts = np.zeros((len(TEXTS), len(WORDS)), np.int64)
    for row, text in enumerate(TEXTS):
        np.add.at(counts[row], [WORDS.index(word) for word in text], 1)
    return counts


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize("measure", ["npmi", "umass", "c_v"])
def test_texts(measure: str, window: int | None) -> None:
    texts = [" ".join(text) for text in TEXTS]
    found = gl.topics.coherence(texts, NAMED, measure=measure, window=window)
    size = 110 if measure == "c_v" and window is None else window
    np.testing.assert_allclose(found, [plain(measure, words, size) for words in NAMED], rtol=1e-9)


def of_graph(comm: Comm) -> list[Any]:
    found = []
    for strategy in ("1d", "random"):
        graph = gl.corpus_from(matrix(), vocabulary=WORDS, strategy=strategy, comm=comm)
        found += [gl.topics.coherence(graph, TOP, measure=measure).tolist() for measure in ("npmi", "umass")]
    return found


def test_a_graph_on_any_ranks(ranks: Ranks) -> None:
    expected = [[plain(measure, words, None) for words in NAMED] for measure in ("npmi", "umass")] * 2
    for found in ranks.run(of_graph):
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_matrices_and_counts() -> None:
    counts, expected = matrix(), [plain("npmi", words, None) for words in NAMED]
    for corpus in (counts, counts > 0, scipy.sparse.csr_array(counts), scipy.sparse.coo_matrix(counts)):
        np.testing.assert_allclose(gl.topics.coherence(corpus, TOP), expected, rtol=1e-12)
    edges = gl.Graph.from_edges(  # parallel edges, and one that is no token
        [0, 0, 1, 1, 2], [5, 5, 5, 6, 6], bipartite=True, columns={"count": [1, 2, 1, 1, 0]}
    )
    once = gl.topics.coherence(edges, [[0, 1]], measure="umass")
    assert once.tolist() == [math.log((1 + 1) / 2)]


def test_what_a_topic_without_pairs_has() -> None:
    found = gl.topics.coherence(["a1 b1", "a1"], [["a1"], ["zz"]])
    assert np.isnan(found).all()
    tops = [["a1", "zz"], ["yy", "zz"], ["a1", "c1"]]
    for measure in ("npmi", "umass", "c_v"):
        found = gl.topics.coherence(["a1 b1", "c1"], tops, measure=measure)
        assert np.isnan(found).tolist() == [True, True, False]
    everywhere = gl.topics.coherence(["a1 b1", "a1 b1"], [["a1", "b1"]])
    assert everywhere.tolist() == [0.0]


@pytest.mark.parametrize(
    ("corpus", "top", "options", "said"),
    [
        (np.eye(2), [[0, 1]], {"measure": "c_v"}, "measure='c_v' needs the order of words"),
        (np.eye(2), [[0, 1]], {"window": 3}, "window=3 needs the order of words"),
        (np.eye(2), [[0, 2]], {}, "top= has the word 2; the corpus has 2 words"),
        (np.eye(2), [["a", "b"]], {}, "top= needs positions of words"),
        (["a1 b1"], [[0, 1]], {}, "top= needs the words themselves with texts"),
        (np.eye(2), [0, 1], {}, "top= needs the top words of each topic"),
        (np.ones(2), [[0, 1]], {}, "not an array of 1 axes"),
        (np.eye(2), [[0, 1]], {"measure": "uci"}, "measure='uci' is unknown"),
    ],
)
def test_bad_arguments_are_named(corpus: Any, top: Any, options: dict[str, Any], said: str) -> None:
    with pytest.raises(gl.UsageError, match=said):
        gl.topics.coherence(corpus, top, **options)
