"""Topics that are known, found again: latent Dirichlet allocation of a corpus made for it.

`gl.lda` is a vertex program over the graph of documents and words; its page is gaslab/programs/lda.py.

    mpiexec -n 2 python examples/lda.py
"""

from __future__ import annotations

import numpy as np

import gaslab as gl


def corpus(
    documents: int, words: int, length: int, topics: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return document, word and topic of each token; a topic has the words k, k + topics, ... to itself."""
    rng = np.random.default_rng(seed)
    mixes = rng.dirichlet(np.full(topics, 0.1), documents)
    document = np.repeat(np.arange(documents), length)
    topic = np.concatenate([rng.choice(topics, length, p=mix) for mix in mixes])
    return document, topic + topics * rng.integers(words // topics, size=topic.size), topic


def main() -> None:
    document, word, _ = corpus(documents=200, words=200, length=60, topics=5)
    graph = gl.Graph.from_edges(document, word, bipartite=True)
    result = gl.lda(graph, topics=5, iterations=30, evaluate_every=5)
    topic_word = result.tables["topic_word"]["probability"]
    if graph.comm.rank == 0:
        for row in result.history[4::5]:
            print(f"{row['iteration']:2}: log-likelihood per token {row['log_likelihood_per_token']:.4f}")
        for k in range(5):
            print(f"topic {k}: words {sorted(np.argsort(-topic_word[:, k], kind='stable')[:8].tolist())}")


if __name__ == "__main__":
    main()
