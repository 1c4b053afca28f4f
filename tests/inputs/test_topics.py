"""Topic models on the inputs of reports about other systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import gaslab as gl
from gaslab.parallel.comm import Comm
from tests.mpi.ranks import Ranks
from tests.support.inputs import Input, check

MANY = 60  # topics, of seven tokens


def documents(comm: Comm) -> gl.Graph:
    """Return three documents, the second of them empty."""
    counts = sp.csr_array([[2, 1, 0], [0, 0, 0], [0, 3, 1]])
    return gl.corpus_from(counts, vocabulary=["cat", "dog", "sun"], comm=comm)


def topics(prior: Any, count: int, sampler: str) -> Any:
    """Return what gives the empty document's topics, and whether all of the model are probabilities."""

    def ask(corpus: gl.Graph) -> list[Any]:
        precision = "float32" if sampler == "gibbs" else None  # the other sampler takes no such option
        result = gl.lda(
            corpus, topics=count, iterations=5, sampler=sampler, precision=precision, doc_topic_prior=prior
        )
        tables = [result.tables[name]["probability"] for name in ("document_topic", "topic_word")]
        sums = [tables[0].sum(axis=1), tables[1].sum(axis=0)]
        fine = all(np.isfinite(one).all() for one in tables) and np.allclose(np.concatenate(sums), 1.0)
        return [*tables[0][1].tolist(), bool(fine)]

    return ask


INPUTS = {
    f"an empty document, {count} topics, {sampler}": Input(
        "gensim#2306, gensim#2418, vsm#39",
        documents, topics(0.1, count, sampler), [1 / count] * count + [True],
    )
    for count in (2, MANY)
    for sampler in ("gibbs", "metropolis-hastings")
} | {
    "an empty document, an uneven prior": Input(
        "gensim#2306, gensim#2418, vsm#39", documents, topics([0.3, 0.1], 2, "gibbs"), [0.75, 0.25, True]
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", INPUTS)
@pytest.mark.parametrize("ranks", [1, 3], ids=lambda size: f"{size}ranks", indirect=True)
def test_topics(ranks: Ranks, name: str) -> None:
    check(ranks, __name__, name)
