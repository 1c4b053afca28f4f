"""Topics of documents: latent Dirichlet allocation by delayed counts, a word half and a document half.

The graph is of documents (left) and words (right), with an edge for every token. In its half, a vertex
counts the topics of its own tokens; then each of them, all at once, accepts or refuses the topic that its
other end proposed, and proposes one to it, drawn from the counts. This is WarpLDA (Chen, Li, Zhu, Chen,
"WarpLDA: a Cache Efficient O(1) Algorithm for Latent Dirichlet Allocation", VLDB 2016):
Metropolis-Hastings steps of collapsed Gibbs sampling that see the counts of the half before. Unlike there,
the counts leave out the token itself, as collapsed Gibbs sampling has it: without that every token is pulled
to where it is, and the topics of held-out documents are worse (benchmarks/topics.py). A draw belongs to its
token, and counts are whole numbers: the chain is the same on any ranks, threads and cuts.
"""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

import gaslab as gl
from gaslab import arguments
from gaslab.graph.operations import with_columns
from gaslab.parallel.collective import collective
from gaslab.programs._arguments import check_graph
from gaslab.programs._sweeps import check_options, run_sweeps
from gaslab.results.tables import Table

log = logging.getLogger("gaslab")
MOST_TOPICS = 1 << 16  # elements that a vector field may have
LEAST, MOST = 1e-100, 1e9  # a prior: the products of two shares, and its sum over the topics, are in range


