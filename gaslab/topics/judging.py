"""What a run of `gaslab.lda` is worth: its topics' coherence in its own corpus, and their diversity."""

from __future__ import annotations

import numpy as np

from gaslab.graph.graph import Graph
from gaslab.results.result import Result
from gaslab.topics.coherence import coherence
from gaslab.topics.quality import diversity, top_words

JUDGED = 10  # top words of a topic


def judge(graph: Graph, result: Result, measure: str = "npmi") -> None:
    """Add figures to a result (collective).

    ``metrics["figures"]`` gets ``coherence``, the mean over the topics by their ten likeliest words, and
    ``diversity``; ``metrics["coherence_by_topic"]`` the coherence of each.
    """
    top = likeliest_words(graph, result, JUDGED)
    of_topics = coherence(graph, top, measure=measure)
    known = of_topics[~np.isnan(of_topics)]
    mean = float(known.mean()) if known.size else float("nan")
    result.metrics["figures"] |= {"coherence": mean, "diversity": diversity(top)}
    result.metrics["coherence_by_topic"] = of_topics.tolist()


def likeliest_words(graph: Graph, result: Result, count: int) -> np.ndarray:
    """Return the top words by probability of a result that the ranks may have parts of (collective).

    Returns
    -------
    int64 array [topics, at most count]
        Positions among the words, on every rank; of equals the first.
    """
    table = result.tables["topic_word"]
    probability, place = table["probability"], table.global_ids["id"] - graph.num_left
    own = top_words(probability, count) if len(table) else np.empty((probability.shape[1], 0), np.int64)
    pairs = (place[own], np.take_along_axis(probability.T, own, axis=1))
    if result.on == "all":
        return pairs[0]
    ranks = graph.comm.allgather(pairs)
    words, values = (np.concatenate(parts, axis=1) for parts in zip(*ranks, strict=True))
    order = np.lexsort((words, -values))[:, :count]
    return np.take_along_axis(words, order, axis=1)
