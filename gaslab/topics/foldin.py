"""The topics of documents by those of a model, which stay as they are.

The mixture of a document, theta, has the prior alpha and comes by expectation maximisation from all topics
alike; phi are the topics of the model, c[w] is how often word w is in the document:

    theta[k] <- (alpha[k] + sum over words w of c[w] theta[k] phi[w, k] / sum over j of theta[j] phi[w, j])
                / (tokens + sum of alpha)

These are the steps by which Wallach, Murray, Salakhutdinov and Mimno ("Evaluation Methods for Topic Models",
ICML 2009) complete documents. Thirty come to the fixed point within 1e-4 of a token's log-likelihood; CVB0
(Asuncion, Welling, Smyth, Teh: "On Smoothing and Inference for Topic Models", UAI 2009) predicts as well and
costs as much. Words are added in their order, so a document has the same bits wherever it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gaslab as gl
from gaslab._kernels import foldin as kernels
from gaslab.errors import UsageError, warn_user
from gaslab.results.tables import narrow
from gaslab.topics.counts import TopicCounts
from gaslab.topics.documents import Documents

ITERATIONS = 30
UNKNOWN = -1  # the row of a word that the model does not have


@dataclass(frozen=True)
class Laid:
    """Documents with the probabilities of their words, as the kernels take them."""

    documents: Documents
    row: np.ndarray  # of each of the words of documents, in probability
    probability: np.ndarray  # float64 (rows, topics in whole lanes)
    prior: np.ndarray  # as wide
    topics: int

    @classmethod
    def out(cls, model: TopicCounts, documents: Documents, row: np.ndarray) -> Laid:
        """Return documents with the topics of their words, whose rows in the model are *row*."""
        used, place = np.unique(row, return_inverse=True)
        width = -(-model.num_topics // kernels.LANES) * kernels.LANES
        probability, prior = np.zeros((used.size, width)), np.zeros(width)
        known = used != UNKNOWN
        probability[known, : model.num_topics] = model.probabilities(used[known])
        probability[~known, : model.num_topics] = 1.0  # which says nothing of the topic
        prior[: model.num_topics] = model.doc_topic_prior
        return cls(documents, place.astype(np.int64).reshape(-1), probability, prior, model.num_topics)

    def mixtures(self, iterations: int, threads: int) -> np.ndarray:
        """Return a row for each document, in whole lanes."""
        mixes = np.empty((self.documents.number.size, self.prior.size))
        kernels.mixtures(*self._words, self.prior, self.topics, iterations, mixes, threads)
        return mixes

    def likelihood(self, mixes: np.ndarray, threads: int) -> np.ndarray:
        """Return the log-likelihood of the tokens of each document by its mixture."""
        found = np.empty(self.documents.number.size)
        kernels.likelihood(*self._words, self.topics, mixes, found, threads)
        return found

    def draw(self, mixes: np.ndarray, seed: int, moment: int, threads: int) -> np.ndarray:
        """Return a topic for each token, int32, in the order of documents and words."""
        documents = self.documents
        place = np.concatenate([[0], np.cumsum(documents.count)]).astype(np.int64)
        found = np.empty(place[-1], np.int32)
        names = documents.number, documents.word
        kernels.draw(
            *self._words, self.topics, mixes, seed % (1 << 64), moment, *names, place, found, threads
        )  # fmt: skip
        return found

    @property
    def _words(self) -> tuple[np.ndarray, ...]:
        return self.documents.begin, self.row, self.documents.count, self.probability


def rows_of_words(model: TopicCounts, graph: gl.Graph) -> np.ndarray:
    """Return the row in the model of every word of a graph, `UNKNOWN` of those it lacks (collective)."""
    comm, left = graph.comm, graph.ids.num_left or 0
    words = graph.num_vertices - left
    mine = np.arange(words * comm.rank // comm.size, words * (comm.rank + 1) // comm.size, dtype=np.int64)
    ids = graph.ids.lookup(mine + left)
    return np.concatenate(comm.allgather_array(comm.attempt(lambda: _rows(model, ids))))


def _rows(model: TopicCounts, ids: np.ndarray) -> np.ndarray:
    ids = narrow(ids)
    if ids.size and ids.dtype != model.words.dtype:
        have, lack = ("numbers", "texts") if ids.dtype != object else ("texts", "numbers")
        here, there = ids[:1].tolist()[0], model.words[:1].tolist()[0]
        raise UsageError(
            f"the words of the corpus are {have}, such as {here!r}, and those of the model {lack}, such as "
            f"{there!r}; read both with the same vocabulary"
        )
    place = np.minimum(np.searchsorted(model.words, ids, sorter=model.order), model.num_words - 1)
    row = model.order[place]
    found: np.ndarray = np.where(model.words[row] == ids, row, UNKNOWN).astype(np.int64)
    return found


def known_words(graph: gl.Graph, documents: Documents, row: np.ndarray) -> np.ndarray:
    """Return which of the words of documents the model has; one warning counts the others (collective)."""
    left = graph.ids.num_left or 0
    known: np.ndarray = row[documents.word - left] != UNKNOWN
    lacking = np.zeros(row.size, np.int64)
    np.add.at(lacking, documents.word[~known] - left, documents.count[~known])
    lacking = graph.comm.allreduce(lacking)
    words, tokens = int(np.count_nonzero(lacking)), int(lacking.sum())
    if words:
        warn_user(
            f"{words:,} words of the corpus are not in the model; their {tokens:,} tokens are left out",
            UserWarning,
            graph.comm.rank,
        )
    return known
