"""Topics of documents: latent Dirichlet allocation by delayed counts, a document half and a word half.

A graph of documents and words has one edge per token. In its half, a vertex counts the topics of its
own tokens; then each of them, all at once, accepts or refuses the topic that its other end proposed, and
proposes one to it, drawn from the counts. This is WarpLDA (Chen, Li, Zhu, Chen, "WarpLDA: a Cache
Efficient O(1) Algorithm for Latent Dirichlet Allocation", VLDB 2016): Metropolis-Hastings steps of collapsed
Gibbs sampling that see counts of the half before. A draw belongs to its token, and counts are whole numbers,
so the topics are the same on any number of ranks and threads.

    mpiexec -n 2 python examples/lda.py
    gaslab run examples/lda.py:LDA TOKENS --bipartite -p topics=20 --max-iterations 200
"""

from __future__ import annotations

import math

import numpy as np

import gaslab as gl


class LDA(gl.VertexProgram):
    topics: int = 10
    alpha: float = 0.1
    beta: float = 0.01

    class Vertex(gl.Vertex):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)
        upto: gl.Vector = gl.field(shape="topics", dtype=gl.int32)  # running sums of counts
        share: gl.Vector = gl.field(shape="topics", init=1.0)  # of topics in a document, of a word in topics

    class Edge(gl.Edge):
        topic: gl.int32 = gl.integers("topics")
        proposal: gl.int32 = gl.integers("topics")

    class Total(gl.Accumulator):
        counts: gl.Vector = gl.field(shape="topics", dtype=int)

    @gl.aggregator
    def words(self, v: Vertex) -> gl.Count:
        return v.side == 1

    @gl.aggregator
    def tokens(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(counts=gl.at(e.topic))

    @gl.aggregator(every=2)
    def likelihood(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return math.log(np.dot(v.share, nbr.share))

    def documents(self, v: Vertex) -> bool:
        return v.side == 0

    def vocabulary(self, v: Vertex) -> bool:
        return v.side == 1

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(counts=gl.at(e.topic))

    def count(self, v: Vertex, total: Total) -> None:
        before = 0
        for k in range(self.topics):
            before += total.counts[k]
            v.counts[k] = total.counts[k]
            v.upto[k] = before
            if v.side == 0:
                v.share[k] = (total.counts[k] + self.alpha) / (v.degree + self.topics * self.alpha)
            else:
                v.share[k] = (total.counts[k] + self.beta) / (self.tokens.counts[k] + self.words * self.beta)

    def of_document(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        rest = self.words * self.beta
        old = v.share[e.topic] / (self.tokens.counts[e.topic] + rest)
        new = v.share[e.proposal] / (self.tokens.counts[e.proposal] + rest)
        if gl.uniform() * old < new:
            e.topic = e.proposal
        e.proposal = self.propose(v, self.topics * self.alpha)

    def of_word(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if gl.uniform() * v.share[e.topic] < v.share[e.proposal]:
            e.topic = e.proposal
        e.proposal = self.propose(v, self.topics * self.beta)

    def propose(self, v: Vertex, prior: float) -> int:
        """Draw a topic by v's counts plus the prior: that of one of its tokens, or any."""
        token = int(gl.uniform(0.0, v.degree + prior))
        if token >= v.degree:
            return gl.integers(self.topics)
        low = 0
        high = self.topics - 1
        while low < high:
            middle = (low + high) // 2
            if token < v.upto[middle]:
                high = middle
            else:
                low = middle + 1
        return low

    phases = (
        gl.Phase(
            gather=gather, apply=count, scatter=of_document, start=documents, supersteps=1,
            gather_edges=gl.OUT, scatter_edges=gl.OUT,
        ),
        gl.Phase(
            gather=gather, apply=count, scatter=of_word, start=vocabulary, supersteps=1,
            gather_edges=gl.IN, scatter_edges=gl.IN,
        ),
    )  # fmt: skip

    def done(self) -> bool:
        return False  # until max_iterations


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
    result = gl.run(LDA(topics=5), graph, max_iterations=60)
    shares = result.vertices.side(1)["share"]
    if graph.comm.rank == 0:
        for row in result.history[1::10]:
            print(f"{row['superstep']:2}: log-likelihood per token {row['likelihood'] / graph.num_edges:.4f}")
        for k in range(5):
            print(f"topic {k}: words {sorted(np.argsort(-shares[:, k], kind='stable')[:8].tolist())}")


if __name__ == "__main__":
    main()
