"""How well a model predicts documents that were kept apart: document completion.

A part of the documents is drawn and left out of the training; so are words without a training document. The
tokens of each are halved at random: the first half says the document's mixture (`foldin`), the second is
scored by it. A figure so found is comparable with those of other systems, which neither the likelihood of the
training nor that of whole new documents is (Wallach, Murray, Salakhutdinov, Mimno: "Evaluation Methods for
Topic Models", ICML 2009, section 5.1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import gaslab as gl
from gaslab import arguments
from gaslab.errors import UsageError
from gaslab.graph.vertexset import VertexSet
from gaslab.parallel import launch
from gaslab.parallel.collective import collective
from gaslab.topics.documents import CORPUS, Documents, count_column, documents_of, ends
from gaslab.topics.foldin import ITERATIONS, UNKNOWN, Laid, rows_of_words
from gaslab.topics.model import TopicModel


@dataclass(frozen=True)
class Holdout:
    """A corpus split into training documents and the two halves of held-out documents.

    Attributes
    ----------
    train : Graph
        The training documents and their words.
    documents, tokens : int
        Number of held-out documents with at least two tokens; number of tokens in their second halves.
    """

    train: gl.Graph
    documents: int
    tokens: int
    _corpus: gl.Graph
    _first: Documents
    _second: Documents

    @collective(exempt=("self",), name="score")
    def score(self, model: TopicModel) -> float:
        """Return the mean log-likelihood (base e) per token of the second halves (collective).

        *model* is fitted to `train`, or has its words; the score is the same on any number of ranks.
        """
        corpus = self._corpus
        threads = launch.threads_per_rank(corpus.comm.local_ranks)
        row, left = rows_of_words(model, corpus), corpus.ids.num_left or 0
        first, second = (row[half.word - left] for half in (self._first, self._second))
        lacking = bool(
            corpus.comm.allreduce(bool((first == UNKNOWN).any() or (second == UNKNOWN).any()), "or")
        )
        if lacking:
            raise UsageError("the model lacks words of the training documents; learn it from `train`")
        mixes = Laid.out(model, self._first, first).mixtures(ITERATIONS, threads)
        mine = Laid.out(model, self._second, second).likelihood(mixes, threads)
        scores = np.concatenate(corpus.comm.allgather_array(mine))  # added in one order on any ranks
        return float(scores.sum()) / self.tokens


@collective()
def hold_out(corpus: gl.Graph, fraction: float, *, seed: int = 0, count: str | None = "auto") -> Holdout:
    """Hold out random documents of a corpus, the same for a seed on any number of ranks (collective).

    Parameters
    ----------
    corpus : Graph
        As for `gaslab.lda`.
    fraction : float
        Fraction of documents to hold out, between 0 and 1.
    seed : int
    count : str, optional
        As for `gaslab.lda`.

    Raises
    ------
    UsageError
        No document, or every document, would be held out; no held-out document has two tokens of training
        words.

    Examples
    --------
    >>> import gaslab as gl
    >>> from gaslab.topics.holdout import hold_out
    >>> held = hold_out(gl.Graph.generate("corpus", documents=50, words=30, topics=3), 0.2)
    >>> held.train.num_left, held.documents
    (40, 10)
    >>> model = gl.TopicModel.of(held.train, gl.lda(held.train, topics=3, iterations=50))
    >>> -4 < held.score(model) < 0
    True
    """
    arguments.instance("corpus", corpus, gl.Graph, CORPUS)
    fraction = arguments.number("fraction", fraction, above=0, below=1)
    seed = arguments.whole("seed", seed, 0)
    column = count_column(corpus, count)
    documents = documents_of(corpus, column)
    everywhere = corpus.ids.num_left or 0
    size = round(fraction * everywhere)
    if not 0 < size < everywhere:
        raise UsageError(
            f"fraction={fraction:g} of {everywhere:,} documents is {size:,}; some to learn from and some to "
            "predict are needed"
        )
    rng = np.random.default_rng(seed)
    held = np.zeros(everywhere, bool)
    held[rng.permutation(everywhere)[:size]] = True
    train, trained = _without(corpus, held, column)
    mine = documents.kept(held[documents.number][documents.owners()] & trained[documents.word - everywhere])
    first, second = _halved(corpus, mine, rng)
    kept = int(corpus.comm.allreduce(int(np.count_nonzero(np.diff(second.begin)))))
    if not kept:
        raise UsageError("no document that is kept apart has two tokens of words of the others")
    return Holdout(train, kept, int(corpus.comm.allreduce(second.tokens)), corpus, first, second)


def _without(corpus: gl.Graph, held: np.ndarray, column: str | None) -> tuple[gl.Graph, np.ndarray]:
    """Return the graph of the other documents and their words, and for each word whether it is there."""
    left = held.size
    document, word = ends(corpus)
    some = ~held[document]
    if column is not None:
        some &= corpus.edge_columns[column] > 0
    trained = np.zeros(corpus.num_vertices - left, bool)
    trained[word[some] - left] = True
    trained = corpus.comm.allreduce(trained, "or")
    gids = corpus.local.gid[: corpus.local.num_masters]
    kept = np.concatenate([~held, trained])[gids]
    return corpus.subgraph(VertexSet(corpus, kept)), trained


def _halved(corpus: gl.Graph, documents: Documents, rng: np.random.Generator) -> tuple[Documents, Documents]:
    """Return the two halves of the tokens of each document, at random; the first has the odd one."""
    tokens = documents.tokens
    before = sum(corpus.comm.allgather(tokens)[: corpus.comm.rank])
    rng.bit_generator.advance(before)  # type: ignore[attr-defined]  # a number for each token
    word = np.repeat(documents.word, documents.count)
    owner = np.repeat(documents.owners(), documents.count)
    order = np.lexsort((rng.random(tokens), owner))
    length = np.bincount(owner, minlength=documents.number.size)
    place = np.arange(tokens) - np.repeat(np.cumsum(length) - length, length)
    length = length.repeat(length)
    early = np.empty(tokens, bool)
    early[order] = place < (length + 1) // 2
    whole = np.zeros(tokens, bool)
    whole[order] = length >= 2
    number, ones = documents.number[owner], np.ones(tokens, np.int64)
    first, second = (
        Documents.of_entries(documents.number, number[half], word[half], ones[half])
        for half in (early & whole, ~early & whole)
    )
    return first, second
