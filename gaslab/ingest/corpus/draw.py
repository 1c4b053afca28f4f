"""Documents drawn from topics: the model of latent Dirichlet allocation, with power-law lengths.

Blei, Ng, Jordan, "Latent Dirichlet Allocation", JMLR 2003. The topics depend only on the seed, the documents
of a block on the seed and its number: every rank draws whole blocks, and any number of ranks the same corpus.
"""

from __future__ import annotations

import numpy as np

BLOCK = 256  # documents


def draw_topics(words: int, topics: int, beta: float, seed: int) -> np.ndarray:
    """Return the probability of each word in each topic, float64 of shape (words, topics)."""
    weights = np.random.default_rng([seed, 0]).standard_gamma(beta, (topics, words)) + 1e-300
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights.T)


def draw_documents(
    block: int, count: int, topics: np.ndarray, alpha: float, lengths: np.ndarray, seed: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (document from 0, word, count) of the *count* documents of a block, int64 each.

    *topics* is the result of `edges_of_topics`; *lengths* has the cumulative probabilities of 0, 1, ...
    tokens.
    """
    rng = np.random.default_rng([seed, 1, block])
    length = np.searchsorted(lengths, rng.random(count), side="right")
    width = topics.shape[1] - 1
    mix = rng.dirichlet(np.full(topics.shape[0], alpha), count)
    of_topic = rng.multinomial(length, mix)  # tokens, (documents, topics)
    topic = np.repeat(np.tile(np.arange(topics.shape[0]), count), of_topic.ravel())
    document = np.repeat(np.arange(count), length)
    place = np.searchsorted(topics.ravel(), topic + rng.random(topic.size), side="right") - 1
    word = np.minimum(place - topic * (width + 1), width - 1)
    pair, times = np.unique(document * width + word, return_counts=True)
    return pair // width, pair % width, times.astype(np.int64)


def edges_of_topics(topics: np.ndarray) -> np.ndarray:
    """Return the bounds in [k, k + 1) of the intervals of topic k's words, (topics, words + 1)."""
    edges = np.zeros((topics.shape[1], topics.shape[0] + 1))
    np.cumsum(topics.T, axis=1, out=edges[:, 1:])
    edges /= edges[:, -1:]
    return edges + np.arange(topics.shape[1])[:, None]


def cumulative_lengths(least: int, most: int, exponent: float) -> np.ndarray:
    """Return the cumulative probabilities of 0 to *most* tokens: n**-exponent for n from *least*."""
    weights = np.zeros(most + 1)
    weights[least:] = np.arange(least, most + 1, dtype=np.float64) ** -exponent
    cumulative = np.cumsum(weights)
    return np.asarray(cumulative / cumulative[-1])
