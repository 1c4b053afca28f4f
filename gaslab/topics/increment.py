"""Further documents for a model: their tokens are drawn and counted, those before are not looked at again."""

from __future__ import annotations

import numpy as np

from gaslab.parallel.comm import Comm
from gaslab.topics.counts import TopicCounts
from gaslab.topics.documents import Documents
from gaslab.topics.foldin import ITERATIONS, Laid


def counted(
    model: TopicCounts, documents: Documents, comm: Comm, *, rounds: int, seed: int, threads: int
) -> np.ndarray:
    """Return the counts of a model and of further documents, each whole on a rank (collective).

    In each round every token is drawn given its document's mixture and the topics, and counted in place of
    its draw of the round before; the first round knows the topics of the model alone. ``documents.word`` are
    the rows of words in the model. The same on any ranks.
    """
    row, shape, new = documents.word, model.counts.shape, np.zeros(model.counts.shape, np.int64)
    tokens = np.repeat(row, documents.count)
    for moment in range(rounds):
        now = TopicCounts(
            model.counts + new, model.words,
            doc_topic_prior=model.doc_topic_prior, topic_word_prior=model.topic_word_prior,
        )  # fmt: skip
        laid = Laid.out(now, documents, row)
        drawn = laid.draw(laid.mixtures(ITERATIONS, threads), seed, moment, threads)
        new = np.bincount(tokens * shape[1] + drawn, minlength=shape[0] * shape[1]).reshape(shape)
        new = comm.allreduce(new)
    found: np.ndarray = model.counts + new
    return found
