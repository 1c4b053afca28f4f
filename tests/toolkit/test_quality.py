"""What learned models are measured by: each figure of benchmarks/quality.py against a slow, plain twin."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.sparse

from benchmarks import quality
from benchmarks.quality import Halves, Side, bag, best_match, completion, halve, rmse, tokens


def _documents(documents: int = 30, words: int = 25, seed: int = 0) -> scipy.sparse.csr_matrix:
    rng = np.random.default_rng(seed)
    counts = rng.poisson(0.4, (documents, words)) * rng.integers(1, 4, (documents, words))
    counts[3] = 0  # a document without words
    counts[4] = 0
    counts[4, 7] = 1  # and one with a single token
    return scipy.sparse.csr_matrix(counts)


def _topics(words: int, topics: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(words, 0.3), topics).T


def _plain_completion(halves: Halves, phi: np.ndarray, alpha: float, steps: int) -> float:
    """The header's formula, token by token."""
    topics, logs = range(phi.shape[1]), []
    for first, second in zip(halves.first.toarray(), halves.second.toarray(), strict=True):
        seen = [w for w, count in enumerate(first) for _ in range(count)]
        theta = [1 / phi.shape[1] for _ in topics]
        for _ in range(steps):
            new = [alpha for _ in topics]
            for w in seen:
                whole = sum(theta[j] * phi[w, j] for j in topics)
                for k in topics:
                    new[k] += theta[k] * phi[w, k] / whole
            theta = [share / (len(seen) + phi.shape[1] * alpha) for share in new]
        for w, count in enumerate(second):
            logs += [math.log(sum(theta[k] * phi[w, k] for k in topics))] * count
    return sum(logs) / len(logs)


@pytest.mark.parametrize("topics", [1, 2, 5])
@pytest.mark.parametrize("chunk", [1, 4, 64])
def test_completion_is_its_formula(topics: int, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "CHUNK", chunk)
    halves = halve(_documents(), seed=2, test=0.5)
    phi = _topics(halves.train.shape[1], topics)
    for alpha, steps in ((0.1, 30), (2.0, 1)):
        expected = _plain_completion(halves, phi, alpha, steps)
        assert completion(halves, phi, alpha, steps) == pytest.approx(expected, rel=1e-12)


def test_completion_prefers_the_topics_of_the_documents() -> None:
    rng = np.random.default_rng(0)
    phi = _topics(40, 4)
    mixes = rng.dirichlet(np.full(4, 0.1), 200)
    counts = scipy.sparse.csr_matrix(np.stack([rng.multinomial(60, mix @ phi.T) for mix in mixes]))
    halves = halve(counts, seed=0)
    assert halves.train.shape[1] == 40
    assert completion(halves, phi, 0.1) > completion(halves, _topics(40, 4, seed=9), 0.1) + 0.5


def test_each_token_of_a_test_document_is_in_one_half() -> None:
    counts = _documents() + scipy.sparse.csr_matrix(
        np.ones((30, 25), np.int64)
    )  # every word in every document
    halves = halve(counts, seed=5, test=0.4)
    first, second = halves.first.toarray(), halves.second.toarray()
    assert halves.train.shape == (18, 25)
    rows = sorted([*halves.train.toarray().tolist(), *(first + second).tolist()])
    assert rows == sorted(counts.toarray().tolist())
    assert set((first.sum(axis=1) - second.sum(axis=1)).tolist()) == {0, 1}
    for one, other in zip(first, second, strict=True):  # not by their words
        assert np.flatnonzero(one).max() > np.flatnonzero(other).min()
        assert np.flatnonzero(one).min() < np.flatnonzero(other).max()


def test_the_seed_draws_documents_and_halves() -> None:
    counts = _documents()
    one, again, other = (halve(counts, seed, test=0.4) for seed in (5, 5, 6))
    assert (one.first != again.first).nnz == 0
    assert (one.train != again.train).nnz == 0
    assert one.train.shape != other.train.shape or (one.train != other.train).nnz > 0


def test_words_without_a_training_document_and_short_documents_are_left_out() -> None:
    for seed in range(20):
        counts = _documents(seed=seed)
        halves = halve(counts, seed, test=0.5)
        lengths = (halves.first + halves.second).sum(axis=1)
        assert halves.train.shape[0] == 15
        assert halves.train.sum(axis=0).min() > 0
        assert lengths.min() >= 2
        assert halves.first.shape == halves.second.shape == (lengths.size, halves.train.shape[1])


def test_tokens_and_bag_are_inverse() -> None:
    counts = _documents()
    document, word = tokens(counts)
    assert document.size == counts.sum()
    order = np.random.default_rng(0).permutation(document.size)
    assert (bag(document[order], word[order], counts.shape) != counts).nnz == 0


def test_best_match_is_the_best_of_all_assignments() -> None:
    known, found = _topics(12, 5), _topics(12, 5, seed=4)

    def cosine(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))

    best = max(
        sum(cosine(found[:, f], known[:, k]) for k, f in enumerate(order)) / 5
        for order in itertools.permutations(range(5))
    )
    assert best_match(found, known) == pytest.approx(best, rel=1e-12)
    assert best_match(known[:, [3, 1, 4, 0, 2]], known) == pytest.approx(1.0)


def test_rmse_takes_the_mean_for_unknown_users_and_items() -> None:
    rng = np.random.default_rng(3)
    users = Side(np.array([2, 5, 9]), rng.normal(size=3), rng.normal(size=(3, 4)).astype(np.float32))
    items = Side(np.array([1, 7]), rng.normal(size=2), rng.normal(size=(2, 4)).astype(np.float32))
    ratings = np.array([(u, i, 1.0 + (u + i) % 5) for u in (0, 2, 3, 5, 9, 99) for i in (0, 1, 5, 7, 8)])
    squares, rows = 0.0, 0
    for user, item, rating in ratings.tolist():
        expected = 3.5
        if user in (2, 5, 9) and item in (1, 7):
            u, i = [2, 5, 9].index(int(user)), [1, 7].index(int(item))
            expected += users.bias[u] + items.bias[i]
            expected += sum(float(users.factors[u, k]) * float(items.factors[i, k]) for k in range(4))
        squares, rows = squares + (rating - expected) ** 2, rows + 1
    assert rmse(3.5, users, items, ratings) == pytest.approx(math.sqrt(squares / rows), rel=1e-12)
