"""`TopicCounts`: how many tokens of each word are in each topic, with the priors; what a topic is made of."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.results.tables import objects

LEAST, MOST = 1e-100, 1e9  # a prior, as of `gaslab.lda`


class TopicCounts:
    """Counts of tokens by word and topic, and the priors; do not change the arrays.

    Parameters and attributes are those of `gaslab.TopicModel`, which adds how the counts were found.
    """

    def __init__(self, counts: Any, words: Any, *, doc_topic_prior: Any, topic_word_prior: float) -> None:
        self.counts = _counts(counts)
        self.words = _words(words, self.num_words)
        self.doc_topic_prior = _prior(doc_topic_prior, self.num_topics)
        self.topic_word_prior = arguments.number("topic_word_prior", topic_word_prior, least=LEAST, most=MOST)

    @property
    def num_words(self) -> int:
        return int(self.counts.shape[0])

    @property
    def num_topics(self) -> int:
        return int(self.counts.shape[1])

    @functools.cached_property
    def topic_word(self) -> np.ndarray:
        return self.probabilities(np.arange(self.num_words))

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """Return the rows of `topic_word` for some words, by position."""
        found: np.ndarray = self.counts[rows] + self.topic_word_prior
        found /= self.topic_tokens + self.num_words * self.topic_word_prior
        return found

    @functools.cached_property
    def topic_tokens(self) -> np.ndarray:
        """The number of tokens in each topic."""
        found: np.ndarray = self.counts.sum(axis=0)
        return found

    @functools.cached_property
    def order(self) -> np.ndarray:
        """The positions of the words in sorted order."""
        return np.argsort(self.words, kind="stable")


def _counts(counts: Any) -> np.ndarray:
    found = np.asarray(counts)
    if found.ndim != 2 or 0 in found.shape or found.dtype.kind not in "iuf":
        raise UsageError(
            f"counts have shape {found.shape}, dtype {found.dtype}; a number a word and topic is needed"
        )
    kind = np.float64 if found.dtype.kind == "f" else np.int64
    found = np.ascontiguousarray(found, kind)
    with np.errstate(invalid="ignore"):
        bad = np.argwhere(~((found >= 0) & (found < 1 << 53)))
    if len(bad):
        word, topic = bad[0].tolist()
        raise UsageError(f"counts[{word}, {topic}] is {found[word, topic]}; a number of tokens is needed")
    return found


def _words(words: Any, count: int) -> np.ndarray:
    listed = words if isinstance(words, np.ndarray) and words.ndim == 1 else objects(words)
    if listed.dtype.kind in "OUT":
        kinds = set(map(type, listed.tolist()))
        if kinds <= {int}:
            listed = listed.astype(np.int64)
        elif kinds == {str}:
            listed = objects(listed.tolist())
    if listed.size != count:
        raise UsageError(f"{listed.size} words, and counts of {count}")
    if listed.dtype.kind not in "iu" and set(map(type, listed.tolist())) != {str}:
        raise UsageError("the words of a model are all str or all int")
    if np.unique(listed).size != count:
        order = np.sort(listed)
        twice = order[1:][order[1:] == order[:-1]][0]
        raise UsageError(f"the word {twice!r} is there twice; words are distinct")
    return listed if listed.dtype == object else np.ascontiguousarray(listed, np.int64)


def _prior(prior: Any, topics: int) -> np.ndarray:
    """Return the prior of each topic in a document, of a number for all or one for each."""
    array = np.asarray(prior, np.float64)
    if array.shape not in ((), (topics,)):
        raise UsageError(
            f"doc_topic_prior has the shape {array.shape}; a number, or {topics} of them, is needed"
        )
    for one in np.unique(array).tolist():
        arguments.number("doc_topic_prior", one, least=LEAST, most=MOST)
    return np.ascontiguousarray(np.broadcast_to(array, topics))
