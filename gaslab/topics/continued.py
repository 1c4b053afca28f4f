"""Where a chain goes on from a model: a topic for every token, drawn given the topics of the model."""

from __future__ import annotations

import numpy as np

import gaslab as gl
from gaslab.errors import UsageError
from gaslab.parallel import launch
from gaslab.topics.counts import TopicCounts
from gaslab.topics.documents import Documents, bounds, ends, sent
from gaslab.topics.foldin import ITERATIONS, UNKNOWN, Laid, rows_of_words


def drawn_topics(model: TopicCounts, tokens: gl.Graph, seed: int) -> np.ndarray:
    """Return a topic, int32, for each edge of this rank of a graph with an edge for every token (collective).

    A token of word w in document d has topic k with a probability in proportion to theta[d, k] phi[w, k]: the
    document's mixture folded in and the model's topics, which is one sweep of Gibbs sampling with both held
    still. A word that the model lacks has the mixture alone. The same on any ranks and under any cut: the
    tokens of one word in one document are exchangeable.
    """
    comm, left = tokens.comm, tokens.ids.num_left or 0
    threads = launch.threads_per_rank(comm.local_ranks)
    row = rows_of_words(model, tokens)
    if (row == UNKNOWN).all():
        raise UsageError("the model and the corpus have no word in common; start from a model of its words")
    (document, word), back = sent(tokens, *ends(tokens))
    order = np.lexsort((word, document))
    low, high = bounds(tokens)[comm.rank : comm.rank + 2].tolist()
    ones = np.ones(word.size, np.int64)
    documents = Documents.of_entries(np.arange(low, high), document[order], word[order], ones)
    rows = row[documents.word - left]
    known = rows != UNKNOWN
    mixes = Laid.out(model, documents.kept(known), rows[known]).mixtures(ITERATIONS, threads)
    drawn = np.empty(word.size, np.int32)
    drawn[order] = Laid.out(model, documents, rows).draw(mixes, seed, 0, threads)
    return back(drawn)