class LDA(gl.VertexProgram):
    """So many sweeps over all tokens; each is a superstep of words and one of documents."""

    rng = "hash"
    topics: int = 20
    alpha: float = 0.1  # prior of each topic in a document
    beta: float = 0.01  # prior of each word in a topic
    iterations: int = 200
    likelihood_every: int = 2  # supersteps

    class Vertex(gl.Vertex):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)
        _upto: gl.Vector = gl.field(shape="topics", dtype=gl.int32)  # running sums of counts
        _share: gl.Vector = gl.field(shape="topics", init=1.0)  # of both ends: of a word in its document

    class Edge(gl.Edge):
        _topic: gl.int32 = gl.integers("topics")
        _proposal: gl.int32 = gl.integers("topics")

    class Total(gl.Accumulator):
        counts: gl.Vector = gl.field(shape="topics", dtype=gl.int32)

    @gl.aggregator
    def words(self, v: Vertex) -> gl.Count:
        return v.side == 1

    @gl.aggregator
    def tokens(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(counts=gl.at(e._topic))

    @gl.aggregator(every="likelihood_every")
    def likelihood(self, v: Vertex, e: Edge, nbr: Vertex) -> gl.Sum[float]:
        return math.log(np.dot(v._share, nbr._share))

    def documents(self, v: Vertex) -> bool:
        return v.side == 0

    def vocabulary(self, v: Vertex) -> bool:
        return v.side == 1

    def gather(self, v: Vertex, e: Edge, nbr: Vertex) -> Total:
        return self.Total(counts=gl.at(e._topic))

    def count(self, v: Vertex, total: Total) -> None:
        v.counts = total.counts
        v._upto = np.cumsum(total.counts)
        if v.side == 1:
            v._share = total.counts + self.beta
        else:  # the tokens are those that the words counted
            mix = (total.counts + self.alpha) / (v.degree + self.topics * self.alpha)
            v._share = mix / (self.tokens.counts + self.words * self.beta)

    def of_word(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if not e.forward:  # an edge leads to its word
            rest = self.words * self.beta
            here, there = e._topic, e._proposal
            old = (v.counts[here] - 1 + self.beta) * (self.tokens.counts[there] + rest)
            new = (v.counts[there] + self.beta) * (self.tokens.counts[here] + rest)
            e._topic = there if gl.uniform() * old < new else here
            e._proposal = self.propose(v, here, self.topics * self.beta)

    def of_document(self, v: Vertex, e: Edge, nbr: Vertex) -> None:
        if e.forward:
            rest = self.words * self.beta
            here, there = e._topic, e._proposal
            old = (v.counts[here] - 1 + self.alpha) * (self.tokens.counts[there] + rest)
            new = (v.counts[there] + self.alpha) * (self.tokens.counts[here] + rest)
            e._topic = there if gl.uniform() * old < new else here
            e._proposal = self.propose(v, here, self.topics * self.alpha)

    def propose(self, v: Vertex, here: int, prior: float) -> int:
        """Draw a topic by v's counts plus the prior: that of one of its other tokens, or any."""
        token = int(gl.uniform(0.0, v.degree - 1 + prior))
        if token >= v.degree - 1:
            return gl.integers(self.topics)
        if token >= v._upto[here] - 1:  # the last token of its own topic stands for the token itself
            token += 1
        return int(np.searchsorted(v._upto, token, side="right"))

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


@collective(options="run", own=("columns", "init", "start"))
def lda(
    graph: gl.Graph,
    *,
    topics: int | None = None,
    alpha: float | None = None,
    beta: float | None = None,
    iterations: int = 200,
    evaluate_every: int = 10,
    count: str | None = "auto",
    resume: gl.TopicModel | None = None,
    **options: Any,
) -> gl.Result:
    """Find topics in documents: latent Dirichlet allocation, ``result.tables["topic_word"]``.

    Parameters
    ----------
    graph : Graph
        Bipartite, documents on the left and words on the right. Those without an edge are in the answer, with
        the probabilities of the prior alone.
    topics : int
        How many, 1 to 65,536; by default 20, or as many as the model has that is resumed.
    alpha : float
        Dirichlet prior of each topic in a document, 1e-100 to 1e9; by default 0.1, or that of the model.
    beta : float
        Dirichlet prior of each word in a topic, 1e-100 to 1e9; by default 0.01, or that of the model.
    iterations : int
        Sweeps over all tokens, from 1. The run ends after them and is converged.
    evaluate_every : int
        Sweeps from one log-likelihood to the next, from 1, which takes the time of a sweep where topics are
        many. It is rounded down to a divisor of *iterations*, so that the last sweep has one.
    count : str, optional
        Edge column of how many tokens an edge is, whole numbers; None: each edge is one token. "auto" is
        ``count``, else ``weight`` (which is what the third field of a text file is called), else None.
    resume : TopicModel, optional
        A model to go on from, of this corpus or of another. The topics of tokens are not kept in it: they are
        drawn given the topics of the model, which is as good as a sweep, so the chain is another than that of
        one long run, and as far.
    **options
        As for `gaslab.run`, without ``max_iterations``, ``columns``, ``init`` and ``start``; ``engine`` is
        ``"sync"`` or ``"reference"``.

    Returns
    -------
    Result
        ``tables["topic_word"]`` has a row for each word, by id; its column ``probability`` (float64, a vector
        of length *topics*) is the probability of the word in each topic: it sums to 1 over the words.
        ``tables["document_topic"]`` has a row for each document: the probability of each topic in it, which
        sums to 1 over the topics. ``vertices`` has both as ``probability``, and the numbers of tokens by
        topic that they come from as ``counts`` (int32, a vector of length *topics*); those of words are half
        a sweep older. ``history`` has a row for each sweep; those of *evaluate_every* have
        ``log_likelihood_per_token``: the mean over tokens of the log (base e) of the probability of the word
        in its document.
        ``metrics["figures"]`` has the last of these, ``tokens``, and ``cpu_seconds`` of all ranks and
        threads.

    Raises
    ------
    UsageError
        The graph is not bipartite or has no tokens, a count is no whole number, or a prior is out of range.

    Examples
    --------
    >>> import gaslab as gl
    >>> documents = ["a", "a", "a", "b", "b", "b"]
    >>> words = ["cat", "dog", "cat", "bond", "bank", "bond"]
    >>> graph = gl.Graph.from_edges(documents, words, bipartite=True)
    >>> result = gl.lda(graph, topics=2, iterations=50, seed=1)
    >>> result.tables["document_topic"]["probability"].round(2)
    array([[0.97, 0.03],
           [0.03, 0.97]])
    >>> result.tables["topic_word"].ids.tolist()
    ['bank', 'bond', 'cat', 'dog']

    References
    ----------
    Blei, Ng, Jordan: Latent Dirichlet Allocation. JMLR 2003. Chen, Li, Zhu, Chen: WarpLDA. VLDB 2016.
    """
    check_graph(graph)
    topics, alpha, beta = _start(resume, topics, alpha, beta)
    topics = arguments.whole("topics", topics, 1, MOST_TOPICS)
    alpha = arguments.number("alpha", alpha, least=LEAST, most=MOST, hint="; 0.1 is usual")
    beta = arguments.number("beta", beta, least=LEAST, most=MOST, hint="; 0.01 is usual")
    iterations = arguments.whole("iterations", iterations, 1)
    longest = min(arguments.whole("evaluate_every", evaluate_every, 1), iterations)
    interval = next(n for n in range(longest, 0, -1) if iterations % n == 0)
    count = arguments.text("count", count, optional=True)
    check_options("lda", graph, options)
    tokens = _tokens(graph, count)
    program = LDA(
        topics=topics, alpha=alpha, beta=beta, iterations=iterations, likelihood_every=2 * interval
    )  # fmt: skip

    def measured(row: Any) -> dict[str, float]:
        if (row["superstep"] + 1) % program.likelihood_every:
            return {}
        return {"log_likelihood_per_token": row["likelihood"] / tokens.num_edges}

    if resume is not None:
        drawn = resume.draw(tokens, seed=arguments.whole("seed", options.get("seed", 0)))
        tokens, options["columns"] = with_columns(tokens, edge={"topic": drawn}), {"_topic": "topic"}
    result = run_sweeps(program, tokens, 2, measured, edges="tokens", **options)
    documents, words = (result.vertices.side(side) for side in (0, 1))
    counted = _whole(graph, result, words["counts"].sum(axis=0))
    for side in (int(_whole(graph, result, documents["counts"].sum())), int(counted.sum())):
        if side != tokens.num_edges:
            raise gl.ExecutionError(f"{side} of {tokens.num_edges} tokens are counted; please report it")
    num_words = graph.num_vertices - (graph.ids.num_left or 0)
    mixed = documents["counts"] + alpha
    mixed /= mixed.sum(axis=1, keepdims=True)
    spread = (words["counts"] + beta) / (counted + num_words * beta)
    vertices = result.vertices
    keys = {name: vertices[name] for name in vertices.keys}
    columns = {"counts": vertices["counts"], "probability": np.concatenate([mixed, spread])}
    result.vertices = Table(keys, columns, vertices.global_ids)
    result.tables = {"document_topic": _table(result, 0), "topic_word": _table(result, 1)}
    result.metrics["figures"]["tokens"] = tokens.num_edges
    if resume is not None:
        result.metrics["resumed"] = {"iterations": resume.iterations, "history": resume.history}
    if tokens is not graph:
        result.fingerprint = graph.fingerprint
        result.metrics |= {"source": graph.source, "edges": graph.num_edges, "fingerprint": graph.fingerprint}
        for name, spent in graph.seconds.items():
            result.metrics["seconds"][name] += spent
            result.metrics["seconds"]["total"] += spent
    return result


def _start(model: gl.TopicModel | None, *asked: Any) -> tuple[Any, Any, Any]:
    """Return the number of topics and the priors: as asked, else those of the model, else the defaults."""
    usual: tuple[Any, Any, Any] = (20, 0.1, 0.01)
    if model is not None:
        arguments.instance("resume", model, gl.TopicModel, "a gaslab.TopicModel")
        if asked[0] not in (None, model.num_topics):
            raise arguments.wrong("topics", asked[0], f"the model to resume has {model.num_topics}")
        usual = (model.num_topics, float(model.doc_topic_prior[0]), model.topic_word_prior)
    topics, alpha, beta = (one if value is None else value for value, one in zip(asked, usual, strict=True))
    return topics, alpha, beta


def _tokens(graph: gl.Graph, count: str | None) -> gl.Graph:
    """Return the graph with an edge for every token."""
    known = graph.edge_columns
    if count == "auto":
        count = next((name for name in ("count", "weight") if name in known), None)
    if count is not None and count not in known:
        raise gl.UsageError(f"count={count!r} is no edge column{gl.errors.nearest(count, known)}")
    if graph.comm.rank == 0:
        log.info("LDA: %s", "each edge is one token" if count is None else f"count = column {count!r}")
    tokens = graph if count is None else graph.repeat_edges(count)
    if tokens.num_edges == 0:
        raise gl.UsageError("the graph has no tokens; LDA needs documents with words")
    return tokens


def _whole(graph: gl.Graph, result: gl.Result, part: Any) -> Any:
    """Return the sum over all vertices of which this rank's result has a part (collective)."""
    return part if result.on == "all" else graph.comm.allreduce(part)


def _table(result: gl.Result, side: int) -> Table:
    return result.vertices.side(side).select("probability")
