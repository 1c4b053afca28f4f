"""Topics of documents: latent Dirichlet allocation by collapsed Gibbs sampling, exact on one rank and thread.

The graph is of documents (left) and words (right), with an edge for every token. A token is taken out of
the counts of its document, of its word and of all tokens; its topic is drawn by what is left, and it is put
back (Griffiths, Steyvers, "Finding scientific topics", PNAS 2004). `visit` writes the counts of both ends,
and those of all tokens are a live total. The first sweep gives each token any topic. Weights are
float32: what they lack of digits is far below the noise of a chain. Counts are whole numbers.

A chain that is annealed has the prior of words `wide` in its first sweeps.

With one way (``ways=1``) every draw sees all draws before it, document by document: the chain of the
textbook. With more, ranks and threads share the work: counts of documents and words are still those of the
moment, and the totals of topics lack what other tables drew in the same round. No count is lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import gaslab as gl
from gaslab.programs._numpy import np

LENGTHS = {"topics": (5, 10, 50, 100, 200)}  # for which setup.py compiles the page, beside the default
NARROW = 1e-9, 1e6  # priors of which every product is in the range of a float32


class CollapsedGibbs(gl.VertexProgram):
    """Collapsed Gibbs sampling, a sweep per superstep; the chain depends on the ways, not ranks and threads.

    In a subclass made by `with_prior`, `asymmetric` is the prior of each topic, in place of `alpha`.
    """

    rng = "hash"
    precision = gl.float32
    visit_ways = "ways"
    asymmetric: ClassVar[Sequence[float] | None] = None
    topics: int = 20
    alpha: float = 0.1  # prior of each topic in a document
    beta: float = 0.01  # prior of each word in a topic
    iterations: int = 200
    likelihood_every: int = 1  # sweeps
    ways: int = 0  # pairs of blocks that meet at once; 0: as the graph suggests
    anneal: int = 0  # sweeps, the first, that have `wide` in place of beta; not 1, for the first only counts
    wide: float = 0.1

    class Vertex(gl.Vertex):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)
        # Of topics in a document, by their tokens.
        _share: gl.Vector = gl.field(shape="topics", dtype=gl.float32, init=1.0)

    class Edge(gl.Edge):
        _topic: gl.int32 = -1

    class Total(gl.Accumulator):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)

    class Prior(gl.Accumulator):
        alpha: gl.Vector = gl.field(shape="topics")

    @gl.aggregator(every="iterations")
    def words(self, v: Vertex) -> gl.Count:
        return v.side == 1

    @gl.aggregator(every="iterations")
    def prior(self, v: Vertex) -> Prior:
        return self.Prior(alpha=gl.at(0, 0.0))

    @prior.finalize
    def _(self, total: Prior) -> Prior:
        total.alpha = (
            np.full(self.topics, self.alpha) if self.asymmetric is None else np.array(self.asymmetric)
        )
        return total

    @gl.aggregator
    def word_prior(self, v: Vertex) -> gl.Sum[float]:
        return 0.0

    @word_prior.finalize
    def _(self, total: float) -> float:
        """Return the prior of each word in a topic in the sweep to come."""
        return self.wide if self.superstep + 1 < self.anneal else self.beta

    @gl.aggregator(live=True)
    def tokens(self, v: Vertex) -> Total:
        return self.Total(counts=v.side * v.counts)

    @gl.aggregator(every="likelihood_every")
    def likelihood(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        word = self.wide if self.superstep < self.anneal else self.beta
        return math.log(np.dot(v._share, nbr.counts + word))

    def visit(self, u: Vertex, e: Edge, w: Vertex) -> None:
        old = e._topic
        if self.superstep == 0:  # nothing is counted yet
            new = gl.integers(self.topics) if old < 0 else old
        else:
            u.counts[old] -= 1
            w.counts[old] -= 1
            self.tokens.counts[old] -= 1
            new = gl.categorical(
                (u.counts + self.prior.alpha)
                * (w.counts + self.word_prior)
                * (1.0 / (self.tokens.counts + self.words * self.word_prior))
            )
        e._topic = new
        u.counts[new] += 1
        w.counts[new] += 1
        self.tokens.counts[new] += 1

    def share(self, v: Vertex) -> gl.Vector:
        """Return the document's factor in the likelihood of its tokens, for each topic."""
        mix: gl.Vector = (v.counts + self.prior.alpha) / (v.degree + np.sum(self.prior.alpha))
        return mix / (self.tokens.counts + self.words * self.word_prior)

    def apply(self, v: Vertex) -> None:
        if (self.superstep + 1) % self.likelihood_every == 0 and v.side == 0:
            v._share = self.share(v)

    def done(self) -> bool:
        return self.superstep + 1 >= self.iterations


class SampledGibbs(CollapsedGibbs):
    """The same chain; `summed` is the sum of the counts of its samples, always including the last sweep's."""

    burn_in: int = 0  # sweeps before the first sample
    sample_every: int = 1  # sweeps

    class Vertex(CollapsedGibbs.Vertex):
        summed: gl.Vector = gl.field(shape="topics", dtype=gl.int32)

    def apply(self, v: Vertex) -> None:  # type: ignore[override]  # it has one field more
        if (self.superstep + 1) % self.likelihood_every == 0 and v.side == 0:
            v._share = self.share(v)
        left = self.iterations - self.superstep - 1
        if self.superstep >= self.burn_in and left % self.sample_every == 0:
            v.summed += v.counts


def with_prior(kind: type[CollapsedGibbs], alpha: Sequence[float]) -> type[CollapsedGibbs]:
    """Return the program with a separate prior for each topic; its parameter `topics` is their number."""
    members: dict[str, Any] = {"asymmetric": tuple(map(float, alpha)), "__module__": __name__}
    return type(kind.__name__, (kind,), members)
