"""Topics of documents: latent Dirichlet allocation by delayed counts, a word half and a document half.

The graph is of documents (left) and words (right), with an edge for every token. In its half, a vertex
collects the topics of its own tokens; then each of them, all at once, accepts or refuses the topics that its
other end proposed, and proposes others to it, those of other tokens. This is WarpLDA (Chen, Li, Zhu, Chen,
"WarpLDA: a Cache Efficient O(1) Algorithm for Latent Dirichlet Allocation", VLDB 2016):
Metropolis-Hastings steps of collapsed Gibbs sampling that see the counts of the half before. Unlike there,
the counts leave out the token itself, as collapsed Gibbs sampling has it: without that every token is pulled
to where it is, and the topics of held-out documents are worse (benchmarks/topics.py). A draw belongs to its
token, and counts are whole numbers: the chain is the same on any ranks, threads and cuts.

Priors move by the fixed point of Minka ("Estimating a Dirichlet distribution", 2000), a step at a time. The
prior a[k] of a topic in a document is multiplied by

    sum of digamma(count[k] + a[k]) - digamma(a[k])  /  sum of digamma(length + sum(a)) - digamma(sum(a)),

both over all documents. The prior that all words share is that of a Dirichlet distribution of each topic.
Terms are rounded to 24 bits, and none but 0 is below that of one token: so float64 holds every sum of them
that is below 2**28 times that one, and the priors, too, are the same on any ranks. A chain that is annealed
has the prior of words `wide` at first, and takes no such steps.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import gaslab as gl
from gaslab.programs._numpy import np

LEAST, MOST = 1e-5, 1e5  # a prior after a step: a topic without tokens keeps one
LENGTHS = {"topics": (5, 10, 50, 100, 200)}  # for which setup.py compiles the page, beside the default
NEVER = 1 << 40  # supersteps


def digamma(x: float) -> float:
    """Return the derivative of log gamma at a positive number, to 13 digits: its recurrence, its series."""
    below = 0.0
    while x < 8.0:
        below += 1.0 / x
        x += 1.0
    f = 1.0 / (x * x)
    series = f * (1 / 12 - f * (1 / 120 - f * (1 / 252 - f * (1 / 240 - f * (1 / 132 - f * 691 / 32760)))))
    return math.log(x) - 0.5 / x - series - below


class LDA(gl.VertexProgram):
    """LDA by Metropolis-Hastings: a sweep over all tokens is a superstep of words and one of documents."""

    rng = "hash"
    topics: int = 20
    alpha: float = 0.1  # prior of each topic in a document
    beta: float = 0.01  # prior of each word in a topic
    slots: int = 2  # of a token: its topic, and those that are proposed to it in a half
    iterations: int = 200
    likelihood_every: int = 2  # supersteps
    priors_every: int = NEVER  # supersteps from one step of the priors to the next
    wide: float = 0.0  # above 0: the prior of words in the first `priors_every` supersteps; priors stay then
    burn_in: int = NEVER  # supersteps before those whose counts are summed; the last sweep's always are
    sample_every: int = 2  # supersteps
    uniform: bool = True  # whether the prior of all topics in a document is alpha, and stays so
    alphas: ClassVar[Any] = None  # an array, where each topic has a prior of its own

    class Vertex(gl.Vertex):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)  # summed over samples
        _topics: gl.List[gl.uint16]  # of its tokens, in ascending order
        # Of a document, shares of the topics by their tokens; of a word, its counts.
        _share: gl.Vector = gl.field(shape="topics", dtype=gl.float32)
        _word: float = 0.0  # of a document, the prior of a word in a topic
        # Of a document's counts, less those of no counts; in 24 bits, whose sums have room in 53.
        _digammas: gl.Vector = gl.field(shape="topics", dtype=gl.float32)
        _digamma: gl.float32 = 0.0  # likewise of a document's length, or the sum of a word's

    class Edge(gl.Edge):
        _topics: gl.Vector = gl.field(shape="slots", dtype=gl.uint16, init=gl.integers("topics"))

    class Total(gl.Accumulator):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)

    class Priors(gl.Accumulator):
        document: gl.Vector = gl.field(shape="topics")
        upto: gl.Vector = gl.field(shape="topics")  # their running sums
        length: float
        word: float

    @gl.aggregator
    def words(self, v: Vertex) -> gl.Count:
        return v.side == 1

    @gl.aggregator
    def tokens(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(counts=gl.at(e._topics[0]))

    @gl.aggregator(every="likelihood_every")
    def likelihood(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return math.log(np.dot(v._share, nbr._share + v._word))

    @gl.aggregator(every="priors_every")
    def priors(self, v: Vertex) -> Priors:
        word = v._digamma if v.side == 1 else 0.0
        return self.Priors(
            document=v._digammas, upto=0.0 * v._digammas, length=v._digamma - word, word=word
        )  # fmt: skip

    @priors.finalize
    def _(self, digammas: Any) -> Any:
        """Return the priors of the beginning, then those one step on, or not wide; those at the end stay."""
        if self.superstep == 0:
            document = np.full(self.topics, self.alpha) if self.alphas is None else self.alphas
            length, word = float(document.sum()), self.wide or self.beta
        elif self.superstep + 1 >= 2 * self.iterations:
            return self.priors
        elif self.wide > 0.0:
            now = self.priors
            document, length, word = now.document, now.length, self.beta
        else:
            now = self.priors
            document = np.clip(now.document * digammas.document / digammas.length, LEAST, MOST)
            whole = now.word * self.words
            spread = sum(digamma(n + whole) - digamma(whole) for n in self.tokens.counts.tolist())
            length = float(document.sum())
            word = min(max(now.word * digammas.word / (self.words * spread), LEAST), MOST)
        return LDA.Priors(document=document, upto=np.cumsum(document), length=length, word=word)

    def documents(self, v: Vertex) -> bool:
        return v.side == 0

    def vocabulary(self, v: Vertex) -> bool:
        return v.side == 1

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.List[gl.uint16]:
        return e._topics[0]

    def count(self, v: Vertex, total: gl.List[gl.uint16]) -> None:
        v._topics = total
        end = self.superstep // 2 * 2 + 2  # of this sweep
        left = 2 * self.iterations - end
        if left == 0 or (end > self.burn_in and left % self.sample_every == 0):
            v.counts += np.bincount(total, minlength=self.topics)
        if end % self.likelihood_every == 0:
            counts = np.bincount(total, minlength=self.topics)
            if v.side == 1:
                v._share = counts
            else:  # its tokens are those that the words counted
                mix = (counts + self.priors.document) / (v.degree + self.priors.length)
                v._share = mix / (self.tokens.counts + self.words * self.priors.word)
                v._word = self.priors.word
        if self.wide == 0.0 and end % self.priors_every == 0:
            counts = np.bincount(total, minlength=self.topics)
            if v.side == 1:
                whole = 0.0
                for k in range(self.topics):
                    if counts[k] > 0:
                        whole += digamma(counts[k] + self.priors.word) - digamma(self.priors.word)
                v._digamma = whole
            else:
                whole = self.priors.length
                v._digamma = digamma(v.degree + whole) - digamma(whole)
                for k in range(self.topics):
                    a = self.priors.document[k]
                    v._digammas[k] = digamma(counts[k] + a) - digamma(a) if counts[k] > 0 else 0.0

    def of_word(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        counts = np.bincount(v._topics, minlength=self.topics)
        if not e.forward:  # an edge leads to its word
            here = e._topics[0]
            now, rest = here, self.words * self.priors.word
            for m in range(1, self.slots):
                there = e._topics[m]
                old = counts[now] - int(now == here) + self.priors.word
                new = counts[there] - int(there == here) + self.priors.word
                old *= self.tokens.counts[there] + rest
                new *= self.tokens.counts[now] + rest
                now = there if gl.uniform() * old < new else now
                other = self.other(v, here, self.topics * self.priors.word)
                e._topics[m] = other if other >= 0 else gl.integers(self.topics)
            e._topics[0] = now

    def of_document(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        counts = np.bincount(v._topics, minlength=self.topics)
        if e.forward:
            here = e._topics[0]
            now, rest = here, self.words * self.priors.word
            for m in range(1, self.slots):
                there = e._topics[m]
                old = counts[now] - int(now == here) + self.priors.document[now]
                new = counts[there] - int(there == here) + self.priors.document[there]
                old *= self.tokens.counts[there] + rest
                new *= self.tokens.counts[now] + rest
                now = there if gl.uniform() * old < new else now
                other = self.other(v, here, self.priors.length)
                if other < 0 and self.uniform:
                    other = gl.integers(self.topics)
                elif other < 0:
                    place = gl.uniform(0.0, self.priors.length)
                    other = int(np.searchsorted(self.priors.upto, place, side="right"))
                e._topics[m] = min(other, self.topics - 1)  # where rounding draws the whole length
            e._topics[0] = now

    def other(self, v: Vertex, here: int, prior: float) -> int:
        """Draw the topic of one of v's other tokens, or -1 when a topic from the prior is due instead.

        The token itself may be any token of its topic, say the last: topics from this one on are drawn by the
        place before theirs.
        """
        token = int(gl.uniform(0.0, v.degree - 1 + prior))
        if token >= v.degree - 1:
            return -1
        return v._topics[token + int(v._topics[token] >= here)]

    phases = (
        gl.Phase(
            gather=gather, apply=count, scatter=of_word, start=vocabulary, supersteps=1,
            gather_edges=gl.IN, scatter_edges=gl.IN,
        ),
        gl.Phase(
            gather=gather, apply=count, scatter=of_document, start=documents, supersteps=1,
            gather_edges=gl.OUT, scatter_edges=gl.OUT,
        ),
    )  # fmt: skip

    def done(self) -> bool:
        return self.superstep + 1 >= 2 * self.iterations
