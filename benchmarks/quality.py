"""How good learned topics and factors are on data they have not seen; every system is measured by these.

Document completion (Wallach, Murray, Salakhutdinov, Mimno, "Evaluation Methods for Topic Models", ICML 2009,
section 5.1). The topics phi, a matrix (words, topics), stay as they are. The mix theta of a test document is
fitted to the first half of its tokens by EM under the prior alpha, from theta[k] = 1 / topics:

    theta[k] <- (alpha + sum over tokens w of theta[k] phi[w, k] / sum over j of theta[j] phi[w, j])
                / (tokens + topics * alpha)

The figure is the mean over the tokens w of the second halves of log(sum over k of theta[k] phi[w, k]),
base e.

Ratings: the root mean square error over the test ratings of mean + bias[user] + bias[item] +
factors[user] . factors[item], not clipped; of an unknown user or item the mean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse
from scipy.optimize import linear_sum_assignment

CHUNK = 64  # documents whose tokens are held at once


@dataclass
class Halves:
    """Documents to learn from, and the two halves of the others: matrices (documents, words) of counts."""

    train: scipy.sparse.csr_matrix
    first: scipy.sparse.csr_matrix
    second: scipy.sparse.csr_matrix


def halve(counts: scipy.sparse.csr_matrix, seed: int, test: float = 0.1) -> Halves:
    """Keep a part *test* of the documents out of the training; halve the tokens of each, at random.

    A word without a training document is left out, so that no system needs a probability for it: the
    columns of all three matrices are the words of the training documents, in their order. A test document
    with fewer than two such tokens is left out too.
    """
    rng = np.random.default_rng(seed)
    held = np.zeros(counts.shape[0], dtype=bool)
    held[rng.permutation(counts.shape[0])[: round(test * counts.shape[0])]] = True
    train = counts[~held]
    words = np.flatnonzero(train.sum(axis=0))
    documents = counts[held][:, words]
    documents = documents[np.flatnonzero(documents.sum(axis=1) >= 2)]
    first, second = parted(documents, rng)
    return Halves(train[:, words], first, second)


def parted(
    documents: scipy.sparse.csr_matrix, rng: np.random.Generator
) -> tuple[scipy.sparse.csr_matrix, scipy.sparse.csr_matrix]:
    """Part the tokens of each document in two halves, at random; the first has the odd token."""
    document, word = tokens(documents)
    order = np.lexsort((rng.random(document.size), document))
    document, word = document[order], word[order]
    lengths = np.bincount(document, minlength=documents.shape[0])
    position = np.arange(document.size) - np.repeat(lengths.cumsum() - lengths, lengths)
    early = position < (np.repeat(lengths, lengths) + 1) // 2
    first, second = (bag(document[half], word[half], documents.shape) for half in (early, ~early))
    return first, second


def tokens(counts: scipy.sparse.csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the document and the word of each token."""
    cells = counts.tocoo()
    return np.repeat(cells.row, cells.data), np.repeat(cells.col, cells.data)


def bag(document: np.ndarray, word: np.ndarray, shape: tuple[int, int]) -> scipy.sparse.csr_matrix:
    """Return the counts of tokens, a row for each document and a column for each word."""
    return scipy.sparse.coo_matrix((np.ones(document.size, np.int64), (document, word)), shape).tocsr()


def completion(halves: Halves, topics: np.ndarray, alpha: float, steps: int = 30) -> float:
    """Return the mean log-likelihood of a token of the second halves; *topics* is (words, topics)."""
    total = 0.0
    for low in range(0, halves.first.shape[0], CHUNK):
        mixes = fitted_mixes(halves.first[low : low + CHUNK], topics, alpha, steps)
        second = halves.second[low : low + CHUNK].tocoo()
        total += float(second.data @ np.log((mixes[second.row] * topics[second.col]).sum(axis=1)))
    return total / float(halves.second.sum())


def fitted_mixes(first: scipy.sparse.csr_matrix, topics: np.ndarray, alpha: float, steps: int) -> np.ndarray:
    """Return theta, (documents, topics), after *steps* of EM on the tokens of *first*."""
    count = topics.shape[1]
    row, columns = first.tocoo().row, topics[first.indices]
    length = np.asarray(first.sum(axis=1)).reshape(-1, 1)
    mixes = np.full((first.shape[0], count), 1.0 / count)
    for _ in range(steps):
        likelihood = np.einsum("tk,tk->t", mixes[row], columns)
        weights = scipy.sparse.csr_matrix((first.data / likelihood, first.indices, first.indptr), first.shape)
        mixes = (alpha + mixes * (weights @ topics)) / (length + count * alpha)
    return mixes


def best_match(found: np.ndarray, known: np.ndarray) -> float:
    """Return the mean cosine of found and known topics, both (words, topics), in their best assignment."""
    cosines = (found / np.linalg.norm(found, axis=0)).T @ (known / np.linalg.norm(known, axis=0))
    return float(cosines[linear_sum_assignment(cosines, maximize=True)].mean())


@dataclass
class Side:
    """Bias and factors of users or of items: a row for each of *ids*, which are sorted."""

    ids: np.ndarray
    bias: np.ndarray
    factors: np.ndarray

    def rows(self, ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the row of each id, and whether it has one."""
        found = np.minimum(np.searchsorted(self.ids, ids), self.ids.size - 1)
        return found, self.ids[found] == ids


def rmse(mean: float, users: Side, items: Side, ratings: np.ndarray) -> float:
    """Return the error over *ratings*, rows of user, item and rating."""
    (user, user_known), (item, item_known) = users.rows(ratings[:, 0]), items.rows(ratings[:, 1])
    product = np.einsum("rk,rk->r", users.factors[user], items.factors[item], dtype=np.float64)
    more = np.where(user_known & item_known, users.bias[user] + items.bias[item] + product, 0.0)
    return float(np.sqrt(np.mean((ratings[:, 2] - mean - more) ** 2)))
